"""Diagnostics are values: what was found, where, why it matters, what to do.

Phases add to a `Diagnostics` sink and go on, so that one run reports every mistake. Exceptions are for bugs and
I/O only. Rendering is a separate, pure step (`render.py`).

Wording: lower-case start, no full stop for one sentence, the user's own text in backticks, no name of a type of
the host language. The message must stand alone if only one line can be shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from fullcount.dsl.dataclass import dataclass, field
from fullcount.dsl.source import Span


class Severity(StrEnum):
    """How bad: an error stops compilation, a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Label:
    """A secondary place that helps to understand the primary one."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Edit:
    """A passage and what stands there instead; an empty span is an insertion."""

    span: Span
    replacement: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A change that mends a finding: all of its edits or none, never overlapping.

    `safe`: there is one thing that the author can have meant, and it selects no object more than they wrote. Everything
    else is for a person to look at.
    """

    title: str
    edits: tuple[Edit, ...]
    safe: bool


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding about a program.

    `code` is a key of the code registry (`fullcount.dsl.codes`). `message` is the primary line; `note` stands beside
    the caret under the primary span; `why` says why it matters; `help` says what to write instead; `fix` writes it.
    """

    code: str
    message: str
    span: Span
    severity: Severity = Severity.ERROR
    note: str = ""
    labels: tuple[Label, ...] = ()
    why: str = ""
    help: str = ""
    fix: Fix | None = None


@dataclass(slots=True)
class Diagnostics:
    """A sink that phases add to. It keeps one finding per (code, span), sorted by place when read."""

    _items: dict[tuple[str, Span], Diagnostic] = field(default_factory=dict)

    def add(self, diagnostic: Diagnostic) -> None:
        """Add a finding; a second one with the same code at the same place is dropped."""
        self._items.setdefault((diagnostic.code, diagnostic.span), diagnostic)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(sorted(self._items.values(), key=lambda d: (d.span, d.code)))

    def __len__(self) -> int:
        return len(self._items)

    @property
    def has_errors(self) -> bool:
        """Whether any finding stops compilation."""
        return any(item.severity is Severity.ERROR for item in self._items.values())

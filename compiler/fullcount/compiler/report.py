"""How phases report: one short way to add a finding, and the "did you mean" that goes with unknown names.

It must never guess: a suggestion is for a person, with a fix at hand, and changes nothing about what is compiled.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypedDict

from fullcount.dsl.diagnostics import Diagnostic, Diagnostics, Fix, Label, Severity
from fullcount.dsl.source import Span

MAX_LISTED = 8


class Advice(TypedDict):
    """What to write instead, in words and as a change: the parts of a finding that go together."""

    help: str
    fix: Fix | None


def error(
    sink: Diagnostics,
    code: str,
    message: str,
    span: Span,
    *,
    note: str = "",
    labels: tuple[Label, ...] = (),
    why: str = "",
    help: str = "",  # noqa: A002 - the name that the finding itself uses
    fix: Fix | None = None,
) -> None:
    """Add an error: compilation goes on, and ends without a program."""
    sink.add(Diagnostic(code, message, span, Severity.ERROR, note, labels, why, help, fix))


def warning(
    sink: Diagnostics,
    code: str,
    message: str,
    span: Span,
    *,
    note: str = "",
    labels: tuple[Label, ...] = (),
    why: str = "",
    help: str = "",  # noqa: A002 - the name that the finding itself uses
    fix: Fix | None = None,
) -> None:
    """Add a warning: the program is made, and the finding is shown with it."""
    sink.add(Diagnostic(code, message, span, Severity.WARNING, note, labels, why, help, fix))


def did_you_mean(wrong: str, known: Iterable[str], what: str) -> str:
    """Return help for an unknown name: the near ones, else the known ones, else that there are none."""
    names = sorted(set(known))
    return _said(names, _near(wrong, names), what)


def near(wrong: str, span: Span, known: Iterable[str], what: str) -> Advice:
    """Return help for an unknown name at a place, with the fix that writes the nearest known one there."""
    names = sorted(set(known))
    found = _near(wrong, names)
    if not found:
        return Advice(help=_said(names, found, what), fix=None)
    from fullcount.dsl.suggest import rename

    return Advice(help=_said(names, found, what), fix=rename(span, wrong, found[0], names))


def _near(wrong: str, names: list[str]) -> list[str]:
    from difflib import get_close_matches  # only a finding pays for it

    folded = {name.lower(): name for name in names}
    return [folded[name] for name in get_close_matches(wrong.lower(), list(folded), n=2, cutoff=0.7)]


def _said(names: list[str], found: list[str], what: str) -> str:
    if not names:
        return f"there are no {what} here"
    if found:
        return "did you mean " + " or ".join(f"`{name}`" for name in found) + "?"
    listed = ", ".join(f"`{name}`" for name in names[:MAX_LISTED])
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return f"known {what}: {listed}{more}"


class AtUse(Diagnostics):
    """Takes findings about text that stands elsewhere (a definition, a record), and tells each where it is used.

    The place of use is what the reader can change without changing it for everyone; where the text stands is a label.
    """

    def __init__(self, sink: Diagnostics, use: Span, note: str, where: str, *, warnings: bool = True) -> None:
        super().__init__()
        self._sink, self._use, self._note, self._where, self._warnings = sink, use, note, where, warnings

    def add(self, diagnostic: Diagnostic) -> None:
        """Add a finding at the place of use; a warning only if these are wanted."""
        if diagnostic.severity is Severity.WARNING and not self._warnings:
            return
        label = Label(diagnostic.span, diagnostic.note or self._where)
        labels = (label, *diagnostic.labels)
        # a fix would change what stands elsewhere for everyone who uses it
        self._sink.add(replace(diagnostic, span=self._use, note=self._note, labels=labels, fix=None))

"""How phases report: one short way to add a finding, and the "did you mean" that goes with unknown names.

It must never guess: a suggestion is text for a person and changes nothing about what is compiled.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from fullcount.dsl.diagnostics import Diagnostic, Diagnostics, Label, Severity
from fullcount.dsl.source import Span

MAX_LISTED = 8


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
) -> None:
    """Add an error: compilation goes on, and ends without a program."""
    sink.add(Diagnostic(code, message, span, Severity.ERROR, note, labels, why, help))


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
) -> None:
    """Add a warning: the program is made, and the finding is shown with it."""
    sink.add(Diagnostic(code, message, span, Severity.WARNING, note, labels, why, help))


def did_you_mean(wrong: str, known: Iterable[str], what: str) -> str:
    """Return help for an unknown name: the near ones, else the known ones, else that there are none."""
    names = sorted(set(known))
    if not names:
        return f"there are no {what} here"
    from difflib import get_close_matches

    folded = {name.lower(): name for name in names}
    near = get_close_matches(wrong.lower(), list(folded), n=2, cutoff=0.7)
    if near:
        return "did you mean " + " or ".join(f"`{folded[name]}`" for name in near) + "?"
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
        self._sink.add(replace(diagnostic, span=self._use, note=self._note, labels=labels))

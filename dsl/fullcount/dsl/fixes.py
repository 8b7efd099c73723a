"""Applying the fixes that findings carry.

A fix is applied whole or not at all, and never where another one of the same round has changed something: what is left
is found again by the next check, and then stands in the new text. Nothing here decides what is safe; that is said by
whoever made the fix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.diagnostics import Diagnostic, Diagnostics, Edit, Fix
from fullcount.dsl.source import Source

#: After so many rounds the rest is left: each mends something, so more would be a fix that brings its finding back.
MAX_ROUNDS: Final = 20


@dataclass(frozen=True, slots=True)
class Fixed:
    """A text after its fixes, and the findings that were mended, each with its place in the text it was found in."""

    source: Source
    applied: tuple[tuple[Diagnostic, Source], ...]


def fix_all(source: Source, check: Callable[[Source], Diagnostics], *, unsafe: bool) -> Fixed:
    """Return the source after round upon round of fixes, until `check` finds none; `unsafe` takes those too.

    A round with safe fixes makes only these: an unsafe one may mend what follows from the same slip, in another way.
    """
    applied: list[tuple[Diagnostic, Source]] = []
    seen = {source.text}
    for _ in range(MAX_ROUNDS):
        found = check(source)
        changed, mended = apply_fixes(source, found, unsafe=False)
        if not mended and unsafe:
            changed, mended = apply_fixes(source, found, unsafe=True)
        if not mended or changed.text in seen:
            break
        applied += [(finding, source) for finding in mended]
        source = changed
        seen.add(source.text)
    return Fixed(source, tuple(applied))


def apply_fixes(source: Source, findings: Iterable[Diagnostic], *, unsafe: bool) -> tuple[Source, list[Diagnostic]]:
    """Apply one round of fixes and return the new source and the findings that were mended."""
    taken: list[Edit] = []
    mended: list[Diagnostic] = []
    for finding in findings:
        fix = finding.fix
        if fix is None or not (fix.safe or unsafe) or not _applies(fix, source, taken):
            continue
        taken += fix.edits
        mended.append(finding)
    text = source.text
    for edit in sorted(taken, key=lambda each: each.span, reverse=True):
        text = text[: edit.span.start] + edit.replacement + text[edit.span.end :]
    return Source(source.name, text), mended


def _applies(fix: Fix, source: Source, taken: list[Edit]) -> bool:
    if any(edit.span.source != source.name for edit in fix.edits):
        return False
    others = [*taken]
    for edit in fix.edits:
        if any(_touch(edit, other) for other in others):
            return False
        others.append(edit)
    return True


def _touch(one: Edit, other: Edit) -> bool:
    """Whether two edits overlap or meet; two that meet could change what the other one stands beside."""
    return one.span.start <= other.span.end and other.span.start <= one.span.end

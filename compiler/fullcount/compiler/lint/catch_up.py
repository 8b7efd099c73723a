"""FC562: a schedule of once a day or less, of which a missed run is skipped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fullcount.compiler.lint.subject import Subject, finding
from fullcount.dsl.diagnostics import Diagnostic

_DAY: Final = 24 * 3600 * 1_000_000
_ONE: Final = re.compile(r"[0-9]+")


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Warn of a schedule whose next run is a day or more away, and that does not catch up."""
    decl = subject.decl.schedule
    if decl is None or decl.catch_up is not None:
        return
    if _once_a_day(decl.cron) if decl.cron is not None else decl.every is not None and decl.every >= _DAY:
        yield finding(
            "FC562",
            "a run of this schedule that is missed is skipped until the next one",
            decl.span,
            why="one restart at the wrong minute, and nothing happens for a day or more",
            way="add `catch up within 4h`, or allow this with the reason for which a skipped run does no harm",
        )


def _once_a_day(cron: str) -> bool:
    """Whether a cron text names one minute and one hour."""
    parts = cron.split()
    return len(parts) == 5 and all(_ONE.fullmatch(part) for part in parts[:2])

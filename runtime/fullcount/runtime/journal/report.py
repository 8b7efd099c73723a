"""What a verification found, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.journal.entry import Head


class About(StrEnum):
    """What kind of record is wrong."""

    CHAIN = "chain"
    RUN = "run"
    EVIDENCE = "evidence"
    PLAN = "plan"
    APPROVAL = "approval"
    ACT = "act"
    SUMS = "sums"
    BACKUP = "backup"
    COORDINATION = "coordination"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong. `seq`: the journal entry it concerns; None when no entry speaks of it."""

    about: About
    seq: int | None
    what: str

    def __str__(self) -> str:
        return self.what if self.seq is None else f"entry {self.seq}: {self.what}"


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """The result of a verification. `problems` begin with the first bad entry."""

    entries: int
    head: Head
    problems: tuple[Problem, ...]
    notes: tuple[str, ...] = ()
    checked: Mapping[str, int] = field(default_factory=dict)
    """How many records of each kind were compared."""

    @property
    def ok(self) -> bool:
        """Whether everything holds."""
        return len(self.problems) == 0

    @property
    def lost(self) -> tuple[Problem, ...]:
        """The backups that are needed and lost: nothing is wrong with the record because of them."""
        return tuple(problem for problem in self.problems if problem.about is About.BACKUP)

    @property
    def wrong(self) -> tuple[Problem, ...]:
        """What is wrong with the record itself."""
        return tuple(problem for problem in self.problems if problem.about is not About.BACKUP)

    @property
    def exit(self) -> Exit:
        """The exit code that says so."""
        if self.ok:
            return Exit.DONE
        return Exit.INVALID_SUMS if all(problem.about is About.SUMS for problem in self.problems) else Exit.ERROR

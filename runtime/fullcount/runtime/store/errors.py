"""What the store refuses, each as an error that a person can act on, with its FC code and exit code.

Every error can also be had as a `Finding`, which is what refusals carry. Errors are named for what happened.
"""

# ruff: noqa: N818

from __future__ import annotations

import math
from datetime import datetime, timedelta

from fullcount.runtime.errors import FullcountError
from fullcount.runtime.evidence.refusal import Finding
from fullcount.runtime.exit_codes import Exit


class StoreError(FullcountError):
    """The base of all refusals of the store."""

    exit = Exit.ERROR

    @property
    def finding(self) -> Finding:
        """The same as a finding of a refusal."""
        return Finding(code=self.code, message=self.message, ways_on=(self.help,) if self.help else ())


class StoreUnavailable(StoreError):
    """The database can't be opened, read or written."""


class StoreMissing(StoreUnavailable):
    """There is no store to read."""


class StoreTooNew(StoreError):
    """The database was written by a newer version."""


class StoreTooOld(StoreError):
    """The database has the tables of an older version, and was opened to read."""


class PlanNotFound(StoreError):
    """No plan, or more than one, has this id."""

    exit = Exit.USAGE


class PlanCorrupt(StoreError):
    """A stored plan does not fit its hash, its schema or its digest."""


class PlanRefused(StoreError):
    """The plan's state does not allow what was asked."""

    exit = Exit.REFUSED_BY_POLICY


class PlanStale(PlanRefused):
    """A newer plan has taken the place of this one."""

    exit = Exit.STALE


class UndoRefused(PlanRefused):
    """Nothing can be taken back, or not so."""


class ApprovalRefused(StoreError):
    """An approval can't be given, or the one there is does not carry the act."""

    exit = Exit.REFUSED_BY_POLICY


class ApprovalMissing(ApprovalRefused):
    """The quorum has not been reached."""

    exit = Exit.WAITING_FOR_APPROVAL


class LeaseHeld(StoreError):
    """Another run is at work on the same thing, or died at it a moment ago: until when, and what to do."""

    exit = Exit.REFUSED_BY_POLICY

    def __init__(self, name: str, holder: str, until: datetime, left: timedelta, *, died: bool = False) -> None:
        """`left`: how long the lease still has, by the store's time; `died`: its holder is known to be gone."""
        self.name, self.holder, self.until, self.left = name, holder, until, left
        at = f"{until:%Y-%m-%d %H:%M:%S} UTC"
        ends = f"its hold ends by itself at {at}, {math.ceil(left.total_seconds())} s from now: remove nothing by hand"
        if died:
            message = f"{_holder(holder)} was at work on {_thing(name)} and no longer runs; it holds it until {at}"
            self._ways: tuple[str, ...] = (f"wait: {ends}",)
        else:
            message = f"{_holder(holder)} is at work on {_thing(name)}, which it holds until {at}"
            works = "if it is at work, it renews its hold: let it end, or stop it where it runs   fullcount runs"
            self._ways = (works, f"if it has died, {ends}")
        super().__init__("FC720", message, help="; ".join(self._ways))

    @property
    def finding(self) -> Finding:
        """See `StoreError.finding`."""
        return Finding(code=self.code, message=self.message, ways_on=self._ways)


def _holder(holder: str) -> str:
    match holder.split("/"):
        case [host, process, run] if process.isdecimal():
            return f"process {process} on `{host}` (`{run}`)"
        case _:
            return f"`{holder}`"


def _thing(name: str) -> str:
    kind, _, of = name.partition("/")
    return f"the plan `{of}`" if kind == "plan" and of else f"`{name}`"


class FenceLost(StoreError):
    """This run's lease ended or was taken over: it must not write any more."""

    exit = Exit.STALE


class Halted(StoreError):
    """The kill switch is on."""

    exit = Exit.REFUSED_BY_POLICY


class LedgerRefused(StoreError):
    """An entry would contradict what the ledger already holds."""


class IdempotencyMismatch(LedgerRefused):
    """The same act was asked with other parameters (`IDEMPOTENCY_MISMATCH`, R30)."""

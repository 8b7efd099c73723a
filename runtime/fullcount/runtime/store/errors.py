"""What the store refuses, each as an error that a person can act on, with its FC code and exit code.

Every error can also be had as a `Finding`, which is what refusals carry. Errors are named for what happened.
"""

# ruff: noqa: N818

from __future__ import annotations

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


class ApprovalRefused(StoreError):
    """An approval can't be given, or the one there is does not carry the act."""

    exit = Exit.REFUSED_BY_POLICY


class ApprovalMissing(ApprovalRefused):
    """The quorum has not been reached."""

    exit = Exit.WAITING_FOR_APPROVAL


class LeaseHeld(StoreError):
    """Another run is at work on the same thing."""

    exit = Exit.REFUSED_BY_POLICY


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

"""How a run ends: what stopped it, what the outcomes add up to, and the exit code that says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from fullcount.runtime.act.context import ApplyContext, ApplyReport, RowOutcome
from fullcount.runtime.act.guard import ground
from fullcount.runtime.act.stop import AGAIN_AND_AGAIN, FAILURES
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.errors import FullcountError
from fullcount.runtime.evidence.refusal import Finding, Ground
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.plan.document import PlanRow
from fullcount.runtime.store.errors import StoreError
from fullcount.runtime.store.views import LedgerEntry

UNDECIDED = "FC767"
"""The reason of an object that the recheck could not decide."""

ASKED_FOR = frozenset({"FC760", "FC778"})
"""The reasons of objects that were exempted or protected since the plan was made: leaving them alone was asked for."""

_EXITS: Mapping[Ground, Exit] = {
    Ground.EVIDENCE: Exit.REFUSED_BY_EVIDENCE,
    Ground.POLICY: Exit.REFUSED_BY_POLICY,
    Ground.STALE: Exit.STALE,
}
_EXITS_BY_CODE: Mapping[str, Exit] = {
    "FC707": Exit.WAITING_FOR_APPROVAL,
    "FC764": Exit.ERROR,
    "FC765": Exit.ERROR,
    "FC777": Exit.ERROR,
    "FC794": Exit.ERROR,
    AGAIN_AND_AGAIN: Exit.ERROR,
}


def exit_of(finding: Finding) -> Exit:
    """Return how a command ends that a finding stopped."""
    return _EXITS_BY_CODE.get(finding.code, _EXITS[ground(finding)])


def finding_of(error: FullcountError) -> Finding:
    """Return an error that a person can do something about as a finding."""
    if isinstance(error, StoreError):
        return error.finding
    return Finding(code=error.code, message=error.message, ways_on=(error.help,) if error.help else ())


@dataclass(slots=True)
class Ended:
    """How a run ended, if not by coming to the end of the plan. `undecided`: objects left for a later run, and why."""

    stopped_by: Finding | None = None
    exit: Exit | None = None
    resumes_at: datetime | None = None
    repeated: bool = False
    undecided: Mapping[tuple[Any, ...], str] = field(default_factory=dict)

    def by(self, finding: Finding, ended: Exit | None = None, *, resumes_at: datetime | None = None) -> None:
        """Note what stopped the run; the first reason stays. `resumes_at`: only until then."""
        if self.stopped_by is None:
            self.stopped_by, self.exit = finding, exit_of(finding) if ended is None else ended
            self.resumes_at = resumes_at

    def later(self, resumes_at: Callable[[Finding], datetime | None]) -> None:
        """Work out anew when a run that is paused can be gone on with."""
        if self.stopped_by is not None and self.resumes_at is not None:
            self.resumes_at = resumes_at(self.stopped_by)


def row_outcomes(
    rows: Sequence[PlanRow], ledger: Sequence[LedgerEntry], undecided: Mapping[tuple[Any, ...], str]
) -> tuple[RowOutcome, ...]:
    """Return one outcome for each row: the ledger's, or not started. An intent without an outcome is unknown."""
    known = {entry.object_key: entry for entry in ledger}
    found: list[RowOutcome] = []
    for row in rows:
        entry = known.get(row.key)
        if entry is None:
            found.append(RowOutcome(row.key, Outcome.NOT_STARTED, None, undecided.get(row.key, "")))
        elif entry.outcome is None:
            detail = undecided.get(row.key, "an act was meant and its outcome is open")
            found.append(RowOutcome(row.key, Outcome.UNKNOWN, "FC770", detail))
        else:
            found.append(RowOutcome(row.key, entry.outcome, entry.reason, entry.detail))
    return tuple(found)


def counted(rows: Sequence[RowOutcome]) -> dict[Outcome, int]:
    """Return how many rows ended how, with a number for every outcome."""
    counts = dict.fromkeys(Outcome, 0)
    for row in rows:
        counts[row.outcome] += 1
    return counts


def report_of(context: ApplyContext, run_id: str | None, rows: tuple[RowOutcome, ...], ended: Ended) -> ApplyReport:
    """Return the report of a run over these rows, with the exit code that fits."""
    report = ApplyReport(
        plan_id=context.plan.document.plan_id,
        run_id=run_id,
        candidates=len(rows),
        counts=counted(rows),
        rows=rows,
        exit=Exit.DONE,
        stopped_by=ended.stopped_by,
        repeated=ended.repeated,
        resumes_at=ended.resumes_at,
    )
    return replace(report, exit=_exit(report, ended))


def _exit(report: ApplyReport, ended: Ended) -> Exit:
    if ended.exit is not None:
        return ended.exit
    if any(report.counts[outcome] > 0 for outcome in (*FAILURES, Outcome.NOT_STARTED)):
        return Exit.ERROR
    if any(row.reason == UNDECIDED for row in report.rows):
        return Exit.REFUSED_BY_EVIDENCE
    if any(row.outcome is Outcome.REFUSED and row.reason not in ASKED_FOR for row in report.rows):
        return Exit.REFUSED_BY_POLICY
    return Exit.DONE


def as_invalid(report: ApplyReport) -> ApplyReport:
    """Return the report of a run whose sums do not hold."""
    finding = Finding(
        code="FC741",
        message="the outcomes of the objects do not add up to the plan, so this record can't be relied on",
        ways_on=("run `fullcount verify`, and keep the store as it is",),
    )
    return replace(report, exit=Exit.INVALID_SUMS, stopped_by=finding)


def as_error(report: ApplyReport) -> ApplyReport:
    """Return the report of a run that an error ended."""
    return report if report.exit is Exit.INVALID_SUMS else replace(report, exit=Exit.ERROR)

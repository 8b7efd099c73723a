"""What a run comes to: how it ended, with which exit code, and what the record keeps of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fullcount.runtime.act.context import ApplyReport
from fullcount.runtime.approve.approvals import ApprovalStatus
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.evidence.envelope import Envelope
from fullcount.runtime.evidence.refusal import Ground, Prevented, Refusal
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.store.elsewhere import ActElsewhere
from fullcount.runtime.store.views import NoticeRow, PlanState, StoredPlan


@dataclass(frozen=True, slots=True)
class PlanEnd:
    """What a planning run came to, one of an undo as well: a stored plan, or refusals with the evidence as it was.

    `state`: `refused` · `waiting` · `approved` · `over_cap` · `nothing` (no object qualifies, or nothing is to be taken
    back) · `report` (no act).
    """

    run_id: str
    state: str
    exit: Exit
    envelopes: Mapping[str, Envelope]
    refusals: Sequence[Refusal] = ()
    prevented: Prevented | None = None
    plan: StoredPlan | None = None
    approval: ApprovalStatus | None = None
    told: Sequence[NoticeRow] = ()
    """Who is told of it, and what came of that."""
    elsewhere: Sequence[ActElsewhere] = ()
    """Acts of other plans on objects of this one, of which nobody knows yet what came of them."""


@dataclass(frozen=True, slots=True)
class ApplyEnd:
    """What an apply came to: a report, or the refusals that kept the act from starting."""

    exit: Exit
    plan: StoredPlan
    report: ApplyReport | None = None
    refusals: Sequence[Refusal] = ()
    told: Sequence[NoticeRow] = ()
    """Who is told of it, and what came of that."""


def nothing_to_do(plan: StoredPlan) -> ApplyReport:
    """Return the report of applying a plan that lists no object."""
    counts = dict.fromkeys(Outcome, 0)
    return ApplyReport(plan.document.plan_id, None, 0, counts, (), Exit.DONE)


def plan_state(stored: StoredPlan, approval: ApprovalStatus | None) -> tuple[str, Exit]:
    """Return how a planning run that made a plan ended."""
    if stored.state is PlanState.OVER_CAP:
        return "over_cap", Exit.REFUSED_BY_POLICY
    if stored.document.sums.candidates == 0:
        return "nothing", Exit.DONE
    if approval is None:
        return "report", Exit.DONE
    return ("approved", Exit.DONE) if approval.approved else ("waiting", Exit.WAITING_FOR_APPROVAL)


def exit_of(refusals: Sequence[Refusal]) -> Exit:
    """Return the exit code of a run that was refused: missing evidence is the gravest ground."""
    grounds = {refusal.ground for refusal in refusals}
    if not grounds:
        msg = "a walk comes to its last stage or to a refusal"
        raise ValueError(msg)
    if Ground.EVIDENCE in grounds:
        return Exit.REFUSED_BY_EVIDENCE
    if Ground.STALE in grounds:
        return Exit.STALE
    if any(finding.code == "FC707" for refusal in refusals for finding in refusal.findings):
        return Exit.WAITING_FOR_APPROVAL
    return Exit.REFUSED_BY_POLICY


def summary_of(end: PlanEnd) -> dict[str, Any]:
    """Return what the record keeps of a planning run besides its evidence and plan."""
    summary: dict[str, Any] = {"refusals": [refusal.model_dump(mode="json") for refusal in end.refusals]}
    if end.prevented is not None:
        summary["prevented"] = end.prevented.model_dump(mode="json")
    if end.plan is not None:
        summary["plan_id"] = end.plan.document.plan_id
        summary["digest"] = end.plan.document.digest
    return summary

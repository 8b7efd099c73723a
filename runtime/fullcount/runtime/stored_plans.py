"""A stored plan, put back into the walk: whether it still stands, and what its evidence is worth now.

Guarantees: nothing is taken from what a plan says of its own certificates; they are issued anew from its evidence.
"""

from __future__ import annotations

from fullcount.compiler import program
from fullcount.runtime.accepting import Accepting
from fullcount.runtime.evidence.certificate import Certificate, certify
from fullcount.runtime.evidence.envelope import Envelope
from fullcount.runtime.evidence.refusal import Finding, Ground, Refusal
from fullcount.runtime.evidence.satisfy import Produced
from fullcount.runtime.evidence.warned import Recurrence
from fullcount.runtime.plan.document import PlanDocument
from fullcount.runtime.planning import used_fields
from fullcount.runtime.store.views import PlanState, StoredPlan


def certified_again(
    plan: StoredPlan,
    workflow: program.Workflow,
    proposal: program.Proposal,
    inventory: str,
    envelope: Produced,
    accepting: Accepting,
) -> Certificate | Refusal:
    """Return the certificate of a stored envelope, issued anew as of the plan's own time, or why it can't be issued.

    Nothing is taken from what the plan says of its certificates. Which warnings are accepted is what holds now.
    """
    if not isinstance(envelope, Envelope):
        msg = "the edge into `verify` requires an envelope"
        raise TypeError(msg)
    measured = plan.document.measurements.get(inventory)
    issued = certify(
        workflow.inventories[inventory],
        workflow.verifies.get(inventory, ()),
        envelope,
        previous_rows=None if measured is None else measured.previous_rows,
        series=None if measured is None else measured.series,
        agreed_count=None if measured is None else measured.agreed_count,
        used_fields=used_fields(proposal, inventory),
        accepted=accepting.accepted,
        recurrence=Recurrence(seen=() if measured is None else measured.warnings, limit=accepting.limit),
        at=plan.document.created_at,
    )
    return accepting.said(issued)


def standing(plan: StoredPlan) -> PlanDocument | Refusal:
    """Return the plan if it still stands, else the refusal that says why it does not."""
    if plan.state is PlanState.SUPERSEDED:
        message = f"the plan `{plan.document.plan_id}` was replaced by a newer one, `{plan.superseded_by}`"
        found = Finding(code="FC710", message=message, ways_on=(f"fullcount show {plan.superseded_by}",))
        return Refusal(stage="propose", ground=Ground.STALE, findings=(found,))
    if plan.state is PlanState.OVER_CAP:
        caps = plan.document.caps
        along = "" if plan.document.along == 0 else f", {plan.document.along:,} more go along,"
        said = f"the plan lists {plan.document.sums.candidates:,} objects{along}"
        message = (
            f"{said} and its limit allows {caps.effective:,}"
            if along
            else f"{said}, and its limit allows {caps.effective:,}"
        )
        found = Finding(code="FC711", message=message, ways_on=("narrow the rule, or raise `limit` and plan again",))
        return Refusal(stage="propose", ground=Ground.POLICY, findings=(found,))
    return plan.document

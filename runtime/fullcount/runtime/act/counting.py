"""What the workflow has counted once its canary was waited for: `then at most 0 of monitoring.firing_alerts`.

Guarantees: the source's own count is asked anew, and only a number that is no more than the workflow allows lets the
rest be done. A count that can't be had is never taken for zero.
"""

from __future__ import annotations

from fullcount.compiler.program import AtMost
from fullcount.runtime.act.context import ApplyContext
from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.evidence.refusal import Finding


async def count_after_canary(wanted: AtMost, context: ApplyContext) -> int | Finding:
    """Return how many there are now, or why the rest is not acted on: there are too many, or nobody knows."""
    resource = context.resources.get((wanted.source, wanted.resource))
    if resource is None or not resource.counted:
        why = "this workspace no longer has it, or its source no longer counts it"
        return _unknown(wanted, why, context, "configure its source again as it was when the plan was made")
    try:
        there = await context.reader(wanted.source).count(resource)
    except SourceError as error:
        reason = error.reason
        why = f"{reason.code}: {reason.detail}" if reason.detail != "" else str(reason.code)
        return _unknown(wanted, why, context, "apply the same plan again when its source answers: it is counted anew")
    if there < 0:
        return _unknown(wanted, f"its source said {there:,}", context, "have the source mended, and apply again")
    if there <= wanted.count:
        return there
    return _stopped(
        f"`{wanted.address}` has {there:,}, and at most {wanted.count:,} may be",
        context,
        "find out whether what was done is the cause",
        "apply the same plan again when there are no more than may be: it is counted anew",
    )


def _unknown(wanted: AtMost, why: str, context: ApplyContext, way_on: str) -> Finding:
    message = f"`{wanted.address}` could not be counted, and at most {wanted.count:,} may be: {why}"
    return _stopped(message, context, way_on)


def _stopped(what: str, context: ApplyContext, *ways_on: str) -> Finding:
    undo = f"take it back: fullcount undo {context.plan.document.plan_id}"
    return Finding(code="FC777", message=f"the canary does not hold: {what}", ways_on=(*ways_on, undo))

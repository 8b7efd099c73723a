"""An act that was meant by an earlier run, was not to be seen when this one looked, and came after all.

An object whose act is open and that is found changed or gone may have been changed by that very act, whose call came
late. So it is never left alone as somebody else's doing before the source was asked whose it is: what was ours is
`done`, and can be taken back; what can't be told stays `unknown`.
"""

from __future__ import annotations

from fullcount.runtime.act.calls import Calls
from fullcount.runtime.act.recheck import Planned
from fullcount.runtime.connectors.base import Outcome, SourceActor, SourceError
from fullcount.runtime.evidence.codes import ActReason
from fullcount.runtime.store.views import LedgerEntry, OutcomeEntry

NOT_OURS = frozenset({Outcome.CHANGED, Outcome.ALREADY_GONE})
"""Outcomes that say that somebody else was at the object."""


async def whose(
    outcome: OutcomeEntry, intent: LedgerEntry, planned: Planned, calls: Calls, actor: SourceActor
) -> OutcomeEntry:
    """Return the outcome of an object with an open intent, once it is known whether that act itself came late."""
    if outcome.outcome not in NOT_OURS or intent.parameters is None or intent.idempotency_key is None:
        return outcome
    try:
        came = await actor.took_effect(calls.recorded(planned, intent.parameters, intent.idempotency_key))
    except SourceError:
        came = None
    if came is False:
        return outcome
    if came is True:
        detail = "found done by reading: the call of an earlier run took effect late"
        return OutcomeEntry(outcome.object_key, Outcome.DONE, None, detail)
    detail = f"it changed, and reading does not tell whether by an act that was meant before: {outcome.detail}"
    return OutcomeEntry(outcome.object_key, Outcome.UNKNOWN, ActReason.OUTCOME_UNKNOWN, detail)

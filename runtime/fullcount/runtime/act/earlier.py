"""An act that was meant before and is gone on with: what may be said of it for good.

The call of an earlier run may arrive late, even after it was read that it took no effect. So an outcome that says that
nothing was done is recorded only when the object was read once more and the earlier call can do nothing any more:
because there is no object for it, because its condition no longer holds, or because it is too long ago to arrive.

A deletion of which no answer was kept, and whose object is gone, is done, whoever did it; that nobody can tell whose it
was, stays with the outcome.
"""

from __future__ import annotations

from datetime import timedelta

from fullcount.compiler.catalog import Idempotency
from fullcount.compiler.values import Value
from fullcount.runtime.act.actors import Actors
from fullcount.runtime.act.backing_up import with_content
from fullcount.runtime.act.calls import CallsOf
from fullcount.runtime.act.recheck import Planned
from fullcount.runtime.act.repeating import ARRIVES
from fullcount.runtime.backups.files import BackupFiles
from fullcount.runtime.connectors.base import Outcome, SourceError
from fullcount.runtime.plan.document import PlanRow
from fullcount.runtime.store.views import LedgerEntry, OutcomeEntry

FOUND_DONE = "found done by reading, after a run that did not learn of it"

GONE_UNDER_WAY = "FC795"
"""The reason of a deletion that is done, and may have been done by somebody else while its call was under way."""
GONE = "gone, and our call was under way: nobody can tell whose it was"


async def took_effect(
    entry: LedgerEntry, row: PlanRow, planned: Planned, calls: CallsOf, actors: Actors, backups: BackupFiles
) -> bool | None:
    """Tell by reading whether the call of an intent took effect; None: it can't be told. Writes nothing."""
    if entry.parameters is None or entry.idempotency_key is None:
        return None
    call = with_content(calls.of(row).recorded(planned, entry.parameters, entry.idempotency_key), backups)
    try:
        return await actors.of(row).took_effect(call)
    except SourceError:
        return None


def found_done(key: tuple[Value, ...], *, deletes: bool) -> OutcomeEntry:
    """Return the outcome of an act whose effect was read. `deletes`: the effect is that the object is gone."""
    if deletes:
        return OutcomeEntry(key, Outcome.DONE, GONE_UNDER_WAY, GONE)
    return OutcomeEntry(key, Outcome.DONE, None, FOUND_DONE)


def is_final(outcome: Outcome, idempotency: Idempotency, since: timedelta) -> bool:
    """Whether a call of `since` ago, which showed no effect a moment ago, surely has none after this outcome."""
    if since >= ARRIVES or outcome is Outcome.ALREADY_GONE:
        return True
    return outcome is Outcome.CHANGED and idempotency is Idempotency.PRECONDITION

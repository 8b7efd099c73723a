"""Intents without an outcome: what a run left behind that was killed, or whose answer was lost (R32).

Each is resolved by reading, never by trying again: it took effect (`done`), it did not (and may be gone on with, under
the same key, after a full recheck), or it can't be told (`unknown`, and stays open for the next look).

That an act is not to be seen at the target does not prove that it will not come yet: the call may still be on its way
there, or wait in its queue. So a call is made again only where its operation is declared harmless to repeat, and never
one that the target said it had accepted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from fullcount.compiler.catalog import Idempotency, Operation
from fullcount.runtime.act.actors import Actors
from fullcount.runtime.act.calls import CallsOf
from fullcount.runtime.act.group import Item
from fullcount.runtime.connectors.base import Outcome, SourceError
from fullcount.runtime.evidence.codes import ActReason
from fullcount.runtime.store.views import LedgerEntry, OutcomeEntry


@dataclass(frozen=True, slots=True)
class Resolved:
    """What reading told: outcomes to record, and objects whose act may be gone on with."""

    outcomes: tuple[OutcomeEntry, ...]
    again: tuple[Item, ...]


async def resolve(
    intents: tuple[LedgerEntry, ...], items: Mapping[tuple[Any, ...], Item], calls: CallsOf, actors: Actors
) -> Resolved:
    """Read what became of each intent. Writes nothing at the source."""
    outcomes: list[OutcomeEntry] = []
    again: list[Item] = []
    for entry in intents:
        item = items[entry.object_key]
        effect = await _took_effect(entry, item, calls, actors)
        if effect is True:
            detail = "found done by reading, after a run that did not learn of it"
            outcomes.append(OutcomeEntry(entry.object_key, Outcome.DONE, None, detail))
        elif effect is False and _repeatable(entry, calls.of(item.row).operation):
            again.append(replace(item, intent=entry))
        elif entry.outcome is None:
            detail = "reading does not tell whether the act took effect; it is not tried again"
            if effect is False:
                detail = "the act is not to be seen yet, and its operation is not one that may be done twice"
            outcomes.append(OutcomeEntry(entry.object_key, Outcome.UNKNOWN, ActReason.OUTCOME_UNKNOWN, detail))
    return Resolved(tuple(outcomes), tuple(again))


def _repeatable(entry: LedgerEntry, operation: Operation) -> bool:
    """Whether the very same call may be made again although the first one may still come."""
    return operation.idempotency is not Idempotency.NONE and entry.reason != ActReason.OUTCOME_PENDING


async def _took_effect(entry: LedgerEntry, item: Item, calls: CallsOf, actors: Actors) -> bool | None:
    if entry.parameters is None or entry.idempotency_key is None:
        return None
    call = calls.of(item.row).recorded(item.planned, entry.parameters, entry.idempotency_key)
    try:
        return await actors.of(item.row).took_effect(call)
    except SourceError:
        return None

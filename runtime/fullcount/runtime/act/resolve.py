"""Intents without an outcome: what a run left behind that was killed, or whose answer was lost (R32).

Each is resolved by reading, never by trying again: it took effect (`done`), it surely did not (and may be gone on with,
under the same key, after a full recheck), or it can't be told (`unknown`, and stays open for the next look). What must
not be repeated (see `repeating.py`) is not gone on with: it stays unknown as long as the call may still arrive, and has
failed after that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from fullcount.runtime.act.actors import Actors
from fullcount.runtime.act.calls import CallsOf
from fullcount.runtime.act.context import ApplyContext
from fullcount.runtime.act.earlier import found_done, took_effect
from fullcount.runtime.act.group import Item
from fullcount.runtime.act.repeating import ARRIVES, may_repeat
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.evidence.codes import ActReason
from fullcount.runtime.store.views import LedgerEntry, OutcomeEntry

NOT_REPEATED = "FC786"
"""The reason of an act that shows no effect and must not be made again."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """What reading told: outcomes to record, and objects whose act may be gone on with."""

    outcomes: tuple[OutcomeEntry, ...]
    again: tuple[Item, ...]


async def resolve(
    intents: tuple[LedgerEntry, ...],
    items: Mapping[tuple[Any, ...], Item],
    calls: CallsOf,
    actors: Actors,
    context: ApplyContext,
) -> Resolved:
    """Read what became of each intent. Writes nothing at the source."""
    now = context.store.now()
    outcomes: list[OutcomeEntry] = []
    again: list[Item] = []
    for entry in intents:
        item = items[entry.object_key]
        effect = await took_effect(entry, item.row, item.planned, calls, actors, context.backups)
        if effect is True:
            outcomes.append(found_done(entry.object_key, deletes=calls.of(item.row).deletes))
        elif effect is False:
            first, last = (timedelta(0) if at is None else now - at for at in (entry.intent_at, entry.last_meant_at))
            accepted = entry.reason == ActReason.OUTCOME_PENDING  # it will come, whatever is to be seen of it now
            if not accepted and may_repeat(calls.of(item.row).operation, first):
                again.append(replace(item, intent=entry))
            elif not accepted or last >= ARRIVES:
                outcomes.append(_not_repeated(entry, last))
        elif entry.outcome is None:
            detail = "reading does not tell whether the act took effect; it is not tried again"
            outcomes.append(OutcomeEntry(entry.object_key, Outcome.UNKNOWN, ActReason.OUTCOME_UNKNOWN, detail))
    return Resolved(tuple(outcomes), tuple(again))


def _not_repeated(entry: LedgerEntry, since: timedelta) -> OutcomeEntry:
    if since >= ARRIVES:
        detail = "it took no effect, and the operation must not be repeated under this approval"
        return OutcomeEntry(entry.object_key, Outcome.FAILED, NOT_REPEATED, detail)
    detail = "it shows no effect, may still take effect, and must not be repeated"
    return OutcomeEntry(entry.object_key, Outcome.UNKNOWN, NOT_REPEATED, detail)

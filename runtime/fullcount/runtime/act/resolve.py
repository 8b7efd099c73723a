"""Intents without an outcome: what a run left behind that was killed, or whose answer was lost (R32).

Each is resolved by reading, never by trying again: it took effect (`done`), it surely did not (and may be gone on with,
under the same key, after a full recheck), or it can't be told (`unknown`, and stays open for the next look).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from fullcount.runtime.act.actors import Actors
from fullcount.runtime.act.backing_up import with_content
from fullcount.runtime.act.calls import CallsOf
from fullcount.runtime.act.group import Item
from fullcount.runtime.backups.files import BackupFiles
from fullcount.runtime.connectors.base import Outcome, SourceError
from fullcount.runtime.evidence.codes import ActReason
from fullcount.runtime.store.views import LedgerEntry, OutcomeEntry


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
    backups: BackupFiles,
) -> Resolved:
    """Read what became of each intent. Writes nothing at the source."""
    outcomes: list[OutcomeEntry] = []
    again: list[Item] = []
    for entry in intents:
        item = items[entry.object_key]
        effect = await _took_effect(entry, item, calls, actors, backups)
        if effect is True:
            detail = "found done by reading, after a run that did not learn of it"
            outcomes.append(OutcomeEntry(entry.object_key, Outcome.DONE, None, detail))
        elif effect is False:
            again.append(replace(item, intent=entry))
        elif entry.outcome is None:
            detail = "reading does not tell whether the act took effect; it is not tried again"
            outcomes.append(OutcomeEntry(entry.object_key, Outcome.UNKNOWN, ActReason.OUTCOME_UNKNOWN, detail))
    return Resolved(tuple(outcomes), tuple(again))


async def _took_effect(
    entry: LedgerEntry, item: Item, calls: CallsOf, actors: Actors, backups: BackupFiles
) -> bool | None:
    if entry.parameters is None or entry.idempotency_key is None:
        return None
    recorded = calls.of(item.row).recorded(item.planned, entry.parameters, entry.idempotency_key)
    call = with_content(recorded, backups)
    try:
        return await actors.of(item.row).took_effect(call)
    except SourceError:
        return None

"""Whether what was done to an object may be taken back, and with what: asked by an undo, and by a rehearsal of one.

An object is only touched if it is still as the act left it. What the object was before comes from the ledger, which
kept what the act was conditional on, or from the backup that the act took.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from fullcount.compiler.program import Act, Inventory, OperationCall
from fullcount.runtime.act.aftermath import Aftereffect, aftermath
from fullcount.runtime.act.backing_up import LOST, Unrestorable, restorable
from fullcount.runtime.act.calls import CallsOf
from fullcount.runtime.act.context import ApplyContext
from fullcount.runtime.act.earlier import GONE, GONE_UNDER_WAY
from fullcount.runtime.act.group import Due, Item, Left
from fullcount.runtime.connectors.base import Outcome, SourceReader
from fullcount.runtime.evidence.refusal import Finding
from fullcount.runtime.plan.document import PlanRow
from fullcount.runtime.store.views import ActKind, LedgerEntry, OutcomeEntry
from fullcount.runtime.typed import object_argument

CHANGED_SINCE = "FC769"


def undo_of(act: Act, row: PlanRow) -> OperationCall | None:
    """Return what takes back what the plan does to an object; None: nothing can."""
    step = None if row.step is None else row.step.label
    call = act.calls.get(step)
    return act.undos.get(step) if call is not None and call.reversible else None


@dataclass(frozen=True, slots=True)
class TakingBack:
    """Judges the objects of one undo. `calls` take back, `acted` did it; `entries` are the acts that are taken back."""

    context: ApplyContext
    act: Act
    calls: CallsOf
    acted: CallsOf
    base: Inventory
    reader: SourceReader
    entries: Mapping[tuple[Any, ...], LedgerEntry]

    async def judge(self, item: Item) -> Due | Left:
        """Whether the object is still as the act left it."""
        at = self.context.monotonic()
        key, entry = item.row.key, self.entries[item.row.key]
        if entry.reason == GONE_UNDER_WAY and not self.context.named:
            how = f"fullcount undo {self.context.plan.document.plan_id} {object_argument(key)}"
            return later(key, f"{GONE} ({GONE_UNDER_WAY}); to bring it back all the same, name it: {how}")
        if undo_of(self.act, item.row) is None:
            return Left(OutcomeEntry(key, Outcome.REFUSED, "FC768", "what its step did can't be taken back"))
        if item.row.step is not None and item.intent is None:
            plan_id = self.context.plan.document.plan_id
            why = self.context.store.step_in_the_way(plan_id, key, kind=ActKind.UNDO)
            if why is not None:
                return _changed(key, why)
        acted = self.acted.of(item.row)
        found = await aftermath(self.reader, acted, self.base, item.planned, entry)
        match found.left:
            case Aftereffect.UNKNOWN:
                return later(key, found.detail)
            case Aftereffect.GONE:
                return Left(OutcomeEntry(key, Outcome.ALREADY_GONE, "gone", found.detail))
            case Aftereffect.CHANGED:
                return _changed(key, found.detail)
            case Aftereffect.AS_LEFT:
                pass
        # before the act the object was as the act's precondition says, whatever the plan had read
        before = {} if entry.parameters is None else acted.expected(entry.parameters)
        arguments = self.calls.of(item.row).arguments(item.planned, {**item.planned.cells, **before})
        if isinstance(arguments, Finding):
            return Left(OutcomeEntry(key, Outcome.REFUSED, arguments.code, arguments.message))
        return self._restored(Due(item, arguments, found.live, at, found.live), entry)

    def _restored(self, due: Due, entry: LedgerEntry) -> Due | Left:
        """Add what the object is restored from, where that is its way back."""
        undo, key = undo_of(self.act, due.item.row), due.item.row.key
        if undo is None or not undo.from_backup:
            return due
        backup = restorable(entry, self.context.backups, self.context.store.now())
        if isinstance(backup, Unrestorable):
            return Left(OutcomeEntry(key, Outcome.REFUSED, LOST, backup.detail), recorded=backup.for_good)
        return replace(due, backup=backup)


def _changed(key: tuple[Any, ...], detail: str) -> Left:
    return Left(OutcomeEntry(key, Outcome.CHANGED, CHANGED_SINCE, detail))


def later(key: tuple[Any, ...], detail: str) -> Left:
    """Leave an object for another try: an outage must not make an undo impossible for good."""
    return Left(OutcomeEntry(key, Outcome.REFUSED, None, detail), recorded=False)

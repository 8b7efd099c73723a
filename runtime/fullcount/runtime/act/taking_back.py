"""Whether what was done to an object may be taken back, and with what: asked by an undo, and by a rehearsal of one.

An object is only touched if it is still as the act left it. What the object was before comes from the ledger, which
kept what the act was conditional on, or from the backup that the act took.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fullcount.compiler.program import Act, Inventory, OperationCall
from fullcount.runtime.act.aftermath import Aftereffect, aftermath
from fullcount.runtime.act.backing_up import LOST, Unrestorable, restorable
from fullcount.runtime.act.calls import CallsOf
from fullcount.runtime.act.context import ApplyContext
from fullcount.runtime.act.earlier import GONE, GONE_UNDER_WAY
from fullcount.runtime.act.group import Due, Item, Left
from fullcount.runtime.connectors.base import LooksAtKept, Outcome, SourceError, SourceReader
from fullcount.runtime.evidence.refusal import Finding
from fullcount.runtime.plan.cells import cell_to_doc, to_json
from fullcount.runtime.plan.document import PlanRow, TakenBackDoc
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
    """Judges the objects of one undo. `calls` take back, `acted` did it; `entries` are the acts that are taken back.

    Of a row that says what was approved to be taken back, the object must be as it was then, and the call be the same.
    """

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
            how = f"fullcount undo {entry.plan_id} {object_argument(key)}"
            return later(key, f"{GONE} ({GONE_UNDER_WAY}); to bring it back all the same, name it: {how}")
        if undo_of(self.act, item.row) is None:
            return Left(OutcomeEntry(key, Outcome.REFUSED, "FC768", "what its step did can't be taken back"))
        if item.row.step is not None and item.intent is None:
            why = self.context.store.step_in_the_way(entry.plan_id, key, kind=ActKind.UNDO)
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
        due = self._restored(Due(item, arguments, found.live, at, found.live), entry)
        if isinstance(due, Due) and isinstance(self.reader, LooksAtKept):
            due = await self._kept(due, self.reader)
        return due if isinstance(due, Left) else self._as_approved(due, entry)

    def taken_back(self, due: Due, entry: LedgerEntry, may_be_written: Collection[str]) -> TakenBackDoc:
        """Return what a plan says of an object that is to be taken back; of its fields those that may be written."""
        acted = self.acted.of(due.item.row)
        fields, written = acted.base.fields, set(may_be_written)
        if entry.parameters is not None:
            written.update(acted.written(acted.recorded(due.item.planned, entry.parameters, "").arguments))
        return TakenBackDoc(
            act_id=entry.act_id,
            operation=self.calls.of(due.item.row).name,
            left={name: cell_to_doc(cell, fields[name].type) for name, cell in due.seen.items() if name in written},
            backup=None if due.backup is None else due.backup.sha256,
        )

    def _as_approved(self, due: Due, entry: LedgerEntry) -> Due | Left:
        row = due.item.row
        if row.undo is None:
            return due
        found = self.taken_back(due, entry, row.undo.left)
        if found.left != row.undo.left:
            names = {*found.left, *row.undo.left}
            moved = sorted(name for name in names if found.left.get(name) != row.undo.left.get(name))
            return _changed(row.key, f"`{'`, `'.join(moved)}` changed since the undo was planned")
        if found != row.undo or self.arguments_of(due) != row.arguments:
            return _changed(row.key, "what would take it back is no longer what was approved")
        return due

    def arguments_of(self, due: Due) -> dict[str, Any]:
        """Return the arguments of the call that takes an object back, as a plan writes them."""
        parameters = self.calls.of(due.item.row).operation.parameters
        return {name: to_json(value, parameters[name].type.type) for name, value in due.arguments.items()}

    async def _kept(self, due: Due, reader: LooksAtKept) -> Due | Left:
        """Look whether what a source keeps itself is there to be brought back."""
        call = self.calls.of(due.item.row).call(due.item.planned, due.arguments, due.expected, "")
        try:
            why = await reader.why_not_kept(replace(call, backup=due.backup))
        except SourceError as error:
            why = error.reason.detail or str(error.reason.code)
        if why is None:
            return due
        return Left(OutcomeEntry(due.item.row.key, Outcome.REFUSED, LOST, f"{why} ({LOST})"), recorded=False)

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

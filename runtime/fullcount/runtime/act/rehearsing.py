"""The rehearsal of a restore: one object of the canary is brought back, compared, and acted on again.

Guarantees: the rest of a plan waits until an object that was acted on, one at each step that is rehearsed and of which
there is a rest, has been restored just as `fullcount undo` would
restore it, was then found to be what it was before the act, and was acted on again. Both are acts like any other, with
an intent, a key and an outcome of their own, each made once. What can't be restored, is not as it was, or is not acted
on again stops the plan; what can't be told is left for the next run. Nothing is restored that may not be acted on now.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from fullcount.compiler.program import Act, Inventory, Proposal
from fullcount.runtime import format as fmt
from fullcount.runtime.act.actors import Actors, opened, sources_of_rows
from fullcount.runtime.act.backing_up import BackingUp
from fullcount.runtime.act.calls import CallsOf, backup_of
from fullcount.runtime.act.context import ApplyContext
from fullcount.runtime.act.earlier import GONE_UNDER_WAY
from fullcount.runtime.act.ending import Ended
from fullcount.runtime.act.group import Due, GroupRunner, Item, Judge, Left
from fullcount.runtime.act.guard import Purpose, guard
from fullcount.runtime.act.order import first_of
from fullcount.runtime.act.pacing import Pacer
from fullcount.runtime.act.resembling import unlike_backup, unlike_before
from fullcount.runtime.act.resolve import resolve
from fullcount.runtime.act.session import act_in_groups, bindings_of, calls_of
from fullcount.runtime.act.stop import StopRule
from fullcount.runtime.act.taking_back import TakingBack, later
from fullcount.runtime.act.watch import Watch
from fullcount.runtime.connectors.base import Outcome, SourceError, SourceReader
from fullcount.runtime.evidence.refusal import Finding
from fullcount.runtime.journal.entry import canonical_text
from fullcount.runtime.offline.rehearsals import passed_with, still_to_rehearse
from fullcount.runtime.store.views import ActKind, Fence, LedgerEntry, OutcomeEntry

UNLIKE = "FC794"
"""The finding that the rehearsal does not hold, and the reason of an object that is not what it was."""

KINDS: Final = (ActKind.REHEARSE_UNDO, ActKind.REHEARSE_AGAIN)


def rehearsed_keys(context: ApplyContext) -> frozenset[tuple[Any, ...]]:
    """Return the objects with which a rehearsal of the plan was begun: of a graduated act one at each step."""
    begun = context.store.ledger(context.plan.document.plan_id, kind=ActKind.REHEARSE_UNDO)
    return frozenset(entry.object_key for entry in begun)


def left_open(context: ApplyContext) -> bool:
    """Whether an earlier run meant an act of the rehearsal and left its outcome open."""
    plan_id = context.plan.document.plan_id
    return any(len(context.store.open_intents(plan_id, kind=kind)) > 0 for kind in KINDS)


@dataclass(slots=True)
class Rehearsal:
    """The rehearsal of one plan in one run. `watch`, `actors`, `calls`, `judge`, `backing_up`: those of the act."""

    context: ApplyContext
    run_id: str
    proposal: Proposal
    act: Act
    ended: Ended
    fence: Fence
    watch: Watch
    actors: Actors
    calls: CallsOf
    judge: Judge
    backing_up: BackingUp | None
    reader: SourceReader
    base: Inventory

    async def resolve(self, items: Mapping[tuple[Any, ...], Item]) -> None:
        """Read what became of what an earlier run left open, and record it. Raises `NotOpenError`."""
        async with opened(self.context, self.act.undos, self._rows()) as undoing:
            await self._resolved(ActKind.REHEARSE_UNDO, items, self._undo_calls(), undoing)
        await self._resolved(ActKind.REHEARSE_AGAIN, items, self.calls, self.actors)

    async def held(self, items: Mapping[tuple[Any, ...], Item]) -> bool:
        """See it through: whether the rest may be acted on now. If not, the reason was noted. Raises `NotOpenError`."""
        for step in self._steps():
            if not await self._held_at(step, items):
                return False
        return True

    async def _held_at(self, step: str | None, items: Mapping[tuple[Any, ...], Item]) -> bool:
        begun = rehearsed_keys(self.context)
        of_step = [key for key in begun if items[key].row.step_label == step]
        key = of_step[0] if len(of_step) > 0 else self._first(step)
        done = None if key is None else self._entry(ActKind.ACT, key)
        if key is None or done is None:
            of = "" if step is None else f" at step `{step}`"
            again = ("plan again: the objects that are left are in the new plan",)
            self._stop(f"nothing of the canary was done{of}, so there is nothing to restore", *again)
            return False
        item = items[key]
        async with opened(self.context, self.act.undos, self._rows()) as undoing:
            calls = self._undo_calls()
            if not await self._restored(item, done, calls, undoing):
                return False
            return await self._again(item, done, calls, undoing)

    # -- the object ---------------------------------------------------------------------------------------------------

    def _steps(self) -> list[str | None]:
        """Return the steps whose rehearsal is still to be seen through: what was begun, and what the rest waits for."""
        ends: dict[str, dict[str, str | None]] = {}
        for kind in (ActKind.ACT, *KINDS):
            for entry in self.context.store.ledger(self.context.plan.document.plan_id, kind=kind):
                ended = None if entry.outcome is None else entry.outcome.value
                ends.setdefault(canonical_text(list(entry.object_key)), {})[kind.value] = ended
        steps = {canonical_text(list(row.key)): row.step_label for row in self._rows()}
        by = passed_with(ends)
        begun = {steps[key] for key, each in ends.items() if ActKind.REHEARSE_UNDO.value in each} - {
            steps[key] for key in by.rehearsed
        }
        waited_for = {*begun, *still_to_rehearse(self.act.rehearsed, steps, by)}
        return [step for step in self.act.rehearsed if step in waited_for]

    def _first(self, step: str | None) -> tuple[Any, ...] | None:
        """Return the first object by key that the canary did at a step, of those that refer to nothing gone later."""
        plan_id, rows = self.context.plan.document.plan_id, self.context.plan.document.rows
        ledger = self.context.store.ledger(plan_id)
        done = {entry.object_key: entry.reason for entry in ledger if entry.outcome is Outcome.DONE}
        acted = [row for row in rows if row.key in done]
        needing = {key for row in acted for key in first_of(row)}  # what they refer to is gone by now
        ours = (row for row in acted if done[row.key] != GONE_UNDER_WAY)  # somebody may have meant it to be gone
        return next((row.key for row in ours if row.key not in needing and row.step_label == step), None)

    def _rows(self) -> tuple[Any, ...]:
        return self.context.plan.document.rows

    def _undo_calls(self) -> CallsOf:
        return calls_of(self.context, self.act.undos, self.proposal, bindings_of(self.context))

    def _entry(self, kind: ActKind, key: tuple[Any, ...]) -> LedgerEntry | None:
        ledger = self.context.store.ledger(self.context.plan.document.plan_id, kind=kind)
        return next((entry for entry in ledger if entry.object_key == key), None)

    # -- the two acts -------------------------------------------------------------------------------------------------

    async def _restored(self, item: Item, done: LedgerEntry, calls: CallsOf, undoing: Actors) -> bool:
        context, key = self.context, item.row.key
        begun = self._entry(ActKind.REHEARSE_UNDO, key)
        if begun is None or begun.open:
            self.watch.look()
            finding = guard(self.watch.inputs(None, self._acts()))
            if finding is not None:  # what could not be acted on again is not restored
                self.ended.by(finding, resumes_at=self.watch.resumes_at(finding))
                return False
        sources = sources_of_rows(self.act.undos, self._rows())
        watch = Watch(context, self.proposal, Purpose.REHEARSE, self.fence, sources, bindings_of(context))
        watch.acting = await undoing.identity()
        judge = TakingBack(context, self.act, calls, self.calls, self.base, self.reader, {key: done}).judge
        runner = self._runner(ActKind.REHEARSE_UNDO, calls, judge, undoing, watch)
        return await self._through(runner, item, "restored")

    async def _again(self, item: Item, done: LedgerEntry, calls: CallsOf, undoing: Actors) -> bool:
        async def compared(again: Item) -> Due | Left:
            return await self._as_before(again, done, calls, undoing) or await self.judge(again)

        runner = self._runner(ActKind.REHEARSE_AGAIN, self.calls, compared, self.actors, self.watch)
        runner.backing_up = self.backing_up
        return await self._through(runner, item, "acted on again")

    def _runner(self, kind: ActKind, calls: CallsOf, judge: Judge, actors: Actors, watch: Watch) -> GroupRunner:
        return GroupRunner(
            context=self.context,
            kind=kind,
            run_id=self.run_id,
            fence=self.fence,
            calls=calls,
            judge=judge,
            actors=actors,
            watch=watch,
            stop_rule=StopRule(None),
            concurrency=1,
            acts=self._acts(),
        )

    def _acts(self) -> int:
        """Return how many other objects were acted on: this one counts once."""
        ledger = self.context.store.ledger(self.context.plan.document.plan_id)
        return sum(1 for entry in ledger if entry.intent_at is not None) - 1

    async def _through(self, runner: GroupRunner, item: Item, what: str) -> bool:
        """Make one of the two acts, or go on with it; whether it is done. If not, the reason was noted."""
        context, key, kind = self.context, item.row.key, runner.kind
        entry = self._entry(kind, key)
        if entry is not None and entry.open:
            (item,) = await self._resolved(kind, {key: item}, runner.calls, runner.actors) or (item,)
            entry = self._entry(kind, key)
        if entry is None or (entry.open and item.intent is not None):
            pacer = Pacer(None, context.monotonic, context.sleep, lambda: context.stop.reason is not None)
            stopped = await act_in_groups(context, runner, [item], pacer, lambda _: None)
            entry = self._entry(kind, key)
            if stopped is not None:
                self.ended.by(stopped, resumes_at=self.watch.resumes_at(stopped))
        if entry is not None and entry.outcome is Outcome.DONE:
            return self.ended.stopped_by is None
        if entry is None or entry.open:
            detail = runner.undecided.get(key, "" if entry is None else entry.detail)
            told = detail or "whether it was is not known"
            again = "apply the same plan again: the rehearsal goes on where it stands"
            self._stop(f"{fmt.key(key)} was not {what}: {told}", again)
        else:
            self._stop(f"{fmt.key(key)} was not {what}, it ended as {entry.outcome}: {entry.detail or entry.reason}")
        return False

    async def _resolved(
        self, kind: ActKind, items: Mapping[tuple[Any, ...], Item], calls: CallsOf, actors: Actors
    ) -> tuple[Item, ...]:
        store, plan_id = self.context.store, self.context.plan.document.plan_id
        found = await resolve(store.open_intents(plan_id, kind=kind), items, calls, actors, self.context)
        if len(found.outcomes) > 0:
            store.record_outcomes(plan_id, self.run_id, self.fence, found.outcomes, kind=kind)
        return found.again

    # -- the comparison -----------------------------------------------------------------------------------------------

    async def _as_before(self, item: Item, done: LedgerEntry, calls: CallsOf, undoing: Actors) -> Left | None:
        """Compare what was restored with what was acted on; None: it is the same."""
        key = item.row.key
        restore = self._entry(ActKind.REHEARSE_UNDO, key)
        if done.parameters is None or restore is None or restore.parameters is None:
            return later(key, "the record of the act is not there")
        before = self.calls.of(item.row).expected(done.parameters)
        try:
            given = restore.parameters["arguments"]
            found = await unlike_before(self.reader, calls.of(item.row), given, self.base, item.planned, before)
            if found.why is None and not found.unknown and backup_of(restore.parameters) is not None:
                found = await unlike_backup(restore, item, calls, undoing, self.context.backups)
        except SourceError as error:
            return later(key, f"the restored object could not be read: {error.reason.code}")
        if found.unknown:
            return later(key, found.why or "")
        if found.why is None:
            return None
        return Left(OutcomeEntry(key, Outcome.REFUSED, UNLIKE, f"it was restored, and is not what it was: {found.why}"))

    def _stop(self, why: str, *ways_on: str) -> None:
        plan_id = self.context.plan.document.plan_id
        look = (
            "look at this object before anything else is done",
            f"see the record: fullcount report {plan_id} --format csv",
        )
        message = f"the rehearsal of a restore does not hold: {why}"
        self.ended.by(Finding(code=UNLIKE, message=message, ways_on=ways_on or look))

"""Acting on a group of objects: judge, guard, intents, calls, outcomes.

For each object, in this order and never another: it is judged on what it is now; the guard is asked; the intent is
committed; the guard is asked again and the call made; the outcome is committed. Intents of a group share one
transaction, and so do its outcomes. A call whose answer was lost is `unknown`, never tried again here; one of which the
target said that it did nothing is tried again a few times, the guard asked before each (`repeating.py`).

An object whose intent was committed and that the guard then forbids ends as `refused`, unless the lease was lost or the
run is only paused: then a later run resolves it, by reading, and this one records nothing more of it.

The store refuses an intent on an object with which another plan is not done. What came of that plan's act is looked for
once, by reading, and the object judged anew; if it can't be told, the object is refused, and the others go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from fullcount.compiler.values import Row, Value
from fullcount.runtime.act.actors import Actors
from fullcount.runtime.act.ahead import Ahead
from fullcount.runtime.act.backing_up import BackingUp, without_backup
from fullcount.runtime.act.calls import CallsOf
from fullcount.runtime.act.context import ApplyContext
from fullcount.runtime.act.earlier import found_done, is_final, took_effect
from fullcount.runtime.act.guard import OBJECT_CODES, PAUSES, guard
from fullcount.runtime.act.pacing import RECHECK_SECONDS, rest
from fullcount.runtime.act.perform import perform_guarded
from fullcount.runtime.act.recheck import Planned
from fullcount.runtime.act.repeating import may_repeat, trouble_of, wait_before_again
from fullcount.runtime.act.stop import AGAIN_AND_AGAIN, InARow, StopRule
from fullcount.runtime.act.watch import Watch
from fullcount.runtime.connectors.base import ActCall, ActResult, Outcome, SourceError, StoredBackup
from fullcount.runtime.evidence.codes import ActReason
from fullcount.runtime.evidence.refusal import Finding
from fullcount.runtime.plan.digest import CanonicalError, canonical_bytes
from fullcount.runtime.plan.document import PlanRow
from fullcount.runtime.store.elsewhere import IN_THE_WAY, ActedElsewhere, ActElsewhere
from fullcount.runtime.store.errors import FenceLost, StoreError
from fullcount.runtime.store.views import ActKind, Fence, Intent, LedgerEntry, OutcomeEntry

_LATER = PAUSES | {AGAIN_AND_AGAIN}
"""Findings after which an act that was meant and not called is gone on with."""

LATE_SECONDS = 5 * RECHECK_SECONDS
"""An object whose call comes later than this after it was judged is judged once more."""


@dataclass(frozen=True, slots=True)
class Item:
    """One object of the plan. `intent`: one of an earlier run that surely took no effect, to be gone on with."""

    row: PlanRow
    planned: Planned
    intent: LedgerEntry | None = None


@dataclass(frozen=True, slots=True)
class Due:
    """An object that was judged to be acted on: with which arguments, on which precondition. `at`: monotonic.

    `seen` is everything that was read of it, for the guard; `expected` the part that the act is conditional on;
    `backup` what was stored of it; `closure` what may go along, see `ActCall`.
    """

    item: Item
    arguments: Mapping[str, Value]
    expected: Row
    at: float
    seen: Row
    backup: StoredBackup | None = None
    closure: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Left:
    """An object that is left alone. `recorded` is False where a later run may well decide.

    `meant`: an act on it was meant by an earlier run, and counts among the acts whatever became of it.
    """

    entry: OutcomeEntry
    recorded: bool = True
    meant: bool = False


Judge = Callable[[Item], Awaitable[Due | Left]]


@dataclass(slots=True)
class GroupRunner:
    """Acts on groups of objects of one plan. `acts`: how many intents there were before, without those gone on with.

    `stopped_by` is set as soon as nothing further may be taken up.
    """

    context: ApplyContext
    kind: ActKind
    run_id: str
    fence: Fence
    calls: CallsOf
    judge: Judge
    actors: Actors
    watch: Watch
    stop_rule: StopRule
    concurrency: int
    acts: int
    backing_up: BackingUp | None = None
    settle: Callable[[str], Awaitable[str | None]] | None = None
    """Finds out by reading what came of the open acts of another plan; returns why that can't be told of some."""
    stopped_by: Finding | None = None
    undecided: dict[tuple[Any, ...], str] = field(default_factory=dict)
    in_a_row: InARow = field(default_factory=InARow)
    _slots: asyncio.Semaphore = field(init=False)
    _untold: dict[str, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._slots = asyncio.Semaphore(max(1, self.concurrency))

    def ahead(self, items: Sequence[Item], many: Callable[[], int]) -> Ahead[Item, Due | Left]:
        """Return what judges objects before their turn; `many` beyond the group that is acted on."""
        return Ahead(self._judged, items, many, self.context.monotonic)

    async def run(self, ahead: Ahead[Item, Due | Left], number: int) -> list[OutcomeEntry]:
        """Act on the next group of at most 50 and return the outcomes recorded; the rest was not started.

        Raises what a connector raises beyond its contract, after the outcomes of the others were recorded.
        """
        self.watch.look()
        self.stopped_by = guard(self.watch.inputs(None, self.acts))
        if self.stopped_by is not None:
            return []
        judged = await _all(ahead.take(number))
        await self.watch.refresh()
        outcomes, due = await self._admitted([answer for answer in judged if not isinstance(answer, Exception)])
        try:
            due, entries = await self._meant(due, outcomes)
        except Exception:
            self._record(outcomes, with_intent=frozenset())  # nothing was called; what is known already stays known
            raise
        results: list[OutcomeEntry | Exception | None] = []
        if entries is not None:
            numbered = zip(due, entries, range(self.acts, self.acts + len(due)), strict=True)
            self.acts += len(due)
            calls = [asyncio.ensure_future(self._act(each, entry, nth)) for each, entry, nth in numbered]
            ahead.go_on()  # begun after the calls, so that these come first
            results = await _all(calls)
        outcomes += [found for found in results if isinstance(found, OutcomeEntry)]
        self._record(outcomes, with_intent=frozenset(each.item.row.key for each in due))
        for found in (*judged, *results):
            if isinstance(found, Exception):
                raise found
        if self.stopped_by is None:
            self.stopped_by = self.in_a_row.finding
        return outcomes

    # -- before the intent ------------------------------------------------------------------------------------------

    async def _judged(self, item: Item) -> Due | Left:
        async with self._slots:
            await self.watch.refresh()  # whether an object is let go is judged by the lists, too
            answer = await self.judge(item)
            if isinstance(answer, Due) and (other := self._same_call(answer)) is not None:
                answer = Left(OutcomeEntry(item.row.key, Outcome.CHANGED, other.code, other.message))
            if isinstance(answer, Left) and answer.recorded:
                settled = await self._settled(item, answer.entry)
                answer = replace(answer, recorded=False) if settled is None else Left(settled)
            return replace(answer, meant=item.intent is not None) if isinstance(answer, Left) else answer

    async def _settled(self, item: Item, entry: OutcomeEntry) -> OutcomeEntry | None:
        """Return what may be recorded of an object; None: a call of an earlier run may still do something to it."""
        intent = item.intent
        if intent is None or intent.last_meant_at is None or entry.outcome in (Outcome.DONE, Outcome.UNKNOWN):
            return entry
        effect = await took_effect(intent, item.row, item.planned, self.calls, self.actors, self.context.backups)
        if effect is True:
            return found_done(entry.object_key, deletes=self.calls.of(item.row).deletes)
        since = self.context.store.now() - intent.last_meant_at
        idempotency = self.calls.of(item.row).operation.idempotency
        return entry if effect is False and is_final(entry.outcome, idempotency, since) else None

    async def _left_alone(self, item: Item, entry: OutcomeEntry) -> tuple[OutcomeEntry, ...]:
        """Return what is recorded of an object that is not acted on after all; nothing while that can't be told."""
        settled = await self._settled(item, entry)
        if settled is not None:
            return (settled,)
        self.undecided[item.row.key] = f"an earlier call may still arrive: {entry.detail}"
        return ()

    async def _admitted(self, judged: Sequence[Due | Left]) -> tuple[list[OutcomeEntry], list[Due]]:
        """Ask the guard about each object that is due; stop at the first finding that is not about the object alone."""
        outcomes: list[OutcomeEntry] = []
        due: list[Due] = []
        for answer in judged:
            if isinstance(answer, Left):
                self.acts += answer.meant
                if answer.recorded:
                    outcomes.append(answer.entry)
                else:
                    self.undecided[answer.entry.object_key] = answer.entry.detail
                continue
            if self.stopped_by is not None:
                continue
            finding = guard(self.watch.inputs(answer.item.row.key, self.acts + len(due), answer.seen))
            if finding is None:
                due.append(answer)
            elif finding.code in OBJECT_CODES:
                self.acts += answer.item.intent is not None
                outcomes += await self._left_alone(answer.item, refused(answer.item.row.key, finding))
            else:
                self.stopped_by = finding
        return outcomes, due

    def _same_call(self, due: Due) -> Finding | None:
        """A call that was meant before is made again only if it is the very same (R30)."""
        intent = due.item.intent
        if intent is None or without_backup(self._parameters(due)) == without_backup(intent.parameters):
            return None
        return Finding(
            code=ActReason.IDEMPOTENCY_MISMATCH,
            message="the object was changed after an act on it was meant and before it was made",
        )

    async def _backed_up(self, due: list[Due], outcomes: list[OutcomeEntry]) -> list[Due]:
        """Store what is due, where the workflow says so; what can't be stored is left alone."""
        waiting = [each for each in due if each.backup is None]
        if self.backing_up is None or len(waiting) == 0:
            return due
        stored, left, stops = await self.backing_up.take(waiting)
        for item, entry in left:
            self.acts += item.intent is not None
            outcomes += await self._left_alone(item, entry)
        if stops is not None:
            self.stopped_by = stops
            return []
        return [each for each in due if each.backup is not None] + stored

    def _parameters(self, due: Due) -> dict[str, Any]:
        return self.calls.of(due.item.row).parameters(self._call(due, ""), due.expected)

    def _call(self, due: Due, key: str) -> ActCall:
        call = self.calls.of(due.item.row).call(due.item.planned, due.arguments, due.expected, key)
        return replace(call, backup=due.backup, closure=due.closure)

    async def _meant(
        self, due: list[Due], outcomes: list[OutcomeEntry]
    ) -> tuple[list[Due], tuple[LedgerEntry, ...] | None]:
        """Commit the intents of what is due, and return both; no entries if the store does not allow it: that stops."""
        again: set[tuple[Any, ...]] = set()
        while True:
            due = await self._backed_up(due, outcomes)
            if len(due) == 0:
                return due, None
            try:
                return due, self._intents(due)
            except ActedElsewhere as error:
                due = await self._apart(due, error.objects, again, outcomes)
            except StoreError as error:
                self.stopped_by = error.finding
                return due, None

    def _intents(self, due: Sequence[Due]) -> tuple[LedgerEntry, ...]:
        now = self.context.monotonic()
        intents = [
            Intent(
                each.item.row.key,
                self.calls.of(each.item.row).name,
                self._parameters(each),
                read_ago=timedelta(seconds=max(0.0, now - each.at)),
            )
            for each in due
        ]
        plan_id = self.context.plan.document.plan_id
        return self.context.store.record_intents(plan_id, self.run_id, self.fence, intents, kind=self.kind)

    async def _apart(
        self,
        due: Sequence[Due],
        elsewhere: Mapping[tuple[Any, ...], ActElsewhere],
        again: set[tuple[Any, ...]],
        outcomes: list[OutcomeEntry],
    ) -> list[Due]:
        """Return what may be meant all the same: what no other plan acted on, and what is still due once that is known.

        `again`: the objects that were judged anew; once is enough, so that this comes to an end.
        """
        for plan_id in dict.fromkeys(act.plan_id for act in elsewhere.values() if not act.settled):
            if self.settle is not None and plan_id not in self._untold:
                self._untold[plan_id] = await self.settle(plan_id)
        clear = [each for each in due if each.item.row.key not in elsewhere]
        for each in due:
            key = each.item.row.key
            if key not in elsewhere:
                continue
            if key in again:
                untold = self._untold.get(elsewhere[key].plan_id)
                why = elsewhere[key].why + ("" if untold is None else f" (reading it here: {untold})")
                outcomes += await self._left_alone(each.item, OutcomeEntry(key, Outcome.REFUSED, IN_THE_WAY, why))
                continue
            again.add(key)
            answer = await self._judged(each.item)
            if isinstance(answer, Due):
                clear.append(answer)
            elif answer.recorded:
                outcomes.append(answer.entry)
            else:
                self.undecided[key] = answer.entry.detail
        return clear

    # -- the call ---------------------------------------------------------------------------------------------------

    async def _act(self, due: Due, entry: LedgerEntry, acts: int) -> OutcomeEntry | None:
        """Make the call of a committed intent; None if its outcome is another run's to find out."""
        key = due.item.row.key
        if not entry.fresh and (due.item.intent is None or entry.outcome not in (None, Outcome.UNKNOWN)):
            return None  # somebody else meant or did it
        if entry.idempotency_key is None:
            return None  # it was left alone by another run
        async with self._slots:
            operation = self.calls.of(due.item.row).operation
            tries, found = 0, await self._tried(due, entry.idempotency_key, acts)
            while isinstance(found, ActResult):
                wait = wait_before_again(operation, found, tries)
                if wait is None or await self._ends_within(wait):
                    self.in_a_row.saw(trouble_of(found))
                    if found.outcome is Outcome.FAILED and found.later and may_repeat(operation, timedelta(0)):
                        why = found.detail.removeprefix("nothing was done: ")
                        self.undecided[key] = f"nothing was done in this run: {why}; it is gone on with later"
                        return None
                    found = _outcome(key, found)
                else:
                    tries, found = tries + 1, await self._tried(due, entry.idempotency_key, acts)
            return None if found is None else await self._settled(due.item, found)

    async def _ends_within(self, seconds: float) -> bool:
        """Wait; return True, as soon as that is known, if nothing is tried again any more."""

        def ends() -> bool:
            return self.stopped_by is not None or self.context.stop.reason is not None

        await rest(seconds, self.context.sleep, ends)
        return ends()

    async def _tried(self, due: Due, idempotency_key: str, acts: int) -> ActResult | OutcomeEntry | None:
        """Make the call, if the object may still be acted on; what is no result of a call is not tried again."""
        key = due.item.row.key
        if self.context.monotonic() - due.at > LATE_SECONDS:
            again = await self.judge(due.item)
            if isinstance(again, Left):
                return again.entry if again.recorded else None
            again = replace(again, backup=due.backup)
            if self._parameters(again) != self._parameters(due):
                return OutcomeEntry(key, Outcome.CHANGED, None, "the object changed while it waited for its turn")
            due = again
        if self.in_a_row.finding is not None:
            return self._forbidden(due, self.in_a_row.finding)
        call = self._call(due, idempotency_key)
        await self.watch.refresh()
        try:
            result = await perform_guarded(self.actors.of(due.item.row), call, self.watch.inputs(key, acts, due.seen))
        except SourceError as error:
            return ActResult(Outcome.UNKNOWN, ActReason.OUTCOME_UNKNOWN, str(error.reason.code))
        return self._forbidden(due, result) if isinstance(result, Finding) else result

    def _forbidden(self, due: Due, finding: Finding) -> OutcomeEntry | None:
        key = due.item.row.key
        if finding.code not in OBJECT_CODES:
            self.stopped_by = finding
        # what may not be repeated is not left open either: that nothing was called is known now, and not later
        if finding.code in _LATER and may_repeat(self.calls.of(due.item.row).operation, timedelta(0)):
            self.undecided[key] = f"meant and not called: {finding.message}; it is gone on with later"
            return None
        if finding.code == "FC721":
            return None
        return refused(key, finding)

    # -- after the call ---------------------------------------------------------------------------------------------

    def _record(self, outcomes: list[OutcomeEntry], *, with_intent: frozenset[tuple[Any, ...]]) -> None:
        """Commit the outcomes. What was called is recorded even when the lease was lost meanwhile."""
        if len(outcomes) == 0:
            return
        try:
            self._store_outcomes(outcomes)
        except FenceLost as error:
            self.stopped_by = error.finding
            outcomes[:] = [entry for entry in outcomes if entry.object_key in with_intent]
            if len(outcomes) > 0:
                self._store_outcomes(outcomes)
        for entry in outcomes:
            self.stop_rule.saw(entry.outcome)

    def _store_outcomes(self, outcomes: Sequence[OutcomeEntry]) -> None:
        plan_id = self.context.plan.document.plan_id
        self.context.store.record_outcomes(plan_id, self.run_id, self.fence, outcomes, kind=self.kind)


def refused(key: tuple[Any, ...], finding: Finding) -> OutcomeEntry:
    """Return the outcome of an object that was left alone because of a finding."""
    return OutcomeEntry(key, Outcome.REFUSED, finding.code, finding.message)


def _outcome(key: tuple[Any, ...], result: ActResult) -> OutcomeEntry:
    """Return what a connector said, as the ledger keeps it; nothing it says may prevent the outcome's recording."""
    outcome, before = result.outcome, dict(result.before)
    if outcome is Outcome.NOT_STARTED:
        outcome = Outcome.UNKNOWN  # the call was made: a connector can't say that it was not
    try:
        canonical_bytes(before)
    except CanonicalError:
        before = {}
    reason = result.trouble if result.reason is None and outcome is Outcome.FAILED else result.reason
    return OutcomeEntry(key, outcome, None if reason is None else str(reason), result.detail, before)


async def _all(work: Sequence[Awaitable[Any]]) -> list[Any]:
    """Wait for all, whatever some of them raise; a cancellation is raised once all have ended."""
    found = await asyncio.gather(*work, return_exceptions=True)
    for answer in found:
        if isinstance(answer, BaseException) and not isinstance(answer, Exception):
            raise answer
    return found

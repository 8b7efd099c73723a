"""The canary: the first objects of a plan are acted on, waited for, and looked at before the rest.

Guarantees: no more than the first N acts happen before the wait is over *and* each of them was found as it was left; a
failure among them, or one that is not as it was left, or can't be read, stops the plan; so does what the workflow has
counted after the wait, where that is more than it allows or is not known. The wait stands in the store,
so that a crash, a second apply or another host goes on with it and never begins it again. A short wait is sat out here;
for a long one the run ends as paused and says from when on the plan can be gone on with.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from fullcount.compiler.program import Canary, Inventory
from fullcount.runtime import format as fmt
from fullcount.runtime.act.aftermath import Aftereffect, aftermath
from fullcount.runtime.act.calls import CallsOf
from fullcount.runtime.act.context import ApplyContext, Progress
from fullcount.runtime.act.counting import count_after_canary
from fullcount.runtime.act.ending import Ended, counted, row_outcomes
from fullcount.runtime.act.group import Item
from fullcount.runtime.act.guard import waiting
from fullcount.runtime.act.rehearsing import rehearsed_keys
from fullcount.runtime.act.stop import FAILURES
from fullcount.runtime.connectors.base import Outcome, SourceReader
from fullcount.runtime.evidence.refusal import Finding
from fullcount.runtime.store.views import CanaryRow, Fence, LedgerEntry

SAT_OUT: Final = timedelta(seconds=60)
"""A wait of which no more than this is left is sat out by the run; for a longer one it ends as paused."""

Rehearsed = Callable[[Mapping[tuple[Any, ...], Item]], Awaitable[bool]]
"""Sees the rehearsal of a restore through, as `Rehearsal.held` does."""

_LOOK: Final = 1.0
"""Seconds between two looks at whether the run was asked to stop while it waits."""
_NAMED: Final = 3


@dataclass(slots=True)
class CanaryWatch:
    """The canary of one plan in one run."""

    context: ApplyContext
    canary: Canary
    run_id: str
    fence: Fence
    ended: Ended
    reader: SourceReader
    calls: CallsOf
    base: Inventory

    async def held(self, items: Mapping[tuple[Any, ...], Item], rehearsal: Rehearsed | None = None) -> bool:
        """See the canary through: whether the rest may be acted on now. If not, the reason was noted.

        `rehearsal`: what else has to hold before it passes.
        """
        store, plan_id = self.context.store, self.context.plan.document.plan_id
        row = store.canary(plan_id)
        if row is not None and row.passed_at is not None:
            return True
        if self._failed():
            return False
        if row is None:
            wait = timedelta(microseconds=self.canary.wait)
            row = store.begin_canary_wait(plan_id, self.run_id, self.fence, wait)
        if not await self._waited(row) or not await self._as_left(items):
            return False
        there = None if self.canary.then is None else await count_after_canary(self.canary.then, self.context)
        if isinstance(there, Finding):
            self.ended.by(there)
            return False
        if rehearsal is not None and not await rehearsal(items):
            return False
        store.pass_canary(plan_id, self.run_id, self.fence, counted=there)
        return True

    def _failed(self) -> bool:
        bad = [entry for entry in self._acted() if entry.outcome is None or entry.outcome in FAILURES]
        if len(bad) == 0:
            return False
        ends = [Outcome.UNKNOWN if entry.outcome is None else entry.outcome for entry in bad]
        told = [f"{fmt.key(entry.object_key)} ended as {end}" for entry, end in zip(bad, ends, strict=True)][:_NAMED]
        self.ended.by(_stopped(len(bad), len(self._acted()), told, self.context))
        return True

    async def _waited(self, row: CanaryRow) -> bool:
        left = self._left(row)
        if left > SAT_OUT:
            self.ended.by(waiting(self.canary.count, row.waits_until), resumes_at=row.waits_until)
            return False
        while left > timedelta(0):
            if self.context.stop.reason is not None or self.ended.stopped_by is not None:
                message = f"stopped in the wait for the canary: {self.context.stop.reason or 'the lease was lost'}"
                again = "apply the same plan again to go on: the wait goes on meanwhile"
                self.ended.by(Finding(code="FC765", message=message, ways_on=(again,)))
                return False
            self._tell(row.waits_until)
            await self.context.sleep(min(_LOOK, left.total_seconds()))
            left = self._left(row)
        return True

    async def _as_left(self, items: Mapping[tuple[Any, ...], Item]) -> bool:
        """Whether each object of the canary that was changed still is as the act left it."""
        begun = rehearsed_keys(self.context)  # what is being restored is no longer as it was left, and looked at there
        done = [each for each in self._acted() if each.outcome is Outcome.DONE and each.object_key not in begun]
        told = []
        for entry in done:
            item = items[entry.object_key]
            found = await aftermath(self.reader, self.calls.of(item.row), self.base, item.planned, entry)
            if found.left is not Aftereffect.AS_LEFT:
                told.append(f"{fmt.key(entry.object_key)}: {found.detail}")
        if len(told) > 0:
            self.ended.by(_stopped(len(told), len(done), told[:_NAMED], self.context))
        return len(told) == 0

    def _acted(self) -> Sequence[LedgerEntry]:
        ledger = self.context.store.ledger(self.context.plan.document.plan_id)
        return [entry for entry in ledger if entry.intent_at is not None]

    def _left(self, row: CanaryRow) -> timedelta:
        return row.waits_until - self.context.store.now()

    def _tell(self, until: datetime) -> None:
        if self.context.progress is None:
            return
        document = self.context.plan.document
        counts = counted(row_outcomes(document.rows, self.context.store.last_acts(document.plan_id), {}))
        finished = len(document.rows) - counts[Outcome.NOT_STARTED]
        self.context.progress(Progress(finished, len(document.rows), counts, waits_until=until))


def _stopped(bad: int, of: int, told: Sequence[str], context: ApplyContext) -> Finding:
    more = f", and {bad - len(told)} more" if bad > len(told) else ""
    return Finding(
        code="FC777",
        message=f"the canary does not hold: {bad} of {of}: {'; '.join(told)}{more}",
        ways_on=(
            "look at these objects before anything else is done",
            f"take it back: fullcount undo {context.plan.document.plan_id}",
            "plan again when the cause is gone",
        ),
    )

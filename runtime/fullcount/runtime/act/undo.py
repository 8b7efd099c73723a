"""Applying an undo: what a plan did is taken back, as it was approved, and nothing that anybody did after it.

An object is only touched if it still is as the act left it and as the undo's plan found it: the same incarnation, every
field as it was; after a deletion, nothing stands under its key. What the object was before comes from the ledger, which
kept what the act was conditional on. An undo that was applied to its end does nothing again; one that died is gone on
with, and what it left open is resolved by reading first; what could not be decided is left to be tried again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fullcount.compiler.program import Act, Proposal
from fullcount.runtime.act.actors import Actors, NotOpenError, opened, sources_of_rows
from fullcount.runtime.act.calls import CallsOf
from fullcount.runtime.act.context import ApplyContext, ApplyReport
from fullcount.runtime.act.ending import Ended, as_error, as_invalid, counted, finding_of, report_of, row_outcomes
from fullcount.runtime.act.group import Due, GroupRunner, Item, Left
from fullcount.runtime.act.guard import Purpose, guard, other_system
from fullcount.runtime.act.pacing import GROUP_LIMIT, Pacer
from fullcount.runtime.act.resolve import resolve
from fullcount.runtime.act.session import (
    Teller,
    act_in_groups,
    begin_run,
    bindings_of,
    calls_of,
    finish_run,
    items_of,
    leased,
    the_proposal,
    uninterrupted,
)
from fullcount.runtime.act.stop import stop_rule
from fullcount.runtime.act.taking_back import CHANGED_SINCE, TakingBack, later
from fullcount.runtime.act.watch import Watch
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.errors import FullcountError
from fullcount.runtime.evidence.refusal import Finding
from fullcount.runtime.evidence.wording import way_to_act
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.store.undone import TakenBack
from fullcount.runtime.store.views import ActKind, Fence, LedgerEntry, OutcomeEntry, PlanState, RunKind


async def apply_undo(context: ApplyContext) -> ApplyReport:
    """Apply a plan that is an undo, or go on with it, and return what came of it; recorded in the store in any case.

    Raises what a connector raises beyond its contract, and `asyncio.CancelledError` after an orderly end.
    """
    # what its plan lists was looked at and approved, so that each object was named
    return await uninterrupted(_apply(replace(context, named=True)), context.stop)


async def _apply(context: ApplyContext) -> ApplyReport:
    proposal, act = the_proposal(context)
    undo = context.plan.document.undo
    if act is None or undo is None:
        msg = "only what a plan did is taken back, by a plan that says so"
        raise TypeError(msg)
    if context.plan.state is PlanState.APPLIED:
        return _report(context, None, Ended(repeated=True))
    run_id = begin_run(context, RunKind.UNDO)
    ended = Ended()
    finished = False
    try:
        await _under_lease(context, run_id, proposal, act, undo.plan_id, ended)
        finished = True
    finally:
        report = _report(context, run_id, ended)
        if not finished:
            report = as_error(report)
        finish_run(context, report, RunKind.UNDO)
    return report


async def _under_lease(
    context: ApplyContext, run_id: str, proposal: Proposal, act: Act, done_by: str, ended: Ended
) -> None:
    try:
        async with leased(context, run_id, ended.by) as fence:
            rows = context.plan.document.rows
            acted = sources_of_rows(act.undos, rows)
            watch = Watch(context, proposal, Purpose.UNDO, fence, acted, bindings_of(context))
            if watch.state == PlanState.APPLIED:
                ended.repeated = True
                return
            finding = guard(watch.inputs(None, 0))
            if finding is not None:
                ended.by(finding)
                if len(context.store.open_intents(context.plan.document.plan_id, kind=ActKind.UNDO)) == 0:
                    return
            try:
                async with opened(context, act.undos, rows) as actors:
                    await _Undoing(context, run_id, proposal, act, done_by, ended, fence, watch, actors).run()
            except NotOpenError as error:
                ended.by(_not_open(error), Exit.ERROR)
    except FullcountError as error:
        ended.by(finding_of(error), error.exit)


def _not_open(error: NotOpenError) -> Finding:
    return Finding(
        code=str(error.reason.code),
        message=f"the source `{error.source}` can't be opened: {error.reason.detail}",
        ways_on=(way_to_act(error.source, error.reason.code),),
    )


@dataclass(slots=True)
class _Undoing:
    """The part of an undo that has an actor. `done_by`: the plan whose acts are taken back."""

    context: ApplyContext
    run_id: str
    proposal: Proposal
    act: Act
    done_by: str
    ended: Ended
    fence: Fence
    watch: Watch
    actors: Actors
    _calls: CallsOf = field(init=False)
    _judge: TakingBack = field(init=False)
    _taken: Mapping[tuple[Any, ...], TakenBack] = field(default_factory=dict)
    """What other undos took back, or may have; nothing is added to it while this one has the lease."""

    async def run(self) -> None:
        context, plan_id = self.context, self.context.plan.document.plan_id
        bindings = bindings_of(context)
        base = context.workflow.inventories[self.proposal.inventory]
        self._calls = calls_of(context, self.act.undos, self.proposal, bindings)
        acted = calls_of(context, self.act.calls, self.proposal, bindings)
        entries = {entry.object_key: entry for entry in context.store.last_acts(self.done_by)}
        self._judge = TakingBack(context, self.act, self._calls, acted, base, context.reader(base.source), entries)
        taken = context.store.taken_back(self.done_by)
        self._taken = {each.object_key: each for each in taken if each.by != plan_id}
        self.watch.acting = await self.actors.identity()
        given = self.watch.inputs(None, 0)
        elsewhere = other_system(given.target_planned, given.target_acting)
        if elsewhere is not None:
            self.ended.by(elsewhere)
            return
        finding = guard(given)
        items = items_of(context, base)
        resolved = await resolve(
            context.store.open_intents(plan_id, kind=ActKind.UNDO), items, self._calls, self.actors, context
        )
        for at in range(0, len(resolved.outcomes), GROUP_LIMIT):
            part = resolved.outcomes[at : at + GROUP_LIMIT]
            context.store.record_outcomes(plan_id, self.run_id, self.fence, part, kind=ActKind.UNDO)
        if self.ended.stopped_by is not None:
            return
        if finding is not None:
            self.ended.by(finding)
            return
        context.store.begin_apply(plan_id, self.run_id, self.fence)
        await self._go_on(items, resolved.again)
        context.store.finish_apply(plan_id, self.run_id, self.fence)

    async def _judged(self, item: Item) -> Due | Left:
        """Whether the object is to be taken back: one that another undo was about is so once."""
        other = None if item.intent is not None else self._taken.get(item.row.key)
        if other is None:
            return await self._judge.judge(item)
        if not other.done:
            return later(item.row.key, other.why_open(self.done_by))
        by = "" if other.by is None else f", by `{other.by}`"
        return Left(OutcomeEntry(item.row.key, Outcome.CHANGED, CHANGED_SINCE, f"taken back before{by}"))

    async def _go_on(self, items: Mapping[tuple[Any, ...], Item], again: tuple[Item, ...]) -> None:
        context, rows = self.context, self.context.plan.document.rows
        ledger = _ledger(context)
        resuming = {item.row.key for item in again}
        seen = {entry.object_key for entry in ledger}
        todo = [*again, *(items[row.key] for row in rows if row.key not in seen)]
        runner = GroupRunner(
            context=context,
            kind=ActKind.UNDO,
            run_id=self.run_id,
            fence=self.fence,
            calls=self._calls,
            judge=self._judged,
            actors=self.actors,
            watch=self.watch,
            stop_rule=stop_rule(self.act.stop, len(rows), ledger, resuming),
            concurrency=self.act.concurrency,
            acts=sum(1 for each in ledger if each.intent_at is not None and each.object_key not in resuming),
        )
        pacer = Pacer(self.act.rate, context.monotonic, context.sleep, lambda: context.stop.reason is not None)
        counts = counted(row_outcomes(rows, [e for e in ledger if e.object_key not in resuming], {}))
        stopped = await act_in_groups(context, runner, todo, pacer, Teller(context, len(rows), counts))
        self.ended.undecided = runner.undecided
        if stopped is not None:
            self.ended.by(stopped)


def _ledger(context: ApplyContext) -> tuple[LedgerEntry, ...]:
    return context.store.ledger(context.plan.document.plan_id, kind=ActKind.UNDO)


def _report(context: ApplyContext, run_id: str | None, ended: Ended) -> ApplyReport:
    document = context.plan.document
    report = report_of(context, run_id, row_outcomes(document.rows, _ledger(context), ended.undecided), ended)
    sums = report.sums_hold and len(report.rows) == document.sums.candidates
    return report if sums and report.counts == context.store.counts(document.plan_id) else as_invalid(report)

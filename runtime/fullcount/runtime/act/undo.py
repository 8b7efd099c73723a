"""Undoing a plan: what was done is taken back, last first, and nothing that anybody did after it.

An object is only touched if it is still as the act left it: the same incarnation, and every field that the act set
still has that value; after a deletion, nothing stands under its key. What the object was before comes from the ledger,
which kept what the act was conditional on. Undoing again does nothing; what could not be decided may be tried again.
An act of which nobody knows whether it took effect is not passed over: it is told, and how to find out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fullcount.compiler.program import Act, Inventory, Proposal
from fullcount.runtime.act.actors import Actors, NotOpenError, opened, sources_of_rows
from fullcount.runtime.act.calls import CallsOf
from fullcount.runtime.act.context import ApplyContext, ApplyReport
from fullcount.runtime.act.ending import Ended, as_error, as_invalid, counted, finding_of, report_of, row_outcomes
from fullcount.runtime.act.group import GroupRunner, Item
from fullcount.runtime.act.guard import Purpose, guard
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
from fullcount.runtime.act.stop import StopRule, stop_threshold
from fullcount.runtime.act.taking_back import TakingBack, undo_of
from fullcount.runtime.act.watch import Watch
from fullcount.runtime.connectors.base import Outcome, SourceReader
from fullcount.runtime.errors import FullcountError
from fullcount.runtime.evidence.refusal import Finding
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.format import counted as counted_objects
from fullcount.runtime.plan.document import PlanRow
from fullcount.runtime.store.views import ActKind, Fence, LedgerEntry, RunKind


async def undo_plan(context: ApplyContext) -> ApplyReport:
    """Take back what the plan did, and return what came of it; recorded in the store in any case.

    Raises what a connector raises beyond its contract, and `asyncio.CancelledError` after an orderly end.
    """
    return await uninterrupted(_undo(context), context.stop)


async def _undo(context: ApplyContext) -> ApplyReport:
    proposal, act = the_proposal(context)
    plan_id = context.plan.document.plan_id
    done = _done(context)
    if act is None or not any(undo_of(act, row) is not None for row in context.plan.document.rows):
        finding = Finding(
            code="FC768",
            message="what this plan does can't be taken back: its act has no `undo`, or is not reversible",
            ways_on=(f"see what each object was: fullcount show {plan_id} --all",),
        )
        return _report(context, None, Ended(finding, Exit.REFUSED_BY_POLICY))
    undone = {e.object_key for e in context.store.ledger(plan_id, kind=ActKind.UNDO) if e.outcome not in _OPEN}
    if all(entry.object_key in undone for entry in done):
        return _report(context, None, Ended(repeated=len(_unknown(context)) == 0))
    run_id = begin_run(context, RunKind.UNDO)
    ended = Ended()
    finished = False
    try:
        await _under_lease(context, run_id, proposal, act, ended)
        finished = True
    finally:
        report = _report(context, run_id, ended)
        if not finished:
            report = as_error(report)
        finish_run(context, report, RunKind.UNDO)
    return report


_OPEN = (None, Outcome.UNKNOWN)


def _done(context: ApplyContext) -> tuple[LedgerEntry, ...]:
    """Return what the plan did, in the order it was meant: of the objects that the undo is about."""
    return tuple(entry for entry in _about(context) if entry.outcome is Outcome.DONE)


def _unknown(context: ApplyContext) -> tuple[LedgerEntry, ...]:
    """Return the acts that were meant and of which nobody knows yet whether they took effect."""
    return tuple(entry for entry in _about(context) if entry.intent_at is not None and entry.outcome in _OPEN)


def _about(context: ApplyContext) -> Iterator[LedgerEntry]:
    """Yield the acts that objects count by: what a rehearsal restored and did not act on again has none."""
    for entry in context.store.last_acts(context.plan.document.plan_id):
        if context.only is None or entry.object_key in context.only:
            yield entry


async def _under_lease(context: ApplyContext, run_id: str, proposal: Proposal, act: Act, ended: Ended) -> None:
    try:
        async with leased(context, run_id, ended.by) as fence:
            rows = _rows(context)
            acted = sources_of_rows(act.undos, rows)
            watch = Watch(context, proposal, Purpose.UNDO, fence, acted, bindings_of(context))
            finding = guard(watch.inputs(None, 0))
            if finding is not None:
                ended.by(finding)
                return
            reader = context.reader(context.workflow.inventories[proposal.inventory].source)
            try:
                async with opened(context, act.undos, rows) as actors:
                    await _Undoing(context, run_id, proposal, act, ended, fence, watch, reader, actors).run()
            except NotOpenError as error:
                ended.by(_not_open(error), Exit.ERROR)
    except FullcountError as error:
        ended.by(finding_of(error), error.exit)


def _not_open(error: NotOpenError) -> Finding:
    return Finding(
        code=str(error.reason.code),
        message=f"the source `{error.source}` can't be opened: {error.reason.detail}",
        ways_on=("check the source's credentials in fullcount.toml",),
    )


@dataclass(slots=True)
class _Undoing:
    """The part of an undo that has an actor."""

    context: ApplyContext
    run_id: str
    proposal: Proposal
    act: Act
    ended: Ended
    fence: Fence
    watch: Watch
    reader: SourceReader
    actors: Actors
    _calls: CallsOf = field(init=False)
    _acted: CallsOf = field(init=False)
    _base: Inventory = field(init=False)
    _entries: dict[tuple[Any, ...], LedgerEntry] = field(init=False)

    async def run(self) -> None:
        context, plan_id = self.context, self.context.plan.document.plan_id
        bindings = bindings_of(context)
        self._base = context.workflow.inventories[self.proposal.inventory]
        self._calls = calls_of(context, self.act.undos, self.proposal, bindings)
        self._acted = calls_of(context, self.act.calls, self.proposal, bindings)
        self.watch.acting = await self.actors.identity()
        finding = guard(self.watch.inputs(None, 0))
        if finding is not None:
            self.ended.by(finding)
            return
        done = _done(context)
        self._entries = {entry.object_key: entry for entry in done}
        items = items_of(context, self._base)
        resolved = await resolve(
            context.store.open_intents(plan_id, kind=ActKind.UNDO), items, self._calls, self.actors, context
        )
        for at in range(0, len(resolved.outcomes), GROUP_LIMIT):
            part = resolved.outcomes[at : at + GROUP_LIMIT]
            context.store.record_outcomes(plan_id, self.run_id, self.fence, part, kind=ActKind.UNDO)
        await self._go_on(done, items, resolved.again)

    async def _go_on(
        self, done: tuple[LedgerEntry, ...], items: Mapping[tuple[Any, ...], Item], again: tuple[Item, ...]
    ) -> None:
        context = self.context
        ledger = context.store.ledger(context.plan.document.plan_id, kind=ActKind.UNDO)
        seen = {entry.object_key for entry in ledger}
        todo = [*again, *(items[e.object_key] for e in reversed(done) if e.object_key not in seen)]
        stop = self.act.stop
        rule = StopRule(None if stop is None else stop_threshold(stop.failures, stop.percent, len(done)))
        runner = GroupRunner(
            context=context,
            kind=ActKind.UNDO,
            run_id=self.run_id,
            fence=self.fence,
            calls=self._calls,
            judge=TakingBack(context, self.act, self._calls, self._acted, self._base, self.reader, self._entries).judge,
            actors=self.actors,
            watch=self.watch,
            stop_rule=rule,
            concurrency=self.act.concurrency,
            acts=0,
        )
        pacer = Pacer(self.act.rate, context.monotonic, context.sleep, lambda: context.stop.reason is not None)
        rows = _rows(context)
        counts = counted(row_outcomes(rows, [e for e in ledger if e.outcome not in _OPEN], {}))
        stopped = await act_in_groups(context, runner, todo, pacer, Teller(context, len(rows), counts))
        self.ended.undecided = runner.undecided
        if stopped is not None:
            self.ended.by(stopped)


def _rows(context: ApplyContext) -> tuple[PlanRow, ...]:
    about = {entry.object_key for entry in (*_done(context), *_unknown(context))}
    return tuple(row for row in context.plan.document.rows if row.key in about)


def _report(context: ApplyContext, run_id: str | None, ended: Ended) -> ApplyReport:
    rows, unknown = _rows(context), _unknown(context)
    plan_id = context.plan.document.plan_id
    ledger = context.store.ledger(plan_id, kind=ActKind.UNDO)
    why = "nobody knows yet whether its act took effect"
    undecided = {**ended.undecided, **{entry.object_key: why for entry in unknown}}
    if len(unknown) > 0:
        message = f"of {counted_objects(len(unknown), 'object')} nobody knows yet whether the act took effect"
        ways = (f"find out by reading   fullcount apply {plan_id}",)
        ended.by(Finding(code="FC770", message=message, ways_on=ways), Exit.ERROR)
    report = report_of(context, run_id, row_outcomes(rows, ledger, undecided), ended)
    return report if report.sums_hold and len(rows) == len(_done(context)) + len(unknown) else as_invalid(report)

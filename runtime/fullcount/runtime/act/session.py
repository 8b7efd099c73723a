"""One run that acts on a plan, from its lease to its report; what is the same for acting and for taking back.

The lease is held while the run lasts and renewed beside it. A run that is cancelled takes up nothing new, waits for the
group under way, records what came of it, and only then lets the cancellation through; a second cancellation abandons
the calls under way, whose intents stay open for the next run to resolve.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from fullcount.compiler.catalog import Resource
from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.program import Act, Inventory, OperationCall, Proposal
from fullcount.runtime.act.ahead import Ahead
from fullcount.runtime.act.at_work import is_gone
from fullcount.runtime.act.calls import Calls, CallsOf, planned_row
from fullcount.runtime.act.context import ApplyContext, ApplyReport, Progress, StopSignal
from fullcount.runtime.act.group import Due, GroupRunner, Item, Left
from fullcount.runtime.act.pacing import GROUP_LIMIT, Batch, Pacer
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.evidence.refusal import Finding
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.plan.cells import from_json, microseconds
from fullcount.runtime.plan.undo_words import undo_summary
from fullcount.runtime.store.errors import FenceLost, LeaseHeld
from fullcount.runtime.store.views import Fence, OutcomeEntry, RunKind
from fullcount.runtime.telling import of_act

T = TypeVar("T")


def the_proposal(context: ApplyContext) -> tuple[Proposal, Act | None]:
    """Return the proposal of the plan and its act, if it has one. Raises KeyError when the plan names none of these."""
    name = context.plan.document.proposal
    by_name = {proposal.name: proposal for proposal in context.workflow.proposals}
    acts = {act.proposal: act for act in context.workflow.acts}
    return by_name[name], acts.get(name)


def the_resource(context: ApplyContext, of: Inventory) -> Resource:
    """Return the declared resource of an inventory. Raises KeyError for one that is not configured."""
    return context.resources[of.source, of.resource]


def bindings_of(context: ApplyContext) -> Bindings:
    """Return what the plan fixed for all its objects. Raises `NotOfTypeError`."""
    document = context.plan.document
    types = {param.name: param.type for param in context.workflow.params}
    params = {name: from_json(value, types[name]) for name, value in document.parameters.items()}
    return Bindings(params, microseconds(document.now))


def items_of(context: ApplyContext, inventory: Inventory) -> dict[tuple[Any, ...], Item]:
    """Return the rows of the plan by key, in canonical values. Raises `NotOfTypeError`."""
    resource = the_resource(context, inventory)
    return {row.key: Item(row, planned_row(row, inventory, resource)) for row in context.plan.document.rows}


def calls_of(
    context: ApplyContext, calls: Mapping[str | None, OperationCall], proposal: Proposal, bindings: Bindings
) -> CallsOf:
    """Return the makers of the calls of operations, by step."""
    inventory = context.workflow.inventories[proposal.inventory]
    return CallsOf(
        {step: Calls(call, proposal.row, inventory, context.resources, bindings) for step, call in calls.items()}
    )


async def uninterrupted(work: Coroutine[Any, Any, T], stop: StopSignal) -> T:
    """Run `work` to a truthful end even when the caller is cancelled meanwhile; then let the cancellation through."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        stop.request("the run was interrupted")
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({task})
        if not task.cancelled():
            task.result()
        raise


def begin_run(context: ApplyContext, kind: RunKind) -> str:
    """Record that the run begins."""
    document = context.plan.document
    return context.store.begin_run(
        document.workflow, kind, context.person, plan_id=document.plan_id, slot_id=context.slot_id
    )


@asynccontextmanager
async def leased(context: ApplyContext, run_id: str, lost: Callable[[Finding, Exit], None]) -> AsyncIterator[Fence]:
    """Hold the lease on the plan. Raises `LeaseHeld`. `lost` is called if it can't be renewed.

    An undo holds the one on the plan that it takes back: nothing is done and taken back at the same time.
    """
    document = context.plan.document
    holder = f"{socket.gethostname()}/{os.getpid()}/{run_id}"
    try:
        fence = context.store.claim_plan(document.acted_plan_id, holder, context.lease_time)
    except LeaseHeld as held:
        raise _with_what_is_known(held) from None
    keeper = asyncio.create_task(_keep(context, fence, lost))
    try:
        yield fence
    finally:
        keeper.cancel()
        await asyncio.wait({keeper})
        context.store.release(fence)


def _with_what_is_known(held: LeaseHeld) -> LeaseHeld:
    """Say so when the holder was a process of this host that is no longer there. The lease runs out all the same."""
    if not is_gone(held.holder):
        return held
    return LeaseHeld(held.name, held.holder, held.until, held.left, died=True)


async def _keep(context: ApplyContext, fence: Fence, lost: Callable[[Finding, Exit], None]) -> None:
    while True:
        # real time on purpose: the lease runs out by the store's clock, whatever clock the run is given
        await asyncio.sleep(context.lease_time.total_seconds() / 3)
        try:
            context.store.renew(fence, context.lease_time)
        except FenceLost as error:
            lost(error.finding, error.exit)
            return


async def act_in_groups(
    context: ApplyContext,
    runner: GroupRunner,
    items: Sequence[Item],
    pacer: Pacer,
    tell: Callable[[Sequence[OutcomeEntry]], None],
) -> Finding | None:
    """Act on all items, group by group; return what stopped it before the end."""
    batch = Batch(runner.concurrency)
    # where acts are to be slow, an object would only grow old between its recheck and its act
    ahead = runner.ahead(items, lambda: batch.size if pacer.rate is None else 0)
    try:
        return await _act_in_groups(context, runner, items, pacer, tell, batch, ahead)
    finally:
        await ahead.close()


async def _act_in_groups(
    context: ApplyContext,
    runner: GroupRunner,
    items: Sequence[Item],
    pacer: Pacer,
    tell: Callable[[Sequence[OutcomeEntry]], None],
    batch: Batch,
    ahead: Ahead[Item, Due | Left],
) -> Finding | None:
    at = 0
    while at < len(items):
        if runner.stop_rule.reached:
            return Finding(
                code="FC764",
                message=f"stopped after {runner.stop_rule.failures} failures, as the workflow says",
                ways_on=("find the cause in the outcomes, then plan again",),
            )
        if context.stop.reason is not None:
            return Finding(
                code="FC765",
                message=f"stopped before the end: {context.stop.reason}",
                ways_on=("apply the same plan again to go on",),
            )
        size = min(batch.size, len(items) - at, runner.stop_rule.left(GROUP_LIMIT))
        size = await pacer.take(size)
        if size == 0:
            continue  # it was asked to stop while it waited for its turn
        began = ahead.since
        outcomes = await runner.run(ahead, size)
        batch.took(size, context.monotonic() - began)
        at += size
        pacer.give_back(sum(1 for entry in outcomes if entry.outcome in _NO_CALL))
        tell(outcomes)
        if runner.stopped_by is not None:
            return runner.stopped_by
    return None


_NO_CALL = frozenset({Outcome.ALREADY_GONE, Outcome.CHANGED, Outcome.REFUSED})


@dataclass(slots=True)
class Teller:
    """Tells the progress after each group, counting on from what the ledger held at the start."""

    context: ApplyContext
    planned: int
    counts: dict[Outcome, int]

    def __call__(self, outcomes: Sequence[OutcomeEntry]) -> None:
        """Count the outcomes of a group and tell."""
        for entry in outcomes:
            self.counts[entry.outcome] += 1
            self.counts[Outcome.NOT_STARTED] -= 1
        if self.context.progress is not None:
            finished = self.planned - self.counts[Outcome.NOT_STARTED]
            self.context.progress(Progress(finished, self.planned, dict(self.counts)))


def finish_run(context: ApplyContext, report: ApplyReport, kind: RunKind) -> None:
    """Record how the run ended, and who is to be told.

    A run that can't be recorded as ended stays as it is, and the error is raised.
    """
    if report.run_id is None:
        return
    if report.resumes_at is not None:
        state = "paused"
    elif report.stopped_by is not None:
        state = "stopped" if report.counts[Outcome.NOT_STARTED] < report.candidates else "refused"
    else:
        state = "done" if report.exit is Exit.DONE else "ended"
    summary: dict[str, Any] = {
        "candidates": report.candidates,
        "counts": {name.value: number for name, number in report.counts.items()},
        "sums_hold": report.sums_hold,
    }
    if report.stopped_by is not None:
        summary["stopped_by"] = {"code": report.stopped_by.code, "message": report.stopped_by.message}
    if report.resumes_at is not None:
        summary["resumes_at"] = report.resumes_at.isoformat()
    summary |= undo_summary(context.plan.document)
    notices = of_act(context.workflow, context.plan.document, kind.value, state, report, context.clock())
    context.store.finish_run(report.run_id, state, report.exit, summary, notices)

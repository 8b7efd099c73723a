"""Applying a plan: the approved objects, each rechecked, guarded, meant, acted on once, and accounted for.

Guarantees: without a complete approval of exactly this plan nothing is called; a plan that was applied to its end is
not applied again; a run that died is gone on with, and what it left open is resolved by reading first; every object of
the plan has exactly one outcome, and the outcomes add up to the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Any

from fullcount.compiler.lower import facts
from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.program import Act, Inventory, Proposal
from fullcount.runtime.act.actors import Actors, NotOpenError, opened, sources_of_rows
from fullcount.runtime.act.backing_up import BackingUp
from fullcount.runtime.act.calls import CallsOf
from fullcount.runtime.act.canary import CanaryWatch
from fullcount.runtime.act.context import ApplyContext, ApplyReport, RowOutcome
from fullcount.runtime.act.ending import (
    UNDECIDED,
    Ended,
    as_error,
    as_invalid,
    counted,
    finding_of,
    report_of,
    row_outcomes,
)
from fullcount.runtime.act.floors import Floors
from fullcount.runtime.act.group import Due, GroupRunner, Item, Left
from fullcount.runtime.act.guard import CANARY_FULL, Purpose, guard, other_system
from fullcount.runtime.act.letting_go import LettingGo, lets_go
from fullcount.runtime.act.moved import moved, shown_fields
from fullcount.runtime.act.order import first_of, rehearsed_first, still_there, waves
from fullcount.runtime.act.pacing import GROUP_LIMIT, Pacer
from fullcount.runtime.act.recheck import Recheck, Rechecker, Standing, Stored, Surroundings, fields_to_read
from fullcount.runtime.act.rehearsing import Rehearsal, left_open
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
    the_resource,
    uninterrupted,
)
from fullcount.runtime.act.settling import settle
from fullcount.runtime.act.snapshot_rows import SnapshotRows
from fullcount.runtime.act.stop import stop_rule
from fullcount.runtime.act.watch import Watch, evidence_ages
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.errors import FullcountError
from fullcount.runtime.evidence.refusal import Finding
from fullcount.runtime.evidence.wording import way_to_act
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.plan import tables
from fullcount.runtime.plan.floors import Borders, borders
from fullcount.runtime.store.views import ActKind, Fence, LedgerEntry, OutcomeEntry, PlanState, RunKind


async def apply_plan(context: ApplyContext) -> ApplyReport:
    """Apply the plan, or go on with applying it, and return what came of it; recorded in the store in any case.

    Raises what a connector raises beyond its contract, and `asyncio.CancelledError` after an orderly end.
    """
    return await uninterrupted(_apply(context), context.stop)


async def _apply(context: ApplyContext) -> ApplyReport:
    proposal, act = the_proposal(context)
    if act is None:
        finding = Finding(code="FC772", message="the workflow has no `act`: there is nothing to apply")
        return _report(context, None, Ended(finding, Exit.USAGE))
    if context.plan.state is PlanState.APPLIED:
        return _report(context, None, Ended(repeated=True))
    run_id = begin_run(context, RunKind.APPLY)
    ended = Ended()
    finished = False
    try:
        await _under_lease(context, run_id, proposal, act, ended)
        finished = True
    finally:
        report = _report(context, run_id, ended)
        if not finished:
            report = as_error(report)
        finish_run(context, report, RunKind.APPLY)
    return report


async def _under_lease(context: ApplyContext, run_id: str, proposal: Proposal, act: Act, ended: Ended) -> None:
    try:
        async with leased(context, run_id, ended.by) as fence:
            rows = context.plan.document.rows
            acted = sources_of_rows(act.calls, rows)
            watch = Watch(context, proposal, Purpose.ACT, fence, acted, bindings_of(context))
            if watch.state == PlanState.APPLIED:
                ended.repeated = True
                return
            ledger = context.store.ledger(context.plan.document.plan_id)
            finding = guard(watch.inputs(None, 0))
            unfinished = any(entry.intent_at is not None and entry.open for entry in ledger)
            unfinished = unfinished or left_open(context)
            if finding is not None:
                ended.by(finding, resumes_at=watch.resumes_at(finding))
                if not unfinished:
                    return
            try:
                async with opened(context, act.calls, rows) as actors:
                    await _Applying(context, run_id, proposal, act, ended, fence, watch, actors).run()
            except NotOpenError as error:
                ended.by(_no_actor(error), Exit.ERROR)
    except FullcountError as error:
        ended.by(finding_of(error), error.exit)


STEP_MOVED_ON = "FC780"
"""The reason of an object of a graduated act that does not stand where its plan says."""


def _no_actor(error: NotOpenError) -> Finding:
    return Finding(
        code=str(error.reason.code),
        message=f"the source `{error.source}` can't be opened for acting: {error.reason.detail}",
        ways_on=(way_to_act(error.source, error.reason.code),),
    )


@dataclass(slots=True)
class _Applying:
    """The part of an apply that has an actor."""

    context: ApplyContext
    run_id: str
    proposal: Proposal
    act: Act
    ended: Ended
    fence: Fence
    watch: Watch
    actors: Actors
    _calls: CallsOf = field(init=False)
    _recheck: Rechecker = field(init=False)
    _letting_go: LettingGo = field(init=False)
    _went: Sequence[LedgerEntry] | None = None

    async def run(self) -> None:
        context, plan_id = self.context, self.context.plan.document.plan_id
        bindings = bindings_of(context)
        base = context.workflow.inventories[self.proposal.inventory]
        self._calls = calls_of(context, self.act.calls, self.proposal, bindings)
        around = _surroundings(context, self.proposal)
        protecting = self.watch.protecting
        items = items_of(context, base)
        going = [item for item in items.values() if not lets_go(item.row)]
        floors = Floors(self.proposal, bindings, _borders(context, self.proposal, bindings, going))
        self._recheck = Rechecker(context.workflow, self.proposal, bindings, around, lambda: protecting.fields, floors)
        standing = Floors(self.proposal, bindings, _borders(context, self.proposal, bindings, ()))
        self._letting_go = LettingGo(
            Rechecker(context.workflow, self.proposal, bindings, around, lambda: protecting.fields, standing),
            self.watch.exempted,
        )
        self.watch.acting = await self.actors.identity()
        given = self.watch.inputs(None, 0)
        elsewhere = other_system(given.target_planned, given.target_acting)
        if elsewhere is not None:
            self.ended.by(elsewhere)
            return
        finding = guard(given)
        again = await self._resolve(items)
        if self.ended.stopped_by is not None:
            return
        if finding is not None:
            self._stopped(finding)
            return
        context.store.begin_apply(plan_id, self.run_id, self.fence)
        await self._act(items, again, base)
        context.store.finish_apply(plan_id, self.run_id, self.fence)

    async def _act(self, items: Mapping[tuple[Any, ...], Item], again: Sequence[Item], base: Inventory) -> None:
        """Act on everything that is left, the canary first where there is one."""
        stopped = await self._go_on(items, again)
        if stopped is not None and stopped.code == CANARY_FULL and self.act.canary is not None:
            reader = self.context.reader(base.source)
            canary = CanaryWatch(
                self.context, self.act.canary, self.run_id, self.fence, self.ended, reader, self._calls, base
            )
            rehearsal = self._rehearsal(base).held if len(self.act.rehearsed) > 0 else None
            held = await canary.held(items, rehearsal)
            self.watch.look()
            if not held:
                self.ended.later(self.watch.resumes_at)
                return
            stopped = await self._go_on(items, ())
        if stopped is not None:
            self._stopped(stopped)

    async def _resolve(self, items: Mapping[tuple[Any, ...], Item]) -> tuple[Item, ...]:
        plan_id = self.context.plan.document.plan_id
        resolved = await resolve(
            self.context.store.open_intents(plan_id), items, self._calls, self.actors, self.context
        )
        for at in range(0, len(resolved.outcomes), GROUP_LIMIT):
            part = resolved.outcomes[at : at + GROUP_LIMIT]
            self.context.store.record_outcomes(plan_id, self.run_id, self.fence, part)
        if left_open(self.context):
            await self._rehearsal(self.context.workflow.inventories[self.proposal.inventory]).resolve(items)
        return resolved.again

    def _rehearsal(self, base: Inventory) -> Rehearsal:
        return Rehearsal(
            context=self.context,
            run_id=self.run_id,
            proposal=self.proposal,
            act=self.act,
            ended=self.ended,
            fence=self.fence,
            watch=self.watch,
            actors=self.actors,
            calls=self._calls,
            judge=self._judge_again,
            backing_up=self._backing_up(),
            reader=self.context.reader(base.source),
            base=base,
        )

    async def _go_on(self, items: Mapping[tuple[Any, ...], Item], again: Sequence[Item]) -> Finding | None:
        """Act until nothing is left or something stops it; return what did."""
        context, rows = self.context, self.context.plan.document.rows
        ledger = context.store.ledger(context.plan.document.plan_id)
        resuming = {item.row.key for item in again}
        seen = {entry.object_key for entry in ledger}
        left = [items[row.key] for row in rows if row.key not in seen]
        todo = [*again, *rehearsed_first(left, self.act.rehearsed)]
        runner = GroupRunner(
            context=context,
            kind=ActKind.ACT,
            run_id=self.run_id,
            fence=self.fence,
            calls=self._calls,
            judge=self._judge,
            actors=self.actors,
            watch=self.watch,
            stop_rule=stop_rule(self.act.stop, len(rows), ledger, resuming),
            concurrency=self.act.concurrency,
            acts=sum(1 for e in ledger if e.intent_at is not None and e.object_key not in resuming),
            backing_up=self._backing_up(),
            settle=partial(settle, context),
        )
        pacer = Pacer(self.act.rate, context.monotonic, context.sleep, lambda: context.stop.reason is not None)
        counts = counted(row_outcomes(rows, [e for e in self._last_acts() if e.object_key not in resuming], {}))
        tell = Teller(context, len(rows), counts)
        stopped: Finding | None = None
        for wave in waves(todo):
            self._went = None  # what went in the waves before is looked up once, where something rests on it
            stopped = await act_in_groups(context, runner, wave, pacer, tell)
            if stopped is not None:
                break
        self.ended.undecided = runner.undecided
        return stopped

    def _last_acts(self) -> Sequence[LedgerEntry]:
        return self.context.store.last_acts(self.context.plan.document.plan_id)

    def _backing_up(self) -> BackingUp | None:
        kept = self.act.backups
        return None if len(kept) == 0 else BackingUp(self.context.backups, kept, self._calls, self.actors)

    def _stopped(self, finding: Finding) -> None:
        self.ended.by(finding, resumes_at=self.watch.resumes_at(finding))

    async def _judge_again(self, item: Item) -> Due | Left:
        """Judge an object that a rehearsal restored: its clock stands where the restore has put it."""
        return await self._judge(item, ActKind.REHEARSE_AGAIN)

    async def _judge(self, item: Item, kind: ActKind = ActKind.ACT) -> Due | Left:
        at = self.context.monotonic()
        in_the_way = self._moved_on(item, kind) or self._not_before(item)
        if in_the_way is not None:
            return in_the_way
        if lets_go(item.row):
            found = await self._letting_go(item.row, item.planned)
        else:
            found = await self._recheck(item.planned)
        if found.outcome is not Standing.STILL_TRUE:
            return Left(_left(item, found), recorded=found.answered)
        another = self._another_version(item, found)
        if another is not None and kind is ActKind.ACT:  # a restore moves the version on, and was compared
            return another
        arguments = self._calls.of(item.row).arguments(item.planned, found.cells)
        if isinstance(arguments, Finding):
            return Left(OutcomeEntry(item.row.key, Outcome.REFUSED, arguments.code, arguments.message))
        expected = {name: found.cells[name] for name in self._recheck.fields}
        return Due(item, arguments, expected, at, found.cells, closure=self._closure(item))

    def _moved_on(self, item: Item, kind: ActKind) -> Left | None:
        """Whether the object of a graduated act stands elsewhere than the plan says, or its clock has not run out."""
        if item.row.step is None or item.intent is not None:
            return None  # what was meant before was held against its clock then
        why = self.context.store.step_in_the_way(self.context.plan.document.plan_id, item.row.key, kind=kind)
        return None if why is None else Left(OutcomeEntry(item.row.key, Outcome.CHANGED, STEP_MOVED_ON, why))

    def _not_before(self, item: Item) -> Left | None:
        """Whether an object that has to go before this one did not go."""
        if len(first_of(item.row)) == 0:
            return None
        if self._went is None:
            self._went = self.context.store.ledger(self.context.plan.document.plan_id)
        return still_there(item.row, self._went)

    def _closure(self, item: Item) -> Mapping[str, int] | None:
        """Return what may go with an object; None: the workflow lets nothing go."""
        if item.row.step_label not in self.act.cascading or not self._calls.of(item.row).deletes:
            return None
        return {} if item.row.closure is None else item.row.closure.counts

    def _another_version(self, item: Item, found: Recheck) -> Left | None:
        """Whether an object whose clock is bound to its version was changed since the plan."""
        base = self.context.workflow.inventories[self.proposal.inventory]
        name = base.version
        if item.row.step is None or lets_go(item.row) or base.incarnation is not None or name is None:
            return None
        now = found.cells.get(name)
        if now is not None and now.value is not None and now == item.planned.cells.get(name):
            return None
        why = f"`{name}` is another one than its clock runs for, so step `{item.row.step.label}` is not due"
        return Left(OutcomeEntry(item.row.key, Outcome.CHANGED, STEP_MOVED_ON, why))


def _left(item: Item, found: Recheck) -> OutcomeEntry:
    """Return the outcome of an object that the recheck did not let through."""
    match found.outcome:
        case Standing.GONE:
            return OutcomeEntry(item.row.key, Outcome.ALREADY_GONE, str(found.outcome), found.detail)
        case Standing.CHANGED | Standing.RECREATED:
            return OutcomeEntry(item.row.key, Outcome.CHANGED, str(found.outcome), found.detail)
        case _:
            return OutcomeEntry(item.row.key, Outcome.REFUSED, UNDECIDED, found.detail)


def _surroundings(context: ApplyContext, proposal: Proposal) -> Surroundings:
    """Return what the recheck may ask: sources, and the certified snapshots for as long as they are fresh."""
    document, workflow = context.plan.document, context.workflow
    complete = {envelope.inventory for envelope in document.envelopes if envelope.complete}
    ages = {age.inventory: age for age in evidence_ages(document, proposal, workflow.verifies)}
    read: dict[str, set[str]] = {}
    for expression in proposal.deciding:
        for name, fields in facts.fields_read(expression).items():
            read.setdefault(name, set()).update(fields)
    stored: dict[str, Stored] = {}
    for certificate in document.certificates:
        name, digest = certificate.inventory, certificate.snapshot_digest
        if name not in read:
            continue
        resource = the_resource(context, workflow.inventories[name])
        inventory = workflow.inventories[name]
        declared = {**resource.fields, **inventory.fields}  # of a record, a workflow may read fewer parts
        types = {n: declared[n].type for n in fields_to_read(inventory) if n in read[name]}
        rows = SnapshotRows(_path(context, digest), types, complete=name in complete)
        age = ages.get(name)
        limit: timedelta | None = None if age is None else age.max_age
        stored[name] = Stored(rows, None if age is None or limit is None else age.observed_at + limit)
    return Surroundings(context.reader, context.resources, stored, context.clock)


def _borders(
    context: ApplyContext, proposal: Proposal, bindings: Bindings, going: Sequence[Item]
) -> Callable[[], Sequence[Borders]]:
    """Return what works out the borders of the floors, over the snapshot that the plan was made on."""
    document = context.plan.document

    def work_out() -> list[Borders]:
        (digest,) = {c.snapshot_digest for c in document.certificates if c.inventory == proposal.inventory}
        relation = tables.parquet(context.snapshots.path(digest), complete=False)
        without = [item.planned.key for item in going]
        with tables.session(context.snapshots.root / tables.SPILL) as connection:
            return [
                borders(connection, context.workflow, proposal, keep, relation, bindings, without)
                for keep in proposal.keeps
            ]

    return work_out


def _path(context: ApplyContext, digest: str) -> Any:
    return lambda: context.snapshots.path(digest)


def _report(context: ApplyContext, run_id: str | None, ended: Ended) -> ApplyReport:
    document = context.plan.document
    ledger = context.store.last_acts(document.plan_id)
    rows = _with_moved(context, row_outcomes(document.rows, ledger, ended.undecided), ledger)
    report = report_of(context, run_id, rows, ended)
    sums = report.sums_hold and len(rows) == document.sums.candidates
    return report if sums and report.counts == context.store.counts(document.plan_id) else as_invalid(report)


def _with_moved(
    context: ApplyContext, outcomes: tuple[RowOutcome, ...], ledger: Sequence[LedgerEntry]
) -> tuple[RowOutcome, ...]:
    """Return the outcomes, with what had changed of each object that is done."""
    proposal, _ = the_proposal(context)
    fields = the_resource(context, context.workflow.inventories[proposal.inventory]).fields
    shown, rows = shown_fields(proposal), {row.key: row for row in context.plan.document.rows}
    acts = {entry.object_key: entry.parameters for entry in ledger}
    found = []
    for outcome in outcomes:
        parameters = acts.get(outcome.key)
        if outcome.outcome is Outcome.DONE and parameters is not None:
            outcome = replace(outcome, moved=moved(rows[outcome.key], parameters, fields, shown))
        found.append(outcome)
    return tuple(found)

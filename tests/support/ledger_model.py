"""A model of the ledger: a real store, a target that counts effects, and everything that goes wrong around them.

    model = Model(objects=3, concurrency=2)
    model.plan("all"); model.approve()
    model.apply(Trouble("lost", nth=1))
    model.settle()                       # everything is repaired, and what was left open is resolved

Each `Engine` is one process: it has a store of its own, and once it has crashed it can neither read nor write any more.
The target does what it is told as often as it is told, under the condition that the call carries. What may not happen
is asserted at each call and after each step, from what the model itself has seen and never from the store's word.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.acting import Orphans
from tests.support.applying import ANA, BO, ROLES, Stage

from fullcount.runtime.act.apply import apply_plan
from fullcount.runtime.act.context import ApplyReport
from fullcount.runtime.act.undo import apply_undo
from fullcount.runtime.approve import approvals
from fullcount.runtime.connectors.base import ActCall, ActResult, Outcome
from fullcount.runtime.errors import FullcountError
from fullcount.runtime.evidence.codes import ActReason
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.journal.verify import verify
from fullcount.runtime.plan.document import PlanDocument
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.transaction import new_id
from fullcount.runtime.store.views import ActKind, LedgerEntry, RunKind, StoredPlan

APPROVED_FOR = timedelta(hours=2)
EVIDENCE_FOR = timedelta(hours=20)
LEASE = timedelta(seconds=30)
UNTOLD = ActResult(Outcome.UNKNOWN, ActReason.OUTCOME_UNKNOWN, "no answer")

MEANWHILE = ("revoke", "halt", "pause", "supersede", "expire", "leave", "second", "change")
"""What others may do while a call is under way."""


class CrashError(BaseException):
    """The process is gone."""


@dataclass(frozen=True)
class Trouble:
    """What goes wrong in one run. `nth`: at which call, or for a crash at which moment. `first`: before its effect.

    `crash`: the process dies; `lost`: the answer gets lost, and with `first` the call, too; `twice`: the call arrives
    twice; `late`: the call arrives after its answer was given up; `meanwhile`: others do `what`.
    """

    kind: str = "none"
    nth: int = 1
    first: bool = False
    what: str = ""


NONE = Trouble()


class Engine:
    """One process that acts: it counts its moments, and dies at the chosen one."""

    def __init__(self, model: Model, trouble: Trouble) -> None:
        self.model, self.trouble = model, trouble
        self.dead = False
        self.moments = self.calls = 0
        self.store = EngineStore.open(model.stage.url, clock=model.world.clock)
        self.store.engine = self

    def moment(self) -> None:
        """Pass a moment at which the process may die."""
        if self.dead:
            raise CrashError
        self.moments += 1
        if self.trouble.kind == "crash" and self.moments == self.trouble.nth:
            self.dead = True
            raise CrashError

    async def perform(self, call: ActCall) -> ActResult:
        """See `SourceActor.perform`."""
        self.moment()
        self.calls += 1
        return await self.model.sent(self, call, self.trouble if self.trouble.nth == self.calls else NONE)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model.world.source, name)


class EngineStore(Store):
    """The store as one process has it."""

    engine: Engine | None = None

    @contextmanager
    def writing(self) -> Iterator[Any]:
        """See `Store.writing`: a process may die before it, right before the commit, and right after it."""
        self._passed()
        with super().writing() as tx:
            yield tx
            tx.session.flush()
            self._passed()
        self._passed()

    @contextmanager
    def reading(self) -> Iterator[Any]:
        """See `Store.reading`."""
        if self.engine is not None and self.engine.dead:
            raise CrashError
        with super().reading() as session:
            yield session

    def claim_plan(self, plan_id: str, holder: str, ttl: timedelta) -> Any:
        """See `Store.claim_plan`."""
        fence = super().claim_plan(plan_id, holder, ttl)
        if self.engine is not None:
            self.engine.model.holders[plan_id] = self.engine
        return fence

    def _passed(self) -> None:
        if self.engine is not None:
            self.engine.moment()


@dataclass(frozen=True)
class Template:
    """What was planned once, for every example: a plan of some objects, and one of all of them."""

    some: PlanDocument
    all: PlanDocument
    snapshots: Path


def world(objects: int, concurrency: int) -> Orphans:
    """Return the accounts to act on; an approval lives for two hours."""
    made = Orphans(accounts=objects, concurrency=concurrency, verify_age=int(EVIDENCE_FOR / timedelta(hours=1)))
    (approval,) = made.workflow.approvals
    expires = APPROVED_FOR // timedelta(microseconds=1)
    made.workflow = replace(made.workflow, approvals=(replace(approval, expires=expires),))
    return made


@cache
def template(objects: int, concurrency: int) -> Template:
    """Return the plans, made as a run makes them: all but the last account, and all of them."""
    folder = Path(tempfile.mkdtemp(dir=shared_memory()))
    stage = Stage(folder, world(objects, concurrency))
    last = stage.world.account_table.objects.pop((f"a{objects}",))
    some = asyncio.run(stage.plan()).document
    stage.world.account_table.put(last)
    all_ = asyncio.run(stage.plan()).document
    stage.store.close()
    return Template(some, all_, stage.snapshots.root)


def shared_memory() -> str | None:
    """Return where files cost no disk, if there is such a place."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


class Model:
    """The store, the target and the people, and what must hold of them."""

    def __init__(self, objects: int = 3, concurrency: int = 1) -> None:
        made = template(objects, concurrency)
        self.folder = Path(tempfile.mkdtemp(dir=shared_memory()))
        self.template = made
        self.world = world(objects, concurrency)
        self.stage = Stage(self.folder, self.world)
        self.stage.snapshots = type(self.stage.snapshots)(made.snapshots)
        self.read_at = self.world.clock()
        self.plans: list[StoredPlan] = []
        self.undos: list[StoredPlan] = []
        self.approved: dict[str, datetime] = {}
        """Until when a digest is approved."""
        self.halted = self.paused = self.left = False
        self.holders: dict[str, Engine] = {}
        self.effects: Counter[str] = Counter()
        """How often a call with this key took effect."""
        self.under_way: list[ActCall] = []
        """Calls whose answer was given up, and that are still to arrive."""
        self.runs = 0

    def close(self) -> None:
        """Remove everything."""
        self.stage.store.close()
        shutil.rmtree(self.folder)

    @property
    def store(self) -> Store:
        """The store as people see it."""
        return self.stage.store

    # -- what people do -----------------------------------------------------------------------------------------------

    def plan(self, which: str) -> None:
        """Plan: `some` objects, or `all`; the newest plan takes the place of the others."""
        document = self.template.some if which == "some" else self.template.all
        run_id = self.store.begin_run(document.workflow, RunKind.PLAN, ANA)
        document = document.model_copy(update={"plan_id": new_id(), "run_id": run_id})
        self.plans.append(self.store.save_plan(document))
        self.store.finish_run(run_id, "planned", Exit.WAITING_FOR_APPROVAL, {})

    def approve(self) -> None:
        """Approve the newest plan, as ana."""
        plan = self.plans[-1]
        try:
            approvals.give(self.store, plan, self.world.workflow.approvals[0], ROLES, ANA)
        except FullcountError:
            return
        self.approved[plan.document.digest] = self.world.clock() + APPROVED_FOR

    def revoke(self) -> None:
        """Take the newest plan's approval back."""
        try:
            self.store.revoke_approval(self.plans[-1].document.plan_id, BO, "stop")
        except FullcountError:
            return
        self.approved.pop(self.plans[-1].document.digest, None)

    def strike(self) -> None:
        """Strike the first row of the newest plan; what is left is another plan."""
        plan = self.plans[-1]
        try:
            key = plan.document.rows[0].key
            self.plans.append(approvals.strike(self.store, plan, self.world.workflow.approvals[0], ROLES, BO, [key]))
        except (FullcountError, IndexError):
            return

    def halt(self, on: bool) -> None:
        """Pull or lift the kill switch."""
        self.halted = on
        if on:
            self.store.halt("stop", BO)
        else:
            self.store.resume(BO)

    def pause(self, on: bool) -> None:
        """Pause the workflow, or let it go on."""
        self.paused = on
        name = self.world.workflow.name
        if on:
            self.store.pause(name, "wait", BO)
        else:
            self.store.unpause(name, BO)

    def leave(self, gone: bool) -> None:
        """Take ana out of the role, or put her back."""
        self.left = gone
        self.stage.roles = {"iam-admin": ("uid:70002",)} if gone else dict(ROLES)

    def move(self, by: timedelta) -> None:
        """Set the clock on the wall forward or back; a little real time passes in any case."""
        self.world.clock.start += by
        self.world.clock.advance(0.3)

    def change(self, number: int) -> None:
        """Somebody changes an object, so that it is due no more."""
        self.world.account_table.change(f"a{number}", owner="p1")

    def arrive(self) -> None:
        """Let the calls arrive that are still under way."""
        while len(self.under_way) > 0:
            self.deliver(self.under_way.pop(0))

    # -- what engines do ----------------------------------------------------------------------------------------------

    def apply(self, trouble: Trouble = NONE, nth: int = -1) -> ApplyReport | None:
        """Apply a plan (the newest) in a process of its own; None if it died."""
        return asyncio.run(self._run(apply_plan, self.plans[nth], trouble))

    def undo(self, trouble: Trouble = NONE, nth: int = -1) -> ApplyReport | None:
        """Plan to take back what a plan did, have ana approve that, and apply it in a process of its own."""
        undo = asyncio.run(self.stage.undoing(self.plans[nth]))
        if not isinstance(undo, StoredPlan):
            return None
        self.undos.append(self.stage.approve(undo, ANA))
        assert undo.document.undo is not None
        until = min(self.world.clock() + APPROVED_FOR, undo.document.undo.valid_until)
        self.approved[undo.document.digest] = until
        return self.undo_on(trouble)

    def undo_on(self, trouble: Trouble = NONE, nth: int = -1) -> ApplyReport | None:
        """Apply an undo (the newest), or go on with it, in a process of its own; nothing where there is none."""
        return None if len(self.undos) == 0 else asyncio.run(self._run(apply_undo, self.undos[nth], trouble))

    async def _run(self, verb: Any, plan: StoredPlan, trouble: Trouble) -> ApplyReport | None:
        engine = Engine(self, trouble)

        async def open_actor(_: str) -> Any:
            return engine

        try:
            context = self.stage.context(plan, open_actor=open_actor, store=engine.store, lease_time=LEASE)
            report = await verb(context)
        except CrashError:
            return None
        finally:
            engine.dead = True
            Store.close(engine.store)
        assert report.sums_hold, report
        return report

    async def sent(self, engine: Engine, call: ActCall, trouble: Trouble) -> ActResult:
        """Take a call from an engine, and let go wrong what shall."""
        self.check_allowed(engine, call)
        if trouble.kind == "late":
            self.under_way.append(call)
            return UNTOLD
        if trouble.kind == "lost" and trouble.first:
            return UNTOLD
        if trouble.kind == "meanwhile" and trouble.first:
            await self._meanwhile(trouble.what)
        if trouble.kind != "twice":
            self.arrive()  # what was under way is there before what was sent after it
        result = self.deliver(call)
        if trouble.kind == "twice":
            self.deliver(call)
        if trouble.kind == "meanwhile" and not trouble.first:
            await self._meanwhile(trouble.what)
        engine.moment()
        return UNTOLD if trouble.kind == "lost" else result

    def deliver(self, call: ActCall) -> ActResult:
        """Do what a call says, under its condition, whether its key is known or not."""
        source = self.world.source
        known = source.performed.pop(call.idempotency_key, None)
        result: ActResult = source._perform(call)
        if result.outcome is Outcome.DONE:
            self.effects[call.idempotency_key] += 1
        elif known is not None:
            source.performed[call.idempotency_key] = known
        return result

    async def _meanwhile(self, what: str) -> None:
        match what:
            case "revoke":
                self.revoke()
            case "halt" | "pause":
                getattr(self, what)(True)
            case "supersede":
                self.plan("some")
            case "leave":
                self.leave(True)
            case "change":
                for number in range(1, len(self.world.account_table.objects) + 1):
                    self.change(number)
            case "expire":
                self.move(APPROVED_FOR)
            case "second":
                self.move(LEASE)
                await self._run(apply_plan, self.plans[-1], NONE)
        self.move(timedelta(0))

    # -- what must hold -----------------------------------------------------------------------------------------------

    def check_allowed(self, engine: Engine, call: ActCall) -> None:
        """No call is made without everything that allows it at this very moment."""
        (plan, entry), now = self._entry(call.idempotency_key), self.world.clock()
        document = plan.document
        assert not self.halted, "a call while acting was halted"
        undo = document.undo
        of = document.plan_id if undo is None else undo.plan_id
        assert self.holders[of] is engine, "a call of a run that had lost its lease"
        assert not self.left, "a call on the word of somebody who left the role"
        assert document.digest in self.approved, "a call without an approval"
        assert now < self.approved[document.digest], "a call after the approval ran out"
        assert (undo is not None) is (entry.kind is ActKind.UNDO), "something was taken back without a plan of its own"
        if undo is not None:
            newer = [u for u in self.undos if u.document.undo is not None and u.document.undo.plan_id == of]
            newer = newer[[u.document.plan_id for u in newer].index(document.plan_id) + 1 :]
            keys = {row.key for row in document.rows}
            both = [u for u in newer if keys & {row.key for row in u.document.rows}]
            assert both == [], "a call for an undo that was superseded"
            return
        assert document.plan_id == self.plans[-1].document.plan_id, "a call for a plan that was superseded"
        assert not self.paused, "a call while the workflow was paused"
        assert timedelta(0) <= now - self.read_at <= EVIDENCE_FOR, "a call on old evidence"

    def _entry(self, key: str) -> tuple[StoredPlan, LedgerEntry]:
        for plan, entry in self._entries():
            if entry.idempotency_key == key:
                return plan, entry
        raise AssertionError("a call without an intent that was committed before it")

    def _entries(self) -> Iterator[tuple[StoredPlan, LedgerEntry]]:
        for plan in (*self.plans, *self.undos):
            for kind in ActKind:
                for entry in self.store.ledger(plan.document.plan_id, kind=kind):
                    yield plan, entry

    def check_effects(self) -> None:
        """Nothing was done twice, and what is recorded for good is what happened."""
        assert all(times == 1 for times in self.effects.values()), "an act took effect twice"
        for plan, entry in self._entries():
            if entry.outcome in (None, Outcome.UNKNOWN):
                continue
            took = 0 if entry.idempotency_key is None else self.effects[entry.idempotency_key]
            done = entry.outcome is Outcome.DONE
            under_way = {call.idempotency_key for call in self.under_way}
            assert entry.idempotency_key not in under_way or done, "an outcome for a call that may still arrive"
            assert took == done, f"{entry.object_key} of {plan.document.plan_id} is {entry.outcome}, and took {took}"

    def check_sums(self) -> None:
        """The outcomes of each plan add up to its objects."""
        for plan in (*self.plans, *self.undos):
            counts = self.store.counts(plan.document.plan_id)
            assert sum(counts.values()) == plan.document.sums.candidates

    def check_record(self) -> None:
        """The journal verifies."""
        assert verify(self.store).problems == ()

    def settle(self) -> None:
        """Repair everything and look once more: what is still open after that surely took no effect."""
        self.arrive()
        self.halt(False)
        self.pause(False)
        self.leave(False)
        self.move(LEASE)
        every = ((self.plans, self.apply, ActKind.ACT), (self.undos, self.undo_on, ActKind.UNDO))
        for plans, verb, kind in every:
            for nth, plan in enumerate(plans):
                ledger = self.store.ledger(plan.document.plan_id, kind=kind)
                if any(entry.outcome in (None, Outcome.UNKNOWN) for entry in ledger):
                    verb(nth=nth)
        self.check_effects()
        self.check_sums()
        for _, entry in self._entries():
            if entry.idempotency_key is not None and self.effects[entry.idempotency_key] == 1:
                assert entry.outcome is Outcome.DONE, "an effect without its outcome"
        self.check_record()

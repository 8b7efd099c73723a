"""A model of the ledger: a real store, a target that counts effects, and everything that goes wrong around them.

    model = Model(Setting(objects=2, kind="key"))     # with a plan that is approved
    model.apply(Trouble("lost", nth=1))
    model.settle()                                    # everything is repaired, and what was left open is resolved

Each `Engine` is one process (`ledger_engine.py`). The target is no more careful
than its kind says (`ledger_target.py`). What may not happen is asserted at each call and after each step, from what the
model itself has seen and, but for what an intent says, never from the store's word.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.acting import Orphans
from tests.support.applying import ANA, BO, ROLES, Stage
from tests.support.ledger_engine import NONE, CrashError, Engine, Holder, Trouble
from tests.support.ledger_target import REFUSES, Target, declared

from fullcount.compiler import program
from fullcount.compiler.claims import Fresh
from fullcount.runtime.act.apply import apply_plan
from fullcount.runtime.act.context import ApplyReport
from fullcount.runtime.act.undo import undo_plan
from fullcount.runtime.approve import approvals
from fullcount.runtime.connectors.base import ActCall, ActResult, Outcome
from fullcount.runtime.errors import FullcountError
from fullcount.runtime.evidence.codes import ActReason
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.journal.verify import verify
from fullcount.runtime.plan.cells import to_json
from fullcount.runtime.plan.document import PlanDocument
from fullcount.runtime.store.engine import writer
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.transaction import new_id
from fullcount.runtime.store.views import ActKind, LedgerEntry, PlanState, RunKind, StoredPlan

APPROVED_FOR = timedelta(hours=30)
EVIDENCE_FOR = timedelta(hours=70)
LEASE = timedelta(seconds=30)
CANARY_WAIT = timedelta(minutes=10)
UNTOLD = ActResult(Outcome.UNKNOWN, ActReason.OUTCOME_UNKNOWN, "no answer")

MEANWHILE = ("lapse", "second", "rival", "revoke", "halt", "pause", "supersede", "expire", "leave", "change", "touch")
"""What others may do while a call is under way."""

COMPILED: dict[Any, Any] = {}
"""What the database's driver was asked before: no process of a story has to work out again how to ask it."""


@dataclass(frozen=True)
class Setting:
    """The world of a story. `extra`: `canary` (the first object comes first), `stop` (after the first failure)."""

    objects: int = 2
    concurrency: int = 1
    kind: str = "condition"
    extra: str = "none"


@dataclass(frozen=True)
class Template:
    """What was done once, for every story: a plan of some objects, and one of all of them, approved, in a store."""

    some: PlanDocument
    all: StoredPlan
    folder: Path
    approved: datetime


def world(setting: Setting) -> Orphans:
    """Return the accounts to act on."""
    canary = program.Canary(1, CANARY_WAIT // timedelta(microseconds=1)) if setting.extra == "canary" else None
    made = Orphans(
        accounts=setting.objects,
        concurrency=setting.concurrency,
        verify_age=int(EVIDENCE_FOR / timedelta(hours=1)),
        canary=canary,
        stop=program.Stop(1, None) if setting.extra == "stop" else None,
    )
    update = declared(made.accounts.operations["update"], setting.kind)
    made.accounts = replace(made.accounts, operations={**made.accounts.operations, "update": update})
    made.account_table.resource = made.accounts
    (approval,) = made.workflow.approvals
    expires = APPROVED_FOR // timedelta(microseconds=1)
    verifies = {
        name: (*claims[:-1], Fresh(EVIDENCE_FOR // timedelta(microseconds=1)))
        for name, claims in made.workflow.verifies.items()
    }
    made.workflow = replace(made.workflow, approvals=(replace(approval, expires=expires),), verifies=verifies)
    return made


@cache
def template(setting: Setting) -> Template:
    """Return the plans, made as a run makes them: all but the last account, and all of them."""
    folder = Path(tempfile.mkdtemp(dir=shared_memory()))
    stage = Stage(folder, world(setting))
    last = stage.world.account_table.objects.pop((f"a{setting.objects}",))
    some = asyncio.run(stage.plan()).document
    stage.world.account_table.put(last)
    whole = asyncio.run(stage.approved())
    stage.store.close()
    return Template(some, whole, folder, stage.world.clock())


def shared_memory() -> str | None:
    """Return where files cost no disk, if there is such a place."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def _shown(call: ActCall) -> dict[str, Any]:
    """Return a call as the ledger keeps it."""
    fields = call.resource.fields
    expected = {
        name: cell.state.value if cell.value is None else [to_json(cell.value, fields[name].type)]
        for name, cell in call.expected.items()
    }
    parameters = call.resource.operations[call.operation].parameters
    arguments = {name: to_json(value, parameters[name].type.type) for name, value in call.arguments.items()}
    return {"arguments": arguments, "expected": expected}


class Model:
    """The store, the target and the people, and what must hold of them."""

    def __init__(self, setting: Setting = Setting()) -> None:
        made = template(setting)
        self.setting = setting
        self.folder = Path(tempfile.mkdtemp(dir=shared_memory()))
        self.template = made
        self.world = world(setting)
        self.target = Target(self.world, setting.kind)
        self.stage = Stage(self.folder, self.world, copied=made.folder / "state.db")
        self.stage.snapshots = type(self.stage.snapshots)(made.folder / "snapshots")
        engine = self.stage.store._engine.execution_options(compiled_cache=COMPILED)
        self.database = (engine, writer(engine))
        self.stage.store._engine, self.stage.store._writer = self.database
        self.read_at = self.world.clock()
        self.plans: list[StoredPlan] = [made.all]
        self.approved: dict[str, datetime] = {made.all.document.digest: made.approved + APPROVED_FOR}
        """Until when a digest is approved."""
        self.halted = self.paused = self.left = False
        self.holders: dict[str, Holder] = {}
        self.acts: dict[str, tuple[str, tuple[Any, ...], ActKind]] = {}
        """Which act a key belongs to: of which plan, on which object."""
        self.first_called: dict[str, datetime] = {}
        """When a plan was first acted on, or the earliest moment since."""
        self.stopped: set[str] = set()
        """Plans of which a failure was recorded."""

    def close(self) -> None:
        """Remove everything."""
        self.stage.store.close()
        shutil.rmtree(self.folder)

    @property
    def store(self) -> Store:
        """The store as people see it."""
        return self.stage.store

    # -- what people do -----------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Let there be a plan on which something is left to do, on evidence that is fresh, and let it be approved."""
        now = self.world.clock()
        fresh = self.read_at <= now < self.read_at + EVIDENCE_FOR
        if self.worked_off or not fresh:
            self.plan("all")
        self.approve()

    def plan(self, which: str) -> None:
        """Plan: `some` objects, or `all`; the newest plan takes the place of the others."""
        document = self.template.some if which == "some" else self.template.all.document
        run_id = self.store.begin_run(document.workflow, RunKind.PLAN, ANA)
        self.read_at = self.world.clock()
        seen = [
            each.model_copy(update={"scope": each.scope.model_copy(update={"started_at": self.read_at})})
            for each in document.envelopes
        ]
        document = document.model_copy(update={"plan_id": new_id(), "run_id": run_id, "envelopes": tuple(seen)})
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

    def revoke(self, on: bool = True) -> None:
        """Take the newest plan's approval back."""
        if not on:
            return
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

    def expire(self, on: bool) -> None:
        """Let the approval run out."""
        if on:
            self.move(APPROVED_FOR)

    def outdate(self, on: bool) -> None:
        """Let the evidence grow old, and the plan be approved once more after that."""
        if on:
            self.move(EVIDENCE_FOR)
            self.approve()

    def move(self, by: timedelta) -> None:
        """Set the clock on the wall forward or back; a little real time passes in any case."""
        self.target.before(self.world.clock() + by)
        self.world.clock.start += by
        self.world.clock.advance(0.3)
        now = self.world.clock()
        self.first_called = {plan: min(at, now) for plan, at in self.first_called.items()}

    def change(self, number: int) -> None:
        """Somebody changes an object, so that it is due no more."""
        self.world.account_table.change(f"a{number}", owner="p1")

    def touch(self, number: int) -> None:
        """Somebody changes an object, and it is still due."""
        version = self.world.account_table.objects[f"a{number}",]["version"]
        self.world.account_table.change(f"a{number}", owner=f"gone-again-{version}")

    def arrive(self) -> None:
        """Let the calls arrive that are still under way, and be seen what they do."""
        self.target.arrive()

    # -- what engines do ----------------------------------------------------------------------------------------------

    def apply(self, trouble: Trouble = NONE, nth: int = -1) -> ApplyReport | None:
        """Apply a plan (the newest) in a process of its own; None if it died."""
        return asyncio.run(self._run(apply_plan, self.plans[nth], trouble))

    def undo(self, trouble: Trouble = NONE, nth: int = -1) -> ApplyReport | None:
        """Undo a plan in a process of its own."""
        return asyncio.run(self._run(undo_plan, self.plans[nth], trouble))

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
        assert report.sums_hold, report
        if engine.refused and verb is apply_plan:
            self.stopped.add(plan.document.plan_id)
        return report

    def claimed(self, plan_id: str, engine: Engine, ttl: timedelta) -> None:
        """Take note of who may act on a plan."""
        now, other = self.world.clock(), self.holders.get(plan_id)
        assert other is None or now >= other.until, "a lease was given to one while another held it"
        self.holders[plan_id] = Holder(engine, now + ttl)

    def released(self, plan_id: str, engine: Engine) -> None:
        """Take note of who is done with a plan: a run may have settled another one on its way."""
        holder = self.holders.get(plan_id)
        if holder is not None and holder.engine is engine:
            del self.holders[plan_id]

    async def sent(self, engine: Engine, call: ActCall, trouble: Trouble) -> ActResult:
        """Take a call from an engine, and let go wrong what shall."""
        self.check_allowed(engine, call)
        if trouble.kind == "late":
            self.target.delay(call)
            return UNTOLD
        if trouble.kind == "lost" and trouble.first:
            return UNTOLD
        if trouble.kind == "fails":
            engine.refused = True
            return REFUSES
        if trouble.kind == "meanwhile" and trouble.first:
            await self._meanwhile(trouble.what)
        if trouble.kind != "twice" and self.setting.kind == "condition":
            self.arrive()  # what was under way is there before what was sent after it
        result = self.target.deliver(call, unseen=trouble.kind == "hidden")
        if trouble.kind == "twice" and self.setting.kind != "once":
            self.target.deliver(call)
        if trouble.kind == "meanwhile" and not trouble.first:
            await self._meanwhile(trouble.what)
        engine.moment()
        return UNTOLD if trouble.kind in ("lost", "hidden") else result

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
            case "change" | "touch":
                for number in range(1, self.setting.objects + 1):
                    getattr(self, what)(number)
            case "expire":
                self.move(APPROVED_FOR)
            case "lapse":
                self.move(LEASE)
            case "second":
                self.move(LEASE)
                await self._run(apply_plan, self.plans[-1], NONE)
            case "rival":
                await self._run(apply_plan, self.plans[-1], NONE)
        self.move(timedelta(0))

    # -- what must hold -----------------------------------------------------------------------------------------------

    def check_allowed(self, engine: Engine, call: ActCall) -> None:
        """No call is made without everything that allows it at this very moment."""
        (plan, entry), now = self._entry(call.idempotency_key), self.world.clock()
        document, holder = plan.document, self.holders.get(plan.document.plan_id)
        self.acts[call.idempotency_key] = (document.plan_id, entry.object_key, entry.kind)
        assert not self.halted, "a call while acting was halted"
        assert holder is not None, "a call of a run that never had the lease, or gave it back"
        assert holder.engine is engine, "a call of a run that had lost its lease"
        assert now < holder.until, "a call of a run whose lease had run out"
        assert entry.parameters is not None
        assert _shown(call) == {name: entry.parameters[name] for name in ("arguments", "expected")}, "another call"
        if entry.kind is ActKind.UNDO:
            return
        assert document.plan_id == self.plans[-1].document.plan_id, "a call for a plan that was superseded"
        assert not self.paused, "a call while the workflow was paused"
        assert not self.left, "a call on the word of somebody who left the role"
        assert document.digest in self.approved, "a call without an approval"
        assert now < self.approved[document.digest], "a call after the approval ran out"
        assert timedelta(0) <= now - self.read_at <= EVIDENCE_FOR, "a call on old evidence"
        assert self.setting.extra != "stop" or document.plan_id not in self.stopped, "a call after the failure to stop"
        since = self.first_called.setdefault(document.plan_id, now)
        if self.setting.extra == "canary" and now < since + CANARY_WAIT:
            before = self._others_done(document.plan_id, entry.object_key)
            assert before == set(), "a call beyond the canary before its time"

    def _others_done(self, plan_id: str, key: tuple[Any, ...]) -> set[tuple[Any, ...]]:
        """Return what else of a plan was acted on, or may still be."""
        return {
            on
            for act, (of, on, kind) in self.acts.items()
            if (of, kind) == (plan_id, ActKind.ACT) and on != key
            if self.target.effects[act] > 0 or self.target.may_arrive(act)
        }

    def _entry(self, key: str) -> tuple[StoredPlan, LedgerEntry]:
        for plan, entry in self._entries():
            if entry.idempotency_key == key:
                return plan, entry
        raise AssertionError("a call without an intent that was committed before it")

    def _entries(self) -> Iterator[tuple[StoredPlan, LedgerEntry]]:
        for plan in self.plans:
            for kind in ActKind:
                for entry in self.store.ledger(plan.document.plan_id, kind=kind):
                    yield plan, entry

    def check_effects(self) -> None:
        """Nothing was done twice, and what is recorded for good is what happened."""
        effects = self.target.effects
        assert all(times == 1 for times in effects.values()), "an act took effect twice"
        acts = Counter(self.acts[key] for key in effects)
        assert all(times == 1 for times in acts.values()), "an act took effect under two keys"
        for plan, entry in self._entries():
            if entry.outcome in (None, Outcome.UNKNOWN):
                continue
            took = 0 if entry.idempotency_key is None else effects[entry.idempotency_key]
            done = entry.outcome is Outcome.DONE
            # under a condition that no longer holds a call can arrive and do nothing
            sure = done or self.setting.kind == "condition" or not self.target.may_arrive(entry.idempotency_key)
            assert sure, "an outcome for a call that may arrive"
            assert took == done, f"{entry.object_key} of {plan.document.plan_id} is {entry.outcome}, and took {took}"

    @property
    def worked_off(self) -> bool:
        """Whether nothing is left to do of the newest plan."""
        return self.store.load_plan(self.plans[-1].document.plan_id).state is PlanState.APPLIED

    def check_sums(self) -> None:
        """The outcomes of each plan add up to its objects."""
        for plan in self.plans:
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
        self.move(timedelta(hours=2))  # a lease lasts longer where the clock was set back
        for nth, plan in enumerate(self.plans):
            for verb, kind in ((self.apply, ActKind.ACT), (self.undo, ActKind.UNDO)):
                if any(
                    e.outcome in (None, Outcome.UNKNOWN) for e in self.store.ledger(plan.document.plan_id, kind=kind)
                ):
                    verb(nth=nth)
        self.check_effects()
        self.check_sums()
        for _, entry in self._entries():
            if entry.idempotency_key is not None and self.target.effects[entry.idempotency_key] == 1:
                assert entry.outcome is Outcome.DONE, "an effect without its outcome"
        self.check_record()

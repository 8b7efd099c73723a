"""A model of the ledger: a real store, a target that counts effects, and everything that goes wrong around them.

    model = Model(Setting(objects=2, kind="key"))     # with a plan that is approved
    model.apply(Trouble("lost", nth=1))
    model.settle()                                    # everything is repaired, and what was left open is resolved

Each `Engine` is one process (`ledger_engine.py`). The target is no more careful than its kind says
(`ledger_target.py`). What may not happen is asserted at each call and after each step, from what the model itself has
seen and, but for what an intent says, never from the store's word: no act and no undo takes effect twice, and nothing
is taken back without a plan of its own that somebody approved.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tests.support.applying import ANA, BO, ROLES, Stage
from tests.support.ledger_engine import NONE, CrashError, Engine, Holder, Trouble, shown
from tests.support.ledger_target import REFUSES, Target
from tests.support.ledger_world import (
    APPROVED_FOR,
    CANARY_WAIT,
    EVIDENCE_FOR,
    PLAIN,
    Setting,
    shared_memory,
    template,
    world,
)

from fullcount.runtime.act.apply import apply_plan
from fullcount.runtime.act.context import ApplyReport
from fullcount.runtime.act.undo import apply_undo
from fullcount.runtime.approve import approvals
from fullcount.runtime.approve.identity import Person
from fullcount.runtime.approve.of_plan import approval_of_plan
from fullcount.runtime.connectors.base import ActCall, ActResult, Outcome
from fullcount.runtime.errors import FullcountError
from fullcount.runtime.evidence.codes import ActReason
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.journal.verify import verify
from fullcount.runtime.plan.document import PlanDocument
from fullcount.runtime.store.engine import writer
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.transaction import new_id
from fullcount.runtime.store.views import ActKind, LedgerEntry, PlanState, RunKind, StoredPlan

LEASE = timedelta(seconds=30)
UNTOLD = ActResult(Outcome.UNKNOWN, ActReason.OUTCOME_UNKNOWN, "no answer")

MEANWHILE = ("lapse", "second", "rival", "revoke", "halt", "pause", "supersede", "expire", "leave", "change", "touch")
"""What others may do while a call is under way, to the plan that the call is of."""
STRANGER = Person(70003, "eve")
"""Somebody who may approve nothing."""

COMPILED: dict[Any, Any] = {}
"""What the database's driver was asked before: no process of a story has to work out again how to ask it."""


@dataclass(frozen=True)
class Consent:
    """Who approved a digest, and until when that holds."""

    by: Person
    until: datetime


class Model:
    """The store, the target and the people, and what must hold of them."""

    def __init__(self, setting: Setting = PLAIN) -> None:
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
        self.read_at = self.latest = self.world.clock()
        self.plans: list[StoredPlan] = [made.all]
        self.undos: list[StoredPlan] = []
        self.approved: dict[str, Consent] = {made.all.document.digest: Consent(ANA, made.approved + APPROVED_FOR)}
        """By digest."""
        self.halted = self.paused = self.left = False
        self.holders: dict[str, Holder] = {}
        self.acts: dict[str, tuple[str, tuple[Any, ...], ActKind]] = {}
        """Which act a key belongs to: of which plan (of an undo, the one that it takes back), on which object."""
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

    def plan_undo(self, nth: int = -1, keys: int | None = None) -> StoredPlan | None:
        """Plan to take back what a plan did, of the first `keys` objects or of all; None where nothing can be."""
        return asyncio.run(self._plan_undo(self.plans[nth], keys))

    async def _plan_undo(self, plan: StoredPlan, keys: int | None = None) -> StoredPlan | None:
        only = None if keys is None else frozenset((f"a{number}",) for number in range(1, keys + 1))
        undo = await self.stage.undoing(plan, only)
        if not isinstance(undo, StoredPlan):
            return None
        self.undos.append(undo)
        return undo

    def approve(self, plan: StoredPlan | None = None, by: Person = ANA) -> None:
        """Approve a plan (the newest, if none is named) or an undo."""
        plan = self.plans[-1] if plan is None else plan
        declared = approval_of_plan(self.world.workflow, plan.document, None)
        assert declared is not None
        try:
            approvals.give(self.store, plan, declared, ROLES, by)
        except FullcountError:
            return
        assert by is not STRANGER, "somebody approved who may not"
        undo, until = plan.document.undo, self.world.clock() + APPROVED_FOR
        self.approved[plan.document.digest] = Consent(by, until if undo is None else min(until, undo.valid_until))

    def revoke(self, on: bool = True, plan: StoredPlan | None = None) -> None:
        """Take the approval of a plan (the newest) back."""
        if not on:
            return
        plan = self.plans[-1] if plan is None else plan
        try:
            self.store.revoke_approval(plan.document.plan_id, BO, "stop")
        except FullcountError:
            return
        self.approved.pop(plan.document.digest, None)

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

    def repair(self) -> None:
        """Lift what people have put in the way."""
        for what in ("halt", "pause", "leave"):
            if {"halt": self.halted, "pause": self.paused, "leave": self.left}[what]:
                getattr(self, what)(False)

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
        self.latest = max(self.latest, now)
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

    def apply_undo(self, trouble: Trouble = NONE, nth: int = -1) -> ApplyReport | None:
        """Apply an undo (the newest), or go on with it, in a process of its own; None if it died."""
        return asyncio.run(self._run(apply_undo, self.undos[nth], trouble))

    def undo(self, trouble: Trouble = NONE, nth: int = -1) -> ApplyReport | None:
        """Plan to take back what a plan did, have ana approve that, and apply it; None if there is nothing to do."""
        undo = self.plan_undo(nth)
        if undo is None:
            return None
        self.approve(undo)
        return self.apply_undo(trouble)

    async def _run(self, verb: Any, plan: StoredPlan, trouble: Trouble) -> ApplyReport | None:
        engine = Engine(self, trouble, verb, plan)

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
            await self._meanwhile(trouble.what, engine)
        if trouble.kind != "twice" and self.setting.kind == "condition":
            self.arrive()  # what was under way is there before what was sent after it
        result = self.target.deliver(call, unseen=trouble.kind == "hidden")
        if trouble.kind == "twice" and self.setting.kind != "once":
            self.target.deliver(call)
        if trouble.kind == "meanwhile" and not trouble.first:
            await self._meanwhile(trouble.what, engine)
        engine.moment()
        return UNTOLD if trouble.kind in ("lost", "hidden") else result

    async def _meanwhile(self, what: str, engine: Engine) -> None:
        plan, undone = engine.plan, engine.plan.document.undo
        match what:
            case "revoke":
                self.revoke(plan=plan)
            case "halt" | "pause":
                getattr(self, what)(True)
            case "supersede" if undone is None:
                self.plan("some")
            case "supersede":
                acted = next(each for each in self.plans if each.document.plan_id == undone.plan_id)
                await self._plan_undo(acted)
            case "leave":
                self.leave(True)
            case "change" | "touch":
                for number in range(1, self.setting.objects + 1):
                    getattr(self, what)(number)
            case "expire":
                self.move(APPROVED_FOR)
            case "lapse":
                self.move(LEASE)
            case "second" | "rival":
                if what == "second":
                    self.move(LEASE)
                await self._run(engine.verb, plan, NONE)
        self.move(timedelta(0))

    # -- what must hold -----------------------------------------------------------------------------------------------

    def check_allowed(self, engine: Engine, call: ActCall) -> None:
        """No call is made without everything that allows it at this very moment."""
        (plan, entry), now = self._entry(call.idempotency_key), self.world.clock()
        document = plan.document
        assert not self.halted, "a call while acting was halted"
        undo = document.undo
        of = document.plan_id if undo is None else undo.plan_id
        holder = self.holders.get(of)
        self.acts[call.idempotency_key] = (of, entry.object_key, entry.kind)
        assert holder is not None, "a call of a run that never had the lease, or gave it back"
        assert holder.engine is engine, "a call of a run that had lost its lease"
        assert now < holder.until, "a call of a run whose lease had run out"
        assert entry.parameters is not None
        assert shown(call) == {name: entry.parameters[name] for name in ("arguments", "expected")}, "another call"
        assert document.digest in self.approved, "a call without an approval"
        consent = self.approved[document.digest]
        assert now < consent.until, "a call after the approval ran out"
        assert not (self.left and consent.by is ANA), "a call on the word of somebody who left the role"
        assert (undo is not None) is (entry.kind is ActKind.UNDO), "something was taken back without a plan of its own"
        if undo is not None:
            assert now < undo.valid_until, "a call for an undo that was made too long ago"
            assert not self._replaced(document), "a call for an undo that was superseded"
            return
        assert document.plan_id == self.plans[-1].document.plan_id, "a call for a plan that was superseded"
        assert not self.paused, "a call while the workflow was paused"
        assert timedelta(0) <= now - self.read_at <= EVIDENCE_FOR, "a call on old evidence"
        assert self.setting.extra != "stop" or document.plan_id not in self.stopped, "a call after the failure to stop"
        since = self.first_called.setdefault(document.plan_id, now)
        if self.setting.extra == "canary" and now < since + CANARY_WAIT:
            before = self._others_done(document.plan_id, entry.object_key)
            assert before == set(), "a call beyond the canary before its time"

    def _replaced(self, undo: PlanDocument) -> bool:
        """Whether a newer undo of the same plan is of all the objects of this one."""
        ids = [each.document.plan_id for each in self.undos]
        keys = {row.key for row in undo.rows}
        newer = [each.document for each in self.undos[ids.index(undo.plan_id) + 1 :]]
        assert undo.undo is not None
        return any(
            each.undo is not None and each.undo.plan_id == undo.undo.plan_id and keys <= {row.key for row in each.rows}
            for each in newer
        )

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
        for plan in (*self.plans, *self.undos):
            for kind in ActKind:
                for entry in self.store.ledger(plan.document.plan_id, kind=kind):
                    yield plan, entry

    def check_effects(self) -> None:
        """Nothing was done twice, and what is recorded for good is what happened."""
        effects = self.target.effects
        assert all(times == 1 for times in effects.values()), "an act took effect twice"
        acts = Counter(self.acts[key] for key in effects)
        twice = [kind for (_, _, kind), times in acts.items() if times > 1]
        assert ActKind.UNDO not in twice, "an object was restored twice"
        assert twice == [], "an act took effect under two keys"
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
    def acted(self) -> list[int]:
        """Which plans did something, oldest first."""
        did = {of for act, (of, _, kind) in self.acts.items() if kind is ActKind.ACT and self.target.effects[act] > 0}
        return [nth for nth, plan in enumerate(self.plans) if plan.document.plan_id in did]

    @property
    def worked_off(self) -> bool:
        """Whether nothing is left to do of the newest plan."""
        return self.store.load_plan(self.plans[-1].document.plan_id).state is PlanState.APPLIED

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
        self.repair()
        # where the clock was set back, a lease lasts until it has caught up, also one that was given back
        self.move(max(timedelta(hours=2), self.latest + LEASE - self.world.clock()))
        every = ((self.plans, self.apply, ActKind.ACT), (self.undos, self.apply_undo, ActKind.UNDO))
        for plans, verb, kind in every:
            for nth, plan in enumerate(plans):
                ledger = self.store.ledger(plan.document.plan_id, kind=kind)
                if any(entry.outcome in (None, Outcome.UNKNOWN) for entry in ledger):
                    verb(nth=nth)
        self.check_effects()
        self.check_sums()
        for _, entry in self._entries():
            if entry.idempotency_key is not None and self.target.effects[entry.idempotency_key] == 1:
                assert entry.outcome is Outcome.DONE, "an effect without its outcome"
        self.check_record()

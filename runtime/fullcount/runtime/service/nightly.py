"""The nightly service: runs what is due, each planned instant once, however many services look at one store.

The store is the truth: a slot is a unique row, a workflow at work holds a lease. The alarm clock only wakes this
module up. A run of the service ends as refused, waiting for approval, or done; an approval that an identical plan has
kept lets it act. It must never act on anything else: there is no approval by schedule.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import structlog

from fullcount.compiler.params import ParamError, bind_params
from fullcount.compiler.program import Workflow
from fullcount.compiler.schedule import next_fires
from fullcount.dsl.source import Source
from fullcount.runtime.act.context import StopSignal
from fullcount.runtime.approve.identity import Person
from fullcount.runtime.engine import Engine
from fullcount.runtime.errors import FullcountError
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.planning import PlanRequest
from fullcount.runtime.schedule.alarm import Alarm
from fullcount.runtime.schedule.slots import DueSlot, SlotVerdict, due_slots
from fullcount.runtime.store.errors import FenceLost, LeaseHeld
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.views import Fence, SlotRow

LEASE = timedelta(minutes=2)
"""How long a service that died keeps the next one from running the same workflow."""

LOOK_EVERY = 30
"""Seconds between looks at the store: what an alarm missed is found by then."""


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A workflow with a schedule, and the file that it came from."""

    workflow: Workflow
    path: Path
    author: str
    sources: dict[str, Source]


class NightlyService:
    """Runs the scheduled workflows of one workspace until it is told to stop."""

    def __init__(
        self,
        engine: Engine,
        person: Person,
        load: Callable[[], Sequence[Scheduled]],
    ) -> None:
        self._engine = engine
        self._store: Store = engine.store
        self._person = person
        self._load = load
        self._holder = f"{socket.gethostname()}:{os.getpid()}"
        self._alarm = Alarm()
        self._working: dict[str, asyncio.Task[str]] = {}
        self._stop = StopSignal()
        self._log = structlog.get_logger("fullcount.serve")

    async def run(self, stopping: asyncio.Event) -> None:
        """Serve until `stopping` is set; then take up nothing new and wait for what is under way to end well."""
        self._first_look()
        self._alarm.start()
        self._alarm.every("look", LOOK_EVERY, self._look)
        await self._look()
        self._log.info("serving", workflows=[each.workflow.name for each in self._load()])
        await stopping.wait()
        self._alarm.stop()
        self._stop.request("the service was asked to stop")
        if self._working:
            self._log.info("waiting for what is under way", workflows=sorted(self._working))
            await asyncio.wait(self._working.values())
        self._log.info("stopped")

    def _first_look(self) -> None:
        """Note since when a workflow is served, and close the slots of services that died at work."""
        for scheduled in self._load():
            name = scheduled.workflow.name
            if not self._store.slots(1, workflow=name):
                # Nothing planned before this instant is caught up: nobody had asked for it.
                self._store.skip_slot(name, self._store.now(), self._holder, "served from here on")
            for slot in self._store.slots(50, workflow=name):
                if slot.state == "claimed":
                    self._close_if_abandoned(slot)

    def _close_if_abandoned(self, slot: SlotRow) -> None:
        try:
            fence = self._store.claim(_lease_name(slot.workflow), self._holder, LEASE)
        except LeaseHeld:
            return  # it is being run by somebody else at this moment
        self._store.finish_slot(slot.slot_id, "interrupted: the service that ran it ended without a word")
        self._store.release(fence)
        self._log.warning("interrupted slot", workflow=slot.workflow, planned_at=slot.planned_at.isoformat())

    async def _look(self) -> None:
        """Find what is due, take it, and set the next alarm."""
        if self._stop.reason is not None:
            return
        now = self._store.now()
        for scheduled in self._load():
            schedule, name = scheduled.workflow.schedule, scheduled.workflow.name
            if schedule is None:
                continue
            latest = self._store.slots(1, workflow=name)
            since = latest[0].planned_at if latest else now
            for slot in due_slots(schedule, since, now):
                self._take(scheduled, slot)
            for fire in next_fires(schedule, now, 1):
                self._alarm.at(f"next:{name}", fire, self._look)

    def _take(self, scheduled: Scheduled, slot: DueSlot) -> None:
        name = scheduled.workflow.name
        log = self._log.bind(workflow=name, planned_at=slot.planned_at.isoformat())
        if slot.verdict is SlotVerdict.MISSED:
            if self._store.skip_slot(name, slot.planned_at, self._holder, slot.reason, local_day=slot.local_day):
                log.warning("missed slot", why=slot.reason)
            return
        slot_id = self._store.claim_slot(name, slot.planned_at, self._holder, local_day=slot.local_day)
        if slot_id is None:
            return  # another service has it
        try:
            fence = self._store.claim(_lease_name(name), self._holder, LEASE)
        except LeaseHeld:
            self._store.finish_slot(slot_id, "skipped: a run of this workflow was still at work")
            log.warning("skipped slot", why="a run of this workflow was still at work")
            return
        log.info("slot taken", why=slot.reason)
        task = asyncio.create_task(self._run(scheduled, slot_id, fence), name=name)
        self._working[slot_id] = task
        task.add_done_callback(lambda done: self._ended(slot_id, name, fence, done))

    async def _run(self, scheduled: Scheduled, slot_id: str, fence: Fence) -> str:
        """Run each proposal of a workflow; return in a few words how they ended."""
        words = []
        async with self._renewed(fence):
            for proposal in scheduled.workflow.proposals:
                request = PlanRequest(
                    workflow=scheduled.workflow,
                    proposal=proposal,
                    params=bind_params(scheduled.workflow, {}),
                    person=self._person,
                    authors=frozenset({scheduled.author}),
                    sources=scheduled.sources,
                    slot_id=slot_id,
                )
                end = await self._engine.plan(request)
                state, plan = end.state, end.plan
                if state == "approved" and plan is not None:
                    applied = await self._engine.apply(
                        plan.document.plan_id, self._person, stop=self._stop, slot_id=slot_id
                    )
                    state = "done" if applied.exit is Exit.DONE else f"applied, exit {int(applied.exit)}"
                self._log.info(
                    "run ended",
                    workflow=scheduled.workflow.name,
                    proposal=proposal.name,
                    state=state,
                    plan=None if plan is None else plan.document.plan_id,
                )
                words.append(f"{proposal.name}: {state}")
        return "; ".join(words)

    def _ended(self, slot_id: str, name: str, fence: Fence, task: asyncio.Task[str]) -> None:
        """Record how a slot's run ended. One workflow's failure is recorded and shown; it does not stop the others."""
        self._working.pop(slot_id, None)
        error = None if task.cancelled() else task.exception()
        if task.cancelled():
            detail = "cancelled"
        elif error is None:
            detail = task.result()
        elif isinstance(error, FullcountError | ParamError):
            detail = f"error: {error}"
        else:
            detail = f"internal error: {type(error).__name__}"
        if error is not None:
            self._log.error("run failed", workflow=name, why=detail, exc_info=error)
        self._store.finish_slot(slot_id, detail)
        self._store.release(fence)

    @asynccontextmanager
    async def _renewed(self, fence: Fence) -> AsyncIterator[None]:
        """Keep the lease while work goes on; when it is lost, another service may be at work, so this one stops."""

        async def renew(worker: asyncio.Task[str]) -> None:
            while True:
                await asyncio.sleep(LEASE.total_seconds() / 4)
                try:
                    self._store.renew(fence, LEASE)
                except FenceLost:
                    worker.cancel()
                    return

        current = asyncio.current_task()
        if current is None:
            msg = "a slot is run in a task of its own"
            raise RuntimeError(msg)
        renewing = asyncio.create_task(renew(current))
        try:
            yield
        finally:
            renewing.cancel()


def _lease_name(workflow: str) -> str:
    return f"workflow:{workflow}"

"""The nightly service: runs what is due, each planned instant once, however many services look at one store.

The store is the truth: a slot is a unique row, a workflow at work holds a lease. The alarm clock only wakes this
module up. A run of the service ends as refused, waiting for approval, or done; an approval that an identical plan has
kept lets it act, and so does one that the workflow's own rule gave within the policy of the workspace. An apply that
is only paused (by its window, a freeze, its canary) is gone on with when its time has come, whoever began it, as long
as its workflow stands in the folder. It must never act on anything else: there is no approval by schedule, and what was
taken out of the folder acts no more.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import structlog

from fullcount.compiler.params import ParamError, bind_params
from fullcount.compiler.program import Proposal, Workflow
from fullcount.compiler.schedule import next_fires
from fullcount.dsl.source import Source
from fullcount.runtime.act.context import StopSignal
from fullcount.runtime.approve.identity import Person
from fullcount.runtime.backups.files import BackupFailed
from fullcount.runtime.ends import PlanEnd
from fullcount.runtime.engine import Engine
from fullcount.runtime.errors import FullcountError
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.planning import PlanRequest
from fullcount.runtime.schedule.alarm import Alarm
from fullcount.runtime.schedule.slots import DueSlot, SlotVerdict, due_slots
from fullcount.runtime.store.errors import FenceLost, LeaseHeld, StoreError
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.views import Fence, Paused, PlanState, SlotRow

LEASE = timedelta(minutes=2)
"""How long a service that died keeps the next one from running the same workflow."""

LOOK_EVERY = 30
"""Seconds between looks at the store: what an alarm missed is found by then."""

RECENT = 50
"""So many of a workflow's latest slots and plans are looked through for what a dead service left behind."""


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A workflow of the folder, and the file that it came from; `authors` wrote it or what it imports."""

    workflow: Workflow
    path: Path
    authors: frozenset[str]
    sources: dict[str, Source]


class NightlyService:
    """Runs the scheduled workflows of one workspace until it is told to stop.

    `lease` is how long a service that died keeps others from its workflows, `look_every` the seconds between looks.
    """

    def __init__(
        self,
        engine: Engine,
        person: Person,
        load: Callable[[], Sequence[Scheduled]],
        *,
        lease: timedelta = LEASE,
        look_every: int = LOOK_EVERY,
    ) -> None:
        self._engine = engine
        self._store: Store = engine.store
        self._person = person
        self._load = load
        self._lease = lease
        self._look_every = look_every
        self._holder = f"{socket.gethostname()}:{os.getpid()}"
        self._alarm = Alarm()
        self._working: dict[str, asyncio.Task[str]] = {}
        self._planning: set[asyncio.Task[PlanEnd]] = set()
        self._telling: asyncio.Task[object] | None = None
        self._gone_on: set[str] = set()
        """The paused runs that this service went on with: each once, whatever came of it."""
        self._left: set[str] = set()
        """The paused runs of workflows that are no longer there: each said once."""
        self._stop = StopSignal()
        self._log = structlog.get_logger("fullcount.serve")

    async def run(self, stopping: asyncio.Event) -> None:
        """Serve until `stopping` is set; then take up nothing new and wait for what is under way to end well."""
        self._look()
        self._alarm.start()
        self._alarm.every("look", self._look_every, self._woken)
        names = [each.workflow.name for each in self._load() if each.workflow.schedule is not None]
        if len(names) == 0:
            waits = "a workflow with a `schedule` that compiles, in the workspace's `workflows` folder"
            self._log.warning("nothing is scheduled", waits_for=waits, looks_every=f"{self._look_every} s")
        self._log.info("serving", workflows=names)
        await stopping.wait()
        self._alarm.stop()
        self._stop.request("the service was asked to stop")
        for planning in self._planning:
            planning.cancel()  # a plan that is cut off has changed nothing; an apply is let come to its orderly end
        if self._working:
            self._log.info("waiting for what is under way", slots=len(self._working))
            await asyncio.wait(self._working.values())
        if self._telling is not None:
            await asyncio.wait({self._telling})
        self._log.info("stopped")

    async def _woken(self) -> None:
        """Look, and live on when the store can't be reached this time: the next look will find the same."""
        try:
            self._look()
        except FullcountError as error:
            self._log.error("could not look for what is due", code=error.code, why=error.message)

    def _remove_expired_backups(self) -> None:
        """Remove what is kept no longer. A folder that can't be cleared keeps nobody from the night's work."""
        try:
            gone = self._engine.remove_expired_backups()
        except BackupFailed as error:
            self._log.error("could not remove backups", code=error.code, why=error.message)
            return
        for why in gone.troubles:
            self._log.error("could not remove backups that lie with a source", why=why)
        if gone.count > 0:
            self._log.info("removed backups whose time is over", count=gone.count)

    def _look(self) -> None:
        """Find what is due, take it, and set the next alarm."""
        if self._stop.reason is not None:
            return
        self._remove_expired_backups()
        now, loaded = self._store.now(), self._load()
        for scheduled in loaded:
            schedule, name = scheduled.workflow.schedule, scheduled.workflow.name
            if schedule is None:
                continue
            recent = self._store.slots(RECENT, workflow=name)
            if recent:
                self._close_abandoned(recent)
                for slot in due_slots(schedule, recent[0].planned_at, now):
                    self._take(scheduled, slot)
            else:
                # Nothing planned before this instant is caught up: nobody had asked for it.
                self._store.skip_slot(name, now, self._holder, "served from here on")
            for fire in next_fires(schedule, now, 1):
                self._alarm.at(f"next:{name}", fire, self._woken)
        standing = {(each.workflow.name, proposal.name) for each in loaded for proposal in each.workflow.proposals}
        for paused in self._store.paused():
            if (paused.workflow, paused.proposal) in standing:
                self._go_on(paused, now)
            elif paused.run_id not in self._left:
                self._left.add(paused.run_id)
                self._log.warning(
                    "not gone on with: the folder has no such workflow that compiles",
                    workflow=paused.workflow,
                    proposal=paused.proposal,
                    plan=paused.plan_id,
                )
        if self._telling is None or self._telling.done():
            # what could not be sent at the end of its run, or is to be tried again by now
            self._telling = asyncio.create_task(self._engine.tell())

    def _go_on(self, paused: Paused, now: datetime) -> None:
        """Go on with an apply that is paused, if its time has come; else be woken then."""
        if paused.run_id in self._gone_on:
            return
        if paused.resumes_at > now:
            self._alarm.at(f"resume:{paused.plan_id}", paused.resumes_at, self._woken)
            return
        try:
            fence = self._store.claim(
                _lease_name(paused.workflow), f"{self._holder}/after {paused.run_id}", self._lease
            )
        except LeaseHeld:
            return  # a run of this workflow is at work: the next look will find the same
        self._gone_on.add(paused.run_id)
        self._log.info("going on", workflow=paused.workflow, plan=paused.plan_id)
        task = asyncio.create_task(self._resumed(paused, fence), name=paused.workflow)
        self._working[paused.run_id] = task
        task.add_done_callback(lambda done: self._went_on(paused, fence, done))

    async def _resumed(self, paused: Paused, fence: Fence) -> str:
        async with self._renewed(fence):
            return await self._apply(paused.plan_id, None)

    def _went_on(self, paused: Paused, fence: Fence, task: asyncio.Task[str]) -> None:
        """Say how it went on. What was recorded of it stands in its run."""
        self._working.pop(paused.run_id, None)
        log = self._log.bind(workflow=paused.workflow, plan=paused.plan_id)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            log.error("going on failed", why=str(error), exc_info=error)
        elif not task.cancelled():
            log.info("run ended", state=task.result())
        try:
            self._store.release(fence)
        except StoreError as unkept:
            log.error("the end of a run could not be recorded", why=unkept.message)

    def _close_abandoned(self, slots: Sequence[SlotRow]) -> None:
        """Close the slots of services that died at work: taken longer ago than a lease lasts, and leased by nobody."""
        for slot in slots:
            if slot.state != "claimed" or slot.claimed_at + self._lease > self._store.now():
                continue
            try:
                fence = self._store.claim(
                    _lease_name(slot.workflow), f"{self._holder}/after {slot.slot_id}", self._lease
                )
            except LeaseHeld:
                continue  # it is being run at this moment
            self._store.finish_slot(slot.slot_id, "interrupted: the service that ran it ended without a word")
            self._store.release(fence)
            self._log.warning("interrupted slot", workflow=slot.workflow, planned_at=slot.planned_at.isoformat())

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
            # Held by the slot, not by this process: two slots of one workflow must not run at once here either.
            fence = self._store.claim(_lease_name(name), f"{self._holder}/{slot_id}", self._lease)
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
        async with self._renewed(fence):
            words = [
                f"{proposal.name}: {await self._run_proposal(scheduled, proposal, slot_id)}"
                for proposal in scheduled.workflow.proposals
            ]
        return "; ".join(words)

    async def _run_proposal(self, scheduled: Scheduled, proposal: Proposal, slot_id: str) -> str:
        name = scheduled.workflow.name
        for plan in self._store.plans(RECENT, workflow=name):
            if plan.proposal == proposal.name and plan.undoes is None and plan.state is PlanState.APPLYING:
                # It was cut off. What it left open is resolved before a newer plan takes its place.
                state = await self._apply(plan.plan_id, slot_id)
                if len(self._store.paused(plan.plan_id)) > 0:
                    return state  # a newer plan would take the place of one that only waits for its time
        request = PlanRequest(
            workflow=scheduled.workflow,
            proposal=proposal,
            params=bind_params(scheduled.workflow, {}),
            person=self._person,
            authors=scheduled.authors,
            sources=scheduled.sources,
            slot_id=slot_id,
        )
        planning = asyncio.create_task(self._engine.plan(request))
        self._planning.add(planning)
        planning.add_done_callback(self._planning.discard)
        end = await planning
        state, plan_id = end.state, None if end.plan is None else end.plan.document.plan_id
        if state == "approved" and plan_id is not None:
            state = await self._apply(plan_id, slot_id)
        self._log.info("run ended", workflow=name, proposal=proposal.name, state=state, plan=plan_id)
        return state

    async def _apply(self, plan_id: str, slot_id: str | None) -> str:
        applied = await self._engine.apply(plan_id, self._person, stop=self._stop, slot_id=slot_id)
        if applied.report is not None and applied.report.resumes_at is not None:
            return f"paused until {applied.report.resumes_at.isoformat(timespec='seconds')}"
        return "done" if applied.exit is Exit.DONE else f"applied, exit {int(applied.exit)}"

    def _ended(self, slot_id: str, name: str, fence: Fence, task: asyncio.Task[str]) -> None:
        """Record how a slot's run ended. One workflow's failure is recorded and shown; it does not stop the others."""
        self._working.pop(slot_id, None)
        error = None if task.cancelled() else task.exception()
        if task.cancelled():
            detail = f"interrupted: {self._stop.reason or 'its lease was lost'}"
        elif error is None:
            detail = task.result()
        elif isinstance(error, FullcountError | ParamError):
            detail = f"error: {error}"
            self._log.error("run failed", workflow=name, why=str(error), code=getattr(error, "code", "FC695"))
        else:
            detail = f"internal error: {type(error).__name__}"
            self._log.error("run failed", workflow=name, why=detail, exc_info=error)
        try:
            self._store.finish_slot(slot_id, detail)
            self._store.release(fence)
        except StoreError as unkept:
            self._log.error("the end of a run could not be recorded", workflow=name, how=detail, why=unkept.message)

    @asynccontextmanager
    async def _renewed(self, fence: Fence) -> AsyncIterator[None]:
        """Keep the lease while work goes on; when it is lost, another service may be at work, so this one stops."""

        async def renew(worker: asyncio.Task[str]) -> None:
            while True:
                await asyncio.sleep(self._lease.total_seconds() / 4)
                try:
                    self._store.renew(fence, self._lease)
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

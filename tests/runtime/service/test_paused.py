"""The service goes on with what is paused when its time has come, once, and leaves everything else alone."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from structlog.testing import capture_logs
from tests.support.workspaces import ACT, ORPHANS

from fullcount.runtime.approve.identity import current_person
from fullcount.runtime.engine import Engine
from fullcount.runtime.service.nightly import NightlyService, Scheduled
from fullcount.runtime.service.scheduled import ScheduledWorkflows
from fullcount.runtime.workflow_files import compile_file
from fullcount.runtime.workspace import Workspace

pytestmark = pytest.mark.requirement("R24", "R43")

WITH_CANARY = ACT.replace("    stop", "    canary 1 then wait 15m\n    stop")


class Clock:
    """The store's and the engine's time, moved by hand."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.now


def service_of(engine: Engine) -> NightlyService:
    """Return a service over the workspace's folder."""
    load = ScheduledWorkflows(engine.workspace, engine.workspace.root / "workflows")
    return NightlyService(engine, current_person(), load)


async def look(service: NightlyService) -> None:
    """Let the service look once, and wait for what it took up."""
    service._look()
    while service._working:
        await asyncio.wait(list(service._working.values()))
        await asyncio.sleep(0)


@pytest.fixture
def paused(bench):
    """A workspace with a plan whose canary is waited for, its engine, and its clock."""
    bench.rule(act=WITH_CANARY)
    planned = bench.approved()
    assert bench.run("apply", planned["plan_id"]).exit == 4
    clock = Clock()
    with bench.engine(clock=clock) as engine:
        yield bench, planned, engine, clock


async def test_before_its_time_nothing_is_gone_on_with(paused):
    """It is woken then, and not now."""
    bench, _, engine, _ = paused
    runs = len(engine.store.runs(50))
    await look(service_of(engine))
    assert len(bench.locked()) == 1
    assert len(engine.store.runs(50)) == runs


async def test_when_its_time_has_come_the_rest_is_done(paused):
    """Also without any workflow that has a schedule; looking again does nothing."""
    bench, _, engine, clock = paused
    clock.now += timedelta(minutes=16)
    service = service_of(engine)
    await look(service)
    assert bench.locked() == set(ORPHANS)
    runs = len(engine.store.runs(50))
    await look(service)
    assert len(engine.store.runs(50)) == runs


async def test_what_could_not_be_gone_on_with_is_not_tried_again_and_again(paused):
    """The canary was touched: one run says so, and then a person is needed."""
    bench, _, engine, clock = paused
    bench.sql("directory", "UPDATE accounts SET locked = 0, row_version = row_version + 1")
    clock.now += timedelta(minutes=16)
    service = service_of(engine)
    for _ in range(3):
        await look(service)
    assert [run.state for run in engine.store.runs(2)] == ["stopped", "paused"]
    assert bench.locked() == set()


async def test_a_workflow_that_is_at_work_is_waited_for(paused):
    """Two runs of one workflow are never at work at once."""
    bench, _, engine, clock = paused
    clock.now += timedelta(minutes=16)
    fence = engine.store.claim("workflow:disable_orphans", "another", timedelta(hours=1))
    service = service_of(engine)
    await look(service)
    assert len(bench.locked()) == 1
    engine.store.release(fence)
    await look(service)
    assert bench.locked() == set(ORPHANS)


async def test_a_superseded_plan_is_not_gone_on_with(paused):
    """A newer plan took its place."""
    bench, _, engine, clock = paused
    await asyncio.to_thread(bench.plan)
    clock.now += timedelta(minutes=16)
    await look(service_of(engine))
    assert len(bench.locked()) == 1


async def test_what_was_taken_out_of_the_folder_is_not_gone_on_with_until_it_is_back(paused):
    """The whole file, or the proposal; it is said once, and an apply by hand is still anybody's own decision."""
    bench, _, engine, clock = paused
    clock.now += timedelta(minutes=16)
    path = bench.root / "workflows" / "disable_orphans.fcw"
    text = path.read_text("utf-8")
    service = service_of(engine)
    with capture_logs() as log:
        for other in (None, text.replace("disable from", "lock from").replace("approve disable", "approve lock")):
            path.unlink(missing_ok=True)
            if other is not None:
                path.write_text(other.replace("act disable", "act lock"), "utf-8")
            await look(service)
            assert len(bench.locked()) == 1
    assert len([each for each in log if each["event"].startswith("not gone on with")]) == 1
    path.write_text(text, "utf-8")
    await look(service)
    assert bench.locked() == set(ORPHANS)


async def test_a_slot_does_not_plan_anew_while_a_plan_only_waits_for_its_time(paused):
    """The newer plan would void what was approved and begin another canary."""
    bench, planned, engine, clock = paused
    path = bench.root / bench.rule(act=WITH_CANARY, schedule="schedule every 1h")
    workspace = Workspace.load(bench.root)
    made = compile_file(path, workspace)
    scheduled = Scheduled(made.program.workflows[0], path, current_person().principal, {})
    service = NightlyService(engine, current_person(), lambda: (scheduled,))
    await look(service)  # from here on
    clock.now += timedelta(minutes=10)
    slot = engine.store.claim_slot("disable_orphans", clock.now, "test")
    state = await service._run_proposal(scheduled, scheduled.workflow.proposals[0], slot)
    assert state.startswith("paused until ")
    assert engine.store.latest_plan("disable_orphans", "disable").document.plan_id == planned["plan_id"]

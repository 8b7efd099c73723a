"""The nightly service in this process: which slots it runs, and what it never does."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import text
from structlog.testing import capture_logs
from tests.support.workspaces import ORPHANS, WORKFLOW

from fullcount.runtime.act.context import StopSignal
from fullcount.runtime.approve.identity import current_person
from fullcount.runtime.service.nightly import NightlyService
from fullcount.runtime.service.scheduled import ScheduledWorkflows

EACH_SECOND = "schedule every 1s"


class Serving:
    """A service that runs in a task, and the store to look at."""

    def __init__(self, engine, **options):
        load = ScheduledWorkflows(engine.workspace, engine.workspace.root / "workflows")
        self.store = engine.store
        self.stopping = asyncio.Event()
        self.service = NightlyService(engine, current_person(), load, look_every=1, **options)

    async def __aenter__(self):
        self.task = asyncio.create_task(self.service.run(self.stopping))
        return self

    async def __aexit__(self, *_):
        self.stopping.set()
        await asyncio.wait_for(self.task, 30)

    async def until(self, met):
        """Wait for a slot that fits, and return it."""

        async def look():
            while True:
                for slot in self.store.slots(100):
                    if met(slot):
                        return slot
                if self.task.done():
                    self.task.result()
                await asyncio.sleep(0.05)

        return await asyncio.wait_for(look(), 60)


def ended(detail):
    return lambda slot: slot.state == "finished" and slot.detail == detail


# -- refused cases -----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R24", "R39", "R44")
async def test_service_never_approves_what_it_plans(bench):
    """Night after night it plans and waits: nothing is acted on without a person's approval."""
    bench.rule(schedule=EACH_SECOND)
    with bench.engine() as engine:
        async with Serving(engine) as serving:
            await serving.until(ended("disable: waiting"))
        assert bench.locked() == set()
        assert "approved" not in bench.journal()


@pytest.mark.requirement("R21", "R36")
async def test_service_acts_on_nothing_when_the_evidence_falls_short(bench):
    """An approval that is there does not help a night whose evidence is partial."""
    bench.rule(schedule=EACH_SECOND)
    with bench.engine() as engine:
        approved = await plan_and_approve(bench, engine)
        bench.configure(hr_limit=2)
    with bench.engine() as engine:
        async with Serving(engine) as serving:
            await serving.until(ended("disable: refused"))
        assert engine.store.load_plan(approved).state == "approved"
    assert bench.locked() == set()


async def test_slot_is_skipped_while_a_run_of_its_workflow_is_at_work_elsewhere(bench):
    """Never two runs of one workflow at once; the slot that was skipped shows, with its reason."""
    bench.rule(schedule=EACH_SECOND)
    with bench.engine() as engine:
        fence = engine.store.claim(f"workflow:{WORKFLOW}", "another service", timedelta(minutes=1))
        async with Serving(engine) as serving:
            await serving.until(ended("skipped: a run of this workflow was still at work"))
            assert engine.store.runs() == ()
            engine.store.release(fence)
            await serving.until(ended("disable: waiting"))


async def test_two_slots_of_one_workflow_never_run_at_once_in_one_service(bench, monkeypatch):
    """A run that takes longer than the schedule's period makes the next slots wait their turn or be skipped."""
    bench.rule(schedule=EACH_SECOND)
    running = []
    with bench.engine() as engine:
        planning = engine.plan

        async def slow(request):
            running.append(request.slot_id)
            assert len(running) == 1, "a second run began beside the first"
            await asyncio.sleep(2.2)
            running.clear()
            return await planning(request)

        monkeypatch.setattr(engine, "plan", slow)
        async with Serving(engine) as serving:
            await serving.until(ended("skipped: a run of this workflow was still at work"))
            await serving.until(ended("disable: waiting"))


async def test_run_whose_lease_is_lost_ends_and_says_so(bench, monkeypatch):
    """Whoever was overtaken stops: another service may be at work on the same."""
    bench.rule(schedule=EACH_SECOND)
    with bench.engine() as engine:

        async def endless(_request):
            await asyncio.sleep(600)

        monkeypatch.setattr(engine, "plan", endless)
        async with Serving(engine, lease=timedelta(seconds=2)) as serving:
            slot = await serving.until(lambda found: found.state == "claimed")
            with engine.store.writing() as tx:
                tx.session.execute(text("UPDATE leases SET token = token + 1, holder = 'another service'"))
            found = await serving.until(lambda each: each.slot_id == slot.slot_id and each.state == "finished")
            assert found.detail == "interrupted: its lease was lost"


async def test_failing_workflow_is_recorded_and_does_not_stop_another(bench):
    """A parameter without a value fails one workflow each time; the other one runs."""
    bench.rule(schedule=EACH_SECOND)
    bench.rule("failing", schedule=EACH_SECOND, param="param team: text")
    with bench.engine() as engine:
        async with Serving(engine) as serving:
            failed = await serving.until(lambda slot: slot.workflow == "failing" and slot.detail.startswith("error: "))
            assert "team" in failed.detail
            await serving.until(ended("disable: waiting"))


async def test_file_that_can_not_be_served_does_not_stop_another(bench):
    """A file with mistakes, one that is no text, and two of one name are said, not served, and stop nothing."""
    bench.rule(schedule=EACH_SECOND)
    bench.rule("mistaken", schedule=EACH_SECOND, limit="none at all")
    (bench.root / "workflows/binary.fcw").write_bytes(b"\xff\xfe\x00")
    bench.rule("doubled", file="one.fcw", schedule=EACH_SECOND)
    bench.rule("doubled", file="two.fcw", schedule=EACH_SECOND)
    with bench.engine() as engine, capture_logs() as log:
        async with Serving(engine) as serving:
            await serving.until(ended("disable: waiting"))
        assert {slot.workflow for slot in engine.store.slots(100)} == {WORKFLOW}
    said = [entry["event"].removeprefix("not served: ") for entry in log if entry["event"].startswith("not served")]
    assert sorted(said) == [
        "several files have a workflow of this name",
        "the file can't be read",
        "the workflow has mistakes",
    ]


async def test_changed_rule_is_served_and_never_the_old_one(bench):
    """A file that stops compiling is not served in its old form; once mended it is served again."""
    path = bench.root / bench.rule(schedule=EACH_SECOND)
    with bench.engine() as engine:
        load = ScheduledWorkflows(engine.workspace, engine.workspace.root / "workflows")
        assert [each.workflow.name for each in load()] == [WORKFLOW]
        path.write_text(path.read_text().replace("limit ", "limitt "))
        assert load() == ()
        bench.rule(schedule=EACH_SECOND, limit="3")
        assert [each.workflow.proposals[0].limit.count for each in load()] == [3]
        path.unlink()
        assert load() == ()


# -- what it does ------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R24", "R29", "R44")
async def test_identical_plan_with_a_kept_approval_is_applied_once(bench):
    """What people approved is done in the night, once; the next night finds nothing to do."""
    bench.rule(schedule=EACH_SECOND)
    with bench.engine() as engine:
        await plan_and_approve(bench, engine)
        async with Serving(engine) as serving:
            await serving.until(ended("disable: done"))
            await serving.until(ended("disable: nothing"))
        applies = [run for run in engine.store.runs(100) if run.kind == "apply"]
        assert len(applies) == 1
        assert applies[0].slot_id is not None
    assert bench.locked() == set(ORPHANS)
    assert await asyncio.to_thread(lambda: bench.run("verify").exit) == 0


@pytest.mark.requirement("R32", "R43")
async def test_apply_that_was_cut_off_is_gone_on_with_before_a_newer_plan(bench):
    """What a service that died had begun is brought to its end first, so that nothing is left open."""
    bench.rule(schedule=EACH_SECOND)
    with bench.engine() as engine:
        plan_id = await plan_and_approve(bench, engine)
        stop = StopSignal()
        await engine.apply(
            plan_id, current_person(), stop=stop, progress=lambda _: stop.request("the machine went down")
        )
        assert engine.store.load_plan(plan_id).state == "applying"
        assert 0 < len(bench.locked()) < len(ORPHANS)
        async with Serving(engine) as serving:
            await serving.until(ended("disable: nothing"))
        assert engine.store.load_plan(plan_id).state == "applied"
    assert bench.locked() == set(ORPHANS)
    assert await asyncio.to_thread(lambda: bench.run("verify").exit) == 0


async def test_nothing_planned_before_the_service_first_looked_is_caught_up(bench):
    """The first look notes since when a workflow is served; the slots before it were nobody's."""
    bench.rule(schedule='schedule cron "0 2 * * *" catch up within 23h')
    with bench.engine() as engine:
        async with Serving(engine) as serving:
            slot = await serving.until(lambda found: found.state == "skipped")
            assert slot.detail == "served from here on"
        assert len(engine.store.slots(100)) == 1
        assert engine.store.runs() == ()


async def test_workflow_that_is_added_later_is_served_from_then_on(bench):
    """A file that appears while the service runs is found without a restart."""
    with bench.engine() as engine:
        async with Serving(engine) as serving:
            bench.rule("added", schedule=EACH_SECOND)
            await serving.until(lambda slot: slot.workflow == "added" and slot.detail == "disable: waiting")


async def test_slot_of_a_service_that_died_is_closed_and_the_next_one_runs(bench):
    """A slot that was taken longer ago than a lease lasts, and that nobody holds, is closed as interrupted."""
    bench.rule(schedule=EACH_SECOND)
    with bench.engine() as engine:
        dead = engine.store.claim_slot(WORKFLOW, engine.store.now(), "a service that died")
        async with Serving(engine, lease=timedelta(seconds=1)) as serving:
            slot = await serving.until(lambda found: found.slot_id == dead and found.state == "finished")
            assert slot.detail.startswith("interrupted")
            await serving.until(ended("disable: waiting"))


async def test_stopping_cuts_a_plan_off_and_records_it(bench, monkeypatch):
    """Asked to stop, the service does not wait for a long read: a plan that is cut off has changed nothing."""
    bench.rule(schedule=EACH_SECOND)
    with bench.engine() as engine:

        async def endless(_request):
            await asyncio.sleep(600)

        monkeypatch.setattr(engine, "plan", endless)
        async with Serving(engine) as serving:
            slot = await serving.until(lambda found: found.state == "claimed")
        (found,) = [each for each in engine.store.slots(100) if each.slot_id == slot.slot_id]
        assert (found.state, found.detail) == ("finished", "interrupted: the service was asked to stop")


async def plan_and_approve(bench, engine):
    """Make the workflow's plan and approve it, in the store of the service; return its id."""
    planned = await asyncio.to_thread(bench.plan)
    await asyncio.to_thread(bench.approve, planned)
    return planned["plan_id"]

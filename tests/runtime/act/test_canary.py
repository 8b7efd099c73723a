"""Canaries at the act: no more than the first N before they were waited for and found as they were left.

And before what the workflow has counted then is no more than it allows.
"""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from tests.support.acting import Orphans
from tests.support.applying import ANA, Stage, figures
from tests.support.fake_source import FakeSource, FakeTable, fake_resource

from fullcount.compiler.program import AtMost, Canary
from fullcount.runtime.act.context import StopSignal
from fullcount.runtime.connectors.base import ActResult, Outcome, SourceError
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.journal.bundle import export_run
from fullcount.runtime.journal.runs_of import run_of
from fullcount.runtime.journal.verify import entries, verify
from fullcount.runtime.planning import sources_of
from fullcount.runtime.store.errors import LedgerRefused, StoreError

pytestmark = pytest.mark.requirement("R24", "R28")

MINUTE = 60_000_000
LONG = Canary(2, 15 * MINUTE)
SHORT = Canary(2, MINUTE // 2)
LEASE = timedelta(hours=1)
"""The lease is renewed in real time, which a clock that is moved by hand outruns."""


def stage_of(tmp_path, canary: Canary = LONG, accounts: int = 5, **changes) -> Stage:
    return Stage(tmp_path, Orphans(accounts=accounts, canary=canary, **changes))


async def waiting(stage: Stage):
    """Return a plan whose canary was acted on and is waited for."""
    plan = await stage.approved()
    report = await stage.apply(plan)
    assert (report.exit, report.stopped_by.code) == (Exit.REFUSED_BY_POLICY, "FC776")
    return plan, report


async def test_no_more_than_the_canary_is_acted_on_before_its_wait_is_over(tmp_path):
    """However often the plan is applied meanwhile; the wait is not begun anew."""
    stage = stage_of(tmp_path)
    plan, report = await waiting(stage)
    assert figures(report) == {"done": 2, "not_started": 3}
    began = stage.store.canary(plan.document.plan_id)
    assert (began.object_keys, began.passed_at) == ((("a1",), ("a2",)), None)
    assert report.resumes_at == began.waits_until == began.waits_from + timedelta(minutes=15)
    stage.world.clock.advance(14 * 60 - 1)
    again = await stage.apply(plan)
    assert (figures(again), again.resumes_at) == ({"done": 2, "not_started": 3}, began.waits_until)
    assert len(stage.source.effects) == 2
    assert [r.state for r in stage.store.runs(10) if r.kind == "apply"] == ["paused", "paused"]


async def test_after_the_wait_the_canary_is_looked_at_and_the_rest_is_done(tmp_path):
    """Each object once; the journal verifies."""
    stage = stage_of(tmp_path)
    plan, _ = await waiting(stage)
    stage.world.clock.advance(15 * 60)
    reads = stage.source.count_of("read")
    report = await stage.apply(plan)
    assert (report.exit, figures(report)) == (Exit.DONE, {"done": 5})
    assert stage.source.count_of("read") == reads + 2 + 3
    assert stage.store.canary(plan.document.plan_id).passed_at is not None
    assert sorted(key for _, key in stage.source.effects) == [(f"a{n}",) for n in range(1, 6)]
    assert verify(stage.store).problems == ()
    assert (await stage.apply(plan)).repeated


async def test_a_short_wait_is_sat_out_in_the_run(tmp_path):
    """And people who wait are told until when."""
    stage = stage_of(tmp_path, SHORT)
    plan = await stage.approved()
    told = []
    report = await stage.apply(plan, progress=told.append, lease_time=LEASE)
    assert figures(report) == {"done": 5}
    assert sum(stage.world.clock.slept) == pytest.approx(30, abs=1)
    waits = [progress for progress in told if progress.waits_until is not None]
    assert waits[0].finished == 2
    assert waits[0].waits_until == stage.store.canary(plan.document.plan_id).waits_until


async def test_what_is_left_of_a_long_wait_is_sat_out_too(tmp_path):
    """Who applies in its last minute need not come again."""
    stage = stage_of(tmp_path)
    plan, _ = await waiting(stage)
    stage.world.clock.advance(14 * 60 + 30)
    assert figures(await stage.apply(plan, lease_time=LEASE)) == {"done": 5}


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (lambda world: world.account_table.change("a1", locked=False), "a1: `locked` was changed after the act"),
        (lambda world: world.account_table.remove("a2"), "a2: the object is no longer there"),
        (lambda world: world.account_table.change("a1", uuid="new"), "a1: another object under the same key"),
    ],
)
async def test_a_canary_that_is_not_as_it_was_left_stops_the_rest(tmp_path, what, said):
    """And stops it again as long as that is so; what was done can be taken back."""
    stage = stage_of(tmp_path)
    plan, _ = await waiting(stage)
    stage.world.clock.advance(15 * 60)
    what(stage.world)
    for _ in range(2):
        report = await stage.apply(plan)
        assert (report.exit, report.stopped_by.code, report.resumes_at) == (Exit.ERROR, "FC777", None)
        assert said in report.stopped_by.message
        assert figures(report) == {"done": 2, "not_started": 3}
    assert len(stage.source.effects) == 2
    assert any("fullcount undo" in way for way in report.stopped_by.ways_on)


async def test_a_canary_that_can_not_be_read_stops_the_rest_until_it_can(tmp_path):
    """Not known is not as it was left."""
    stage = stage_of(tmp_path)
    plan, _ = await waiting(stage)
    stage.world.clock.advance(15 * 60)
    down = SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE))
    stage.source.on("read", at=stage.source.count_of("read") + 2, do=down)
    report = await stage.apply(plan)
    assert "a2: the object could not be read: SOURCE_UNAVAILABLE" in report.stopped_by.message
    assert figures(await stage.apply(plan)) == {"done": 5}


ALERTS = fake_resource("firing_alerts", "id: text", source="monitoring")
CHECKED = Canary(2, 15 * MINUTE, AtMost(1, "monitoring", "firing_alerts"))


async def counting(tmp_path, alerts: int, checked: Canary = CHECKED):
    """Return a plan whose canary was waited for, and the source that is counted now."""
    world = Orphans(accounts=5, canary=checked)
    table = FakeTable(ALERTS, [{"id": f"alert-{n}"} for n in range(alerts)])
    monitoring = world.others["monitoring"] = FakeSource(table, name="monitoring")
    stage = Stage(tmp_path, world)
    plan, _ = await waiting(stage)
    assert monitoring.count_of("count") == 0
    stage.world.clock.advance(15 * 60)
    return stage, plan, monitoring


def exported(stage: Stage, plan, folder) -> None:
    """Export what was done. Raises `StoreError` where the folder does not hold by itself."""
    run = run_of(stage.store, plan.document.plan_id)
    export_run(stage.store, run, folder / "bundle", signers=None, person=ANA, sign=None)


def test_what_is_counted_is_of_a_source_that_the_plan_names():
    """So that another target or connector version than the one that was approved is seen."""
    workflow = Orphans(canary=CHECKED).workflow
    assert sources_of(workflow, workflow.proposals[0]) == ["fake", "monitoring"]


async def test_more_than_may_be_after_the_wait_stops_the_rest(tmp_path):
    """As long as that is so; the resource and both numbers are named, and the way on."""
    stage, plan, monitoring = await counting(tmp_path, alerts=1_002)
    for _ in range(2):
        report = await stage.apply(plan)
        assert (report.exit, report.stopped_by.code, report.resumes_at) == (Exit.ERROR, "FC777", None)
        assert "`monitoring.firing_alerts` has 1,002, and at most 1 may be" in report.stopped_by.message
        assert any("fullcount undo" in way for way in report.stopped_by.ways_on)
        assert figures(report) == {"done": 2, "not_started": 3}
    assert monitoring.count_of("count") == 2
    locked = [key for (key,), row in stage.world.account_table.objects.items() if row["locked"]]
    assert locked == ["a1", "a2"]
    assert stage.store.canary(plan.document.plan_id).passed_at is None


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE, detail="no route")),
            "SOURCE_UNAVAILABLE: no route",
        ),
        (SourceError(Incompleteness(code=Reason.AUTH_FAILED)), "AUTH_FAILED"),
        (-1, "its source said -1"),
    ],
)
async def test_a_count_that_can_not_be_had_stops_the_rest_until_it_can(tmp_path, answer, said):
    """Nobody knows is not nothing."""
    stage, plan, monitoring = await counting(tmp_path, alerts=0)
    monitoring.on("count", at=1, do=answer)
    report = await stage.apply(plan)
    assert (report.exit, report.stopped_by.code, len(stage.source.effects)) == (Exit.ERROR, "FC777", 2)
    assert f"`monitoring.firing_alerts` could not be counted, and at most 1 may be: {said}" in report.stopped_by.message
    assert figures(await stage.apply(plan)) == {"done": 5}


async def test_what_the_workspace_no_longer_counts_stops_the_rest(tmp_path):
    """Its source was taken away, or does not count it any more."""
    stage, plan, monitoring = await counting(tmp_path, alerts=0)
    place = ("monitoring", "firing_alerts")
    for resources in ({}, {place: fake_resource("firing_alerts", "id: text", source="monitoring", counted=False)}):
        kept = {key: resource for key, resource in stage.world.resources.items() if key != place}
        report = await stage.apply(plan, resources=kept | resources)
        assert (report.stopped_by.code, len(stage.source.effects)) == ("FC777", 2)
        assert "could not be counted" in report.stopped_by.message
    assert monitoring.count_of("count") == 0


async def test_a_count_that_holds_lets_the_rest_be_done_and_is_recorded(tmp_path):
    """It is asked once, after the canary was found as it was left and before the rest."""
    stage, plan, monitoring = await counting(tmp_path, alerts=1)
    stage.world.account_table.change("a1", locked=False)
    assert "a1: `locked` was changed" in (await stage.apply(plan)).stopped_by.message
    assert monitoring.count_of("count") == 0
    stage.world.account_table.change("a1", locked=True, version=2)
    report = await stage.apply(plan)
    assert (report.exit, figures(report), monitoring.count_of("count")) == (Exit.DONE, {"done": 5}, 1)
    with stage.store.reading() as session:
        (passed,) = [json.loads(entry.payload) for entry in entries(session) if entry.kind == "canary_passed"]
    assert passed["counted"] == 1
    assert verify(stage.store).problems == ()
    exported(stage, plan, tmp_path)


async def test_a_failure_in_the_canary_stops_the_rest_at_once(tmp_path):
    """There is nothing to wait for."""
    stage = stage_of(tmp_path)
    plan = await stage.approved()
    stage.source.on("perform", at=1, do=ActResult(Outcome.FAILED, detail="permission denied"))
    report = await stage.apply(plan)
    assert (report.exit, report.stopped_by.code) == (Exit.ERROR, "FC777")
    assert figures(report) == {"done": 1, "failed": 1, "not_started": 3}
    assert "a1 ended as failed" in report.stopped_by.message
    assert stage.store.canary(plan.document.plan_id) is None


async def test_an_answer_of_the_canary_that_was_lost_is_resolved_before_the_wait_begins(tmp_path):
    """Unknown is a failure as long as reading does not tell; then it is none."""
    stage = stage_of(tmp_path)
    plan = await stage.approved()
    stage.source.lose_answer(at=1, took_effect=True)
    assert (await stage.apply(plan)).stopped_by.code == "FC777"
    report = await stage.apply(plan)
    assert (report.stopped_by.code, figures(report)) == ("FC776", {"done": 2, "not_started": 3})


async def test_objects_that_are_left_alone_are_no_canary(tmp_path):
    """The first N are those that were acted on: one that changed shows nothing."""
    stage = stage_of(tmp_path)
    plan = await stage.approved()
    stage.world.account_table.change("a1", locked=True, last_login=stage.world.clock())
    report = await stage.apply(plan)
    assert figures(report) == {"changed": 1, "done": 2, "not_started": 2}
    assert stage.store.canary(plan.document.plan_id).object_keys == (("a2",), ("a3",))


async def test_a_plan_no_larger_than_its_canary_waits_for_nothing(tmp_path):
    """There is no rest."""
    stage = stage_of(tmp_path, accounts=2)
    plan = await stage.approved()
    assert figures(await stage.apply(plan)) == {"done": 2}
    assert stage.store.canary(plan.document.plan_id) is None


async def test_a_deletion_is_a_canary_too(tmp_path):
    """Nothing may stand under its key after the wait."""
    stage = stage_of(tmp_path, operation="delete")
    plan, _ = await waiting(stage)
    stage.world.clock.advance(15 * 60)
    stage.world.account_table.put(stage.world.account(1))
    assert "an object stands under its key again" in (await stage.apply(plan)).stopped_by.message
    stage.world.account_table.remove("a1")
    assert figures(await stage.apply(plan)) == {"done": 5}


async def test_a_run_that_is_asked_to_stop_in_the_wait_ends_and_the_wait_goes_on(tmp_path):
    """The next run finds it where it stands."""
    stage = stage_of(tmp_path, SHORT)
    plan = await stage.approved()
    stop = StopSignal()
    report = await stage.apply(plan, stop=stop, progress=lambda p: p.waits_until and stop.request("SIGTERM"))
    assert (report.exit, report.stopped_by.code) == (Exit.ERROR, "FC765")
    assert figures(report) == {"done": 2, "not_started": 3}
    assert figures(await stage.apply(plan, lease_time=LEASE)) == {"done": 5}
    assert sum(stage.world.clock.slept) == pytest.approx(30, abs=2)


async def test_an_approval_that_is_taken_back_in_the_wait_stops_the_rest(tmp_path):
    """The guard looks at everything again."""
    stage = stage_of(tmp_path)
    plan, _ = await waiting(stage)
    stage.store.revoke_approval(plan.document.plan_id, stage.context(plan).person, "not so fast")
    stage.world.clock.advance(15 * 60)
    assert (await stage.apply(plan)).stopped_by.code == "FC709"
    assert len(stage.source.effects) == 2


async def test_the_canary_can_be_taken_back_while_it_waits(tmp_path):
    """Undoing waits for nothing."""
    stage = stage_of(tmp_path)
    plan, _ = await waiting(stage)
    assert figures(await stage.undo(plan)) == {"done": 2}
    stage.world.clock.advance(15 * 60)
    assert (await stage.apply(plan)).stopped_by.code == "FC777"


async def test_the_store_lets_no_canary_pass_before_its_time(tmp_path):
    """Nor one that does not wait, nor one of nothing."""
    stage = stage_of(tmp_path)
    plan = await stage.approved()
    plan_id = plan.document.plan_id
    run_id = stage.store.begin_run(plan.document.workflow, "apply", stage.context(plan).person, plan_id=plan_id)
    fence = stage.store.claim_plan(plan_id, "x", timedelta(hours=1))
    stage.store.begin_apply(plan_id, run_id, fence)
    with pytest.raises(LedgerRefused, match="no canary to wait for"):
        stage.store.begin_canary_wait(plan_id, run_id, fence, timedelta(minutes=1))
    with pytest.raises(LedgerRefused, match="has no canary"):
        stage.store.pass_canary(plan_id, run_id, fence)
    stage.store.release(fence)
    await stage.apply(plan)
    fence = stage.store.claim_plan(plan_id, "x", timedelta(hours=1))
    with pytest.raises(LedgerRefused, match="waits until"):
        stage.store.pass_canary(plan_id, run_id, fence)


async def test_the_journal_shows_acts_that_came_before_the_canary_had_passed(tmp_path, monkeypatch):
    """Whoever takes the guard out is found out."""
    stage = stage_of(tmp_path)
    plan = await stage.approved()
    from fullcount.runtime.act import watch

    monkeypatch.setattr(watch.Watch, "_canary_facts", lambda self: None)
    assert figures(await stage.apply(plan)) == {"done": 5}
    (problem,) = verify(stage.store).problems
    assert "5 objects" in problem.what
    assert "before its canary of 2 passed" in problem.what


async def test_the_journal_shows_that_the_rest_was_done_in_spite_of_what_was_counted(tmp_path, monkeypatch):
    """Whoever asks nobody, or is content with more than may be, is found out."""
    from fullcount.runtime.act import canary

    for there, said in ((None, "without a count"), (2, "with 2 of `monitoring.firing_alerts`: 1 may be")):

        async def counts(*_: object, there: int | None = there) -> int | None:
            return there

        folder = tmp_path / str(there)
        folder.mkdir()
        stage, plan, _ = await counting(folder, alerts=2)
        monkeypatch.setattr(canary, "count_after_canary", counts)
        assert figures(await stage.apply(plan)) == {"done": 5}
        (problem,) = verify(stage.store).problems
        assert said in problem.what
        with pytest.raises(StoreError, match=r"its canary passed although at most 1 of `monitoring.firing_alerts` may"):
            exported(stage, plan, folder)

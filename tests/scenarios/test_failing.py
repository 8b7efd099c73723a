"""Class F: the act, failure in part, crash. Each object has one outcome, and what is not known is never called done."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.runtime.connectors.test_http_act import Source as HttpSource
from tests.support.acting import Orphans
from tests.support.applying import Stage, figures, row
from tests.support.http_api import Answer, Api
from tests.support.reading_http import things
from tests.support.workspaces import ORPHANS

from fullcount.compiler.program import Canary
from fullcount.compiler.windows import parse_window
from fullcount.runtime.act.context import StopSignal
from fullcount.runtime.connectors.base import ActResult, Outcome
from fullcount.runtime.evidence.codes import ActReason
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.store.views import PlanState


def locked(stage):
    """Return the accounts that are locked at the target."""
    return {key for (key,), account in stage.world.account_table.objects.items() if account["locked"]}


@pytest.mark.requirement("F02")
@pytest.mark.parametrize("reached", [True, False])
async def test_f02_a_call_in_flight_when_the_run_is_ended_is_resolved_by_reading(tmp_path, reached):
    """The remote call had succeeded, and the record knew nothing of it."""
    stage, signal = Stage(tmp_path, Orphans(concurrency=1)), StopSignal()
    plan = await stage.approved()
    stage.source.on("perform", at=1, do=lambda: signal.request("SIGTERM"))
    stage.source.lose_answer(at=1, took_effect=reached)
    report = await stage.apply(plan, stop=signal)
    assert (figures(report), report.exit) == ({"unknown": 1, "not_started": 2}, Exit.ERROR)
    (intent,) = stage.store.open_intents(plan.document.plan_id)
    assert intent.intent_at is not None
    assert figures(await stage.apply(plan)) == {"done": 3}
    assert (len(stage.source.effects), locked(stage)) == (3, {"a1", "a2", "a3"})


@pytest.mark.requirement("F03")
async def test_f03_what_was_done_is_kept_object_by_object_and_a_lock_ends_by_itself(tmp_path):
    """State was saved at the end only, and the lock of a run that had died stood for ever."""
    stage = Stage(tmp_path, Orphans(accounts=6, concurrency=1))
    plan = await stage.approved()
    plan_id = plan.document.plan_id

    def dies():
        kept = {entry.object_key for entry in stage.store.ledger(plan_id)}
        assert {key for _, key in stage.source.effects} < kept
        raise RuntimeError("killed")

    stage.source.on("perform", at=3, do=dies)
    with pytest.raises(RuntimeError, match="killed"):
        await stage.apply(plan)
    stage.store.claim_plan(plan_id, "a run that is no more", timedelta(seconds=30))
    done = list(stage.source.effects)
    assert ((await stage.apply(plan)).stopped_by.code, stage.source.effects) == ("FC720", done)
    assert 0 < len(done) < 6
    stage.world.clock.advance(31)
    assert figures(await stage.apply(plan)) == {"done": 6}
    assert sorted(key for _, (key,) in stage.source.effects) == [f"a{n}" for n in range(1, 7)]


@pytest.mark.requirement("F04")
async def test_f04_a_run_that_was_ended_by_a_signal_is_no_success(tmp_path):
    """An empty result was `succeeded`: a plan is applied when its counts add up, with nothing not started."""
    stage, signal = Stage(tmp_path, Orphans(concurrency=1)), StopSignal()
    plan = await stage.approved()
    stage.source.on("perform", at=1, do=lambda: signal.request("SIGTERM"))
    report = await stage.apply(plan, stop=signal)
    assert (report.exit, report.sums_hold, figures(report)) == (Exit.ERROR, True, {"done": 1, "not_started": 2})
    assert stage.store.runs(1)[0].state not in {"done", "applied"}
    assert stage.store.load_plan(plan.document.plan_id).state is PlanState.APPLYING
    early = StopSignal()
    early.request("SIGTERM")
    none = await stage.apply(plan, stop=early)
    assert (none.exit, none.sums_hold, none.counts[Outcome.NOT_STARTED]) == (Exit.ERROR, True, 2)


@pytest.mark.requirement("F05")
@pytest.mark.parametrize("answer", [Answer(202, {}), Answer(200, {"error": "it is in use"})])
async def test_f05_accepted_is_not_gone(answer):
    """The call answered 200, the log said deleted, and the object stayed."""
    with Api(things(2)) as api:
        source = HttpSource(api)
        call = await source.call("delete", "t0001")
        api.faults.append(lambda asked: answer if asked.method == "DELETE" else None)
        assert (await source.perform(call)).outcome is Outcome.UNKNOWN
        assert await source.took_effect(call) is False
        assert "t0001" in api.objects


@pytest.mark.requirement("F05")
async def test_f05_the_first_objects_are_looked_at_before_the_rest(tmp_path):
    """Where the source itself says done and nothing happened, the canary shows it, and nothing further is tried."""
    stage = Stage(tmp_path, Orphans(operation="delete", canary=Canary(1, 900_000_000), concurrency=1))
    plan = await stage.approved()
    stage.source.on("perform", at=1, do=ActResult(Outcome.DONE))
    await stage.apply(plan)
    stage.world.clock.advance(900)
    report = await stage.apply(plan)
    assert (report.exit, figures(report)["not_started"]) == (Exit.ERROR, 2)
    assert (stage.source.effects, len(stage.world.account_table.objects)) == ([], 3)


@pytest.mark.requirement("F06")
async def test_f06_every_object_of_a_plan_has_an_outcome_and_the_reason_for_it(tmp_path):
    """Three resources, none deleted, and not a word why."""
    stage = Stage(tmp_path, Orphans(accounts=6))
    plan = await stage.approved()
    table, refused = stage.world.account_table, ActResult(Outcome.REFUSED, ActReason.PRECONDITION_FAILED, "a member")
    table.change("a1", last_login=stage.world.clock())
    table.remove("a2")
    table.change("a3", environment="test")
    stage.source.on("perform", at=1, do=refused)
    stage.source.on("perform", at=2, do=ActResult(Outcome.FAILED, None, "in use"))
    report = await stage.apply(plan)
    assert figures(report) == {"done": 1, "already_gone": 1, "changed": 2, "refused": 1, "failed": 1}
    assert (len(report.rows), report.exit) == (6, Exit.ERROR)
    assert all(each.outcome is Outcome.DONE or each.detail != "" for each in report.rows)
    assert len(locked(stage)) == 1


@pytest.mark.requirement("F10")
@pytest.mark.parametrize("reached", [True, False])
async def test_f10_an_undo_passes_over_no_act_whose_answer_was_lost(tmp_path, reached):
    """Of what nobody knows it says so and how to find out; once that is known all of it is taken back."""
    stage = Stage(tmp_path, Orphans(concurrency=1))
    plan = await stage.approved()
    stage.source.lose_answer(at=1, took_effect=reached)
    applied = await stage.apply(plan)
    lost = [each.key for each in applied.rows if each.outcome is Outcome.UNKNOWN]
    assert len(lost) == 1
    undo = await stage.to_undo(plan)
    assert [each.key for each in undo.document.undecided] == lost
    assert "whether its act took effect" in undo.document.undecided[0].missing[0]
    assert figures(await stage.apply(undo)) == {"done": 2}
    assert (await stage.undoing(plan)).exit is Exit.ERROR
    await stage.apply(plan)
    assert (await stage.undo(plan)).exit is Exit.DONE
    assert locked(stage) == set()


@pytest.mark.requirement("F11")
@pytest.mark.parametrize(("part", "code"), [("engine", "FC756"), ("fake", "FC757")])
async def test_f11_another_program_than_the_one_of_the_plan_does_not_act(tmp_path, part, code):
    """A script was replaced while it ran, a variable was empty, and 34 million files were gone."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    stage.versions[part] = "2"
    report = await stage.apply(plan)
    assert (report.exit, report.stopped_by.code) == (Exit.REFUSED_BY_POLICY, code)
    assert stage.source.effects == []


@pytest.mark.requirement("F11")
def test_f11_a_rule_that_is_overwritten_after_the_approval_is_not_the_one_that_is_run(bench):
    """What runs is the program that the digest covers, whatever stands in the file by now."""
    planned = bench.approved()
    bench.rule(limit="12, 100%", act="act disable with directory.delete(id: a.id) {}")
    path = bench.root / "workflows" / "disable_orphans.fcw"
    path.write_text(path.read_text("utf-8").replace("where not a.locked", "where a.id != a.owner or"), "utf-8")
    assert bench.run("apply", planned["plan_id"]).exit == Exit.DONE
    assert (bench.locked(), len(bench.target())) == (set(ORPHANS), 12)


@pytest.mark.requirement("F13")
async def test_f13_a_run_that_meets_the_end_of_its_window_is_paused_and_goes_on(tmp_path):
    """It stood as running for ever after."""
    world = Orphans(windows=[parse_window("daily 06:00-09:00", "UTC")], concurrency=1, verify_age=48)
    stage = Stage(tmp_path, world)
    plan = await stage.approved()
    stage.source.on("perform", at=2, do=lambda: world.clock.advance(3600))
    report = await stage.apply(plan, lease_time=timedelta(hours=2))
    assert (figures(report)["done"], len(stage.source.effects)) == (2, 2)
    assert (stage.store.runs(1)[0].state, stage.store.runs(1)[0].finished_at is None) == ("paused", False)
    (paused,) = stage.store.paused()
    assert (paused.plan_id, paused.resumes_at) == (plan.document.plan_id, world.clock.start + timedelta(hours=22))
    world.clock.advance(21 * 3600)
    assert figures(await stage.apply(plan)) == {"done": 3}
    assert (stage.store.paused(), row(report, "a1").outcome) == ((), Outcome.DONE)
    assert stage.store.load_plan(plan.document.plan_id).state is PlanState.APPLIED

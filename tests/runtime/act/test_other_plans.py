"""Two plans and one object: nothing is acted on while nobody knows what came of another plan's act on it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest
from tests.runtime.act.test_repeating import bin_of
from tests.support.acting import DAY, Orphans
from tests.support.applying import ANA, BO, ROLES, Stage, figures, row

from fullcount.compiler import program
from fullcount.compiler.claims import Complete, Fresh
from fullcount.runtime.act.repeating import ARRIVES
from fullcount.runtime.approve import approvals
from fullcount.runtime.approve.identity import Person
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.journal.verify import verify
from fullcount.runtime.store.errors import ApprovalRefused, LeaseHeld
from fullcount.runtime.store.settling import NothingToSettle
from fullcount.runtime.store.views import Intent, RunKind
from fullcount.runtime.workspace.exemptions import Exemption

TTL, HOUR = timedelta(minutes=5), timedelta(hours=1)


def entry_of(stage: Stage, plan, key: str = "a1"):
    """Return what the ledger holds of one object."""
    (found,) = [each for each in stage.store.ledger(plan.document.plan_id) if each.object_key == (key,)]
    return found


async def another(stage: Stage):
    """Return an approved plan of another workflow for the same objects."""
    workflow = stage.world.workflow
    stage.world.workflow = replace(workflow, name="another_workflow")
    try:
        return await stage.approved()
    finally:
        stage.world.workflow = workflow


# -- refused ----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R29", "R32")
@pytest.mark.parametrize("newer", [True, False])
async def test_no_plan_acts_on_an_object_whose_act_by_another_one_is_unknown(tmp_path, newer):
    """Whether a newer plan of the workflow or one of another: refused, told where and why, and one effect in all."""
    stage, target = bin_of(tmp_path, escalates=True)
    first = await stage.approved()
    assert figures(await stage.apply(first)) == {"unknown": 1}
    second = await stage.approved() if newer else await another(stage)
    report = await stage.apply(second)
    assert (figures(report), report.exit) == ({"refused": 1}, Exit.REFUSED_BY_POLICY)
    told = row(report, "a1")
    assert told.reason == "FC738"
    assert f"fullcount apply {first.document.plan_id}" in told.detail
    assert stage.source.count_of("perform") == 1
    assert entry_of(stage, second).intent_at is None
    target.arrive()
    assert figures(await stage.apply(first)) == {"done": 1}
    assert stage.source.count_of("perform") == 1
    assert verify(stage.store).problems == ()


async def test_an_act_in_flight_is_neither_disturbed_nor_joined(tmp_path):
    """The other run holds its lease: nothing is recorded for it, and the object is refused here."""
    stage = Stage(tmp_path, Orphans(accounts=2))
    first, second = await stage.approved(), await another(stage)
    plan_id = first.document.plan_id
    run_id = stage.store.begin_run(first.document.workflow, RunKind.APPLY, ANA, plan_id=plan_id)
    fence = stage.store.claim_plan(plan_id, run_id, TTL)
    stage.store.begin_apply(plan_id, run_id, fence)
    stage.store.record_intents(plan_id, run_id, fence, [Intent(("a1",), "fake.accounts.update")])
    report = await stage.apply(second)
    assert figures(report) == {"refused": 1, "done": 1}
    assert "is at work on the plan" in row(report, "a1").detail
    assert entry_of(stage, first).outcome is None
    assert stage.source.effects == [("update", ("a2",))]


async def test_what_can_not_be_read_in_another_system_settles_nothing(tmp_path):
    """The earlier plan is of a system that is not there now: its act stays unknown, and is not in the way here."""
    stage, target = bin_of(tmp_path, escalates=True)
    first = await stage.approved()
    await stage.apply(first)
    target.answers = []
    stage.source.facts["target.system"] = "fake://elsewhere"
    second = await stage.approved()
    assert figures(await stage.apply(second)) == {"done": 1}
    assert figures(await stage.apply(first)) == {"unknown": 1}
    assert entry_of(stage, first).outcome is Outcome.UNKNOWN


# -- settled by reading -----------------------------------------------------------------------------------------------


@pytest.mark.requirement("R32")
async def test_what_reading_tells_is_recorded_first_and_the_object_is_judged_anew(tmp_path):
    """The first plan's act took effect: that is its outcome, and the second decides on what is there now."""
    stage = Stage(tmp_path, Orphans(accounts=1, operation="delete"))
    first = await stage.approved()
    stage.source.lose_answer(took_effect=True)
    before = dict(stage.world.account_table.objects["a1",])
    assert figures(await stage.apply(first)) == {"unknown": 1}
    stage.world.account_table.put(before | {"uuid": "another object under the same key"})
    second = await another(stage)
    assert figures(await stage.apply(second)) == {"done": 1}
    assert entry_of(stage, first).outcome is Outcome.DONE
    assert [run.state for run in stage.store.runs(2)] == ["settled", "done"]
    assert stage.source.effects == [("delete", ("a1",))] * 2
    assert verify(stage.store).problems == ()


async def test_an_act_without_effect_is_over_once_its_call_can_arrive_no_more(tmp_path):
    """Until then the newer plan refuses; after that the replaced plan's act has failed, and the newer one acts."""
    stage = Stage(tmp_path, Orphans(accounts=1))
    first = await stage.approved()
    stage.source.lose_answer(took_effect=False)
    assert figures(await stage.apply(first)) == {"unknown": 1}
    assert figures(await stage.apply(await stage.approved())) == {"refused": 1}
    stage.world.clock.advance(ARRIVES.total_seconds())
    assert figures(await stage.apply(await stage.approved())) == {"done": 1}
    assert entry_of(stage, first).outcome is Outcome.FAILED
    assert verify(stage.store).problems == ()


async def test_a_call_may_arrive_for_as_long_after_its_plan_was_replaced_as_after_its_intent(tmp_path):
    """Until it was replaced a run could call again on an old intent, so the time counts from then."""
    stage = Stage(tmp_path, Orphans(accounts=1))
    first = await stage.approved()
    stage.source.lose_answer(took_effect=False)
    assert figures(await stage.apply(first)) == {"unknown": 1}
    stage.world.clock.advance(ARRIVES.total_seconds() - 60)
    second = await stage.approved()
    stage.world.clock.advance(60)
    assert figures(await stage.apply(second)) == {"refused": 1}
    assert entry_of(stage, first).outcome is Outcome.UNKNOWN
    stage.world.clock.advance(ARRIVES.total_seconds())
    assert figures(await stage.apply(await stage.approved())) == {"done": 1}


@pytest.mark.requirement("R32")
async def test_a_call_that_was_made_again_may_arrive_for_as_long_after_that_as_the_first_one(tmp_path):
    """It counts from the last time that the act was meant: until then nothing is said of it for good."""
    world = Orphans(accounts=1, excepts=[program.Exemption("exemptions", None)])
    world.workflow = replace(
        world.workflow, verifies=dict.fromkeys(world.workflow.verifies, (Complete(), Fresh(3 * DAY)))
    )
    stage = Stage(tmp_path, world)
    plan = await stage.approved()
    for number in (1, 2):
        stage.source.lose_answer(at=number, took_effect=False)
        assert figures(await stage.apply(plan)) == {"unknown": 1}
        stage.world.clock.advance(ARRIVES.total_seconds() - 3600)
    assert stage.source.count_of("perform") == 2
    entry = entry_of(stage, plan)
    assert (entry.intent_at, entry.last_meant_at) == (entry.outcome_at, entry.intent_at + ARRIVES - HOUR)
    stage.lists["exemptions"] = (Exemption(("a1",), None, "ana", "audit", date(2027, 1, 1)),)
    told = row(await stage.apply(plan), "a1")
    assert (told.outcome, entry_of(stage, plan).outcome) == (Outcome.UNKNOWN, Outcome.UNKNOWN)
    stage.world.clock.advance(3600)
    assert figures(await stage.apply(plan)) == {"refused": 1}
    assert verify(stage.store).problems == ()


async def test_what_came_of_the_others_is_recorded_also_where_settling_breaks(tmp_path, monkeypatch):
    """A mistake of a connector, met while another plan is settled, ends the run; what was known before stays known."""
    stage = Stage(tmp_path, Orphans(accounts=2, concurrency=2))
    first, second = await stage.approved(), await another(stage)
    stage.source.lose_answer(took_effect=False)
    assert figures(await stage.apply(first)) == {"unknown": 1, "done": 1}
    unknown = next(key for key in ("a1", "a2") if entry_of(stage, first, key).outcome is Outcome.UNKNOWN)
    (other,) = {"a1", "a2"} - {unknown}
    stage.world.account_table.change(other, last_login=stage.world.clock.start)

    async def broken(*_):
        raise RuntimeError("a mistake of a connector")

    monkeypatch.setattr("fullcount.runtime.act.settling.resolve", broken)
    with pytest.raises(RuntimeError):
        await stage.apply(second)
    assert entry_of(stage, second, other).outcome is not None


async def test_what_was_read_before_another_plan_acted_is_read_again(tmp_path):
    """The other plan does it between the recheck and the intent: no second call is made."""
    stage = Stage(tmp_path, Orphans(accounts=1, operation="delete"))
    first, second = await stage.approved(), await another(stage)
    look_up = stage.source.lookup

    async def meanwhile(*asked):
        stage.source.lookup = look_up
        stage.world.clock.advance(1)
        assert figures(await stage.apply(first)) == {"done": 1}
        return await look_up(*asked)

    stage.source.lookup = meanwhile
    report = await stage.apply(second)
    assert figures(report) == {"already_gone": 1}
    assert stage.source.count_of("perform") == 1


# -- settled by hand --------------------------------------------------------------------------------------------------


def said(stage: Stage, plan, key: str = "a1", *, by: Person = ANA, took_effect: bool = False):
    """Let somebody say what came of an act."""
    declared = stage.world.workflow.approvals[0]
    return approvals.settle(
        stage.store, plan, declared, ROLES, by, [(key,)], took_effect=took_effect, because="looked at the bin"
    )


async def test_only_who_may_approve_settles_and_only_what_nobody_knows(tmp_path):
    """Somebody else, an object without an act, one whose outcome is known, a plan at work: nothing is recorded."""
    stage, _ = bin_of(tmp_path, escalates=True)
    first = await stage.approved()
    with pytest.raises(NothingToSettle):
        said(stage, first)
    await stage.apply(first)
    head = stage.store.head()
    with pytest.raises(ApprovalRefused):
        said(stage, first, by=Person(70_009, "mallory"))
    with pytest.raises(NothingToSettle) as found:
        said(stage, first, "a2")
    assert (found.value.code, found.value.exit) == ("FC739", Exit.USAGE)
    assert stage.store.head() == head
    run_id = stage.store.begin_run(first.document.workflow, RunKind.APPLY, ANA, plan_id=first.document.plan_id)
    fence = stage.store.claim_plan(first.document.plan_id, run_id, TTL)
    with pytest.raises(LeaseHeld):
        said(stage, first)
    stage.store.release(fence)
    said(stage, first)
    with pytest.raises(NothingToSettle):
        said(stage, first, took_effect=True)
    assert entry_of(stage, first).outcome is Outcome.FAILED


@pytest.mark.requirement("R32", "R34")
@pytest.mark.parametrize("took_effect", [True, False])
async def test_what_a_person_says_ends_the_act_and_the_newer_plan_goes_on(tmp_path, took_effect):
    """Who said it and why stands with the outcome; the record verifies, and the sums hold."""
    stage, target = bin_of(tmp_path, escalates=True)
    first = await stage.approved()
    await stage.apply(first)
    second = await stage.approved()
    (settled,) = said(stage, first, by=BO, took_effect=took_effect)
    target.late.clear()
    target.answers = []
    assert settled.outcome is (Outcome.DONE if took_effect else Outcome.FAILED)
    assert (settled.reason, "says bo: looked at the bin" in settled.detail) == ("FC763", True)
    assert stage.store.runs()[0].by == BO
    assert figures(await stage.apply(second)) == {"done": 1}
    assert figures(await stage.apply(first)) == {"done" if took_effect else "failed": 1}
    assert verify(stage.store).problems == ()

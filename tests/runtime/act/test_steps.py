"""Graduated acts at the target: due steps only, each by a plan of its own, and a release for what got out of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest
from tests.support.acting import Orphans
from tests.support.applying import ANA, ROLES, figures, left_alone, row
from tests.support.graduating import Nights, deleting, due, setting, steps_of, waiting

from fullcount.compiler import program
from fullcount.compiler.program import RELEASE
from fullcount.compiler.values import FieldState
from fullcount.runtime.act.apply import STEP_MOVED_ON
from fullcount.runtime.approve.approvals import strike
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.plan.digest import check_document
from fullcount.runtime.plan.summary import final_rows
from fullcount.runtime.store.errors import LedgerRefused
from fullcount.runtime.store.views import Intent, StepStanding
from fullcount.runtime.workspace.exemptions import Exemption

ALL = ("a1", "a2", "a3")
DAY = 86_400_000_000


@pytest.fixture
def nights(tmp_path):
    found = Nights(tmp_path)
    yield found
    found.store.close()


async def warned(nights):
    """Let the first step be done to every account."""
    report = await nights.pass_()
    assert figures(report) == {"done": 3}
    nights.effects()


# -- what is not done -------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R36", "R37")
async def test_a_step_whose_time_has_not_passed_is_in_no_plan(nights):
    """One microsecond before it is due it waits, and is kept with its reason; the sums hold."""
    await warned(nights)
    nights.later(days=14, microseconds=-1)
    plan = await nights.plan()
    assert (due(plan), waiting(plan)) == ({}, dict.fromkeys(ALL, "lock"))
    assert [(group.reason, group.count) for group in plan.document.kept] == [("selected, waits for step `lock`", 3)]
    assert plan.document.sums.hold
    assert {each.step.due - each.step.since for each in plan.document.steps.waiting} == {timedelta(days=14)}
    nights.later(microseconds=1)
    assert due(await nights.plan()) == dict.fromkeys(ALL, "lock")


@pytest.mark.requirement("R29", "R32")
async def test_a_step_is_refused_when_the_object_moved_on_since_the_plan(nights):
    """What an undo took back meanwhile starts its clock again, whatever the approved plan lists."""
    first = nights.approve(await nights.plan())
    assert figures(await nights.apply(first)) == {"done": 3}
    nights.later(days=14)
    second = nights.approve(await nights.plan())
    assert due(second) == dict.fromkeys(ALL, "lock")
    assert figures(await nights.undo(first)) == {"done": 3}
    nights.effects()
    report = await nights.apply(second)
    assert figures(report) == {"changed": 3}
    assert row(report, "a1").reason == STEP_MOVED_ON
    assert nights.effects() == []
    nights.verified()


@pytest.mark.requirement("R30", "R32")
async def test_the_store_takes_no_intent_of_a_step_before_its_clock(nights):
    """Whatever calls it: the rows of the plan, where the object stands, and the store's own time decide."""
    await warned(nights)
    nights.later(days=14)
    plan = nights.approve(await nights.plan())
    plan_id = plan.document.plan_id
    run_id = nights.store.begin_run("disable_orphans", "apply", nights.context(plan).person, plan_id=plan_id)
    fence = nights.store.claim_plan(plan_id, "here", timedelta(minutes=5))
    nights.store.begin_apply(plan_id, run_id, fence)
    nights.world.clock.advance(-1)
    with pytest.raises(LedgerRefused, match="step `lock` is due from") as refused:
        nights.store.record_intents(plan_id, run_id, fence, [Intent(("a1",), "fake.accounts.update")])
    assert refused.value.code == "FC729"
    assert nights.store.ledger(plan_id) == ()


@pytest.mark.requirement("R32")
async def test_a_recreated_object_starts_from_the_first_step(nights):
    """Another object under the same key was never warned."""
    await warned(nights)
    nights.later(days=20)
    nights.world.account_table.put(nights.world.account(2, uuid="another"))
    plan = await nights.plan()
    assert due(plan) == {"a1": "lock", "a2": "warn", "a3": "lock"}
    assert [each.because for each in plan.document.clocks.ended] == ["another object stands under its key"]
    report = await nights.apply(nights.approve(plan))
    assert figures(report) == {"done": 3}
    assert nights.stands == {"a1": "lock", "a2": "warn", "a3": "lock"}
    assert nights.clocks["a2"].incarnation == "another"
    nights.verified()


async def test_an_object_recreated_after_the_plan_is_left_alone(nights):
    """The recheck sees it, and its old clock does not go on for it."""
    await warned(nights)
    nights.later(days=14)
    plan = nights.approve(await nights.plan())
    nights.world.account_table.put(nights.world.account(2, uuid="another"))
    report = await nights.apply(plan)
    assert figures(report) == {"done": 2, "changed": 1}
    assert row(report, "a2").reason == "recreated"
    assert due(await nights.plan()) == {"a2": "warn"}


@pytest.mark.requirement("R1", "R5")
async def test_an_object_of_which_it_is_not_known_keeps_its_clock_and_gets_no_step(nights):
    """Unknown is never "no longer": nothing is released, nothing is done, and the clock goes on."""
    await warned(nights)
    nights.later(days=14)
    nights.world.account_table.change("a1", owner=FieldState.FORBIDDEN)
    plan = await nights.plan()
    assert due(plan) == {"a2": "lock", "a3": "lock"}
    assert [each.key for each in plan.document.undecided] == [("a1",)]
    assert (plan.document.clocks.lapsed, plan.document.clocks.ended) == ((), ())
    nights.later(days=1)
    nights.world.account_table.change("a1", owner="gone-1")
    assert due(await nights.plan()) == dict.fromkeys(ALL, "lock")


async def test_an_object_whose_incarnation_is_not_known_gets_no_step(nights):
    """It may be another one under the same key; the plan says what is missing."""
    await warned(nights)
    nights.later(days=14)
    nights.world.account_table.change("a1", uuid=FieldState.FORBIDDEN)
    plan = await nights.plan()
    assert due(plan) == {"a2": "lock", "a3": "lock"}
    assert [(each.key, each.missing) for each in plan.document.undecided] == [
        (("a1",), ("incarnation uuid: forbidden",))
    ]
    assert nights.stands["a1"] == "warn"


@pytest.mark.requirement("R36")
async def test_what_is_protected_is_neither_taken_further_nor_released(nights):
    """No workflow writes to what the workspace protects; its clock ends, so that it would start again."""
    await warned(nights)
    world = nights.world
    (proposal,) = world.workflow.proposals
    keep = program.Protection("a1", equals_id(world, "a1"), "it pays people")
    world.workflow = replace(world.workflow, proposals=(replace(proposal, protections=(keep,)),))
    nights.later(days=14)
    plan = await nights.plan()
    assert due(plan) == {"a2": "lock", "a3": "lock"}
    assert nights.stands == {"a2": "warn", "a3": "warn"}
    nights.verified()


def equals_id(world, key):
    """Return `a.id == key`."""
    from tests.support.acting import field_of

    from fullcount.compiler import ir
    from fullcount.compiler.types import TEXT

    return ir.Compare("==", field_of("a", world.accounts, "id"), ir.Const(key, TEXT))


async def test_a_plan_of_a_graduated_act_without_clocks_is_not_built(nights):
    """Nobody may take "nothing is known of where they stand" for "nothing was done yet"."""
    plan = await nights.plan()
    document = plan.document
    without = document.model_copy(update={"rows": tuple(r.model_copy(update={"step": None}) for r in document.rows)})
    assert "an object is listed without the step that is due for it" in check_document(without)


# -- what is done -----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R29", "R34", "R37")
async def test_each_step_comes_after_its_time_and_the_deletion_ends_the_clock(nights):
    """Warned, locked, deleted; each by a plan of its own, each with its own key."""
    seen, keys = [], set()
    for days in (0, 14, 7):
        nights.later(days=days)
        plan = nights.approve(await nights.plan())
        assert figures(await nights.apply(plan)) == {"done": 3}
        seen.append(set(nights.effects()))
        keys |= {entry.idempotency_key for entry in nights.store.ledger(plan.document.plan_id)}
        assert {e.step for e in nights.store.ledger(plan.document.plan_id)} == set(due(plan).values())
    assert seen == [
        {("update", key) for key in ALL},
        {("update", key) for key in ALL},
        {("delete", key) for key in ALL},
    ]
    assert len(keys) == 9
    nights.later(days=1)
    plan = await nights.plan()
    assert due(plan) == {}
    assert nights.stands == {}
    nights.verified()


async def test_what_came_to_its_last_step_is_kept_as_finished_until_it_no_longer_qualifies(tmp_path):
    """Then it is released like any other: what was done to it is no longer meant. The others stay as they are."""
    world = Orphans()
    nights = Nights(tmp_path, world, steps=steps_of(world)[:2])
    await nights.pass_()
    nights.later(days=14)
    await nights.pass_()
    nights.later(days=30)
    plan = await nights.plan()
    assert (due(plan), plan.document.steps.finished) == ({}, 3)
    assert [group.reason for group in plan.document.kept] == ["selected, every step is done"]
    nights.world.account_table.change("a1", owner="p1")
    plan = await nights.plan()
    assert due(plan) == {"a1": RELEASE}
    assert figures(await nights.apply(nights.approve(plan))) == {"done": 1}
    assert nights.world.account_table.objects["a1",]["locked"] is False
    assert nights.stands == {"a2": "lock", "a3": "lock"}
    assert due(await nights.plan()) == {}
    nights.verified()


@pytest.mark.parametrize("release", [True, False])
async def test_what_a_last_step_deleted_is_not_released_whatever_stands_there_by_then(tmp_path, release):
    """A deletion is the end, also where the source still lists the object; and so is the end without a release."""
    world = Orphans()
    steps = steps_of(world) if release else steps_of(world)[:2]
    nights = Nights(tmp_path, world, steps=steps, release=release)
    before = dict(world.account_table.objects["a1",])
    for _ in range(3):
        await nights.pass_()
        nights.later(days=14)
    world.account_table.put(before | {"owner": "p1"})
    plan = await nights.plan()
    assert due(plan) == {}
    assert ("a1",) in [each.key for each in plan.document.clocks.ended]
    nights.verified()


async def test_a_first_step_that_waits_counts_from_the_first_selection(tmp_path):
    """Nothing was done yet, so nothing is released, and the clock starts again."""
    nights = Nights(tmp_path, first_after=3 * DAY)
    assert waiting(await nights.plan()) == dict.fromkeys(ALL, "warn")
    nights.later(days=2)
    nights.world.account_table.change("a1", owner="p1")
    plan = await nights.plan()
    assert waiting(plan) == dict.fromkeys(("a2", "a3"), "warn")
    assert nights.stands == {"a2": None, "a3": None}
    nights.later(days=1)
    nights.world.account_table.change("a1", owner="gone-1")
    plan = await nights.plan()
    assert (due(plan), waiting(plan)) == ({"a2": "warn", "a3": "warn"}, {"a1": "warn"})
    assert figures(await nights.apply(nights.approve(plan))) == {"done": 2}
    nights.verified()


@pytest.mark.requirement("R37")
async def test_an_identical_plan_keeps_its_approval_while_clocks_run(nights):
    """Which step, and since when, is part of the digest; the instant of the look is not."""
    first = await nights.plan()
    nights.approve(first)
    nights.later(hours=1)
    again = await nights.plan()
    assert again.document.digest == first.document.digest
    assert again.state == "approved"
    await nights.apply(again)
    nights.later(days=14)
    lock = await nights.plan()
    moved = lock.document.rows[0].model_copy(update={"step": replace_since(lock.document.rows[0].step)})
    other = lock.document.model_copy(update={"rows": (moved, *lock.document.rows[1:])})
    assert "the content does not fit the digest of the plan" in check_document(other)


def replace_since(step):
    """Return the step with a clock that started a day earlier."""
    return step.model_copy(update={"since": step.since - timedelta(days=1)})


# -- releases ---------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R24", "R37")
async def test_an_object_that_no_longer_qualifies_is_released_by_an_approved_act(nights):
    """It stands in the plan like any other row, and starts again from the first step if it ever qualifies anew."""
    await warned(nights)
    nights.later(days=5)
    nights.world.account_table.change("a2", owner="p1")
    plan = await nights.plan()
    assert due(plan) == {"a2": RELEASE}
    assert plan.document.sums.hold
    assert nights.effects() == []
    assert nights.clocks["a2"].standing is StepStanding.LAPSED
    assert figures(await nights.apply(nights.approve(plan))) == {"done": 1}
    assert nights.effects() == [("update", "a2")]
    assert "a2" not in nights.stands
    nights.later(days=9)
    nights.world.account_table.change("a2", owner="gone-2")
    assert due(await nights.plan()) == {"a1": "lock", "a2": "warn", "a3": "lock"}
    nights.verified()


async def test_an_object_that_qualifies_again_at_the_act_is_not_released(nights):
    """The release is rechecked as well, with the opposite question."""
    await warned(nights)
    nights.world.account_table.change("a2", owner="p1")
    plan = nights.approve(await nights.plan())
    nights.world.account_table.change("a2", owner="gone-2")
    report = await nights.apply(plan)
    assert figures(report) == {"changed": 1}
    assert "qualifies again" in row(report, "a2").detail


async def test_an_object_of_which_it_is_not_known_at_the_act_is_not_released(nights):
    """Neither proven to qualify nor proven not to."""
    await warned(nights)
    nights.world.account_table.change("a2", owner="p1")
    plan = nights.approve(await nights.plan())
    nights.world.account_table.change("a2", owner=FieldState.FORBIDDEN)
    report = await nights.apply(plan)
    assert (figures(report), row(report, "a2").reason) == ({"refused": 1}, "FC767")
    assert nights.stands["a2"] == "warn"


async def test_a_release_that_nobody_approved_still_stops_the_clock(nights):
    """It had stopped to qualify: what comes after starts from the first step, however long ago the first one was."""
    await warned(nights)
    nights.world.account_table.change("a2", owner="p1")
    assert due(await nights.plan()) == {"a2": RELEASE}
    nights.later(days=30)
    nights.world.account_table.change("a2", owner="gone-2")
    plan = await nights.plan()
    assert due(plan) == {"a1": "lock", "a2": "warn", "a3": "lock"}
    assert figures(await nights.apply(nights.approve(plan))) == {"done": 3}
    nights.verified()


async def test_an_object_that_was_exempted_is_released(tmp_path):
    """Whoever answered the warning gets the object back; being on the list does not keep it from that."""
    world = Orphans(excepts=[program.Exemption("exemptions", None)])
    nights = Nights(tmp_path, world)
    await warned(nights)
    nights.lists["exemptions"] = (Exemption(("a3",), None, "ana", "still needed", date(2999, 1, 1)),)
    plan = await nights.plan()
    assert due(plan) == {"a3": RELEASE}
    assert figures(await nights.apply(nights.approve(plan))) == {"done": 1}
    assert nights.effects() == [("update", "a3")]


async def test_without_a_release_the_clock_ends_at_once(tmp_path):
    """There is nothing to take back, and nothing to approve."""
    nights = Nights(tmp_path, release=False)
    await warned(nights)
    nights.world.account_table.change("a2", owner="p1")
    plan = await nights.plan()
    assert due(plan) == {}
    assert nights.stands == {"a1": "warn", "a3": "warn"}
    assert [(e.key, e.because) for e in plan.document.clocks.ended] == [(("a2",), "no longer qualifies")]
    nights.verified()


async def test_an_object_that_is_gone_closes_its_clock(nights):
    """At the plan, or at the act if it went after the plan."""
    await warned(nights)
    nights.world.account_table.remove("a1")
    nights.later(days=14)
    plan = nights.approve(await nights.plan())
    assert due(plan) == {"a2": "lock", "a3": "lock"}
    nights.world.account_table.remove("a2")
    assert figures(await nights.apply(plan)) == {"done": 1, "already_gone": 1}
    assert nights.stands == {"a3": "lock"}
    nights.verified()


# -- crashes, undo, canary --------------------------------------------------------------------------------------------


@pytest.mark.requirement("R32", "R43")
@pytest.mark.parametrize("took_effect", [True, False])
async def test_a_step_whose_answer_was_lost_is_resolved_and_its_clock_starts_then(nights, took_effect):
    """Unknown moves nothing on; what reading finds done does, once."""
    plan = nights.approve(await nights.plan())
    nights.source.lose_answer(at=1, took_effect=took_effect)
    assert figures(await nights.apply(plan)) == {"done": 2, "unknown": 1}
    assert sorted(nights.stands.values()) == ["warn", "warn"]
    nights.later(minutes=5)
    report = await nights.apply(plan)
    assert figures(report) == {"done": 3}
    assert nights.stands == dict.fromkeys(ALL, "warn")
    assert len({clock.since for clock in nights.clocks.values()}) == 2
    assert len(nights.effects()) == 3
    nights.verified()


@pytest.mark.requirement("R32", "R43")
async def test_an_outcome_and_the_clock_that_it_moves_are_kept_together_or_not_at_all(nights, monkeypatch):
    """A run that dies between the two leaves an open intent, which the next one resolves."""
    plan = nights.approve(await nights.plan())
    with monkeypatch.context() as patched:
        patched.setattr("fullcount.runtime.store.steps.moved", dies)
        with pytest.raises(KeyError, match="died here"):
            await nights.apply(plan)
    assert {entry.outcome for entry in nights.store.ledger(plan.document.plan_id)} == {None}
    assert nights.stands == {}
    nights.later(minutes=5)
    assert figures(await nights.apply(plan)) == {"done": 3}
    assert nights.stands == dict.fromkeys(ALL, "warn")
    assert len(nights.effects()) == 3
    nights.verified()


def dies(*_):
    """Stand in for a process that ends."""
    raise KeyError("died here")


@pytest.mark.requirement("R29")
async def test_undo_takes_back_one_step_and_its_clock_starts_again(nights):
    """Not the steps before it, and never further than the plan went."""
    await warned(nights)
    nights.later(days=14)
    plan = nights.approve(await nights.plan())
    await nights.apply(plan)
    nights.later(days=3)
    report = await nights.undo(plan)
    assert figures(report) == {"done": 3}
    assert nights.stands == dict.fromkeys(ALL, "warn")
    assert not any(row["locked"] for row in nights.world.account_table.objects.values())
    assert waiting(await nights.plan()) == dict.fromkeys(ALL, "lock")
    nights.later(days=14)
    assert due(await nights.plan()) == dict.fromkeys(ALL, "lock")
    nights.verified()


async def test_undo_of_a_step_that_another_followed_is_left_alone(nights):
    """Taking back the warning of what is locked by now would leave nobody who knows where it stands."""
    first = nights.approve(await nights.plan())
    await nights.apply(first)
    nights.later(days=14)
    await nights.pass_()
    nights.effects()
    nothing = await nights.undoing(first)
    assert [(each.code, "not the last one" in each.message) for each in nothing.refusal.findings] == [("FC769", True)]
    assert nights.effects() == []
    assert nights.stands == dict.fromkeys(ALL, "lock")


async def test_undo_of_a_step_that_can_not_be_taken_back_is_refused(nights):
    """Per step: a deletion is final, whatever the other steps are."""
    await warned(nights)
    nights.later(days=14)
    await nights.pass_()
    nights.later(days=7)
    plan = nights.approve(await nights.plan())
    assert (due(plan)["a1"], final_rows(plan.document)) == ("delete", 3)
    await nights.apply(plan)
    nothing = await nights.undoing(plan)
    assert [each.code for each in nothing.refusal.findings] == ["FC768"]


async def test_a_plan_of_mixed_steps_undoes_what_it_can(nights):
    """The others are left alone one by one, and say so."""
    await warned(nights)
    nights.world.account_table.change("a2", owner="p1")
    nights.later(days=14)
    plan = nights.approve(await nights.plan())
    assert due(plan) == {"a1": "lock", "a2": RELEASE, "a3": "lock"}
    await nights.apply(plan)
    undo = await nights.to_undo(plan)
    assert left_alone(undo) == {"a2": "what its step did can't be taken back"}
    assert figures(await nights.apply(undo)) == {"done": 2}


async def test_a_canary_looks_at_each_object_as_its_own_step_left_it(tmp_path):
    """The first ones may be at different steps."""
    world = Orphans(canary=program.Canary(2, 30_000_000))
    nights = Nights(tmp_path, world)
    lease = timedelta(hours=1)  # renewed in real time, which a clock that is moved by hand outruns
    assert figures(await nights.pass_(lease_time=lease)) == {"done": 3}
    nights.world.account_table.put(nights.world.account(9))
    nights.later(days=14)
    plan = nights.approve(await nights.plan())
    assert set(due(plan).values()) == {"lock", "warn"}
    assert figures(await nights.apply(plan, lease_time=lease)) == {"done": 4}
    nights.verified()


async def test_steps_that_were_renamed_start_again(nights):
    """A clock at a step that the act no longer has says nothing of the new ones."""
    await warned(nights)
    world = nights.world
    nights.graduate(
        (program.Step("tell", setting(world, locked=False), None, 0), program.Step("drop", deleting(world), None, DAY))
    )
    nights.later(days=30)
    plan = await nights.plan()
    assert due(plan) == dict.fromkeys(ALL, "tell")
    assert figures(await nights.apply(nights.approve(plan))) == {"done": 3}
    assert Outcome.DONE in {entry.outcome for entry in nights.store.ledger(plan.document.plan_id)}
    nights.verified()


async def test_a_step_that_was_struck_is_not_taken_and_is_due_again_the_next_night(nights):
    """A reviewer may leave an object out; its clock is not touched by that."""
    await warned(nights)
    nights.later(days=14)
    plan = await nights.plan()
    left = strike(nights.store, plan, nights.world.workflow.approvals[0], ROLES, ANA, [("a2",)], "ask first")
    assert due(left) == {"a1": "lock", "a3": "lock"}
    assert figures(await nights.apply(nights.approve(left))) == {"done": 2}
    assert nights.stands == {"a1": "lock", "a2": "warn", "a3": "lock"}
    nights.later(days=1)
    assert due(await nights.plan()) == {"a2": "lock"}
    nights.verified()

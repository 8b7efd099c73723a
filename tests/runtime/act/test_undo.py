"""Undoing: what was done is taken back, last first; what anybody did after it is left alone; twice equals once."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.support.acting import Orphans
from tests.support.applying import BO, Stage, figures, row

from fullcount.runtime.connectors.base import Existence, Outcome, Reading, SourceError
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness
from fullcount.runtime.exit_codes import Exit


def locked(stage: Stage) -> set[str]:
    """Return the accounts that are locked in the target system."""
    return {key[0] for key, account in stage.world.account_table.objects.items() if account["locked"]}


async def applied(tmp_path, **world):
    """Return a stage whose plan was applied."""
    stage = Stage(tmp_path, Orphans(**world))
    plan = await stage.approved()
    await stage.apply(plan)
    return stage, plan


@pytest.mark.requirement("R28", "R39")
async def test_what_can_not_be_taken_back_is_refused_and_nothing_is_written(tmp_path):
    """A deletion without an `undo` says so."""
    stage, plan = await applied(tmp_path, operation="delete")
    effects = list(stage.source.effects)
    report = await stage.undo(plan)
    assert (report.exit, report.stopped_by.code) == (Exit.REFUSED_BY_POLICY, "FC768")
    assert stage.source.effects == effects


async def test_a_plan_that_was_never_applied_has_nothing_to_undo(tmp_path):
    """Nothing was done, so nothing is taken back."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    report = await stage.undo(plan)
    assert (report.exit, report.repeated, report.candidates) == (Exit.DONE, True, 0)
    assert stage.source.effects == []


@pytest.mark.requirement("R29")
async def test_undo_takes_back_what_was_done_last_first(tmp_path):
    """Each object that was done is brought back, in reverse order, long after the approval has expired."""
    stage, plan = await applied(tmp_path, concurrency=1)
    stage.world.clock.advance(30 * 86_400)
    report = await stage.undo(plan)
    assert figures(report) == {"done": 3}
    assert report.exit is Exit.DONE
    assert locked(stage) == set()
    undone = [key for operation, key in stage.source.effects[3:]]
    assert undone == [("a3",), ("a2",), ("a1",)]


@pytest.mark.requirement("R29", "R30")
async def test_a_second_undo_does_nothing(tmp_path):
    """Undoing twice equals undoing once."""
    stage, plan = await applied(tmp_path)
    await stage.undo(plan)
    calls, head = len(stage.source.calls), stage.store.head()
    report = await stage.undo(plan)
    assert (report.exit, report.repeated, figures(report)) == (Exit.DONE, True, {"done": 3})
    assert (len(stage.source.calls), stage.store.head()) == (calls, head)


async def test_only_what_was_done_is_taken_back(tmp_path):
    """Objects that the plan left alone are left alone by the undo too."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    stage.world.account_table.change("a1", last_login=stage.world.clock.start, locked=True)
    await stage.apply(plan)
    report = await stage.undo(plan)
    assert (report.candidates, figures(report)) == (2, {"done": 2})
    assert locked(stage) == {"a1"}


@pytest.mark.requirement("R22")
async def test_what_others_did_since_is_not_touched(tmp_path):
    """Unlocked by hand, recreated, or gone: each is left as it is and said so."""
    stage, plan = await applied(tmp_path, accounts=4)
    world = stage.world
    world.account_table.change("a1", locked=False)
    world.account_table.put(world.account(2, uuid="uuid-new", locked=True))
    world.account_table.remove("a3")
    report = await stage.undo(plan)
    assert figures(report) == {"done": 1, "changed": 2, "already_gone": 1}
    assert row(report, "a1").reason == "FC769"
    assert "`uuid`" in row(report, "a2").detail
    assert locked(stage) == {"a2"}


@pytest.mark.requirement("R22")
async def test_a_change_of_any_field_since_the_act_leaves_the_object_as_it_is(tmp_path):
    """Who put their own hold on the account after the act does not lose it to an undo."""
    stage, plan = await applied(tmp_path, accounts=2)
    stage.world.account_table.change("a1", owner="security hold")
    report = await stage.undo(plan)
    assert figures(report) == {"done": 1, "changed": 1}
    assert "`owner`" in row(report, "a1").detail
    assert "a1" in locked(stage)


@pytest.mark.requirement("R22")
async def test_a_version_that_moved_on_since_the_act_leaves_the_object_as_it_is(tmp_path):
    """Unlocked and locked again on purpose: the value is the act's, the decision is somebody else's."""
    stage, plan = await applied(tmp_path, accounts=2)
    version = stage.world.account_table.objects[("a1",)]["version"]
    stage.world.account_table.change("a1", version=version + 2)
    report = await stage.undo(plan)
    assert figures(report) == {"done": 1, "changed": 1}
    assert "a1" in locked(stage)


async def test_an_outage_leaves_the_undo_for_later(tmp_path):
    """What could not be read is not given up: the next undo takes it back."""
    stage, plan = await applied(tmp_path)
    stage.source.on(
        "read",
        at=stage.source.count_of("read") + 1,
        do=SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE)),
    )
    stage.source.on("read", at=stage.source.count_of("read") + 2, do=Reading(Existence.UNKNOWN))
    report = await stage.undo(plan)
    assert figures(report) == {"done": 1, "not_started": 2}
    assert report.exit is Exit.ERROR
    assert any("SOURCE_UNAVAILABLE" in each.detail for each in report.rows)
    assert figures(await stage.undo(plan)) == {"done": 3}
    assert locked(stage) == set()


@pytest.mark.requirement("R32")
@pytest.mark.parametrize("took_effect", [True, False])
async def test_a_lost_answer_of_an_undo_is_resolved_by_reading(tmp_path, took_effect):
    """Undoing again reads what became of it, and takes back once in any case."""
    stage, plan = await applied(tmp_path)
    stage.source.lose_answer(at=5, took_effect=took_effect)
    report = await stage.undo(plan)
    assert figures(report) == {"done": 2, "unknown": 1}
    assert figures(await stage.undo(plan)) == {"done": 3}
    assert len(stage.source.effects) == 6
    assert locked(stage) == set()


@pytest.mark.requirement("R24")
async def test_an_undo_is_a_write_and_stops_at_a_halt_another_target_and_a_held_lease(tmp_path):
    """The kill switch, the target's identity and the lease hold for undoing too."""
    stage, plan = await applied(tmp_path)
    effects = list(stage.source.effects)
    stage.store.halt("incident", BO)
    assert (await stage.undo(plan)).stopped_by.code == "FC722"
    stage.store.resume(BO)
    facts, stage.source.facts = stage.source.facts, {"target.system": "fake://staging"}
    assert (await stage.undo(plan)).stopped_by.code == "FC758"
    stage.source.facts = facts
    fence = stage.store.claim_plan(plan.document.plan_id, "other host", timedelta(seconds=30))
    assert (await stage.undo(plan)).stopped_by.code == "FC720"
    stage.store.release(fence)
    assert stage.source.effects == effects
    assert figures(await stage.undo(plan)) == {"done": 3}


@pytest.mark.requirement("R29")
async def test_an_undo_has_keys_of_its_own(tmp_path):
    """Doing and undoing one object are two acts."""
    stage, plan = await applied(tmp_path)
    await stage.undo(plan)
    assert len(stage.source.performed) == 6


async def test_the_outcome_of_the_plan_stays_what_it_was(tmp_path):
    """Undoing adds to the record and changes nothing in it: the plan still says what was done."""
    stage, plan = await applied(tmp_path)
    await stage.undo(plan)
    assert stage.store.counts(plan.document.plan_id)[Outcome.DONE] == 3

"""Undoing: a plan of its own, approved by itself; last first; what anybody did after the act is left alone."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.support.acting import Orphans
from tests.support.applying import ANA, BO, ROLES, Stage, figures, left_alone, row
from tests.support.older import undone_at_once

from fullcount.compiler.program import Stop
from fullcount.runtime.approve import approvals
from fullcount.runtime.connectors.base import ActResult, Existence, Outcome, Reading, SourceError
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness
from fullcount.runtime.evidence.refusal import Ground
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.journal.verify import verify
from fullcount.runtime.plan.digest import sealed
from fullcount.runtime.plan.layout import to_text
from fullcount.runtime.plan.text_outcome import NOT_UNDONE, render_refusal
from fullcount.runtime.store.errors import ApprovalRefused, UndoRefused
from fullcount.runtime.store.views import ActKind, PlanState, StoredPlan
from fullcount.runtime.undo_plans import NothingToUndo


def locked(stage: Stage) -> set[str]:
    """Return the accounts that are locked in the target system."""
    return {key[0] for key, account in stage.world.account_table.objects.items() if account["locked"]}


def codes(nothing: StoredPlan | NothingToUndo) -> set[str]:
    """Return why nothing can be taken back."""
    assert isinstance(nothing, NothingToUndo)
    return set() if nothing.refusal is None else {finding.code for finding in nothing.refusal.findings}


async def applied(tmp_path, **world):
    """Return a stage whose plan was applied."""
    stage = Stage(tmp_path, Orphans(**world))
    plan = await stage.approved()
    await stage.apply(plan)
    return stage, plan


async def refused(stage: Stage, undo: StoredPlan, code: str) -> None:
    """Apply an undo: this forbids it, and nothing is written."""
    effects = list(stage.source.effects)
    report = await stage.apply(undo)
    assert report.stopped_by is not None
    assert (report.stopped_by.code, stage.source.effects) == (code, effects)
    assert set(figures(report)) == {"not_started"}


# -- what must be refused ---------------------------------------------------------------------------------------------


@pytest.mark.requirement("R24")
async def test_an_undo_that_nobody_approved_is_not_applied(tmp_path):
    """The approval of the act is of the act: it stands, and carries nothing back."""
    stage, plan = await applied(tmp_path)
    undo = await stage.undoing(plan)
    assert undo.document.digest != plan.document.digest
    await refused(stage, undo, "FC707")
    with pytest.raises(ApprovalRefused) as error:
        approvals.give(stage.store, undo, stage.world.workflow.approvals[0], ROLES, ANA, digest=plan.document.digest)
    assert error.value.code == "FC704"
    await refused(stage, undo, "FC707")


@pytest.mark.requirement("R24")
async def test_an_approval_that_was_taken_back_or_ran_out_carries_no_undo(tmp_path):
    """As of any other plan; and one that is too old can't be approved any more."""
    stage, plan = await applied(tmp_path)
    undo = await stage.to_undo(plan)
    stage.store.revoke_approval(undo.document.plan_id, BO, "wait")
    await refused(stage, undo, "FC709")
    stage.approve(undo, BO)
    stage.world.clock.advance(4 * 86_400)
    await refused(stage, undo, "FC801")
    with pytest.raises(ApprovalRefused) as error:
        stage.approve(undo)
    assert error.value.code == "FC801"
    assert verify(stage.store).problems == ()


@pytest.mark.requirement("R24")
async def test_an_approval_lives_no_longer_than_the_undo(tmp_path):
    """Who agrees late agrees for what is left."""
    stage, plan = await applied(tmp_path)
    undo = await stage.undoing(plan)
    stage.world.clock.advance(2 * 86_400)
    stage.approve(undo)
    assert stage.store.approval_round(undo.document.plan_id).expires_at == undo.document.undo.valid_until


@pytest.mark.requirement("R24")
async def test_an_undo_is_a_write_and_stops_at_a_halt_another_target_another_version_and_a_held_lease(tmp_path):
    """The kill switch, the target's identity, the software and the lease on what was done hold for undoing too."""
    stage, plan = await applied(tmp_path)
    undo = await stage.to_undo(plan)
    stage.store.halt("incident", BO)
    await refused(stage, undo, "FC722")
    stage.store.resume(BO)
    facts, stage.source.facts = stage.source.facts, {"target.system": "fake://staging"}
    await refused(stage, undo, "FC758")
    assert codes(await stage.undoing(plan)) == {"FC758"}
    stage.source.facts = facts
    stage.versions["engine"] = "9"
    await refused(stage, undo, "FC756")
    stage.versions["engine"] = undo.document.engine_version
    fence = stage.store.claim_plan(plan.document.plan_id, "other host", timedelta(seconds=30))
    await refused(stage, undo, "FC720")
    stage.store.release(fence)
    assert figures(await stage.apply(undo)) == {"done": 3}


@pytest.mark.requirement("R24")
async def test_whose_role_is_taken_away_no_longer_counts(tmp_path):
    """Roles are read again before each object is taken back."""
    stage, plan = await applied(tmp_path)
    undo = await stage.to_undo(plan)
    stage.roles = {"iam-admin": ("uid:70002",)}
    await refused(stage, undo, "FC779")


@pytest.mark.requirement("R28", "R39")
async def test_what_can_not_be_taken_back_is_no_plan(tmp_path):
    """A deletion without an `undo` says so; what was never done is nothing to take back."""
    stage, plan = await applied(tmp_path, operation="delete")
    nothing = await stage.undoing(plan)
    assert (codes(nothing), nothing.exit) == ({"FC768"}, Exit.REFUSED_BY_POLICY)
    told = render_refusal("retire", [nothing.refusal], [], at=stage.store.now(), meaning=NOT_UNDONE)
    assert to_text(told).startswith("NOT UNDONE")  # no rule of the workspace forbids it
    stage.store.close()
    (tmp_path / "other").mkdir()
    stage = Stage(tmp_path / "other")
    assert await stage.undoing(await stage.approved()) == NothingToUndo(Exit.DONE)


async def test_an_undo_is_not_undone(tmp_path):
    """What it took back is acted on again by a new plan, with everything that an act needs."""
    stage, plan = await applied(tmp_path)
    undo = await stage.to_undo(plan)
    await stage.apply(undo)
    run_id = stage.store.begin_run(plan.document.workflow, "plan", BO)
    twice = undo.document.undo.model_copy(update={"plan_id": undo.document.plan_id})
    document = undo.document.model_copy(update={"undo": twice, "run_id": run_id, "plan_id": "01" + "Z" * 24})
    with pytest.raises(UndoRefused) as error:
        stage.store.save_plan(sealed(document))
    assert error.value.code == "FC800"


@pytest.mark.requirement("R29", "R32")
@pytest.mark.parametrize(("took_effect", "figure"), [(False, "done"), (True, None)])
async def test_an_undo_that_an_older_version_left_open_is_refused_until_somebody_says_what_came_of_it(
    tmp_path, took_effect, figure
):
    """No apply finds it out: the command that helps is named, also when that undo can't arrive any more."""
    stage = Stage(tmp_path, Orphans(accounts=1))
    plan = await stage.approved()
    assert figures(await stage.apply(plan)) == {"done": 1}
    early, plan_id = await stage.to_undo(plan), plan.document.plan_id
    run_id = stage.store.begin_run(plan.document.workflow, "undo", BO, plan_id=plan_id)
    fence = stage.store.claim_plan(plan_id, run_id, timedelta(minutes=5))
    undone_at_once(stage.store, plan_id, run_id, fence, "a1", ended=False)
    stage.store.finish_run(run_id, "stopped", Exit.ERROR, {})
    stage.store.release(fence)
    help_ = f"fullcount settle {plan_id} a1 --took-effect --because WHY (or --no-effect)"
    for days in (0, 2):  # the second time it is too long ago to arrive
        stage.world.clock.advance(days * 86_400)
        nothing = await stage.undoing(plan)
        assert (codes(nothing), nothing.exit) == ({"FC770"}, Exit.ERROR)
        assert help_ in nothing.refusal.findings[0].message
    report = await stage.apply(early)  # one that was approved before
    assert (figures(report), stage.source.effects) == ({"not_started": 1}, [("update", ("a1",))])
    assert help_ in row(report, "a1").detail
    declared = stage.world.workflow.approvals[0]
    approvals.settle(
        stage.store, plan, declared, ROLES, ANA, [("a1",)], took_effect=took_effect, because="looked at it"
    )
    undo = await stage.undoing(plan)
    assert isinstance(undo, NothingToUndo) is took_effect
    if figure is not None:
        assert figures(await stage.apply(stage.approve(undo))) == {figure: 1}


@pytest.mark.requirement("R25")
@pytest.mark.parametrize("smaller_first", [True, False])
async def test_a_smaller_undo_replaces_no_larger_one_and_each_object_is_taken_back_once(tmp_path, smaller_first):
    """Nor is an approval lost to it; two that overlap may be applied in either order."""
    stage, plan = await applied(tmp_path)
    larger = await stage.to_undo(plan)
    smaller = await stage.to_undo(plan, frozenset({("a2",)}))
    both = [stage.store.load_plan(each.document.plan_id).state for each in (larger, smaller)]
    assert both == [PlanState.APPROVED, PlanState.APPROVED]
    assert stage.store.replaced_by(smaller.document.plan_id) == ()
    assert verify(stage.store).problems == ()
    order = [smaller, larger] if smaller_first else [larger, smaller]
    reports = [await stage.apply(each) for each in order]
    assert [figures(each).get("done", 0) for each in reports] == ([1, 2] if smaller_first else [3, 0])
    (again,) = (row for row in reports[1].rows if row.key == ("a2",))
    assert (again.outcome, again.detail) == (Outcome.CHANGED, f"taken back before, by `{order[0].document.plan_id}`")
    assert sorted(key for _, key in stage.source.effects[3:]) == [("a1",), ("a2",), ("a3",)]
    assert locked(stage) == set()
    assert verify(stage.store).problems == ()


@pytest.mark.requirement("R25")
async def test_a_second_undo_of_all_its_objects_replaces_the_first(tmp_path):
    """With its approval; one of other objects stands beside it, and so does the plan of the next night."""
    stage, plan = await applied(tmp_path)
    first = await stage.to_undo(plan, frozenset({("a2",)}))
    other = await stage.to_undo(plan, frozenset({("a3",)}))
    second = await stage.to_undo(plan, frozenset({("a1",), ("a2",)}))
    assert stage.store.replaced_by(second.document.plan_id) == (first.document.plan_id,)
    stage.world.account_table.put(stage.world.account(4))
    night = await stage.plan()
    states = [stage.store.load_plan(each.document.plan_id).state for each in (first, other, second, night)]
    assert states == [PlanState.SUPERSEDED, PlanState.APPROVED, PlanState.APPROVED, PlanState.WAITING]
    await refused(stage, first, "FC710")
    assert figures(await stage.apply(other)) == {"done": 1}
    assert figures(await stage.apply(second)) == {"done": 2}
    assert verify(stage.store).problems == ()


# -- what is taken back -----------------------------------------------------------------------------------------------


@pytest.mark.requirement("R29", "R34")
async def test_undo_takes_back_what_was_done_last_first(tmp_path):
    """Each object that was done is brought back, in reverse order, long after the act's approval has expired."""
    stage, plan = await applied(tmp_path, concurrency=1)
    stage.world.clock.advance(30 * 86_400)
    report = await stage.undo(plan)
    assert (figures(report), report.exit) == ({"done": 3}, Exit.DONE)
    assert locked(stage) == set()
    undone = [key for operation, key in stage.source.effects[3:]]
    assert undone == [("a3",), ("a2",), ("a1",)]
    assert len(stage.source.performed) == 6, "doing and undoing one object are two acts, each with a key"
    assert stage.store.counts(plan.document.plan_id)[Outcome.DONE] == 3, "the plan still says what was done"
    assert verify(stage.store).problems == ()


@pytest.mark.requirement("R29", "R30")
async def test_an_undo_is_applied_once_and_what_was_taken_back_is_not_planned_again(tmp_path):
    """Twice equals once, and planning to undo again says that there is nothing."""
    stage, plan = await applied(tmp_path)
    undo = await stage.to_undo(plan)
    await stage.apply(undo)
    calls, head = len(stage.source.calls), stage.store.head()
    report = await stage.apply(undo)
    assert (report.exit, report.repeated, figures(report)) == (Exit.DONE, True, {"done": 3})
    assert (len(stage.source.calls), stage.store.head()) == (calls, head)
    assert await stage.undoing(plan) == NothingToUndo(Exit.DONE)


async def test_an_undo_is_of_what_was_done_and_says_how_it_stands(tmp_path):
    """It has what the reviewer needs: the act, the call that takes it back, and the state as the act left it."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    stage.world.account_table.change("a1", last_login=stage.world.clock.start, locked=True)
    await stage.apply(plan)
    undo = (await stage.undoing(plan)).document
    assert (undo.undo.plan_id, undo.undo.plan_digest) == (plan.document.plan_id, plan.document.digest)
    acts = {entry.object_key: entry.act_id for entry in stage.store.ledger(plan.document.plan_id)}
    assert {each.key: each.undo.act_id for each in undo.rows} == {key: acts[key] for key in [("a2",), ("a3",)]}
    assert all(each.undo.left["locked"].value is True and each.arguments["locked"] is False for each in undo.rows)
    assert (undo.sums.inventory, undo.caps.exceeded, undo.certificates) == (2, False, ())
    assert undo.created_by == undo.undo.by == BO.principal
    assert {plan.document.created_by, *plan.document.authors} <= set(undo.authors)


@pytest.mark.requirement("R22")
async def test_what_others_did_since_is_not_touched(tmp_path):
    """Unlocked by hand, recreated, or gone: each is left as it is, and the undo says so before anybody approves it."""
    stage, plan = await applied(tmp_path, accounts=6)
    world = stage.world
    version = world.account_table.objects[("a6",)]["version"]
    world.account_table.change("a1", locked=False)
    world.account_table.put(world.account(2, uuid="uuid-new", locked=True))
    world.account_table.remove("a3")
    world.account_table.change("a5", owner="security hold")
    world.account_table.change("a6", version=version + 2)
    undo = await stage.to_undo(plan)
    assert {each.key for each in undo.document.rows} == {("a4",)}
    why = left_alone(undo)
    words = {"a1": "`locked`", "a2": "`uuid`", "a3": "no longer there", "a5": "`owner`", "a6": "`version`"}
    assert {key: word for key, word in words.items() if word in why[key]} == words
    assert figures(await stage.apply(undo)) == {"done": 1}
    assert locked(stage) == {"a2", "a5", "a6"}
    nothing = await stage.undoing(plan)
    assert (codes(nothing), nothing.exit) == ({"FC769"}, Exit.REFUSED_BY_POLICY)


@pytest.mark.requirement("R22", "R36")
async def test_what_changes_between_the_undo_and_its_apply_is_left_and_told(tmp_path):
    """Also a version that moved and came to the same values: somebody decided, after what was approved."""
    stage, plan = await applied(tmp_path, accounts=4)
    undo = await stage.to_undo(plan)
    table = stage.world.account_table
    table.change("a1", locked=False)
    table.change("a2", owner="security hold")
    table.remove("a3")
    report = await stage.apply(undo)
    assert figures(report) == {"done": 1, "changed": 2, "already_gone": 1}
    assert {row(report, key).reason for key in ("a1", "a2")} == {"FC769"}
    assert "a2" in locked(stage)
    assert verify(stage.store).problems == ()


async def test_an_outage_leaves_objects_for_later(tmp_path):
    """What could not be read is no candidate, and told; what can't be read at the apply is not given up."""
    stage, plan = await applied(tmp_path)
    down = SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE))
    stage.source.on("read", at=stage.source.count_of("read") + 1, do=down)
    stage.source.on("read", at=stage.source.count_of("read") + 2, do=Reading(Existence.UNKNOWN))
    undo = await stage.undoing(plan)
    assert (undo.document.sums.candidates, undo.document.sums.undecided) == (1, 2)
    undo = await stage.to_undo(plan)
    stage.source.on("read", at=stage.source.count_of("read") + 1, do=down)
    report = await stage.apply(undo)
    assert (figures(report), report.exit) == ({"done": 2, "not_started": 1}, Exit.ERROR)
    assert any("SOURCE_UNAVAILABLE" in each.detail for each in report.rows)
    assert figures(await stage.apply(undo)) == {"done": 3}
    assert locked(stage) == set()


@pytest.mark.requirement("R32")
@pytest.mark.parametrize("took_effect", [True, False])
async def test_a_lost_answer_of_an_undo_is_resolved_by_reading(tmp_path, took_effect):
    """Applying it again reads what became of it, and takes back once in any case; a second undo waits for that."""
    stage, plan = await applied(tmp_path)
    stage.source.lose_answer(at=5, took_effect=took_effect)
    undo = await stage.to_undo(plan)
    assert figures(await stage.apply(undo)) == {"done": 2, "unknown": 1}
    nothing = await stage.undoing(plan)
    assert (codes(nothing), nothing.exit) == ({"FC770"}, Exit.ERROR)
    (finding,) = nothing.refusal.findings
    assert (nothing.refusal.ground, f"fullcount apply {undo.document.plan_id}" in finding.ways_on[0]) == (
        Ground.EVIDENCE,
        True,
    )
    assert figures(await stage.apply(undo)) == {"done": 3}
    assert len(stage.source.effects) == 6
    assert locked(stage) == set()
    assert verify(stage.store).problems == ()


@pytest.mark.requirement("R9")
@pytest.mark.parametrize("silent", ["one object", "the source"])
async def test_what_the_source_does_not_tell_is_refused_by_no_policy_and_leads_in_no_circle(tmp_path, silent):
    """Nothing is open, so no apply of the plan finds anything out: somebody has to look, or to ask again later."""
    stage, plan = await applied(tmp_path, accounts=1)
    unavailable = SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE, detail="down"))
    method = "read" if silent == "one object" else "identity"
    stage.source.on(method, at=None, do=unavailable)
    nothing = await stage.undoing(plan)
    assert (nothing.refusal.ground, nothing.exit) == (Ground.EVIDENCE, Exit.ERROR)
    ways = [way for finding in nothing.refusal.findings for way in finding.ways_on]
    assert len(ways) > 0
    assert not any("fullcount apply" in way for way in ways)


@pytest.mark.requirement("R32")
async def test_an_act_of_unknown_outcome_is_told_and_not_taken_back(tmp_path):
    """Nobody takes back what nobody knows to have been done."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    stage.source.lose_answer(at=2, took_effect=True)
    assert figures(await stage.apply(plan)) == {"done": 2, "unknown": 1}
    undo = await stage.to_undo(plan)
    assert [(each.key, each.missing) for each in undo.document.undecided] == [
        (("a2",), ("nobody knows yet whether its act took effect",))
    ]
    assert figures(await stage.apply(undo)) == {"done": 2}
    assert len(stage.store.ledger(undo.document.plan_id, kind=ActKind.UNDO)) == 2


@pytest.mark.requirement("R24", "R32")
async def test_what_an_undo_left_open_is_not_looked_for_in_another_system(tmp_path):
    """Not even where something else forbids it as well: what is read there would tell nothing of this."""
    stage, plan = await applied(tmp_path)
    undo = await stage.to_undo(plan)
    stage.source.lose_answer(at=stage.source.count_of("perform") + 1, took_effect=True)
    assert figures(await stage.apply(undo))["unknown"] == 1
    stage.store.halt("incident", BO)
    stage.source.facts = {"target.system": "fake://staging"}
    before = stage.store.ledger(undo.document.plan_id, kind=ActKind.UNDO)
    await stage.apply(undo)
    assert stage.store.ledger(undo.document.plan_id, kind=ActKind.UNDO) == before


async def test_the_stop_rule_of_an_undo_counts_over_all_its_runs(tmp_path):
    """What failed stays failed: beginning again must not allow as many failures once more."""
    stage, plan = await applied(tmp_path, accounts=10, stop=Stop(3, None))
    undo = await stage.to_undo(plan)
    stage.source.on("perform", at=None, do=ActResult(Outcome.FAILED, None, "no"))
    report = await stage.apply(undo)
    assert figures(report) == {"failed": 3, "not_started": 7}
    calls = stage.source.count_of("perform")
    assert figures(await stage.apply(undo)) == {"failed": 3, "not_started": 7}
    assert stage.source.count_of("perform") == calls

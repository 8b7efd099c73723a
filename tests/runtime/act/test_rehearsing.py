"""`rehearse restore`: the rest of a plan waits until one object was restored, found as it was, and acted on again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.support.acting import DAY, Orphans
from tests.support.applying import Stage, figures, row

from fullcount.compiler.program import Canary
from fullcount.runtime.connectors.base import ActResult, Outcome, SourceError
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.journal.verify import verify
from fullcount.runtime.store.errors import LedgerRefused
from fullcount.runtime.store.views import ActKind, Intent

pytestmark = pytest.mark.requirement("R28", "R29")

WAIT = 15
DOWN = SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE, detail="connection refused"))


def stage_of(tmp_path, **changes: Any) -> Stage:
    """Return a clean-up of four accounts, whose first two are a canary that rehearses its restore."""
    deleting = {"operation": "delete", "backup": 30 * DAY} | changes
    world = Orphans(accounts=4, canary=Canary(2, WAIT * 60_000_000), concurrency=1, **deleting)
    (act,) = world.workflow.acts
    world.workflow = replace(world.workflow, acts=(replace(act, rehearse=True),))
    return Stage(tmp_path, world)


def updating(tmp_path) -> Stage:
    """Return one that sets a field, and sets it back to undo that."""
    return stage_of(tmp_path, operation="update", backup=None)


async def waited(stage: Stage):
    """Return a plan whose canary was acted on and whose wait is over."""
    plan = await stage.approved()
    assert figures(await stage.apply(plan)) == {"done": 2, "not_started": 2}
    stage.world.clock.advance(WAIT * 60)
    return plan


def problems(stage: Stage) -> list[str]:
    return [str(found) for found in verify(stage.store, stage.snapshots, backups=stage.backups).problems]


def rehearsed(stage: Stage, plan) -> dict[str, Any]:
    """Return what the ledger holds of the rehearsal: outcomes by kind."""
    kinds = (ActKind.REHEARSE_UNDO, ActKind.REHEARSE_AGAIN)
    entries = {kind: stage.store.ledger(plan.document.plan_id, kind=kind) for kind in kinds}
    return {kind.value.removeprefix("rehearse_"): e.outcome for kind, found in entries.items() for e in found}


async def stopped(stage: Stage, plan, said: str, **counts: int) -> None:
    """Apply twice: it stops each time, for this reason, and nothing further is acted on."""
    for _ in range(2):
        report = await stage.apply(plan)
        assert (report.exit, report.stopped_by.code) == (Exit.ERROR, "FC794")
        assert said in report.stopped_by.message
        assert figures(report) == counts | {"not_started": 2}
        assert stage.store.canary(plan.document.plan_id).passed_at is None
    assert problems(stage) == []


async def test_an_object_that_comes_back_as_another_stops_the_plan(tmp_path):
    """The record says which field differs; the object stays restored, counts as refused, and can't be undone."""
    stage = stage_of(tmp_path)
    plan = await waited(stage)
    table = stage.world.account_table
    stage.source.on("read", at=stage.source.count_of("read") + 4, do=lambda: table.change("a1", owner="someone"))
    await stopped(stage, plan, "`owner` differs", done=1, refused=1)
    assert rehearsed(stage, plan) == {"undo": Outcome.DONE, "again": Outcome.REFUSED}
    assert set(table.objects) == {("a1",), ("a3",), ("a4",)}
    report = await stage.undo(plan)
    assert (figures(report), report.candidates) == ({"done": 1}, 1)
    assert problems(stage) == []


async def test_a_restore_that_fails_stops_the_plan(tmp_path):
    """The object is as the act left it, so that it counts as done."""
    stage = stage_of(tmp_path)
    plan = await waited(stage)
    nth = stage.source.count_of("perform") + 1
    stage.source.on("perform", at=nth, do=ActResult(Outcome.FAILED, detail="permission denied"))
    await stopped(stage, plan, "a1 was not restored, it ended as failed: permission denied", done=2)
    assert rehearsed(stage, plan) == {"undo": Outcome.FAILED}


async def test_an_act_that_fails_the_second_time_stops_the_plan(tmp_path):
    """It is restored, and counts as what its last act came to."""
    stage = stage_of(tmp_path)
    plan = await waited(stage)
    nth = stage.source.count_of("perform") + 2
    stage.source.on("perform", at=nth, do=ActResult(Outcome.FAILED, detail="locked"))
    await stopped(stage, plan, "a1 was not acted on again, it ended as failed: locked", done=1, failed=1)


async def test_a_restored_object_that_can_not_be_read_is_looked_at_again_later(tmp_path):
    """Restored and not acted on again it is not started; then the rehearsal goes on where it stood."""
    stage = stage_of(tmp_path)
    plan = await waited(stage)
    stage.source.on("read", at=stage.source.count_of("read") + 4, do=DOWN)
    report = await stage.apply(plan)
    assert (report.stopped_by.code, figures(report)) == ("FC794", {"done": 1, "not_started": 3})
    assert problems(stage) == []
    assert figures(await stage.apply(plan)) == {"done": 4}
    assert [key for name, key in stage.source.effects if name == "restore"] == [("a1",)]


async def test_nothing_is_restored_that_may_not_be_acted_on_again(tmp_path):
    """A pause ends the run before the restore."""
    stage = stage_of(tmp_path)
    plan = await waited(stage)
    stage.store.pause(plan.document.workflow, "the directory moves", stage.context(plan).person)
    assert (await stage.apply(plan)).stopped_by.code == "FC785"
    assert rehearsed(stage, plan) == {}


@pytest.mark.parametrize("make", [stage_of, updating])
async def test_the_rest_is_done_once_one_object_was_restored_and_acted_on_again(tmp_path, make):
    """Each with a key of its own; the sums count the object once, and all of it can be taken back."""
    stage = make(tmp_path)
    before = {key: dict(account) for key, account in stage.world.account_table.objects.items()}
    plan = await waited(stage)
    assert plan.document.act["rehearse"] == "one of the canary is restored and compared before the rest"
    report = await stage.apply(plan)
    assert (figures(report), report.exit) == ({"done": 4}, Exit.DONE)
    assert rehearsed(stage, plan) == {"undo": Outcome.DONE, "again": Outcome.DONE}
    assert [key for _, key in stage.source.effects] == [(f"a{n}",) for n in (1, 2, 1, 1, 3, 4)]
    keys = {e.idempotency_key for kind in ActKind for e in stage.store.ledger(plan.document.plan_id, kind=kind)}
    assert len(keys) == 6
    assert problems(stage) == []
    assert figures(await stage.undo(plan)) == {"done": 4}
    after = stage.world.account_table.objects
    versions = {key: account.pop("version") for key, account in before.items()}
    assert {key: {n: v for n, v in a.items() if n != "version"} for key, a in after.items()} == before
    assert len(versions) == 4
    assert problems(stage) == []


@pytest.mark.parametrize("took_effect", [True, False])
@pytest.mark.parametrize("nth", [1, 2])
async def test_an_answer_that_was_lost_is_resolved_by_reading(tmp_path, nth, took_effect):
    """Of the restore, and of the act after it: each has one effect, whatever the lost call did."""
    stage = stage_of(tmp_path)
    plan = await waited(stage)
    stage.source.lose_answer(at=stage.source.count_of("perform") + nth, took_effect=took_effect)
    report = await stage.apply(plan)
    assert (report.stopped_by.code, figures(report)) == ("FC794", {"done": 1, "unknown": 1, "not_started": 2})
    assert problems(stage) == []
    assert figures(await stage.apply(plan)) == {"done": 4}
    assert [key for _, key in stage.source.effects] == [(f"a{n}",) for n in (1, 2, 1, 1, 3, 4)]
    assert problems(stage) == []


async def test_what_was_left_open_is_resolved_even_when_nothing_may_be_acted_on(tmp_path):
    """Reading is not acting."""
    stage = stage_of(tmp_path)
    plan = await waited(stage)
    stage.source.lose_answer(at=stage.source.count_of("perform") + 1, took_effect=True)
    await stage.apply(plan)
    stage.store.revoke_approval(plan.document.plan_id, stage.context(plan).person, "not so fast")
    report = await stage.apply(plan)
    assert (report.stopped_by.code, figures(report)) == ("FC709", {"done": 1, "not_started": 3})
    assert row(report, "a1").outcome is Outcome.NOT_STARTED
    assert rehearsed(stage, plan) == {"undo": Outcome.DONE}


async def test_the_store_lets_no_rehearsal_through_that_is_out_of_place(tmp_path):
    """Not before the canary waits, not of another object, and no act again of what was not restored."""
    stage = stage_of(tmp_path)
    plan = await waited(stage)
    store, plan_id = stage.store, plan.document.plan_id
    run_id = store.begin_run(plan.document.workflow, "apply", stage.context(plan).person, plan_id=plan_id)
    fence = store.claim_plan(plan_id, "x", stage.context(plan).lease_time)
    store.begin_apply(plan_id, run_id, fence)
    again, restore = Intent(("a1",), "fake.accounts.delete"), Intent(("a1",), "fake.accounts.restore")
    with pytest.raises(LedgerRefused, match="was not restored"):
        store.record_intents(plan_id, run_id, fence, [again], kind=ActKind.REHEARSE_AGAIN)
    with pytest.raises(LedgerRefused, match="was not acted upon"):
        store.record_intents(plan_id, run_id, fence, [replace(restore, object_key=("a3",))], kind=ActKind.REHEARSE_UNDO)
    store.record_intents(plan_id, run_id, fence, [restore], kind=ActKind.REHEARSE_UNDO)
    with pytest.raises(LedgerRefused, match="one object"):
        store.record_intents(plan_id, run_id, fence, [replace(restore, object_key=("a2",))], kind=ActKind.REHEARSE_UNDO)


async def test_the_journal_shows_a_canary_that_passed_without_its_rehearsal(tmp_path, monkeypatch):
    """Whoever leaves it out is found out."""
    from fullcount.runtime.act import rehearsing

    async def held(self: Any, items: Any) -> bool:
        return True

    monkeypatch.setattr(rehearsing.Rehearsal, "held", held)
    stage = stage_of(tmp_path)
    plan = await waited(stage)
    assert figures(await stage.apply(plan)) == {"done": 4}
    (problem,) = problems(stage)
    assert "although no restore had been rehearsed" in problem

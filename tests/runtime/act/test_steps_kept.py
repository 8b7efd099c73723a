"""Steps that keep a backup and rehearse their restore: as a plain act does, each with its clock in the store."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.support.acting import DAY, Orphans, field_of
from tests.support.applying import figures
from tests.support.graduating import Nights, deleting, due, setting, waiting

from fullcount.compiler import program
from fullcount.compiler.program import Backup, Canary
from fullcount.runtime.act.calls import backup_of
from fullcount.runtime.connectors.base import ActResult, Outcome
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.journal.verify import verify
from fullcount.runtime.plan.closure import Along, with_closures
from fullcount.runtime.store.errors import LedgerRefused
from fullcount.runtime.store.views import ActKind, Intent

pytestmark = pytest.mark.requirement("R28", "R29", "R32")

WAIT = 15
OLD = ("a1", "a2", "a3", "a4")


def steps_of(world: Orphans, *, rehearse_lock: bool = False) -> tuple[program.Step, ...]:
    """Return a lock, and a deletion a week later that keeps a backup and rehearses its restore."""
    restore = program.OperationCall(
        "fake", "accounts", "restore", {"id": field_of("a", world.accounts, "id")}, reversible=True, from_backup=True
    )
    locked, opened = setting(world, locked=True), setting(world, locked=False)
    delete = replace(deleting(world), reversible=True)
    return (
        program.Step("lock", locked, opened, 0, rehearse=rehearse_lock),
        program.Step("delete", delete, restore, 7 * DAY, backup=Backup(30 * DAY), rehearse=True),
    )


async def week_later(folder: Any, *, fresh: int = 1, canary: int = 2, old: int = 4, **changes: Any) -> Nights:
    """Return a clean-up whose first accounts were locked a week ago; `fresh` others, first by key, are to be locked."""
    world = Orphans(accounts=old, canary=Canary(canary, WAIT * 60_000_000), concurrency=1)
    nights = Nights(folder, world, steps=steps_of(world, **changes), release=False)
    plan = nights.approve(await nights.plan())
    while (report := await nights.apply(plan)).stopped_by is not None:
        assert report.stopped_by.code == "FC776", report.stopped_by
        nights.later(minutes=WAIT)
    nights.later(days=7)
    for number in range(fresh):
        world.account_table.put(world.account(100 + number, id=f"a0{number}", uuid=f"fresh-{number}"))
    nights.effects()
    return nights


async def waited(nights: Nights):
    """Return a plan whose canary was acted on and whose wait is over."""
    plan = nights.approve(await nights.plan())
    report = await nights.apply(plan)
    assert report.stopped_by.code == "FC776"
    nights.later(minutes=WAIT)
    return plan


def problems(nights: Nights) -> list[str]:
    return [str(found) for found in verify(nights.store, nights.snapshots, backups=nights.backups).problems]


def rehearsed(nights: Nights, plan) -> list[tuple[str, str, Outcome | None]]:
    """Return the acts of the rehearsals: kind, object and outcome."""
    kinds = (ActKind.REHEARSE_UNDO, ActKind.REHEARSE_AGAIN)
    entries = [(kind, e) for kind in kinds for e in nights.store.ledger(plan.document.plan_id, kind=kind)]
    return [(kind.value.removeprefix("rehearse_"), e.object_key[0], e.outcome) for kind, e in entries]


async def test_an_object_that_is_not_acted_on_again_stands_where_it_stood_before_its_step(tmp_path):
    """The plan stops; its clock says that it is there, and the next plans go on from there."""
    nights = await week_later(tmp_path, fresh=0)
    plan = await waited(nights)
    nth = nights.source.count_of("perform") + 2
    nights.source.on("perform", at=nth, do=ActResult(Outcome.FAILED, detail="locked"))
    report = await nights.apply(plan)
    assert (report.exit, report.stopped_by.code) == (Exit.ERROR, "FC794")
    assert figures(report) == {"done": 1, "failed": 1, "not_started": 2}
    assert nights.stands == {"a1": "lock", "a2": "delete", "a3": "lock", "a4": "lock"}
    assert problems(nights) == []
    assert waiting(await nights.plan()) == {"a1": "delete"}
    nights.later(days=7)
    assert due(await nights.plan()) == {"a1": "delete", "a3": "delete", "a4": "delete"}


async def test_what_was_changed_since_it_was_restored_is_left_alone(tmp_path):
    """As in a plain act: the record says what differs, and nothing more is done."""
    nights = await week_later(tmp_path, fresh=0)
    plan = await waited(nights)
    table = nights.world.account_table
    nights.source.on("read", at=nights.source.count_of("read") + 4, do=lambda: table.change("a1", owner="someone"))
    report = await nights.apply(plan)
    assert report.stopped_by.code == "FC794"
    assert "`owner` differs" in report.stopped_by.message
    assert ("a1",) in table.objects
    assert nights.stands["a1"] == "lock"
    assert problems(nights) == []


async def test_the_store_lets_one_object_of_each_step_be_restored(tmp_path):
    """And it takes no step again from elsewhere than where the restore put the object."""
    nights = await week_later(tmp_path, canary=3)
    plan = await waited(nights)
    store, plan_id = nights.store, plan.document.plan_id
    run_id = store.begin_run(plan.document.workflow, "apply", nights.context(plan).person, plan_id=plan_id)
    fence = store.claim_plan(plan_id, "x", nights.context(plan).lease_time)
    store.begin_apply(plan_id, run_id, fence)
    restore = Intent(("a1",), "fake.accounts.restore")
    assert "where its rehearsal put it" in store.step_in_the_way(plan_id, ("a1",), kind=ActKind.REHEARSE_AGAIN)
    store.record_intents(plan_id, run_id, fence, [restore], kind=ActKind.REHEARSE_UNDO)
    with pytest.raises(LedgerRefused, match="one at each step"):
        store.record_intents(plan_id, run_id, fence, [replace(restore, object_key=("a2",))], kind=ActKind.REHEARSE_UNDO)


@pytest.mark.requirement("R22")
async def test_no_deletion_takes_along_an_object_that_is_at_another_step(tmp_path):
    """It was to be locked, and not to go; nor does what is deleted wait for it as if it went."""
    nights = await week_later(tmp_path)
    document = (await nights.plan()).document
    found = {(key,): Along({}, own=[], first=[("a00",)]) for key in OLD} | {("a2",): Along({}, [("a00",)], [])}
    made = with_closures(document, found, cascading=frozenset({"delete"}), previous=None)
    assert [row.key[0] for row in made.rows] == ["a00", "a1", "a3", "a4"]
    assert [row.missing for row in made.undecided] == [("takes along `a00`, which this plan does not delete",)]
    assert all(row.closure is None for row in made.rows)
    counted = {(key,): Along({"deletes main.grants": 2}, [], []) for key in OLD}
    made = with_closures(document, counted, cascading=frozenset({"lock"}), previous=None)
    assert {row.key[0] for row in made.undecided} == set(OLD)
    assert "step `delete` does not say `cascades within limit`" in made.undecided[0].missing[0]
    made = with_closures(document, counted, cascading=frozenset({"delete"}), previous=None)
    assert (len(made.rows), made.taken) == (5, 13)


async def test_the_canary_begins_with_the_step_that_is_rehearsed(tmp_path):
    """Its restore is seen before the rest, whatever else the night has; clocks and record are right after it."""
    nights = await week_later(tmp_path)
    plan = await waited(nights)
    assert due(plan) == {"a00": "lock"} | dict.fromkeys(OLD, "delete")
    assert "of the canary is restored" in plan.document.act["rehearse"]
    assert "step `delete`" in plan.document.act["rehearse"]
    assert nights.effects() == [("delete", "a1"), ("delete", "a2")]
    report = await nights.apply(plan)
    assert (figures(report), report.exit) == ({"done": 5}, Exit.DONE)
    assert rehearsed(nights, plan) == [("undo", "a1", Outcome.DONE), ("again", "a1", Outcome.DONE)]
    effects = [("restore", "a1"), ("delete", "a1"), ("delete", "a3"), ("delete", "a4"), ("update", "a00")]
    assert nights.effects() == effects
    assert nights.stands == {"a00": "lock"} | dict.fromkeys(OLD, "delete")
    entries = nights.store.ledger(plan.document.plan_id)
    assert {e.object_key[0] for e in entries if backup_of(e.parameters) is not None} == set(OLD)
    assert problems(nights) == []
    assert figures(await nights.undo(plan)) == {"done": 5}
    assert nights.stands == dict.fromkeys(OLD, "lock")
    assert problems(nights) == []


async def test_each_step_that_is_rehearsed_has_an_object_of_its_own(tmp_path):
    """In turn, so that the canary has one of each; and each goes back and forth on its own clock."""
    nights = await week_later(tmp_path, fresh=2, rehearse_lock=True)
    plan = await waited(nights)
    assert nights.effects() == [("update", "a00"), ("delete", "a1")]
    assert figures(await nights.apply(plan)) == {"done": 6}
    assert nights.effects()[:4] == [("update", "a00"), ("update", "a00"), ("restore", "a1"), ("delete", "a1")]
    assert nights.stands == dict.fromkeys(("a00", "a01"), "lock") | dict.fromkeys(OLD, "delete")
    assert problems(nights) == []


async def test_a_step_of_which_nothing_is_left_needs_no_rehearsal(tmp_path):
    """There is no rest of it that could wait."""
    nights = await week_later(tmp_path, fresh=3, old=1)
    plan = await waited(nights)
    assert nights.effects() == [("delete", "a1"), ("update", "a00")]
    assert figures(await nights.apply(plan)) == {"done": 4}
    assert rehearsed(nights, plan) == []
    assert problems(nights) == []


@pytest.mark.parametrize(("nth", "took_effect"), [(1, True), (2, False)])
async def test_an_answer_that_was_lost_is_resolved_by_reading(tmp_path, nth, took_effect):
    """Of the restore of a step, and of the step after it: each has one effect, and its clock is right."""
    nights = await week_later(tmp_path)
    plan = await waited(nights)
    nights.effects()
    nights.source.lose_answer(at=nights.source.count_of("perform") + nth, took_effect=took_effect)
    assert (await nights.apply(plan)).stopped_by.code == "FC794"
    assert problems(nights) == []
    assert figures(await nights.apply(plan)) == {"done": 5}
    assert [key for _, key in nights.effects()] == ["a1", "a1", "a3", "a4", "a00"]
    assert nights.stands == {"a00": "lock"} | dict.fromkeys(OLD, "delete")
    assert problems(nights) == []


async def test_the_journal_shows_a_step_that_was_not_rehearsed(tmp_path, monkeypatch):
    """Whoever leaves it out is found out, and which step it was."""
    from fullcount.runtime.act import rehearsing

    async def held(self: Any, items: Any) -> bool:
        return True

    monkeypatch.setattr(rehearsing.Rehearsal, "held", held)
    nights = await week_later(tmp_path)
    assert figures(await nights.apply(await waited(nights))) == {"done": 5}
    (problem,) = problems(nights)
    assert "although no restore of step `delete` had been rehearsed" in problem


async def test_a_step_that_can_not_be_stored_is_not_taken_and_the_others_are(tmp_path, monkeypatch):
    """No backup, no deletion; what keeps none is done."""
    nights = await week_later(tmp_path, canary=9)

    async def none(self: Any, call: Any) -> None:
        return None

    monkeypatch.setattr(type(nights.source), "back_up", none)
    plan = nights.approve(await nights.plan())
    report = await nights.apply(plan)
    assert figures(report) == {"done": 1, "already_gone": 4}
    assert nights.effects() == [("update", "a00")]

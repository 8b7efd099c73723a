"""Backups: nothing is acted on before it is stored, and undo brings back the very object, or says why it can't."""

from __future__ import annotations

import stat
from dataclasses import replace

import pytest
from tests.support.acting import DAY, Orphans
from tests.support.applying import Stage, figures, left_alone, row

from fullcount.runtime.act.backing_up import past_restoring
from fullcount.runtime.backups.files import BackupFiles
from fullcount.runtime.connectors.base import Outcome, SourceError
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.journal.verify import verify
from fullcount.runtime.store.held_backups import remove_expired
from fullcount.runtime.store.views import ActKind, StoredPlan
from fullcount.runtime.undo_plans import NothingToUndo

DOWN = SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE, detail="connection refused"))


def stage_of(tmp_path, **world) -> Stage:
    """Return a clean-up that deletes accounts, each with a backup kept for 30 days."""
    return Stage(tmp_path, Orphans(operation="delete", backup=30 * DAY, **world))


def problems(stage: Stage) -> list[str]:
    """Return what does not verify."""
    return [str(found) for found in verify(stage.store, stage.snapshots, backups=stage.backups).problems]


def stored(stage: Stage) -> list[str]:
    """Return the names of the files of backups."""
    return sorted(path.name for path in stage.backups.root.iterdir())


@pytest.mark.requirement("R28")
async def test_an_object_of_which_no_backup_can_be_taken_is_left_alone(tmp_path):
    """It is refused with a code, the others are done, and nothing was meant for it."""
    stage = stage_of(tmp_path, concurrency=1)
    plan = await stage.approved()
    stage.source.on("back_up", do=DOWN, at=2)
    report = await stage.apply(plan)
    assert figures(report) == {"done": 2, "refused": 1}
    (left,) = [each for each in report.rows if each.outcome is Outcome.REFUSED]
    assert left.reason == "FC788"
    assert left.key in stage.world.account_table.objects
    assert len(stored(stage)) == 2


@pytest.mark.requirement("R28")
async def test_nothing_is_acted_on_where_backups_cannot_be_stored(tmp_path):
    """A folder that can't be written to stops the run before the first intent."""
    stage = stage_of(tmp_path)
    plan = await stage.approved()
    stage.backups.root.write_text("a file stands where the folder should be")
    report = await stage.apply(plan)
    assert (figures(report), report.stopped_by.code) == ({"not_started": 3}, "FC788")
    assert stage.source.effects == []
    assert stage.store.ledger(plan.document.plan_id) == ()


@pytest.mark.requirement("R29", "R32")
@pytest.mark.parametrize("says", ["gone", "down", "changed"])
async def test_an_act_that_comes_late_is_told_by_reading_also_where_its_backup_is_taken_anew(tmp_path, says):
    """The call of an earlier run arrives between the look and the backup: it was ours, and can be taken back."""
    stage = stage_of(tmp_path, accounts=1)
    before = {key: dict(account) for key, account in stage.world.account_table.objects.items()}
    plan = await stage.approved()
    stage.source.lose_answer(at=1, took_effect=False)
    assert figures(await stage.apply(plan)) == {"unknown": 1}

    def arrives():
        stage.world.account_table.remove("a1")
        if says == "gone":
            return None
        if says == "down":
            raise DOWN
        return {"id": "a1", "owner": "somebody else"}

    stage.source.on("took_effect", at=None, do=lambda: ("a1",) not in stage.world.account_table.objects)
    stage.source.on("back_up", at=2, do=arrives)
    report = await stage.apply(plan)
    assert figures(report) == {"done": 1}
    assert stage.source.count_of("perform") == 1
    assert row(report, "a1").reason == "FC795"
    assert figures(await stage.undo(plan, only=frozenset({("a1",)}), named=True)) == {"done": 1}
    assert stage.world.account_table.objects == before


@pytest.mark.requirement("R29", "R36")
async def test_an_object_that_changed_after_its_backup_is_not_deleted(tmp_path):
    """The act rests on the whole object as it was stored, also on fields that the workflow does not read."""
    stage = stage_of(tmp_path, accounts=1)
    plan = await stage.approved()
    table = stage.world.account_table
    stage.source.on("perform", do=lambda: table.objects["a1",].update(locked=True))
    report = await stage.apply(plan)
    assert figures(report) == {"changed": 1}
    assert ("a1",) in table.objects


def test_a_number_of_any_size_is_handed_out_as_it_was_stored(tmp_path):
    """JSON is sure of numbers up to 2^53 alone; a larger one is stored in other words, and those are not its value."""
    files = BackupFiles(tmp_path)
    content = {"id": 2**60 + 1, "parts": [{"$int": "9"}, -(2**62)]}
    assert files.get(files.put(content)) == content


async def test_what_was_deleted_is_restored_as_it_was(tmp_path):
    """The object comes back under its key with every field; each step is in the record, which verifies."""
    stage = stage_of(tmp_path)
    before = {key: dict(account) for key, account in stage.world.account_table.objects.items()}
    plan = await stage.approved()
    assert figures(await stage.apply(plan)) == {"done": 3}
    assert stage.world.account_table.objects == {}
    for file in stage.backups.root.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    report = await stage.undo(plan)
    assert (figures(report), report.exit) == ({"done": 3}, Exit.DONE)
    assert stage.world.account_table.objects == before
    assert problems(stage) == []
    assert await stage.undoing(plan) == NothingToUndo(Exit.DONE)


async def test_one_object_of_a_plan_is_restored_alone(tmp_path):
    """The others stay as the plan left them, and can be restored later."""
    stage = stage_of(tmp_path)
    plan = await stage.approved()
    await stage.apply(plan)
    report = await stage.undo(plan, only=frozenset({("a2",)}))
    assert (figures(report), report.candidates) == ({"done": 1}, 1)
    assert set(stage.world.account_table.objects) == {("a2",)}
    assert figures(await stage.undo(plan)) == {"done": 2}
    assert len(stage.world.account_table.objects) == 3


async def test_nothing_is_restored_where_something_stands_under_the_key(tmp_path):
    """Whoever made it anew keeps theirs."""
    stage = stage_of(tmp_path)
    plan = await stage.approved()
    await stage.apply(plan)
    stage.world.account_table.put(stage.world.account(1, uuid="another"))
    undo = await stage.to_undo(plan)
    assert left_alone(undo) == {"a1": "an object stands under its key again"}
    assert figures(await stage.apply(undo)) == {"done": 2}
    assert stage.world.account_table.objects["a1",]["uuid"] == "another"


@pytest.mark.requirement("R39")
@pytest.mark.parametrize("what", ["missing", "changed"])
async def test_a_backup_that_is_lost_is_told_by_undo_and_by_verify(tmp_path, what):
    """Nothing is restored from it; the others are; and when the folder is put back, the object is."""
    stage = stage_of(tmp_path)
    plan = await stage.approved()
    await stage.apply(plan)
    file = sorted(stage.backups.root.iterdir())[0]
    kept = file.read_bytes()
    if what == "missing":
        file.unlink()
    else:
        file.write_bytes(kept.replace(b"production", b"elsewhere!"))
    assert len(problems(stage)) == 1
    assert "a backup is lost: " in problems(stage)[0]
    found = verify(stage.store, stage.snapshots, backups=stage.backups)
    assert (found.wrong, len(found.lost), found.exit) == ((), 1, Exit.ERROR)
    undo = await stage.to_undo(plan)
    (left,) = undo.document.undecided
    assert "FC789" in left.missing[0]
    assert figures(await stage.apply(undo)) == {"done": 2}
    file.write_bytes(kept)
    assert problems(stage) == []
    undo = await stage.to_undo(plan)
    file.write_bytes(b"")
    report = await stage.apply(undo)
    assert (figures(report), report.exit) == ({"not_started": 1}, Exit.ERROR)
    assert "FC789" in row(report, left.key[0]).detail
    file.write_bytes(kept)
    assert figures(await stage.apply(undo)) == {"done": 1}


async def test_a_backup_of_what_was_restored_is_needed_no_more(tmp_path):
    """That it is lost is no problem, and nothing is compared; of what was not restored it still is one."""
    stage = stage_of(tmp_path)
    plan = await stage.approved()
    await stage.apply(plan)
    undo = await stage.to_undo(plan)
    assert figures(await stage.apply(undo)) == {"done": 3}
    for file in stage.backups.root.iterdir():
        file.unlink()
    found = verify(stage.store, stage.snapshots, backups=stage.backups)
    assert (found.ok, found.checked["backup"]) == (True, 0)


@pytest.mark.requirement("R34", "R39")
async def test_what_a_source_keeps_itself_is_looked_at_and_said_where_that_is_not_possible(tmp_path):
    """One that is not there is a lost backup; a folder that can't be looked into says nothing, and that is told."""
    stage = stage_of(tmp_path)
    plan = await stage.approved()
    await stage.apply(plan)

    def verified(look, records=3):
        found = verify(stage.store, stage.snapshots, backups=stage.backups, keeping={"fake": look})
        assert (found.checked["backup"], found.checked["record_of_quarantine"], found.wrong) == (0, records, ())
        return found

    assert verified(lambda backups: [None for _ in backups]).checked["in_quarantine"] == 3
    (lost,) = verified(lambda backups: [*(None for _ in backups[1:]), "it is not there"]).lost
    assert "can't be restored any more (it is not there)" in lost.what
    found = verified(unanswered)
    assert (found.lost, found.checked["in_quarantine"]) == ((), 0)
    assert any("3 objects that `fake` keeps" in note and "does not answer" in note for note in found.notes)
    stage.source.lose_answer(at=4, took_effect=True)  # nobody knows of one whether it is back
    await stage.undo(plan)
    found = verified(lambda backups: [None for _ in backups], records=1)
    assert any("1 object of `fake`, of which nobody knows" in note for note in found.notes)


def unanswered(_backups):
    """Look at a folder that is not there."""
    raise SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE, detail="it does not answer"))


async def test_a_backup_out_of_its_time_restores_nothing_and_is_removed(tmp_path):
    """After 30 days the object is refused for good, the file goes, and the record verifies without it."""
    stage = stage_of(tmp_path)
    plan = await stage.approved()
    await stage.apply(plan)
    done = stage.store.last_acts(plan.document.plan_id)
    assert not past_restoring(done, stage.store.now())
    assert not past_restoring((), stage.store.now())
    stage.world.clock.advance(31 * 86_400)
    assert past_restoring(done, stage.store.now())
    assert not past_restoring((*done, replace(done[0], parameters={})), stage.store.now())
    nothing = await stage.undoing(plan)
    assert isinstance(nothing, NothingToUndo)
    assert {finding.code for finding in nothing.refusal.findings} == {"FC789"}
    assert remove_expired(stage.store, stage.backups) == 3
    assert stored(stage) == []
    assert problems(stage) == []


async def test_the_time_of_a_backup_begins_with_the_act_not_with_the_plan(tmp_path):
    """However long a plan waits until it is applied, each backup is kept for as long as the workflow says."""
    stage = Stage(tmp_path, Orphans(operation="delete", backup=DAY))
    plan = await stage.approved()
    stage.world.clock.advance(1_800)
    assert figures(await stage.apply(plan)) == {"done": 3}
    done = stage.store.last_acts(plan.document.plan_id)
    stage.world.clock.advance(86_400 - 1_800 + 900)  # a day after the plan, and not yet one after the act
    assert not past_restoring(done, stage.store.now())
    assert isinstance(await stage.undoing(plan), StoredPlan)
    stage.world.clock.advance(900)
    assert past_restoring(done, stage.store.now())


async def test_an_act_that_was_meant_is_gone_on_with_from_the_same_backup(tmp_path):
    """After a crash behind the intent the object is stored again, and it is the same backup or no act."""
    stage = stage_of(tmp_path, accounts=1)
    plan = await stage.approved()
    stage.source.lose_answer(at=1, took_effect=False)
    await stage.apply(plan)
    first = stored(stage)
    report = await stage.apply(plan)
    assert figures(report) == {"done": 1}
    assert stored(stage) == first
    (entry,) = stage.store.ledger(plan.document.plan_id, kind=ActKind.ACT)
    assert entry.parameters["backup"]["sha256"].removeprefix("sha256:") + ".json" in first

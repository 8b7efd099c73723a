"""`kill -9` at each point of an apply: then one outcome each, changed once, sums and journal hold."""

from __future__ import annotations

import asyncio
import shutil
import signal
from datetime import timedelta
from pathlib import Path

import pytest
from tests.crash import preparing
from tests.support.crash_driver import POINTS, run_process

from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.journal.verify import verify
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.views import ActKind, PlanState
from fullcount.runtime.workspace import Workspace

pytestmark = [pytest.mark.slow, pytest.mark.requirement("R29", "R32", "R34", "R43")]

KILLS = [
    ("before_intents", 1),
    ("before_intents", 3),
    ("in_intents_commit", 2),
    ("after_intents", 3),
    ("before_call", 1),
    ("before_call", 37),
    ("after_call", 1),
    ("after_call", 37),
    ("after_call", preparing.OBJECTS),
    ("before_outcomes", 3),
    ("in_outcomes_commit", 3),
    ("after_outcomes", 3),
    ("before_finish", 1),
]

CHAIN = [
    ("before_intents", 1),
    ("in_intents_commit", 2),
    ("after_intents", 2),
    ("before_call", 7),
    ("after_call", 7),
    ("before_outcomes", 2),
    ("in_outcomes_commit", 2),
    ("after_outcomes", 1),
    ("before_finish", 1),
]


class Prepared:
    """A workspace with an approved plan. `anew` puts it back as it was, at the same place: a copy is another target."""

    def __init__(self, folder: Path, prepare, objects: int = preparing.OBJECTS) -> None:
        self.folder, self._kept = folder / "workspace", folder / "kept"
        self.folder.mkdir()
        prepare(self.folder, objects)
        self.plan_id = asyncio.run(preparing.approved_plan(self.folder, objects))
        shutil.copytree(self.folder, self._kept)

    def anew(self) -> tuple[Path, str]:
        shutil.rmtree(self.folder)
        shutil.copytree(self._kept, self.folder)
        return self.folder, self.plan_id


@pytest.fixture(scope="module")
def sql(tmp_path_factory):
    """A database with an approved plan over many of its rows."""
    return Prepared(tmp_path_factory.mktemp("sql"), preparing.prepare_sql)


@pytest.fixture(scope="module")
def git(tmp_path_factory):
    """A repository with an approved plan over many of its branches."""
    return Prepared(tmp_path_factory.mktemp("git"), preparing.prepare_git)


def problems(folder: Path) -> list[str]:
    """Verify the journal, the plans and the sums of a workspace's store."""
    workspace = Workspace.load(folder)
    with Store.open(workspace.store_url) as store:
        return [str(problem) for problem in verify(store, SnapshotStore(workspace.snapshot_dir)).problems]


def assert_finished(folder: Path, plan_id: str, objects: int = preparing.OBJECTS, kind: ActKind = ActKind.ACT) -> None:
    """Assert that each object has exactly one outcome, that these add up, and that the record verifies."""
    workspace = Workspace.load(folder)
    with Store.open(workspace.store_url) as store:
        entries = store.ledger(plan_id, kind=kind)
        assert len(entries) == len({entry.object_key for entry in entries}) == objects
        assert {entry.outcome for entry in entries} == {Outcome.DONE}
        assert store.counts(plan_id)[Outcome.DONE] == objects
        assert store.open_intents(plan_id, kind=kind) == ()
        assert store.load_plan(plan_id).state is PlanState.APPLIED
    assert problems(folder) == []


def kill_then_finish(folder: Path, plan_id: str, *kills: tuple[str, int]) -> None:
    """Kill an apply at each of these points in turn, then apply to the end, then once more."""
    for number, (point, nth) in enumerate(kills):
        status, _ = run_process(folder, plan_id, point, nth=nth, later=60 * number)
        assert status == -signal.SIGKILL, (point, nth)
        assert problems(folder) == []
    status, report = run_process(folder, plan_id, later=60 * len(kills))
    assert status == 0
    assert report == {
        "exit": 0,
        "sums_hold": True,
        "repeated": False,
        "counts": {"done": preparing.OBJECTS},
        "stopped_by": None,
    }
    status, report = run_process(folder, plan_id, later=60 * len(kills))
    assert (status, report["repeated"], report["counts"]) == (0, True, {"done": preparing.OBJECTS})


@pytest.mark.parametrize(("point", "nth"), KILLS)
def test_a_killed_apply_on_a_database_ends_with_each_row_changed_once(sql, point, nth):
    """Whatever the instant of the kill, the rerun leaves one write and one outcome for each row."""
    folder, plan_id = sql.anew()
    kill_then_finish(folder, plan_id, (point, nth))
    changes = preparing.sql_changes(folder)
    assert len(changes) == preparing.OBJECTS
    assert set(changes.values()) == {1}
    assert preparing.sql_is_done(folder)
    assert_finished(folder, plan_id)


def test_an_apply_that_is_killed_again_and_again_still_changes_each_row_once(sql):
    """Three kills in a row, each in the run that was to finish the one before."""
    folder, plan_id = sql.anew()
    kill_then_finish(folder, plan_id, ("after_call", 20), ("before_call", 9), ("in_outcomes_commit", 2))
    assert set(preparing.sql_changes(folder).values()) == {1}
    assert preparing.sql_is_done(folder)
    assert_finished(folder, plan_id)


def test_an_undo_that_is_killed_again_and_again_takes_each_row_back_once(sql):
    """Under its own approval, before it began and up to its last entry; what it took back is planned no second time."""
    folder, plan_id = sql.anew()
    assert run_process(folder, plan_id)[0] == 0
    undo_id = asyncio.run(preparing.approved_undo(folder, plan_id))
    kill_then_finish(
        folder, undo_id, ("before_began", 1), ("after_intents", 2), ("after_call", 20), ("before_finish", 1)
    )
    assert {key: writes for key, writes in preparing.sql_writes(folder).items() if writes != [1, 0]} == {}
    assert_finished(folder, undo_id, kind=ActKind.UNDO)
    assert asyncio.run(preparing.approved_undo(folder, plan_id, later=timedelta(minutes=9))) is None


def test_an_apply_on_a_repository_that_is_killed_at_every_point_deletes_each_branch_once(git):
    """One kill after the other, at each point, in the run that was to finish the one before."""
    folder, plan_id = git.anew()
    kill_then_finish(folder, plan_id, *CHAIN)
    assert preparing.git_branches(folder) == {"main"}
    assert preparing.git_deletions(folder) == {f"topic-{n:03}": 1 for n in range(preparing.OBJECTS)}
    assert_finished(folder, plan_id)


def test_every_point_between_intent_and_outcome_is_among_the_kills():
    """No point that the driver knows is left out."""
    assert {point for point, _ in KILLS} == {point for point, _ in CHAIN} == set(POINTS) - {"none"}

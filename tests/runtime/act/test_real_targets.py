"""Apply and undo on a real database and a real repository: the end state of the target is what counts."""

from __future__ import annotations

import pytest
from tests.crash import preparing

from fullcount.runtime.approve.identity import current_person
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.engine import Engine
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.journal.verify import verify
from fullcount.runtime.store.store import Store
from fullcount.runtime.workspace import Workspace


class Acting:
    """The engine of a prepared workspace, opened for one test."""

    def __init__(self, folder, plan_id):
        workspace = Workspace.load(folder)
        self.folder, self.plan_id = folder, plan_id
        self.store = Store.open(workspace.store_url)
        self.snapshots = SnapshotStore(workspace.snapshot_dir)
        self.engine = Engine(workspace, self.store, self.snapshots)

    async def apply(self):
        """Apply the plan and return the counts that are not zero."""
        end = await self.engine.apply(self.plan_id, current_person())
        assert end.exit is Exit.DONE, end
        return {outcome: number for outcome, number in end.report.counts.items() if number > 0}

    async def undo(self):
        """Plan to undo the plan, have that approved, apply it; return how many were left alone, and the counts."""
        planned = (await self.engine.plan_undo(self.plan_id, current_person())).plan
        self.engine.give_approval(planned, current_person(), planned.document.digest)
        end = await self.engine.apply(planned.document.plan_id, current_person())
        assert end.exit is Exit.DONE, end
        assert end.report.sums_hold
        return planned.document.sums.kept, {outcome: n for outcome, n in end.report.counts.items() if n > 0}

    def verified(self):
        """Whether the record verifies."""
        return verify(self.store, self.snapshots).ok


@pytest.fixture
def opened(tmp_path):
    """Open the engine of the workspace in `tmp_path` for a plan, and close its store at the end."""
    made = []

    def open_it(plan_id):
        made.append(Acting(tmp_path, plan_id))
        return made[-1]

    yield open_it
    for acting in made:
        acting.store.close()


def accounts(folder):
    """Return id, locked, version of each account."""
    with preparing.database(folder) as db:
        return {
            key: (locked, version) for key, locked, version in db.execute("SELECT id, locked, version FROM accounts")
        }


@pytest.mark.requirement("R22", "R29", "R34", "R43")
async def test_rows_of_a_database_are_written_once_and_brought_back_unless_others_were_at_them(tmp_path, opened):
    """One row was changed before the act, one after it: neither is touched by what does not know of the change."""
    preparing.prepare_sql(tmp_path, 6)
    acting = opened(await preparing.approved_plan(tmp_path, 6))
    with preparing.database(tmp_path) as db:
        db.execute("INSERT INTO people VALUES ('gone-0', 1)")
        db.execute("DELETE FROM accounts WHERE id = 'a00001'")
        db.execute("UPDATE accounts SET uuid = 'another' WHERE id = 'a00003'")
    assert await acting.apply() == {Outcome.DONE: 3, Outcome.CHANGED: 2, Outcome.ALREADY_GONE: 1}
    assert {key for key, (locked, _) in accounts(tmp_path).items() if locked} == {"a00002", "a00004", "a00005"}
    assert await acting.apply() == {Outcome.DONE: 3, Outcome.CHANGED: 2, Outcome.ALREADY_GONE: 1}
    with preparing.database(tmp_path) as db:
        db.execute("UPDATE accounts SET locked = 0, version = version + 1 WHERE id = 'a00002'")
    before = accounts(tmp_path)
    assert await acting.undo() == (1, {Outcome.DONE: 2})
    after = accounts(tmp_path)
    assert after["a00002"] == before["a00002"]
    assert (after["a00004"][0], after["a00005"][0]) == (0, 0)
    assert (await acting.engine.plan_undo(acting.plan_id, current_person())).exit is Exit.REFUSED_BY_POLICY
    assert accounts(tmp_path) == after
    assert acting.verified()


@pytest.mark.requirement("R22", "R29", "R34", "R43")
async def test_branches_are_deleted_once_and_restored_at_the_commit_they_had(tmp_path, opened):
    """A branch that moved, still merged, is deleted at its new commit and restored there; a new one is not touched."""
    preparing.prepare_git(tmp_path, 4)
    acting = opened(await preparing.approved_plan(tmp_path, 4))
    main = preparing.git_sha(tmp_path, "main")
    preparing.git_move(tmp_path, "topic-000", main)
    shas = {name: preparing.git_sha(tmp_path, name) for name in preparing.git_branches(tmp_path)}
    assert await acting.apply() == {Outcome.DONE: 4}
    assert preparing.git_branches(tmp_path) == {"main"}
    preparing.git_move(tmp_path, "topic-003", main)
    assert await acting.undo() == (1, {Outcome.DONE: 3})
    found = {name: preparing.git_sha(tmp_path, name) for name in preparing.git_branches(tmp_path)}
    assert found == shas | {"topic-003": main}
    assert found["topic-000"] == main
    assert acting.verified()

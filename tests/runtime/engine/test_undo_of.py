"""`fullcount undo` of a plan, a run or an object, from backups of real rows."""

from __future__ import annotations

import pytest
from tests.support.workspaces import ORPHANS

from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.connectors.sql.actor import SqlActor
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness

KEPT = "act disable with directory.delete(id: a.id) { backup kept for 30d }"


@pytest.fixture
def bench(bench):
    """A clean-up that deletes accounts with a backup of each."""
    bench.sql("directory", "UPDATE accounts SET locked = 1 WHERE id = 'a12'")
    bench.rule(act=KEPT)
    return bench


def applied(bench):
    """Apply a plan and return it with the end of the apply."""
    planned = bench.approved()
    return planned, bench.run("apply", planned["plan_id"], "--json").json


@pytest.mark.requirement("R28")
def test_what_was_not_acted_upon_can_not_be_named(bench):
    """An object of no plan, an object of another plan, a word that is nothing."""
    planned, _ = applied(bench)
    before = bench.everything()
    for arguments in (("a04",), ("nothing",), (planned["plan_id"], "a04"), ("nothing", "a01")):
        ended = bench.run("undo", *arguments)
        assert ended.exit == 2, ended.said
        assert "FC798" in ended.said
    assert bench.everything() == before


def test_an_object_that_several_plans_acted_upon_needs_its_plan(bench):
    """It was deleted, made anew by somebody, and deleted again."""
    first, _ = applied(bench)
    bench.sql("directory", "INSERT INTO accounts VALUES ('a01', 'uuid-new', NULL, '2020-01-01T00:00:00Z', 0, 1)")
    second, _ = applied(bench)
    ended = bench.run("undo", "a01")
    assert (ended.exit, "FC798" in ended.said) == (2, True)
    assert f"fullcount undo {second['plan_id']} a01" in ended.words
    bench.undone(second, "a01")
    assert bench.sql("directory", "SELECT entry_uuid FROM accounts WHERE id = 'a01'") == [("uuid-new",)]
    assert first["plan_id"] != second["plan_id"]


def test_an_object_a_run_and_a_plan_are_taken_back(bench):
    """One object by its key, then all that the run did; everything is as it was, and the record verifies."""
    before = bench.target()
    planned, report = applied(bench)
    assert len(bench.target()) == 12 - len(ORPHANS)
    assert "3 backup" in bench.run("verify").words
    bench.undone({"plan_id": "a02"})
    assert bench.sql("directory", "SELECT id FROM accounts WHERE id < 'a04'") == [("a02",)]
    bench.undone({"plan_id": report["report"]["run_id"]})
    assert bench.target() == before
    ended = bench.run("undo", planned["plan_id"])
    assert (ended.exit, "NOTHING TO TAKE BACK" in ended.said) == (0, True)
    ended = bench.run("verify")
    assert (ended.exit, "backup" in ended.words) == (0, False), "nobody needs one of what was restored"


def test_a_lost_backup_is_told_by_verify_and_by_undo(bench):
    """Both say which, and the others are restored."""
    planned, _ = applied(bench)
    sorted((bench.root / ".fullcount" / "backups").iterdir())[0].unlink()
    ended = bench.run("verify")
    assert ended.exit == 1
    assert "can't be restored" in ended.words
    assert bench.undone(planned)["report"]["counts"]["done"] == 2
    ended = bench.run("undo", planned["plan_id"])
    assert ended.exit == 1
    assert "FC789" in ended.words
    assert len(bench.target()) == 11


async def _no_answer(*_):
    raise SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE))


@pytest.mark.requirement("R32")
def test_what_somebody_else_may_have_deleted_comes_back_only_when_it_is_named(bench, monkeypatch):
    """No answer was kept of three deletions, and one row is gone all the same: the screens say so, from end to end."""
    planned = bench.approved()
    with monkeypatch.context() as patch:
        patch.setattr(SqlActor, "perform", _no_answer)
        assert bench.run("apply", planned["plan_id"]).exit == 1
    bench.sql("directory", "DELETE FROM accounts WHERE id = 'a01'")
    ended = bench.run("apply", planned["plan_id"])
    assert (ended.exit, "nobody can tell whose it was" in ended.words) == (0, True), ended.said
    ended = bench.run("undo", planned["plan_id"])
    assert "to bring it back all the same, name it" in ended.words
    assert ended.exit == 5
    undo = bench.run("runs", "--json").json["plans"][0]
    bench.approve(undo)
    assert bench.run("apply", undo["plan_id"]).exit == 0
    assert len(bench.target()) == 11
    bench.undone({"plan_id": "a01"})
    assert len(bench.target()) == 12
    assert bench.run("verify").exit == 0

"""Floors at the act: an object that moved to the front of its group since the plan stays."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.support.acting import Orphans, field_of
from tests.support.applying import Stage, figures, row

from fullcount.compiler import ir
from fullcount.compiler.program import Keep
from fullcount.compiler.types import TEXT, TIMESTAMP
from fullcount.compiler.values import FieldState
from fullcount.runtime.act.recheck import Rechecker

pytestmark = pytest.mark.requirement("R21", "R22")


def orphans(count: int = 2, accounts: int = 5, **changes) -> Orphans:
    """Accounts `a1` (used longest ago) to `a5`, of two owners: the newest `count` of each owner stay."""
    plain = Orphans()
    login, owner = field_of("a", plain.accounts, "last_login"), field_of("a", plain.accounts, "owner")
    by = ir.Else(login, ir.Const(0, TIMESTAMP), TIMESTAMP, optional=False)
    per = ir.Else(owner, ir.Const("", TEXT), TEXT, optional=False)
    world = Orphans(accounts=accounts, keeps=[Keep(count, per, "newest", by, "keep at least 2 …")], **changes)
    for n in range(1, accounts + 1):
        used = world.clock.start - timedelta(days=300 - n)
        world.account_table.change(f"a{n}", owner="gone", last_login=used, version=1)
    return world


async def test_an_object_that_became_one_of_the_newest_stays(tmp_path):
    """Still idle, still orphaned, and by now among those that the floor keeps."""
    stage = Stage(tmp_path, orphans())
    plan = await stage.approved()
    assert {r.key[0] for r in plan.document.rows} == {"a1", "a2", "a3"}
    stage.world.account_table.change("a2", last_login=stage.world.clock.start - timedelta(days=200))
    report = await stage.apply(plan)
    assert figures(report) == {"done": 2, "changed": 1}
    assert row(report, "a2").detail.startswith("it stays by `keep at least 2 …`; changed since the plan: ")


async def test_an_object_that_moved_to_a_smaller_group_stays(tmp_path):
    """Its new group has nobody else."""
    stage = Stage(tmp_path, orphans())
    plan = await stage.approved()
    stage.world.account_table.change("a1", owner="another")
    assert row(await stage.apply(plan), "a1").outcome == "changed"


async def test_an_object_whose_place_can_not_be_told_is_refused(tmp_path):
    """Unknown keeps it: here the field by which the group is made, which the rule can do without."""
    world = orphans(rule=ir.TRUE)
    stage = Stage(tmp_path, world)
    plan = await stage.approved()
    world.account_table.change("a1", owner=FieldState.FORBIDDEN)
    report = await stage.apply(plan)
    assert (row(report, "a1").outcome, row(report, "a1").reason) == ("refused", "FC767")
    assert "its place by `keep at least 2 …` is not known" in row(report, "a1").detail


async def test_without_the_snapshot_nobody_can_tell_who_comes_first(tmp_path):
    """A floor that can't be worked out keeps everything."""
    stage = Stage(tmp_path, orphans())
    plan = await stage.approved()
    for path in (tmp_path / "snapshots").rglob("*.parquet"):
        path.unlink()
    report = await stage.apply(plan)
    assert figures(report) == {"refused": 3}
    assert "is not stored" in row(report, "a1").detail


async def test_the_plans_own_objects_do_not_hold_the_floor(tmp_path):
    """The border is made of those that stay, so it holds when all of the plan is gone, and on a second apply too."""
    stage = Stage(tmp_path, orphans(accounts=6, concurrency=1))
    plan = await stage.approved()
    assert figures(await stage.apply(plan)) == {"done": 4}
    assert (await stage.apply(plan)).repeated


async def test_a_floor_over_all_objects_needs_no_group(tmp_path):
    """Without `per`."""
    world = orphans()
    (proposal,) = world.workflow.proposals
    alone = Keep(4, None, "oldest", proposal.keeps[0].by, "keep at least 4 oldest …")
    world.replace_proposal(keeps=(alone,))
    stage = Stage(tmp_path, world)
    plan = await stage.approved()
    assert [r.key for r in plan.document.rows] == [("a5",)]
    assert figures(await stage.apply(plan)) == {"done": 1}


def test_a_proposal_with_a_floor_is_not_rechecked_without_it():
    """Whoever forgets to ask is stopped."""
    world = orphans()
    with pytest.raises(ValueError, match="floors"):
        Rechecker(world.workflow, world.workflow.proposals[0], world.bindings, world.surroundings())

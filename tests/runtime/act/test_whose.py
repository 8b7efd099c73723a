"""A deletion of which no answer was kept, and whose object is gone: done, and nobody can tell whose it was."""

from __future__ import annotations

import pytest
from tests.runtime.act.test_backups import problems, stage_of
from tests.support.applying import Stage, figures

from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.undo_plans import NothingToUndo


async def one_gone(tmp_path) -> tuple[Stage, object]:
    """Three deletions: two answered, and of the third no answer was kept, while somebody else deleted the object."""
    stage = stage_of(tmp_path)
    plan = await stage.approved()
    stage.source.lose_answer(took_effect=False)
    assert figures(await stage.apply(plan)) == {"done": 2, "unknown": 1}
    (key,) = stage.world.account_table.objects
    stage.world.account_table.remove(*key)
    _tells_by_looking(stage)
    return stage, plan


def _tells_by_looking(stage: Stage) -> None:
    """Let the source tell what real ones tell: whether the object is there, and no more."""

    async def took_effect(call):
        return call.key not in stage.world.account_table.objects

    stage.source.took_effect = took_effect


@pytest.mark.requirement("R32", "R34")
async def test_what_is_gone_while_our_call_was_under_way_is_done_and_says_so(tmp_path):
    """In the ledger, the report and the record: a reason of its own, and sums that hold."""
    stage, plan = await one_gone(tmp_path)
    report = await stage.apply(plan)
    assert (figures(report), report.exit) == ({"done": 3}, Exit.DONE)
    told = [each for each in report.rows if each.reason == "FC795"]
    assert [(each.outcome, each.detail) for each in told] == [
        (Outcome.DONE, "gone, and our call was under way: nobody can tell whose it was")
    ]
    stored = {entry.object_key: entry.reason for entry in stage.store.ledger(plan.document.plan_id)}
    assert stored == {each.key: each.reason for each in report.rows}
    assert stage.source.count_of("perform") == 3
    assert problems(stage) == []


async def test_an_update_that_is_found_done_says_nothing_of_the_kind(tmp_path):
    """What it set is there: that is told as before."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    stage.source.lose_answer(took_effect=True)
    await stage.apply(plan)
    assert {each.reason for each in (await stage.apply(plan)).rows} == {None}


async def test_an_undo_leaves_alone_what_somebody_else_may_have_deleted_and_tells_it(tmp_path):
    """The others come back; this one only when it is named, and no rehearsal touches it either."""
    stage, plan = await one_gone(tmp_path)
    (gone,) = (each.key for each in (await stage.apply(plan)).rows if each.reason == "FC795")
    undo = await stage.to_undo(plan)
    assert [each.key for each in undo.document.undecided] == [gone]
    assert f"name it: fullcount undo {plan.document.plan_id} {gone[0]}" in undo.document.undecided[0].missing[0]
    assert figures(await stage.apply(undo)) == {"done": 2}
    assert set(stage.world.account_table.objects) == {("a1",), ("a2",), ("a3",)} - {gone}
    for only in (None, frozenset({gone})):
        nothing = await stage.undoing(plan, only)
        assert isinstance(nothing, NothingToUndo)
        assert "name it: " in nothing.refusal.findings[0].message
    named = await stage.to_undo(plan, frozenset({gone}), named=True)
    (row,) = named.document.rows
    assert (row.risk, row.notes[0]) == (
        3,
        "gone when our call was under way: somebody else may have meant it to be gone",
    )
    assert [each.risk for each in undo.document.rows] == [0, 0]
    report = await stage.apply(named)
    assert (figures(report), report.exit) == ({"done": 1}, Exit.DONE)
    assert gone in stage.world.account_table.objects
    assert problems(stage) == []

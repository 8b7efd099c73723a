"""A rehearsal in what is handed on: the export's own check and the report say how far it came."""

from __future__ import annotations

import csv
from typing import Any

import pytest
from tests.runtime.act import test_steps_kept as steps
from tests.runtime.act.test_rehearsing import DOWN, stage_of, waited
from tests.support.applying import BO, figures

from fullcount.runtime.journal.bundle import export_run
from fullcount.runtime.journal.runs_of import run_of
from fullcount.runtime.offline.bundle import check_bundle
from fullcount.runtime.offline.story import told
from fullcount.runtime.reports.gather import report_of
from fullcount.runtime.reports.lines import csv_of
from fullcount.runtime.store.errors import StoreError

pytestmark = pytest.mark.requirement("R34")


def handed_on(stage: Any, plan: Any, folder: Any) -> tuple[list[str], list[dict[str, str]]]:
    """Return what the check of an export says, and the lines of a report."""
    run = run_of(stage.store, plan.document.plan_id)
    export_run(stage.store, run, folder, signers=None, person=BO, sign=None)
    with report_of(stage.store, run, "acme") as made:
        assert made.invalid is None
        lines = list(csv.DictReader("".join(csv_of(made)).splitlines()))
    checked = check_bundle(folder)
    return [fault.what for fault in checked.faults] or told(checked), lines


async def test_a_canary_that_passed_without_its_rehearsal_is_found(tmp_path, monkeypatch):
    """By whoever has nothing but the export."""
    from fullcount.runtime.act import rehearsing

    async def held(self: Any, items: Any) -> bool:
        return True

    monkeypatch.setattr(rehearsing.Rehearsal, "held", held)
    stage = stage_of(tmp_path)
    plan = await waited(stage)
    await stage.apply(plan)
    with pytest.raises(StoreError, match="its canary passed although no restore had been rehearsed"):
        handed_on(stage, plan, tmp_path / "export")  # which is checked before it is handed on
    assert len(check_bundle(tmp_path / "export").faults) == 1


async def test_a_rehearsal_that_did_not_hold_is_told_with_its_object(tmp_path):
    """The object counts as refused, with what differed; sums hold in every form."""
    stage = stage_of(tmp_path)
    plan = await waited(stage)
    table = stage.world.account_table
    stage.source.on("read", at=stage.source.count_of("read") + 4, do=lambda: table.change("a1", owner="someone"))
    assert figures(await stage.apply(plan)) == {"done": 1, "refused": 1, "not_started": 2}
    said, lines = handed_on(stage, plan, tmp_path / "export")
    assert '            a restore was rehearsed with ["a1"]: restored: done, acted on again: refused' in said
    assert "            4 candidates = 1 done + 1 refused + 2 not_started" in said
    objects = {line["name"]: (line["value"], line["reason"]) for line in lines if line["section"] == "object"}
    assert objects["a1"] == ("refused", "FC794")
    assert [value for value, _ in objects.values()].count("done") == 1
    (canary,) = [line["value"] for line in lines if line["name"] == "canary"]
    assert "a restore was rehearsed with a1: restored: done, acted on again: refused; not passed" in canary
    undo = await stage.to_undo(plan)
    assert figures(await stage.apply(undo)) == {"done": 1}
    _, lines = handed_on(stage, undo, tmp_path / "undone")
    assert [line["name"] for line in lines if line["section"] == "object"] == ["a2"]


async def test_a_restored_object_that_waits_to_be_acted_on_again_is_not_started(tmp_path):
    """Neither done nor forgotten."""
    stage = stage_of(tmp_path)
    plan = await waited(stage)
    stage.source.on("read", at=stage.source.count_of("read") + 4, do=DOWN)
    await stage.apply(plan)
    said, lines = handed_on(stage, plan, tmp_path / "export")
    assert "            4 candidates = 1 done + 3 not_started" in said
    assert [line["value"] for line in lines if line["section"] == "object" and line["name"] == "a1"] == ["not_started"]


async def test_each_step_that_was_rehearsed_is_told_and_one_that_was_not_is_found(tmp_path, monkeypatch):
    """By the same rule as in the house: a step needs its rehearsal if something of it is left."""
    from fullcount.runtime.act import rehearsing

    held, not_held = tmp_path / "held", tmp_path / "not"
    held.mkdir()
    not_held.mkdir()
    nights = await steps.week_later(held, fresh=2, rehearse_lock=True)
    plan = await steps.waited(nights)
    assert figures(await nights.apply(plan)) == {"done": 6}
    said, _ = handed_on(nights, plan, tmp_path / "out")
    assert [key in line for line in said if "was rehearsed with" in line for key in ("a00", "a1")] == [
        *(True, False),
        *(False, True),
    ]
    nights = await steps.week_later(not_held, fresh=2, rehearse_lock=True)
    plan = await steps.waited(nights)
    only_lock = rehearsing.Rehearsal._steps
    monkeypatch.setattr(rehearsing.Rehearsal, "_steps", lambda self: only_lock(self)[:1])
    assert figures(await nights.apply(plan)) == {"done": 6}
    with pytest.raises(StoreError, match="no restore of step `delete` had been rehearsed"):
        handed_on(nights, plan, tmp_path / "again")

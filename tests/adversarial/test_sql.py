"""Hostile objects in a table: planned, shown in every form, acted on as the objects that they are, and undone."""

from __future__ import annotations

import csv
import io
import json

import pytest
from tests.adversarial.objects import hostile
from tests.support.workspaces import ANSI, HARMFUL, ORPHANS, too_wide

pytestmark = [pytest.mark.slow, pytest.mark.requirement("R40")]
OBJECTS = hostile()


def test_there_are_enough_of_every_kind():
    """No two of them are the same object."""
    assert len(set(OBJECTS.values())) == len(OBJECTS) >= 60


def test_the_end_state_is_what_the_rule_says_and_nothing_else(whole):
    """Every hostile object is locked, no twin is, no other field, row, table or file has changed."""
    locked = {row[0] for row in whole.applied if row[4]}
    assert locked - {row[0] for row in whole.before if row[4]} == {*OBJECTS.values(), *ORPHANS}
    assert locked.isdisjoint(whole.others)
    assert [row[:4] for row in whole.applied] == [row[:4] for row in whole.before]
    assert [row[:5] for row in whole.undone] == [row[:5] for row in whole.before]
    assert whole.bench.sql("directory", "SELECT name FROM sqlite_master WHERE type = 'table'") == [("accounts",)]
    assert whole.outside == set()
    assert {path.name for path in whole.bench.root.iterdir()} == {
        ".fullcount", "directory.db", "exemptions.toml", "fullcount.toml", "hr.db", "page.html", "workflows",
    }  # fmt: skip


def test_no_text_of_an_object_stands_for_an_approval_an_exemption_or_an_order(whole):
    """What was not approved was refused, what was approved was done, the same again did nothing, the record holds."""
    assert whole.exits == {
        "plan": 5, "show": 0, "undecided": 0, "evidence": 0, "runs": 0,
        "unapproved": 5, "approve": 0, "apply": 0, "again": 0, "verify": 0, "undo": 5, "approve undo": 0,
        "apply undo": 0, "verify after undo": 0,
    }  # fmt: skip


@pytest.mark.parametrize("name", OBJECTS)
def test_each_object_is_a_row_of_its_own_with_the_name_that_it_has(whole, name):
    """In the plan it is what it is in the table: nothing was trimmed, folded, decoded, or cut."""
    rows = [row for row in whole.planned["plan"]["rows"] if row["key"] == [OBJECTS[name]]]
    assert len(rows) == 1


def test_no_screen_obeys_them(whole):
    """No escape, control, or override reaches a terminal; no line is forged and none is wider than a report."""
    for name, said in whole.screens.items():
        assert not ANSI.search(said), name
        assert not HARMFUL.search(said.replace("\n", "")), name
        assert too_wide(said) == [], name
        assert "Traceback" not in said, name
        assert "7006657" not in said, name
        lines = said.splitlines()
        assert sum(line.startswith("VERIFIED") for line in lines) == ("verify" in name), name
        assert sum(line.startswith("DONE") for line in lines) == (name in {"apply", "again", "apply undo"}), name
        assert sum(line.startswith("APPROVED") for line in lines) <= name.startswith("approve"), name


def test_no_spreadsheet_runs_them(whole):
    """One line for each object; no cell begins as a formula does, and none has a control character."""
    heading, *rows = csv.reader(io.StringIO(whole.documents["csv"], newline=""))
    assert len(rows) == len(OBJECTS) + len(ORPHANS)
    assert {len(row) for row in rows} == {len(heading)}
    for cell in (cell for row in rows for cell in row):
        assert cell == "" or (cell.isprintable() and cell[0] not in "=+-@")


def test_no_reader_of_the_json_is_led_astray(whole):
    """It is plain ASCII, and the one plan that it speaks of is the one that there is."""
    for document in (whole.documents["json"], whole.documents["applied json"]):
        assert document.isascii()
        assert not HARMFUL.search(document.replace("\n", ""))
        assert json.loads(document)["plan"]["plan_id"] == whole.planned["plan"]["plan_id"]

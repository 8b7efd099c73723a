"""A cell that can't be taken: it alone is unknown, and the screen names field, key, how many and why."""

from __future__ import annotations

import csv
import io
import json

import pytest
from tests.support.workspaces import WORKFLOW

FILE = f"workflows/{WORKFLOW}.fcw"


def loosen(bench):
    """Give the directory columns that hold anything, as a table of a careless program has them."""
    bench.sql("directory", "ALTER TABLE accounts RENAME TO strict")
    bench.sql(
        "directory",
        "CREATE TABLE accounts (id TEXT PRIMARY KEY NOT NULL, entry_uuid, owner, last_login, locked, row_version)",
    )
    bench.sql("directory", "INSERT INTO accounts SELECT * FROM strict")


CELLS = {
    "no value where one is declared": ("last_login", None, "no value"),
    "bytes that are no text": ("owner", "CAST(x'ff41' AS TEXT)", "bytes"),
    "a time beyond the calendar": ("last_login", "'99999-01-01T00:00:00Z'", "other text"),
    "a number for a time": ("last_login", "5", "found int"),
    "a day that is none": ("last_login", "'2026-02-30T00:00:00Z'", "other text"),
}


@pytest.mark.requirement("R4", "R33")
@pytest.mark.parametrize("case", CELLS)
def test_a_bad_cell_is_unknown_and_named_and_spoils_no_other(bench, case):
    """The other objects are decided as ever; the two bad ones are never selected, and are named with the cause."""
    field, value, why = CELLS[case]
    loosen(bench)
    bench.sql(
        "directory", f"UPDATE accounts SET {field} = {'NULL' if value is None else value} WHERE id IN ('a03', 'a07')"
    )
    planned = bench.plan()
    assert [row["key"] for row in planned["plan"]["rows"]] == [["a01"], ["a02"]]
    assert ["a03"] in [row["key"] for row in planned["plan"]["undecided"]]
    shown = bench.run("show", planned["plan_id"])
    for part in (f"2 of 12 rows have no usable `{field}`", why, "`a03`", "`a07`"):
        assert part in shown.words, shown.said
    assert "None" not in shown.said


@pytest.mark.requirement("R2", "R33")
def test_a_key_that_is_no_text_is_a_reason_that_shows_it(bench):
    """Nothing can name the object, so the read is not complete; its bytes are shown so that it can be found."""
    loosen(bench)
    bench.sql("directory", "UPDATE accounts SET id = CAST(x'ff41' AS TEXT) WHERE id = 'a03'")
    ended = bench.run("plan", FILE)
    assert ended.exit == 3
    for part in ("MALFORMED_RESPONSE", "1 of 12 rows without a usable key", "`id`", "\\xffA"):
        assert part in ended.words, ended.said


def test_bad_cells_are_named_in_a_refusal_too(bench):
    """Whoever looks into why nothing was proposed sees them at once."""
    loosen(bench)
    bench.sql("directory", "UPDATE accounts SET last_login = NULL WHERE id = 'a03'")
    bench.configure(hr_limit=1)
    ended = bench.run("plan", FILE)
    assert ended.exit == 3
    assert "1 of 12 rows has no usable `last_login`" in ended.words, ended.said


def test_a_bad_cell_of_a_related_object_is_counted_with_its_field(bench):
    """What a conclusion of absence rests on: the row of the other inventory is named in the evidence."""
    bench.sql("hr", "UPDATE employees SET active = 7 WHERE id = 'p6'")
    planned = bench.plan()
    shown = bench.run("show", planned["plan_id"])
    assert "1 of 6 rows has no usable `active`" in shown.words, shown.said
    assert "`p6`" in shown.words
    assert [row["key"] for row in planned["plan"]["rows"]] == [["a01"], ["a03"]]


@pytest.mark.requirement("R40")
def test_a_control_character_and_its_escape_written_out_are_told_apart(bench):
    """Two names that differ on paper differ on the screen, in the CSV and on the page."""
    names = ("zz\x1b[1m", r"zz\x1b[1m", "zz\ttab", r"zz\ttab", "zz\\")
    for number, name in enumerate(names):
        bench.sql(
            "directory",
            "INSERT INTO accounts VALUES (?, ?, ?, '2020-01-01T00:00:00+00:00', 0, 1)",
            name,
            f"u{number}",
            name,
        )
    bench.rule(limit="50, 100%")
    plan_id = bench.plan()["plan_id"]
    bench.run("show", plan_id, "--html", "page.html")
    shown = bench.run("show", plan_id, "--all").out
    table = [row for row in csv.reader(io.StringIO(bench.run("show", plan_id, "--csv").out)) if "zz" in "".join(row)]
    page = (bench.root / "page.html").read_text()
    for text in (r"zz\x1b[1m", r"zz\\x1b[1m", r"zz\ttab", r"zz\\ttab", "zz\\\\"):
        assert any(text in line.split() for line in shown.splitlines()), (text, shown)
        assert any(cell == text for row in table for cell in row), (text, table)
        assert f">{text}<" in page or f">{text.replace('&', '&amp;')}<" in page, text
    for name, text in zip(names[:2], (r"zz\x1b[1m", r"zz\\x1b[1m"), strict=True):
        assert text in bench.run("why", plan_id, json.dumps([name])).out.split()
    # as it is shown: accepted, unless it is how another one is written
    assert "FC681" in bench.run("why", plan_id, r"zz\ttab").said
    assert "zz\\\\" in bench.run("why", plan_id, "zz\\\\").out.split()
    struck = bench.run("strike", plan_id, r"zz\\ttab", "--because", "looks odd", "--json").json
    assert struck["struck"] == [[r"zz\ttab"]]

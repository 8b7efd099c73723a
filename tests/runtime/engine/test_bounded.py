"""A `bounded` clean-up in a real workspace: what was found, approved by a person who sees that it is not all."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.requirement("R22", "R25")

RULE = """\
workflow lock_old {{
  inventory accounts from directory.accounts {{
    key         id
    incarnation entry_uuid
    fields      {{ id: text, entry_uuid: text, owner: text?, last_login: timestamp, locked: bool }}
    scope       starts_with(id, "a")
  }}

  verify accounts {{ fresh within 1h }}

  propose disable from accounts as a {{
    bounded
    where not a.locked and a.last_login < now - 90d and a.owner is absent
    limit {limit}
    show  a.last_login
  }}

  approve disable {{ 1 of role "iam-admin", expires after 3d }}

  act disable with directory.update(id: a.id, locked: true) {{
    undo directory.update(id: a.id, locked: false)
  }}
}}
"""
FILE = "workflows/lock_old.fcw"


def cut(bench, rows: int | None) -> None:
    """Cap what is read of the directory."""
    path = bench.root / "fullcount.toml"
    text = path.read_text("utf-8")
    path.write_text(text.replace('timezone = "UTC"\n', f'timezone = "UTC"\nmax_rows = {rows}\n', 1), encoding="utf-8")


@pytest.fixture
def bench(bench):
    (bench.root / FILE).write_text(RULE.format(limit=5), encoding="utf-8")
    bench.sql("directory", "UPDATE accounts SET owner = NULL WHERE id = 'a12'")
    bench.sql("directory", "UPDATE accounts SET last_login = '2020-01-01T00:00:00+00:00' WHERE id = 'a12'")
    return bench


def test_what_was_found_is_proposed_with_every_reason_on_the_screen_and_in_the_digest(bench):
    """The plan says that it is not all, why, and gives no share of what nobody counted."""
    whole = bench.plan(file=FILE)
    cut(bench, 6)
    planned = bench.plan(file=FILE)
    document = planned["plan"]
    assert [row["key"] for row in document["rows"]] == [["a01"]]
    assert document["bounded"] is True
    assert document["certificates"][0]["incomplete"] == ["CLIENT_LIMIT_REACHED"]
    assert planned["digest"] != whole["digest"]
    said = bench.run("show", planned["plan_id"]).words
    assert "Disable 1 of the 6 accounts that were found" in said
    assert "NOT COMPLETE: there may be more" in said
    assert "CLIENT_LIMIT_REACHED: the source's own cap of 6 rows was reached, of 12" in said
    assert "%" not in said.split("caps", 1)[1].split("kept", 1)[0]


def test_it_waits_for_a_person_and_then_acts_on_what_was_found_alone(bench):
    """Each object is read again; what was not found is left alone."""
    cut(bench, 6)
    planned = bench.plan(file=FILE)
    assert bench.run("apply", planned["plan_id"]).exit == 5
    assert bench.locked() == set()
    bench.approve(planned)
    assert bench.run("apply", planned["plan_id"]).exit == 0
    assert bench.locked() == {"a01"}
    assert bench.run("verify").exit == 0


def test_an_object_that_changed_since_is_left_alone(bench):
    """The recheck is what stands in for the whole that was not read."""
    cut(bench, 6)
    planned = bench.plan(file=FILE)
    bench.approve(planned)
    bench.sql("directory", "UPDATE accounts SET owner = 'p1', row_version = 2 WHERE id = 'a01'")
    assert "1 changed since the plan" in bench.run("apply", planned["plan_id"]).words
    assert bench.locked() == set()


def test_more_than_the_number_is_over_the_cap_and_can_not_be_approved(bench):
    """The number is all that is left."""
    (bench.root / FILE).write_text(RULE.format(limit=1), encoding="utf-8")
    planned = bench.plan(file=FILE, exits=4)
    assert planned["state"] == "over_cap"


def test_a_reading_that_failed_altogether_is_refused(bench):
    """Nothing was found: that is no list, and no empty one either."""
    (bench.root / "directory.db").rename(bench.root / "gone.db")
    planned = bench.plan(file=FILE, exits=3)
    assert planned["state"] == "refused"


def test_partial_and_empty_proposes_nothing(bench):
    """No row, and no word of what there is."""
    cut(bench, 0)
    planned = bench.plan(file=FILE, exits=0)
    assert planned["state"] == "nothing"


def test_the_page_shows_the_reasons_as_well(bench):
    """The offline review says the same as the terminal."""
    cut(bench, 6)
    planned = bench.plan(file=FILE)
    bench.run("show", planned["plan_id"], "--html", "review.html")
    page = (bench.root / "review.html").read_text("utf-8")
    assert "NOT COMPLETE: there may be more" in page
    assert "CLIENT_LIMIT_REACHED" in page

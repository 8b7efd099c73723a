"""Objects that changed since the plan and are still due are acted on and told; recreated ones where nobody can tell."""

import pytest


def without_incarnation(bench):
    """Make a workspace in which nothing tells a recreated account."""
    config = bench.root / "fullcount.toml"
    config.write_text(config.read_text().replace('incarnation = "entry_uuid"\n', ""))
    file = bench.root / bench.rule()
    file.write_text(file.read_text().replace("    incarnation entry_uuid\n", ""))


def row(ended, key):
    (found,) = [row for row in ended.json["report"]["rows"] if row["key"] == [key]]
    return found


@pytest.mark.requirement("R22", "R25")
def test_plan_says_when_recreated_objects_can_not_be_told_apart(bench):
    """One line on the screen, in the JSON and on the page; none where an incarnation tells."""
    told = "recreated objects can't be told apart"
    assert not any(told in note for note in bench.plan()["plan"]["notes"])
    without_incarnation(bench)
    planned = bench.plan()
    (note,) = planned["plan"]["notes"]
    assert note.startswith(told)
    assert "`accounts` has no `incarnation`" in note
    assert told in bench.run("show", planned["plan_id"]).words
    page = bench.root / "review.html"
    bench.run("show", planned["plan_id"], "--html", page)
    assert "recreated objects can&#39;t be told apart" in page.read_text()


def test_report_without_an_act_says_nothing_of_recreation(bench):
    """Where nothing is done, nothing can be done to the wrong object."""
    bench.sql("directory", "UPDATE accounts SET locked = 1 WHERE id = 'a12'")  # no act brings it about
    without_incarnation(bench)
    file = bench.root / bench.rule(approve="", act="")
    file.write_text(file.read_text().replace("    incarnation entry_uuid\n", ""))
    assert bench.plan(exits=0)["plan"]["notes"] == []


@pytest.mark.requirement("R22", "R25")
def test_object_that_changed_and_is_still_due_is_listed_with_what_changed(bench):
    """The rule holds again, so it is done; the report says so by name, and by value only what the plan shows."""
    planned = bench.approved()
    bench.sql("directory", "UPDATE accounts SET owner = 'p8', row_version = 2 WHERE id = 'a02'")
    ended = bench.run("apply", planned["plan_id"], "--json")
    assert (ended.exit, ended.json["report"]["counts"]["done"], ended.json["report"]["moved"]) == (0, 3, 1)
    assert row(ended, "a02")["moved"] == [{"field": "owner", "was": "p6", "now": "p8"}, {"field": "row_version"}]
    assert (row(ended, "a01")["moved"], row(ended, "a03")["moved"]) == ([], [])


@pytest.mark.requirement("R22", "R25")
def test_screen_of_an_apply_lists_what_changed_and_was_still_due(bench):
    """Whoever reads the end of a night sees which objects were not what they had been."""
    planned = bench.approved()
    bench.sql("directory", "UPDATE accounts SET owner = 'p8', row_version = 2 WHERE id = 'a02'")
    said = bench.run("apply", planned["plan_id"]).words
    assert "still due 1 object had changed since the plan" in said
    assert "a02: owner p6 -> p8, row_version changed" in said


@pytest.mark.requirement("R22")
def test_recreated_object_without_an_incarnation_is_done_and_told(bench):
    """What can't be told apart is at least seen to have changed."""
    without_incarnation(bench)
    planned = bench.approved()
    bench.sql("directory", "DELETE FROM accounts WHERE id = 'a01'")
    bench.sql("directory", "INSERT INTO accounts VALUES ('a01', 'new', NULL, '2020-01-01T00:00:00Z', 0, 1)")
    ended = bench.run("apply", planned["plan_id"], "--json")
    assert row(ended, "a01")["outcome"] == "done"
    assert [moved["field"] for moved in row(ended, "a01")["moved"]] == ["entry_uuid", "last_login"]


def test_undo_and_an_unchanged_apply_list_nothing(bench):
    """What our own act changed is no change of somebody else's."""
    planned = bench.approved()
    assert bench.run("apply", planned["plan_id"], "--json").json["report"]["moved"] == 0
    assert bench.undone(planned)["report"]["moved"] == 0

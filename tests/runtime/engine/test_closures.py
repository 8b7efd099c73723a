"""What goes with an object: counted in the plan, held against the limit, and looked up again where it is deleted."""

from __future__ import annotations

import pytest
from tests.support.workspaces import ORPHANS, Bench

DELETE = "act disable with directory.delete(id: a.id)"
ALONG = "act disable with directory.delete(id: a.id) { cascades within limit }"


@pytest.fixture
def bench(bench):
    """A workspace with one account that is locked already."""
    bench.sql("directory", "UPDATE accounts SET locked = 1 WHERE id = 'a12'")
    return bench


def related(bench: Bench, *statements: str) -> None:
    """Let other tables refer to accounts: grants go with them, notes lose their reference."""
    bench.sql("directory", "CREATE TABLE grants (n INTEGER PRIMARY KEY, account REFERENCES accounts ON DELETE CASCADE)")
    bench.sql("directory", "CREATE TABLE notes (n INTEGER PRIMARY KEY, account REFERENCES accounts ON DELETE SET NULL)")
    for statement in statements:
        bench.sql("directory", statement)


def accounts(bench: Bench) -> set[str]:
    """Return the accounts that are there."""
    return {key for (key,) in bench.sql("directory", "SELECT id FROM accounts")}


def outcomes(ended) -> dict[str, tuple[str, str | None]]:
    """Return how each object ended, and why."""
    return {row["key"][0]: (row["outcome"], row["reason"]) for row in ended.json["report"]["rows"]}


@pytest.mark.requirement("R28")
def test_what_would_go_along_without_a_word_of_the_workflow_is_undecided(bench):
    """Nobody approved the grants of `a01`; the others have none and stay candidates."""
    related(bench, "INSERT INTO grants VALUES (1, 'a01'), (2, 'a01')", "INSERT INTO notes VALUES (1, 'a02')")
    bench.rule(act=DELETE)
    planned = bench.plan()
    document = bench.run("show", planned["plan_id"], "--json").json["plan"]
    assert [row["key"] for row in document["rows"]] == [["a03"]]
    missing = {row["key"][0]: row["missing"][0] for row in document["undecided"]}
    assert "deletes main.grants 2" in missing["a01"]
    assert "changes main.notes 1" in missing["a02"]
    assert document["sums"]["candidates"] == 1


@pytest.mark.requirement("R28")
@pytest.mark.parametrize(("limit", "exits"), [("5, 100%", 4), ("6, 100%", 5), ("12, 49%", 4), ("12, 50%", 5)])
def test_what_goes_along_counts_against_both_halves_of_the_limit(bench, limit, exits):
    """Three accounts of twelve with three rows besides are six of the limit, a changed one among them."""
    related(bench, "INSERT INTO grants VALUES (1, 'a01'), (2, 'a01')", "INSERT INTO notes VALUES (1, 'a02')")
    bench.rule(act=ALONG, limit=limit)
    bench.plan(exits=exits)


@pytest.mark.parametrize(
    "unforeseen",
    [
        "CREATE TRIGGER audit AFTER DELETE ON grants BEGIN SELECT 1; END",
        "CREATE TABLE parts (n INTEGER PRIMARY KEY, note REFERENCES notes (account) ON UPDATE CASCADE)",
    ],
)
def test_what_can_not_be_told_refuses_the_plan(bench, unforeseen):
    """A trigger on the way, or a change that goes on from there, makes the closure unknown."""
    related(bench, "INSERT INTO grants VALUES (1, 'a01')", "INSERT INTO notes VALUES (1, 'a02')", unforeseen)
    bench.rule(act=ALONG)
    ended = bench.run("plan", "workflows/disable_orphans.fcw")
    assert ended.exit == 3
    assert "FC784" in ended.said
    assert len(accounts(bench)) == 12


@pytest.mark.requirement("R22", "R36")
def test_a_closure_that_grew_since_the_plan_is_left_alone(bench):
    """One more grant than was approved, and one where there was none: both accounts stay, with all that is theirs."""
    related(bench, "INSERT INTO grants VALUES (1, 'a01')")
    bench.rule(act=ALONG, limit="6, 100%")
    planned = bench.approved()
    bench.sql("directory", "INSERT INTO grants VALUES (2, 'a01'), (3, 'a02')")
    ended = bench.run("apply", planned["plan_id"], "--json")
    assert outcomes(ended) == {
        "a01": ("changed", "COLLATERAL_CHANGE"), "a02": ("changed", "COLLATERAL_CHANGE"), "a03": ("done", None)
    }  # fmt: skip
    assert len(bench.sql("directory", "SELECT * FROM grants")) == 3


@pytest.mark.requirement("R28")
def test_what_goes_along_with_a_step_goes_only_where_the_step_says_so(bench):
    """And counts against the limit, as with an act of one operation; the record verifies."""
    related(bench, "INSERT INTO grants VALUES (1, 'a01'), (2, 'a01')")
    bench.rule(act="act disable with steps { delete: directory.delete(id: a.id) }", limit="5, 100%")
    planned = bench.plan()
    document = bench.run("show", planned["plan_id"], "--json").json["plan"]
    assert "step `delete` does not say `cascades within limit`" in document["undecided"][0]["missing"][0]
    along = "act disable with steps { delete: directory.delete(id: a.id) cascades within limit }"
    bench.rule(act=along, limit="4, 100%")
    bench.plan(exits=4)
    bench.rule(act=along, limit="5, 100%")
    planned = bench.approved()
    assert "cascades within the limit" in bench.run("show", planned["plan_id"]).words
    ended = bench.run("apply", planned["plan_id"], "--json")
    assert set(outcomes(ended).values()) == {("done", None)}
    assert bench.sql("directory", "SELECT * FROM grants") == []
    assert bench.run("verify").exit == 0


def test_what_was_approved_to_go_along_goes(bench):
    """The plan says what, for each object and in all; the record verifies."""
    related(bench, "INSERT INTO grants VALUES (1, 'a01'), (2, 'a01')", "INSERT INTO notes VALUES (1, 'a02')")
    bench.rule(act=ALONG, limit="6, 100%")
    planned = bench.approved()
    shown = bench.run("show", planned["plan_id"])
    assert "takes along 2: deletes main.grants 2" in shown.words
    assert "3 go along and count against the limit: changes main.notes 1, deletes main.grants 2" in shown.words
    assert "3 + 3 of 6" in shown.words
    ended = bench.run("apply", planned["plan_id"], "--json")
    assert set(outcomes(ended).values()) == {("done", None)}
    assert accounts(bench).isdisjoint(ORPHANS)
    assert bench.sql("directory", "SELECT * FROM grants") == []
    assert bench.sql("directory", "SELECT * FROM notes") == [(1, None)]
    assert bench.run("verify").exit == 0


class TestObjectsThatReferToEachOther:
    """Accounts with a parent, which goes last."""

    @pytest.fixture
    def bench(self, bench, request):
        """Accounts that refer to another one: `a01` to `a02` and `a02` to `a03`."""
        action = getattr(request, "param", "NO ACTION")
        bench.sql("directory", "ALTER TABLE accounts RENAME TO plain")
        bench.sql(
            "directory",
            "CREATE TABLE accounts (id TEXT PRIMARY KEY NOT NULL, entry_uuid TEXT NOT NULL, owner TEXT,"
            " last_login TEXT NOT NULL, locked BOOLEAN NOT NULL, row_version INTEGER NOT NULL,"
            f" parent TEXT REFERENCES accounts ON DELETE {action})",
        )
        bench.sql("directory", "INSERT INTO accounts SELECT *, NULL FROM plain")
        bench.sql("directory", "UPDATE accounts SET parent = 'a02' WHERE id = 'a01'")
        bench.sql("directory", "UPDATE accounts SET parent = 'a03' WHERE id = 'a02'")
        bench.rule(act=DELETE)
        return bench

    @pytest.mark.requirement("R28")
    @pytest.mark.parametrize("bench", ["CASCADE", "SET NULL"], indirect=True)
    def test_no_object_takes_one_along_that_the_rule_keeps(self, bench):
        """`a04` is owned and refers to `a03`, so `a03` stays; what refers to nothing that is kept goes."""
        bench.sql("directory", "UPDATE accounts SET parent = 'a03' WHERE id = 'a04'")
        document = bench.run("show", bench.plan()["plan_id"], "--json").json["plan"]
        assert {row["key"][0] for row in document["rows"]} == {"a01", "a02"}
        (left,) = document["undecided"]
        assert "takes along `a04`" in left["missing"][0]

    def test_objects_in_a_circle_are_undecided(self, bench):
        """None of them can go first."""
        bench.sql("directory", "UPDATE accounts SET parent = 'a01' WHERE id = 'a03'")
        document = bench.run("show", bench.plan(exits=0)["plan_id"], "--json").json["plan"]
        assert document["rows"] == []
        assert all("in a circle" in row["missing"][0] for row in document["undecided"])

    @pytest.mark.requirement("R22")
    @pytest.mark.parametrize("bench", ["NO ACTION", "CASCADE"], indirect=True)
    def test_an_object_stays_when_one_that_has_to_go_first_did_not_go(self, bench):
        """`a01` was changed meanwhile, so that `a02` and `a03` stay as well, whatever the database would do."""
        planned = bench.approved()
        bench.sql("directory", "UPDATE accounts SET owner = 'p1', row_version = 2 WHERE id = 'a01'")
        found = outcomes(bench.run("apply", planned["plan_id"], "--json"))
        assert found["a01"][0] == "changed"
        assert (found["a02"], found["a03"]) == (("refused", "FC797"), ("refused", "FC797"))
        assert len(accounts(bench)) == 12

    @pytest.mark.parametrize("bench", ["NO ACTION", "CASCADE", "SET NULL"], indirect=True)
    def test_children_go_first(self, bench):
        """Each is acted on itself, once, and none is found gone with another."""
        planned = bench.approved()
        ended = bench.run("apply", planned["plan_id"], "--json")
        assert set(outcomes(ended).values()) == {("done", None)}
        assert accounts(bench).isdisjoint(ORPHANS)


@pytest.mark.requirement("R24", "R28")
def test_a_row_that_waits_for_a_struck_one_is_struck_along_and_said(bench):
    """What refers to it stays, so an apply could do nothing but refuse it: nobody is asked to approve that."""
    bench.sql("directory", "ALTER TABLE accounts ADD COLUMN parent REFERENCES accounts ON DELETE CASCADE")
    bench.sql("directory", "UPDATE accounts SET parent = 'a01' WHERE id = 'a02'")
    bench.sql("directory", "UPDATE accounts SET parent = 'a02' WHERE id = 'a03'")
    bench.rule(act=ALONG)
    planned = bench.plan()
    ended = bench.run("strike", planned["plan_id"], "a02")
    assert ended.exit == 0, ended.said
    assert "along a01: can't go while what refers to it stays" in ended.words
    (left,) = bench.run("runs", "--json").json["plans"][:1]
    document = bench.run("show", left["plan_id"], "--json").json["plan"]
    assert [row["key"] for row in document["rows"]] == [["a03"]]
    assert bench.run("verify").exit == 0

"""Nothing is acted on over a record that was changed from outside."""

import pytest
from tests.support.records import tamper


@pytest.mark.requirement("R24", "R34")
@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM controls",
        "UPDATE approval_rounds SET expires_at = expires_at + 1000000",
        "DELETE FROM approval_votes",
    ],
)
def test_a_record_that_does_not_verify_carries_no_act(bench, statement):
    """A halt that was wiped off, an approval made to last longer, a vote that is gone: nothing is touched."""
    plan = bench.approved()
    bench.run("halt", "under investigation")
    tamper(bench.state, statement)
    before = bench.everything()
    ended = bench.run("apply", plan["plan_id"], "--json")
    assert ended.exit == 1
    assert ended.json["error"]["code"] == "FC773"
    assert bench.everything() == before


@pytest.mark.requirement("R29", "R34")
def test_outcomes_wiped_from_the_record_do_not_let_the_acts_be_done_again(bench):
    """What was done is not done again because somebody made the ledger forget it."""
    plan = bench.approved()
    assert bench.run("apply", plan["plan_id"]).exit == 0
    tamper(bench.state, "DELETE FROM acts")
    before = bench.everything()
    assert bench.run("apply", plan["plan_id"], "--json").json["error"]["code"] == "FC773"
    assert bench.run("undo", plan["plan_id"], "--json").json["error"]["code"] == "FC773"
    assert bench.everything() == before


def test_a_plan_that_lists_nothing_has_nothing_to_be_done(bench):
    """An empty plan is no failure, whatever its caps come to."""
    bench.sql("directory", "UPDATE accounts SET owner = 'p1'")
    plan = bench.plan(exits=0)
    ended = bench.run("apply", plan["plan_id"], "--json")
    assert (ended.exit, ended.json["report"]["candidates"]) == (0, 0)

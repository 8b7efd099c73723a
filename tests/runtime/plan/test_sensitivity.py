"""What a reviewer is told beside the rows: near misses, risk, what is new, what a refusal prevented."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.support.planning import NOW, ORPHANS, account, compiled, evidence

from fullcount.compiler.values import FieldState
from fullcount.runtime.plan.prevented import prevented
from fullcount.runtime.plan.thresholds import other_lengths, thresholds

DAY = 86_400_000_000


def ago(days: float):
    """So long before the plan."""
    return NOW - timedelta(days=days)


def changes(doc):
    """What each other length would select."""
    return {item.change: item.candidates for item in doc.sensitivity}


@pytest.mark.requirement("R25")
def test_near_misses_are_counted_by_the_statement_of_the_plan(tmp_path):
    """Two thirds, nine tenths and eleven tenths of the length in force, each with the count it would select."""
    rows = [account(f"a{n}", last_login=ago(days)) for n, days in enumerate((50, 65, 85, 89, 95, 120))]
    doc = evidence(tmp_path, rows).plan()
    assert doc.sums.candidates == 2
    assert changes(doc) == {"idle 60d": 5, "idle 81d": 4, "idle 99d": 1}
    assert [item.closest for item in doc.sensitivity] == [None, "a3 (89 d)", None]


def test_a_literal_length_is_tried_as_well_and_only_where_it_is_that_border(tmp_path):
    """The same length elsewhere in the rule means something else and stays."""
    text = ORPHANS.replace("now - idle", "now - 90d").replace("  param idle: duration = 90d\n", "")
    text = text.replace("and (a.owner", "and a.created < now - 90d and (a.owner")
    rows = [account("a", last_login=ago(85)), account("b", last_login=ago(85), created=ago(86))]
    doc = evidence(tmp_path, rows, text=text).plan()
    assert changes(doc) == {"60d instead of 90d": 2, "81d instead of 90d": 2, "99d instead of 90d": 0}


def test_borders_are_found_in_any_form_and_parameters_come_first():
    """`now - d`, an age compared with `d`, and a time to come compared with `now + d`."""
    text = ORPHANS.replace(
        "where (a.last_login else a.created) < now - idle",
        "where now - a.created > 30d and a.created < now + 10d and (a.last_login else a.created) < now - idle",
    )
    found = thresholds(compiled(text).proposals[0].where, "a")
    assert [(border.name, border.direction) for border in found] == [("idle", -1), ("30d", -1), ("10d", 1)]


def test_other_lengths_are_whole_and_never_nothing():
    """Lengths are rounded to units of which there are many; a length of nothing is not tried."""
    assert other_lengths(90 * DAY) == (60 * DAY, 81 * DAY, 99 * DAY)
    assert other_lengths(0) == ()
    assert other_lengths(1) == (2,) or 1 not in other_lengths(1)
    assert all(length % (DAY // 24) == 0 for length in other_lengths(2 * DAY))


def test_the_riskiest_rows_come_first_and_say_why(tmp_path):
    """Nearness to the border, a fresh time on the object, newness and a missing precondition raise the risk."""
    rows = [
        account("calm"),
        account("near", last_login=ago(90.5)),
        account("close", last_login=ago(91.5)),
        account("bare", revision=FieldState.NOT_REQUESTED, entry_uuid=FieldState.ABSENT),
    ]
    world = evidence(tmp_path, rows)
    before = world.plan()
    assert [(row.key[0], row.risk, row.notes) for row in before.rows] == [
        ("near", 2, ("only 12 h inside idle",)),
        ("bare", 1, ("no version or incarnation to tell a change by",)),
        ("close", 1, ("only 36 h inside idle",)),
        ("calm", 0, ()),
    ]
    world.add("accounts", [*rows[1:], account("new", created=NOW + timedelta(hours=1))])
    after = world.plan(previous=before)
    assert (after.since.new, after.since.gone) == (1, 1)
    assert after.rows[0].key == ("new",)
    assert after.rows[0].notes == ("created is in the future", "first time seen")


def test_a_border_of_an_hour_does_not_make_everything_near(tmp_path):
    """Near is at most a tenth of the length itself."""
    rows = [account("a", last_login=NOW - timedelta(hours=12)), account("b", last_login=NOW - timedelta(minutes=61))]
    doc = evidence(tmp_path, rows).plan(given={"idle": "1h"})
    notes = {row.key[0]: row.notes for row in doc.rows}
    assert notes["a"] == ("last_login 12 h ago",)
    assert notes["b"] == ("only 60 s inside idle", "last_login 61 min ago")


def test_an_act_that_cannot_be_taken_back_is_noted_on_each_row(tmp_path):
    """Irreversible is said where the decision is made."""
    text = ORPHANS[: ORPHANS.index("  act disable")] + "  act disable with directory.accounts.delete(id: a.id)\n}\n"
    doc = evidence(tmp_path, [account("a")], text=text).plan()
    assert doc.act["reversible"] is False
    assert doc.rows[0].notes == ("can't be taken back",)


@pytest.mark.requirement("R20", "R25")
def test_what_a_refusal_prevented_is_told_as_counts_only(tmp_path):
    """A feed cut to nothing would have taken every owned account; the plan itself takes none of them."""
    world = evidence(tmp_path, [account("a", owner="ana"), account("b", owner="bo")])
    world.add("people", [], complete=False)
    proposal = world.workflow.proposals[0]
    inputs = world.inputs()
    found = prevented(world.workflow, proposal, inputs.envelopes, world.store, inputs.bindings)
    assert (found.selected, found.population) == (2, 2)
    assert world.plan().rows == ()
    half = [e for e in inputs.envelopes if e.inventory == "accounts"]
    assert prevented(world.workflow, proposal, half, world.store, inputs.bindings) is None
    world.add("accounts", [account("a"), account("a")])
    assert prevented(world.workflow, proposal, world.inputs().envelopes, world.store, inputs.bindings) is None


def test_what_is_shown_does_not_change_what_an_approval_is_bound_to(tmp_path):
    """A plan made again a minute later over the same snapshots has the same digest."""
    world = evidence(tmp_path, [account("a", last_login=ago(90.01)), account("b", last_login=ago(89.9999))])
    first = world.plan()
    again = world.plan(plan_id="another", run_id="another", previous=first, created_at=NOW + timedelta(minutes=1))
    assert again.digest == first.digest
    assert again != first

"""Floors in a plan: the first of each group of the whole population stay, and the plan shows the groups."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.planning import ORPHANS, account, evidence

from fullcount.compiler.values import FieldState
from fullcount.runtime.plan.document import FloorGroup, KeptGroup
from fullcount.runtime.plan.html import render_html
from fullcount.runtime.plan.layout import to_text
from fullcount.runtime.plan.review import ReviewStatus
from fullcount.runtime.plan.text import render_plan

KEEP = "keep at least 2 per a.team newest by a.created"
START = datetime(2024, 1, 1, tzinfo=UTC)


def floored(clause: str = KEEP) -> str:
    return (
        ORPHANS.replace("where (a.last_login else a.created) < now - idle\n      and", "where")
        .replace('    except when a.team == "platform"\n', f"    {clause}\n")
        .replace("50, 50%", "5000, 100%")
        .replace("  param idle: duration = 90d\n", "")
    )


def old(key: str, days: int, **values):
    """An account that nobody owns, made so many days after the first."""
    return account(key, created=START + timedelta(days=days), **values)


def planned(tmp_path, accounts, clause: str = KEEP):
    return evidence(tmp_path, accounts, text=floored(clause)).plan()


def keys(doc):
    return sorted(key for row in doc.rows for key in row.key)


@pytest.mark.requirement("R21")
def test_the_newest_of_each_group_stay_whatever_the_rule_says(tmp_path):
    """Two of each team, however many the rule selects."""
    doc = planned(tmp_path, [old(f"{team}{n}", n, team=team) for team in ("a", "b") for n in range(4)])
    assert keys(doc) == ["a0", "a1", "b0", "b1"]
    assert doc.kept == (KeptGroup(reason=f"stays by `{KEEP}`", count=4, examples=(("a2",), ("a3",), ("b2",))),)


def test_a_group_no_larger_than_the_floor_is_left_alone(tmp_path):
    """Nothing goes from a team of one or two."""
    doc = planned(tmp_path, [old("a0", 0, team="a"), old("b0", 0, team="b"), old("b1", 1, team="b")])
    assert keys(doc) == []
    assert (doc.floors[0].groups, doc.floors[0].small) == (2, 2)


def test_the_group_is_of_the_whole_population_and_not_of_what_the_rule_selects(tmp_path):
    """The newest two are owned and stay by the rule; then the older ones may go."""
    accounts = [old("a0", 0, team="a"), *(old(f"a{n}", n, team="a", owner="ana") for n in (1, 2))]
    world = evidence(tmp_path, accounts, [{"id": "ana", "active": True}], text=floored())
    assert keys(world.plan()) == ["a0"]


@pytest.mark.requirement("R21")
def test_a_group_may_be_made_of_several_values(tmp_path):
    """Two of each owner and team: two owners in one team are two groups, whatever letters their names begin with."""
    clause = 'keep at least 2 per [a.owner else "nobody", a.team] newest by a.created'
    accounts = [old(f"{owner}{team}{n}", n, team=team, owner=owner) for owner, team in ("xy", "xz") for n in range(2)]
    accounts += [old(f"xyz{n}", n, team="z", owner="xy") for n in range(3)]
    doc = planned(tmp_path, accounts, clause)
    assert keys(doc) == ["xyz0"]
    assert doc.floors[0].listed[0] == FloorGroup(group=["xy", "z"], size=3, candidates=1, kept=2)


def test_an_object_of_which_a_part_of_the_group_is_unknown_is_kept(tmp_path):
    """Half of a group is none."""
    clause = 'keep at least 1 per [a.owner else "nobody", a.team] newest by a.created'
    accounts = [old(f"a{n}", n, team="a") for n in range(3)]
    accounts[0]["team"] = FieldState.FORBIDDEN
    assert keys(planned(tmp_path, accounts, clause)) == ["a1"]


def test_objects_that_are_equally_new_stay_together(tmp_path):
    """No order is made up between them: the third is as new as the second, so it stays as well."""
    accounts = [old("a0", 0, team="a"), old("a1", 5, team="a"), old("a2", 5, team="a"), old("a3", 9, team="a")]
    doc = planned(tmp_path, accounts)
    assert keys(doc) == ["a0"]
    assert doc.floors[0].listed == (FloorGroup(group="a", size=4, candidates=1, kept=3),)


@pytest.mark.requirement("R7", "R21")
@pytest.mark.parametrize("field", ["team", "created"])
def test_an_object_whose_place_is_not_known_is_kept_and_counts_for_nobody(tmp_path, field):
    """Unknown order or group keeps it; and no other object is let go because of it."""
    accounts = [old("a0", 0, team="a"), old("a1", 1, team="a"), old("dark", 9, team="a")]
    accounts[2][field] = FieldState.FORBIDDEN
    doc = planned(tmp_path, accounts)
    assert keys(doc) == []
    assert {(group.reason, group.count) for group in doc.kept} == {
        (f"stays by `{KEEP}`", 1),  # at most one other can be newer
        (f"kept because its place by `{KEEP}` is not known", 2),
    }
    assert doc.floors[0].unplaced == 1


def test_the_oldest_can_be_kept_and_all_can_be_one_group(tmp_path):
    """`oldest`, and no `per`."""
    accounts = [old(f"a{n}", n, team=f"t{n}") for n in range(5)]
    assert keys(planned(tmp_path, accounts, "keep at least 3 oldest by a.created")) == ["a3", "a4"]


def test_of_several_floors_each_holds_and_the_first_is_named(tmp_path):
    """An object must be past all of them."""
    accounts = [old(f"a{n}", n, team="ab"[n % 2]) for n in range(6)]
    doc = planned(
        tmp_path, accounts, "keep at least 1 per a.team newest by a.created keep at least 1 oldest by a.created"
    )
    assert keys(doc) == ["a1", "a2", "a3"]
    assert [(group.reason, group.count) for group in doc.kept] == [
        ("stays by `keep at least 1 per a.team newest by a.created`", 2),
        ("stays by `keep at least 1 oldest by a.created`", 1),
    ]


def test_what_is_out_of_scope_is_of_no_group(tmp_path):
    """A newer object of another environment keeps nobody and lets nobody go."""
    text = (
        floored()
        .replace("created: timestamp, last", "created: timestamp, locked: bool, last")
        .replace("    incarnation entry_uuid\n", "    incarnation entry_uuid\n    scope not locked\n")
    )
    rows = [old("a0", 0, team="a", locked=False), *(old(f"a{n}", n, team="a", locked=True) for n in (1, 2, 3))]
    doc = evidence(tmp_path, rows, text=text).plan()
    assert (keys(doc), doc.sums.inventory) == ([], 1)


def test_groups_with_their_sizes_are_on_the_screens(tmp_path):
    """Those that lose most come first, harmlessly."""
    accounts = [old(f"a{n}", n, team="<b>") for n in range(6)] + [old(f"b{n}", n, team="data") for n in range(3)]
    accounts += [old(f"c{n}", n, team=f"t{n}") for n in range(8)]
    doc = planned(tmp_path, accounts)
    status = ReviewStatus("waiting")
    shown = to_text(render_plan(doc, status))
    assert f"floor       {KEEP}: 10 groups, 8 no larger than the floor" in shown
    assert "<b>: 4 of 6 go, 2 stay by it · data: 1 of 3 go, 2 stay by it" in " ".join(shown.split())
    assert "… 4 more groups" in shown
    page = render_html(doc, status)
    assert "&lt;b&gt;" in page
    assert "<b>" not in page


def test_floors_are_part_of_the_digest(tmp_path):
    """The same rows under another floor are another plan."""
    accounts = [old(f"a{n}", n, team="a") for n in range(4)]
    two = planned(tmp_path / "a", accounts)
    other = planned(tmp_path / "b", accounts, "keep at least 2 newest by a.created")
    assert (keys(two) == keys(other), two.digest == other.digest) == (True, False)


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.integers(0, 4), st.booleans()), max_size=12), st.integers(1, 3))
def test_at_least_so_many_of_each_group_are_left(tmp_path_factory, objects, count):
    """Whatever goes, each group keeps `count`, or all that it has."""
    folder = tmp_path_factory.mktemp("floors")
    accounts = [
        old(f"a{n}", age, team=team, owner=None if due else "ana") for n, (team, age, due) in enumerate(objects)
    ]
    clause = f"keep at least {count} per a.team newest by a.created"
    world = evidence(folder, accounts, [{"id": "ana", "active": True}], text=floored(clause))
    gone = set(keys(world.plan()))
    for team in "xyz":
        of_team = [a for a in accounts if a["team"] == team]
        left = [a for a in of_team if a["id"] not in gone]
        assert len(left) >= min(count, len(of_team))
        taken = [a for a in of_team if a["id"] in gone]
        assert all(sum(b["created"] > a["created"] for b in left) >= count for a in taken)

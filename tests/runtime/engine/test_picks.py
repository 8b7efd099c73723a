"""`pick` in a real workspace: the same choice each time, what it passes over, and what moved is left alone."""

from __future__ import annotations

import hashlib

import pytest

pytestmark = pytest.mark.requirement("R19", "R24")

FILE = "workflows/disable_orphans.fcw"


@pytest.fixture
def bench(bench):
    for number, account in enumerate(("a01", "a02", "a03")):
        at = f"2020-01-0{3 - number}T00:00:00+00:00"
        bench.sql("directory", "UPDATE accounts SET last_login = ? WHERE id = ?", at, account)
    return bench


def pick(bench, clause):
    path = bench.root / FILE
    text = path.read_text("utf-8")
    path.write_text(text.replace("    limit  5, 50%", f"    {clause}\n    limit  5, 50%", 1), encoding="utf-8")
    assert clause in path.read_text("utf-8")


def keys(planned):
    return [row["key"][0] for row in planned["plan"]["rows"]]


def test_the_first_are_taken_and_the_rest_is_kept_by_name(bench):
    """`oldest 2` of three: the third stays, and the plan says by what."""
    pick(bench, "pick oldest 2 by a.last_login")
    planned = bench.plan()
    assert keys(planned) == ["a02", "a03"]
    kept = {group["reason"]: group["count"] for group in planned["plan"]["kept"]}
    assert kept["not among `pick oldest 2 by a.last_login`"] == 1
    said = bench.run("show", planned["plan_id"]).words
    assert "picked pick oldest 2 by a.last_login: 1 passed over" in said
    why = bench.run("why", planned["plan_id"], "a01").words
    assert "not among `pick oldest 2 by a.last_login`" in why


def test_an_exempted_object_does_not_take_a_place(bench):
    """What is kept is not selected, so the next one is taken."""
    pick(bench, "pick oldest 2 by a.last_login")
    bench.exempt("a03")
    assert keys(bench.plan()) == ["a01", "a02"]


def test_equals_are_told_apart_by_their_key(bench):
    """There is always one answer."""
    bench.sql("directory", "UPDATE accounts SET last_login = '2020-01-01T00:00:00+00:00' WHERE id < 'a04'")
    pick(bench, "pick newest 2 by a.last_login")
    assert keys(bench.plan()) == ["a01", "a02"]


def test_a_sample_is_the_same_each_time_and_another_with_another_seed(bench):
    """It is the order of the digests of seed and key, so anybody can make it again."""
    pick(bench, 'pick 67% at random seed "q4"')
    first = bench.plan()
    assert bench.plan()["digest"] == first["digest"]
    order = sorted(("a01", "a02", "a03"), key=lambda key: hashlib.sha256(f"2:q43:{key}".encode()).hexdigest())
    assert keys(first) == sorted(order[:2])
    chosen = set()
    for seed in "abcdefgh":
        path = bench.root / FILE
        bench.rule()
        pick(bench, f'pick 1 at random seed "{seed}"')
        assert path.exists()
        chosen.add(tuple(keys(bench.plan())))
    assert len(chosen) > 1


def test_a_percentage_is_rounded_down(bench):
    """A third of three is one, a quarter is none."""
    pick(bench, 'pick 25% at random seed "x"')
    assert keys(bench.plan(exits=0)) == []


def test_an_object_whose_rank_changed_is_left_alone(bench):
    """What was the oldest and was used since is not the oldest any more."""
    pick(bench, "pick oldest 2 by a.last_login")
    planned = bench.approved()
    bench.sql("directory", "UPDATE accounts SET last_login = '2020-02-01T00:00:00+00:00' WHERE id = 'a03'")
    ended = bench.run("apply", planned["plan_id"])
    assert bench.locked() == {"a02"}
    assert "changed" in ended.words


def test_picks_follow_each_other(bench):
    """The second takes from what the first took."""
    pick(bench, "pick oldest 2 by a.last_login\n    pick newest 1 by a.last_login")
    planned = bench.plan()
    assert keys(planned) == ["a02"]
    kept = {group["reason"]: group["count"] for group in planned["plan"]["kept"]}
    assert kept["not among `pick oldest 2 by a.last_login`"] == 1
    assert kept["not among `pick newest 1 by a.last_login`"] == 1


def test_an_object_that_may_be_selected_leaves_the_next_one_undecided(bench):
    """It could take the place, so nobody can say who is the last that is taken."""
    bench.sql("directory", "UPDATE accounts SET last_login = 'once' WHERE id = 'a03'")
    pick(bench, "pick newest 3 by a.last_login")
    planned = bench.plan()
    assert keys(planned) == ["a01", "a02"]
    pick_one = planned["plan"]["undecided"]
    assert [row["key"] for row in pick_one] == [["a03"]]
    bench.rule()
    pick(bench, "pick oldest 1 by a.last_login")
    planned = bench.plan(exits=0)
    assert keys(planned) == []
    words = {row["key"][0]: row["missing"] for row in planned["plan"]["undecided"]}
    assert words["a02"] == ["its place by `pick oldest 1 by a.last_login` depends on what is not known"]
    assert "its place by" in bench.run("why", planned["plan_id"], "a02").words

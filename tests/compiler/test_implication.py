"""What a proof by shape finds, and what it must not claim: refused cases first."""

from __future__ import annotations

import pytest
from tests.support.compiling import proposal

from fullcount.compiler import ir
from fullcount.compiler.implication import implies, refutes
from fullcount.compiler.normal import normal
from fullcount.compiler.types import DURATION, INT, TIMESTAMP
from fullcount.compiler.values import INT_MAX

pytestmark = pytest.mark.requirement("R19")


def rule(text):
    """The checked condition of a rule over accounts `a`."""
    return proposal(text, params="param idle: duration = 90d").where


UNPROVEN = [
    ("a.logins < 5", "a.logins < 4"),
    ("a.logins <= 5", "a.logins < 5"),
    ("a.logins < 5", "a.logins > 3"),
    ("a.logins != 5", "a.logins < 5"),
    ("a.logins == 5", "a.logins != 5"),
    ('a.team == "x"', 'a.team == "y"'),
    ('a.team in ["x", "y"]', 'a.team in ["x"]'),
    ("a.created < now - 90d", "a.created < now - 91d"),
    ("a.created < now - idle", "a.created < now - 90d"),
    ("now - a.created > 90d", "now - a.created > 100d"),
    ("a.logins < 5 or a.locked", "a.logins < 5"),
    ("a.owner is absent", "a.owner is present"),
    ("some people as p where (p.active)", "no people as p where (p.active)"),
    ("no people as p where (p.active and p.id == a.team)", "no people as p where (p.active)"),
    ("some people as p where (p.active)", "some people as p where (p.active and p.id == a.team)"),
    ("(count people as p where (p.active)) < 3", "(count people as p where (p.active)) < 2"),
    ("some people as p where (p.id == a.team)", "some logins as p where (p.id == a.team)"),
    ('any a.groups as g where (g == "x")', 'all a.groups as g where (g == "x")'),
    ('any a.groups as g where (g in ["x", "y"])', 'any a.groups as g where (g == "x")'),
    ('all a.groups as g where (g in ["x", "y"])', 'all a.groups as g where (g == "x")'),
    (
        "some accounts as x where (x.locked and some accounts as y where (any x.groups as g where (g == y.id)))",
        "some accounts as y where (y.locked and some accounts as x where (any x.groups as g where (g == y.id)))",
    ),
    (
        "max logins as l where (l.account == a.id) of l.bytes needs 3 > 1 KiB",
        "max logins as l where (l.account == a.id) of l.bytes needs 2 > 1 KiB",
    ),
]

PROVEN = [
    ('any a.groups as g where (g == "x")', 'any a.groups as h where (h in ["x", "y"])'),
    ('all a.groups as g where (g == "x")', 'all a.groups as h where (h in ["x", "y"])'),
    (
        "some accounts as x where (x.locked and any x.groups as g where (g == a.id))",
        "some accounts as y where (any y.groups as h where (h == a.id))",
    ),
    ("a.logins < 5", "a.logins < 5"),
    ("a.logins < 5", "a.logins < 6"),
    ("a.logins < 5", "a.logins <= 5"),
    ("a.logins < 5", "a.logins != 5"),
    ("a.logins < 5", "5 > a.logins"),
    ("a.logins < 5", "not a.logins >= 5"),
    ("a.logins == 5", "a.logins <= 5"),
    ("a.logins == 5", "a.logins != 6"),
    ("a.risk > 0.5", "a.risk > 0.25"),
    ("a.mailbox > 10 GiB", "a.mailbox > 10 MiB"),
    ('a.team == "x"', 'a.team in ["x", "y"]'),
    ('a.team in ["x"]', 'a.team in ["x", "y"]'),
    ('not a.team in ["x", "y"]', 'not a.team in ["x"]'),
    ("a.created < now - 90d", "a.created < now - 30d"),
    ("a.created < now - 90d", "a.created < now"),
    ("a.created < now - idle", "a.created < now - idle"),
    ("now - a.created > 90d", "now - a.created > 30d"),
    ("a.logins < 5 and a.locked", "a.logins < 5"),
    ("a.logins < 5", "a.logins < 5 or a.locked"),
    ("a.locked and a.logins < 5", "a.logins < 7 and a.locked"),
    ("not (a.locked or a.logins < 5)", "not a.locked"),
    ("(a.locked and a.logins < 5) or a.logins < 3", "a.logins < 6"),
    ("no people as p where (p.active)", "no people as q where (q.active and q.id == a.team)"),
    ("some people as p where (p.active and p.id == a.team)", "some people as q where (q.active)"),
    ("(count people as p where (p.active)) < 3", "(count people as q where (q.active)) < 4"),
    ("a.owner is absent", "a.owner is known"),
]


@pytest.mark.parametrize(("premise", "conclusion"), UNPROVEN, ids=" => ".join)
def test_what_does_not_follow_is_not_claimed(premise, conclusion):
    """A laxer threshold, a shorter list, a wider search: nothing is claimed of these."""
    assert not implies(rule(premise), rule(conclusion))


@pytest.mark.parametrize(("premise", "conclusion"), PROVEN, ids=" => ".join)
def test_what_follows_by_its_shape_is_proven(premise, conclusion):
    """Conditions more, stricter thresholds, other ways of writing the same: these are seen."""
    assert implies(rule(premise), rule(conclusion))


@pytest.mark.parametrize(("premise", "conclusion"), PROVEN, ids=" => ".join)
def test_what_is_implied_is_refuted_in_the_negative(premise, conclusion):
    """Where one condition is true another is; so where the negation of the one is false, that of the other is."""
    assert refutes(ir.Not(rule(premise)), ir.Not(rule(conclusion)))


def test_a_sum_that_may_leave_64_bits_is_no_threshold():
    """`now` and a length near the end of 64 bits may be unknown where `now` and a small one is not."""
    seen = ir.Field("a", "accounts", "seen", TIMESTAMP, optional=False)

    def before(length):
        later = ir.Arith("+", ir.Now(), ir.Const(length, DURATION), TIMESTAMP)
        return ir.Compare("<", seen, later)

    assert implies(before(0), before(5))
    assert not implies(before(0), before(INT_MAX))


def test_a_row_that_is_called_like_an_outer_one_is_told_apart():
    """Renaming rows captures none: an inner row of the same name is another row."""

    def some(name, where):
        return ir.Some("people", name, where)

    def number(row):
        return ir.Compare("==", ir.Field(row, "people", "n", INT, optional=False), ir.Const(1, INT))

    inner = some("x", ir.And((number("x"), some("x", number("x")))))
    apart = some("x", ir.And((number("x"), some("y", number("y")))))
    outer = some("x", ir.And((number("x"), some("y", number("x")))))
    assert normal(inner) == normal(apart)
    assert normal(inner) != normal(outer)

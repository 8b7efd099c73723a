"""`keep at least N per … newest by …`: refused where it keeps nothing or has no meaning, then typed."""

from __future__ import annotations

import pytest
from tests.support.compiling import only, proposal, rule_codes, underlined, with_rule

from fullcount.compiler import ir
from fullcount.compiler.claims import Direction
from fullcount.compiler.program import Keep
from fullcount.compiler.types import TEXT, TIMESTAMP


def refused(clause: str) -> list[str]:
    return rule_codes("a.locked", clauses=clause)


@pytest.mark.parametrize(
    ("clause", "code"),
    [
        ("keep at least 0 newest by a.created", "FC521"),
        ("keep at least 3 newest by a.last_login", "FC202"),
        ("keep at least 3 per a.owner newest by a.created", "FC202"),
        ("keep at least 3 per a.groups newest by a.created", "FC205"),
        ("keep at least 3 per a.tags newest by a.created", "FC205"),
        ("keep at least 3 newest by a.locked", "FC205"),
        ("keep at least 3 newest by now", "FC217"),
        ('keep at least 3 per "all" newest by a.created', "FC217"),
        ('keep at least 3 per a.team == "x" newest by a.created', "FC220"),
        ("keep at least 3 per [a.team] newest by a.created", "FC205"),
        ("keep at least 3 per [] newest by a.created", "FC205"),
        ("keep at least 3 per [a.team, a.logins] newest by a.created", "FC205"),
        ('keep at least 3 per [a.team, "x"] newest by a.created', "FC217"),
        ("keep at least 3 per [a.team, a.owner] newest by a.created", "FC202"),
        ("keep at least 3 per a.team newest by [a.created, a.created]", "FC221"),
        ("keep at least 3 newest by a.nothing", "FC110"),
        ("keep at least 3 newest by b.created", "FC109"),
        ("keep at least 3 newest by (a.last_login else never)", "FC207"),
        ("keep at least 3 newest by count people as p where (p.id == a.owner)", "FC210"),
        ("keep at least 3 per (some people as p where (p.id == a.team)) newest by a.created", "FC211"),
    ],
)
def test_a_floor_that_keeps_nothing_or_has_no_meaning_is_refused(clause, code):
    """A count of nothing, a value that may be absent, that has no order, or that is the same for all."""
    assert refused(clause) == [code]


@pytest.mark.parametrize("clause", ["keep at least 3 per a.owner newest by a.created", "pick oldest 3 by a.last_login"])
def test_a_value_to_group_or_order_by_that_may_be_absent_is_told_the_one_way_that_works_there(clause):
    """There is no condition around it in which `is present and …` could stand."""
    found = only(with_rule("a.locked", clauses=clause))
    assert found.code == "FC202"
    assert found.help in {"write `(a.owner else …)`", "write `(a.last_login else …)`"}


def test_a_floor_of_nothing_is_refused_at_its_number():
    """Zero means none, so it reads like a safety and is none."""
    text = with_rule("a.locked", clauses="keep at least 0 newest by a.created")
    assert (underlined(text), only(text).help) == ("0", "keep at least 1, or remove the clause")


def test_a_floor_is_kept_as_written_with_its_typed_parts():
    """Count, group, order and place, over the row of the proposal; its text for people."""
    clause = "keep at least 3 per a.team newest by\n (a.last_login else a.created)  # as agreed"
    (keep,) = proposal("a.locked", clauses=clause).keeps
    login = ir.Field("a", "accounts", "last_login", TIMESTAMP, optional=True)
    created = ir.Field("a", "accounts", "created", TIMESTAMP, optional=False)
    by = ir.Else(login, created, TIMESTAMP, optional=False)
    per = ir.Field("a", "accounts", "team", TEXT, optional=False)
    assert keep == Keep(3, per, "newest", by, "keep at least 3 per a.team newest by (a.last_login else a.created)")


def test_a_proposal_may_have_several_floors_and_one_without_groups():
    """Each holds; without `per` all objects are one group."""
    clauses = "keep at least 3 per a.team newest by a.created keep at least 10 oldest by a.logins"
    first, second = proposal("a.locked", clauses=clauses).keeps
    assert (first.order, second.order, second.per, second.count) == ("newest", "oldest", None, 10)


def test_a_floor_takes_a_parameter_and_a_fallback_for_what_may_be_absent():
    """As any value of a rule does."""
    clause = 'keep at least 3 per (a.owner else "nobody") newest by a.created + idle'
    assert rule_codes("a.locked", clauses=clause, params="param idle: duration = 90d") == []


@pytest.mark.requirement("R19", "R21")
def test_a_floor_rests_on_the_whole_population_of_its_own_inventory():
    """It is a use of the base, which every act needs complete, and of no other inventory."""
    made = proposal("a.locked", clauses="keep at least 3 newest by a.created")
    assert [(use.inventory, use.direction) for use in made.uses] == [("accounts", Direction.BASE)]

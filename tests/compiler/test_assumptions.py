"""What a rule takes for granted of its data, and what a workflow may say that it expects of nobody."""

from __future__ import annotations

import pytest
from tests.support.compiling import codes, findings, only, proposal, rule_codes, underlined, with_rule, workflow

from fullcount.compiler.assumptions import Assumption, Taken, assumptions, lifted
from fullcount.runtime.plan.phrase import phrase

ORPHANED = "a.owner is present and no people as p where (p.id == a.owner and p.active)"


def taken(rule: str, clauses: str = "") -> set[tuple[str, str, str]]:
    """Return what a rule takes for granted, by kind, inventory and test; without texts that are always there."""
    made = proposal(rule, clauses=clauses)
    return {
        (str(each.taken), each.inventory, phrase(each.test)) for each in assumptions(made, None) if not _trivial(each)
    }


def _trivial(each: Assumption) -> bool:
    return each.taken is Taken.VALUE and phrase(each.sentence.where).endswith('!= ""')


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("a.owner is absent", {("value", "accounts", 'a.owner is present and a.owner != ""')}),
        ('a.environment != "prouction"', {("case", "accounts", 'a.environment == "prouction"')}),
        (
            'a.team not in ["ops", "core"]',
            {("case", "accounts", 'a.team == "ops"'), ("case", "accounts", 'a.team == "core"')},
        ),
        ("not a.locked", {("case", "accounts", "a.locked")}),
        ('not (a.team == "x" or starts_with(a.team, "y"))',
         {("case", "accounts", 'a.team == "x"'), ("case", "accounts", 'starts_with(a.team, "y")')}),
        ('not any a.groups as g where (g == "admin")',
         {("case", "accounts", 'any a.groups as g where (g == "admin")'),
          ("value", "accounts", "length(a.groups) > 0")}),
        ('"admin" not in a.groups',
         {("case", "accounts", '"admin" in a.groups'), ("value", "accounts", "length(a.groups) > 0")}),
        ('a.tags["keep"] is absent',
         {("value", "accounts", 'a.tags["keep"] is present and a.tags["keep"] != ""')}),
        ("no people as p where (p.id == a.team and p.active)",
         {("match", "accounts", "some people as p where (p.id == a.team)"), ("case", "people", "p.active")}),
        ("some logins as l where (l.account == a.id and l.bytes > 3 GiB)",
         {("match", "accounts", "some logins as l where (l.account == a.id)")}),
        ("count logins as l where (l.account == a.id) < 3",
         {("match", "accounts", "some logins as l where (l.account == a.id)")}),
        ("some people as p where (p.id in a.groups)",
         {("match", "accounts", "some people as p where (p.id in a.groups)"),
          ("value", "accounts", "length(a.groups) > 0")}),
        ("some people as p where (p.id == a.team and no logins as l where (l.account == p.id))",
         {("match", "accounts", "some people as p where (p.id == a.team)"),
          ("match", "people", "some logins as l where (l.account == p.id)")}),
        # what selects may well occur nowhere, and order and time name no case
        ('a.team == "ops" or a.locked or a.team in ["x"]', set()),
        ('not (a.team != "ops")', set()),
        ("not a.logins > 3 and not a.created > now", set()),
    ],
)  # fmt: skip
def test_a_rule_takes_for_granted(rule: str, expected: set[tuple[str, str, str]]):
    """Matches, values and cases are found wherever they stand in a rule, and nothing else is."""
    assert taken(rule) == expected


def test_conditions_that_except_are_negative():
    """`except when` keeps objects, so what it names has to exist; a double negation does not have to."""
    assert ("case", "accounts", 'a.team == "ops"') in taken("a.locked", 'except when a.team == "ops"')
    assert ("case", "accounts", 'a.team == "ops"') not in taken("a.locked", 'except when a.team != "ops"')


def test_what_the_act_itself_brings_about_is_not_taken_for_granted():
    """A rule that skips what is locked already has nothing to skip on its first night."""
    checked = workflow(with_rule("not a.locked"))
    assert [each.taken for each in assumptions(checked.proposals[0], checked.acts[0])] == []
    other = workflow(with_rule('not a.locked and a.team != "ops"'))
    assert "case" in {str(each.taken) for each in assumptions(other.proposals[0], other.acts[0])}


@pytest.mark.parametrize(
    ("clause", "code", "place"),
    [
        ('expect no people as p where (p.active) because "x"', "FC350", "p.active"),
        ('expect no accounts as b where (b.team == "nobody") because "x"', "FC350", 'b.team == "nobody"'),
        ('expect no people as p where (all) because "x"', "FC217", "all"),
        ('expect no people as p where (a.owner == "x") because "x"', "FC217", 'a.owner == "x"'),
        ('expect no people as a where (a.active) because "x"', "FC111", "a"),
        ('expect no peple as p where (p.active) because "x"', "FC108", "peple"),
        ('expect no people as p where (p.id == a.owner) because " "', "FC004", '" "'),
    ],
)
def test_an_expectation_about_something_else_is_an_error(clause: str, code: str, place: str):
    """What excuses nothing must not look as if it did."""
    text = with_rule("a.owner is present and no people as p where (p.id == a.owner)", clauses=clause)
    assert (only(text).code, underlined(text)) == (code, place)


def test_an_expectation_without_a_reason_is_an_error():
    """Whoever reviews a plan must be able to tell whether the reason still holds."""
    assert "FC001" in codes(with_rule(ORPHANED, clauses="expect no people as p where (p.active)"))


@pytest.mark.parametrize(
    "clause",
    [
        "expect no people as p where (p.id == a.owner)",
        "expect no people as x where (a.owner == x.id)",
        "expect no people as p where (p.active)",
        "expect no accounts as a where (a.owner is present)",
        "expect no accounts as other where (other.owner is present)",
    ],
)
def test_an_expectation_lifts_what_it_says_whatever_rows_are_called(clause: str):
    """Rows may have other names, equalities either order, and an absent value needs no word."""
    made = proposal(ORPHANED, clauses=f'{clause} because "a new directory"')
    assert len({each.said for each in assumptions(made, None)} & lifted(made)) == 1
    (expected,) = made.expects
    assert (expected.text, expected.because) == (clause, "a new directory")


def test_an_expectation_may_list_several_cases():
    """`in` and `or` lift each of their cases."""
    clause = 'expect no accounts as x where (x.team in ["x", "y"]) because "closed teams"'
    made = proposal('a.team not in ["x", "y"]', clauses=clause)
    assert {each.said for each in assumptions(made, None) if each.taken is Taken.CASE} <= lifted(made)


def test_a_join_inside_another_is_lifted_by_both_rows():
    """The outer row of an inner join is not the object; it is named with the inventory that it is of."""
    rule = "some people as p where (p.id == a.team and no logins as l where (l.account == p.id))"
    clause = "expect no logins as l where (some people as p where (l.account == p.id))"
    assert rule_codes(rule, clauses=f'{clause} because "x"') == []


def test_the_scope_of_an_inventory_is_no_part_of_what_is_said():
    """Rows out of scope are not asked about, so the sentence need not repeat the scope."""
    text = with_rule(ORPHANED, clauses='expect no people as p where (p.id == a.owner) because "x"')
    assert findings(text.replace("hired_at: timestamp }", "hired_at: timestamp }\n    scope active")) == []

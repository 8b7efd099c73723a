"""Keys that are spelled in several ways: one spelling wherever a condition looks, the original wherever one acts."""

from __future__ import annotations

import pytest
from tests.support.compiling import findings, only, underlined, with_rule, workflow

from fullcount.runtime.plan.phrase import phrase


def keyed(rule: str, accounts: str = "", people: str = "", clauses: str = "") -> str:
    """Return a file whose inventories normalize their keys by these rules."""
    text = with_rule(rule, clauses=clauses)
    for rules in (accounts, people):
        plain = "    key id\n"
        text = text.replace(plain, f"    key  id{f' normalized by {rules}' if rules else ''}\n", 1)
    return text


def written(rule: str, accounts: str = "", people: str = "", clauses: str = "") -> str:
    """Return what a rule comes to."""
    (made,) = workflow(keyed(rule, accounts, people, clauses)).proposals
    return phrase(made.where)


@pytest.mark.parametrize(
    ("rules", "code", "place"),
    [
        ("lowercase", "FC243", "lowercase"),
        ("lower, upper", "FC243", "upper"),
        ("lower, nfc, lower", "FC003", "lower"),
    ],
)
def test_a_rule_that_is_not_there_is_an_error(rules: str, code: str, place: str):
    """A rule that is misspelt must not be one that does nothing."""
    text = keyed("a.locked", rules)
    assert (only(text).code, underlined(text)) == (code, place)


def test_a_key_without_a_text_has_nothing_to_normalize():
    """Numbers and dates have one spelling."""
    text = with_rule("a.locked").replace(
        "  propose disable",
        """  inventory parts from warehouse.partitions {
    key (day) normalized by lower
    fields { day: date }
  }
  propose disable""",
        1,
    )
    assert "FC243" in [f.code for f in findings(text)]


def test_keys_with_different_rules_are_not_compared():
    """Two spellings that are one on one side would be two on the other."""
    ids = "id: text, entry", "id: id of hr.employees, entry"
    text = keyed("some people as p where (p.id == a.id)", "lower", "lower, nfc").replace(*ids)
    assert only(text).code == "FC244"


@pytest.mark.parametrize(
    ("rule", "made"),
    [
        ("no people as p where (p.id == a.team)", "no people as p where (lower(nfc(p.id)) == lower(nfc(a.team)))"),
        ('some people as p where (p.id == "ANA")', 'some people as p where (lower(nfc(p.id)) == "ana")'),
        ('some people as p where (p.id in ["ANA", "b"])', 'some people as p where (lower(nfc(p.id)) in ["ana", "b"])'),
        (
            "some people as p where (p.id in a.groups)",
            "some people as p where (any a.groups as item where (lower(nfc(p.id)) == lower(nfc(item))))",
        ),
        (
            "a.owner is present and some people as p where (a.owner == p.id)",
            "a.owner is present and some people as p where (lower(nfc(a.owner)) == lower(nfc(p.id)))",
        ),
        ('some people as p where (matches(p.id, "s.*"))', 'some people as p where (matches(lower(nfc(p.id)), "s.*"))'),
    ],
)  # fmt: skip
def test_a_comparison_is_by_the_rules_of_the_key_on_both_sides(rule: str, made: str):
    """A plain text, a constant and a list are spelled as the key is; rules are applied in one order."""
    assert written(rule, people="lower, nfc") == made
    assert written(rule, people="nfc, lower") == made


def test_a_definition_sees_the_spelling_of_what_is_handed_to_it():
    """An argument that is a normalized key is compared by its rules inside a definition as well."""
    text = "define same(one: text, other: text) = one == other\n" + keyed(
        "some people as p where (same(p.id, a.team))", people="lower"
    )
    (made,) = workflow(text).proposals
    assert phrase(made.where) == "some people as p where (lower(p.id) == lower(a.team))"


def test_what_is_shown_and_acted_on_is_the_key_as_the_source_gave_it():
    """An object is acted on under its own name, whatever conditions see."""
    checked = workflow(keyed('a.id != "X"', "lower", clauses="show a.id"))
    assert phrase(checked.proposals[0].where) == 'lower(a.id) != "x"'
    assert [phrase(each.value) for each in checked.proposals[0].show] == ["a.id"]
    assert phrase(checked.acts[0].call.arguments["id"]) == "a.id"
    assert checked.inventories["accounts"].normalized == {"id": ("lower",)}


def test_a_scope_is_by_the_same_spelling():
    """The scope is a condition like any other, so a source that knows one spelling only does not decide it."""
    text = keyed("a.locked", "lower").replace("    fields {", '    scope id != "SVC-X"\n    fields {', 1)
    scope = workflow(text).inventories["accounts"].scope
    assert scope is not None
    assert phrase(scope) == 'lower(id) != "svc-x"'


def test_a_part_in_capitals_is_in_no_key_of_small_letters():
    """`starts_with(a.id, "SVC-")` would be false for every object."""
    assert only(keyed('starts_with(a.id, "SVC-")', "lower")).code == "FC244"
    assert findings(keyed('starts_with(a.id, "svc-")', "lower")) == []

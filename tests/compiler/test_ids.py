"""Ids of different kinds never meet, unless somebody said that they name the same objects."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.catalogs import ACCOUNTS, EMPLOYEES, LOGINS, catalog_of
from tests.support.compiling import FIELDS, compiled, findings, only, rule_codes, underlined, with_rule

from fullcount.compiler.ids import known_ids
from fullcount.compiler.pipeline import compile_source
from fullcount.dsl.source import Source

TYPED = FIELDS.replace("owner: text?", "owner: id of hr.employees?").replace(
    "groups: list<text>", "groups: list<id of cloud.volumes>"
)


DISKS = """workflow w {
  inventory disks from directory.disks { key (team, id) fields { id: text, team: text, locked: bool } }
  inventory people from hr.employees { key id fields { id: text } }
  verify disks { complete, fresh within 1h }
  verify people { complete, fresh within 1h }
  propose report from disks as d { where d.locked and some people as p where (RULE) }
}
"""


def typed(rule: str, fields: str = TYPED) -> str:
    """Return a file whose fields say what they are ids of, with a rule over them."""
    return with_rule(rule).replace(FIELDS, fields)


@pytest.mark.requirement("B10")
@pytest.mark.parametrize(
    ("rule", "place"),
    [
        ("no people as p where (p.id == a.id)", "p.id == a.id"),
        ("some people as p where (a.id != p.id)", "a.id != p.id"),
        ("some people as p where (lower(p.id) == trim(a.id))", "lower(p.id) == trim(a.id)"),
        ("some people as p where (p.id in a.groups)", "p.id in a.groups"),
        ("any a.groups as g where (g == a.id)", "g == a.id"),
        ("a.owner is present and a.owner == a.id", "a.owner == a.id"),
        ("some people as p where ((a.owner else a.id) == p.id)", "a.owner else a.id"),
        ("some people as p where (p.id < a.id)", "p.id < a.id"),
    ],
)
def test_ids_of_different_resources_are_not_compared(rule: str, place: str):
    """Comparing an id of one resource with an id of another is an error, whichever way it is written."""
    text = typed(rule)
    assert (only(text).code, underlined(text)) == ("FC240", place)


def test_the_message_shows_both_declarations_and_the_way_out():
    """Whoever meets the error sees where each side was declared, and what to write if they are the same after all."""
    finding = only(typed("no people as p where (a.owner is present and p.id == a.owner and a.owner != a.id)"))
    assert "`directory.accounts`" in finding.message
    assert "`hr.employees`" in finding.message
    assert [label.text for label in finding.labels] == ["declared as an id of `hr.employees`"]
    assert "the key of `directory.accounts`" in finding.why
    assert "id: id of" in finding.help or "[ids]" in finding.help


def test_a_part_of_a_key_is_told_to_name_the_other_resource_and_not_the_other_way_round():
    """Objects of several accounts have the account in their key; no account is one of these objects."""
    disks = replace(ACCOUNTS, name="disks", key=("team", "id"))
    source = Source("w.fcw", DISKS)
    for rule in ("p.id == d.team", "d.team == p.id"):
        text = Source("w.fcw", source.text.replace("RULE", rule))
        found = compile_source(text, catalog_of(disks, EMPLOYEES)).diagnostics
        assert [(each.code, "`team: id of hr.employees`" in each.help) for each in found] == [("FC240", True)]
        mended = Source("w.fcw", text.text.replace("team: text", "team: id of hr.employees"))
        assert list(compile_source(mended, catalog_of(disks, EMPLOYEES)).diagnostics) == []


@pytest.mark.parametrize(
    "rule",
    [
        "no people as p where (p.id == a.team)",  # a plain text may name anything
        "a.owner is present and no people as p where (p.id == a.owner)",
        "some people as p where (p.id == a.id)",
        'some people as p where (p.id in ["x"] and p.id == a.team)',
        "some logins as l where (l.account == a.id)",
    ],
)
def test_what_is_of_one_kind_or_of_none_is_compared(rule: str):
    """Only where both sides are known and differ is there an error."""
    same = FIELDS.replace("id: text, entry", "id: id of hr.employees, entry").replace(
        "owner: text?", "owner: id of hr.employees?"
    )
    assert [f.code for f in findings(typed(rule, same))] == []


def test_a_definition_says_what_it_takes_an_id_of():
    """An argument of another kind than the parameter is an error at the call."""
    defined = 'define owned(who: id of hr.employees) = who in ["x", "y"]\n'
    assert [f.code for f in compiled(defined + with_rule("owned(a.id)")).diagnostics] == ["FC240"]
    assert [f.code for f in compiled(defined + with_rule("owned(a.team)")).diagnostics] == []


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("id", "FC214"),
        ("id of nobody.employees", "FC102"),
        ("id of hr.emploees", "FC103"),
        ("id of hr", "FC103"),
        ("id of warehouse.partitions", "FC242"),
        ("id of warehouse.partitions.day", "FC105"),
        ("list<id of hr.employees?>", "FC214"),
    ],
)
def test_an_id_of_what_is_not_there_is_an_error(written: str, code: str):
    """`id of` names a resource with one key field, or a key field, of the type that the source gives."""
    assert [f.code for f in findings(typed("a.locked", FIELDS.replace("team: text", f"team: {written}")))] == [code]


def test_what_the_workspace_declares_stands_over_what_a_workflow_says():
    """A field that the workspace declares as an id of one resource is not one of another."""
    wrong = FIELDS.replace("owner: text?", "owner: text?, sponsor: id of directory.accounts?")
    assert only(typed("a.locked", wrong)).code == "FC241"
    told = FIELDS.replace("owner: text?", "owner: text?, sponsor: text?")
    assert rule_codes("a.locked") == []
    rule = "a.sponsor is present and some people as p where (p.id == a.sponsor and a.sponsor != a.id)"
    assert only(typed(rule, told)).code == "FC240"


def test_keys_that_are_declared_the_same_are_one_kind():
    """What refers to either of two keys that are declared to name the same objects refers to both."""
    accounts = replace(ACCOUNTS, ids={"id": "hr.employees", "sponsor": "directory.accounts"})
    catalog = catalog_of(accounts, EMPLOYEES, LOGINS)
    assert {known_ids(accounts, catalog)[name].key for name in ("id", "sponsor")} == {"hr.employees.id"}
    text = with_rule("some people as p where (p.id == a.id)")
    assert list(compile_source(Source("tidy.fcw", text), catalog).diagnostics) == []


def test_a_circle_of_declarations_is_one_kind():
    """Two keys that are each declared as the other are the same, and asking ends."""
    accounts = replace(ACCOUNTS, ids={"id": "hr.employees"})
    employees = replace(EMPLOYEES, ids={"id": "directory.accounts"})
    catalog = catalog_of(accounts, employees)
    assert known_ids(accounts, catalog)["id"].key == known_ids(employees, catalog)["id"].key


def test_without_the_declaration_the_keys_are_different_again():
    """The same rule without the declaration is refused: nothing is guessed from equal names and types."""
    assert only(with_rule("some people as p where (p.id == a.id)")).code == "FC240"

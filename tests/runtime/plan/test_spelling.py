"""Objects by the normal spelling of their keys: joins, exemptions, and two objects that would be one."""

from __future__ import annotations

import pytest
from tests.support.planning import STRICT, Evidence, account, compiled, exemption, person

from fullcount.runtime.plan.errors import UnborneError

NORMAL = STRICT.replace("    key id\n", "    key id normalized by lower, trim_dot\n").replace(
    "    key         id\n", "    key         id normalized by lower, nfc\n"
)
LISTED = NORMAL.replace("except when", "except in exemptions\n    except when")
PLATFORM = account("platform-1", team="platform", owner="ana")


def over(folder, accounts, people, text=NORMAL):
    """Return evidence that bears out what the rule takes for granted."""
    world = Evidence(folder, compiled(text))
    world.add("accounts", [*accounts, PLATFORM])
    world.add("people", [*people, person("zoe")])
    return world


def refused(world):
    """Return the findings of a plan that is refused."""
    with pytest.raises(UnborneError) as caught:
        world.plan()
    return caught.value.findings


@pytest.mark.parametrize(
    ("where", "accounts", "people", "shown"),
    [
        ("accounts", [account("SVC-a"), account("svc-A"), account("b")], [person("ana")], "`SVC-a` and `svc-A`"),
        ("accounts", [account("caf\u00e9"), account("cafe\u0301")], [person("ana")], "`cafe"),
        ("people", [account("a")], [person("ana"), person("Ana.")], "`Ana.` and `ana`"),
    ],
)
def test_two_objects_that_are_one_key_are_a_refusal_with_both_originals(tmp_path, where, accounts, people, shown):
    """Nothing says which of the two a join or an exemption would mean."""
    (found,) = [f for f in refused(over(tmp_path, accounts, people)) if f.code == "FC793"]
    assert (found.inventory, shown in found.message) == (where, True)


def test_a_join_finds_its_partner_in_another_spelling(tmp_path):
    """`ANA` owns what `ana` owns: it is no orphan, and what only `bo` could own is one."""
    doc = over(tmp_path, [account("a", owner="ANA"), account("b", owner="bo.")], [person("ana.")]).plan()
    assert [row.key for row in doc.rows] == [("b",)]


def test_without_the_rules_the_same_rows_match_nobody(tmp_path):
    """The refusal of a join without a match is what a missing rule looks like."""
    world = over(tmp_path, [account("a", owner="ANA")], [person("ana.")], STRICT.replace('"platform"', '"payments"'))
    assert "FC790" in {f.code for f in refused(world)}


@pytest.mark.parametrize("listed", ["svc-a", "SVC-A", "Svc-a"])
def test_an_exemption_is_of_the_object_whatever_the_spelling(tmp_path, listed):
    """A list written by hand protects the object that the rules say it means; twice on a list is once."""
    entries = (exemption(listed), exemption("svc-A"))
    doc = over(tmp_path, [account("SVC-a"), account("b")], [person("ana")], LISTED).plan(
        exemptions={"exemptions": entries}
    )
    assert [row.key for row in doc.rows] == [("b",)]
    assert doc.sums.inventory == 3
    assert doc.notes == ()


def test_rows_keep_the_key_as_the_source_gave_it(tmp_path):
    """What is acted on is the object's own name."""
    doc = over(tmp_path, [account("SVC-a")], [person("ana")]).plan()
    assert [(row.key, row.arguments["id"]) for row in doc.rows] == [(("SVC-a",), "SVC-a")]

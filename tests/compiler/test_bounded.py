"""`bounded`: acting on what was found of an inventory that may not have been read to its end."""

from __future__ import annotations

import pytest
from tests.support.compiling import codes, compiled, only, underlined, workflow

from fullcount.compiler.bounded import is_narrow
from fullcount.compiler.claims import Direction, Fresh
from fullcount.compiler.document import workflow_from_document, workflow_to_document
from fullcount.compiler.graph import build_graph, requirement_of

pytestmark = pytest.mark.requirement("R22")

BASE = """workflow tidy {
  inventory accounts from directory.accounts {
    key id
    incarnation entry_uuid
    fields { id: text, entry_uuid: text, owner: text?, team: text, environment: text, created: timestamp, locked: bool }
    scope environment == "test"
  }
  inventory people from hr.employees { key id fields { id: text, active: bool } }
  verify accounts { fresh within 1h }
  verify people { complete, fresh within 24h }
  propose disable from accounts as a {
    bounded
    where a.locked and some people as p where (p.id == a.team)
    limit 20
  }
  approve disable { 2 of role "iam-admin" not by author, expires after 3d }
  act disable with directory.update(id: a.id, locked: true) {
    undo directory.update(id: a.id, locked: false)
  }
}
"""


def changed(*pairs: tuple[str, str]) -> str:
    text = BASE
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


@pytest.mark.parametrize(
    "claim", ["complete", "rows at least 3", "change at most 20%", "count agrees with hr.headcount"]
)
def test_a_claim_about_the_whole_is_refused_beside_bounded(claim):
    """With it an incomplete reading would be refused all the same."""
    text = changed(("{ fresh within 1h }", f"{{ fresh within 1h, {claim} }}"))
    assert (only(text).code, underlined(text)) == ("FC320", claim)


def test_a_claim_that_a_part_can_hold_stays_with_bounded():
    """Age, consistency and visibility only ever refuse more."""
    assert codes(changed(("{ fresh within 1h }", "{ fresh within 1h, snapshot interval, visibility all }"))) == []


def test_a_large_number_is_not_held_against_it():
    """A percentage is what it may not have, so nothing asks for one."""
    assert codes(changed(("limit 20", "limit 600"))) == []


@pytest.mark.parametrize(
    ("scope", "why"),
    [
        ("", "has no scope"),
        ('scope environment != "production"', "only says what is not meant"),
        ("scope not locked", "only says what is not meant"),
        ('scope environment == "test" or environment == "staging"', "only says what is not meant"),
    ],
)
def test_a_scope_that_does_not_name_what_is_meant_is_refused(scope, why):
    """What was not counted must be named, not left over."""
    found = only(changed(('scope environment == "test"', scope)))
    assert found.code == "FC321"
    assert why in found.message


@pytest.mark.parametrize(
    "scope",
    [
        'scope environment in ["test", "staging"]',
        'scope not locked and environment == "test"',
        'scope starts_with(id, "tmp-")',
    ],
)
def test_a_scope_that_names_it_is_enough(scope):
    """By a value, by several, by a beginning."""
    assert codes(changed(('scope environment == "test"', scope))) == []


@pytest.mark.parametrize(
    "rule",
    [
        "no people as p where (p.id == a.team)",
        "a.locked and not some people as p where (p.id == a.team)",
        "count people as p where (p.id == a.team) < 2",
        "no accounts as b where (b.owner is present and b.owner == a.id)",
    ],
)
def test_absence_is_refused_anywhere_in_a_bounded_rule(rule):
    """Also where the other inventory is verified as complete, and of the base itself."""
    found = set(codes(changed(("a.locked and some people as p where (p.id == a.team)", rule))))
    assert "FC322" in found
    assert found <= {"FC322", "FC301", "FC122"}


def test_an_exemption_by_what_is_found_rests_on_absence_and_is_refused():
    """The row that would keep the object may be the one that was not returned."""
    text = changed(("    limit 20", "    except when some people as p where (p.id == a.team)\n    limit 20"))
    assert only(text).code == "FC322"


def test_a_floor_is_refused_beside_bounded():
    """Nobody can say which object comes first of some that were found."""
    text = changed(("    limit 20", "    keep at least 3 newest by a.created\n    limit 20"))
    assert (only(text).code, underlined(text)) == ("FC323", "keep at least 3 newest by a.created")


@pytest.mark.parametrize("limit", ["limit 20, 5%", "limit 5%"])
def test_a_percentage_is_no_cap_of_what_was_not_counted(limit):
    """Of how many it would be is not known."""
    text = changed(("limit 20", limit))
    assert (only(text).code, underlined(text)) == ("FC324", limit)


def test_a_bounded_proposal_needs_a_number_also_where_it_only_reports():
    """Without an act as well: the list is made to be gone through."""
    text = changed(("    limit 20\n", ""))
    assert set(codes(text)) == {"FC324", "FC501"}
    report = text[: text.index("  approve")] + "}\n"
    assert codes(report) == ["FC324"]


def test_the_age_of_the_reading_is_asked_in_any_case():
    """A row that was true last week is no evidence, found or not."""
    assert only(changed(("  verify accounts { fresh within 1h }\n", ""))).code == "FC303"


def test_a_source_that_can_not_be_read_completely_is_enough_for_bounded():
    """Where no snapshot is to be had at all."""
    text = (
        "workflow w { inventory t from legacy.tickets { key id fields { id: text, account: text, open: bool }"
        ' scope account == "x" } verify t { fresh within 1h }'
        " propose p from t as x { bounded where x.open limit 5 } }"
    )
    assert codes(text) == []


def test_the_edges_of_a_bounded_proposal_ask_for_age_and_for_no_more():
    """And everything that another inventory promises is asked of it as before."""
    made = compiled(BASE)
    assert made.program is not None
    checked = made.program.workflows[0]
    (proposal,) = checked.proposals
    assert proposal.bounded
    assert [(use.direction, use.claims) for use in proposal.uses] == [
        (Direction.BOUNDED, (Fresh(None),)),
        (Direction.WITNESS, (Fresh(None),)),
    ]
    edge = requirement_of(build_graph(checked), "verify:accounts", "act:disable")
    assert edge.text() == "bounded: fresh within 1h"
    assert workflow_from_document(workflow_to_document(checked)) == checked


def test_without_the_word_nothing_of_this_holds():
    """The base must then be complete."""
    assert only(changed(("    bounded\n", ""))).code == "FC302"


def test_a_scope_names_something_only_by_the_objects_own_fields():
    """A comparison of two fields leaves open what is meant."""
    scope = workflow(BASE).inventories["accounts"].scope
    assert scope is not None
    assert is_narrow(scope)
    assert only(changed(('environment == "test"', "environment == team"))).code == "FC321"

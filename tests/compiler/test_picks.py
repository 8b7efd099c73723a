"""`pick`: taking only the first of what a rule selects, by an order or at random."""

from __future__ import annotations

from decimal import Decimal

import pytest
from tests.support.compiling import compiled, only, proposal, rule_codes, underlined, with_rule, workflow

from fullcount.compiler.claims import Direction
from fullcount.compiler.document import workflow_from_document, workflow_to_document
from fullcount.compiler.reasons import reasons

pytestmark = pytest.mark.requirement("R19")

IDLE = "a.last_login is present and a.last_login < now - 90d"


@pytest.mark.parametrize(
    ("clause", "code", "place"),
    [
        ("pick oldest 0 by a.created", "FC511", "0"),
        ('pick 0% at random seed "x"', "FC511", "0%"),
        ('pick 5% at random seed "x", at most 0', "FC511", "5%"),
        ('pick 100% at random seed "x"', "FC512", "100%"),
        ('pick 5 at random seed " "', "FC512", 'pick 5 at random seed " "'),
        ("pick oldest 5 by a.owner", "FC202", "a.owner"),
        ("pick oldest 5 by a.tags", "FC205", "a.tags"),
        ("pick oldest 5 by a.locked", "FC205", "a.locked"),
        ("pick oldest 5 per a.groups by a.created", "FC205", "a.groups"),
        ("pick oldest 5 by now", "FC217", "now"),
        ('pick 5 at random seed "x" per "all"', "FC217", '"all"'),
        ("pick oldest 5 by (a.created < now)", "FC220", "(a.created < now)"),
        ("pick oldest 5 by (count people as p where (p.id == a.team))", "FC210", None),
    ],
)
def test_a_pick_that_has_no_clear_meaning_is_refused(clause, code, place):
    """It takes a part, of an order that every object has a place in."""
    text = with_rule(IDLE, clauses=clause)
    assert only(text).code == code
    if place is not None:
        assert underlined(text).strip("()") == place.strip("()")


def test_what_the_rule_makes_sure_of_can_be_ordered_by():
    """Only selected objects are compared, so their last login is there."""
    found = proposal(IDLE, clauses="pick oldest 10 per a.team by a.last_login")
    (pick,) = found.picks
    assert (pick.count, pick.percent, pick.order, pick.text) == (
        10, None, "oldest", "pick oldest 10 per a.team by a.last_login",
    )  # fmt: skip
    assert len(found.deciding) == 3


def test_a_sample_is_read_with_its_bound():
    """Percent, bound and seed."""
    (pick,) = proposal(IDLE, clauses='pick 2.5% at random seed "q4", at most 15').picks
    assert (pick.percent, pick.at_most, pick.seed, pick.by) == (Decimal("2.5"), 15, "q4", None)


def test_a_document_keeps_the_picks():
    """What a plan is bound to says which of the selected objects it takes, and in which order it chose."""
    flow = workflow(with_rule(IDLE, clauses='pick newest 9 by a.created pick 5 at random seed "x" per a.team'))
    assert workflow_from_document(workflow_to_document(flow)) == flow


@pytest.mark.parametrize(
    ("rule", "without", "together"),
    [
        ("a.locked and some people as p where (p.id == a.team)", Direction.WITNESS, Direction.ABSENCE),
        ("a.locked and no people as p where (p.id == a.team)", Direction.ABSENCE, Direction.ABSENCE),
        ("a.locked and count people as p where (p.id == a.team) > 2", Direction.WITNESS, Direction.ABSENCE),
    ],
)
def test_with_a_pick_every_look_into_another_inventory_concludes_from_absence(rule, without, together):
    """A row that was not returned could select another object, which would come first."""
    plain, picked = proposal(rule), proposal(rule, clauses="pick oldest 5 by a.created")
    assert [use.direction for use in plain.uses] == [Direction.BASE, without]
    assert [use.direction for use in picked.uses] == [Direction.BASE, together]
    assert "could put another one in its place" in reasons(picked)[1][1]


def test_a_partial_inventory_that_would_do_without_a_pick_is_refused_with_it():
    """Found in one reading is enough for the object itself, not for its rank."""
    text = with_rule("a.locked and some people as p where (p.id == a.team)")
    partial = text.replace("verify people { complete, fresh", "verify people { fresh")
    assert [finding.code for finding in compiled(partial).diagnostics] == []
    picked = partial.replace("limit 50", "pick oldest 5 by a.created\n    limit 50")
    assert [finding.code for finding in compiled(picked).diagnostics] == ["FC301"]


def test_a_bounded_proposal_has_no_first():
    """An object that was not found could be the one that comes first."""
    text = (
        with_rule("a.locked", clauses="bounded pick oldest 5 by a.created")
        .replace("limit 50, 5%", "limit 50")
        .replace("verify accounts { complete, fresh", "verify accounts { fresh")
        .replace("fields { id", 'scope environment == "test"\n    fields { id')
    )
    assert "FC323" in [finding.code for finding in compiled(text).diagnostics]


def test_a_pick_is_never_approved_automatically():
    """Which objects come first depends on all of them."""
    approval = 'automatically when count <= 5, otherwise 1 of role "iam-admin"'
    text = with_rule("a.locked", clauses="pick oldest 5 by a.created").replace(
        '2 of role "iam-admin" not by author', approval
    )
    assert "FC413" in [finding.code for finding in compiled(text).diagnostics]


def test_a_pick_is_not_a_word_elsewhere():
    """A field may be called so."""
    assert rule_codes("a.locked") == []

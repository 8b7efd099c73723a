"""Why a use has its direction: the words follow the direction analysis, use for use."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import event, given
from tests.support.compiling import proposal
from tests.support.profiles import examples
from tests.support.worlds import Rule, rules

from fullcount.compiler.claims import Direction
from fullcount.compiler.direction import infer_uses
from fullcount.compiler.ir import NOWHERE
from fullcount.compiler.reasons import IN_GENERAL, reasons

pytestmark = pytest.mark.requirement("R19")


@given(rules())
@examples(1000)
def test_every_use_has_a_reason_of_its_own(made: Rule):
    """Over generated rules the two walks agree, so that no use is given only the general words."""
    checked = infer_uses(made.proposal, NOWHERE)
    said = reasons(checked)
    event(f"{len(said)} uses")
    assert tuple(use for use, _ in said) == checked.uses
    for use, why in said[1:]:
        assert why not in IN_GENERAL.values(), use
        assert use.inventory in why


def test_where_the_walks_part_the_direction_is_still_right():
    """A use that the words do not know is told by its direction, never by another use's reason."""
    checked = proposal("no people as p where (p.id == a.team and p.active)")
    unknown = replace(checked, uses=(*checked.uses, checked.uses[1]))
    assert [why for _, why in reasons(unknown)] == [
        IN_GENERAL[Direction.BASE],
        IN_GENERAL[Direction.ABSENCE],
        IN_GENERAL[Direction.ABSENCE],
    ]


@pytest.mark.parametrize(
    ("rule", "direction", "words"),
    [
        ("no people as p where (p.id == a.team)", "absence", "`no people …` is true for everyone whose row was not"),
        ("some people as p where (p.id == a.team)", "witness", "one row that was found proves it"),
        ("not some people as p where (p.id == a.team)", "absence", "`no people …` is true for everyone"),
        ("not no people as p where (p.id == a.team)", "witness", "one row that was found settles it"),
        (
            "(count people as p where (p.active)) < 3",
            "absence",
            "`count people … <`: rows that were not returned could",
        ),
        ("(count people as p where (p.active)) >= 3", "witness", "could only make it truer"),
        ("(count people as p where (p.active)) == 3", "absence", "could move the value either way"),
        ("not ((count people as p where (p.active)) >= 3)", "absence", "could make it untrue"),
    ],
)
def test_the_reason_says_what_a_missing_row_would_do(rule, direction, words):
    """Each direction is explained by what a row that was not returned would do to the conclusion."""
    ((_, _), (use, why)) = reasons(proposal(rule))
    assert use.direction == direction
    assert words in why


def test_an_exemption_that_rests_on_rows_is_told_as_one():
    """What keeps an object is explained as that: a missing row would lose it its protection, or only keep more."""
    (_, (found, lost), (none, more)) = reasons(
        proposal(
            "a.locked",
            clauses="except when some people as p where (p.id == a.team)\n"
            "except when no people as p where (p.active and p.id == a.team)",
        )
    )
    assert (found.direction, none.direction) == (Direction.ABSENCE, Direction.WITNESS)
    assert "could be the one" in lost
    assert "could only keep more" in more

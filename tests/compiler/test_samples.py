"""`avg` and `needs` as they are written: refused first."""

from __future__ import annotations

import pytest
from tests.support.compiling import codes, proposal, rule_codes, with_rule, workflow
from tests.support.language import codes as syntax_codes

from fullcount.compiler import ir
from fullcount.compiler.claims import Direction
from fullcount.compiler.types import DECIMAL, SIZE
from fullcount.runtime.evidence.expression_text import expression_text
from fullcount.runtime.plan.phrase import phrase

OF_BYTES = "logins as l where (l.account == a.id) of l.bytes"


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (f"max {OF_BYTES} needs 0 < 1 KiB", ["FC022"]),
        (f"max {OF_BYTES} needs 12.5 < 1 KiB", ["FC022"]),
        (f"max {OF_BYTES} needs 5% < 1 KiB", ["FC022"]),
        (f"max {OF_BYTES} needs 12h < 1 KiB", ["FC022"]),
        (f"max {OF_BYTES} needs < 1 KiB", ["FC001"]),
        ("count logins as l where (l.account == a.id) needs 12 < 3", ["FC025"]),
        ("avg logins as l where (l.account == a.id) < 3", ["FC025"]),
    ],
)
def test_needs_of_another_form_is_refused(rule: str, expected: list[str]):
    """A whole number of rows, at least one, behind the value; `count` is a number of rows itself."""
    assert syntax_codes(with_rule(rule)) == expected


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (f"avg {OF_BYTES} < 1 KiB", ["FC202"]),
        ("avg logins as l where (l.account == a.id) of l.at < now", ["FC205"]),
        ("avg logins as l where (l.account == a.id) of l.id < 3", ["FC205"]),
        (f"avg {OF_BYTES} needs 3 < 3", ["FC201"]),
        (f"max {OF_BYTES} needs 3 is absent", ["FC203"]),
        (f"(max {OF_BYTES} needs 3 else 0 B) < 1 KiB", ["FC203"]),
        (f"avg {OF_BYTES} needs 3 + 1 B < 1 KiB", ["FC210"]),
    ],
)
def test_average_or_needs_that_means_nothing_is_one_error(rule: str, expected: list[str]):
    """With `needs`, too little data is unknown, so there is no absence to speak of."""
    assert rule_codes(rule) == expected


@pytest.mark.parametrize(
    "rule",
    [f"(max {OF_BYTES} needs 12) < 1 KiB", f"max {OF_BYTES} needs 12 < 1 KiB", f"avg {OF_BYTES} needs 1 < 1 KiB"],
)
def test_aggregate_with_needs_is_compared_without_more_words(rule: str):
    """It is never absent, so the rule need not say what absent means."""
    made = proposal(rule).where
    assert isinstance(made, ir.Compare)
    assert isinstance(made.left, ir.Aggregate)
    assert made.left.type == SIZE
    assert made.left.needs in {12, 1}
    assert f"of l.bytes needs {made.left.needs}" in phrase(made)
    assert f"of l.bytes needs {made.left.needs}" in expression_text(made)


def test_average_of_whole_numbers_is_a_decimal():
    """Its quotient need not be whole."""
    text = with_rule("avg accounts as b where (b.team == a.team) of b.logins needs 3 < 2.5")
    (made,) = workflow(text).proposals
    assert made.where.left.type == DECIMAL
    assert codes(text.replace("2.5", "2")) == ["FC201"]


@pytest.mark.requirement("R19")
@pytest.mark.parametrize(
    ("rule", "direction"),
    [
        (f"max {OF_BYTES} needs 3 > 1 KiB", Direction.WITNESS),
        (f"max {OF_BYTES} needs 3 < 1 KiB", Direction.ABSENCE),
        (f"min {OF_BYTES} needs 3 < 1 KiB", Direction.WITNESS),
        (f"avg {OF_BYTES} needs 3 > 1 KiB", Direction.ABSENCE),
        (f"avg {OF_BYTES} needs 3 < 1 KiB", Direction.ABSENCE),
        (f"sum {OF_BYTES} needs 3 > 1 KiB", Direction.ABSENCE),
        (f"max {OF_BYTES} needs 3 is known", Direction.ABSENCE),
    ],
)
def test_average_always_needs_complete_evidence_and_needs_changes_no_direction(rule: str, direction: Direction):
    """A row that was not returned may move an average either way."""
    assert proposal(rule).uses[1].direction is direction


def test_inventory_and_row_may_be_called_by_the_words_of_an_aggregate():
    """`of` and `needs` are names wherever a name stands."""
    text = with_rule("max of as needs where (needs.account == a.id) of needs.bytes needs 3 > 1 KiB")
    text = text.replace(
        "propose",
        "inventory of from audit.logins { key id fields { id: text, account: text, bytes: size } }\n"
        "  verify of { complete, fresh within 24h }\n  propose",
        1,
    )
    assert codes(text) == []

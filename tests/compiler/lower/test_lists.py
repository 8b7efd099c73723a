"""What tests of lists mean, state by state. Each assertion is asked of both lowerings."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from tests.support.lowered import UNREAD, const, field, truth_of, value_of
from tests.support.worlds import UNKNOWN_STATES

from fullcount.compiler import ir
from fullcount.compiler.types import BOOL, INT, TEXT, TIMESTAMP, ListOf, Type
from fullcount.compiler.values import Cell

GROUPS = field("a", "groups", ListOf(TEXT))
TEAM = field("a", "team", TEXT)
ITEM = ir.Item("g", TEXT)
IS_TEAM = ir.Compare("==", ITEM, TEAM)
DAY = int(datetime(2026, 1, 31, tzinfo=UTC).timestamp()) * 1_000_000
NO_VALUE = [None, *(Cell(state, None) for state in UNKNOWN_STATES)]


def any_of(where: ir.Expr, collection: ir.Expr = GROUPS, item: str = "g") -> ir.Expr:
    return ir.AnyItem(collection, item, where)


def all_of(where: ir.Expr, collection: ir.Expr = GROUPS) -> ir.Expr:
    return ir.Not(ir.AnyItem(collection, "g", ir.Not(where)))


def listed(*values: object, of: Type = TEXT) -> ir.ListConst:
    return ir.ListConst(tuple(const(value, of) for value in values), ListOf(of))


@pytest.mark.requirement("R7")
@pytest.mark.parametrize("groups", NO_VALUE, ids=str)
@pytest.mark.parametrize(
    "test",
    [
        any_of(IS_TEAM),
        all_of(IS_TEAM),
        ir.Call("intersects", (GROUPS, listed("x")), BOOL),
        ir.Call("intersects", (listed("x"), GROUPS), BOOL),
        ir.Call("subset", (GROUPS, listed("x")), BOOL),
        ir.Call("subset", (listed(), GROUPS), BOOL),
        ir.Compare("==", ir.Call("length", (GROUPS,), INT), const(0, INT)),
    ],
    ids=str,
)
def test_list_that_is_absent_cut_short_or_unread_decides_nothing(test: ir.Expr, groups: object):
    """A list whose end was cut off is not kept: neither an item nor the lack of one is known, also under `not`."""
    assert truth_of(test, {"groups": groups, "team": "x"}) is None
    assert truth_of(ir.Not(test), {"groups": groups, "team": "x"}) is None


@pytest.mark.parametrize(
    ("groups", "team", "some", "every"),
    [
        ((), "x", False, True),
        ((), UNREAD, False, True),
        (("x",), "x", True, True),
        (("x", "y"), "x", True, False),
        (("y", "z"), "x", False, False),
        (("x", "y"), UNREAD, None, None),
        (("x",), None, None, None),
    ],
)
def test_any_and_all_are_kleene_over_the_items(groups: tuple[str, ...], team: object, some: object, every: object):
    """An unknown test of an item is neither yes nor no; a list without items has none that fails."""
    row = {"groups": groups, "team": team}
    assert truth_of(any_of(IS_TEAM), row) is some
    assert truth_of(all_of(IS_TEAM), row) is every
    assert truth_of(ir.Not(any_of(IS_TEAM)), row) is (None if some is None else not some)


def test_one_item_that_surely_holds_decides_beside_others_that_do_not_say():
    """`any` is true with a witness, whatever else is unknown."""
    either = ir.Or((ir.Compare("==", ITEM, const("y", TEXT)), IS_TEAM))
    assert truth_of(any_of(either), {"groups": ("x", "y"), "team": UNREAD}) is True
    assert truth_of(any_of(either), {"groups": ("x", "z"), "team": UNREAD}) is None


def test_item_may_be_looked_for_in_another_list_and_in_a_pattern():
    """A condition is any test of one object's values."""
    row = {"groups": ("svc-a", "b"), "other": ("b",)}
    other = field("a", "other", ListOf(TEXT))
    assert truth_of(any_of(ir.In(ITEM, other)), row) is True
    assert truth_of(all_of(ir.In(ITEM, other)), row) is False
    assert truth_of(any_of(ir.Call("matches", (ITEM, const("svc-.*", TEXT)), BOOL)), row) is True
    nested = any_of(any_of(ir.Compare("==", ITEM, ir.Item("h", TEXT)), other, "h"))
    assert truth_of(nested, row) is True


def test_items_of_instants_are_compared_as_instants():
    """Snapshots hold instants in another form than rules do."""
    seen = field("a", "seen", ListOf(TIMESTAMP))
    late = ir.Compare(">=", ir.Item("g", TIMESTAMP), const(DAY, TIMESTAMP))
    assert truth_of(any_of(late, seen), {"seen": (DAY - 1, DAY)}) is True
    assert truth_of(all_of(late, seen), {"seen": (DAY - 1, DAY)}) is False
    assert truth_of(ir.Call("intersects", (seen, listed(DAY, of=TIMESTAMP)), BOOL), {"seen": (DAY,)}) is True


@pytest.mark.parametrize(
    ("left", "right", "meets", "within"),
    [
        ((), (), False, True),
        ((), ("a",), False, True),
        (("a",), (), False, False),
        (("a", "b"), ("b", "c"), True, False),
        (("a", "a"), ("a",), True, True),
        (("A",), ("a",), False, False),
        (("it's", "\0"), ("\0", "it's"), True, True),
    ],
)
def test_lists_as_sets(left: tuple[str, ...], right: tuple[str, ...], meets: bool, within: bool):
    """How often an item occurs, and in which order, does not matter; its case does."""
    row, other = {"groups": left, "other": right}, field("a", "other", ListOf(TEXT))
    assert truth_of(ir.Call("intersects", (GROUPS, other), BOOL), row) is meets
    assert truth_of(ir.Call("subset", (GROUPS, other), BOOL), row) is within


def test_length_of_a_list_counts_its_items():
    """Also those that occur twice, and none in a list without any."""
    length = ir.Call("length", (GROUPS,), INT)
    for groups in ((), ("a",), ("a", "a", "\0b")):
        assert value_of(length, const(len(groups), INT), {"groups": groups}) is True


def test_list_that_is_written_out_is_tested_like_any_other():
    """A definition may hand one over."""
    assert truth_of(any_of(IS_TEAM, listed("x", "y")), {"team": "y"}) is True
    assert truth_of(any_of(ir.Compare("==", ITEM, const("y", TEXT)), listed("x", "y")), {}) is True


def test_statement_over_a_list_that_looks_into_an_inventory_is_refused():
    """The checker never makes one; a document that holds one does not run."""
    inside = ir.Some("other", "x", ir.Compare("==", field("x", "key", TEXT, "other"), ITEM))
    with pytest.raises(ValueError, match="looks into no inventory"):
        truth_of(any_of(inside), {"groups": ("a",)}, other=([{"key": "a"}], True))

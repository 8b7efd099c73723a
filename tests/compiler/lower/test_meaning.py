"""The meaning of each node of `ir.py`, state by state. Each assertion is asked of both lowerings."""

from __future__ import annotations

from decimal import Decimal

import pytest
from tests.support.lowered import const, field, truth_of, value_of
from tests.support.worlds import UNKNOWN_STATES

from fullcount.compiler import ir
from fullcount.compiler.types import BOOL, DATE, DECIMAL, DURATION, INT, SIZE, TEXT, TIMESTAMP, ListOf, MapOf
from fullcount.compiler.values import INT_MAX, INT_MIN, Cell, FieldState

pytestmark = pytest.mark.requirement("R7")

OWNER = field("a", "owner", TEXT)
NUMBER = field("a", "number", INT)
ACTIVE = field("a", "active", BOOL)
TRUE, FALSE = const(True, BOOL), const(False, BOOL)
NOT_KNOWN = [Cell(state, None) for state in UNKNOWN_STATES]
STATES = {str(cell.state): cell for cell in NOT_KNOWN}

unknown_cells = pytest.mark.parametrize("unknown", NOT_KNOWN, ids=STATES)


def text(value: str) -> ir.Const:
    return const(value, TEXT)


def number(value: int) -> ir.Const:
    return const(value, INT)


@unknown_cells
@pytest.mark.parametrize("operator", ["==", "!=", "<", "<=", ">", ">="])
def test_a_comparison_with_an_unknown_field_is_unknown(unknown: Cell, operator: str):
    """Not knowing is neither yes nor no, in each of the five states that are not knowledge."""
    assert truth_of(ir.Compare(operator, OWNER, text("ann")), {"owner": unknown}) is None


@pytest.mark.parametrize("operator", ["==", "!=", "<", "<=", ">", ">="])
def test_a_comparison_with_an_absent_field_is_unknown(operator: str):
    """So neither `<` nor `not … <` selects by accident what has no value."""
    assert truth_of(ir.Compare(operator, OWNER, text("ann")), {"owner": None}) is None
    assert truth_of(ir.Not(ir.Compare(operator, OWNER, text("ann"))), {"owner": None}) is None


@unknown_cells
def test_an_unknown_field_is_neither_present_nor_absent_nor_surely_known(unknown: Cell):
    """`is absent` needs a source that positively said so; `known` is never false."""
    for state in ("present", "absent", "known"):
        test = ir.IsState(OWNER, state)
        assert truth_of(test, {"owner": unknown}) is None
        assert truth_of(ir.Not(test), {"owner": unknown}) is None


@pytest.mark.parametrize(("value", "present", "absent"), [("ann", True, False), ("", True, False), (None, False, True)])
def test_presence_is_what_the_source_said(value, present, absent):
    """The empty text is a value; only absent is absent; both are known."""
    assert truth_of(ir.IsState(OWNER, "present"), {"owner": value}) is present
    assert truth_of(ir.IsState(OWNER, "absent"), {"owner": value}) is absent
    assert truth_of(ir.IsState(OWNER, "known"), {"owner": value}) is True


@unknown_cells
def test_else_does_not_stand_in_for_an_unknown_value(unknown: Cell):
    """A fallback is for what is truly absent."""
    filled = ir.Else(OWNER, text("nobody"), TEXT, optional=False)
    assert value_of(filled, text("nobody"), {"owner": unknown}) is None
    assert value_of(filled, text("nobody"), {"owner": None}) is True
    assert value_of(filled, text("ann"), {"owner": "ann"}) is True


def test_else_without_a_value_on_either_side_is_absent_only_if_both_are():
    """`a else b` is absent if both are absent, and unknown if the one that counts is unknown."""
    other = field("a", "other", TEXT)
    either = ir.Else(OWNER, other, TEXT, optional=True)
    assert truth_of(ir.IsState(either, "absent"), {"owner": None, "other": None}) is True
    assert truth_of(ir.IsState(either, "absent"), {"owner": None, "other": "x"}) is False
    assert truth_of(ir.IsState(either, "absent"), {"owner": None}) is None


KLEENE = [(TRUE, True), (FALSE, False), (ir.Compare("==", OWNER, text("ann")), None)]


@pytest.mark.parametrize(("left", "a"), KLEENE)
@pytest.mark.parametrize(("right", "b"), KLEENE)
def test_and_or_not_are_kleene(left, a, right, b):
    """False decides an `and`, true decides an `or`, and otherwise unknown stays unknown."""
    for x, y in ((left, right), (right, left)):
        both_hold = False if False in (a, b) else (None if None in (a, b) else True)
        one_holds = True if True in (a, b) else (None if None in (a, b) else False)
        assert truth_of(ir.And((x, y))) is both_hold
        assert truth_of(ir.Or((x, y))) is one_holds
    assert truth_of(ir.Not(left)) is (None if a is None else not a)


@pytest.mark.parametrize(("cell", "expected"), [(True, True), (False, False), (None, None), (NOT_KNOWN[0], None)])
def test_a_bare_field_is_true_only_if_its_value_is(cell, expected):
    """There is no truthiness: absent is not false."""
    assert truth_of(ACTIVE, {"active": cell}) is expected


def test_membership_is_unknown_without_a_known_item_or_list():
    """An unknown item is in nothing and out of nothing, not even of an empty list."""
    listed = ir.ListConst((text("ann"), text("it's")), ListOf(TEXT))
    empty = ir.ListConst((), ListOf(TEXT))
    for test in (ir.In(OWNER, listed), ir.In(OWNER, empty)):
        assert truth_of(test, {"owner": None}) is None
        assert truth_of(test, {"owner": NOT_KNOWN[0]}) is None
    assert truth_of(ir.In(OWNER, listed), {"owner": "it's"}) is True
    assert truth_of(ir.In(OWNER, listed), {"owner": "bob"}) is False
    assert truth_of(ir.In(OWNER, empty), {"owner": "bob"}) is False


def test_a_list_that_was_cut_short_says_nothing_about_its_members():
    """A truncated list's value is not kept, and absence of the list is not an empty list."""
    tags = field("a", "tags", ListOf(TEXT))
    has = ir.In(text("keep"), tags)
    assert truth_of(has, {"tags": Cell(FieldState.TRUNCATED, None)}) is None
    assert truth_of(has, {"tags": None}) is None
    assert truth_of(has, {"tags": ()}) is False
    assert truth_of(has, {"tags": ("keep",)}) is True
    moments = field("a", "moments", ListOf(TIMESTAMP))
    assert truth_of(ir.In(const(5, TIMESTAMP), moments), {"moments": (1, 5)}) is True


def test_a_map_without_the_key_has_no_value_there_and_an_unknown_map_has_no_answer():
    """Absent key and absent map are absent; an unknown map or key is unknown."""
    labels = field("a", "labels", MapOf(TEXT))
    team = ir.MapGet(labels, text("team"), TEXT)
    absent = ir.IsState(team, "absent")
    assert truth_of(absent, {"labels": {"team": ""}}) is False
    assert truth_of(absent, {"labels": {"x": "y"}}) is True
    assert truth_of(absent, {"labels": {}}) is True
    assert truth_of(absent, {"labels": None}) is True
    assert truth_of(absent, {"labels": NOT_KNOWN[0]}) is None
    by_owner = ir.MapGet(labels, OWNER, TEXT)
    assert truth_of(ir.IsState(by_owner, "absent"), {"labels": {}, "owner": None}) is None
    assert value_of(team, text("red"), {"labels": {"team": "red"}}) is True
    days = field("a", "days", MapOf(DATE))
    assert value_of(ir.MapGet(days, text("d"), DATE), const(-1, DATE), {"days": {"d": -1}}) is True


@pytest.mark.parametrize(
    ("left", "operator", "right", "result"),
    [
        (7, "/", 2, 3),
        (-7, "/", 2, -3),
        (7, "/", -2, -3),
        (-7, "/", -2, 3),
        (1, "/", 0, None),
        (INT_MIN, "/", -1, None),
        (INT_MAX, "+", 1, None),
        (INT_MIN, "-", 1, None),
        (INT_MAX, "*", INT_MAX, None),
        (INT_MIN, "*", 1, INT_MIN),
        (INT_MAX, "-", INT_MIN, None),
        (0, "-", INT_MAX, -INT_MAX),
    ],
)
def test_arithmetic_stays_in_64_bits_or_is_unknown(left, operator, right, result):
    """Nothing wraps, nothing raises, and division goes towards zero."""
    sum_ = ir.Arith(operator, NUMBER, field("a", "other", INT), INT)
    expected = number(0 if result is None else result)
    assert value_of(sum_, expected, {"number": left, "other": right}) is (None if result is None else True)
    assert value_of(sum_, expected, {"number": None, "other": right}) is None


def test_time_and_size_compute_in_canonical_units():
    """Timestamps and durations are microseconds, sizes are bytes."""
    seen, idle, size = field("a", "seen", TIMESTAMP), field("a", "idle", DURATION), field("a", "size", SIZE)
    later = ir.Arith("+", seen, idle, TIMESTAMP)
    assert value_of(later, const(7, TIMESTAMP), {"seen": 5, "idle": 2}) is True
    assert value_of(ir.Arith("-", seen, later, DURATION), const(-2, DURATION), {"seen": 5, "idle": 2}) is True
    assert value_of(ir.Arith("*", size, number(3), SIZE), const(3072, SIZE), {"size": 1024}) is True
    assert value_of(ir.Arith("-", ir.Now(), ir.Now(), DURATION), const(0, DURATION)) is True


def test_decimals_keep_38_digits():
    """A decimal is compared exactly, to the ninth digit after the point."""
    amount = field("a", "amount", DECIMAL)
    top = Decimal("99999999999999999999999999999.999999999")
    assert truth_of(ir.Compare("<", amount, const(top, DECIMAL)), {"amount": top}) is False
    just_under = Decimal("99999999999999999999999999999.999999998")
    assert truth_of(ir.Compare("<", amount, const(top, DECIMAL)), {"amount": just_under}) is True
    assert truth_of(ir.Compare("==", amount, const(Decimal("1.50"), DECIMAL)), {"amount": Decimal("1.5")}) is True


def test_text_is_ordered_by_code_point():
    """A code point outside of the basic plane comes after each one inside of it, whatever a locale would say."""
    assert truth_of(ir.Compare("<", OWNER, text("\U0001f600")), {"owner": "\uffee"}) is True
    assert truth_of(ir.Compare("<", OWNER, text("a")), {"owner": "Z"}) is True
    assert truth_of(ir.Compare("<", OWNER, text("a")), {"owner": "é"}) is False

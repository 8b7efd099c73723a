"""Averages, and aggregates that need so many rows: no data is neither zero nor absent."""

from __future__ import annotations

from decimal import Decimal

import pytest
from tests.support.expressions import DECIMAL_TOP
from tests.support.lowered import UNREAD, const, field, rows, truth_of

from fullcount.compiler import ir
from fullcount.compiler.types import DECIMAL, DURATION, INT, SIZE, TEXT, Type
from fullcount.compiler.values import INT_MAX, INT_MIN

pytestmark = pytest.mark.requirement("R19", "R20", "R21")

A_ID, C_VM = field("a", "id", TEXT), field("c", "vm", TEXT, "cpu")
OWN = ir.Compare("==", C_VM, A_ID)
BASE = {"id": "vm1"}
EVERY_SHAPE = [OWN, ir.TRUE, ir.Or((OWN, ir.Compare("==", C_VM, const("other", TEXT))))]
"""A join by key, all rows, and a condition that is no join: each is lowered in another way."""


def aggregate(function: str, of: Type = DECIMAL, needs: int | None = None, where: ir.Expr = OWN) -> ir.Aggregate:
    result = DECIMAL if function == "avg" and of == INT else of
    return ir.Aggregate(function, "cpu", "c", where, field("c", "value", of, "cpu"), result, needs=needs)


def cpu(*values: object, complete: bool = True, **more: object):
    return rows(*({"vm": "vm1", "value": value, **more} for value in values), complete=complete)


def is_(expr: ir.Aggregate, value: object, samples, operator: str = "==") -> object:
    return truth_of(ir.Compare(operator, expr, const(value, expr.type)), BASE, cpu=samples)


def states(expr: ir.Aggregate, samples) -> tuple[object, object]:
    """Whether it is present, and whether it is absent."""
    return tuple(truth_of(ir.IsState(expr, state), BASE, cpu=samples) for state in ("present", "absent"))


# ---------------------------------------------------------------------------------------------- needs


@pytest.mark.parametrize("function", ["min", "max", "sum", "avg"])
@pytest.mark.parametrize("where", EVERY_SHAPE, ids=["join", "all", "either"])
@pytest.mark.parametrize(
    "samples",
    [
        cpu(),
        cpu(Decimal(1)),
        cpu(Decimal(1), UNREAD, None),
        cpu(Decimal(1), complete=False),
        rows({"vm": "vm1", "value": Decimal(1)}, {"vm": UNREAD, "value": Decimal(1)}),
    ],
    ids=["none", "one", "one known", "one and more unread", "one and perhaps one"],
)
def test_too_few_rows_are_neither_zero_nor_absent_nor_any_value(function: str, where: ir.Expr, samples):
    """A machine without figures is not idle: nothing selects it, under `not` or without."""
    if where is ir.TRUE and samples[0] and samples[0][-1].get("vm") is UNREAD:
        return  # then all rows belong, and they are enough
    expr = aggregate(function, needs=2, where=where)
    for operator in ("<", ">=", "!="):
        test = ir.Compare(operator, expr, const(Decimal(10), DECIMAL))
        assert truth_of(test, BASE, cpu=samples) is None
        assert truth_of(ir.Not(test), BASE, cpu=samples) is None
    assert states(expr, samples) == (None, None)
    with_zero = ir.Compare("<", ir.Else(expr, const(Decimal(0), DECIMAL), DECIMAL, False), const(Decimal(10), DECIMAL))
    assert truth_of(with_zero, BASE, cpu=samples) is None


@pytest.mark.parametrize("where", EVERY_SHAPE, ids=["join", "all", "either"])
def test_enough_rows_give_what_the_aggregate_gives_without(where: ir.Expr):
    """Rows beyond the needed ones that are unclear still widen the range."""
    samples = cpu(Decimal(1), Decimal(3))
    for function, value in (("min", 1), ("max", 3), ("sum", 4), ("avg", 2)):
        expr = aggregate(function, needs=2, where=where)
        assert is_(expr, Decimal(value), samples) is True
        assert states(expr, samples) == (True, False)
    unclear = cpu(Decimal(1), Decimal(3), UNREAD)
    assert is_(aggregate("max", needs=2, where=where), Decimal(3), unclear, ">=") is True
    assert is_(aggregate("max", needs=2, where=where), Decimal(3), unclear, "<=") is None


def test_a_witness_among_enough_rows_decides_in_a_partial_inventory():
    """`max … > x` is positive: rows that were not returned could only add to it."""
    expr = aggregate("max", needs=2)
    assert is_(expr, Decimal(2), cpu(Decimal(1), Decimal(3), complete=False), ">") is True
    assert is_(expr, Decimal(9), cpu(Decimal(1), Decimal(3), complete=False), "<") is None


# ---------------------------------------------------------------------------------------------- avg


@pytest.mark.parametrize(
    ("of", "values", "low", "high"),
    [
        (INT, (1, 2), "1.5", "1.5"),
        (INT, (1, 1, 2), "1.333333333", "1.333333334"),
        (INT, (-1, -1, -2), "-1.333333334", "-1.333333333"),
        (INT, (INT_MAX, INT_MAX), f"{INT_MAX}", f"{INT_MAX}"),
        (INT, (INT_MIN, INT_MIN, INT_MIN), f"{INT_MIN}", f"{INT_MIN}"),
        (INT, (INT_MAX, INT_MIN), "-0.5", "-0.5"),
        (DECIMAL, ("0.000000001", "0"), "0", "0.000000001"),
        (DECIMAL, ("-0.000000001", "0"), "-0.000000001", "0"),
        (DECIMAL, ("1.5", "2.5", "-1"), "1", "1"),
        (DECIMAL, (str(DECIMAL_TOP),) * 3, str(DECIMAL_TOP), str(DECIMAL_TOP)),
        (DECIMAL, (f"-{DECIMAL_TOP}",) * 3, f"-{DECIMAL_TOP}", f"-{DECIMAL_TOP}"),
        (DECIMAL, (str(DECIMAL_TOP), f"-{DECIMAL_TOP}"), "0", "0"),
        (DURATION, (1, 2), 1, 2),
        (DURATION, (-1, -2), -2, -1),
        (SIZE, (10, 20, 30), 20, 20),
    ],
)
@pytest.mark.parametrize("where", EVERY_SHAPE, ids=["join", "all", "either"])
def test_average_is_exact_or_lies_between_the_two_nearest_steps(of: Type, values, low, high, where: ir.Expr):
    """Nothing is rounded: a quotient between two steps is neither of them, and less than the upper one is not known."""
    expr = aggregate("avg", of, where=where)
    samples = cpu(*(Decimal(v) if of == DECIMAL else v for v in values))
    low, high = (Decimal(v) if expr.type == DECIMAL else v for v in (low, high))
    assert is_(expr, low, samples, ">=") is True
    assert is_(expr, high, samples, "<=") is True
    assert is_(expr, low, samples) is (True if low == high else None)
    assert is_(expr, high, samples, ">") is not True


@pytest.mark.parametrize("where", EVERY_SHAPE, ids=["join", "all", "either"])
@pytest.mark.parametrize(
    "samples",
    [
        cpu(Decimal(1), UNREAD),
        cpu(Decimal(1), complete=False),
        rows({"vm": "vm1", "value": UNREAD}, {"vm": "vm1", "value": Decimal(1)}),
    ],
)
def test_average_without_all_rows_and_values_is_present_and_nothing_more(where: ir.Expr, samples):
    """One row more may move it anywhere."""
    expr = aggregate("avg", where=where)
    assert is_(expr, Decimal(10), samples, "<") is None
    assert is_(expr, Decimal(10), samples, "!=") is None
    assert states(expr, samples) == (True, False)


def test_row_that_may_belong_leaves_the_average_open_unless_it_has_no_value():
    """What gives nothing moves nothing."""
    expr = aggregate("avg")
    own = {"vm": "vm1", "value": Decimal(4)}
    assert is_(expr, Decimal(4), rows(own, {"vm": UNREAD, "value": Decimal(4)})) is None
    assert is_(expr, Decimal(4), rows(own, {"vm": UNREAD, "value": None})) is True
    assert is_(expr, Decimal(4), rows(own, {"vm": "vm2", "value": Decimal(9)})) is True


def test_average_of_nothing_is_absent_only_where_that_is_sure():
    """An empty answer of a complete inventory; a row without a value; never a cut one."""
    expr = aggregate("avg")
    assert states(expr, cpu()) == (False, True)
    assert states(expr, cpu(None)) == (False, True)
    assert states(expr, cpu(complete=False)) == (None, None)
    assert states(expr, cpu(UNREAD)) == (None, None)
    assert states(expr, rows({"vm": UNREAD, "value": Decimal(1)})) == (None, None)

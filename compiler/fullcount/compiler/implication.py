"""Whether one condition implies another in every world: a proof by their shape, or no answer.

`implies(p, q)` is only ever True if q is *true* wherever p is *true*, and `refutes(p, q)` only if q is *false* wherever
p is *false*: in three values, over every set of rows, complete or not, for the same parameters, instant and outer rows.
False means that no proof was found, never that there is none. Thresholds are compared by their constants; what the
proof does not understand has to be equal. It never looks at data.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from fullcount.compiler import ir
from fullcount.compiler.normal import negation, normal
from fullcount.compiler.types import TIMESTAMP
from fullcount.compiler.values import Value

_SAFE: Final = 2**62
"""Lengths up to here can be added to any instant of the calendar without leaving 64 bits."""


def implies(premise: ir.Expr, conclusion: ir.Expr) -> bool:
    """Whether `conclusion` is proven true wherever `premise` is true."""
    return _true(normal(premise), normal(conclusion))


def refutes(premise: ir.Expr, conclusion: ir.Expr) -> bool:
    """Whether `conclusion` is proven false wherever `premise` is false."""
    return _false(normal(premise), normal(conclusion))


def _true(p: ir.Expr, q: ir.Expr) -> bool:
    """Whether q is true wherever p is true; both in normal form."""
    if p == q or _is(q, True) or _is(p, False):
        return True
    match p, q:
        case _, ir.And(items=items):
            return all(_true(p, item) for item in items)
        case ir.Or(items=items), _:
            return all(_true(item, q) for item in items)
        case ir.And(items=items), ir.Or(items=others):
            return any(_true(item, q) for item in items) or any(_true(p, other) for other in others)
        case ir.And(items=items), _:
            return any(_true(item, q) for item in items)
        case _, ir.Or(items=others):
            return any(_true(p, other) for other in others)
        case _:
            return _test(p, q)


def _false(p: ir.Expr, q: ir.Expr) -> bool:
    """Whether q is false wherever p is false; both in normal form."""
    return _true(negation(p), negation(q))


def _is(expr: ir.Expr, truth: bool) -> bool:
    return isinstance(expr, ir.Const) and expr.value is truth


# -- tests -------------------------------------------------------------------------------------------------------------


def _test(p: ir.Expr, q: ir.Expr) -> bool:
    """Whether one test that is true makes another true; neither is a junction."""
    match p, q:
        case ir.Some(), ir.Some() if p.inventory == q.inventory:
            return _true(p.where, q.where)
        case ir.Not(operand=ir.Some() as a), ir.Not(operand=ir.Some() as b) if a.inventory == b.inventory:
            return _false(a.where, b.where)
        case ir.AnyItem(), ir.AnyItem() if p.collection == q.collection and p.item == q.item:
            return _true(p.where, q.where)
        case ir.Not(operand=ir.AnyItem() as a), ir.Not(operand=ir.AnyItem() as b) if (
            a.collection == b.collection and a.item == b.item
        ):
            return _false(a.where, b.where)
        case ir.In(), ir.In() if p.item == q.item:
            return _items(p.collection, q.collection)
        case ir.Not(operand=ir.In() as a), ir.Not(operand=ir.In() as b) if a.item == b.item:
            return _items(b.collection, a.collection)
        case ir.Compare(operator="==", left=left, right=right), ir.In(item=item, collection=ir.ListConst() as listed):
            held = {constant.value for constant in listed.items}
            sides = ((left, right), (right, left))
            return any(mine == item and isinstance(other, ir.Const) and other.value in held for mine, other in sides)
        case ir.Compare(left=left, right=right), ir.IsState(operand=operand, state="present" | "known"):
            # a comparison is true only of values that are there
            return operand in (left, right)
        case ir.IsState(operand=a, state="present" | "absent"), ir.IsState(operand=b, state="known"):
            return a == b
        case ir.Compare(), ir.Compare():
            return _compares(p, q)
        case _:
            return False


def _items(some: ir.Expr, all_of: ir.Expr) -> bool:
    """Whether every item of one constant list is in another."""
    match some, all_of:
        case ir.ListConst(items=a), ir.ListConst(items=b):
            return {constant.value for constant in a} <= {constant.value for constant in b}
        case _:
            return False


# -- thresholds --------------------------------------------------------------------------------------------------------


def _compares(p: ir.Compare, q: ir.Compare) -> bool:
    """Whether a comparison that is true makes another true. In normal form there is no `>`."""
    for left, right in _readings(p):
        for low, high in _readings(q):
            down, up = _gap(low, left), _gap(right, high)
            if down is not None and up is not None and _follows(p.operator, q.operator, down, up):
                return True
    return False


def _readings(test: ir.Compare) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    yield test.left, test.right
    if test.operator in {"==", "!="}:
        yield test.right, test.left


def _follows(given: str, wanted: str, down: int, up: int) -> bool:
    """Whether `low wanted high` follows from `left given right`.

    `down` says how low lies to left, `up` how right lies to high: 1 strictly below, 0 equal, -1 above.
    """
    within = down >= 0 and up >= 0
    strictly = within and (down > 0 or up > 0)
    match given, wanted:
        case ("==", "==") | ("!=", "!="):
            return down == 0 and up == 0
        case ("<", "<" | "<=" | "!=") | ("<=" | "==", "<="):
            return within
        case "<=" | "==", "<" | "!=":
            return strictly
        case _:
            return False


def _gap(low: ir.Expr, high: ir.Expr) -> int | None:
    """Return 1 if `low` is below `high` in every world, 0 if they are equal, -1 if it is above; None if unproven.

    Only of sides that are the same, or that are known in every world: a constant, or `now` and a constant.
    """
    if low == high:
        return 0
    a, b = _known(low), _known(high)
    if a is None or b is None or a[0] != b[0]:
        return None
    match a[1], b[1]:
        case bool(), _:
            return None
        case (int() as x, int() as y) | (Decimal() as x, Decimal() as y):
            return (y > x) - (y < x)
        case str() as x, str() as y:
            return (y > x) - (y < x)
        case _:
            return None


def _known(expr: ir.Expr) -> tuple[bool, Value] | None:
    """Return whether a side counts from `now`, and its constant; None if it is neither."""
    match expr:
        case ir.Const(value=value):
            return False, value
        case ir.Now():
            return True, 0
        case ir.Arith(operator="+" | "-" as operator, left=ir.Now(), right=ir.Const(value=int() as length)):
            if expr.type == TIMESTAMP and abs(length) <= _SAFE:
                return True, length if operator == "+" else -length
            return None
        case _:
            return None

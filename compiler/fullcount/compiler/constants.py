"""Literals and constant arithmetic: exact, within signed 64 bits, and refused where a result would not fit."""

from __future__ import annotations

from decimal import Decimal

from fullcount.compiler import ir
from fullcount.compiler.report import error
from fullcount.compiler.types import SCALARS, Type
from fullcount.compiler.values import DECIMAL_PRECISION, DECIMAL_SCALE, INT_MAX, INT_MIN
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostics
from fullcount.dsl.source import Span


def literal(
    node: tree.Literal, sink: Diagnostics, *, negative: bool = False, span: Span | None = None
) -> ir.Const | None:
    """Return the constant of a literal, negated if `negative`; None, reported, if it can't be one."""
    place = node.span if span is None else span
    if node.kind not in SCALARS:
        error(
            sink,
            "FC215",
            "a percentage has no meaning in an expression",
            place,
            help="percentages belong to `limit`, `change at most` and `stop after`",
        )
        return None
    value = node.value
    if negative and isinstance(value, int | Decimal):
        value = -value
    constant = ir.Const(value, SCALARS[node.kind], span=place)
    return constant if fits(constant, sink) else None


def fits(constant: ir.Const, sink: Diagnostics) -> bool:
    """Whether a constant is within the range of its type; if not, that is reported."""
    value = constant.value
    if isinstance(value, Decimal):
        if decimal_fits(value):
            return True
        message = f"a decimal has at most {DECIMAL_PRECISION} digits, {DECIMAL_SCALE} of them after the point"
    elif isinstance(value, int) and not INT_MIN <= value <= INT_MAX:
        message = f"this {constant.type} is larger than can be counted here"
    else:
        return True
    error(
        sink,
        "FC206",
        message,
        constant.span,
        why="what does not fit is never rounded or wrapped: a threshold would move without a word",
        help="use a smaller number" if isinstance(value, int) else "write it with fewer digits",
    )
    return False


def decimal_fits(value: Decimal) -> bool:
    """Whether a decimal is exact within 38 digits, 9 of them after the point."""
    if not value.is_finite():
        return False
    _, digits, exponent = value.as_tuple()
    places = int(exponent)
    before = max(len(digits) + places, 0)
    return -places <= DECIMAL_SCALE and before <= DECIMAL_PRECISION - DECIMAL_SCALE


def fold(
    operator: str, left: ir.Const, right: ir.Const, result: Type, span: Span, sink: Diagnostics
) -> ir.Const | None:
    """Return the constant result of integer-like arithmetic, or None with a finding if it does not fit."""
    a, b = left.value, right.value
    if not isinstance(a, int) or not isinstance(b, int):
        raise TypeError("only whole numbers, durations, sizes and instants are computed with")
    match operator:
        case "+":
            value = a + b
        case "-":
            value = a - b
        case "*":
            value = a * b
        case _:
            value = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    constant = ir.Const(value, result, span=span)
    return constant if fits(constant, sink) else None

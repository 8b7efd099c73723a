"""Arithmetic on time, sizes and whole numbers. Nothing is converted: what is not in the table is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullcount.compiler import ir
from fullcount.compiler.constants import fold, literal
from fullcount.compiler.environment import Env, Typed
from fullcount.compiler.report import error
from fullcount.compiler.types import DECIMAL, DURATION, INT, SIZE, TIMESTAMP, Type
from fullcount.dsl import tree

if TYPE_CHECKING:
    from fullcount.compiler.expressions import Checker

RESULTS: dict[tuple[str, Type, Type], Type] = {
    **{(op, INT, INT): INT for op in "+-*/"},
    **{(op, DURATION, DURATION): DURATION for op in "+-"},
    **{(op, SIZE, SIZE): SIZE for op in "+-"},
    **{(op, TIMESTAMP, DURATION): TIMESTAMP for op in "+-"},
    ("-", TIMESTAMP, TIMESTAMP): DURATION,
    ("*", DURATION, INT): DURATION,
    ("*", INT, DURATION): DURATION,
    ("/", DURATION, INT): DURATION,
    ("*", SIZE, INT): SIZE,
    ("*", INT, SIZE): SIZE,
    ("/", SIZE, INT): SIZE,
}


def arithmetic(checker: Checker, node: tree.Binary, env: Env) -> Typed | None:
    """Check `left <operator> right` and fold it if both are constants."""
    left = checker.required(node.left, env, "this arithmetic")
    right = checker.required(node.right, env, "this arithmetic")
    if left is None or right is None:
        return None
    result = RESULTS.get((node.operator, left.type, right.type))
    if result is None:
        error(
            checker.context.sink,
            "FC205",
            f"`{node.operator}` has no meaning between `{left.type}` and `{right.type}`",
            node.span,
            help=_hint(node.operator, left.type, right.type),
        )
        return None
    if node.operator == "/" and isinstance(right.expr, ir.Const) and right.expr.value == 0:
        error(
            checker.context.sink,
            "FC206",
            "this divides by zero",
            node.right.span,
            why="the result would never be known, so nothing could ever be selected",
            help="divide by another number",
        )
        return None
    if isinstance(left.expr, ir.Const) and isinstance(right.expr, ir.Const):
        folded = fold(node.operator, left.expr, right.expr, result, node.span, checker.context.sink)
        return None if folded is None else Typed(folded, False, False)
    return Typed(ir.Arith(node.operator, left.expr, right.expr, result, span=node.span), False, False)


def negate(checker: Checker, node: tree.Unary, env: Env) -> Typed | None:
    """Check `-x`: a negative literal, or zero minus a whole number or a duration."""
    if isinstance(node.operand, tree.Literal) and node.operand.kind in {"int", "decimal", "duration"}:
        constant = literal(node.operand, checker.context.sink, negative=True, span=node.span)
        return None if constant is None else Typed(constant, False, False)
    operand = checker.required(node.operand, env, "this `-`")
    if operand is None:
        return None
    if operand.type not in {INT, DURATION}:
        error(checker.context.sink, "FC205", f"`-` has no meaning before `{operand.type}`", node.span)
        return None
    zero = ir.Const(0, operand.type, span=node.span)
    if isinstance(operand.expr, ir.Const):
        folded = fold("-", zero, operand.expr, operand.type, node.span, checker.context.sink)
        return None if folded is None else Typed(folded, False, False)
    return Typed(ir.Arith("-", zero, operand.expr, operand.type, span=node.span), False, False)


def _hint(operator: str, left: Type, right: Type) -> str:
    if (right, left) in {(TIMESTAMP, DURATION)} and operator == "+":
        return "write the instant first: `now + 30d`"
    if DECIMAL in {left, right}:
        return "decimals are compared, not computed with"
    if {left, right} == {TIMESTAMP, INT}:
        return "a time span is written with its unit, as `30d`"
    if {left, right} == {SIZE, INT}:
        return "a size is written with its unit, as `10 GiB`"
    return "arithmetic is for whole numbers, durations, sizes and instants"

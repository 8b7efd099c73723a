"""Comparisons: both sides of one type, both there, and `never` rewritten so that nothing later has to know it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullcount.compiler import ir
from fullcount.compiler.conditions import varying
from fullcount.compiler.environment import Env, Typed
from fullcount.compiler.ids import may_meet
from fullcount.compiler.polarity import MIRRORED, Polarity, sign_of_more_rows
from fullcount.compiler.report import error
from fullcount.compiler.spellings import alike
from fullcount.compiler.types import DATE, DECIMAL, DURATION, INT, ORDERED, SIZE, TEXT, TIMESTAMP, Scalar, Type
from fullcount.compiler.walk import is_condition
from fullcount.dsl import tree

if TYPE_CHECKING:
    from fullcount.compiler.expressions import Checker

COMPARISONS = frozenset(MIRRORED)
_ORDERING = frozenset({"<", "<=", ">", ">="})


def comparison(checker: Checker, node: tree.Binary, env: Env) -> ir.Expr | None:
    """Check `left <operator> right`."""
    left_never, right_never = _strip_never(node.left), _strip_never(node.right)
    left = _operand(checker, left_never or node.left, env, node.operator)
    right = _operand(checker, right_never or node.right, env, MIRRORED[node.operator])
    if left is None or right is None or not _comparable(checker, node, left, right):
        return None
    if not may_meet(checker.context, left, right, node.span, "this compares"):
        return None
    spelled = alike(checker.context, left, right, node.span)
    if spelled is None:
        return None
    left, right = spelled
    guards: list[ir.Expr] = []
    for typed, operand, side in ((left, left_never, node.left), (right, right_never, node.right)):
        if operand is None:
            if not checker.said_absent(typed, side, env, "this comparison"):
                return None
        elif not _never_is_clear(checker, node, typed, side, env):
            return None
        else:
            guards.append(ir.IsState(typed.expr, "present", span=side.span))
    if left.expr == right.expr:
        error(
            checker.context.sink,
            "FC208",
            "this compares a value with itself",
            node.span,
            why="it is the same for every object, so the rule selects everything or nothing",
            help="one of the two sides was meant to be something else",
        )
        return None
    if _nothing_is_below_zero(node.operator, left.expr, right.expr):
        error(
            checker.context.sink,
            "FC208",
            "this is the same for every object: a number of things is never below zero",
            node.span,
            why="the rule selects everything or nothing by it",
            help="compare with `> 0` or `== 0`, or remove the test",
        )
        return None
    test = varying(checker, ir.Compare(node.operator, left.expr, right.expr, span=node.span), node.span)
    if test is None or len(guards) == 0:
        return test
    return ir.And((*guards, test), span=node.span)


def _nothing_is_below_zero(operator: str, left: ir.Expr, right: ir.Expr) -> bool:
    """Whether a comparison of a number of rows, items or characters with a constant has one answer for all of them."""
    if isinstance(left, ir.Const):
        operator, left, right = MIRRORED[operator], right, left
    counted = (isinstance(left, ir.Aggregate) and left.function == "count" and left.needs is None) or (
        isinstance(left, ir.Call) and left.function == "length"
    )
    if not counted or not isinstance(right, ir.Const) or not isinstance(right.value, int):
        return False
    return right.value < 0 or (right.value == 0 and operator in {">=", "<"})


def _operand(checker: Checker, node: tree.Expr, env: Env, operator: str) -> Typed | None:
    """Check one side; `operator` is the comparison as seen from this side."""
    polarity = Polarity.MIXED
    found = checker.context.names.library.aggregate(node)
    if found is not None:
        polarity = env.polarity.under(sign_of_more_rows(found.function, operator))
    return checker.value(node, env, aggregates=polarity)


def _strip_never(node: tree.Expr) -> tree.Expr | None:
    """Return x of `x else never`, or None if there is no such `else`."""
    return node.operand if isinstance(node, tree.Else) and isinstance(node.fallback, tree.Never) else None


def _comparable(checker: Checker, node: tree.Binary, left: Typed, right: Typed) -> bool:
    sink = checker.context.sink
    if is_condition(left.expr) or is_condition(right.expr):
        error(
            sink,
            "FC220",
            "a test is not a value to compare",
            (node.left if is_condition(left.expr) else node.right).span,
            help="join tests with `and`, `or` and `not`",
        )
        return False
    if left.type != right.type:
        error(
            sink,
            "FC201",
            f"a `{left.type}` can't be compared with a `{right.type}`",
            node.span,
            why="nothing is converted on the way, so that one rule has one meaning",
            help=_mismatch_hint(left.type, right.type),
        )
        return False
    if not isinstance(left.type, Scalar):
        error(
            sink,
            "FC205",
            f"a `{left.type}` can't be compared as a whole",
            node.span,
            help='compare one value of it, as `"admin" in a.groups` or `a.tags["env"]`',
        )
        return False
    if node.operator in _ORDERING and left.type.kind not in ORDERED:
        error(
            sink,
            "FC205",
            f"`{node.operator}` has no meaning between values of type `{left.type}`",
            node.span,
            help="compare with `==` or `!=`",
        )
        return False
    return True


def _mismatch_hint(left: Type, right: Type) -> str:
    pair = {left, right}
    hints: tuple[tuple[set[Type], str], ...] = (
        ({DECIMAL, INT}, "a decimal is written with a point, as `5.0`"),
        ({SIZE, INT}, "a size is written with its unit, as `10 GiB`"),
        ({DURATION, INT}, "a duration is written with its unit, as `90d`"),
        ({TIMESTAMP, DURATION}, "count back from the instant of the plan: `now - 90d`"),
        ({TIMESTAMP, TEXT}, "an instant is written without quotes and with its offset, as `2026-01-31T00:00:00Z`"),
        ({DATE, TEXT}, "a date is written without quotes, as `2026-01-31`"),
        ({TIMESTAMP, DATE}, "an instant is written with its time and offset, as `2026-01-31T00:00:00Z`"),
        ({TEXT, INT}, "a text is written in quotes, a whole number without"),
    )
    for types, hint in hints:
        if pair == types:
            return hint
    return f"compare it with a `{left}`"


def _never_is_clear(checker: Checker, node: tree.Binary, typed: Typed, side: tree.Expr, env: Env) -> bool:
    """Whether `x else never` can be read in one way only here."""
    why = ""
    if node.operator not in _ORDERING:
        message = f"`never` can't be compared with `{node.operator}`"
        help_text = "ask whether the value `is absent` or `is present`"
    elif typed.type not in {TIMESTAMP, DATE}:
        message = f"`never` is an instant, and this is `{typed.type}`"
        help_text = "give a fallback of the same type"
    elif not typed.declared_optional:
        error(
            checker.context.sink,
            "FC203",
            f"`{checker.context.quote(side.span)}`: the value is never absent, so this `else` can't apply",
            side.span,
            help="remove the `else`, or declare the field with `?` if its values may be absent",
        )
        return False
    elif env.polarity is not Polarity.POSITIVE:
        message = "`never` is ambiguous here, under a negation"
        why = "an object without the value fails this comparison, and the negation would then select it"
        help_text = "say it in full, as `x is present and x < …` or `x is absent or x < …`"
    else:
        return True
    error(checker.context.sink, "FC207", message, side.span, why=why, help=help_text)
    return False

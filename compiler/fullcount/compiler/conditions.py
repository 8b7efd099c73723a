"""Tests in Kleene's logic: `and`, `or`, `not`, `in`, `is present|absent|known`, and values of type `bool`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fullcount.compiler import ir
from fullcount.compiler.environment import Env, Typed
from fullcount.compiler.ids import may_meet
from fullcount.compiler.list_files import list_from_file
from fullcount.compiler.polarity import Polarity
from fullcount.compiler.presence import facts_when
from fullcount.compiler.report import error, warning
from fullcount.compiler.spellings import member_of
from fullcount.compiler.types import BOOL, ListOf, MapOf, Scalar
from fullcount.compiler.walk import is_condition, is_constant
from fullcount.dsl import tree
from fullcount.dsl.source import Span

if TYPE_CHECKING:
    from fullcount.compiler.expressions import Checker


def conjunction_or_disjunction(checker: Checker, node: tree.Binary, env: Env) -> ir.Expr | None:
    """Check a chain of `and` or of `or`, each part knowing what the parts before it say about presence."""
    operator = node.operator
    made = ir.And if operator == "and" else ir.Or
    items: list[ir.Expr] = []
    failed = False
    for part in _chain(node, operator):
        item = checker.condition(part, env)
        if item is None:
            failed = True
            env = replace(env, lenient=env.lenient or _speaks_of_presence(part))
            continue
        items.extend(item.items if isinstance(item, made) else (item,))
        env = env.knowing(facts_when(item, operator == "and"))
    return None if failed else made(tuple(items), span=node.span)


def _chain(node: tree.Expr, operator: str) -> list[tree.Expr]:
    """Return the parts of a chain of one operator, in the order written, however it was nested."""
    parts: list[tree.Expr] = []
    stack: list[tree.Expr] = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, tree.Binary) and part.operator == operator:
            stack.extend((part.right, part.left))
        else:
            parts.append(part)
    return parts


def _speaks_of_presence(node: tree.Expr) -> bool:
    """Whether a part that failed may have said what is present, so that the parts behind it can't be judged."""
    match node:
        case tree.StateTest() | tree.Call():  # a call may be of a definition that does
            return True
        case tree.Unary(operator="not", operand=operand):
            return _speaks_of_presence(operand)
        case tree.Binary(operator="and" | "or"):
            return any(_speaks_of_presence(part) for part in _chain(node, node.operator))
        case tree.Binary(left=left, right=right):
            return any(isinstance(side, tree.Else) and isinstance(side.fallback, tree.Never) for side in (left, right))
        case _:
            return False


def negation(checker: Checker, node: tree.Unary, env: Env) -> ir.Expr | None:
    """Check `not x`."""
    operand = checker.condition(node.operand, env.flipped())
    return None if operand is None else ir.Not(operand, span=node.span)


def truth_of(checker: Checker, node: tree.Expr, env: Env) -> ir.Expr | None:
    """Check a value that is used as a test: it must be a `bool` that is there and that depends on something."""
    typed = checker.required(node, env, "this test")
    if typed is None:
        return None
    if typed.type != BOOL:
        error(
            checker.context.sink,
            "FC204",
            f"`{checker.context.quote(node.span)}` is `{typed.type}`, which is neither true nor false",
            node.span,
            why="zero, an empty text and an empty list are values like any other here, not `false`",
            help=_test_hint(typed),
        )
        return None
    return varying(checker, typed.expr, node.span)


def _test_hint(typed: Typed) -> str:
    if isinstance(typed.type, ListOf | MapOf):
        return 'ask for what it should hold, as `"admin" in …` or `…["env"] is present`'
    return "compare it with something" + (", or ask whether it `is present`" if typed.declared_optional else "")


def varying(checker: Checker, test: ir.Expr, span: Span) -> ir.Expr | None:
    """Return a test that depends on something; one that is always the same is reported."""
    if not is_constant(test):
        return test
    error(
        checker.context.sink,
        "FC208",
        "this is the same for every object",
        span,
        why="a rule that does not look at the object selects everything or nothing",
        help="to select every object, write `where all`"
        if isinstance(test, ir.Const)
        else "name a field of the object",
    )
    return None


def member(checker: Checker, node: tree.Binary, env: Env) -> ir.Expr | None:
    """Check `x in collection` and `x not in collection`."""
    user = f"this `{node.operator}`"
    item = checker.required(node.left, env, user)
    if isinstance(node.right, tree.ListLiteral):
        listed = list_constant(checker, node.right, env)
        held = None if listed is None else Typed(listed, False, False)
    elif isinstance(node.right, tree.ListFile):
        listed = None if item is None else list_from_file(checker, node.right, item.type, env)
        held = None if listed is None else Typed(listed, False, False)
    else:
        held = checker.required(node.right, env, user)
    if item is None or held is None:
        return None
    collection = held.expr
    if not isinstance(collection, ir.ListConst | ir.Field | ir.MapGet) or not isinstance(collection.type, ListOf):
        error(
            checker.context.sink,
            "FC205",
            f"`{checker.context.quote(node.right.span)}` is `{collection.type}`, not a list",
            node.right.span,
            help='`in` looks into a list, as `["a", "b"]` or a field of type `list<text>`'
            if not isinstance(collection.type, MapOf)
            else 'ask a map for a key: `…["env"] is present`',
        )
        return None
    if item.type != collection.type.item or not isinstance(item.type, Scalar):
        error(
            checker.context.sink,
            "FC201",
            f"a `{item.type}` is never in a `{collection.type}`",
            node.span,
            help=f"compare it with values of type `{item.type}`",
        )
        return None
    if is_condition(item.expr):
        _test_as_value(checker, node.left.span)
        return None
    if not may_meet(checker.context, item, held, node.span, "this compares"):
        return None
    made = member_of(item.expr, collection, item.normal, env.fresh("item"), node.span)
    test = varying(checker, made, node.span)
    if test is None or node.operator == "in":
        return test
    return ir.Not(test, span=node.span)


def _test_as_value(checker: Checker, span: Span) -> None:
    error(
        checker.context.sink,
        "FC220",
        "a test is not a value to compare",
        span,
        help="join tests with `and`, `or` and `not`",
    )


def list_constant(checker: Checker, node: tree.ListLiteral, env: Env) -> ir.ListConst | None:
    """Check a list of constants of one type; an empty one is refused, because nothing is in it."""
    if len(node.items) == 0:
        error(
            checker.context.sink,
            "FC208",
            "nothing is ever in an empty list",
            node.span,
            why="the test would be the same for every object",
            help="name at least one value, or remove the test",
        )
        return None
    items: list[ir.Const] = []
    for part in node.items:
        typed = checker.value(part, env)
        if typed is None:
            return None
        if not isinstance(typed.expr, ir.Const):
            error(
                checker.context.sink,
                "FC221",
                "a list holds constants only",
                part.span,
                help="write each case with `or`",
            )
            return None
        items.append(typed.expr)
    first = items[0].type
    for const, part in zip(items, node.items, strict=True):
        if const.type != first:
            error(
                checker.context.sink,
                "FC201",
                f"this list begins with `{first}`, and this is `{const.type}`",
                part.span,
                help=f"make every item `{first}`",
            )
            return None
    return ir.ListConst(tuple(items), ListOf(first), span=node.span)


_STATE_POLARITY = {"present": Polarity.POSITIVE, "absent": Polarity.NEGATIVE, "known": Polarity.MIXED}


def state_test(checker: Checker, node: tree.StateTest, env: Env) -> ir.Expr | None:
    """Check `x is present`, `x is absent`, `x is known`."""
    sign = _STATE_POLARITY[node.state]
    typed = checker.value(node.operand, env, aggregates=env.polarity.under(sign))
    if typed is None:
        return None
    text = checker.context.quote(node.operand.span)
    may_be = isinstance(typed.expr, ir.Field | ir.MapGet | ir.Else) or (
        isinstance(typed.expr, ir.Aggregate) and typed.expr.function not in {"count", "sum"}
    )
    if not may_be and not typed.declared_optional:  # what is handed to a `text?` of a definition may be any value
        error(
            checker.context.sink,
            "FC203",
            f"`{text}` is not something that can be absent",
            node.span,
            help="ask this of a field, a key of a map, an `else`, a `min` or a `max`",
        )
        return None
    test = ir.IsState(typed.expr, node.state, span=node.span)
    if typed.declared_optional or node.state == "known":
        return test
    if node.state == "absent":
        error(
            checker.context.sink,
            "FC203",
            f"`{text}` is never absent, so this test is never true",
            node.span,
            note=f"declared as `{typed.type}`",
            help="remove the test, or declare the field with `?` if its values may be absent",
        )
        return None
    warning(
        checker.context.sink,
        "FC219",
        f"`{text}` is never absent, so this test rules nothing out",
        node.span,
        note=f"declared as `{typed.type}`",
        help="remove the test, or write `is known` to ask whether the value could be read",
    )
    return test

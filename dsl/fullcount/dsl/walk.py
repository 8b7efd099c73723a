"""Walking over expressions of the syntax tree."""

from __future__ import annotations

from collections.abc import Iterator

from fullcount.dsl import tree


def parts(expr: tree.Expr) -> tuple[tree.Expr, ...]:
    """Return the direct sub-expressions, in order."""
    match expr:
        case tree.Index(target=first, key=second) | tree.Else(operand=first, fallback=second):
            return (first, second)
        case tree.Binary(left=first, right=second):
            return (first, second)
        case tree.Unary(operand=operand) | tree.StateTest(operand=operand):
            return (operand,)
        case tree.Call(arguments=items) | tree.ListLiteral(items=items):
            return items
        case tree.Quantified(where=where):
            return (where,)
        case tree.ListTest(collection=collection, where=where):
            return (collection, where)
        case tree.AggregateExpr(where=where, of=of):
            return (where,) if of is None else (where, of)
        case _:
            return ()


def nodes(expr: tree.Expr) -> Iterator[tree.Expr]:
    """Yield an expression and everything below it."""
    stack = [expr]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(parts(node)))

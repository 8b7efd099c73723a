"""Small total functions over expressions: what they mention, whether they are constant, and renaming a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from fullcount.compiler import ir
from fullcount.compiler.types import BOOL
from fullcount.dsl.source import Span


def nodes(expr: ir.Expr) -> Iterator[ir.Expr]:
    """Yield an expression and everything below it."""
    stack = [expr]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(ir.children(node)))


def mentions_row(expr: ir.Expr, row: str) -> bool:
    """Whether a field of the row variable occurs."""
    return any(isinstance(node, ir.Field) and node.row == row for node in nodes(expr))


def is_constant(expr: ir.Expr) -> bool:
    """Whether the value is the same for every object, every run and every parameter."""
    varying = (ir.Field, ir.Param, ir.Now, ir.Some, ir.Aggregate)
    return not any(isinstance(node, varying) for node in nodes(expr)) and not ir.open_items(expr)


def is_condition(expr: ir.Expr) -> bool:
    """Whether the expression is a test (it has a truth), rather than a value that may happen to be a `bool`."""
    tests = (ir.Not, ir.And, ir.Or, ir.Compare, ir.IsState, ir.In, ir.AnyItem, ir.Some)
    return isinstance(expr, tests) or (isinstance(expr, ir.Call) and expr.type == BOOL)


def conjunction(*parts: ir.Expr) -> ir.Expr:
    """Return all parts joined by `and`, flat; a constant true part is left out."""
    items: list[ir.Expr] = []
    for part in parts:
        if isinstance(part, ir.And):
            items.extend(part.items)
        elif part != ir.TRUE:
            items.append(part)
    if len(items) == 0:
        return ir.TRUE
    return items[0] if len(items) == 1 else ir.And(tuple(items), span=parts[-1].span)


def with_parts(expr: ir.Expr, change: Callable[[ir.Expr], ir.Expr]) -> ir.Expr:
    """Return the node with `change` applied to each of its direct sub-expressions."""
    match expr:
        case ir.Const() | ir.ListConst() | ir.Param() | ir.Now() | ir.Unknown() | ir.Field() | ir.Item():
            return expr
        case ir.MapGet():
            return replace(expr, target=change(expr.target), key=change(expr.key))
        case ir.Not() | ir.IsState():
            return replace(expr, operand=change(expr.operand))
        case ir.And() | ir.Or():
            return replace(expr, items=tuple(map(change, expr.items)))
        case ir.Compare() | ir.Arith():
            return replace(expr, left=change(expr.left), right=change(expr.right))
        case ir.Else():
            return replace(expr, operand=change(expr.operand), fallback=change(expr.fallback))
        case ir.In():
            return replace(expr, item=change(expr.item), collection=change(expr.collection))
        case ir.AnyItem():
            return replace(expr, collection=change(expr.collection), where=change(expr.where))
        case ir.Call():
            return replace(expr, arguments=tuple(map(change, expr.arguments)))
        case ir.Some():
            return replace(expr, where=change(expr.where))
        case ir.Aggregate(of=of):
            return replace(expr, where=change(expr.where), of=None if of is None else change(of))


def rename_row(expr: ir.Expr, old: str, new: str) -> ir.Expr:
    """Return the expression with the fields of the row variable `old` read from `new` instead."""
    if isinstance(expr, ir.Field):
        return replace(expr, row=new) if expr.row == old else expr
    return with_parts(expr, lambda part: rename_row(part, old, new))


def moved(expr: ir.Expr, inside: Span, to: Span) -> ir.Expr:
    """Return the expression with every place that lies in `inside` moved to `to`; what stands elsewhere stays."""
    if expr.span.source != inside.source or not inside.start <= expr.span.start <= expr.span.end <= inside.end:
        return expr
    made = with_parts(expr, lambda part: moved(part, inside, to))
    return replace(made, span=to, head=to) if isinstance(made, ir.Some | ir.Aggregate) else replace(made, span=to)


def depth_and_size(expr: ir.Expr, most: int) -> tuple[int, int]:
    """Return how many levels and parts an expression has; it stops counting behind `most` parts."""
    deepest = size = 0
    stack = [(expr, 1)]
    while stack and size <= most:
        node, depth = stack.pop()
        deepest, size = max(deepest, depth), size + 1
        stack.extend((part, depth + 1) for part in ir.children(node))
    return deepest, size

"""Small total functions over expressions: what they mention, whether they are constant, and renaming a row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fullcount.compiler import ir
from fullcount.compiler.types import BOOL


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
    return not any(isinstance(node, varying) for node in nodes(expr))


def is_condition(expr: ir.Expr) -> bool:
    """Whether the expression is a test (it has a truth), rather than a value that may happen to be a `bool`."""
    tests = (ir.Not, ir.And, ir.Or, ir.Compare, ir.IsState, ir.In, ir.Some)
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


def rename_row(expr: ir.Expr, old: str, new: str) -> ir.Expr:
    """Return the expression with the fields of the row variable `old` read from `new` instead."""
    match expr:
        case ir.Field(row=row):
            return replace(expr, row=new) if row == old else expr
        case ir.Const() | ir.ListConst() | ir.Param() | ir.Now():
            return expr
        case ir.MapGet():
            return replace(expr, target=rename_row(expr.target, old, new), key=rename_row(expr.key, old, new))
        case ir.Not() | ir.IsState():
            return replace(expr, operand=rename_row(expr.operand, old, new))
        case ir.And() | ir.Or():
            return replace(expr, items=tuple(rename_row(item, old, new) for item in expr.items))
        case ir.Compare() | ir.Arith():
            return replace(expr, left=rename_row(expr.left, old, new), right=rename_row(expr.right, old, new))
        case ir.Else():
            operand, fallback = rename_row(expr.operand, old, new), rename_row(expr.fallback, old, new)
            return replace(expr, operand=operand, fallback=fallback)
        case ir.In():
            item, collection = rename_row(expr.item, old, new), rename_row(expr.collection, old, new)
            return replace(expr, item=item, collection=collection)
        case ir.Call():
            return replace(expr, arguments=tuple(rename_row(item, old, new) for item in expr.arguments))
        case ir.Some():
            return replace(expr, where=rename_row(expr.where, old, new))
        case ir.Aggregate(of=of):
            renamed = None if of is None else rename_row(of, old, new)
            return replace(expr, where=rename_row(expr.where, old, new), of=renamed)

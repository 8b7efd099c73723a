"""One way of writing a condition, so that two can be compared by their shape.

Guarantees: the normal form has the same truth as the condition in every world, in three values. Negations stand at the
tests (`not x < y` is `x >= y`: where a side is not known both are unknown), `>` is written as `<`, junctions are flat
and without repetitions, and rows and items are named by their depth, so that what they were called plays no part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from fullcount.compiler import ir
from fullcount.compiler.polarity import MIRRORED
from fullcount.compiler.walk import with_parts

_OPPOSITE: Final = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_STATES: Final = {"present": "absent", "absent": "present"}


def normal(expr: ir.Expr, rows: Mapping[str, str] | None = None) -> ir.Expr:
    """Return the normal form; `rows` gives other names to rows that the expression does not bind itself."""
    return _normal(expr, {} if rows is None else rows, 0)


def negation(expr: ir.Expr) -> ir.Expr:
    """Return the normal form of the negation of a normal form."""
    match expr:
        case ir.Not(operand=operand):
            return operand
        case ir.And(items=items):
            return _flat(ir.Or, map(negation, items))
        case ir.Or(items=items):
            return _flat(ir.And, map(negation, items))
        case ir.Compare(operator=operator, left=left, right=right):
            return _compare(_OPPOSITE[operator], left, right)
        case ir.IsState(state=state) if state in _STATES:
            return replace(expr, state=_STATES[state])
        case ir.Const(value=bool() as value):
            return replace(expr, value=not value)
        case _:
            return ir.Not(expr)


_Names = Mapping[str, str]


def _normal(expr: ir.Expr, names: _Names, depth: int) -> ir.Expr:
    def part(inner: ir.Expr) -> ir.Expr:
        return _normal(inner, names, depth)

    match expr:
        case ir.Not(operand=operand):
            return negation(part(operand))
        case ir.And(items=items):
            return _flat(ir.And, map(part, items))
        case ir.Or(items=items):
            return _flat(ir.Or, map(part, items))
        case ir.Compare(operator=operator, left=left, right=right):
            return _compare(operator, part(left), part(right))
        case ir.Some() | ir.Aggregate():
            return _use(expr, names, depth)
        case ir.AnyItem(collection=collection, item=item, where=where):
            named = f"item {depth}"
            inner = _normal(where, {**names, item: named}, depth + 1)
            return replace(expr, collection=part(collection), item=named, where=inner)
        case ir.Item(name=name):
            return replace(expr, name=names.get(name, name))
        case ir.Field(row=row):
            return replace(expr, row=names.get(row, row))
        case _:
            return with_parts(expr, part)


def _use(expr: ir.Some | ir.Aggregate, names: _Names, depth: int) -> ir.Expr:
    """Return a use with its row named by the depth; no name of the language has a blank, so none is captured."""
    row = f"row {depth}"
    inner = {**names, expr.row: row}
    where = _normal(expr.where, inner, depth + 1)
    if isinstance(expr, ir.Some):
        return replace(expr, row=row, where=where)
    of = None if expr.of is None else _normal(expr.of, inner, depth + 1)
    return replace(expr, row=row, where=where, of=of)


def _compare(operator: str, left: ir.Expr, right: ir.Expr) -> ir.Compare:
    if operator in {">", ">="}:
        return ir.Compare(MIRRORED[operator], right, left)
    return ir.Compare(operator, left, right)


def _flat(kind: type[ir.And | ir.Or], items: Iterable[ir.Expr]) -> ir.Expr:
    neutral = kind is ir.And
    parts: list[ir.Expr] = []
    for item in items:
        if isinstance(item, ir.Const) and item.value is (not neutral):
            return item
        if isinstance(item, kind):
            parts.extend(item.items)
        elif not (isinstance(item, ir.Const) and item.value is neutral):
            parts.append(item)
    unique = [part for number, part in enumerate(parts) if part not in parts[:number]]
    if len(unique) == 0:
        return replace(ir.TRUE, value=neutral)
    return unique[0] if len(unique) == 1 else kind(tuple(unique))

"""Flow typing: what a condition being true, or being false, says about which values are present.

Kleene's logic makes this exact: where `x is present` is true, x has a value; where it is merely unknown, so is
everything joined to it by `and`.
"""

from __future__ import annotations

from functools import reduce

from fullcount.compiler import ir

Facts = frozenset[ir.Expr]
NONE: Facts = frozenset()


def facts_when(expr: ir.Expr, truth: bool) -> Facts:
    """Return the expressions that are surely present where `expr` is proven to be `truth`."""
    match expr:
        case ir.IsState(operand=operand, state="present"):
            return frozenset({operand}) if truth else NONE
        case ir.IsState(operand=operand, state="absent"):
            return NONE if truth else frozenset({operand})
        case ir.Not(operand=operand):
            return facts_when(operand, not truth)
        case ir.And(items=items):
            return _join(items, truth, every=truth)
        case ir.Or(items=items):
            return _join(items, truth, every=not truth)
        case _:
            return NONE


def _join(items: tuple[ir.Expr, ...], truth: bool, *, every: bool) -> Facts:
    """Facts of a conjunction that is true hold together; of one that is false, only those that all items share."""
    parts = [facts_when(item, truth) for item in items]
    return reduce(frozenset.union, parts) if every else reduce(frozenset.intersection, parts)

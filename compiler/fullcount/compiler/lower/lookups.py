"""Targeted questions: which rows of other inventories decide a rule for one object.

The runtime puts these to the sources at the moment of the act, and then evaluates the closure over the answers. A
question is only as narrow as the rule and the object's known values make it.

An equality is a hint in the sense of `World.rows`: rows whose field has *no* value are part of the answer as well. A
source's plain `field = value` look-up leaves these out, so it may stand in for the hint only for fields that always
have a value (keys and other fields that are not optional and were read).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fullcount.compiler import ir
from fullcount.compiler.lower import facts
from fullcount.compiler.lower.closure import compile_hints
from fullcount.compiler.lower.world import Bindings, Env, Equal
from fullcount.dsl.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Lookup:
    """The rows of `inventory` with these values. No values: it cannot be targeted, all rows are needed."""

    inventory: str
    equal: Equal


def compile_lookups(expr: ir.Expr, bindings: Bindings) -> Callable[[Env], list[Lookup]]:
    """Compile the questions of a rule, one for each outermost use of another inventory, in order and each once.

    The closure of the same rule asks its world for exactly these. A use within another use's `where` depends on rows
    that are not known yet, and has no question of its own.
    """
    prepared = tuple(
        (use.inventory, compile_hints(facts.equalities(use.where, use.row), bindings)) for use in _outermost(expr)
    )

    def questions(env: Env) -> list[Lookup]:
        return list(dict.fromkeys(Lookup(inventory, hints(env)) for inventory, hints in prepared))

    return questions


def lookups(expr: ir.Expr, env: Env, bindings: Bindings) -> list[Lookup]:
    """Return the questions for one object. See `compile_lookups`, which is quicker for many objects."""
    return compile_lookups(expr, bindings)(env)


def _outermost(expr: ir.Expr) -> Iterator[ir.Some | ir.Aggregate]:
    if isinstance(expr, ir.Some | ir.Aggregate):
        yield expr
        return
    for child in ir.children(expr):
        yield from _outermost(child)

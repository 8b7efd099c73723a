"""Looking into another inventory: `some`, `no`, `count`, `min`, `max`, `sum`, `avg`.

The scope of the inventory is made part of each condition, so that what is evaluated is what was asked of the source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullcount.compiler import ir
from fullcount.compiler.environment import Env, Place, Typed
from fullcount.compiler.lists import refuse_inventory
from fullcount.compiler.names import BoundInventory
from fullcount.compiler.polarity import Polarity
from fullcount.compiler.presence import facts_when
from fullcount.compiler.report import error
from fullcount.compiler.types import DECIMAL, DURATION, INT, ORDERED, SIZE, Scalar, Type
from fullcount.compiler.walk import conjunction, is_condition, mentions_row, rename_row
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Label
from fullcount.dsl.source import Span

if TYPE_CHECKING:
    from fullcount.compiler.expressions import Checker

_SUMMED: frozenset[Type] = frozenset({INT, DECIMAL, DURATION, SIZE})


def quantified(checker: Checker, node: tree.Quantified, env: Env) -> ir.Expr | None:
    """Check `some X as x where (…)` and `no X as x where (…)`."""
    inner = env if node.quantifier == "some" else env.flipped()
    bound = _enter(checker, node, inner)
    if bound is None:
        return None
    inventory, inner = bound
    where = _where(checker, node, inventory, inner)
    if where is None:
        return None
    some = ir.Some(inventory.name, inner.variable(node.row.text), where, span=node.span, head=_head(node))
    return some if node.quantifier == "some" else ir.Not(some, span=node.span)


def aggregate(checker: Checker, node: tree.AggregateExpr, env: Env, polarity: Polarity | None) -> Typed | None:
    """Check an aggregate; `polarity` is None where an aggregate is not allowed."""
    if polarity is None:
        error(
            checker.context.sink,
            "FC210",
            f"`{node.function}` can only be compared, asked whether it `is present`, or given an `else`",
            node.span,
            why="its value is a range as long as rows may be missing, and only these can say `unknown`",
            help=f"write `{node.function} {node.inventory.text} as {node.row.text} where (…) … > 3`",
        )
        return None
    bound = _enter(checker, node, env.at(polarity))
    if bound is None:
        return None
    inventory, inner = bound
    where = _where(checker, node, inventory, inner)
    if where is None:
        return None
    if node.function == "count" or node.of is None:
        return _count(checker, node, inventory, where, inner)
    of = checker.required(node.of, inner.knowing(facts_when(where, True)), f"this `{node.function}`")
    if of is None or not _can_aggregate(checker, node, node.of, of, inner):
        return None
    made = ir.Aggregate(
        node.function,
        inventory.name,
        inner.variable(node.row.text),
        where,
        of.expr,
        DECIMAL if node.function == "avg" and of.type == INT else of.type,
        span=node.span,
        head=_head(node),
        needs=node.needs,
    )
    # with too few rows it is unknown, and so never absent
    optional = node.function in {"min", "max", "avg"} and node.needs is None
    return Typed(made, optional and made not in env.facts, optional)


def _count(
    checker: Checker, node: tree.AggregateExpr, inventory: BoundInventory, where: ir.Expr, env: Env
) -> Typed | None:
    if (node.of is None) != (node.function == "count"):
        needs = "counts rows, so it has no `of`" if node.of is not None else "needs `of` and the value to look at"
        error(
            checker.context.sink,
            "FC210",
            f"`{node.function}` {needs}",
            node.span,
            help=f"write `{node.function} {node.inventory.text} as {node.row.text} where (…)"
            + ("`" if node.of is not None else f" of {node.row.text}.…`"),
        )
        return None
    row = env.variable(node.row.text)
    made = ir.Aggregate("count", inventory.name, row, where, None, INT, span=node.span, head=_head(node))
    return Typed(made, False, False)


def _can_aggregate(checker: Checker, node: tree.AggregateExpr, place: tree.Expr, of: Typed, env: Env) -> bool:
    sink = checker.context.sink
    if is_condition(of.expr) or not isinstance(of.type, Scalar):
        allowed = False
    elif node.function in {"sum", "avg"}:
        allowed = of.type in _SUMMED
    else:
        allowed = of.type.kind in ORDERED
    if not allowed:
        error(sink, "FC205", f"`{node.function}` has no meaning over values of type `{of.type}`", place.span)
        return False
    if not mentions_row(of.expr, env.variable(node.row.text)):
        error(
            sink,
            "FC217",
            f"this is the same for every row of `{node.inventory.text}`",
            place.span,
            help=f"name a field of `{node.row.text}`",
        )
        return False
    return True


def _enter(checker: Checker, node: tree.Quantified | tree.AggregateExpr, env: Env) -> tuple[BoundInventory, Env] | None:
    """Return the inventory and the surroundings inside the quantifier."""
    context = checker.context
    if env.place is Place.ITEMS:
        refuse_inventory(checker, node)
        return None
    if env.place is not Place.RULE:
        error(
            context.sink,
            "FC211",
            f"{env.place.value} can't look into another inventory",
            node.span,
            help="say it in the `where` of the proposal"
            if env.place is not Place.PROTECT
            else "say it by fields of the object itself",
        )
        return None
    inventory = context.names.inventory(node.inventory, context.sink)
    row = node.row
    params = context.names.params if env.locals is None else env.locals
    if row.text in env.rows or row.text in params:
        what = "a row of an enclosing rule" if row.text in env.rows else "a parameter"
        error(
            context.sink,
            "FC111",
            f"`{row.text}` is already the name of {what}",
            row.span,
            why="the two would look alike, and a condition on the wrong one selects the wrong objects",
            help="give this row another name",
        )
        return None
    return None if inventory is None else (inventory, env.with_row(row.text, inventory))


def _where(
    checker: Checker, node: tree.Quantified | tree.AggregateExpr, inventory: BoundInventory, env: Env
) -> ir.Expr | None:
    scope = ir.TRUE if inventory.scope is None else rename_row(inventory.scope, ir.SELF, env.variable(node.row.text))
    if isinstance(node.where, tree.All):
        return scope
    where = checker.condition(node.where, env)
    if where is None:
        return None
    if not mentions_row(where, env.variable(node.row.text)):
        error(
            checker.context.sink,
            "FC217",
            f"this never looks at `{node.row.text}`, so it is the same for every row of `{inventory.name}`",
            node.where.span,
            labels=(Label(node.row.span, "named here"),),
            why="a condition that forgets the row it is about is true for all rows or for none",
            help=f"name a field of `{node.row.text}`, or write `where (all)` if any row at all is meant",
        )
        return None
    return conjunction(scope, where)


def _head(node: tree.Quantified | tree.AggregateExpr) -> Span:
    return Span(node.span.source, node.span.start, node.inventory.span.end)

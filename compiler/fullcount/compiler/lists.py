"""Tests of the items of a list: `any a.groups as g where (…)`, `all a.groups as g where (…)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullcount.compiler import ir
from fullcount.compiler.environment import Env, Place
from fullcount.compiler.report import error
from fullcount.compiler.types import ListOf
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Label

if TYPE_CHECKING:
    from fullcount.compiler.expressions import Checker


def list_test(checker: Checker, node: tree.ListTest, env: Env) -> ir.Expr | None:
    """Check a test of a list. `all` is true for a list without items, as everywhere in logic."""
    if _names_inventory(checker, node, env) or _name_is_taken(checker, node, env):
        return None
    collection = checker.required(node.collection, env, f"this `{node.quantifier}`")
    if collection is None:
        return None
    if not isinstance(collection.expr, ir.Field | ir.ListConst | ir.MapGet) or not isinstance(collection.type, ListOf):
        error(
            checker.context.sink,
            "FC205",
            f"`{checker.context.quote(node.collection.span)}` is `{collection.type}`, not a list",
            node.collection.span,
            help="`any` and `all` test the items of a field of type `list<…>`",
        )
        return None
    inner = env.with_item(node.item.text, collection.type.item, collection.names)
    where = checker.condition(node.where, inner)
    if where is None:
        return None
    item = inner.item(node.item.text)
    if item not in ir.open_items(where):
        error(
            checker.context.sink,
            "FC217",
            f"this never looks at `{node.item.text}`, so it is the same for every item of the list",
            node.where.span,
            labels=(Label(node.item.span, "named here"),),
            why="a condition that forgets the item it is about is true for all items or for none",
            help=f"name `{node.item.text}`, or ask `length({checker.context.quote(node.collection.span)}) > 0`"
            " if any item at all is meant",
        )
        return None
    if node.quantifier == "any":
        return ir.AnyItem(collection.expr, item, where, span=node.span)
    # every item satisfies it: none fails it
    failing = ir.AnyItem(collection.expr, item, ir.Not(where, span=where.span), span=node.span)
    return ir.Not(failing, span=node.span)


def _names_inventory(checker: Checker, node: tree.ListTest, env: Env) -> bool:
    """Whether an inventory stands where a list is meant; that is reported."""
    names = checker.context.names
    if not isinstance(node.collection, tree.Reference) or len(node.collection.parts) != 1:
        return False
    (name,) = node.collection.parts
    is_value = name.text in (*env.items, *(names.params if env.locals is None else env.locals))
    is_field = env.bare is not None and name.text in env.bare.fields
    if is_value or is_field or name.text not in names.inventories:
        return False
    word = {"any": "some", "all": "no"}[node.quantifier]
    negated = "" if node.quantifier == "any" else "not "
    error(
        checker.context.sink,
        "FC205",
        f"`{name.text}` is an inventory, and `{node.quantifier}` tests the items of a list",
        name.span,
        help=f"write `{word} {name.text} as {node.item.text} where ({negated}…)`",
    )
    return True


def _name_is_taken(checker: Checker, node: tree.ListTest, env: Env) -> bool:
    """Whether the name of the item already means something here; that is reported."""
    name = node.item.text
    params = checker.context.names.params if env.locals is None else env.locals
    if name in env.rows or name in env.items:
        what = "a row" if name in env.rows else "an item of another list"
    elif name in params:
        what = "a parameter"
    elif env.bare is not None and (name in env.bare.fields or name in env.bare.failed):
        what = "a field"
    else:
        return False
    error(
        checker.context.sink,
        "FC111",
        f"`{name}` is already the name of {what} here",
        node.item.span,
        why="the two would look alike, and a condition on the wrong one selects the wrong objects",
        help="give the item another name",
    )
    return True


def refuse_inventory(checker: Checker, node: tree.Quantified | tree.AggregateExpr) -> None:
    """Report that the condition of a test of a list looks into an inventory."""
    inventory, row = node.inventory.text, node.row.text
    error(
        checker.context.sink,
        "FC211",
        f"{Place.ITEMS.value} can't look into another inventory",
        node.span,
        why="the items of a list are values of one object, and what they refer to is a question about the inventory",
        help=f"turn it round, as `some {inventory} as {row} where ({row}.… in a.…)`",
    )

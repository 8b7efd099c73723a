"""`a.id in people.id`: looking for a value in a field of another inventory.

It is `some people as p where (p.id == a.id)` in short, and nothing else: what is inferred and needed of the one is so
of the other. A row without the value can't be the one that is looked for, as in any comparison after `is present`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullcount.compiler import ir
from fullcount.compiler.environment import Env
from fullcount.compiler.names import BoundInventory
from fullcount.compiler.quantifiers import quantified
from fullcount.dsl import tree
from fullcount.dsl.dataclass import dataclass

if TYPE_CHECKING:
    from fullcount.compiler.expressions import Checker


@dataclass(frozen=True, slots=True)
class Listed:
    """A field of an inventory, as the list of its values."""

    inventory: BoundInventory
    named: tree.Name
    field: tree.Name


def field_of_inventory(checker: Checker, node: tree.Expr, env: Env) -> Listed | None:
    """Return the field that `people.id` names, if it is one of an inventory and not of a row that is called so."""
    if not isinstance(node, tree.Reference) or len(node.parts) != 2 or env.locals is not None:
        return None
    named, field = node.parts
    params = checker.context.names.params
    if named.text in env.rows or named.text in env.items or named.text in params:
        return None
    if env.bare is not None and named.text in env.bare.fields:
        return None
    inventory = checker.context.names.inventories.get(named.text)
    return None if inventory is None else Listed(inventory, named, field)


def in_inventory(checker: Checker, node: tree.Binary, listed: Listed, env: Env) -> ir.Expr | None:
    """Check `x in people.id` and `x not in people.id`."""
    row = _row(checker, listed, env)
    place = node.right.span
    held = tree.Reference((tree.Name(row, place), listed.field), place)
    test: tree.Expr = tree.Binary("==", held, node.left, node.span, node.operator_span)
    declared = listed.inventory.fields.get(listed.field.text)
    if declared is not None and declared.optional:
        there = tree.StateTest(held, "present", place)
        test = tree.Binary("and", there, test, node.span, node.operator_span)
    quantifier = "some" if node.operator == "in" else "no"
    named = tree.Name(listed.named.text, place)
    return quantified(checker, tree.Quantified(quantifier, named, tree.Name(row, place), test, node.span), env)


def _row(checker: Checker, listed: Listed, env: Env) -> str:
    """Return a name for the row that nothing around is called by."""
    names = checker.context.names
    taken = {*env.rows, *env.items, *names.params, *names.inventories, *env.taken}
    if env.bare is not None:
        taken |= set(env.bare.fields)
    name, number = listed.inventory.name, 1
    while name in taken:
        number += 1
        name = f"{listed.inventory.name}{number}"
    return name

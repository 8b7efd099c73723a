"""Floors: what `keep at least N per … newest by …` keeps, checked.

A floor speaks of the whole population: the groups are made of every object in the scope of the base inventory, not of
those that the rule selects, and the N newest of each group stay whatever the rule says of them. Objects that are
equally new stay together.
"""

from __future__ import annotations

from dataclasses import replace

from fullcount.compiler import ir, program
from fullcount.compiler.environment import Env, Place, Typed
from fullcount.compiler.expressions import Checker
from fullcount.compiler.functions import SEVERAL
from fullcount.compiler.report import error
from fullcount.compiler.types import ORDERED, ListOf, Scalar
from fullcount.compiler.walk import is_condition, mentions_row
from fullcount.dsl import tree


def check_keep(checker: Checker, decl: tree.KeepDecl, row: str, env: Env, text: str) -> program.Keep | None:
    """Check one `keep`; `text` is the clause as written, for people."""
    sink = checker.context.sink
    place = replace(env, place=Place.KEEP)
    counted = decl.count > 0
    if not counted:
        error(
            sink,
            "FC521",
            f"`keep at least {decl.count}` keeps nothing",
            decl.count_span,
            why="zero means none, so this reads like a floor and is none",
            help="keep at least 1, or remove the clause",
        )
    per = None if decl.per is None else part_of_row(checker, decl.per, row, place, "group", "keep")
    by = part_of_row(checker, decl.by, row, place, decl.order, "keep")
    if not counted or by is None or (decl.per is not None and per is None):
        return None
    if not can_order(checker, by, decl.by, decl.order):
        return None
    return program.Keep(decl.count, None if per is None else per.expr, decl.order, by.expr, text, decl.span)


def can_order(checker: Checker, by: Typed, node: tree.Expr, order: str) -> bool:
    """Whether values of this type have an order."""
    if not isinstance(by.type, Scalar) or by.type.kind in ORDERED:
        return True
    error(
        checker.context.sink,
        "FC205",
        f"values of type `{by.type}` have no order, so none of them is the {order}",
        node.span,
        help="name an instant or a number of the object",
    )
    return False


def part_of_row(checker: Checker, node: tree.Expr, row: str, env: Env, what: str, clause: str) -> Typed | None:
    """Check a value of the object itself that is always there: an object without it would have no place.

    A group may be made of several values, `[a.region, a.team]`.
    """
    sink = checker.context.sink
    if what == "group" and isinstance(node, tree.ListLiteral):
        return _several(checker, node, row, env, clause)
    typed = checker.required(node, env, f"this `{clause}`")
    if typed is None:
        return None
    if is_condition(typed.expr):
        error(
            sink, "FC220", "a test is not a value to group or to order by", node.span, help=f"name a field of `{row}`"
        )
        return None
    if not isinstance(typed.type, Scalar):
        error(
            sink,
            "FC205",
            f"a `{typed.type}` can't be compared as a whole",
            node.span,
            help='name one value of it, as `a.tags["env"] else "none"`',
        )
        return None
    if not mentions_row(typed.expr, row):
        error(
            sink,
            "FC217",
            f"this is the same for every object, so it tells no {what} from another",
            node.span,
            help=f"name a field of `{row}`"
            if what != "group"
            else f"name a field of `{row}`, or leave `per …` out to {clause} that many of all",
        )
        return None
    return typed


def _several(checker: Checker, node: tree.ListLiteral, row: str, env: Env, clause: str) -> Typed | None:
    found = [part_of_row(checker, each, row, env, "group", clause) for each in node.items]
    parts = [each for each in found if each is not None]
    if len(parts) < len(found):
        return None
    types = {str(each.type): each.type for each in parts}
    if len(types) == 1 and len(parts) > 1:
        listed = ListOf(parts[0].type)
        return Typed(ir.Call(SEVERAL, tuple(each.expr for each in parts), listed, span=node.span), False, False)
    what = "one value" if len(parts) == 1 else "no value" if len(parts) == 0 else " and ".join(f"`{n}`" for n in types)
    error(
        checker.context.sink,
        "FC205",
        f"a group of several values is of two or more of one type, and this is {what}",
        node.span,
        help=f"as `per [{row}.region, {row}.team]`; a number is made a text by `text(…)`",
    )
    return None

"""`bounded`: acting on an inventory that may not have been read to its end (requirement R22).

An object that was found speaks for itself. Nothing else may be concluded from an incomplete reading, so a `bounded`
proposal has a scope that names what it is about, a rule that more rows could only add to, a number that caps it, and
nothing that counts, ranks or compares with what there is in all. A person approves it with the reasons on the screen.
"""

from __future__ import annotations

from fullcount.compiler import ir, program
from fullcount.compiler.claims import Direction
from fullcount.compiler.environment import Context
from fullcount.compiler.lower import facts
from fullcount.compiler.names import BoundInventory
from fullcount.compiler.promises import Promises
from fullcount.compiler.report import error
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostics, Label
from fullcount.dsl.source import Span

ABOUT_THE_WHOLE = {
    "complete": "complete",
    "rows": "rows at least …",
    "change": "change at most …",
    "count": "count agrees with …",
}
"""The claims that only a whole reading can hold, by their kind, as they are written."""


def check_bounded(decl: tree.ProposeDecl, proposal: program.Proposal, promises: Promises, context: Context) -> None:
    """Report everything in a `bounded` proposal that rests on rows which may not have been read."""
    bounded, sink = decl.bounded, context.sink
    base = context.names.inventories.get(decl.inventory.text)
    if bounded is None or base is None:
        return
    here = Label(bounded.span, "declared here")
    _scope(bounded.span, base, sink)
    _claims(base, promises, here, sink)
    for use in proposal.uses:
        if use.direction is Direction.ABSENCE:
            _absence(use, here, context)
    for keep in decl.keeps:
        _ranks("keep", keep.span, here, sink)
    for pick in decl.picks:
        _ranks("pick", pick.span, here, sink)
    _limit(decl, here, sink)


def _scope(bounded: Span, base: BoundInventory, sink: Diagnostics) -> None:
    if base.decl.scope is not None and (base.scope is None or is_narrow(base.scope)):
        return
    said = base.decl.scope
    error(
        sink,
        "FC321",
        f"`bounded`, but `{base.name}` has no scope"
        if said is None
        else f"`bounded`, but the scope of `{base.name}` only says what is not meant",
        bounded,
        labels=(Label(base.decl.name.span, "read here"),) if said is None else (Label(said.span, "the scope"),),
        why="what may be acted on without having been counted must be named, not left over",
        help=f'say in `{base.name}` which objects are meant:  scope environment == "test"',
    )


def is_narrow(scope: ir.Expr) -> bool:
    """Whether a scope names what it is about: a field of the object equals a value, or is one of several."""
    return any(_names(part) for part in facts.conjuncts(scope))


def _names(part: ir.Expr) -> bool:
    match part:
        case (
            ir.Compare(operator="==", left=ir.Field(), right=other)
            | ir.Compare(operator="==", left=other, right=ir.Field())
        ):
            return isinstance(other, ir.Const | ir.Param)
        case ir.In(item=ir.Field(), collection=ir.ListConst()):
            return True
        case ir.Call(function="starts_with", arguments=(ir.Field(), ir.Const(value=str() as prefix))):
            return prefix != ""
        case _:
            return False


def _claims(base: BoundInventory, promises: Promises, here: Label, sink: Diagnostics) -> None:
    promise = promises.by_inventory.get(base.name)
    for claim in () if promise is None else promise.decl.claims:
        if claim.kind not in ABOUT_THE_WHOLE:
            continue
        error(
            sink,
            "FC320",
            f"`{ABOUT_THE_WHOLE[claim.kind]}` is about all of `{base.name}`, and `bounded` does without that",
            claim.span,
            labels=(here,),
            why="with the claim an incomplete reading is refused, so `bounded` would never mean anything",
            help="remove the claim, or remove `bounded`",
        )


def _absence(use: program.Use, here: Label, context: Context) -> None:
    text = context.quote(use.head)
    instead = f"say it by what is found, as `some {use.inventory} as x where (…)` or a field of the object"
    if use.names_parts:
        instead = "name the parts by values that are written out"
    error(
        context.sink,
        "FC322",
        f"a `bounded` rule can't rest on what was not found: `{text}`",
        use.head,
        note="rows that were not returned could turn this around",
        labels=(here,),
        why="who acts on an incomplete reading may only conclude from what it shows",
        help=f"{instead}, or remove `bounded`",
    )


def _ranks(clause: str, span: Span, here: Label, sink: Diagnostics) -> None:
    error(
        sink,
        "FC323",
        f"`{clause}` compares objects with each other, and not all of them may have been found",
        span,
        labels=(here,),
        why="an object that was not returned could be the one that comes first",
        help=f"remove `{clause}`, or remove `bounded` and verify the inventory as complete",
    )


def _limit(decl: tree.ProposeDecl, here: Label, sink: Diagnostics) -> None:
    limit = decl.limit
    if limit is not None and limit.percent is not None:
        error(
            sink,
            "FC324",
            "a percentage of an inventory that was not counted is no cap",
            limit.span,
            labels=(here,),
            why="of rows that may be the smallest part of all there are, it could be anything",
            help="cap it by a number alone:  limit 20",
        )
    elif limit is None or limit.count is None:
        error(
            sink,
            "FC324",
            f"`bounded`, but nothing says how many objects `{decl.name.text}` may take",
            here.span,
            why="a number is all that is left between a rule that went wrong and every object that was found",
            help="add a number:  limit 20",
        )

"""Direction of inference: which way each use of an inventory concludes, and so what evidence it needs.

A use is a *witness* if more rows could only add to what is selected, and *absence* if a row that was not returned could
take something away (design section 4). The analysis carries a polarity down the rule; a doubt always falls to the
side of absence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from fullcount.compiler import ir
from fullcount.compiler.claims import Claim, Complete, Direction, Fresh, Snapshot, Visible
from fullcount.compiler.polarity import MIRRORED, Polarity, sign_of_more_rows
from fullcount.compiler.program import Inventory, Proposal, Use
from fullcount.dsl.source import Span

FULL_COUNT: tuple[Claim, ...] = (Complete(), Snapshot(), Visible(), Fresh(None))
"""What a conclusion about rows that were not returned needs, and what every act needs of its own inventory."""

REQUIRED: dict[Direction, tuple[Claim, ...]] = {
    Direction.BASE: FULL_COUNT,
    Direction.BOUNDED: (Fresh(None),),
    Direction.ABSENCE: FULL_COUNT,
    Direction.WITNESS: (Fresh(None),),
}


def infer_uses(proposal: Proposal, base_span: Span, inventories: Mapping[str, Inventory] | None = None) -> Proposal:
    """Return the proposal with every use of an inventory, the base first; `base_span` is where the base is named.

    An inventory that names the partitions of another one is used by it, in absence: a partition that it lacks is not
    read. These uses come last.
    """
    base = Direction.BOUNDED if proposal.bounded else Direction.BASE
    uses = [_use(proposal.inventory, base, base_span, base_span)]
    # an object that is selected takes the place of another one in a pick: for the selection it stands either way
    selected = Polarity.POSITIVE if len(proposal.picks) == 0 else Polarity.MIXED
    uses.extend(uses_of(proposal.where, selected))
    for exemption in proposal.excepts:
        if exemption.condition is not None:
            # what is not proven false keeps the object: for the selection it stands under a negation
            uses.extend(uses_of(exemption.condition, selected.flipped()))
    return replace(proposal, uses=(*uses, *_partitions({use.inventory for use in uses}, inventories or {})))


def _partitions(used: set[str], inventories: Mapping[str, Inventory]) -> Iterator[Use]:
    """Yield the uses of inventories that name partitions of used ones, and of those that name partitions of these."""
    waiting, seen = sorted(used), set(used)
    while waiting:
        inventory = inventories.get(waiting.pop(0))
        for across in () if inventory is None else inventory.across:
            if across.inventory is None:
                continue
            yield replace(_use(across.inventory, Direction.ABSENCE, across.span, across.span), names_parts=True)
            if across.inventory not in seen:
                seen.add(across.inventory)
                waiting.append(across.inventory)


def uses_of(expr: ir.Expr, polarity: Polarity) -> Iterator[Use]:
    """Yield the uses of other inventories in an expression that stands at `polarity`."""
    match expr:
        case ir.Not(operand=operand):
            yield from uses_of(operand, polarity.flipped())
        case ir.And(items=items) | ir.Or(items=items):
            for item in items:
                yield from uses_of(item, polarity)
        case ir.Some():
            yield _use(expr.inventory, _direction(polarity), expr.span, expr.head)
            yield from uses_of(expr.where, polarity)
        case ir.Compare(operator=operator, left=left, right=right):
            yield from _operand(left, operator, polarity)
            yield from _operand(right, MIRRORED[operator], polarity)
        case ir.IsState(operand=ir.Aggregate() as aggregate, state="present"):
            yield from _aggregate(aggregate, polarity)
        case ir.IsState(operand=ir.Aggregate() as aggregate, state="absent"):
            yield from _aggregate(aggregate, polarity.flipped())
        case ir.Aggregate():
            yield from _aggregate(expr, Polarity.MIXED)
        case _:
            # a value: an aggregate below it may move it either way
            for child in ir.children(expr):
                yield from uses_of(child, Polarity.MIXED)


def _operand(expr: ir.Expr, operator: str, polarity: Polarity) -> Iterator[Use]:
    if isinstance(expr, ir.Aggregate):
        yield from _aggregate(expr, polarity.under(sign_of_more_rows(expr.function, operator)))
    else:
        yield from uses_of(expr, Polarity.MIXED)


def _aggregate(expr: ir.Aggregate, polarity: Polarity) -> Iterator[Use]:
    """Yield the use of an aggregate whose matching rows stand at `polarity`, and the uses inside its condition."""
    yield _use(expr.inventory, _direction(polarity), expr.span, expr.head)
    yield from uses_of(expr.where, polarity)


def _direction(polarity: Polarity) -> Direction:
    return Direction.WITNESS if polarity is Polarity.POSITIVE else Direction.ABSENCE


def _use(inventory: str, direction: Direction, span: Span, head: Span) -> Use:
    return Use(inventory, direction, REQUIRED[direction], span, head)

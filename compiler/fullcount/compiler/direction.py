"""Direction of inference: which way each use of an inventory concludes, and so what evidence it needs.

A use is a *witness* if more rows could only add to what is selected, and *absence* if a row that was not returned could
take something away (design section 4). The analysis carries a polarity down the rule; a doubt always falls to the
side of absence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fullcount.compiler import ir
from fullcount.compiler.claims import Claim, Complete, Direction, Fresh, Snapshot, Visible
from fullcount.compiler.polarity import MIRRORED, Polarity, sign_of_more_rows
from fullcount.compiler.program import Proposal, Use
from fullcount.dsl.source import Span

FULL_COUNT: tuple[Claim, ...] = (Complete(), Snapshot(), Visible(), Fresh(None))
"""What a conclusion about rows that were not returned needs, and what every act needs of its own inventory."""

REQUIRED: dict[Direction, tuple[Claim, ...]] = {
    Direction.BASE: FULL_COUNT,
    Direction.ABSENCE: FULL_COUNT,
    Direction.WITNESS: (Fresh(None),),
}


def infer_uses(proposal: Proposal, base_span: Span) -> Proposal:
    """Return the proposal with every use of an inventory, the base first; `base_span` is where the base is named."""
    uses = [_use(proposal.inventory, Direction.BASE, base_span, base_span)]
    uses.extend(uses_of(proposal.where, Polarity.POSITIVE))
    for exemption in proposal.excepts:
        if exemption.condition is not None:
            # what is not proven false keeps the object: for the selection it stands under a negation
            uses.extend(uses_of(exemption.condition, Polarity.NEGATIVE))
    return replace(proposal, uses=tuple(uses))


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

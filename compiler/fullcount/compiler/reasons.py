"""Why each use of an inventory has its direction, in plain words.

The walk is that of `direction.py`, use for use; a test over generated rules holds that the two agree. Nothing is
decided here: the words say what the direction analysis found, and where the two walks part the words say no more than
the direction itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fullcount.compiler import ir
from fullcount.compiler.claims import Direction
from fullcount.compiler.polarity import MIRRORED, Polarity, sign_of_more_rows
from fullcount.compiler.program import Proposal, Use
from fullcount.dsl.dataclass import dataclass

IN_GENERAL: dict[Direction, str] = {
    Direction.BASE: "its objects are what may be acted on, and the population of every percentage and sum: a row that"
    " was not returned would be missing from all of them",
    Direction.BOUNDED: "only objects that were found are acted on, each by what is known of itself: rows that were not"
    " returned could only add to them",
    Direction.WITNESS: "a row that was found proves it, and rows that were not returned could only add to that",
    Direction.ABSENCE: "rows that were not returned could turn the conclusion around",
}
"""What each direction means of any use."""


OF_PARTITIONS = (
    "its rows name the parts that another inventory is read in: a part whose row was not returned is not read"
)
"""Why an inventory that names partitions is used in absence."""


_RANKS = (
    "`{test}` decides which objects a `pick` compares: rows that were not returned could put another one in its place"
)


@dataclass(frozen=True, slots=True)
class _Stand:
    """Where an expression stands: at which polarity, and in what."""

    polarity: Polarity
    exempts: bool = False
    """Inside a condition that keeps."""
    ranks: bool = False
    """A `pick` takes only some of what is selected, so each object may take the place of another."""

    def at(self, polarity: Polarity) -> _Stand:
        return replace(self, polarity=polarity)


def reasons(proposal: Proposal) -> tuple[tuple[Use, str], ...]:
    """Return each use of a proposal with the reason for its direction, in the order of `proposal.uses`."""
    ranks = len(proposal.picks) > 0
    selected = Polarity.MIXED if ranks else Polarity.POSITIVE
    said = [_base(proposal), *_of(proposal.where, _Stand(selected, ranks=ranks))]
    for exemption in proposal.excepts:
        if exemption.condition is not None:
            said.extend(_of(exemption.condition, _Stand(selected.flipped(), exempts=True, ranks=ranks)))
    written = [use for use in proposal.uses if not use.names_parts]
    partitions = [use for use in proposal.uses if use.names_parts]
    if [each[:2] for each in said] == [(use.inventory, use.direction) for use in written]:
        explained = [(use, reason) for use, (_, _, reason) in zip(written, said, strict=True)]
        return (*explained, *((use, OF_PARTITIONS) for use in partitions))
    return tuple((use, OF_PARTITIONS if use.names_parts else IN_GENERAL[use.direction]) for use in proposal.uses)


_Said = tuple[str, Direction, str]


def _base(proposal: Proposal) -> _Said:
    direction = Direction.BOUNDED if proposal.bounded else Direction.BASE
    return proposal.inventory, direction, IN_GENERAL[direction]


def _of(expr: ir.Expr, stand: _Stand) -> Iterator[_Said]:
    match expr:
        case ir.Not(operand=ir.Some() as some):
            yield _existence(some, stand.at(stand.polarity.flipped()), written="no")
            yield from _of(some.where, stand.at(stand.polarity.flipped()))
        case ir.Not(operand=operand):
            yield from _of(operand, stand.at(stand.polarity.flipped()))
        case ir.And(items=items) | ir.Or(items=items):
            for item in items:
                yield from _of(item, stand)
        case ir.Some():
            yield _existence(expr, stand, written="some")
            yield from _of(expr.where, stand)
        case ir.Compare(operator=operator, left=left, right=right):
            yield from _operand(left, operator, stand)
            yield from _operand(right, MIRRORED[operator], stand)
        case ir.IsState(operand=ir.Aggregate() as aggregate, state="present" | "absent" as state):
            polarity = stand.polarity if state == "present" else stand.polarity.flipped()
            yield from _aggregate(aggregate, f"is {state}", stand.at(polarity))
        case ir.Aggregate():
            yield from _aggregate(expr, None, stand.at(Polarity.MIXED))
        case _:
            for child in ir.children(expr):
                yield from _of(child, stand.at(Polarity.MIXED))


def _operand(expr: ir.Expr, operator: str, stand: _Stand) -> Iterator[_Said]:
    if isinstance(expr, ir.Aggregate):
        polarity = stand.polarity.under(sign_of_more_rows(expr.function, operator))
        yield from _aggregate(expr, operator, stand.at(polarity))
    else:
        yield from _of(expr, stand.at(Polarity.MIXED))


def _existence(some: ir.Some, stand: _Stand, *, written: str) -> _Said:
    name, direction = some.inventory, _direction(stand.polarity)
    if direction is Direction.WITNESS:
        if stand.exempts:
            return (
                name,
                direction,
                f"`{written} {name} …` keeps objects: a row that was not returned could only keep more",
            )
        if written == "no":
            return name, direction, f"`no {name} …` stands under a negation: one row that was found settles it"
        return name, direction, f"`some {name} …`: one row that was found proves it, more rows could add nothing"
    if stand.ranks:
        return name, direction, _RANKS.format(test=f"{written} {name} …")
    if stand.exempts:
        return name, direction, f"`{written} {name} …` can keep an object: a row that was not returned could be the one"
    if stand.polarity is Polarity.MIXED:
        return (
            name,
            direction,
            f"`{written} {name} …` is part of a value: rows that were not returned could turn it",
        )
    if written == "no":
        return (
            name,
            direction,
            f"`no {name} …` is true for everyone whose row was not returned: a missing row makes it look true",
        )
    return (
        name,
        direction,
        f"`some {name} …` stands under a negation: a row that was not returned makes the whole look true",
    )


def _aggregate(expr: ir.Aggregate, compared: str | None, stand: _Stand) -> Iterator[_Said]:
    name, direction = expr.inventory, _direction(stand.polarity)
    test = f"`{expr.function} {name} …`" if compared is None else f"`{expr.function} {name} … {compared}`"
    if direction is Direction.WITNESS:
        reason = f"{test}: rows that were not returned could only make it truer"
    elif stand.ranks:
        reason = _RANKS.format(test=test.strip("`"))
    elif stand.exempts:
        reason = f"{test} can keep an object: rows that were not returned could be the ones that keep it"
    elif stand.polarity is Polarity.NEGATIVE:
        reason = f"{test}: rows that were not returned could make it untrue, and are missing where it looks true"
    else:
        reason = f"{test}: rows that were not returned could move the value either way"
    yield name, direction, reason
    yield from _of(expr.where, stand)


def _direction(polarity: Polarity) -> Direction:
    return Direction.WITNESS if polarity is Polarity.POSITIVE else Direction.ABSENCE

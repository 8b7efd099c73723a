"""How each part of a rule could come out otherwise: the search behind `flip`.

A way is a set of changes that are all needed. The search goes down the traced rule: one part turns an `or`, all of its
parts an `and`; a test is turned by a fact of its own row or by rows of the inventory that it looks into. It only
proposes: whether a way flips the decision is found out by trying it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product, zip_longest
from typing import Final

from fullcount.compiler import ir
from fullcount.compiler.polarity import MIRRORED
from fullcount.compiler.values import Value
from fullcount.runtime import format as fmt
from fullcount.runtime.understand.edits import Change, DropRow, Finish, SetField, contradictory
from fullcount.runtime.understand.imagined import imagined_rows
from fullcount.runtime.understand.knobs import Bench
from fullcount.runtime.understand.solve import NEGATED, solve
from fullcount.runtime.understand.trace import Look, Node, Seen

FACTS: Final = 4
"""How many facts a way may have."""
_WIDTH: Final = 12
"""How many ways are followed up of one part of a rule."""
_PER_PART: Final = 4
_COMBINED: Final = 128
_ROWS: Final = 3
"""How many rows of another inventory a way may touch."""

Way = tuple[Change, ...]


def ways(node: Node, target: bool, bench: Bench) -> list[Way]:
    """Return ways in which a part of the rule would be `target`, the shortest first; an empty way if it is so."""
    if node.truth is target:
        return [()]
    match node.expr:
        case ir.Not():
            return ways(node.parts[0], not target, bench)
        case ir.And() | ir.Or():
            each = [ways(part, target, bench) for part in node.parts]
            one_is_enough = target is isinstance(node.expr, ir.Or)
            return shortest(alternating(each)) if one_is_enough else all_of(each)
        case _:
            single = [(change,) for change in solve(node, target, bench)]
            return shortest([*single, *_of_uses(node, target, bench)])


def all_of(parts: Sequence[Sequence[Way]]) -> list[Way]:
    """Return ways that turn every part."""
    combined = islice(product(*(part[:_PER_PART] for part in parts)), _COMBINED)
    return shortest(way for each in combined if (way := _joined(each)) is not None)


def _joined(parts: Iterable[Way]) -> Way | None:
    """Return the changes of several ways, each once; None if they can't all be so."""
    given = [change for way in parts for change in way]
    valued = {_field(change) for change in given if not change.any_value and _field(change) is not None}
    changes: list[Change] = []
    for change in given:
        # a field that is given a value is there
        there = change.any_value and _field(change) in valued
        if not there and all(change.edit != known.edit for known in changes):
            changes.append(change)
    return None if contradictory([change.edit for change in changes]) else tuple(changes)


def _field(change: Change) -> object:
    """Return which field a change gives a value; None if it is another kind of change."""
    match change.edit:
        case SetField(inventory=inventory, key=key, name=name, cell=cell) if cell.value is not None:
            return inventory, key, name
        case _:
            return None


def shortest(found: Iterable[Way]) -> list[Way]:
    """Return the ways with the fewest facts, each once, in their order otherwise."""
    unique = {tuple(change.text for change in way): way for way in found if len(way) <= FACTS}
    return sorted(unique.values(), key=len)[:_WIDTH]


def alternating(parts: Iterable[Sequence[Way]]) -> Iterator[Way]:
    """Yield the first way of every part, then the second of every part, and so on."""
    for row in zip_longest(*parts):
        yield from (way for way in row if way is not None)


# -- rows of other inventories ----------------------------------------------------------------------------------------


def _of_uses(node: Node, target: bool, bench: Bench) -> Iterator[Way]:
    match node.expr:
        case ir.Some():
            (look,) = node.looks
            yield from _found(look, node.expr.where, node, bench) if target else _not_found(look, bench)
        case ir.Compare(operator=operator, left=left, right=right):
            wanted = operator if target else NEGATED[operator]
            for side, compared, other in ((left, wanted, right), (right, MIRRORED[wanted], left)):
                aggregate = _aggregate_of(side)
                value = bench.value(other, node.env).value
                if aggregate is None or value is None:
                    continue
                for look in node.looks:
                    if look.use is aggregate:
                        yield from _compared(aggregate, look, compared, value, other, node, bench)
        case ir.IsState(operand=ir.Aggregate() as aggregate, state="present" | "absent" as state):
            (look,) = node.looks
            if (state == "present") is target:
                yield from _found(look, aggregate.where, node, bench)
            else:
                yield from _not_found(look, bench)
        case _:
            return


def _aggregate_of(side: ir.Expr) -> ir.Aggregate | None:
    match side:
        case ir.Aggregate():
            return side
        case ir.Else(operand=ir.Aggregate() as aggregate):
            return aggregate
        case _:
            return None


def _found(look: Look, wanted: ir.Expr, node: Node, bench: Bench) -> Iterator[Way]:
    """Yield ways in which a row would be found: one that is near, or one more."""
    for seen in look.rows:
        if seen.node.truth is not True:
            yield from ways(seen.node, True, bench)
    yield from _more_rows(look, wanted, node, bench, 1)


def _more_rows(look: Look, wanted: ir.Expr, node: Node, bench: Bench, number: int) -> Iterator[Way]:
    made = imagined_rows(look, wanted, node.env, bench.around, lambda draft: ways(draft, True, bench), number)
    if made is not None:
        yield made


def _not_found(look: Look, bench: Bench) -> Iterator[Way]:
    """Yield ways in which no row would be found: each that is or may be a match changes, or is not there."""
    if look.matching + look.possible > min(_ROWS, len(look.relevant)):
        return
    each = [[*ways(seen.node, False, bench)[:_PER_PART], (_gone(look, seen),)] for seen in look.relevant]
    rest: list[list[Way]] = [] if look.complete else [[(_finished(look),)]]
    # the same change of every row says more than a mixture
    alike = [_joined([*same, *(way for part in rest for way in part)]) for same in zip(*each, strict=False)]
    yield from (way for way in alike if way is not None)
    yield from all_of([*each, *rest])


def _compared(
    aggregate: ir.Aggregate, look: Look, operator: str, value: Value, other: ir.Expr, node: Node, bench: Bench
) -> Iterator[Way]:
    """Yield ways in which an aggregate would compare with a value as wanted."""
    if aggregate.function == "count" and isinstance(value, int):
        yield from _counted(aggregate, look, operator, value, node, bench)
    elif aggregate.of is not None and aggregate.function in {"min", "max"} and operator in {"<", "<=", ">", ">="}:
        reaches = ir.Compare(operator, aggregate.of, other)
        if (aggregate.function == "max") is (operator in {">", ">="}):
            yield from _more_rows(look, ir.And((aggregate.where, reaches)), node, bench, 1)
        elif look.matching <= min(_ROWS, len(look.relevant)):
            away = [seen for seen in look.relevant if not _reaches(reaches, seen, bench)]
            yield tuple(_gone(look, seen) for seen in away)


def _reaches(test: ir.Expr, seen: Seen, bench: Bench) -> bool:
    return bench.value(test, seen.node.env).value is True


def _counted(aggregate: ir.Aggregate, look: Look, operator: str, value: int, node: Node, bench: Bench) -> Iterator[Way]:
    number = look.matching
    for wanted in {"<": (value - 1,), ">": (value + 1,), "!=": (number + 1, number - 1)}.get(operator, (value,)):
        if 0 < wanted - number <= _ROWS:
            if wanted - number == 1:
                for seen in look.near:
                    yield from ways(seen.node, True, bench)
            yield from _more_rows(look, aggregate.where, node, bench, wanted - number)
        elif 0 <= wanted < number and number - wanted <= _ROWS:
            leaving = [seen for seen in look.relevant if seen.node.truth is True][: number - wanted]
            if len(leaving) == number - wanted:
                yield tuple(_gone(look, seen) for seen in leaving)


def _gone(look: Look, seen: Seen) -> Change:
    inventory = look.use.inventory
    return Change(DropRow(inventory, seen.key), f"{inventory} {fmt.key(seen.key, 40)} is not there")


def _finished(look: Look) -> Change:
    return Change(Finish(look.use.inventory), f"{look.use.inventory} is read to its end, with no further match")

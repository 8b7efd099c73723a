"""Rows that are not there, made up so that a test would hold for them.

A row is imagined from the nearest row that exists, or from nothing: every field that may be absent is, every other has
some value; then the fields that the test asks for are set. A made-up row is only given out if the test was true for it
and no row with its key exists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from fullcount.compiler import ir
from fullcount.compiler.lower import facts
from fullcount.compiler.lower.closure import compile_truth
from fullcount.compiler.types import Kind, Scalar, Type
from fullcount.compiler.values import ABSENT, Row, Value, present
from fullcount.runtime import format as fmt
from fullcount.runtime.text import plain
from fullcount.runtime.understand.edits import AddRow, Change, SetField, edited_row
from fullcount.runtime.understand.solve import sample
from fullcount.runtime.understand.trace import Key, Look, Node, Surroundings, trace

Ways = Callable[[Node], Iterable[tuple[Change, ...]]]
"""Returns the ways in which a test would be true."""

_TEMPLATES: Final = 2
_TRIED: Final = 8


def imagined_rows(
    look: Look, wanted: ir.Expr, env: Mapping[str, Row], around: Surroundings, ways: Ways, number: int = 1
) -> tuple[Change, ...] | None:
    """Return so many new rows, with different keys, for which `wanted` is true; None if that was not found."""
    for template in _templates(look, around):
        for draft in _fitted(look, wanted, template, env, around, ways):
            made = _with_keys(look, wanted, draft, env, around, number)
            if made is not None:
                return tuple(Change(AddRow(look.use.inventory, row), _told(look, wanted, row, around)) for row in made)
    return None


def _templates(look: Look, around: Surroundings) -> Iterator[Row]:
    inventory = around.inventories[look.use.inventory]
    blank: dict[str, object] = dict.fromkeys(inventory.key, ABSENT)
    for seen in look.rows[:_TEMPLATES]:
        yield {**seen.row, **dict.fromkeys(inventory.key, ABSENT)}
    yield {
        name: ABSENT if field.optional or name in blank else present(sample(field.type))
        for name, field in inventory.fields.items()
    }


def _fitted(
    look: Look, wanted: ir.Expr, template: Row, env: Mapping[str, Row], around: Surroundings, ways: Ways
) -> Iterator[Row]:
    """Yield the template with the fields set that `wanted` asks for, when these are all that it takes."""
    node = trace(wanted, {**env, look.use.row: template}, around)
    unnamed = around.key_of(look.use.inventory, template)
    for way in [()] if node.truth is True else list(ways(node))[:_TRIED]:
        edits = [change.edit for change in way]
        if all(isinstance(e, SetField) and (e.inventory, e.key) == (look.use.inventory, unnamed) for e in edits):
            yield edited_row(look.use.inventory, unnamed, template, edits)


def _with_keys(
    look: Look, wanted: ir.Expr, draft: Row, env: Mapping[str, Row], around: Surroundings, number: int
) -> list[Row] | None:
    """Return copies of the draft with keys that no other row has; None if there are not enough of them."""
    inventory = around.inventories[look.use.inventory]
    holds = compile_truth(wanted, around.bindings)
    made: dict[Key, Row] = {}
    for attempt in range(number + _TRIED):
        row: Row = {
            **draft,
            **{
                name: present(_fresh(inventory.fields[name].type, attempt))
                for name in inventory.key
                if draft[name].value is None
            },
        }
        key = around.key_of(inventory.name, row)
        taken = any(around.key_of(inventory.name, other) == key for other in _with_key(inventory.name, row, around))
        if not taken and holds({**env, look.use.row: row}, around.world) is True:
            made.setdefault(key, row)
        if len(made) == number:
            return list(made.values())
    return None


def _with_key(inventory: str, row: Row, around: Surroundings) -> Iterable[Row]:
    asked = tuple((name, value) for name in around.inventories[inventory].key if (value := row[name].value) is not None)
    return around.world.rows(inventory, asked).rows


def _fresh(of: Type, attempt: int) -> Value:
    match of:
        case Scalar(kind=Kind.TEXT):
            return "?" * (attempt + 1)
        case Scalar(kind=Kind.INT | Kind.TIMESTAMP | Kind.DATE | Kind.DURATION | Kind.SIZE):
            return -1 - attempt
        case _:
            return sample(of)


def _told(look: Look, wanted: ir.Expr, row: Row, around: Surroundings) -> str:
    """Return `a row of people with id p9, active yes`: what the test asks of the row."""
    fields = around.inventories[look.use.inventory].fields
    asked = dict.fromkeys(
        node.name
        for node in facts.walk(wanted)
        if isinstance(node, ir.Field) and (node.row, node.inventory) == (look.use.row, look.use.inventory)
    )
    parts = [f"{name} {plain(fmt.cell(row[name], fields[name].type), 40)}" for name in asked]
    what = f"one more row of {look.use.inventory}"
    return what if len(parts) == 0 else f"{what} with {', '.join(parts)}"

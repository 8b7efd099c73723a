"""Small changes of a world, and the world as it would be with them.

A change is one fact: a field of one row, a row that is there or isn't, the rest of an inventory, a parameter, an entry
of a list. Nothing is written anywhere: an `EditedWorld` only answers as if. It answers as `World.rows` demands, so
what is decided over it is what would be decided if the facts were so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from fullcount.compiler.lower.world import Bindings, Equal, Related, World
from fullcount.compiler.values import Cell, Row, Value
from fullcount.runtime.understand.trace import Key, Surroundings


@dataclass(frozen=True, slots=True)
class SetField:
    """A field of a row that exists has another state or value. `row` is the row as it is."""

    inventory: str
    key: Key
    name: str
    cell: Cell
    row: Row = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AddRow:
    """A row exists that does not."""

    inventory: str
    row: Row


@dataclass(frozen=True, slots=True)
class DropRow:
    """A row that exists does not."""

    inventory: str
    key: Key


@dataclass(frozen=True, slots=True)
class Finish:
    """The inventory was read to its end, and no row came that was not there."""

    inventory: str


@dataclass(frozen=True, slots=True)
class SetParam:
    """A parameter has another value; it holds for every object of a plan."""

    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class Unlist:
    """No exemption list names the object any more."""


Edit = SetField | AddRow | DropRow | Finish | SetParam | Unlist


@dataclass(frozen=True, slots=True)
class Change:
    """An edit and how a person is told of it. `any_value`: the field only has to be there, with whatever value."""

    edit: Edit
    text: str
    any_value: bool = False


def contradictory(edits: Sequence[Edit]) -> bool:
    """Whether the edits can't all be so: two values for one field, a field of a row that is gone."""
    fields: dict[object, object] = {}
    dropped = {(e.inventory, e.key) for e in edits if isinstance(e, DropRow)}
    for edit in edits:
        match edit:
            case SetField(inventory=inventory, key=key, name=name, cell=cell):
                if (inventory, key) in dropped or fields.setdefault((inventory, key, name), cell) != cell:
                    return True
            case SetParam(name=name, value=value):
                if fields.setdefault(name, value) != value:
                    return True
            case _:
                pass
    return False


def edited(around: Surroundings, edits: Sequence[Edit]) -> Surroundings:
    """Return the surroundings as they would be."""
    params = {edit.name: edit.value for edit in edits if isinstance(edit, SetParam)}
    bindings = Bindings({**around.bindings.params, **params}, around.bindings.now)
    return replace(around, world=EditedWorld(around, tuple(edits)), bindings=bindings)


def edited_row(inventory: str, key: Key, row: Row, edits: Sequence[Edit]) -> Row:
    """Return a row as it would be."""
    changes: dict[str, Cell] = {
        edit.name: edit.cell
        for edit in edits
        if isinstance(edit, SetField) and edit.inventory == inventory and edit.key == key
    }
    return {**row, **changes}


class EditedWorld:
    """A world with edits; see `World`."""

    def __init__(self, around: Surroundings, edits: tuple[Edit, ...]) -> None:
        self._around = around
        self._world: World = around.world
        self._changed: dict[str, dict[Key, Row]] = {}
        self._added: dict[str, list[Row]] = {}
        self._dropped: dict[str, set[Key]] = {}
        self._finished: set[str] = set()
        for edit in edits:
            match edit:
                case SetField(inventory=inventory, key=key, row=row):
                    self._changed.setdefault(inventory, {})[key] = edited_row(inventory, key, row, edits)
                case AddRow(inventory=inventory, row=row):
                    self._added.setdefault(inventory, []).append(row)
                case DropRow(inventory=inventory, key=key):
                    self._dropped.setdefault(inventory, set()).add(key)
                case Finish(inventory=inventory):
                    self._finished.add(inventory)
                case _:
                    pass

    def rows(self, inventory: str, equal: Equal) -> Related:
        """See `World.rows`. Changed and added rows are part of every answer: hints may be answered with more."""
        rows, complete = self._world.rows(inventory, equal)
        changed: Mapping[Key, Row] = self._changed.get(inventory, {})
        dropped = self._dropped.get(inventory, set())
        if len(changed) > 0 or len(dropped) > 0:
            rows = [row for row in rows if self._around.key_of(inventory, row) not in changed.keys() | dropped]
        shown = [row for key, row in changed.items() if key not in dropped]
        return Related([*rows, *shown, *self._added.get(inventory, [])], complete or inventory in self._finished)

"""The world of one test: the objects that its sources have, in memory, and the time.

What an inventory lists is what the test gives for it; what a live read or a look-up finds are the objects as they are
by then, so that a change before the act is seen by the recheck and by nothing earlier.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from fullcount.compiler import ir, program
from fullcount.compiler.catalog import Resource
from fullcount.compiler.claims import Agrees
from fullcount.compiler.lower.closure import compile_truth
from fullcount.compiler.lower.world import Bindings, Equal, Related
from fullcount.compiler.trials.model import Added, Altered, Before, Exempted, Key, Listing, Removed, Trial, Waited
from fullcount.compiler.types import INT, TEXT, TIMESTAMP, Type
from fullcount.compiler.values import Cell, Row, Value, present

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Place = tuple[str, str]
"""A resource by its source and name."""


class TrialClock:
    """The wall clock of a test, which stands still unless the test, or a wait of the run, moves it on."""

    def __init__(self, now: int) -> None:
        self._start = _EPOCH + timedelta(microseconds=now)
        self._passed = timedelta(0)

    def __call__(self) -> datetime:
        """Return the instant."""
        return self._start + self._passed

    def monotonic(self) -> float:
        """Return seconds since the beginning."""
        return self._passed.total_seconds()

    async def sleep(self, seconds: float) -> None:
        """Let time pass at once."""
        self._passed += timedelta(seconds=seconds)

    def advance(self, by: timedelta) -> None:
        """Let time pass."""
        self._passed += by


@dataclass(slots=True)
class World:
    """The objects of a test. `lists` are the exemption lists by now."""

    trial: Trial
    workflow: program.Workflow
    resources: Mapping[Place, Resource]
    bindings: Bindings
    clock: TrialClock
    objects: dict[Place, dict[Key, dict[str, Cell]]] = field(init=False, default_factory=dict)
    lists: dict[str, list[Key]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.lists = {name: list(keys) for name, keys in self.trial.lists.items()}
        for name in self.trial.listings:
            inventory = self.workflow.inventories[name]
            there = self.objects.setdefault(_place(inventory), {})
            for row in self.listed(name):
                there.setdefault(_key(row, inventory), {}).update(row)

    def listing(self, inventory: str) -> Listing:
        """Return what the test gives for an inventory."""
        return self.trial.listings[inventory]

    def listed(self, name: str) -> Iterator[Row]:
        """Yield the objects that an inventory lists, those that are made up last."""
        listing, inventory = self.trial.listings[name], self.workflow.inventories[name]
        versioned = self._first_version(inventory)
        for row in listing.rows:
            yield {**versioned, **row}
        number = 0
        for filler in listing.more:
            made_up = _to_make_up(filler.cells, inventory)
            for _ in range(filler.count):
                number += 1
                identity = {each: present(_made_up(inventory.fields[each].type, number)) for each in made_up}
                yield {**versioned, **filler.cells, **identity}

    def happens(self, before: Before) -> None:
        """Let one thing happen."""
        match before:
            case Waited(duration=duration):
                self.clock.advance(timedelta(microseconds=duration))
            case Exempted(list_name=name, key=key):
                self.lists.setdefault(name, []).append(key)
            case Removed(inventory=name, key=key):
                del self.objects[_place(self.workflow.inventories[name])][key]
            case Added(inventory=name, row=row):
                inventory = self.workflow.inventories[name]
                there = self.objects.setdefault(_place(inventory), {})
                there[_key(row, inventory)] = {**self._first_version(inventory), **row}
            case Altered(inventory=name, key=key, cells=cells):
                self.change(_place(self.workflow.inventories[name]), key, cells)

    def change(self, place: Place, key: Key, cells: Row) -> None:
        """Give an object other values, and another version unless that is among them."""
        row = self.objects[place][key]
        row.update(cells)
        version = self.resources[place].version
        if version is not None and version not in cells and version in row:
            row[version] = _next_version(row[version])

    def count(self, place: Place) -> int | None:
        """Return what an independent count says: what the test gives, else as many as there are in the scope.

        None where the test gives none and no inventory is compared with it.
        """
        given = self.trial.counts.get(place)
        if given is not None:
            return given
        wanted = Agrees(*place)
        name = next((name for name, claims in self.workflow.verifies.items() if wanted in claims), None)
        if name is None:
            return None
        scope = self.workflow.inventories[name].scope
        if scope is None:
            return sum(1 for _ in self.listed(name))
        inside = compile_truth(scope, self.bindings)
        return sum(1 for row in self.listed(name) if inside({ir.SELF: row}, _NO_OTHERS) is True)

    def _first_version(self, inventory: program.Inventory) -> dict[str, Cell]:
        """Return the version of an object that nobody has changed, where the workflow does not give it itself."""
        resource = self.resources[_place(inventory)]
        name = resource.version
        if name is None or name in inventory.fields:
            return {}
        return {name: present(_made_up(resource.fields[name].type, 1))}


class _NoOthers:
    """A scope looks at its own object alone."""

    def rows(self, inventory: str, equal: Equal) -> Related:
        """See `World.rows` of the compiler. Raises KeyError."""
        raise KeyError(inventory)


_NO_OTHERS = _NoOthers()


def _place(inventory: program.Inventory) -> Place:
    return inventory.source, inventory.resource


def _key(row: Row, inventory: program.Inventory) -> Key:
    return tuple(value for name in inventory.key if (value := row[name].value) is not None)


def _to_make_up(said: Row, inventory: program.Inventory) -> list[str]:
    """Return what is made up of an object: its incarnation, and of its key what the test does not say, or all of it."""
    unsaid = [name for name in inventory.key if name not in said]
    of_key = unsaid if len(unsaid) > 0 else list(inventory.key)
    return list(dict.fromkeys(name for name in (*of_key, inventory.incarnation) if name is not None))


def _made_up(of: Type, number: int) -> Value:
    """Return a value that tells one made-up object from another. Raises TypeError for a type that has none."""
    if of == TEXT:
        return f"more-{number}"
    if of in (INT, TIMESTAMP):
        return -number if of == INT else number
    msg = f"nothing of type {of} can be made up"
    raise TypeError(msg)


def _next_version(cell: Cell) -> Cell:
    match cell.value:
        case bool():
            return cell
        case int(value):
            return present(value + 1)
        case str(value):
            return present(f"{value}+")
        case _:
            return cell

"""Where a reply's schema speaks of the list as a whole: its items, cursors, flags, totals, parts that failed.

Finds places and says what they are called; whether they prove anything is `ends.py`'s to say. Looks only at the top of
a reply and into the objects in which replies speak of themselves, never into the members of the list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fullcount.runtime.audit import words
from fullcount.runtime.audit.operations import Operation, Parameter
from fullcount.runtime.audit.schemas import Reader, Shape

DEPTH: Final = 3
MOST: Final = 500
"""Places that are looked at in one reply."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a reply. `required`: every reply must have it, and none may have null in the way to it."""

    path: tuple[str, ...]
    required: bool
    shape: Shape

    @property
    def at(self) -> str:
        """Return the place as a dialect writes it."""
        return "/".join(self.path)

    @property
    def plain(self) -> str:
        """Return its own name as families of names are compared; empty for the whole reply."""
        return words.plain_name(self.path[-1]) if self.path else ""

    @property
    def address(self) -> bool:
        """Whether it is an address, to be called as it is."""
        if self.plain in words.ADDRESSES or self.shape.format.startswith(("uri", "url")):
            return True
        linked = any(words.plain_name(step) in words.LINKS for step in self.path[:-1])
        return linked or words.SAYS_ADDRESS.search(self.shape.description) is not None

    def is_a(self, *kinds: str) -> bool:
        """Whether the schema says that it is of one of these types."""
        return not self.shape.types.isdisjoint(kinds)


@dataclass(frozen=True, slots=True)
class Signals:
    """What one reply's schema has to say of the whole."""

    root: Place
    places: tuple[Place, ...]

    def named(self, family: frozenset[str], *kinds: str) -> tuple[Place, ...]:
        """Return the places of a family of names, of these types if any are given."""
        return tuple(each for each in self.places if each.plain in family and (len(kinds) == 0 or each.is_a(*kinds)))

    @property
    def cursors(self) -> tuple[Place, ...]:
        """Return what leads to a next page."""
        kinds = ("string", "integer", "object")
        return tuple(each for each in self.named(words.NEXT) if len(each.shape.types) == 0 or each.is_a(*kinds))

    @property
    def flags(self) -> tuple[Place, ...]:
        """Return what says by true that this was all."""
        return self.named(words.COMPLETE, "boolean")

    @property
    def more(self) -> tuple[Place, ...]:
        """Return what says by true that there is more."""
        return self.named(words.MORE, "boolean")

    @property
    def totals(self) -> tuple[Place, ...]:
        """Return what counts the list, or may."""
        return self.named(words.TOTALS, "integer", "number", "string")

    @property
    def paged(self) -> bool:
        """Whether the reply speaks of pages at all."""
        return len(self.cursors) + len(self.more) + len(self.totals) > 0


def signals_of(root: Shape, reader: Reader) -> Signals:
    """Return the places of a reply at which it may speak of itself."""
    top = Place((), True, root)
    found: list[Place] = []
    level = [top] if "object" in root.types or root.properties else []
    for _ in range(DEPTH):
        below: list[Place] = []
        for parent in level:
            for name, each in parent.shape.properties.items():
                if len(found) >= MOST:
                    break
                shape = reader.shape(each.schema)
                there = each.required and parent.required and (parent is top or not parent.shape.nullable)
                place = Place((*parent.path, name), there, shape)
                found.append(place)
                if place.plain in words.CONTAINERS and shape.properties:
                    below.append(place)
        level = below
    return Signals(top, tuple(found))


def items_of(signals: Signals, operation: Operation, reader: Reader) -> Place | None:
    """Return where the list is; None if the reply is no list."""
    if signals.root.is_a("array"):
        return signals.root
    paged = signals.paged or asks_for_pages(operation)
    lists = [each for each in signals.places if each.is_a("array") and each.plain not in words.FAILED | words.SCOPES]
    if operation.of_one and not paged:
        return None
    step = words.plain_name(operation.last_step.split("{")[0].rpartition(":")[2])
    maps = [each for each in (signals.root, *signals.places) if _is_map(each, reader)]
    for wanted in (
        [each for each in lists if each.plain in words.LISTS],
        [each for each in lists if step != "" and each.plain in {step, f"{step}s", f"{step}list"}],
        lists if paged else [],
        [each for each in maps if each.plain in words.LISTS or (each.path == () and not operation.of_one)],
    ):
        if wanted:
            return min(wanted, key=lambda place: len(place.path))
    return None


def _is_map(place: Place, reader: Reader) -> bool:
    """Whether a place holds members under free keys, which are objects of their own."""
    if place.shape.members is None or place.shape.properties:
        return False
    return "object" in reader.shape(place.shape.members).types


def cursor_parameters(operation: Operation, signals: Signals) -> tuple[Parameter, ...]:
    """Return the parameters that take what the reply leads on with.

    `page` is one if it is a text and the reply has a text for it that is no address: then it is a cursor by that name.
    """
    texts = any(each.is_a("string") and not each.address for each in signals.cursors)
    called_page = tuple(
        each
        for each in operation.sent(words.POSITION_PARAMETERS)
        if texts and each.shape.types == frozenset({"string"})
    )
    return (*operation.sent(words.CURSOR_PARAMETERS), *called_page)


def asks_for_pages(operation: Operation) -> bool:
    """Whether a caller may send a cursor, a position or a size of pages."""
    families = (words.CURSOR_PARAMETERS, words.POSITION_PARAMETERS, words.LIMIT_PARAMETERS)
    return any(len(operation.sent(family)) > 0 for family in families)


def first(places: Sequence[Place]) -> Place | None:
    """Return the first place, which is the one nearest to the top."""
    return places[0] if places else None

"""Which candidates a reviewer should look at first, and why. Derived from the checked rule and the object's own fields.

It orders the list and adds notes; it never selects, keeps or changes anything, and knows no field by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Final

from fullcount.compiler import program
from fullcount.compiler.lower.closure import NOWHERE, TruthOf, compile_truth, compile_value
from fullcount.compiler.lower.world import Bindings, Env, World
from fullcount.compiler.types import TIMESTAMP
from fullcount.compiler.values import Cell, FieldState, Row
from fullcount.dsl.characters import misleading
from fullcount.runtime import format as fmt
from fullcount.runtime.plan.evaluate import Candidate
from fullcount.runtime.plan.thresholds import Threshold, thresholds

HIGHEST: Final = 3
RECENT: Final = timedelta(days=7)
"""A time on the object that is younger than this is worth a look, whatever the time is of."""
NEAR: Final = timedelta(days=2)
VERY_NEAR: Final = timedelta(days=1)
NEAR_PART: Final = 10
"""And never more than this part of the length itself: two days are not near a border of one hour."""

CellOf = Callable[[Env, World], Cell]


@dataclass(frozen=True, slots=True)
class Assessment:
    """How closely to look, 0 to 3, and why."""

    risk: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Point:
    weight: int
    note: str


def _misleading(key: tuple[object, ...]) -> Iterator[_Point]:
    for part in key:
        said = misleading(part) if isinstance(part, str) else None
        if said is not None:
            yield _Point(2, f"its key has {said}")


class Assessor:
    """Assesses the candidates of one plan. `seen` are the keys of the plan before; None: there was none.

    `struck`: what a reviewer struck from that plan, and why.
    """

    def __init__(
        self,
        inventory: program.Inventory,
        proposal: program.Proposal,
        bindings: Bindings,
        *,
        reversible: bool,
        seen: frozenset[tuple[object, ...]] | None,
        struck: Mapping[tuple[object, ...], str] = MappingProxyType({}),
    ) -> None:
        self._inventory = inventory
        self._row = proposal.row
        self._bindings = bindings
        self._reversible = reversible
        self._seen = seen
        self._struck = struck
        self._borders: list[tuple[Threshold, TruthOf, CellOf]] = [
            (border, compile_truth(border.test, bindings), compile_value(border.instant, bindings))
            for border in thresholds(proposal.where, proposal.row)
        ]
        self._moments = tuple(name for name, field in inventory.fields.items() if field.type == TIMESTAMP)

    def assess(self, item: Candidate, key: tuple[object, ...]) -> Assessment:
        """Return what to know of one candidate; `key` is its key in JSON."""
        points = [
            *self._near(item.cells),
            *self._recent(item.cells),
            *self._first_seen(key),
            *self._unguarded(item.cells),
            *_misleading(key),
        ]
        if not self._reversible:
            points.append(_Point(1, "can't be taken back"))
        return Assessment(min(HIGHEST, sum(point.weight for point in points)), tuple(point.note for point in points))

    def _near(self, cells: Row) -> Iterator[_Point]:
        env = {self._row: cells}
        for border, holds, instant_of in self._borders:
            value = instant_of(env, NOWHERE).value
            if holds(env, NOWHERE) is not True or not isinstance(value, int):
                continue
            inside = timedelta(microseconds=abs(value - border.border(self._bindings)))
            length = timedelta(microseconds=abs(border.length_of(self._bindings)))
            if inside <= min(NEAR, length / NEAR_PART):
                weight = 2 if inside <= VERY_NEAR else 1
                yield _Point(weight, f"only {fmt.length(inside)} inside {border.name}")

    def _recent(self, cells: Row) -> Iterator[_Point]:
        for name in self._moments:
            value = cells[name].value
            if not isinstance(value, int):
                continue
            age = self._bindings.now - value
            if age < 0:
                yield _Point(2, f"{name} is in the future")
            elif age < RECENT // timedelta(microseconds=1):
                yield _Point(1, f"{name} {fmt.length(timedelta(microseconds=age))} ago")

    def _first_seen(self, key: tuple[object, ...]) -> Iterator[_Point]:
        if key in self._struck:
            yield _Point(2, f"{self._struck[key]}, in the plan before")
        elif self._seen is not None and key not in self._seen:
            yield _Point(1, "first time seen")

    def _unguarded(self, cells: Row) -> Iterator[_Point]:
        marks = [name for name in (self._inventory.version, self._inventory.incarnation) if name is not None]
        if not any(cells[name].state is FieldState.PRESENT for name in marks):
            yield _Point(1, "no version or incarnation to tell a change by")

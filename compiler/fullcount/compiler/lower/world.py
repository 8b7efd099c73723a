"""What a compiled expression is evaluated against: bound parameters, bound rows, and the rows of other inventories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from fullcount.compiler.values import Row, Value
from fullcount.dsl.dataclass import dataclass

Env = Mapping[str, Row]
"""Row variable -> the object bound to it."""

Equal = tuple[tuple[str, Value], ...]
"""Fields with the value that each must have, as a hint: `(("id", "x"), ("active", True))`."""


@dataclass(frozen=True, slots=True)
class Bindings:
    """What a plan fixes for all its objects: parameter values and `now` in microseconds since the epoch, UTC."""

    params: Mapping[str, Value]
    now: int


class Related(NamedTuple):
    """Rows of an inventory, and whether rows that the question could concern may be missing from them."""

    rows: Sequence[Row]
    complete: bool


class World(Protocol):
    """Answers which rows of an inventory are known."""

    def rows(self, inventory: str, equal: Equal) -> Related:
        """Return at least each known row of the inventory whose listed fields all have the given value or none at all.

        A row may be left out only if one of the listed fields is *present with another value*: absent and unknown
        fields make a comparison unknown, and such rows count as possible. No hint means all rows. `complete` says
        that no row of the inventory which would have to be returned can be missing.
        """
        ...

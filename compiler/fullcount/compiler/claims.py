"""Claims: statements that evidence can support, and that a `verify` clause promises.

The strength order of snapshot consistency is design section 4: `pinned` > `interval` > `unstable`.
"""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum

from fullcount.dsl.dataclass import dataclass


class Consistency(StrEnum):
    """How well the pages of a read belong to one state of the collection."""

    PINNED = "pinned"
    INTERVAL = "interval"
    UNSTABLE = "unstable"

    def at_least(self, other: Consistency) -> bool:
        """Whether this consistency is as strong as `other` or stronger."""
        order = (Consistency.UNSTABLE, Consistency.INTERVAL, Consistency.PINNED)
        return order.index(self) >= order.index(other)


class Direction(StrEnum):
    """Which way a use of an inventory infers (requirement R19)."""

    BASE = "base"
    """The proposal's own inventory: the objects that may be acted on, and the population of its percentages."""
    BOUNDED = "bounded"
    """The proposal's own inventory as far as it was found: each object speaks for itself, and of no other."""
    WITNESS = "witness"
    """A found row proves something; more rows could only add truth."""
    ABSENCE = "absence"
    """Rows that were not returned could flip the conclusion."""


@dataclass(frozen=True, slots=True)
class Complete:
    """Every object of the scope was returned."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The rows belong together at least this well."""

    consistency: Consistency = Consistency.INTERVAL


@dataclass(frozen=True, slots=True)
class Visible:
    """The identity that read could see every object of the scope."""


@dataclass(frozen=True, slots=True)
class Fresh:
    """The read is at most this old when it is used. Microseconds; None in a requirement means "some stated age"."""

    max_age: int | None


@dataclass(frozen=True, slots=True)
class Rows:
    """At least this many rows were returned."""

    minimum: int


@dataclass(frozen=True, slots=True)
class Change:
    """The number of rows moved by at most this many percent since the last certified snapshot."""

    percent: Decimal


@dataclass(frozen=True, slots=True)
class Agrees:
    """The number of distinct keys equals an independent count, taken from `source`.`resource`."""

    source: str
    resource: str


Claim = Complete | Snapshot | Visible | Fresh | Rows | Change | Agrees

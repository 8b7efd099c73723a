"""Canonical values, field states and rows: what both lowerings compute with.

A canonical value is `str` (text), `int` (int; size in bytes; timestamp in microseconds since the Unix epoch, UTC;
duration in microseconds; date in days since the epoch), `Decimal` (at most 38 digits, 9 after the point), `bool`,
`tuple` (list) or `dict[str, …]` (map). Integers are within signed 64 bits. `None` is never a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Any, NamedTuple

Truth = bool | None
"""Kleene's three values: True, False, and None for unknown."""

Value = str | int | Decimal | bool | tuple[Any, ...] | dict[str, Any]

INT_MIN, INT_MAX = -(2**63), 2**63 - 1
DECIMAL_PRECISION, DECIMAL_SCALE = 38, 9


class FieldState(StrEnum):
    """What is known of one field of one object (requirement R7). Only the first two are knowledge."""

    PRESENT = "present"
    ABSENT = "absent"
    NOT_REQUESTED = "not_requested"
    FORBIDDEN = "forbidden"
    SOURCE_FAILED = "source_failed"
    TRUNCATED = "truncated"
    INDETERMINATE = "indeterminate"


STATE_ORDER: tuple[FieldState, ...] = tuple(FieldState)
"""The order is frozen: its index is the code in a snapshot's state column (0 present, 1 absent, …)."""

STATE_SUFFIX = "$state"
"""A snapshot has for each field `f` a value column `f` (null unless present) and an int8 column `f$state`."""


class Cell(NamedTuple):
    """One field of one object. `value` is None exactly when `state` is not `present`."""

    state: FieldState
    value: Value | None


ABSENT = Cell(FieldState.ABSENT, None)


def present(value: Value) -> Cell:
    """Return the cell of a known value."""
    return Cell(FieldState.PRESENT, value)


Row = Mapping[str, Cell]
"""One object: a cell for every declared field of its inventory."""

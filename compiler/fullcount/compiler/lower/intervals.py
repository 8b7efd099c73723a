"""Ranges: what a view can say of a value that rests on rows which may be missing or unclear.

An interval contains the value in each world that the view is a faithful part of. The evidence classes gather rows one
at a time and give the interval at the end, as laid down in `ir.py`. More knowledge only ever narrows an interval.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

from fullcount.compiler import ir
from fullcount.compiler.lower import numbers
from fullcount.compiler.types import DECIMAL, Type
from fullcount.compiler.values import Truth
from fullcount.dsl.dataclass import dataclass


class Interval(NamedTuple):
    """`low` and `high` are None where unbounded. `present` is False for surely absent and None for maybe absent."""

    low: Any
    high: Any
    present: Truth


UNKNOWN_INTERVAL = Interval(None, None, None)
ABSENT_INTERVAL = Interval(None, None, False)


def compare(operator: str, left: Interval, right: Interval) -> Truth:
    """Compare all pairs of values: true if each pair satisfies the operator, false if none does, else unknown."""
    if not left.present or not right.present:
        return None
    match operator:
        case "==":
            return _equal(left, right)
        case "!=":
            equal = _equal(left, right)
            return None if equal is None else not equal
        case "<":
            return _less(left, right)
        case ">":
            return _less(right, left)
        case "<=":
            greater = _less(right, left)
            return None if greater is None else not greater
        case ">=":
            less = _less(left, right)
            return None if less is None else not less
        case _:
            raise ValueError(f"`{operator}` is not a comparison")


def _less(left: Interval, right: Interval) -> Truth:
    if left.high is not None and right.low is not None and left.high < right.low:
        return True
    if left.low is not None and right.high is not None and left.low >= right.high:
        return False
    return None


def _equal(left: Interval, right: Interval) -> Truth:
    if left.low is not None and right.high is not None and left.low > right.high:
        return False
    if left.high is not None and right.low is not None and left.high < right.low:
        return False
    bounds = (left.low, left.high, right.low, right.high)
    return True if None not in bounds and left.low == left.high and right.low == right.high else None


class Gathered(NamedTuple):
    """One row: whether it belongs (True or None), and its value; `present` is False if it surely has none."""

    belongs: Truth
    value: Any
    present: Truth


@dataclass(slots=True)
class Counting:
    """`count`."""

    certain: int = 0
    possible: int = 0

    def add(self, row: Gathered) -> None:
        """Take one row that belongs, or may."""
        if row.belongs:
            self.certain += 1
        else:
            self.possible += 1

    def interval(self, complete: bool) -> Interval:
        """Return what the rows say."""
        return Interval(self.certain, self.certain + self.possible if complete else None, True)


@dataclass(slots=True)
class Extreme:
    """`min`, or `max` if `greatest`."""

    greatest: bool
    certain: Any = None
    """The extreme of the rows that surely belong and have a value."""
    any: Any = None
    """The extreme of these and of the rows that may belong."""
    contributors: bool = False
    """Whether a row was seen that has, or may have, a value to give."""
    open: bool = False
    """Whether such a row's value is unknown, so that it could be anything."""

    def add(self, row: Gathered) -> None:
        """Take one row that belongs, or may."""
        if row.present is False:
            return
        self.contributors = True
        if row.present is None:
            self.open = True
            return
        self.any = self._better(self.any, row.value)
        if row.belongs:
            self.certain = self._better(self.certain, row.value)

    def interval(self, complete: bool) -> Interval:
        """Return what the rows say."""
        if self.certain is None:
            return ABSENT_INTERVAL if complete and not self.contributors else UNKNOWN_INTERVAL
        reach = self.any if complete and not self.open else None
        return Interval(self.certain, reach, True) if self.greatest else Interval(reach, self.certain, True)

    def _better(self, held: Any, new: Any) -> Any:
        if held is None:
            return new
        return max(held, new) if self.greatest else min(held, new)


@dataclass(slots=True)
class Adding:
    """`sum`, in whole units, or in smallest steps for decimals."""

    decimal: bool
    certain: int = 0
    lowering: int = 0
    raising: int = 0
    open: bool = False

    def add(self, row: Gathered) -> None:
        """Take one row that belongs, or may."""
        if row.present is False:
            return
        if row.present is None:
            self.open = True
            return
        units = numbers.decimal_steps(row.value) if self.decimal else row.value
        if row.belongs:
            self.certain += units
        else:
            self.lowering += min(units, 0)
            self.raising += max(units, 0)

    def interval(self, complete: bool) -> Interval:
        """Return what the rows say."""
        if self.open or not complete:
            return Interval(None, None, True)
        low, high = self.certain + self.lowering, self.certain + self.raising
        if self.decimal:
            return Interval(numbers.lower_bound(low), numbers.upper_bound(high), True)
        return Interval(low, high, True)


@dataclass(slots=True)
class Averaging:
    """`avg`, in whole units, or in smallest steps for decimals. Exact, or without bounds: one row more may move it."""

    given: Type
    result: Type
    total: int = 0
    certain: int = 0
    contributors: bool = False
    """Whether a row was seen that has, or may have, a value to give."""
    unsettled: bool = False
    """Whether a row may belong, or belongs with a value that is not known."""

    def add(self, row: Gathered) -> None:
        """Take one row that belongs, or may."""
        if row.present is False:
            return
        self.contributors = True
        if not row.belongs or row.present is None:
            self.unsettled = True
            return
        self.total += numbers.decimal_steps(row.value) if self.given == DECIMAL else row.value
        self.certain += 1

    def interval(self, complete: bool) -> Interval:
        """Return what the rows say."""
        if self.certain == 0:
            return ABSENT_INTERVAL if complete and not self.contributors else UNKNOWN_INTERVAL
        if not complete or self.unsettled:
            return Interval(None, None, True)
        total = self.total * numbers.DECIMAL_UNIT if self.given != DECIMAL and self.result == DECIMAL else self.total
        low, high = total // self.certain, -(-total // self.certain)
        if self.result == DECIMAL:
            return Interval(numbers.decimal_of(low), numbers.decimal_of(high), True)
        return Interval(low, high, True)


@dataclass(slots=True)
class Needing:
    """Another gatherer that says nothing until so many rows surely belong with a known value."""

    least: int
    gathering: Counting | Extreme | Adding | Averaging
    certain: int = 0

    def add(self, row: Gathered) -> None:
        """Take one row that belongs, or may."""
        if row.belongs and row.present:
            self.certain += 1
        self.gathering.add(row)

    def interval(self, complete: bool) -> Interval:
        """Return what the rows say, if they are enough."""
        return self.gathering.interval(complete) if self.certain >= self.least else UNKNOWN_INTERVAL


Evidence = Counting | Extreme | Adding | Averaging | Needing


def evidence(expr: ir.Aggregate) -> Evidence:
    """Return an empty gatherer for an aggregate."""
    gathering = _gathering(expr)
    return gathering if expr.needs is None else Needing(expr.needs, gathering)


def _gathering(expr: ir.Aggregate) -> Counting | Extreme | Adding | Averaging:
    match expr.function:
        case "count":
            return Counting()
        case "min" | "max":
            return Extreme(greatest=expr.function == "max")
        case "sum":
            return Adding(decimal=expr.type == DECIMAL)
        case "avg" if expr.of is not None:
            return Averaging(expr.of.type, expr.type)
        case _:
            raise ValueError(f"`{expr.function}` is not an aggregate")


def exact(interval: Interval) -> int | str | Decimal | None:
    """Return the value if it is known exactly and in range, else None."""
    if not interval.present or interval.low is None or interval.high is None or interval.low != interval.high:
        return None
    if isinstance(interval.low, int):
        return numbers.in_range(interval.low)
    value: str | Decimal = interval.low
    return value

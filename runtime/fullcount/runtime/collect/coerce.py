"""Raw columns of a page to canonical ones, strictly by the declared type.

Guarantees: a value is taken only if it is exactly of the declared type (`canonical.py` says what that is); what is not
becomes `source_failed`, so that rules find it unknown, and is counted. The column path does at the speed of Arrow what
the reference does cell by cell, and gives way to the reference for a column in which anything is unusual.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from itertools import accumulate, chain
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute

from fullcount.compiler.types import FieldType, Kind, ListOf, MapOf, RecordOf, Scalar, Type
from fullcount.compiler.values import (
    DECIMAL_PRECISION,
    DECIMAL_SCALE,
    STATE_ORDER,
    STATE_SUFFIX,
    Cell,
    FieldState,
)
from fullcount.runtime.collect.canonical import DAY, DAYS, INSTANT, INSTANTS, RefusedValueError, canonical

Array = Any
"""An Arrow array; the library's stubs can't say "of the declared type", so its type stays open here."""
kernel: Any = pyarrow.compute
_LISTS: Any = pa.ListArray
_MAPS: Any = pa.MapArray

STATE = pa.int8()
CODE: dict[FieldState | None, int] = {state: code for code, state in enumerate(STATE_ORDER)}
"""The code of each state in a snapshot's state column."""

_BY_VALUE = frozenset({FieldState.PRESENT, FieldState.ABSENT})
"""States that must agree with the value beside them."""

_ARROW: dict[Kind, pa.DataType] = {
    Kind.TEXT: pa.string(),
    Kind.INT: pa.int64(),
    Kind.SIZE: pa.int64(),
    Kind.DURATION: pa.int64(),
    Kind.DECIMAL: pa.decimal128(DECIMAL_PRECISION, DECIMAL_SCALE),
    Kind.BOOL: pa.bool_(),
    Kind.TIMESTAMP: INSTANT,
    Kind.DATE: DAY,
}


class _NotUsualError(Exception):
    """A column that the fast path leaves to the reference."""


@dataclass(frozen=True, slots=True)
class Column:
    """One field of one page: values (null unless present), state codes, and how many values were refused."""

    values: Array
    states: Array
    refused: int = 0
    example: str = ""
    """Why the first refused value was refused."""

    def failed(self) -> Iterator[int]:
        """Yield the rows of which the field could not be taken."""
        for row, code in enumerate(self.states.to_pylist()):
            if code == CODE[FieldState.SOURCE_FAILED]:
                yield row


def arrow_type(type_: Type) -> pa.DataType:
    """Return the type of a value column in a snapshot."""
    match type_:
        case Scalar(kind=kind):
            return _ARROW[kind]
        case ListOf(item=item):
            return pa.list_(arrow_type(item))
        case MapOf(value=value):
            return pa.map_(pa.string(), arrow_type(value))
        case RecordOf(parts=parts):
            return pa.struct([pa.field(part.name, arrow_type(part.type.type)) for part in parts])


def arrow_schema(fields: Mapping[str, FieldType]) -> pa.Schema:
    """Return a snapshot's schema: for each field its value column and its state column, in the order given."""
    columns = []
    for name, field_type in fields.items():
        columns += [pa.field(name, arrow_type(field_type.type)), pa.field(name + STATE_SUFFIX, STATE, nullable=False)]
    return pa.schema(columns)


def coerce_cell(field_type: FieldType, raw: object, state: FieldState | None = None) -> Cell:
    """Return one canonical cell; a value that is not of its type, or that its state contradicts, is `source_failed`."""
    try:
        settled = _settle(raw, state)
        value = canonical(field_type.type, raw) if settled is FieldState.PRESENT else None
    except RefusedValueError:
        return Cell(FieldState.SOURCE_FAILED, None)
    return Cell(settled, value)


def coerce_column(
    field_type: FieldType, values: Sequence[Any], states: Sequence[FieldState | None] | None = None
) -> Column:
    """Return one column of a page in canonical form; `states` is as long as `values`, or None."""
    if states is None:
        return _plain_column(field_type.type, values)
    if _BY_VALUE.isdisjoint(states):
        return _partly_known(field_type.type, values, states)
    masked: list[Any] = []
    codes: list[int] = []
    refused, example = 0, ""
    for raw, state in zip(values, states, strict=True):
        try:
            settled = _settle(raw, state)
        except RefusedValueError as error:
            refused, example, settled = refused + 1, example or str(error), FieldState.SOURCE_FAILED
        masked.append(raw if settled is FieldState.PRESENT else None)
        codes.append(CODE[settled])
    column = _plain_column(field_type.type, masked)
    given = pa.array(codes, type=STATE)
    # what was given as present may have been refused by its type: there the column's own code holds
    merged = kernel.if_else(kernel.equal(given, CODE[FieldState.PRESENT]), column.states, given)
    return Column(column.values, merged, refused + column.refused, example or column.example)


def _partly_known(type_: Type, values: Sequence[Any], states: Sequence[FieldState | None]) -> Column:
    """Return a column whose states are all of the kind that says it all, whatever stands as value."""
    masked = [raw if state is None else None for raw, state in zip(values, states, strict=True)]
    column = _plain_column(type_, masked)
    given = pa.array(map(CODE.get, states), type=STATE)
    return Column(column.values, kernel.coalesce(given, column.states), column.refused, column.example)


def always_there(field_type: FieldType, column: Column) -> Column:
    """Return the column with the declaration kept: a field that is not `?` has a value, or nothing is known of it."""
    if field_type.optional or column.values.null_count == 0:
        return column
    absent = kernel.equal(column.states, CODE[FieldState.ABSENT])
    missing = kernel.sum(absent).as_py()
    if missing == 0:
        return column
    states = kernel.if_else(absent, pa.scalar(CODE[FieldState.SOURCE_FAILED], STATE), column.states)
    why = f"expected {field_type.type}, found no value (declare it `{field_type.type}?` if it may have none)"
    return Column(column.values, states, column.refused + missing, column.example or why)


def _settle(raw: object, state: FieldState | None) -> FieldState:
    """Return the state of a cell. Raises `RefusedValueError` where value and state contradict each other."""
    if state is None:
        return FieldState.ABSENT if raw is None else FieldState.PRESENT
    if state is FieldState.PRESENT and raw is None:
        msg = "a field is said to be present and has no value"
        raise RefusedValueError(msg)
    if state is FieldState.ABSENT and raw is not None:
        msg = "a field is said to be absent and has a value"
        raise RefusedValueError(msg)
    return state


def _plain_column(type_: Type, values: Sequence[Any]) -> Column:
    try:
        array = _usual(type_, values)
    except (_NotUsualError, pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeEncodeError):
        return _by_cell(type_, values)
    return _by_value(array)


def parsed_column(field_type: FieldType, array: Array) -> Column | None:
    """Return the column of values that a strict parser found, times among them as text; None: the reference is needed.

    Of a scalar type that JSON has as it is, or as text.
    """
    if not isinstance(field_type.type, Scalar):
        return None
    kind = field_type.type.kind
    try:
        settled = _parsed_times(kind, array) if kind in _FROM_TEXT else _not_below_zero(kind, array)
    except (_NotUsualError, pa.ArrowInvalid):
        return None
    return _by_value(settled)


def _by_value(array: Array) -> Column:
    """Return a column in which null means absent, and everything else is present."""
    if array.null_count == 0:
        return Column(array, pa.repeat(pa.scalar(CODE[FieldState.PRESENT], STATE), len(array)))
    return Column(array, kernel.cast(kernel.is_null(array), STATE))


def _by_cell(type_: Type, values: Sequence[Any]) -> Column:
    """Judge each value by the reference."""
    kept: list[Any] = []
    codes: list[int] = []
    refused, example = 0, ""
    for raw in values:
        value, code = None, CODE[FieldState.ABSENT]
        if raw is not None:
            try:
                value, code = _for_arrow(type_, canonical(type_, raw)), CODE[FieldState.PRESENT]
            except RefusedValueError as error:
                refused, example, code = refused + 1, example or str(error), CODE[FieldState.SOURCE_FAILED]
        kept.append(value)
        codes.append(code)
    return Column(pa.array(kept, type=arrow_type(type_)), pa.array(codes, type=STATE), refused, example)


def _for_arrow(type_: Type, value: Any) -> Any:
    """Return a canonical value as Arrow's constructor wants it: maps as pairs."""
    match type_:
        case Scalar():
            return value
        case ListOf(item=item):
            return [_for_arrow(item, part) for part in value]
        case MapOf(value=inner):
            return [(key, _for_arrow(inner, part)) for key, part in value.items()]
        case RecordOf(parts=parts):
            return {part.name: _for_arrow(part.type.type, value[part.name]) for part in parts if part.name in value}


# --- the column path: only what Arrow provably does not bend ---------------------------------------------------------

_NONE = type(None)
_NATURAL: dict[Kind, type] = {
    Kind.TEXT: str,
    Kind.INT: int,
    Kind.SIZE: int,
    Kind.DECIMAL: Decimal,
    Kind.BOOL: bool,
    Kind.TIMESTAMP: datetime,
    Kind.DATE: date,
    Kind.DURATION: timedelta,
}
_FROM_TEXT = frozenset({Kind.TIMESTAMP, Kind.DATE})


def _usual(type_: Type, values: Sequence[Any]) -> Array:
    """Build the array if every value is of the one natural type. Raises `_NotUsualError` and Arrow's own errors."""
    found = set(map(type, values))
    found.discard(_NONE)
    match type_:
        case ListOf(item=item):
            if not found <= {list, tuple}:
                raise _NotUsualError
            flat = list(chain.from_iterable(part for part in values if part is not None))
            return _LISTS.from_arrays(_offsets(values), _whole(item, flat))
        case MapOf(value=inner):
            if not found <= {dict}:
                raise _NotUsualError
            keys = [
                sorted(part) if set(map(type, part)) <= {str} else _unusual() for part in values if part is not None
            ]
            maps = [part for part in values if part is not None]
            flat = [part[key] for part, names in zip(maps, keys, strict=True) for key in names]
            names = pa.array(list(chain.from_iterable(keys)), type=pa.string())
            return _MAPS.from_arrays(_offsets(values), names, _whole(inner, flat))
        case RecordOf():
            raise _NotUsualError
        case Scalar(kind=kind):
            if found <= {_NATURAL[kind]}:
                return _usual_scalars(kind, values)
            if kind in _FROM_TEXT and found == {str}:
                return _parsed_times(kind, pa.array(values, type=pa.string()))
            raise _NotUsualError


def _usual_scalars(kind: Kind, values: Sequence[Any]) -> Array:
    if kind is Kind.TIMESTAMP:
        zones = {type(value.tzinfo) for value in values if value is not None}
        if not zones <= {timezone, ZoneInfo}:
            raise _NotUsualError  # without a zone, or a zone that may say nothing about this time
        return _within(kind, pa.array(values, type=INSTANT))
    if kind is Kind.DURATION:
        return pa.array(values, type=pa.duration("us")).cast(pa.int64())
    return _not_below_zero(kind, pa.array(values, type=_ARROW[kind]))


def _parsed_times(kind: Kind, texts: Array) -> Array:
    return _within(kind, kernel.cast(texts, _ARROW[kind]))


def _not_below_zero(kind: Kind, array: Array) -> Array:
    """Leave sizes that can be none to the reference, which refuses them."""
    if kind is Kind.SIZE and len(array) > array.null_count and kernel.min(array).as_py() < 0:
        raise _NotUsualError
    return array


def _within(kind: Kind, array: Array) -> Array:
    """Leave instants and dates outside the years 1 to 9999 to the reference, which refuses them."""
    if len(array) > array.null_count:
        numbers, (first, last) = (pa.int64(), INSTANTS) if kind is Kind.TIMESTAMP else (pa.int32(), DAYS)
        ends = kernel.min_max(array.cast(numbers)).as_py()
        if ends["min"] < first or ends["max"] > last:
            raise _NotUsualError
    return array


def _whole(type_: Type, values: list[Any]) -> Array:
    array = _usual(type_, values)
    if array.null_count != 0:
        raise _NotUsualError  # there is no `None` inside a list or a map
    return array


def _offsets(values: Sequence[Any]) -> Array:
    """Return where each list or map begins; a null offset makes a null."""
    ends = accumulate((0 if part is None else len(part) for part in values), initial=0)
    marked: list[int | None] = list(ends)
    for index, part in enumerate(values):
        if part is None:
            marked[index] = None
    return pa.array(marked, type=pa.int32())


def _unusual() -> list[str]:
    raise _NotUsualError

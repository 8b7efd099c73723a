"""The reference for values: what each declared type takes, one value at a time, and what is refused.

Nothing is converted: `True` is not 1, `"1"` is not 1, 1 is not 1.0, a time without an offset is not an instant.

Accepted, exactly these Python types: text `str`; int and size `int` (64 bits; a size is never negative); decimal
`Decimal` (finite, exact in 38 digits of which 9 after the point); bool `bool`; timestamp `datetime` with an offset or
ISO 8601 text with an offset; date `date` or ISO 8601 text; duration `timedelta`; list `list` or `tuple`; map `dict`
with text keys. There is no `None` inside a list or a map. Record: `dict`; what it holds besides the declared parts is
left out, a part without a value (no key, or `None`) is absent, and one that may not be absent makes the record refused.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal, Inexact, InvalidOperation
from typing import Any

import pyarrow as pa

from fullcount.compiler.types import Kind, ListOf, MapOf, RecordOf, Scalar, Type
from fullcount.compiler.values import DECIMAL_PRECISION, DECIMAL_SCALE, INT_MAX, INT_MIN, Value

INSTANT = pa.timestamp("us", "UTC")
DAY = pa.date32()

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_MICROSECOND = timedelta(microseconds=1)
_EXACT = Context(prec=DECIMAL_PRECISION, traps=[Inexact, InvalidOperation])
_QUANTUM = Decimal(1).scaleb(-DECIMAL_SCALE)

INSTANTS = (
    (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND,
    (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND,
)
"""The first and the last instant that can be stored: the years 1 to 9999."""
DAYS = (date.min.toordinal() - _EPOCH_DAY, date.max.toordinal() - _EPOCH_DAY)
"""The first and the last day that can be stored."""


class RefusedValueError(ValueError):
    """A value is not of its declared type. The text says what was found, never the value itself."""


def canonical(type_: Type, raw: object) -> Value:
    """Return the canonical form of one value that is there. Raises `RefusedValueError`."""
    match type_:
        case Scalar(kind=kind):
            return _SCALARS[kind](raw)
        case ListOf(item=item):
            if type(raw) is not list and type(raw) is not tuple:
                raise _refused(type_, raw)
            return tuple(canonical(item, part) for part in raw)
        case MapOf(value=value_type):
            if type(raw) is not dict:
                raise _refused(type_, raw)
            if not all(type(key) is str for key in raw):
                msg = "a map has a key that is not text"
                raise RefusedValueError(msg)
            return {_text(key): canonical(value_type, raw[key]) for key in sorted(raw)}
        case RecordOf():
            return _record(type_, raw)


def _record(of: RecordOf, raw: object) -> dict[str, Value]:
    if type(raw) is not dict:
        raise _refused("a record", raw)
    found: dict[str, Value] = {}
    for part in of.parts:
        held = raw.get(part.name)
        if held is not None:
            found[part.name] = canonical(part.type.type, held)
        elif not part.type.optional:
            msg = f"expected `{part.name}` in a record, found no value (declare it `{part.type}?` if it may have none)"
            raise RefusedValueError(msg)
    return found


def as_declared(of: Type, value: Any) -> Any:
    """Return a canonical value without the parts of its records that are not declared.

    A source may give more parts of a record than a workflow asks for.
    """
    match of:
        case ListOf(item=RecordOf() as item):
            return tuple(as_declared(item, part) for part in value)
        case RecordOf(parts=parts):
            return {part.name: as_declared(part.type.type, value[part.name]) for part in parts if part.name in value}
        case _:
            return value


def _refused(expected: object, raw: object) -> RefusedValueError:
    return RefusedValueError(f"expected {expected}, found {_KIND_NAMES.get(type(raw), 'something else')}")


_KIND_NAMES: dict[type, str] = {
    str: "text",
    bytes: "bytes",
    int: "int",
    bool: "bool",
    float: "a floating-point number",
    Decimal: "decimal",
    datetime: "a time",
    date: "date",
    timedelta: "duration",
    list: "a list",
    tuple: "a list",
    dict: "a map",
    type(None): "no value",
}


def _text(raw: object) -> str:
    if type(raw) is not str:
        raise _refused(Kind.TEXT, raw)
    try:
        raw.encode()
    except UnicodeEncodeError:
        msg = "expected text, found text that is not valid Unicode"
        raise RefusedValueError(msg) from None
    return raw


def _int(raw: object) -> int:
    if type(raw) is not int:
        raise _refused(Kind.INT, raw)
    if not INT_MIN <= raw <= INT_MAX:
        msg = "expected int, found a number that needs more than 64 bits"
        raise RefusedValueError(msg)
    return raw


def _size(raw: object) -> int:
    number = _int(raw)
    if number < 0:
        msg = "expected size, found a negative number"
        raise RefusedValueError(msg)
    return number


def _decimal(raw: object) -> Decimal:
    if type(raw) is not Decimal:
        raise _refused(Kind.DECIMAL, raw)
    if not raw.is_finite():
        msg = "expected decimal, found a value that is not a finite number"
        raise RefusedValueError(msg)
    try:
        exact = raw.quantize(_QUANTUM, context=_EXACT)
    except (Inexact, InvalidOperation):
        msg = f"expected decimal, found more than {DECIMAL_PRECISION} digits or {DECIMAL_SCALE} after the point"
        raise RefusedValueError(msg) from None
    return exact if exact != 0 else abs(exact)


def _bool(raw: object) -> bool:
    if type(raw) is not bool:
        raise _refused(Kind.BOOL, raw)
    return raw


def _timestamp(raw: object) -> int:
    if type(raw) is str:
        instant = _parsed(raw, INSTANT, "a timestamp in ISO 8601 with an offset, to the microsecond")
    elif type(raw) is datetime:
        if raw.utcoffset() is None:
            msg = "expected timestamp, found a time without an offset"
            raise RefusedValueError(msg)
        instant = (raw - _EPOCH) // _MICROSECOND
    else:
        raise _refused(Kind.TIMESTAMP, raw)
    if not INSTANTS[0] <= instant <= INSTANTS[1]:
        msg = "expected timestamp, found a time outside the years 1 to 9999"
        raise RefusedValueError(msg)
    return instant


def _date(raw: object) -> int:
    if type(raw) is date:
        return raw.toordinal() - _EPOCH_DAY
    if type(raw) is not str:
        raise _refused(Kind.DATE, raw)
    day = _parsed(raw, DAY, "a date in ISO 8601 (YYYY-MM-DD)")
    if not DAYS[0] <= day <= DAYS[1]:
        msg = "expected date, found a day outside the years 1 to 9999"
        raise RefusedValueError(msg)
    return day


def _parsed(raw: str, target: Any, expected: str) -> int:
    """Parse with the same parser as the column path, so that both take the same texts."""
    try:
        scalar: Any = pa.scalar(raw, pa.string()).cast(target)
    except (pa.ArrowInvalid, UnicodeEncodeError):
        msg = f"expected {expected}, found other text"
        raise RefusedValueError(msg) from None
    number: int = scalar.value
    return number


def _duration(raw: object) -> int:
    if type(raw) is not timedelta:
        raise _refused(Kind.DURATION, raw)
    length = raw // _MICROSECOND
    if not INT_MIN <= length <= INT_MAX:
        msg = "expected duration, found one longer than 292,000 years"
        raise RefusedValueError(msg)
    return length


_SCALARS: dict[Kind, Callable[[object], Value]] = {
    Kind.TEXT: _text,
    Kind.INT: _int,
    Kind.SIZE: _size,
    Kind.DECIMAL: _decimal,
    Kind.BOOL: _bool,
    Kind.TIMESTAMP: _timestamp,
    Kind.DATE: _date,
    Kind.DURATION: _duration,
}

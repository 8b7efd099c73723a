"""Canonical values in a plan's JSON, and back: exact in both directions, by the declared type.

text, bool, list and map are themselves; int and size are numbers (size in bytes); decimal is text with all its digits;
timestamp is ISO 8601 in UTC (`2026-08-31T04:00:00Z`), date `2026-08-31`, duration one number with a unit (`90d`). An
instant or day that no calendar of four-digit years holds is written `@` and its number (microseconds, days).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from fullcount.compiler.types import Kind, ListOf, MapOf, RecordOf, Scalar, Type
from fullcount.compiler.values import Cell, FieldState, Value
from fullcount.runtime.plan.document import CellDoc

DURATION_UNITS: Final[dict[str, int]] = {
    "d": 86_400_000_000,
    "h": 3_600_000_000,
    "m": 60_000_000,
    "s": 1_000_000,
    "ms": 1_000,
    "us": 1,
}
"""The units that an exact duration is written in, largest first, in microseconds."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY: Final = date(1970, 1, 1)
_DURATION: Final = re.compile(r"(-?\d+)(d|h|m|s|ms|us)", re.ASCII)
_OFF_CALENDAR: Final = re.compile(r"@(-?\d+)", re.ASCII)


class NotOfTypeError(ValueError):
    """A JSON value is not of the type that it is read as."""

    def __init__(self, expected: Type, raw: object) -> None:
        super().__init__(f"expected {expected}, found {type(raw).__name__}")


def instant(microseconds: int) -> datetime | None:
    """Return the instant, or None where the calendar ends (years 1 to 9999)."""
    try:
        return _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return None


def microseconds(moment: datetime) -> int:
    """Return microseconds since the epoch. The instant must have an offset."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def day(days: int) -> date | None:
    """Return the day, or None where the calendar ends."""
    try:
        return _EPOCH_DAY + timedelta(days=days)
    except OverflowError:
        return None


def iso(moment: datetime) -> str:
    """Return an instant as ISO 8601 text in UTC, with `Z`."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def exact_duration(length: int) -> str:
    """Return a duration in the largest unit that holds it exactly: `90d`, `36h`, `0s`."""
    if length == 0:
        return "0s"
    unit = next(name for name, size in DURATION_UNITS.items() if length % size == 0)
    return f"{length // DURATION_UNITS[unit]}{unit}"


def decimal_text(value: Decimal) -> str:
    """Return every digit that counts and none that does not: `1.5` for 1.500, `0` for -0."""
    text = f"{value:f}"
    shortest = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if shortest in {"-0", ""} else shortest


def to_json(value: Value, of: Type) -> Any:
    """Return a canonical value as JSON. Raises `NotOfTypeError`."""
    match of, value:
        case ListOf(item=item), tuple():
            return [to_json(part, item) for part in value]
        case MapOf(value=inner), Mapping():
            return {key: to_json(part, inner) for key, part in value.items()}
        case RecordOf(parts=parts), Mapping():
            return {part.name: to_json(value[part.name], part.type.type) for part in parts if part.name in value}
        case Scalar(kind=Kind.BOOL), bool():
            return value
        case Scalar(kind=Kind.TEXT), str():
            return value
        case Scalar(kind=Kind.DECIMAL), Decimal():
            return decimal_text(value)
        case Scalar(kind=kind), int() if not isinstance(value, bool):
            return _number(value, kind, of)
    raise NotOfTypeError(of, value)


def _number(value: int, kind: Kind, of: Type) -> Any:
    match kind:
        case Kind.INT | Kind.SIZE:
            return value
        case Kind.TIMESTAMP:
            moment = instant(value)
            return f"@{value}" if moment is None else iso(moment)
        case Kind.DATE:
            found = day(value)
            return f"@{value}" if found is None else found.isoformat()
        case Kind.DURATION:
            return exact_duration(value)
        case _:
            raise NotOfTypeError(of, value)


def from_json(raw: Any, of: Type) -> Value:
    """Return the canonical value that `to_json` wrote. Raises `NotOfTypeError`."""
    match of, raw:
        case ListOf(item=item), list() | tuple():
            return tuple(from_json(part, item) for part in raw)
        case MapOf(value=inner), dict():
            return {key: from_json(part, inner) for key, part in raw.items()}
        case RecordOf(), dict():
            return {name: from_json(part, _part(of, name, raw)) for name, part in raw.items()}
        case Scalar(kind=Kind.BOOL), bool():
            return raw
        case Scalar(kind=Kind.INT | Kind.SIZE), int() if not isinstance(raw, bool):
            return raw
        case Scalar(kind=kind), str():
            return _written(raw, kind, of)
    raise NotOfTypeError(of, raw)


def _part(of: RecordOf, name: str, raw: object) -> Type:
    declared = of.part(name)
    if declared is None:
        raise NotOfTypeError(of, raw)
    return declared.type


def _written(raw: str, kind: Kind, of: Type) -> Value:
    off = _OFF_CALENDAR.fullmatch(raw)
    try:
        match kind:
            case Kind.TEXT:
                return raw
            case Kind.DECIMAL:
                return Decimal(raw)
            case Kind.TIMESTAMP:
                return int(off[1]) if off else microseconds(datetime.fromisoformat(raw))
            case Kind.DATE:
                return int(off[1]) if off else (date.fromisoformat(raw) - _EPOCH_DAY).days
            case Kind.DURATION if (parts := _DURATION.fullmatch(raw)) is not None:
                return int(parts[1]) * DURATION_UNITS[parts[2]]
            case _:
                raise NotOfTypeError(of, raw)
    except (ValueError, TypeError, InvalidOperation) as error:
        raise NotOfTypeError(of, raw) from error


def cell_to_doc(cell: Cell, of: Type) -> CellDoc:
    """Return a field of an object as it stands in a plan."""
    return CellDoc(state=cell.state, value=None if cell.value is None else to_json(cell.value, of))


def cell_from_doc(doc: CellDoc, of: Type) -> Cell:
    """Return the field that `cell_to_doc` wrote. Raises `NotOfTypeError`."""
    if doc.state is not FieldState.PRESENT:
        return Cell(doc.state, None)
    return Cell(doc.state, from_json(doc.value, of))

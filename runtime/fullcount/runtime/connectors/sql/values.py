"""Between a database's values and those of the language: what a driver returns, and what it must be given.

Guarantees: nothing is guessed. A value that is not exactly of its declared type is handed on as it came, and the
strict conversion of `collect` refuses it; a time without an offset becomes an instant only by the configured zone, and
not where that zone's clock is ambiguous.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from fullcount.compiler.types import FieldType, Kind, ListOf, MapOf, RecordOf, Scalar
from fullcount.compiler.values import Cell, FieldState, Value
from fullcount.runtime.collect.coerce import coerce_cell
from fullcount.runtime.connectors.sql.described import Column
from fullcount.runtime.connectors.sql.errors import unfit

_NONE = type(None)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_AS_TEXT = (UUID, IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network)
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")

_UTC_SUFFIXES = ("Z", "+00:00")
_PLAIN_LENGTH, _SECONDS_AT = len("2026-01-01 00:00:00"), len("2026-01-01 00:00")

States = Sequence[FieldState | None]


class Ambiguous:
    """Stands for a time that its zone's clock shows twice or never."""

    __slots__ = ()


AMBIGUOUS = Ambiguous()


class Values:
    """Conversion for one database side."""

    def __init__(self, source: str, *, is_postgres: bool, timezone: str | None) -> None:
        self._source = source
        self._postgres = is_postgres
        self._zone = None if timezone is None else ZoneInfo(timezone)
        self._is_utc = timezone in {"UTC", "Etc/UTC"}

    # --- from the database ------------------------------------------------------------------------------------------

    def column(self, name: str, declared: FieldType, values: Sequence[Any]) -> tuple[Sequence[Any], States | None]:
        """Return a column as natural values, and states where some are ambiguous. Raises `SourceError` FC612."""
        natural = self._natural_column(name, declared, values)
        if natural is values or declared.type != Scalar(Kind.TIMESTAMP) or AMBIGUOUS not in natural:
            return natural, None
        states = [FieldState.INDETERMINATE if value is AMBIGUOUS else None for value in natural]
        return [None if value is AMBIGUOUS else value for value in natural], states

    def cell(self, name: str, declared: FieldType, raw: Any) -> Cell:
        """Return one canonical cell. Raises `SourceError` FC612."""
        values, states = self.column(name, declared, [raw])
        return coerce_cell(declared, values[0], None if states is None else states[0])

    def _natural_column(self, name: str, declared: FieldType, values: Sequence[Any]) -> Sequence[Any]:
        if isinstance(declared.type, ListOf | MapOf | RecordOf):
            return [_texts(value) if self._postgres else _from_json(value) for value in values]
        kind = declared.type.kind
        as_they_are = _UNCHANGED.get(kind)
        if as_they_are is not None and _only(values, as_they_are):
            return values
        if kind is Kind.TIMESTAMP:
            return values if self._all_instants(values) else [self._instant(name, value) for value in values]
        convert = _CONVERSIONS.get(kind)
        return values if convert is None else [convert(value) for value in values]

    def _all_instants(self, values: Sequence[Any]) -> bool:
        """Whether nothing is to be done: each value is what `_instant` would return for it."""
        found = {*map(type, values)} - {_NONE}
        if found == {str}:
            return all(value is None or value.endswith(_UTC_SUFFIXES) for value in values)
        return found == {datetime} and all(value is None or value.tzinfo is not None for value in values)

    def _instant(self, name: str, value: Any) -> Any:
        if isinstance(value, str):
            if value.endswith(_UTC_SUFFIXES):
                return value  # an instant as it stands; parsing it here would only be slower
            if self._is_utc and len(value) == _PLAIN_LENGTH and value[_SECONDS_AT] == ":":
                return value + "Z"
            parsed = _parse_time(value)
            if parsed is None:
                return value
            value = parsed
        if not isinstance(value, datetime) or value.tzinfo is not None:
            return value
        if self._zone is None:
            detail = f"`{self._source}`: the field `{name}` holds times without an offset, which are not instants"
            raise unfit("FC612", f"{detail}; say what they mean with `timezone = …` in [sources.{self._source}]")
        if self._is_utc:
            return value.replace(tzinfo=UTC)
        first, second = value.replace(tzinfo=self._zone, fold=0), value.replace(tzinfo=self._zone, fold=1)
        return first if first.utcoffset() == second.utcoffset() else AMBIGUOUS

    def is_spelled_freely(self, declared: FieldType) -> bool:
        """Whether the database may write one value in several ways, so that it can't compare as we do."""
        return not self._postgres and declared.type == Scalar(Kind.TIMESTAMP)

    # --- to the database --------------------------------------------------------------------------------------------

    def encode(self, declared: FieldType, column: Column, value: Value) -> Any:
        """Return a canonical value as the driver takes it. Raises `ValueError` for one that no such column can hold."""
        match declared.type:
            case ListOf() | MapOf() | RecordOf():
                return self._container(column, value)
            case Scalar(kind=kind):
                return self._scalar(kind, column, value)

    def _container(self, column: Column, value: Value) -> Any:
        plain = _plain(value)
        if not self._postgres:
            return json.dumps(plain, ensure_ascii=False, sort_keys=True)
        if column.type.endswith("[]"):
            return plain
        from psycopg.types.json import Json, Jsonb

        return Jsonb(plain) if column.type == "jsonb" else Json(plain)

    def _scalar(self, kind: Kind, column: Column, value: Value) -> Any:
        _must_be(kind, value)
        if isinstance(value, str) and "\0" in value and self._postgres:
            msg = "the database's text can't hold a NUL character"
            raise ValueError(msg)
        if kind is Kind.TIMESTAMP and isinstance(value, int):
            return self._time(column, _EPOCH + timedelta(microseconds=value))
        if kind is Kind.DATE and isinstance(value, int):
            day = date(1970, 1, 1) + timedelta(days=value)
            return day if self._postgres else day.isoformat()
        if kind is Kind.DURATION and isinstance(value, int):
            return timedelta(microseconds=value)
        if self._postgres:
            return value
        if isinstance(value, bool):
            return int(value)
        return str(value) if isinstance(value, Decimal) else value

    def _time(self, column: Column, instant: datetime) -> Any:
        if self._postgres and column.type == "timestamp with time zone":
            return instant
        if self._zone is None:
            if self._postgres:
                msg = "the column holds times without a zone, and the source says no `timezone`"
                raise ValueError(msg)
            return instant.isoformat()
        local = instant.astimezone(self._zone).replace(tzinfo=None)
        return local if self._postgres else local.isoformat(sep=" ")


def _only(values: Sequence[Any], types: tuple[type, ...]) -> bool:
    return {*map(type, values)} - {_NONE} <= {*types}


def _whole(value: Any) -> Any:
    return (
        int(value) if isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value() else value
    )


def _decimal(value: Any) -> Any:
    if type(value) is int:
        return Decimal(value)
    if isinstance(value, float):
        return Decimal(repr(value)) if math.isfinite(value) else value
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return Decimal(value)
    return value


def _bool(value: Any) -> Any:
    return bool(value) if type(value) is int and value in {0, 1} else value


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, _AS_TEXT) else value


def _parse_time(value: str) -> datetime | None:
    if len(value) < len("2026-01-01T00"):  # a day alone is not a time
        return None
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        return None


def _texts(value: Any) -> Any:
    return [_text(part) for part in value] if isinstance(value, list) else value


def _from_json(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value, parse_float=Decimal, object_pairs_hook=_each_key_once)
    except (ValueError, RecursionError):
        return value


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        msg = "a key stands twice"
        raise ValueError(msg)
    return found


_UNCHANGED: Mapping[Kind, tuple[type, ...]] = {
    Kind.TEXT: (str,),
    Kind.INT: (int,),
    Kind.SIZE: (int,),
    Kind.DECIMAL: (Decimal,),
    Kind.BOOL: (bool,),
}
_CONVERSIONS: Mapping[Kind, Callable[[Any], Any]] = {
    Kind.TEXT: _text,
    Kind.INT: _whole,
    Kind.SIZE: _whole,
    Kind.DECIMAL: _decimal,
    Kind.BOOL: _bool,
}

_CANONICAL: Mapping[Kind, type] = {
    Kind.TEXT: str,
    Kind.INT: int,
    Kind.SIZE: int,
    Kind.DECIMAL: Decimal,
    Kind.BOOL: bool,
    Kind.TIMESTAMP: int,
    Kind.DATE: int,
    Kind.DURATION: int,
}


def _must_be(kind: Kind, value: Value) -> None:
    if type(value) is not _CANONICAL[kind]:
        msg = f"expected a value of type {kind}"
        raise ValueError(msg)


def _plain(value: Any) -> Any:
    """Return a canonical list or map as JSON has it."""
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return str(value) if isinstance(value, Decimal) else value

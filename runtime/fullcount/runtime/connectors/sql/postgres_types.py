"""Values of PostgreSQL that Python's types can't hold: kept as text, so that they are refused one by one.

The driver reads a month as 30 days and breaks on `infinity`. A guess would be wrong, and a break would take the whole
page with it; as text, only the one cell is refused as not of its type.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

from psycopg import Connection, DataError
from psycopg.abc import Buffer
from psycopg.types.datetime import DateLoader, IntervalLoader, TimestampLoader, TimestamptzLoader


class _ExactInterval(IntervalLoader):
    def load(self, data: Buffer) -> Any:
        text = bytes(data)
        if b"mon" in text or b"year" in text:
            return text.decode()
        return super().load(data)


class _AnyDate(DateLoader):
    def load(self, data: Buffer) -> Any:
        return _or_text(super().load, data)


class _AnyTimestamp(TimestampLoader):
    def load(self, data: Buffer) -> Any:
        return _or_text(super().load, data)


class _AnyTimestamptz(TimestamptzLoader):
    def load(self, data: Buffer) -> Any:
        return _or_text(super().load, data)


def _or_text(load: Any, data: Buffer) -> date | datetime | timedelta | str:
    try:
        value: date | datetime | timedelta = load(data)
    except DataError:
        return bytes(data).decode()
    return value


def exact_intervals(connection: Connection[Any]) -> None:
    """Keep intervals with months or years in them as text."""
    connection.adapters.register_loader("interval", _ExactInterval)


def any_time(connection: Connection[Any]) -> None:
    """Keep times and days that Python can't hold as text. Slower, so done only once one was met."""
    connection.adapters.register_loader("date", _AnyDate)
    connection.adapters.register_loader("timestamp", _AnyTimestamp)
    connection.adapters.register_loader("timestamptz", _AnyTimestamptz)


def is_unreadable_value(error: BaseException | None) -> bool:
    """Whether the driver itself failed on a value, with the server's transaction untouched by that."""
    return isinstance(error, DataError) and error.sqlstate is None

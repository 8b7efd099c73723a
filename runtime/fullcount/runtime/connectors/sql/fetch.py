"""Run one statement and take all its rows, whatever values they hold."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Executable
from sqlalchemy.exc import DBAPIError


def fetch_all(connection: Connection, statement: Executable) -> Sequence[tuple[Any, ...]]:
    """Return every row of a statement that reads, as the driver made it. Raises `DBAPIError`.

    A value that the driver can't turn into Python's types (a date before the year 1, `infinity`) is asked for again as
    text, in the same transaction: the server's side never failed. So is a text of SQLite that is no UTF-8, as bytes.
    """
    try:
        return _rows(connection, statement)
    except DBAPIError as error:
        if error.connection_invalidated:
            raise  # there is no driver's connection any more to ask
        driver: Any = connection.connection.driver_connection
        if connection.dialect.name != "postgresql":
            if not _is_undecodable(error.orig) or driver.text_factory is text_or_bytes:
                raise
            driver.text_factory = text_or_bytes
            return _rows(connection, statement)
        from fullcount.runtime.connectors.sql.postgres_types import any_time, is_unreadable_value

        if not is_unreadable_value(error.orig):
            raise
        any_time(driver)
    return _rows(connection, statement)


def text_or_bytes(data: bytes) -> str | bytes:
    """Return a text of SQLite, or its bytes where they are none: then only the one cell is refused.

    Slower than the driver's own way, so it is taken only once such a text was met.
    """
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def _is_undecodable(error: BaseException | None) -> bool:
    """Whether SQLite's driver failed on a text that is no UTF-8: it tells so by words alone."""
    return isinstance(error, sqlite3.OperationalError) and "decode to UTF-8" in str(error)


def _rows(connection: Connection, statement: Executable) -> Sequence[tuple[Any, ...]]:
    """Take the rows from the driver's own cursor: a row object for each would cost as much as reading it."""
    dialect = connection.dialect
    driver: Any = dialect.loaded_dbapi.Error
    with connection.execute(statement) as result:
        cursor: Any = result.cursor
        try:
            rows: Sequence[tuple[Any, ...]] = cursor.fetchall()
        except driver as error:
            lost = dialect.is_disconnect(error, None, cursor)
            raise DBAPIError.instance(
                None, None, error, driver, connection_invalidated=lost, dialect=dialect, hide_parameters=True
            ) from error
    return rows

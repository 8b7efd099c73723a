"""Run one statement and take all its rows, whatever values they hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Executable
from sqlalchemy.exc import DBAPIError


def fetch_all(connection: Connection, statement: Executable) -> Sequence[tuple[Any, ...]]:
    """Return every row of a statement that reads, as the driver made it. Raises `DBAPIError`.

    A value that the driver can't turn into Python's types (a date before the year 1, `infinity`) is asked for again as
    text, in the same transaction: the server's side never failed.
    """
    try:
        return _rows(connection, statement)
    except DBAPIError as error:
        if connection.dialect.name != "postgresql":
            raise
        from fullcount.runtime.connectors.sql.postgres_types import any_time, is_unreadable_value

        if not is_unreadable_value(error.orig):
            raise
        driver: Any = connection.connection.driver_connection
        any_time(driver)
    return _rows(connection, statement)


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

"""Run one statement and take all its rows, whatever values they hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Executable
from sqlalchemy.exc import DBAPIError


def fetch_all(connection: Connection, statement: Executable) -> Sequence[Any]:
    """Return every row of a statement that reads. Raises `DBAPIError`.

    A value that the driver can't turn into Python's types (a date before the year 1, `infinity`) is asked for again as
    text, in the same transaction: the server's side never failed.
    """
    try:
        return connection.execute(statement).all()
    except DBAPIError as error:
        if connection.dialect.name != "postgresql":
            raise
        from fullcount.runtime.connectors.sql.postgres_types import any_time, is_unreadable_value

        if not is_unreadable_value(error.orig):
            raise
        driver: Any = connection.connection.driver_connection
        any_time(driver)
    return connection.execute(statement).all()

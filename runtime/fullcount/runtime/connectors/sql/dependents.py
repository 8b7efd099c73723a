"""Rows of other tables that would go with a deleted one, or lose their reference to it: nobody approved those."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, select
from sqlalchemy import column as sql_column
from sqlalchemy import table as sql_table
from sqlalchemy.types import NullType

from fullcount.runtime.connectors.sql.described import Dependent, Described


def goes_with(connection: Connection, described: Described, condition: ColumnElement[bool]) -> str | None:
    """Return the first table with rows that the delete would reach too, or None. Raises `DBAPIError`."""
    for dependent in described.dependents:
        referred = [described.table.c[ours] for _, ours in dependent.columns]
        values = connection.execute(select(*referred).where(condition)).one()
        # a reference with a part that has no value refers to nothing
        if all(value is not None for value in values) and _refers(connection, dependent, values):
            return f"{dependent.schema}.{dependent.table}"
    return None


def _refers(connection: Connection, dependent: Dependent, values: Any) -> bool:
    columns = [sql_column(theirs, NullType()) for theirs, _ in dependent.columns]
    table = sql_table(dependent.table, *columns, schema=dependent.schema)
    tests = [column == bindparam(None, value, type_=NullType()) for column, value in zip(table.c, values, strict=True)]
    return connection.execute(select(1).select_from(table).where(*tests).limit(1)).first() is not None

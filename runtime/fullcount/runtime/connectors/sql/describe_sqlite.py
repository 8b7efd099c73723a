"""SQLite's schema: what a table is, and whether its key can carry a scan. Types of columns bind nobody here."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, text

from fullcount.compiler.catalog import Resource
from fullcount.compiler.types import Kind, Scalar
from fullcount.runtime.connectors.sql.config import SqlResource
from fullcount.runtime.connectors.sql.described import Column, Described, missing_table, require_columns
from fullcount.runtime.connectors.sql.errors import unfit

_OBJECT = text("SELECT type, sql FROM main.sqlite_schema WHERE name = :name AND type IN ('table', 'view')")
_COLUMNS = text(
    "SELECT name, type, \"notnull\" AS not_null, pk FROM pragma_table_xinfo(:name, 'main') WHERE hidden != 1"
)
_INDEXES = text("SELECT name FROM pragma_index_list(:name, 'main') WHERE \"unique\" AND NOT partial")
_INDEXED = text("SELECT name FROM pragma_index_xinfo(:name, 'main') WHERE key ORDER BY seqno")

_BINARY = "BINARY"
"""The collation that tells every two texts apart, and in which a scan is ordered whatever the column's own is."""

_NO_KEY_TYPES = frozenset({Kind.TIMESTAMP, Kind.DECIMAL})


def describe_table(connection: Connection, resource: Resource, settings: SqlResource) -> Described:
    """See `described.describe`."""
    if settings.db_schema not in {None, "main"}:
        raise unfit(
            "FC608", f"`{resource.source}.{resource.name}`: an SQLite file has no schema `{settings.db_schema}`"
        )
    table = connection.execute(_OBJECT, {"name": settings.table}).one_or_none()
    if table is None:
        raise missing_table(resource, settings.table)
    for name in resource.key:
        declared = resource.fields[name].type
        if isinstance(declared, Scalar) and declared.kind in _NO_KEY_TYPES:
            detail = f"`{resource.source}.{resource.name}.{name}`: SQLite may spell one `{declared}` in several ways"
            raise unfit("FC608", f"{detail}, so it can't be a key")
    found = {row.name: row for row in connection.execute(_COLUMNS, {"name": settings.table})}
    require_columns(resource, settings.table, found)
    return Described(
        schema="main",
        name=settings.table,
        kind=_kind(table),
        columns={name: _column(found[name], table.sql or "") for name in resource.fields},
        key_is_unique=_has_unique_key(connection, settings.table, resource, found),
    )


def _kind(table: Any) -> str:
    if table.type == "view":
        return "view"
    return "virtual table" if (table.sql or "").upper().lstrip().startswith("CREATE VIRTUAL") else "table"


def _column(row: Any, definition: str) -> Column:
    without_rowid = "WITHOUT ROWID" in definition.upper()
    is_rowid = row.pk == 1 and row.type.upper() == "INTEGER"
    return Column(
        name=row.name,
        type=row.type.lower(),
        # SQLite lets NULL into a primary key, unless it is the row's number or the table has none
        not_null=bool(row.not_null) or (row.pk > 0 and without_rowid) or is_rowid,
        collation=_BINARY,
    )


def _has_unique_key(connection: Connection, table: str, resource: Resource, columns: dict[str, Any]) -> bool:
    primary = {row.name for row in columns.values() if row.pk > 0}
    unique = [primary] if primary else []
    for index in connection.execute(_INDEXES, {"name": table}).scalars().all():
        indexed = list(connection.execute(_INDEXED, {"name": index}).scalars())
        if all(name is not None for name in indexed):  # None: an expression
            unique.append(set(indexed))
    return any(names <= set(resource.key) for names in unique)

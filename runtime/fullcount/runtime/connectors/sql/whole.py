"""Whole rows: every column that the table has, declared or not, as text that gives back the very same value.

A backup is such a row, and a restore puts it back under its key if the place is free. On SQLite a value is kept with
its storage class; on PostgreSQL as the text that the column's own type writes and reads, under fixed settings. What the
database itself works out (generated columns) is compared and not written. Runs in the thread of its lane.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Text, cast, select, text
from sqlalchemy import column as sql_column
from sqlalchemy.types import NullType

from fullcount.compiler.values import Value
from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.connectors.sql.described import Described
from fullcount.runtime.connectors.sql.rows import Rows
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness

WholeRow = Mapping[str, Any]
"""Column to value: None, or a list of the kind of the value and its text."""

_SQLITE_COLUMNS: Final = text("SELECT name, hidden FROM pragma_table_xinfo(:name, 'main') ORDER BY cid")
_POSTGRES_COLUMNS: Final = text("""
    SELECT a.attname::text AS name, a.attgenerated <> '' AS worked_out, a.attidentity = 'a' AS always,
           pg_catalog.format_type(a.atttypid, a.atttypmod) AS type
    FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = pg_catalog.to_regclass(:name) AND a.attnum > 0 AND NOT a.attisdropped
    ORDER BY a.attnum
""")
_EXACT: Final = "SET LOCAL extra_float_digits = 1; SET LOCAL bytea_output = 'hex'; SET LOCAL lc_monetary = 'C'"


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    type: str
    worked_out: bool
    always: bool = False


def whole_row(connection: Connection, rows: Rows, key: tuple[Value, ...], *, is_postgres: bool) -> WholeRow | None:
    """Return the row of a key, inside a transaction; None: there is none.

    Raises `DBAPIError`, and `SourceError` for a row that can't be told apart, or not be kept exactly.
    """
    columns = _columns(connection, rows.described, is_postgres=is_postgres)
    # bare columns: the condition names the table, and the two are one place only if nothing else does
    bare = [sql_column(column.name, NullType()) for column in columns]
    wanted = [cast(column, Text) for column in bare] if is_postgres else bare
    if is_postgres:
        connection.exec_driver_sql(_EXACT)
    query = select(*wanted).select_from(rows.described.table).where(rows.with_key(key)).limit(2)
    found = connection.execute(query).all()
    if len(found) == 0:
        return None
    if len(found) > 1:
        detail = f"{rows.described.place} has more than one row with this key"
        raise SourceError(Incompleteness(code=Reason.MALFORMED_RESPONSE, detail=detail))
    values = found[0]
    return {
        column.name: _kept(column.type if is_postgres else "", value)
        for column, value in zip(columns, values, strict=True)
    }


def put_back(connection: Connection, described: Described, row: WholeRow, *, is_postgres: bool) -> None:
    """Insert a kept row, inside a transaction. Raises `DBAPIError`, and `ValueError` for a row of other columns."""
    columns = _columns(connection, described, is_postgres=is_postgres)
    if {column.name for column in columns} != set(row):
        raise ValueError("the table has other columns than when the backup was taken")
    written = [column for column in columns if not column.worked_out]
    quote = _quoting(connection)
    if is_postgres:
        connection.exec_driver_sql(_EXACT)
    names = ", ".join(quote(column.name) for column in written)
    overriding = " OVERRIDING SYSTEM VALUE" if any(column.always for column in written) else ""
    values, given = [], {}
    for number, column in enumerate(written):
        given[f"v{number}"] = _given(row[column.name], is_postgres=is_postgres)
        # the type of a placeholder is that of a text; each type reads what it wrote
        values.append(f"CAST(CAST(:v{number} AS text) AS {column.type})" if is_postgres else f":v{number}")
    # every name is quoted, every type is the database's own word, every value is bound
    statement = f"INSERT INTO {_place(quote, described)} ({names}){overriding} VALUES ({', '.join(values)})"  # noqa: S608
    connection.execute(text(statement), given)


def _columns(connection: Connection, described: Described, *, is_postgres: bool) -> list[_Column]:
    if not is_postgres:
        found = connection.execute(_SQLITE_COLUMNS, {"name": described.name}).all()
        return [_Column(row.name, "", row.hidden in (2, 3)) for row in found]
    quote = connection.dialect.identifier_preparer.quote_identifier
    place = f"{quote(described.schema)}.{quote(described.name)}"
    found = connection.execute(_POSTGRES_COLUMNS, {"name": place}).all()
    return [_Column(row.name, row.type, row.worked_out, row.always) for row in found]


def _quoting(connection: Connection) -> Callable[[str], str]:
    quote = connection.dialect.identifier_preparer.quote_identifier

    def quoted(name: str) -> str:
        # `text` takes a colon before a word for a place to fill
        return quote(name).replace(":", "\\:")

    return quoted


def _place(quote: Callable[[str], str], described: Described) -> str:
    return f"{quote(described.schema)}.{quote(described.name)}"


def _kept(type_: str, value: Any) -> list[str] | None:
    match value:
        case None:
            return None
        case str() if type_ != "":
            return [type_, value]
        case bool():
            return ["integer", str(int(value))]
        case int():
            return ["integer", str(value)]
        case float():
            return ["real", value.hex()]
        case bytes():
            return ["blob", value.hex()]
        case str():
            return ["text", value]
    detail = f"a value of the type {type(value).__name__} can't be kept exactly"
    raise SourceError(Incompleteness(code=Reason.MALFORMED_RESPONSE, detail=detail))


def _given(kept: Sequence[str] | None, *, is_postgres: bool) -> Any:
    if kept is None:
        return None
    kind, written = kept
    if is_postgres:
        return written
    match kind:
        case "integer":
            return int(written)
        case "real":
            return float.fromhex(written)
        case "blob":
            return bytes.fromhex(written)
        case "text":
            return written
    raise ValueError(f"a backup of a value of an unknown kind, `{kind}`")


__all__ = ["WholeRow", "put_back", "whole_row"]

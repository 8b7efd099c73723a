"""What a database says about a declared table: the facts that a read and an act rest on.

Guarantees: every declared field is a column that exists, or the read fails (FC608); the table is named with its
schema from here on, so that no search path can put another one in its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnClause, Connection, TableClause
from sqlalchemy import column as sql_column
from sqlalchemy import table as sql_table
from sqlalchemy.types import NullType

from fullcount.compiler.catalog import Resource
from fullcount.runtime.connectors.sql.config import SqlResource
from fullcount.runtime.connectors.sql.database import Database, reading
from fullcount.runtime.connectors.sql.errors import unfit
from fullcount.runtime.workspace.errors import did_you_mean


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `type` is the database's name of its type, in lower case; on SQLite it binds nobody."""

    name: str
    type: str
    not_null: bool
    readable: bool = True
    collation: str | None = None
    """The collation that comparisons must name to be exact; None: the column's own is."""


@dataclass(frozen=True, slots=True)
class Described:
    """One table as the database has it."""

    schema: str
    name: str
    kind: str
    """`table`, or what it is instead: `view`, `foreign table`, …"""
    columns: Mapping[str, Column]
    """Only the declared fields."""
    key_is_unique: bool
    hides_rows: bool = False
    """Whether row-level security is active for this identity."""
    lockable: bool = False
    """Whether this identity may lock the table against a change of its triggers and references."""
    table: TableClause = field(init=False, compare=False, repr=False)
    """The table for statements. Its columns have no type of their own, so that values pass unchanged."""

    def __post_init__(self) -> None:
        columns = (sql_column(name, NullType()) for name in sorted(self.columns))
        object.__setattr__(self, "table", sql_table(self.name, *columns, schema=self.schema))

    @property
    def is_base(self) -> bool:
        """Whether it is a table whose rows nothing but row-level security can hide."""
        return self.kind == "table"

    @property
    def place(self) -> str:
        """Its full name, for people and for the identity of the target."""
        return f"{self.schema}.{self.name}"

    def exact(self, column: ColumnClause[Any]) -> Any:
        """Return a column as comparisons and orders must use it, so that equal means equal to the last byte."""
        collation = self.columns[column.name].collation
        return column if collation is None else column.collate(collation)


def describe(connection: Connection, database: Database, resource: Resource, settings: SqlResource) -> Described:
    """Look a table up. Raises `SourceError` (FC608) if the declaration does not fit, and `DBAPIError`."""
    if database.is_postgres:
        from fullcount.runtime.connectors.sql.describe_postgres import describe_table
    else:
        from fullcount.runtime.connectors.sql.describe_sqlite import describe_table
    return describe_table(connection, resource, settings)


def require_columns(resource: Resource, place: str, found: Mapping[str, Any]) -> None:
    """Raise `SourceError` FC608 if a declared field is not a column."""
    for name in resource.fields:
        if name not in found:
            hint = did_you_mean(name, found)
            detail = f"`{resource.source}.{resource.name}` declares `{name}`, and {place} has no such column"
            raise unfit("FC608", f"{detail}; {hint}" if hint else detail)


def missing_table(resource: Resource, name: str) -> Exception:
    """Return the error of a table that is not there."""
    return unfit("FC608", f"`{resource.source}.{resource.name}` declares the table `{name}`, and there is none")


@dataclass(slots=True)
class Descriptions:
    """Tables looked up once for one side of a source. Row-level security is asked of PostgreSQL by every statement."""

    database: Database
    settings: Mapping[str, SqlResource]
    _known: dict[str, Described] = field(default_factory=dict)

    def known(self, connection: Connection, resource: Resource) -> Described:
        """Return the table of a resource, looked up in a transaction of its own. Raises as `of`."""
        found = self._known.get(resource.name)
        return reading(self.database, lambda inner: self.of(inner, resource))(connection) if found is None else found

    def of(self, connection: Connection, resource: Resource) -> Described:
        """Return the table of a resource, inside a transaction. Raises `SourceError` (FC608) and `DBAPIError`."""
        found = self._known.get(resource.name)
        if found is None:
            found = describe(connection, self.database, resource, self.settings[resource.name])
            self._known[resource.name] = found
        return found

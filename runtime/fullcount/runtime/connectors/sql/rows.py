"""Single rows by condition, as cells: what the reader's looks and the actor's preconditions share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, bindparam, func, or_, select
from sqlalchemy.types import NullType

from fullcount.compiler.catalog import Resource
from fullcount.compiler.values import Cell, FieldState, Value
from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.connectors.sql.described import Described
from fullcount.runtime.connectors.sql.fetch import fetch_all
from fullcount.runtime.connectors.sql.values import Values
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness

_FORBIDDEN = Cell(FieldState.FORBIDDEN, None)


@dataclass(frozen=True, slots=True)
class Rows:
    """Reads rows of one described table."""

    resource: Resource
    described: Described
    values: Values

    def with_key(self, key: tuple[Value, ...]) -> ColumnElement[bool]:
        """Return the test for the row of a key. Raises `SourceError` for a key that no row of the table can have."""
        tests = []
        for name, value in zip(self.resource.key, key, strict=True):
            try:
                tests.append(self.equal(name, value))
            except ValueError as error:
                detail = f"the key field `{name}` of {self.described.place}: {error}"
                raise SourceError(Incompleteness(code=Reason.MALFORMED_RESPONSE, detail=detail)) from None
        return and_(*tests)

    def equal(self, name: str, value: Value) -> ColumnElement[bool]:
        """Return the exact test of a field for a value. Raises `ValueError` for one that the column can't hold."""
        encoded = self.values.encode(self.resource.fields[name], self.described.columns[name], value)
        exact: ColumnElement[Any] = self.described.exact(self.described.table.c[name])
        return exact == bindparam(None, encoded, type_=NullType())

    def find(
        self, connection: Connection, condition: ColumnElement[bool], fields: Sequence[str], *, limit: int
    ) -> tuple[Mapping[str, Cell], ...]:
        """Return the cells of the matching rows. Raises `DBAPIError`, and `SourceError` for times without an offset."""
        readable = [name for name in fields if self.described.columns[name].readable]
        table = self.described.table
        # a count stands in where no column is asked for: that there is a row is an answer too
        columns: list[Any] = [table.c[name] for name in readable] or [func.count().over()]
        found = fetch_all(connection, select(*columns).select_from(table).where(condition).limit(limit))
        return tuple(self.cells(fields, dict(zip(readable, row, strict=False))) for row in found)

    def find_told(
        self,
        connection: Connection,
        told: Sequence[ColumnElement[bool]],
        fields: Sequence[str],
        *,
        limit: int,
    ) -> tuple[tuple[Mapping[str, Cell], tuple[bool, ...]], ...]:
        """Return the cells of the rows for which one of several tests holds, and for each row which of them do.

        The database says which, by the same comparison that selects the row. Raises as `find`.
        """
        readable = [name for name in fields if self.described.columns[name].readable]
        table = self.described.table
        columns: list[Any] = [*(table.c[name] for name in readable), *told]
        found = fetch_all(connection, select(*columns).select_from(table).where(or_(*told)).limit(limit))
        end = len(readable)
        return tuple(
            (self.cells(fields, dict(zip(readable, row[:end], strict=True))), tuple(test == 1 for test in row[end:]))
            for row in found
        )

    def cells(self, fields: Sequence[str], raw: Mapping[str, Any]) -> Mapping[str, Cell]:
        """Return canonical cells; a field without a raw value is one that this credential may not read."""
        declared = self.resource.fields
        return {
            name: self.values.cell(name, declared[name], raw[name]) if name in raw else _FORBIDDEN for name in fields
        }

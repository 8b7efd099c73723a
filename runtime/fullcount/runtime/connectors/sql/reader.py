"""The reading side of an SQL source. It has no way to write: its transactions are read-only, its SQLite file too."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

from sqlalchemy import ColumnElement, Connection, func, literal_column, or_, select
from sqlalchemy.exc import DBAPIError

from fullcount.compiler.catalog import Effect, Resource
from fullcount.compiler.values import Cell, Value
from fullcount.runtime.connectors.base import (
    ClosureFound,
    Collateral,
    Existence,
    Matches,
    Question,
    Reading,
    Scan,
    SourceError,
)
from fullcount.runtime.connectors.sql.closure import Following
from fullcount.runtime.connectors.sql.config import SqlConfig, can_look_up
from fullcount.runtime.connectors.sql.database import Database, Lane, Lanes, reading
from fullcount.runtime.connectors.sql.described import Described, Descriptions
from fullcount.runtime.connectors.sql.identity import identity
from fullcount.runtime.connectors.sql.pushdown import not_as_declared
from fullcount.runtime.connectors.sql.reach import Reaches, collateral
from fullcount.runtime.connectors.sql.rows import Rows
from fullcount.runtime.connectors.sql.scan import SqlScan, open_scan
from fullcount.runtime.connectors.sql.values import Values
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness

T = TypeVar("T")

MANY = 100
"""How many rows are read by one statement."""
LOOKUP_ROWS = 10_000
"""The most rows that a look-up returns; more make it incomplete."""


class SqlReader:
    """Reads tables. See `SourceReader`."""

    def __init__(self, source: str, config: SqlConfig, database: Database) -> None:
        self._source, self._config, self._database = source, config, database
        self._lanes = Lanes(database)
        self._values = Values(source, is_postgres=database.is_postgres, timezone=config.timezone)
        self._tables = Descriptions(database, config.resources)

    @classmethod
    async def open(cls, source: str, config: SqlConfig) -> SqlReader:
        """Connect. Raises `SourceError`, and `WorkspaceError` for an address that can't be used."""
        reader = cls(source, config, Database(config, config.url, writing=False))
        await reader.identity()
        return reader

    async def identity(self) -> Mapping[str, str]:
        """See `SourceReader.identity`."""
        return await self._ask("connecting", lambda connection: identity(connection, self._database, self._config))

    @asynccontextmanager
    async def scan(self, question: Question) -> AsyncIterator[Scan]:
        """See `SourceReader.scan`. The scan has a connection of its own."""
        settings = self._config.resources[question.resource.name]
        lane = Lane(self._database)
        try:
            await lane.open()
            try:
                opened = await lane.run(
                    lambda connection: open_scan(connection, self._database, question, settings, self._values)
                )
            except DBAPIError as error:
                raise self._database.failed(error, f"reading {settings.table}") from None
            yield SqlScan(self._database, lane, question, self._values, opened)
        finally:
            await lane.close()

    async def read(self, resource: Resource, key: tuple[Value, ...], fields: Sequence[str]) -> Reading:
        """See `SourceReader.read`."""

        def work(connection: Connection) -> Reading:
            described = self._tables.of(connection, resource)
            if described.hides_rows:
                return Reading(Existence.UNKNOWN, reasons=(_hidden(described),))
            table = Rows(resource, described, self._values)
            rows = table.find(connection, table.with_key(key), fields, limit=2)
            if len(rows) > 1:
                detail = f"{described.place} has more than one row with this key"
                return Reading(
                    Existence.UNKNOWN, reasons=(Incompleteness(code=Reason.MALFORMED_RESPONSE, detail=detail),)
                )
            if len(rows) == 1:
                return Reading(Existence.FOUND, rows[0])
            if described.is_base:
                return Reading(Existence.GONE)
            detail = f"{described.place} is a {described.kind}: a row that it does not show may exist"
            return Reading(Existence.UNKNOWN, reasons=(Incompleteness(code=Reason.EXISTENCE_UNKNOWN, detail=detail),))

        return await self._ask(f"reading one row of {resource.name}", work)

    def most_keys(self, resource: Resource) -> int:
        """See `ReadsMany.most_keys`."""
        return MANY

    async def read_many(
        self, resource: Resource, keys: Sequence[tuple[Value, ...]], fields: Sequence[str]
    ) -> Mapping[tuple[Value, ...], Mapping[str, Cell]]:
        """See `ReadsMany.read_many`. Nothing is said of a key that two rows have."""

        def work(connection: Connection) -> Mapping[tuple[Value, ...], Mapping[str, Cell]]:
            described = self._tables.of(connection, resource)
            if described.hides_rows:
                return {}
            table = Rows(resource, described, self._values)
            wanted = tuple(dict.fromkeys((*resource.key, *fields)))
            limit = 2 * len(keys)
            rows = table.find(connection, or_(*map(table.with_key, keys)), wanted, limit=limit)
            if len(rows) == limit:
                return {}  # some were left out, and with them perhaps the second row of a key
            found: dict[tuple[Value, ...], list[Mapping[str, Cell]]] = {}
            for row in rows:
                key = tuple(value for name in resource.key if (value := row[name].value) is not None)
                found.setdefault(key, []).append({name: row[name] for name in fields})
            return {key: same[0] for key, same in found.items() if len(same) == 1}

        return await self._ask(f"reading {len(keys)} rows of {resource.name}", work)

    async def lookup(self, resource: Resource, field: str, value: Value, fields: Sequence[str]) -> Matches:
        """See `SourceReader.lookup`."""
        if not can_look_up(resource.fields[field]):
            msg = f"`{field}` can't be looked up by value"
            raise ValueError(msg)

        def work(connection: Connection) -> Matches:
            described = self._tables.of(connection, resource)
            if described.hides_rows:
                return Matches((), complete=False, reasons=(_hidden(described),))
            if not described.columns[field].readable:
                detail = f"the column `{field}` of {described.place} may not be read with this credential"
                return Matches(
                    (), complete=False, reasons=(Incompleteness(code=Reason.VISIBILITY_RESTRICTED, detail=detail),)
                )
            table = Rows(resource, described, self._values)
            condition = self._may_equal(table, field, value)
            return _matches(table.find(connection, condition, fields, limit=LOOKUP_ROWS + 1), described)

        return await self._ask(f"looking up `{field}` in {resource.name}", work)

    def most_values(self, resource: Resource, field: str) -> int:
        """See `LooksUpMany.most_values`."""
        return MANY

    async def lookup_many(
        self, resource: Resource, field: str, values: Sequence[Value], fields: Sequence[str]
    ) -> Mapping[Value, Matches]:
        """See `LooksUpMany.lookup_many`: one statement, whose rows the database itself gives to the values.

        Nothing is said where some rows were left out, and of a value that no row can have.
        """

        def work(connection: Connection) -> Mapping[Value, Matches]:
            described = self._tables.of(connection, resource)
            if described.hides_rows or not described.columns[field].readable:
                return {}
            table = Rows(resource, described, self._values)
            equal = dict(self._tests(table, field, values))
            if len(equal) < 2:
                return {}
            rows = table.find_told(
                connection, [*equal.values(), self._not_known(table, field)], fields, limit=LOOKUP_ROWS + 1
            )
            if len(rows) > LOOKUP_ROWS:
                return {}
            return {
                value: _matches(tuple(cells for cells, told in rows if told[nth] or told[-1]), described)
                for nth, value in enumerate(equal)
            }

        return await self._ask(f"looking up {len(values)} values of `{field}` in {resource.name}", work)

    async def count(self, resource: Resource) -> int:
        """See `SourceReader.count`."""

        def work(connection: Connection) -> int:
            described = self._tables.of(connection, resource)
            if described.hides_rows:
                raise SourceError(_hidden(described))
            counted: int = connection.execute(select(func.count()).select_from(described.table)).scalar_one()
            return counted

        return await self._ask(f"counting {resource.name}", work)

    async def collateral(self, resource: Resource, operation: str) -> Collateral:
        """See `ForeseesCollateral.collateral`."""
        named = resource.operations[operation]

        def work(connection: Connection) -> Collateral:
            described = self._tables.of(connection, resource)
            reach = Reaches(self._database).of(connection, described)
            return collateral(reach, described, named, self._config.resources[resource.name])

        return await self._ask(f"looking for triggers of {resource.name}", work)

    async def closures(
        self, resource: Resource, operation: str, keys: Sequence[tuple[Value, ...]]
    ) -> Sequence[ClosureFound]:
        """See `ForeseesClosure.closures`: all of them in one state of the database."""
        if len(keys) == 0 or resource.operations[operation].effect is not Effect.DELETE:
            return [ClosureFound() for _ in keys]
        vouched = frozenset(self._config.resources[resource.name].known_triggers)

        def work(connection: Connection) -> list[ClosureFound]:
            rows = Rows(resource, self._tables.of(connection, resource), self._values)
            reaches = Reaches(self._database)
            followed = Following(connection, reaches, rows, vouched, is_postgres=self._database.is_postgres)
            return [followed.closure(key) for key in keys]

        return await self._ask(f"looking for what goes with rows of {resource.name}", work)

    async def close(self) -> None:
        """See `SourceReader.close`."""
        await self._lanes.close()

    async def _ask(self, doing: str, work: Callable[[Connection], T]) -> T:
        try:
            async with self._lanes.lane() as lane:
                return await lane.run(reading(self._database, work))
        except DBAPIError as error:
            raise self._database.failed(error, doing) from None

    def _may_equal(self, table: Rows, field: str, value: Value) -> ColumnElement[bool]:
        """Return the test for rows whose field has this value, or none, or on SQLite one of another type."""
        for _, test in self._tests(table, field, [value]):
            return or_(test, self._not_known(table, field))
        # no row can have the value; those that have none are still to be told
        return table.described.table.c[field].is_(None)

    @staticmethod
    def _tests(table: Rows, field: str, values: Sequence[Value]) -> Iterator[tuple[Value, ColumnElement[bool]]]:
        """Yield the values that a row can have, with the test for them."""
        for value in values:
            try:
                yield value, table.equal(field, value)
            except ValueError:
                continue

    def _not_known(self, table: Rows, field: str) -> ColumnElement[bool]:
        """Return the test for rows whose field has no value, or none that is known: they may match any."""
        column = table.described.table.c[field]
        if not self._database.is_postgres:
            return or_(column.is_(None), not_as_declared(column, table.resource.fields[field].type))
        if table.described.columns[field].type == "numeric":
            # a number that is not whole, or too large for us, is not known as an `int`
            return or_(column.is_(None), column != func.trunc(column), func.abs(column) >= literal_column(str(2**63)))
        return column.is_(None)


def _matches(rows: tuple[Mapping[str, Cell], ...], described: Described) -> Matches:
    if len(rows) > LOOKUP_ROWS:
        detail = f"more than {LOOKUP_ROWS:,} rows of {described.place} match, or have no value there"
        reason = Incompleteness(code=Reason.CLIENT_LIMIT_REACHED, detail=detail, data={"value": LOOKUP_ROWS})
        return Matches(rows[:LOOKUP_ROWS], complete=False, reasons=(reason,))
    if not described.is_base:
        detail = f"{described.place} is a {described.kind}: rows that it does not show may exist"
        reason = Incompleteness(code=Reason.EXISTENCE_UNKNOWN, detail=detail)
        return Matches(rows, complete=False, reasons=(reason,))
    return Matches(rows, complete=True)


def _hidden(described: Described) -> Incompleteness:
    detail = f"row-level security is active on {described.place}: what this credential can't see may exist"
    return Incompleteness(code=Reason.VISIBILITY_RESTRICTED, detail=detail, data={"table": described.place})

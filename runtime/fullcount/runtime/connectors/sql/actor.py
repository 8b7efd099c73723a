"""The writing side of an SQL source: one row, in one short transaction, only if it still is what was seen.

Guarantees: a write is committed only if the row's incarnation, its version and every field that was read are what the
recheck saw, in the very state of the database in which the write happens: REPEATABLE READ on PostgreSQL, where a
concurrent change fails the write; under the write lock on SQLite. It never reaches a second row, nor rows of other
tables that would go or change with this one, and it sets off no trigger or rule that the configuration does not name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from fullcount.compiler.catalog import Effect
from fullcount.compiler.values import Cell
from fullcount.runtime.connectors.base import ActCall, ActResult, Outcome, SourceError
from fullcount.runtime.connectors.sql.config import SqlConfig
from fullcount.runtime.connectors.sql.database import LANES, Database, Lanes, reading
from fullcount.runtime.connectors.sql.described import Descriptions
from fullcount.runtime.connectors.sql.identity import identity
from fullcount.runtime.connectors.sql.precondition import delete_took_effect, update_took_effect
from fullcount.runtime.connectors.sql.reach import Reaches
from fullcount.runtime.connectors.sql.rows import Rows
from fullcount.runtime.connectors.sql.values import Values
from fullcount.runtime.connectors.sql.whole import whole_row
from fullcount.runtime.connectors.sql.write import Write
from fullcount.runtime.evidence.codes import ActReason, Reason

T = TypeVar("T")


class SqlActor:
    """Updates and deletes single rows. See `SourceActor`."""

    def __init__(self, source: str, config: SqlConfig, database: Database) -> None:
        self._config, self._database = config, database
        # SQLite has one writer at a time: more lanes would only wait for each other's lock
        self._lanes = Lanes(database, LANES if database.is_postgres else 1)
        self._values = Values(source, is_postgres=database.is_postgres, timezone=config.timezone)
        self._tables = Descriptions(database, config.resources)
        self._reaches = Reaches(database)

    @classmethod
    async def open(cls, source: str, config: SqlConfig) -> SqlActor:
        """Connect. Raises `SourceError`, and `WorkspaceError` for an address that can't be used."""
        address = config.url if config.act_url is None else config.act_url
        actor = cls(source, config, Database(config, address, writing=True))
        await actor.identity()
        return actor

    async def identity(self) -> Mapping[str, str]:
        """See `SourceActor.identity`."""
        return await self._look("connecting", lambda connection: identity(connection, self._database, self._config))

    async def perform(self, call: ActCall) -> ActResult:
        """See `SourceActor.perform`."""
        return await self.write(call)

    async def write(self, call: ActCall) -> ActResult:
        """Do the one write of a call: of this source, or of the one that this database is a part of."""
        settings = self._config.resources[call.resource.name]
        try:
            async with self._lanes.lane() as lane:
                return await lane.run(Write(self._tables, self._reaches, lane, settings, self._values, call).run)
        except SourceError as error:
            if error.reason.code is Reason.TIME_BUDGET_EXCEEDED:
                return ActResult(Outcome.UNKNOWN, ActReason.OUTCOME_UNKNOWN, error.reason.detail)
            # connecting failed, or the declaration does not fit: no write was sent
            return ActResult(Outcome.FAILED, None, f"nothing was written: {error.reason.detail}")

    async def back_up(self, call: ActCall) -> Mapping[str, Any] | None:
        """See `TakesBackups.back_up`. Of a table with columns that this credential may not read, none is taken."""
        resource = call.resource

        def work(connection: Connection) -> Mapping[str, Any] | None:
            described = self._tables.of(connection, resource)
            rows = Rows(resource, described, self._values)
            row = whole_row(connection, rows, call.key, is_postgres=self._database.is_postgres)
            return None if row is None else {"table": described.place, "row": row}

        return await self._look(f"reading one whole row of {resource.name}", work)

    async def took_effect(self, call: ActCall) -> bool | None:
        """See `SourceActor.took_effect`. Raises `SourceError` when the source can't be asked."""
        resource = call.resource
        if resource.operations[call.operation].restores:
            whole = await self.back_up(call)
            return False if whole is None else True if self._restored(call, whole) else None
        wanted = {name: value for name, value in call.arguments.items() if name not in resource.key}
        marks = {name for name in (resource.incarnation, resource.version) if name is not None}
        names = sorted({*call.expected, *wanted, *marks} & set(resource.fields))
        settings = self._config.resources[resource.name]

        def work(connection: Connection) -> Mapping[str, Cell] | None:
            rows = Rows(resource, self._tables.of(connection, resource), self._values)
            found = rows.find(connection, rows.with_key(call.key), names, limit=1)
            return found[0] if len(found) == 1 else None

        now = await self._look(f"reading one row of {resource.name}", work)
        if resource.operations[call.operation].effect is Effect.DELETE:
            return delete_took_effect(call, now)
        return update_took_effect(call, wanted, now, managed=settings.version_managed)

    def _restored(self, call: ActCall, now: Mapping[str, Any]) -> bool:
        return call.backup is not None and call.backup.content == now

    async def close(self) -> None:
        """See `SourceActor.close`."""
        await self._lanes.close()

    async def _look(self, doing: str, work: Callable[[Connection], T]) -> T:
        try:
            async with self._lanes.lane() as lane:
                return await lane.run(reading(self._database, work))
        except DBAPIError as error:
            raise self._database.failed(error, doing) from None

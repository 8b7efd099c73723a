"""One conditional write in one transaction, and what every possible end of it means.

Guarantees: up to the commit every failure leaves nothing behind, and its outcome says so. After a commit without an
answer nobody knows, and the outcome says that. Runs in the thread of its lane.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, delete, update
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.types import NullType

from fullcount.compiler.catalog import Effect
from fullcount.compiler.values import Cell, Value, present
from fullcount.runtime.connectors.base import ActCall, ActResult, ErrorClass, Outcome, StoredBackup
from fullcount.runtime.connectors.sql.closure import Following
from fullcount.runtime.connectors.sql.config import SqlResource
from fullcount.runtime.connectors.sql.database import Lane, reading
from fullcount.runtime.connectors.sql.described import Described, Descriptions
from fullcount.runtime.connectors.sql.errors import Cause, cause_of
from fullcount.runtime.connectors.sql.precondition import difference, fields_to_compare
from fullcount.runtime.connectors.sql.reach import Reaches, collateral, goes_with
from fullcount.runtime.connectors.sql.rows import Rows
from fullcount.runtime.connectors.sql.values import Values
from fullcount.runtime.connectors.sql.whole import WholeRow, put_back, whole_row
from fullcount.runtime.evidence.codes import ActReason, Reason
from fullcount.runtime.plan.cells import to_json


class _GiveUpError(Exception):
    """The transaction ends here, with nothing written."""

    def __init__(self, outcome: Outcome, detail: str = "", reason: ActReason | None = None) -> None:
        super().__init__(detail)
        self.result = ActResult(outcome, reason, detail)


@dataclass(frozen=True, slots=True)
class Write:
    """One call, ready to run."""

    tables: Descriptions
    reaches: Reaches
    lane: Lane
    settings: SqlResource
    values: Values
    call: ActCall

    def run(self, connection: Connection) -> ActResult:
        """Do it, once. Raises `SourceError` only before anything was sent to be written."""
        try:
            described = self.tables.known(connection, self.call.resource)
            connection.exec_driver_sql(self._begin(connection, described))
            before = self._write(connection, described)
        except _GiveUpError as given_up:
            connection.exec_driver_sql("ROLLBACK")
            return given_up.result
        except DBAPIError as error:
            return self._failed(connection, error)
        try:
            connection.exec_driver_sql("COMMIT")
        except DBAPIError as error:
            return self._commit_failed(connection, error)
        return ActResult(Outcome.DONE, before=before)

    def _begin(self, connection: Connection, described: Described) -> str:
        """Return the statements that open the transaction.

        On PostgreSQL its state is chosen by the first query: the table is locked before, so that no trigger or
        reference can be made that the write would set off and the state does not show. A credential that has rights on
        columns only can't do so.
        """
        database = self.tables.database
        opened = database.begin(writing=True)
        if not (database.is_postgres and described.is_base and described.lockable):
            return opened
        quote = connection.dialect.identifier_preparer.quote_identifier
        return f"{opened}; LOCK TABLE {quote(described.schema)}.{quote(described.name)} IN ROW EXCLUSIVE MODE"

    def _write(self, connection: Connection, described: Described) -> Mapping[str, Any]:
        call, resource = self.call, self.call.resource
        if not described.is_base:
            raise _GiveUpError(Outcome.REFUSED, f"{described.place} is a {described.kind}, not a table")
        rows = Rows(resource, described, self.values)
        wanted = self._wanted()
        if resource.operations[call.operation].restores:
            self._restore(connection, rows)
            return {}
        deleting = resource.operations[call.operation].effect is Effect.DELETE
        names = sorted({*fields_to_compare(call), *(resource.fields if deleting else wanted)})
        condition = rows.with_key(call.key)
        now = self._only_row(rows.find(connection, condition, names, limit=2))
        found = difference(call, now)
        if found is not None:
            outcome = Outcome.CHANGED if found.verifiable else Outcome.REFUSED
            raise _GiveUpError(outcome, found.detail, ActReason.PRECONDITION_FAILED)
        if call.backup is not None and self._whole(connection, rows) != self._stored(call.backup):
            detail = "it changed since its backup was taken"
            raise _GiveUpError(Outcome.CHANGED, detail, ActReason.PRECONDITION_FAILED)
        guarded = self._guarded(rows, condition)
        self._reaches_no_further(connection, described, condition, wanted)
        if deleting:
            self._delete(connection, rows, guarded)
        else:
            self._update(connection, rows, guarded, wanted)
        return {name: _json(resource.fields[name].type, now[name]) for name in names if deleting or name in wanted}

    def _restore(self, connection: Connection, rows: Rows) -> None:
        """Put the row of the backup back where nothing stands under its key, and see that it is the very same."""
        backup = self.call.backup
        if backup is None:
            raise _GiveUpError(Outcome.REFUSED, "there is no backup to restore from")
        row = self._stored(backup)
        if self._whole(connection, rows) is not None:
            detail = "a row stands under its key again"
            raise _GiveUpError(Outcome.CHANGED, detail, ActReason.PRECONDITION_FAILED)
        self._sets_off_nothing(connection, rows.described)
        try:
            put_back(connection, rows.described, row, is_postgres=self.tables.database.is_postgres)
        except ValueError as error:
            raise _GiveUpError(Outcome.REFUSED, f"it can't be restored: {error}") from None
        if self._whole(connection, rows) != row:
            raise _GiveUpError(Outcome.REFUSED, "the database made something else of the row that was put back")

    def _whole(self, connection: Connection, rows: Rows) -> WholeRow | None:
        return whole_row(connection, rows, self.call.key, is_postgres=self.tables.database.is_postgres)

    def _stored(self, backup: StoredBackup) -> WholeRow:
        row = None if backup.content is None else backup.content.get("row")
        if not isinstance(row, dict):
            raise _GiveUpError(Outcome.REFUSED, "what its backup holds is not known")
        return row

    def _sets_off_nothing(self, connection: Connection, described: Described) -> None:
        """Give up if the write would set off a trigger or a rule that nobody has vouched for."""
        operation = self.call.resource.operations[self.call.operation]
        unknown = collateral(self.reaches.of(connection, described), described, operation, self.settings).unknown
        if len(unknown) > 0:
            detail = f"{' and '.join(unknown)}, and may change what nobody approved"
            raise _GiveUpError(Outcome.REFUSED, detail, ActReason.COLLATERAL_CHANGE)

    def _reaches_no_further(
        self, connection: Connection, described: Described, condition: ColumnElement[bool], wanted: Mapping[str, Value]
    ) -> None:
        """Give up if the write would change, or set off a change of, anything but its one row."""
        operation = self.call.resource.operations[self.call.operation]
        reach = self.reaches.of(connection, described)
        self._sets_off_nothing(connection, described)
        if self.call.closure is not None:
            self._takes_no_more(connection, described, self.call.closure)
            return
        lost = goes_with(connection, reach, described, condition, operation.effect, wanted)
        if lost is not None:
            detail = f"rows of {lost} refer to it and would go, change or lose their reference with it"
            raise _GiveUpError(Outcome.REFUSED, detail, ActReason.COLLATERAL_CHANGE)

    def _takes_no_more(self, connection: Connection, described: Described, planned: Mapping[str, int]) -> None:
        """Give up if more would go along than the plan counted, or an object like this one."""
        rows = Rows(self.call.resource, described, self.values)
        vouched = frozenset(self.settings.known_triggers)
        is_postgres = self.tables.database.is_postgres
        found = Following(connection, self.reaches, rows, vouched, is_postgres=is_postgres).closure(self.call.key)
        if found.unknown is not None:
            detail = f"what goes with it can't be told: {found.unknown}"
            raise _GiveUpError(Outcome.REFUSED, detail, ActReason.COLLATERAL_CHANGE)
        if len(found.own) > 0:
            named = ", ".join(str(part) for part in found.own[0])
            detail = f"the object {named} would go or change with it, and was not acted on itself"
            raise _GiveUpError(Outcome.CHANGED, detail, ActReason.COLLATERAL_CHANGE)
        for what, number in found.counts.items():
            if number > planned.get(what, 0):
                detail = (
                    f"more goes with it than was approved: {what}: {number}, and {planned.get(what, 0)} in the plan"
                )
                raise _GiveUpError(Outcome.CHANGED, detail, ActReason.COLLATERAL_CHANGE)

    def _wanted(self) -> dict[str, Value]:
        """Return the columns to write, after checking that the call says nothing else."""
        call, resource = self.call, self.call.resource
        operation = resource.operations.get(call.operation)
        if operation is None:
            raise _GiveUpError(Outcome.REFUSED, f"`{resource.name}` has no operation `{call.operation}`")
        for name in call.arguments:
            if name not in operation.parameters:
                raise _GiveUpError(Outcome.REFUSED, f"`{name}` is not something that `{call.operation}` may write")
        for name, value in zip(resource.key, call.key, strict=True):
            if call.arguments.get(name, value) != value:
                raise _GiveUpError(Outcome.REFUSED, f"the call names another object: `{name}` differs from the key")
        wanted = {name: value for name, value in call.arguments.items() if name not in resource.key}
        if operation.effect is Effect.UPDATE and not wanted:
            raise _GiveUpError(Outcome.REFUSED, "the call names no field to write")
        return wanted

    def _only_row(self, found: Sequence[Mapping[str, Cell]]) -> Mapping[str, Cell]:
        if len(found) == 0:
            raise _GiveUpError(Outcome.ALREADY_GONE)
        if len(found) > 1:
            raise _GiveUpError(Outcome.REFUSED, "more than one row has this key")
        return found[0]

    def _guarded(self, rows: Rows, condition: ColumnElement[bool]) -> ColumnElement[bool]:
        """Add the version to the key, where the database can compare it as we do."""
        version = self.call.resource.version
        if version is None:
            return condition
        cell = self.call.expected[version]
        if not isinstance(cell.value, int | str) or rows.values.is_spelled_freely(rows.resource.fields[version]):
            return condition
        return condition & rows.equal(version, cell.value)

    def _delete(self, connection: Connection, rows: Rows, condition: ColumnElement[bool]) -> None:
        table = rows.described.table
        key = [table.c[name] for name in rows.resource.key]
        _exactly_one(connection.execute(delete(table).where(condition).returning(*key)).all())

    def _update(
        self, connection: Connection, rows: Rows, condition: ColumnElement[bool], wanted: Mapping[str, Value]
    ) -> None:
        table, resource = rows.described.table, rows.resource
        new: dict[str, Any] = {}
        for name, value in wanted.items():
            try:
                encoded = rows.values.encode(resource.fields[name], rows.described.columns[name], value)
            except ValueError as error:
                raise _GiveUpError(Outcome.REFUSED, f"`{name}` can't be written: {error}") from None
            new[name] = bindparam(None, encoded, type_=NullType())
        if self.settings.version_managed and resource.version is not None:
            new[resource.version] = table.c[resource.version] + 1
        written = [name for name in wanted if rows.described.columns[name].readable]
        returned = [table.c[name] for name in (*resource.key, *written)]
        found = connection.execute(update(table).where(condition).values(new).returning(*returned)).all()
        _exactly_one(found)
        cells = rows.cells(written, dict(zip(written, found[0][len(resource.key) :], strict=True)))
        for name in written:
            if cells[name] != present(wanted[name]):
                raise _GiveUpError(Outcome.REFUSED, f"the database made something else of `{name}` (a trigger?)")

    # --- what a failure means ---------------------------------------------------------------------------------------

    def _failed(self, connection: Connection, error: DBAPIError) -> ActResult:
        """Say what a failure before the commit means: nothing was written."""
        cause = cause_of(error, self.tables.database.secret)
        self._abandon(connection, error)
        return self._judge(connection, error, cause)

    def _commit_failed(self, connection: Connection, error: DBAPIError) -> ActResult:
        cause = cause_of(error, self.tables.database.secret)
        self._abandon(connection, error)
        if not cause.answered:
            return ActResult(Outcome.UNKNOWN, ActReason.OUTCOME_UNKNOWN, f"no answer to the commit: {cause.message}")
        return self._judge(connection, error, cause)

    def _judge(self, connection: Connection, error: DBAPIError, cause: Cause) -> ActResult:
        told = f"nothing was written: {cause.message}"
        if cause.code == "40001":
            return self._look_again(connection)
        if isinstance(error, IntegrityError):
            return ActResult(Outcome.REFUSED, None, told)
        if cause.reason is Reason.VISIBILITY_RESTRICTED or cause.code.startswith("SQLITE_READONLY"):
            return ActResult(Outcome.REFUSED, None, f"{told} (with the credential for acting)")
        passes = cause.reason in {Reason.SOURCE_UNAVAILABLE, Reason.SNAPSHOT_CHANGED}
        return ActResult(Outcome.FAILED, None, told, trouble=ErrorClass.TRANSIENT if passes else ErrorClass.PERMANENT)

    def _look_again(self, connection: Connection) -> ActResult:
        """Another transaction wrote the row at the same moment: tell whether it is gone."""

        def work(inner: Connection) -> bool:
            described = self.tables.of(inner, self.call.resource)
            rows = Rows(self.call.resource, described, self.values)
            return len(rows.find(inner, rows.with_key(self.call.key), self.call.resource.key, limit=1)) == 0

        try:
            gone = reading(self.tables.database, work)(connection)
        except DBAPIError as error:
            self._abandon(connection, error)
            gone = False
        if gone:
            return ActResult(Outcome.ALREADY_GONE)
        detail = "another transaction changed it at the same moment"
        return ActResult(Outcome.CHANGED, ActReason.PRECONDITION_FAILED, detail)

    def _abandon(self, connection: Connection, error: DBAPIError) -> None:
        """Roll back; a connection that can't even do that is not used again, and rolls back by being closed."""
        if error.connection_invalidated:
            self.lane.broken = True
            return
        try:
            connection.exec_driver_sql("ROLLBACK")
        except DBAPIError:
            # SQLite has rolled back by itself after some failures, and says that there is nothing left to roll back
            self.lane.broken = True


def _exactly_one(found: Sequence[Any]) -> None:
    if len(found) == 0:
        raise _GiveUpError(Outcome.REFUSED, "the database suppressed the write (a trigger or a rule?)")
    if len(found) > 1:
        raise _GiveUpError(Outcome.REFUSED, f"the write would have reached {len(found)} rows")


def _json(type_: Any, cell: Cell) -> Any:
    return None if cell.value is None else to_json(cell.value, type_)

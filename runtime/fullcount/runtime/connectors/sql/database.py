"""One database as one side of a source sees it, and its connections: each used by one thread only, and really async.

Guarantees: a reading side can't write (a read-only file on SQLite, READ ONLY transactions on PostgreSQL); every
transaction states what it relies on, so that nothing depends on a session's defaults; a cancelled call interrupts the
statement instead of leaving it behind.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sqlite3
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import NullPool

from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.connectors.sql.config import SqlConfig
from fullcount.runtime.connectors.sql.errors import source_error
from fullcount.runtime.evidence.codes import Reason, Way
from fullcount.runtime.evidence.envelope import Continuation, Incompleteness
from fullcount.runtime.workspace.errors import WorkspaceError
from fullcount.runtime.workspace.secrets import DatabaseUrl

T = TypeVar("T")

LANES = 4
"""How many connections one side of a source keeps at most for single reads or acts."""

CANCELLED_WITHIN = 2.0
"""Seconds that a server has to take a cancellation."""
INTERRUPTED_WITHIN = 5.0
"""Seconds that what runs has to end once it was interrupted."""


class Database:
    """Where a source's tables are, with the credential of one side. Holds a secret: never show it."""

    def __init__(self, config: SqlConfig, address: DatabaseUrl, *, writing: bool) -> None:
        """Raises `WorkspaceError` FC605, FC607 or FC611. Contacts nothing."""
        try:
            url = make_url(address.resolve())
        except (ArgumentError, ValueError):
            raise WorkspaceError("FC607", "an address of the source can't be read") from None
        self.config = config
        self.writing = writing
        self.is_postgres = url.get_backend_name() == "postgresql"
        self.path = url.database or ""
        self.secret = str(url.password) if url.password is not None else None
        self._timeout = config.statement_timeout
        if self.is_postgres:
            self._engine = self._postgres_engine(url.set(drivername="postgresql+psycopg"))
        else:
            self._engine = self._sqlite_engine()

    def _postgres_engine(self, url: Any) -> Engine:
        arguments = {"connect_timeout": max(1, round(self.config.connect_timeout)), "application_name": "fullcount"}
        try:
            return create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT", connect_args=arguments)
        except ImportError:
            message = "the PostgreSQL driver is not installed"
            raise WorkspaceError("FC611", message, help='pip install "fullcount[postgres]"') from None

    def _sqlite_engine(self) -> Engine:
        mode = "rw" if self.writing else "ro"
        uri = f"file:{quote(self.path)}?mode={mode}"

        def connect() -> sqlite3.Connection:
            connection = sqlite3.connect(uri, uri=True, timeout=self.config.busy_timeout, isolation_level=None)
            if self.writing:
                # without it SQLite lets a delete leave rows behind that point to nothing
                connection.execute("PRAGMA foreign_keys = ON")
            else:
                connection.execute("PRAGMA query_only = ON")
            return connection

        return create_engine("sqlite://", creator=connect, poolclass=NullPool, isolation_level="AUTOCOMMIT")

    def begin(self, *, writing: bool = False) -> str:
        """Return the statements that open a transaction."""
        if not self.is_postgres:
            return "BEGIN IMMEDIATE" if writing else "BEGIN DEFERRED"
        access = "READ WRITE" if writing else "READ ONLY"
        settings = {
            "TimeZone": "'UTC'",
            "DateStyle": "'ISO'",
            "IntervalStyle": "'postgres'",
            "row_security": "off",  # what a policy would hide becomes an error (42501)
            "lock_timeout": f"{round(self.config.busy_timeout * 1000)}",
        }
        if self._timeout is not None:
            settings["statement_timeout"] = f"{max(1, round(self._timeout * 1000))}"
        local = "".join(f"; SET LOCAL {name} = {value}" for name, value in settings.items())
        return f"BEGIN ISOLATION LEVEL REPEATABLE READ {access}{local}"

    def failed(self, error: DBAPIError, doing: str, *, within_scan: bool = False) -> SourceError:
        """Return the error to raise for a driver's exception. One of an SQLite file names the file."""
        if self.is_postgres:
            return source_error(error, doing, within_scan=within_scan, secret=self.secret)
        if self.path and not Path(self.path).exists():
            detail = f"there is no file `{self.path}`; see `url` of the source in fullcount.toml"
            return SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE, detail=detail))
        return source_error(error, f"{doing} in `{self.path}`", within_scan=within_scan)

    @property
    def patience(self) -> float | None:
        """How long a call may take before it is interrupted from here; PostgreSQL keeps its own time."""
        return None if self.is_postgres else self._timeout

    def connect(self) -> Connection:
        """Connect, in the thread that will use the connection."""
        return self._engine.connect()


class Lane:
    """One connection and the one thread that uses it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="fullcount-sql")
        self._connection: Connection | None = None
        self.broken = False

    async def open(self) -> None:
        """Connect. Raises `SourceError`."""
        try:
            await self._in_thread(self._connect)
        except DBAPIError as error:
            self._thread.shutdown(wait=False)
            raise self._database.failed(error, "connecting") from None

    def _connect(self) -> None:
        self._connection = self._database.connect()
        if self._database.is_postgres:
            from fullcount.runtime.connectors.sql.postgres_types import exact_intervals

            driver: Any = self._connection.connection.driver_connection
            exact_intervals(driver)

    async def run(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on the connection. Raises `DBAPIError`, and `SourceError` when the time for it is over.

        After any failure the lane is `broken` and does nothing more: its transaction is gone, and a connection that
        came back by itself would read from another state.
        """
        if self.broken:
            reason = Incompleteness(code=Reason.CURSOR_EXPIRED, detail="the state of the scan went with its connection")
            raise SourceError(reason, continuation=Continuation(way=Way.RESTART, preserves_snapshot=False))

        def call() -> T:
            if self._connection is None:
                msg = "the lane is not open"
                raise RuntimeError(msg)
            return work(self._connection)

        try:
            async with asyncio.timeout(self._database.patience):
                return await self._in_thread(call)
        except TimeoutError:
            self.broken = True
            reason = Incompleteness(
                code=Reason.TIME_BUDGET_EXCEEDED,
                detail=f"a statement took longer than {self._database.patience:g} s (`statement_timeout`)",
            )
            raise SourceError(reason) from None
        except BaseException:
            self.broken = True
            raise

    async def _in_thread(self, call: Callable[[], T]) -> T:
        future = asyncio.get_running_loop().run_in_executor(self._thread, call)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            if await asyncio.to_thread(self._interrupt):
                await asyncio.wait({future}, timeout=INTERRUPTED_WITHIN)
            if not future.done():
                await asyncio.to_thread(self._cut)
                await asyncio.wait({future}, timeout=INTERRUPTED_WITHIN)
            if future.done() and not future.cancelled():
                future.exception()  # it was interrupted; what it says no longer matters to anyone
            raise

    def _driver(self) -> Any:
        if self._connection is None or self._connection.closed:
            return None
        return self._connection.connection.driver_connection

    def _interrupt(self) -> bool:
        """Ask for an end of what runs; return whether that was heard."""
        driver = self._driver()
        if driver is None:
            return True
        if isinstance(driver, sqlite3.Connection):
            driver.interrupt()
            return True
        try:
            driver.cancel_safe(timeout=CANCELLED_WITHIN)
        except driver.Error:
            return False  # a server that says nothing does not hear this either
        return True

    def _cut(self) -> None:
        """Wake the thread that waits for a server's answer, which would hold every later call, and the closing too."""
        driver = self._driver()
        if driver is None or isinstance(driver, sqlite3.Connection):
            return
        # a second handle on the line: the driver keeps its own, and sees an end of it; closed meanwhile, nobody waits
        with suppress(OSError, driver.Error), socket.socket(fileno=os.dup(driver.fileno())) as line:
            line.shutdown(socket.SHUT_RDWR)

    async def close(self) -> None:
        """Disconnect; an open transaction is rolled back by that."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            with suppress(DBAPIError):  # a connection that is already lost is closed enough
                await self._in_thread(connection.close)
        self._thread.shutdown(wait=False)


class Lanes:
    """A few lanes, opened when needed and kept for the next call."""

    def __init__(self, database: Database, size: int = LANES) -> None:
        self._database = database
        self._free: list[Lane] = []
        self._slots = asyncio.Semaphore(size)

    @asynccontextmanager
    async def lane(self) -> AsyncIterator[Lane]:
        """Borrow a lane. Raises `SourceError` when connecting fails."""
        async with self._slots:
            lane = self._free.pop() if self._free else None
            if lane is None:
                lane = Lane(self._database)
                await lane.open()
            try:
                yield lane
            finally:
                if lane.broken:
                    await lane.close()
                else:
                    self._free.append(lane)

    async def close(self) -> None:
        """Close the lanes that nobody uses."""
        while self._free:
            await self._free.pop().close()


def reading(database: Database, work: Callable[[Connection], T]) -> Callable[[Connection], T]:
    """Wrap `work` into one transaction that is rolled back when it is done; a failure leaves that to the closing."""

    def run(connection: Connection) -> T:
        connection.exec_driver_sql(database.begin())
        result = work(connection)
        connection.exec_driver_sql("ROLLBACK")
        return result

    return run

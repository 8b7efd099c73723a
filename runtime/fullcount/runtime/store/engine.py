"""Opening the database, and what must hold for each connection.

SQLite: write-ahead log with `synchronous=FULL` (an intent that was committed survives a power cut), foreign keys,
writers begin as writers (`BEGIN IMMEDIATE`), so that two never decide on the same old state. PostgreSQL: the driver is
psycopg, writers take turns on the journal's head row. The file of an embedded store is made readable by its owner only:
it holds approval keys.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from fullcount.runtime.store.errors import StoreUnavailable

WRITES = "fullcount_writes"
"""Execution option of connections that begin as writers."""

BUSY_SECONDS = 30


def make_engine(url: str) -> Engine:
    """Return an engine for a SQLite file or a PostgreSQL database. Raises `StoreUnavailable`."""
    found = parsed(url)
    return _sqlite(found) if found.get_backend_name() == "sqlite" else postgresql(found)


def writer(engine: Engine) -> Engine:
    """Return the same engine, for transactions that write."""
    return engine.execution_options(**{WRITES: True})


def parsed(url: str) -> URL:
    """Return the parts of an address. Raises `StoreUnavailable`."""
    try:
        found = make_url(url)
    except ArgumentError as error:
        raise StoreUnavailable(
            "FC730",
            "the address of the store can't be read",
            help="write it as `sqlite:///.fullcount/state.db` or `postgresql://user@host/database`",
        ) from error
    if found.get_backend_name() not in {"sqlite", "postgresql"}:
        raise StoreUnavailable(
            "FC730",
            f"the store can't be kept in a `{found.get_backend_name()}` database",
            help="use a file (`sqlite:///.fullcount/state.db`) or PostgreSQL (`postgresql://…`)",
        )
    return found


def check_file(url: URL) -> None:
    """Raise `StoreUnavailable` unless the address names a file that lasts."""
    if url.database is None or url.database in {"", ":memory:"} or url.database.startswith("file:"):
        raise StoreUnavailable(
            "FC730",
            "the store must be a file: a record that ends with the process proves nothing",
            help="name a file, such as `sqlite:///.fullcount/state.db`",
        )


def _sqlite(url: URL) -> Engine:
    check_file(url)
    _owned_by_us(Path(str(url.database)))
    engine = create_engine(url.set(drivername="sqlite+pysqlite"), connect_args={"timeout": BUSY_SECONDS})

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        # the driver must not begin transactions by itself: it would begin them late, and as readers
        connection.isolation_level = None
        # damaged text must be seen as what it is, a text that does not fit its hash
        connection.text_factory = readable
        for pragma in (
            "journal_mode=WAL",
            "synchronous=FULL",
            "foreign_keys=ON",
            "recursive_triggers=ON",  # without it, INSERT OR REPLACE would remove a row unseen by its delete trigger
            "trusted_schema=OFF",
        ):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(WRITES, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def readable(data: bytes) -> str:
    """Return stored text; bytes that are none are shown as what they are."""
    return data.decode("utf-8", "backslashreplace")


def _owned_by_us(path: Path) -> None:
    """Make the file, if it is not there, so that nobody else can ever have read it."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise StoreUnavailable(
            "FC730",
            f"the store `{path}` can't be opened: {error.strerror}",
            help="check that the folder exists and that you may write to it",
        ) from error


def postgresql(url: URL) -> Engine:
    """Return an engine for PostgreSQL. Raises `StoreUnavailable` without its driver."""
    try:
        return create_engine(
            url.set(drivername="postgresql+psycopg"), pool_pre_ping=True, connect_args={"connect_timeout": 10}
        )
    except (NoSuchModuleError, ModuleNotFoundError) as error:
        raise StoreUnavailable(
            "FC730",
            "a store on PostgreSQL needs the driver `psycopg`, which is not installed",
            help="install `fullcount[postgres]`",
        ) from error

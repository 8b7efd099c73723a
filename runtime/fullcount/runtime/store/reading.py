"""Opening the database for somebody who may only read it: an auditor, a reviewer, a backup.

Guarantees: nothing is made, changed or migrated, neither the database nor a file beside it; what is read is one state
of everything. SQLite keeps the newest entries in a log beside the file for as long as somebody has it open: with such a
log it is read through it (`mode=ro`); without one, nobody has it open and it is read as it lies (`immutable=1`), since
anything else would make files in the folder, which then belong to the reader and lock the owner out. That nobody came
meanwhile is checked after each reading.
"""

from __future__ import annotations

import os
import pwd
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from sqlalchemy import Connection, Engine, QueuePool, create_engine, event

from fullcount.runtime.store.engine import BUSY_SECONDS, check_file, parsed, postgresql, readable
from fullcount.runtime.store.errors import StoreMissing, StoreUnavailable


class Watch(Protocol):
    """What tells whether the database stood still while it was read."""

    def check(self) -> None:
        """Raise `StoreUnavailable` if what was read since the opening may be of two states."""
        ...


@dataclass(frozen=True, slots=True)
class Steady:
    """A database that gives each reader one state by itself."""

    def check(self) -> None:
        """Nothing can have moved."""


@dataclass(frozen=True, slots=True)
class Lying:
    """A file that was not open anywhere: as it lay, and how to see that it still does."""

    path: Path
    seen: tuple[int, int, int]

    def check(self) -> None:
        """Raise `StoreUnavailable` if a writer came."""
        if _beside(self.path, "-wal").exists() or _seen(self.path) != self.seen:
            raise StoreUnavailable(
                "FC730",
                "the store was written to while it was read, so what was read may be of two states",
                help="run the same command again",
            )


def reading_engine(url: str) -> tuple[Engine, Watch]:
    """Return an engine that can't write, and what to ask after each reading.

    Raises `StoreMissing`, `StoreUnavailable`.
    """
    found = parsed(url)
    if found.get_backend_name() == "postgresql":
        return postgresql(found).execution_options(postgresql_readonly=True), Steady()
    check_file(found)
    path = Path(str(found.database)).absolute()
    still = _look(path)
    how = "mode=ro" if isinstance(still, Steady) else "mode=ro&immutable=1"
    name = f"file:{quote(str(path))}?{how}"

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(name, uri=True, timeout=BUSY_SECONDS, check_same_thread=False, isolation_level=None)

    engine = create_engine("sqlite+pysqlite://", creator=connect, poolclass=QueuePool)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        connection.text_factory = readable
        for pragma in ("query_only=ON", "trusted_schema=OFF"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN")

    return engine, still


def _look(path: Path) -> Watch:
    """Return how the file can be read. Raises `StoreMissing`, `StoreUnavailable`."""
    try:
        with path.open("rb") as file:
            empty = file.read(1) == b""
        log, index = _beside(path, "-wal").exists(), _beside(path, "-shm").exists()
        half = _beside(path, "-journal").exists()
        owner = path.stat().st_uid
        seen = _seen(path)
    except FileNotFoundError:
        empty = True
    except OSError as error:
        raise StoreUnavailable(
            "FC730", f"the store `{path}` can't be read: {error.strerror}", help=_open(path)
        ) from error
    if empty:
        raise missing(f"at `{path}`")
    if not log and not half:
        return Lying(path, seen)
    # Whoever reads it first would have to mend it, and would own what mending makes.
    if (half or not index) and os.geteuid() not in {0, owner}:
        raise StoreUnavailable(
            "FC730",
            f"the store `{path}` was left in the middle of something, and only its owner can have that finished",
            help=f"let {_name(owner)} run `fullcount runs` on it once, or read a backup",
        )
    return Steady()


def missing(where: str) -> StoreMissing:
    """Return the error of a store that is not there."""
    return StoreMissing(
        "FC732",
        f"there is no store yet {where}",
        help="`fullcount plan FILE` makes one; if something was planned here before, find out where it went",
    )


def _seen(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _open(path: Path) -> str:
    """Return who can let the reader in, as far as that can be seen."""
    folder = path.parent
    try:
        owner = folder.stat().st_uid if not os.access(folder, os.X_OK) else path.stat().st_uid
    except OSError:
        return "ask whoever it belongs to for the right to read the file and to enter its folder"
    return (
        f"it belongs to {_name(owner)}: ask for the right to read the file and to enter its folder, or for a copy of"
        " all of it"
    )


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid:{uid}"

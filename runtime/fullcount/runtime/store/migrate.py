"""Bringing a database to this version's tables, once, whoever opens it first.

Guarantees: the whole change is one transaction under a lock, so that two openers can't both migrate and a crash leaves
the old state; a database from a newer version is refused, never guessed at.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine, inspect, text

from fullcount.runtime.store.errors import StoreTooNew, StoreTooOld, StoreUnavailable
from fullcount.runtime.store.reading import missing

REVISION: Final = "0011"
"""The revision that this version's tables are at; a test holds it equal to the newest migration."""

KNOWN: Final = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009", "0010", "0011")
"""Every revision that this version knows, oldest first."""

_LOCK: Final = 0x46554C4C  # any constant will do, as long as all versions share it


def migrate(writer: Engine) -> None:
    """Create or upgrade the tables. Raises `StoreTooNew`, `StoreUnavailable`."""
    with writer.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        found = _revision(connection)
        if found == REVISION:
            return
        _not_newer(found)
        _upgrade(connection)


def check_revision(engine: Engine) -> None:
    """Make sure that the tables are this version's, and change nothing.

    Raises `StoreMissing`, `StoreTooOld`, `StoreTooNew`, `StoreUnavailable`.
    """
    with engine.connect() as connection:
        found = _revision(connection)
    if found == REVISION:
        return
    _not_newer(found)
    if found is None:
        raise missing("at this address: it has no tables")
    raise StoreTooOld(
        "FC735",
        f"the store is at revision `{found}`, this version reads revision `{REVISION}`, and reading changes nothing",
        help="any command that writes brings it up to date, such as `fullcount plan FILE`, run by somebody who may",
    )


def _not_newer(found: str | None) -> None:
    if found is not None and found not in KNOWN:
        raise StoreTooNew(
            "FC731",
            f"the store is at revision `{found}`, and this version knows revisions up to `{REVISION}` only",
            help="a newer version of fullcount has written to it: use that version or a later one",
        )


def _revision(connection: Connection) -> str | None:
    tables = set(inspect(connection).get_table_names())
    if "alembic_version" in tables:
        found = connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all()
        if len(found) == 1:
            return str(found[0])
        if len(found) > 1 or "journal" in tables:
            raise StoreUnavailable(
                "FC730",
                "the store does not say which revision it is at",
                help="restore it from a backup",
            )
        return None
    if tables and connection.dialect.name == "sqlite":
        raise StoreUnavailable(
            "FC730",
            f"the file is a database of something else: it has the tables {', '.join(sorted(tables)[:5])}",
            help="name another file for the store",
        )
    return None


def _upgrade(connection: Connection) -> None:
    # Alembic takes a while to import, and most openings need nothing of it
    command = importlib.import_module("alembic.command")
    config_class = importlib.import_module("alembic.config").Config
    config = config_class()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, REVISION)

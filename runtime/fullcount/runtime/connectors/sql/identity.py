"""Who is connected, and to what: facts that tell one database from another, without secrets.

`target_…` facts name the system: on PostgreSQL dialect, address, database, the cluster's own identifier, and the full
name of each table that a search path chose; on SQLite the file's real path. Of each resource they say which table it
is. A file's device and inode are told beside it but do not name the target, because an atomic replacement of the file
changes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, text

from fullcount.runtime.connectors.base import TARGET_OBJECTS
from fullcount.runtime.connectors.local_user import local_user
from fullcount.runtime.connectors.sql.config import SqlConfig
from fullcount.runtime.connectors.sql.database import Database

_WHO = text("""
    SELECT current_user AS role, session_user AS login, current_database() AS database,
           (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()) AS oid,
           has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE') AS may_ask
""")
_PLACE = text("""
    SELECT n.nspname || '.' || c.relname FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = pg_catalog.to_regclass(:name)
""")


def identity(connection: Connection, database: Database, config: SqlConfig) -> Mapping[str, str]:
    """Return the facts; inside a transaction, in the lane's thread. Raises `DBAPIError`."""
    if not database.is_postgres:
        path = Path(database.path).resolve()
        status = path.stat()
        return {
            "target_dialect": "sqlite",
            "target_path": str(path),
            "file": f"{status.st_dev}:{status.st_ino}",
            "user": local_user(),
            **tables_of_sqlite(config),
        }
    driver: Any = connection.connection.driver_connection
    who = connection.execute(_WHO).one()
    facts = {
        "target_dialect": "postgresql",
        "target_host": driver.info.host,
        "target_port": str(driver.info.port),
        "target_database": who.database,
        "user": who.role,
    }
    if who.login != who.role:
        facts["login"] = who.login
    if who.may_ask:
        system = connection.exec_driver_sql("SELECT system_identifier FROM pg_catalog.pg_control_system()")
        facts["target_system"] = str(system.scalar_one())
    else:
        facts["target_database_oid"] = str(who.oid)
    quote = connection.dialect.identifier_preparer.quote_identifier
    for name, table in config.resources.items():
        parts = [table.table] if table.db_schema is None else [table.db_schema, table.table]
        place = connection.execute(_PLACE, {"name": ".".join(map(quote, parts))}).scalar_one_or_none()
        facts[f"target_table_{name}"] = "none" if place is None else place
        if place is not None:
            facts[f"{TARGET_OBJECTS}{name}"] = objects_of(place, table.key)
    return facts


def tables_of_sqlite(config: SqlConfig) -> dict[str, str]:
    """Return which table of the file each resource is of; SQLite knows names in any capitals."""
    return {
        f"{TARGET_OBJECTS}{name}": objects_of(
            f"{table.db_schema or 'main'}.{table.table}".lower(), [column.lower() for column in table.key]
        )
        for name, table in config.resources.items()
    }


def objects_of(place: str, key: Sequence[str]) -> str:
    """Return what tells the objects of a table apart from those of any other: it, and the columns of the key."""
    return f"{place} ({', '.join(key)})"

"""Snapshots as tables of one DuckDB session: bounded memory, spilling to a folder of the workspace, no network.

The one place of `plan/` that talks to DuckDB. It reads what the collector wrote and gives canonical values back; it
never decides anything about an object.
"""

# ruff: noqa: S608 - names and values enter statements through `sql_text` alone

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import duckdb

from fullcount.compiler import program
from fullcount.compiler.lower import sql_text
from fullcount.compiler.lower.sql_frame import Relation
from fullcount.compiler.types import BOOL, DATE, DECIMAL, INT, TEXT, TIMESTAMP, FieldType, ListOf, MapOf, RecordOf, Type
from fullcount.compiler.values import STATE_ORDER, Cell, FieldState, Value
from fullcount.runtime.plan.errors import PlanError

MEMORY: Final = "512MB"
THREADS: Final = 2
_BATCH: Final = 2_000


SPILL: Final = ".work"
"""The folder under the snapshots in which a session may spill."""


def spill_of_reader(snapshots: Path) -> Path:
    """Return where somebody may spill who only reads: nothing is made in a folder that may be another's."""
    place = snapshots / SPILL
    return place if os.access(place, os.R_OK | os.W_OK | os.X_OK) else Path(tempfile.gettempdir())


@contextmanager
def session(spill: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a session that spills into a folder of its own under `spill` and leaves nothing behind."""
    spill.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=spill, prefix="duckdb-") as folder:
        settings: dict[str, Any] = {
            "memory_limit": MEMORY,
            "threads": THREADS,
            "temp_directory": folder,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "preserve_insertion_order": False,
        }
        connection = duckdb.connect(":memory:", config=settings)
        try:
            yield connection
        finally:
            connection.close()


def parquet(path: Path, *, complete: bool) -> Relation:
    """Return a snapshot's file as a relation."""
    return Relation(f"read_parquet({sql_text.text(str(path))})", complete)


def one(connection: duckdb.DuckDBPyConnection, statement: str) -> tuple[Any, ...]:
    """Run a statement that gives exactly one row."""
    found = connection.execute(statement).fetchone()
    if found is None:
        msg = "a statement that counts gave no row"
        raise AssertionError(msg)
    return found


def batches(connection: duckdb.DuckDBPyConnection, statement: str) -> Iterator[tuple[Any, ...]]:
    """Run a statement and yield its rows without holding all of them twice."""
    cursor = connection.execute(statement)
    while rows := cursor.fetchmany(_BATCH):
        yield from rows


_STORED: Final[dict[str, Type]] = {
    "VARCHAR": TEXT,
    "BIGINT": INT,
    "BOOLEAN": BOOL,
    "DATE": DATE,
    "TIMESTAMP WITH TIME ZONE": TIMESTAMP,
    "DECIMAL(38,9)": DECIMAL,
}
"""What a version can be, by the type of its column."""


def fields_of(
    connection: duckdb.DuckDBPyConnection, inventory: program.Inventory, relation: Relation
) -> dict[str, FieldType]:
    """Return the fields of a snapshot: the declared ones, and the version, which no workflow declares.

    Raises `PlanError` (FC913) if the version was not read or is of no type that tells one state from another.
    """
    fields, version = dict(inventory.fields), inventory.version
    if version is None or version in fields:
        return fields
    stored = dict(
        connection.execute(f"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM {relation.sql})").fetchall()
    )
    of = _STORED.get(stored.get(version, ""))
    if of is None:
        raise PlanError("FC913", f"the snapshot of `{inventory.name}` does not have the version field `{version}`")
    return {**fields, version: FieldType(of)}


def key_columns(alias: str, inventory: program.Inventory) -> list[str]:
    """Return the canonical values of an inventory's key."""
    return [sql_text.column(alias, name, inventory.fields[name].type) for name in inventory.key]


def same_key(left: str, right: str, inventory: program.Inventory) -> str:
    """Return the condition that a snapshot's row (`left`) is the object of a key table's row (`right`)."""
    pairs = zip(key_columns(left, inventory), inventory.key, strict=True)
    return " AND ".join(f"{column} = {right}.{sql_text.identifier(name)}" for column, name in pairs)


def field_columns(alias: str, fields: Mapping[str, FieldType]) -> list[str]:
    """Return value and state of each field, in order; `row_of` reads them."""
    return [
        column
        for name, field in fields.items()
        for column in (sql_text.column(alias, name, field.type), sql_text.state(alias, name))
    ]


def row_of(fields: Mapping[str, FieldType], values: Sequence[Any]) -> dict[str, Cell]:
    """Return the object of a row that was read with `field_columns`."""
    pairs = zip(values[::2], values[1::2], strict=True)
    return {
        name: _cell(value, STATE_ORDER[state], field.type)
        for (name, field), (value, state) in zip(fields.items(), pairs, strict=True)
    }


def _cell(value: Any, state: FieldState, of: Type) -> Cell:
    return Cell(state, canonical(value, of) if state is FieldState.PRESENT else None)


def canonical(value: Any, of: Type) -> Value:
    """Return a value that DuckDB gave as a canonical one."""
    match of:
        case ListOf(item=item):
            return tuple(canonical(part, item) for part in value)
        case MapOf(value=inner):
            return {key: canonical(part, inner) for key, part in value.items()}
        case RecordOf(parts=parts):
            return {
                part.name: canonical(value[part.name], part.type.type) for part in parts if value[part.name] is not None
            }
        case _:
            known: Value = value
            return known

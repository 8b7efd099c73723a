"""Key order: proving that rows arrive sorted and without duplicates, and putting them in order when they do not.

Guarantees: memory is bounded by one row group and DuckDB's own limit, whatever the number of rows; of rows with one
key the first that arrived is kept, and the others are counted as identical or as contradicting it. Text is ordered by
code point.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from fullcount.runtime.collect.coerce import Array, kernel

MEMORY = "256MB"
EXAMPLES = 3


@dataclass(slots=True)
class Ascent:
    """Watches the keys of rows as they arrive. `unbroken` as long as each is greater than the one before."""

    key: tuple[str, ...]
    unbroken: bool = True
    _last: list[Array] | None = None

    def watch(self, table: pa.Table) -> None:
        """Look at the next rows."""
        if not self.unbroken or table.num_rows == 0:
            return
        columns: list[Array] = [_flat(table.column(name)) for name in self.key]
        if self._last is not None:
            columns = [pa.concat_arrays([last, column]) for last, column in zip(self._last, columns, strict=True)]
        self._last = [column.slice(len(column) - 1) for column in columns]
        self.unbroken = _all_less(columns)


def _flat(column: Any) -> Array:
    combined = column.combine_chunks()
    return combined if isinstance(combined, pa.Array) else pa.concat_arrays(combined.chunks)


def _all_less(columns: Sequence[Array]) -> bool:
    """Whether each row's key is less than the next one's, field by field from the left."""
    count = len(columns[0]) - 1
    if count == 0:
        return True
    result: Array = None
    for column in reversed(columns):
        before, after = column.slice(0, count), column.slice(1)
        less = kernel.less(before, after)
        result = less if result is None else kernel.or_(less, kernel.and_(kernel.equal(before, after), result))
    return bool(kernel.all(result).as_py())


@dataclass(slots=True)
class Duplicates:
    """Rows with a key that another row had: dropped, and counted by whether they said the same."""

    identical: int = 0
    contradicting: int = 0
    examples: list[str] = field(default_factory=list)
    """A few keys of contradicting rows, for the detail of the reason."""


@dataclass(slots=True)
class _Previous:
    """The last row that was kept."""

    table: pa.Table | None = None


def in_order(
    path: Path, schema: pa.Schema, key: tuple[str, ...], rows: int, spill: Path, duplicates: Duplicates
) -> Iterator[pa.Table]:
    """Yield the rows of a Parquet file sorted by key, `rows` at a time, one row for each key."""
    keys = ", ".join(_quoted(name) for name in key)
    statement = (
        f"SELECT * EXCLUDE (file_row_number) FROM read_parquet({_literal(path)}, file_row_number = true) "  # noqa: S608
        f"ORDER BY {keys}, file_row_number"
    )
    with connect(spill) as database:
        previous = _Previous()
        for batch in database.sql(statement).to_arrow_reader(rows):
            table = pa.Table.from_batches([batch]).cast(schema)
            yield _first_of_each(table, key, previous, duplicates)


def _first_of_each(table: pa.Table, key: tuple[str, ...], previous: _Previous, duplicates: Duplicates) -> pa.Table:
    """Drop rows whose key equals that of the row before, and count them."""
    carried = 0 if previous.table is None else 1
    joined = table if previous.table is None else pa.concat_tables([previous.table, table]).combine_chunks()
    previous.table = joined.slice(joined.num_rows - 1)
    repeats = _repeats(joined, key)
    if repeats is None:
        return table
    for index in kernel.indices_nonzero(repeats).to_pylist():
        pair = joined.slice(index - 1, 2).to_pylist()
        if pair[0] == pair[1]:
            duplicates.identical += 1
            continue
        duplicates.contradicting += 1
        if len(duplicates.examples) < EXAMPLES:
            duplicates.examples.append(", ".join(str(pair[1][name]) for name in key))
    kept: pa.Table = joined.slice(carried).filter(kernel.invert(repeats.slice(carried)))
    return kept


def _repeats(table: pa.Table, key: tuple[str, ...]) -> Array | None:
    """Return a mask of rows whose key equals that of the row before; None if there is none."""
    count = table.num_rows - 1
    if count <= 0:
        return None
    columns = [_flat(table.column(name)) for name in key]
    same = reduce(kernel.and_, [kernel.equal(column.slice(0, count), column.slice(1)) for column in columns])
    if not kernel.any(same).as_py():
        return None
    return pa.concat_arrays([pa.array([False]), same])


def distinct_keys(paths: Sequence[Path], key: tuple[str, ...], spill: Path) -> int:
    """Return how many keys the files hold together."""
    keys = ", ".join(_quoted(name) for name in key)
    parts = " UNION ".join(f"SELECT {keys} FROM read_parquet({_literal(path)})" for path in paths)  # noqa: S608
    with connect(spill) as database:
        return _number(database, f"SELECT count(*) FROM ({parts})")  # noqa: S608


def keys_in_both(left: Path, right: Path, key: tuple[str, ...], spill: Path) -> int:
    """Return how many keys stand in both files."""
    keys = ", ".join(_quoted(name) for name in key)
    with connect(spill) as database:
        return _number(
            database,
            f"SELECT count(*) FROM (SELECT {keys} FROM read_parquet({_literal(left)}) "  # noqa: S608
            f"INTERSECT SELECT {keys} FROM read_parquet({_literal(right)}))",
        )


def connect(spill: Path) -> duckdb.DuckDBPyConnection:
    """Open a DuckDB in memory that spills to a folder, keeps to its memory and never fetches anything."""
    database = duckdb.connect(
        ":memory:",
        config={
            "memory_limit": MEMORY,
            "temp_directory": str(spill),
            "threads": 2,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        },
    )
    database.execute("SET TimeZone = 'UTC'")
    return database


def _number(database: duckdb.DuckDBPyConnection, statement: str) -> int:
    row = database.execute(statement).fetchone()
    if row is None:
        msg = "a count gave no row"
        raise RuntimeError(msg)
    return int(row[0])


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"

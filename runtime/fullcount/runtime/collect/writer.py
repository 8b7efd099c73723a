"""Writing one snapshot: rows stream in, a content-addressed file comes out.

Guarantees: memory is bounded by one row group; rows that arrive in key order go straight to the file, others are
sorted out of core at the end; either way the file is the same, byte for byte, for the same rows. Each key stands in it
once. Rows outside the scope are not stored, but their keys are counted, so that a source's total can be checked.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import pyarrow as pa
import pyarrow.parquet as pq

from fullcount.compiler.types import FieldType
from fullcount.compiler.values import STATE_ORDER, STATE_SUFFIX, FieldState
from fullcount.runtime.collect.coerce import Array, arrow_schema, kernel
from fullcount.runtime.collect.order import Ascent, Duplicates, distinct_keys, in_order, keys_in_both

GROUP_ROWS = 122_880
"""Rows of one row group: what memory is bounded by, and a whole number of DuckDB's vectors."""


@dataclass(frozen=True, slots=True)
class Written:
    """A finished snapshot. `keys_read` counts distinct keys among all rows read, those outside the scope included."""

    digest: str
    rows: int
    keys_read: int
    states: Mapping[str, Mapping[FieldState, int]]
    duplicates: Duplicates


class SnapshotWriter:
    """One snapshot in the making. `append` rows as they arrive, then `finish`; leaving the block clears up."""

    def __init__(
        self,
        folder: Path,
        fields: Mapping[str, FieldType],
        key: tuple[str, ...],
        keep: Callable[[Path], str],
        in_use: BinaryIO,
    ) -> None:
        self.folder, self._key, self._keep, self._in_use = folder, key, keep, in_use
        self._fields = tuple(fields)
        self.schema = arrow_schema(fields)
        self._ascent = Ascent(key)
        self._arrived = _Groups(folder / "arrived.parquet", self.schema, self._fields, key)
        self._outside: _Groups | None = None
        self._read = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._arrived.discard()
        if self._outside is not None:
            self._outside.discard()
        # a file that can't be removed now only takes space: it must not hide the outcome, nor the error on its way
        shutil.rmtree(self.folder, ignore_errors=True)
        self._in_use.close()

    def append(self, table: pa.Table, inside: Array | None = None) -> None:
        """Take the next rows as they arrived; `inside` masks those to store (None: all of them)."""
        self._read += table.num_rows
        self._ascent.watch(table)
        if inside is None:
            self._arrived.add(table)
            return
        self._arrived.add(table.filter(inside))
        keys = table.select(list(self._key)).filter(kernel.invert(inside))
        if self._outside is None:
            self._outside = _Groups(self.folder / "outside.parquet", keys.schema, (), self._key)
        self._outside.add(keys)

    def finish(self) -> Written:
        """Complete the file and give it its lasting name."""
        self._arrived.close()
        if self._outside is not None:
            self._outside.close()
        if self._ascent.unbroken:
            return self._kept(self._arrived, self._read, Duplicates())
        duplicates = Duplicates()
        ordered = _Groups(self.folder / "ordered.parquet", self.schema, self._fields, self._key)
        spill = self.folder / "spill"
        try:
            for table in in_order(self._arrived.path, self.schema, self._key, GROUP_ROWS, spill, duplicates):
                ordered.add(table)
        finally:
            ordered.close()
        keys_read = ordered.rows
        if self._outside is not None:
            keys_read = distinct_keys([ordered.path, self._outside.path], self._key, spill)
            # one object, once inside the scope and once outside it: the two rows contradict each other
            duplicates.contradicting += keys_in_both(ordered.path, self._outside.path, self._key, spill)
        return self._kept(ordered, keys_read, duplicates)

    def _kept(self, groups: _Groups, keys_read: int, duplicates: Duplicates) -> Written:
        return Written(self._keep(groups.path), groups.rows, keys_read, groups.states(), duplicates)


@dataclass(slots=True)
class _Groups:
    """A Parquet file written in row groups of one size, whatever the sizes of the tables that come in."""

    path: Path
    schema: pa.Schema
    fields: tuple[str, ...]
    key: tuple[str, ...]
    rows: int = 0
    _counts: dict[str, list[int]] = field(default_factory=dict)
    _waiting: list[pa.Table] = field(default_factory=list)
    _waiting_rows: int = 0
    _file: Any = None

    def __post_init__(self) -> None:
        self._counts = {name: [0] * len(STATE_ORDER) for name in self.fields}
        # a dictionary of keys would only repeat them: no key occurs twice
        shared: Any = [name for name in self.schema.names if name not in self.key]
        self._file = pq.ParquetWriter(
            self.path, self.schema, compression="zstd", compression_level=1, use_dictionary=shared
        )

    def add(self, table: pa.Table) -> None:
        """Add rows; full row groups go to the file."""
        self._waiting.append(table)
        self._waiting_rows += table.num_rows
        if self._waiting_rows >= GROUP_ROWS:
            for group in self._taken(whole=False):
                self._write(group)

    def close(self) -> None:
        """Write what waits and close the file; a second call does nothing."""
        if self._file is None:
            return
        for group in self._taken(whole=True):
            self._write(group)
        self._file.close()
        self._file = None

    def discard(self) -> None:
        """Close the file without writing what waits; a second call does nothing."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def states(self) -> dict[str, dict[FieldState, int]]:
        """Return how often each state occurred in each field."""
        return {
            name: {state: count for state, count in zip(STATE_ORDER, counts, strict=True) if count > 0}
            for name, counts in self._counts.items()
        }

    def _taken(self, *, whole: bool) -> Iterator[pa.Table]:
        joined = pa.concat_tables(self._waiting) if len(self._waiting) > 0 else self.schema.empty_table()
        start = 0
        while joined.num_rows - start >= GROUP_ROWS or (whole and joined.num_rows > start):
            yield joined.slice(start, GROUP_ROWS)
            start += GROUP_ROWS
        rest = joined.slice(min(start, joined.num_rows))
        self._waiting, self._waiting_rows = [rest], rest.num_rows

    def _write(self, group: pa.Table) -> None:
        # in one piece: how the rows were cut into pages must not show in the bytes
        group = group.combine_chunks()
        self._file.write_table(group, row_group_size=GROUP_ROWS)
        self.rows += group.num_rows
        for name, counts in self._counts.items():
            for entry in kernel.value_counts(group.column(name + STATE_SUFFIX)).to_pylist():
                counts[entry["values"]] += entry["counts"]

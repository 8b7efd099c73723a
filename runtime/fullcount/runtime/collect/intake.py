"""Pages in, one snapshot out: the data side of a read.

Guarantees: every row of a page is stored, or left out for a cause that is counted: its key is not usable, its scope is
false, its key was there already. Nothing is decided here about completeness. Pages are gathered to chunks, which a
thread of its own converts, tests and writes in order while the next pages are fetched; what waits for it is bounded,
whatever the number of rows.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import reduce
from itertools import chain, islice, repeat
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from fullcount.compiler import ir, program
from fullcount.compiler.catalog import Resource
from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.types import FieldType
from fullcount.compiler.values import FieldState
from fullcount.runtime import format as fmt
from fullcount.runtime.collect.canonical import RefusedValueError, canonical
from fullcount.runtime.collect.coerce import Column, always_there, coerce_column, kernel
from fullcount.runtime.collect.from_text import columns_from_text
from fullcount.runtime.collect.scope import Sieve
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.collect.writer import GROUP_ROWS, Written
from fullcount.runtime.connectors.base import Page
from fullcount.runtime.connectors.in_text import PageColumns
from fullcount.runtime.text import shown_bytes

NO_PART: Mapping[str, str] = {}
"""The rows of a source that is not split."""


CHUNK_ROWS = 4_096
"""How many rows are converted at a time, at least: a page of a few rows costs as much to convert as one of many."""
WAITING_ROWS = 8 * CHUNK_ROWS
"""How many rows may wait for the thread: enough to go on fetching while it writes a row group."""


ODD_TEXTS = 8
"""How many chunks may be read for nothing from their text before it is left alone."""


class MalformedPageError(Exception):
    """A page is not of the contract's shape. The text says in which way."""


NAMED = 3
"""How many objects are named that a field could not be taken of."""


@dataclass(slots=True)
class Refusals:
    """Values of one field that were not of its declared type; `keys` are those of the first."""

    count: int = 0
    example: str = ""
    keys: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Tally:
    """What was counted besides the rows that are stored."""

    rows_read: int = 0
    bad_keys: int = 0
    bad_key: str = ""
    """What was wrong with the first unusable key."""
    outside: int = 0
    refused: dict[str, Refusals] = field(default_factory=dict)


def fields_to_read(inventory: program.Inventory, resource: Resource) -> dict[str, FieldType]:
    """Return the fields of the question: the declared ones, and the version, which is read with every object."""
    fields = dict(inventory.fields)
    if inventory.version is not None and inventory.version not in fields:
        fields[inventory.version] = resource.fields[inventory.version]
    return fields


class Intake:
    """Takes pages in order. `add` each, `finish` once; leaving the block without `finish` leaves nothing behind.

    `part` are the fields that every row has alike, because they name the part of the source that is read.
    """

    def __init__(
        self,
        inventory: program.Inventory,
        fields: Mapping[str, FieldType],
        bindings: Bindings,
        store: SnapshotStore,
        part: Mapping[str, str] = NO_PART,
    ) -> None:
        self.tally = Tally(refused={name: Refusals() for name in fields})
        self._fields, self._key = fields, inventory.key
        self._part = {name: value for name, value in part.items() if name in fields}
        self._writer = store.writer(fields, inventory.key)
        try:
            self._sieve = Sieve(inventory, bindings, self._writer.folder)
        except BaseException:
            self._writer.__exit__(None, None, None)
            raise
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="fullcount-intake")
        self._running: deque[tuple[Future[None], int]] = deque()
        self._pages: list[Page] = []  # not handed over yet
        self._tables: list[pa.Table] = []  # in canonical form, not tested yet; only the thread touches them
        self._odd = 0  # chunks whose text was refused; only the thread touches it

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # the thread first: it may be at work on the files that the writer clears away
        self._thread.shutdown(wait=True, cancel_futures=True)
        self._sieve.close()
        self._writer.__exit__(kind, error, trace)

    @property
    def unseen(self) -> tuple[ir.Expr, ...]:
        """The canaries that were not seen; known after `finish`."""
        return self._sieve.unseen

    async def add(self, page: Page) -> None:
        """Take a page. Raises `MalformedPageError`; what was taken before stays."""
        self._check_shape(page)
        self.tally.rows_read += page.rows
        if page.rows > 0:
            self._pages.append(page)
        if sum(one.rows for one in self._pages) >= CHUNK_ROWS:
            await self._hand_over_pages()

    async def take(self, table: pa.Table, arrived: int) -> None:
        """Take rows that are in canonical form, of so many that arrived."""
        self.tally.rows_read += arrived
        await self._hand_over_pages()
        await self._hand_over(lambda: self._gather(table), table.num_rows)

    async def finish(self) -> Written:
        """Write what is left and complete the snapshot."""
        await self._hand_over_pages()
        await self._hand_over(self._store, 0)
        await self._settle(0)
        return await asyncio.wrap_future(self._thread.submit(self._writer.finish))

    async def _hand_over_pages(self) -> None:
        pages, self._pages = self._pages, []
        if len(pages) > 0:
            chunk = _Chunk(pages, self._part)
            await self._hand_over(lambda: self._gather(self._canonical(chunk)), chunk.rows)

    async def _hand_over(self, work: Callable[[], None], rows: int) -> None:
        """Give work on some rows to the thread; wait while many others wait for it already."""
        await self._settle(WAITING_ROWS - rows)
        self._running.append((self._thread.submit(work), rows))

    async def _settle(self, left: int) -> None:
        """Wait until at most so many rows are not done, or none at all; raise what went wrong with them."""
        while len(self._running) > 0 and (
            self._running[0][0].done() or sum(rows for _, rows in self._running) > left or left <= 0
        ):
            await asyncio.wrap_future(self._running.popleft()[0])

    # --- in the thread ------------------------------------------------------------------------------------------------

    def _gather(self, table: pa.Table) -> None:
        self._tables.append(table)
        if sum(one.num_rows for one in self._tables) >= GROUP_ROWS:
            self._store()

    def _store(self) -> None:
        tables, self._tables = self._tables, []
        if len(tables) == 0:
            return
        sifted = self._sieve.sift(pa.concat_tables(tables))
        if sifted.inside is not None:
            self.tally.outside += sifted.table.num_rows - kernel.sum(sifted.inside).as_py()
        self._writer.append(sifted.table, sifted.inside)

    def _canonical(self, chunk: _Chunk) -> pa.Table:
        """Return the rows with a usable key in canonical form."""
        arrays = []
        read = self._from_text(chunk)
        for name, field_type in self._fields.items():
            given = chunk.states(name)
            column = read[name] if name in read else coerce_column(field_type, chunk.column(name), given)
            if name not in self._key:  # a row without a key is left out, and told of by itself
                column = always_there(field_type, column)
            if column.refused > 0:
                refusals = self.tally.refused[name]
                refusals.count += column.refused
                refusals.example = refusals.example or column.example
                failed = (row for row in column.failed() if given is None or given[row] is not FieldState.SOURCE_FAILED)
                refusals.keys += [self._named(chunk, row) for row in islice(failed, NAMED - len(refusals.keys))]
            arrays += [column.values, column.states]
        return self._with_key(pa.Table.from_arrays(arrays, schema=self._writer.schema), chunk)

    def _from_text(self, chunk: _Chunk) -> Mapping[str, Column]:
        """Return the columns that can be read from the text of the replies; none of a source that is odd too often."""
        if self._odd >= ODD_TEXTS:
            return {}
        fields = {name: field_type for name, field_type in self._fields.items() if name not in self._part}
        read = columns_from_text(fields, chunk.pages)
        if read is None:
            self._odd += 1
            return {}
        return read

    def _named(self, chunk: _Chunk, row: int) -> str:
        """Return the key of a row as it came, for people."""
        parts = [chunk.cell(name, row) for name in self._key]
        return fmt.key([shown_bytes(part) if isinstance(part, bytes) else part for part in parts], 60)

    def _check_shape(self, page: Page) -> None:
        if page.end is not None and page.cursor is not None:
            msg = f"a page has both the end marker `{page.end}` and a cursor to a next page"
            raise MalformedPageError(msg)
        for name in self._fields:
            if name in self._part:
                continue
            if name not in page.columns:
                msg = f"a page lacks the field `{name}` that was asked for"
                raise MalformedPageError(msg)
            made = page.columns.made.get(name) if isinstance(page.columns, PageColumns) else page.columns[name]
            for part in (made, page.states.get(name)):
                if part is not None and len(part) != page.rows:
                    msg = f"a page of {page.rows:,} rows has {len(part):,} entries for the field `{name}`"
                    raise MalformedPageError(msg)

    def _with_key(self, table: pa.Table, chunk: _Chunk) -> pa.Table:
        """Leave out rows that nothing can name, and count them."""
        columns = [table.column(name) for name in self._key]
        if all(column.null_count == 0 for column in columns):
            return table
        usable = reduce(kernel.and_, [kernel.is_valid(column) for column in columns])
        kept: pa.Table = table.filter(usable)
        self.tally.bad_keys += table.num_rows - kept.num_rows
        if self.tally.bad_key == "":
            row = usable.to_pylist().index(False)
            self.tally.bad_key = next(
                f"`{name}`: {_fault(self._fields[name], chunk.cell(name, row))}, such as `{self._named(chunk, row)}`"
                for name, column in zip(self._key, columns, strict=True)
                if not column[row].is_valid
            )
        return kept


@dataclass(frozen=True, slots=True)
class _Chunk:
    """The rows of several pages as one; what pages say besides is not looked at any more.

    `part` are the fields that every row has alike, whatever the pages have for them.
    """

    pages: Sequence[Page]
    part: Mapping[str, str]

    @property
    def rows(self) -> int:
        return sum(page.rows for page in self.pages)

    def column(self, name: str) -> Sequence[Any]:
        """Return a column as it came."""
        if name in self.part:
            return [self.part[name]] * self.rows
        if len(self.pages) == 1:
            return self.pages[0].columns[name]
        return list(chain.from_iterable(page.columns[name] for page in self.pages))

    def states(self, name: str) -> Sequence[FieldState | None] | None:
        """Return the states of a column; None where every value speaks for itself."""
        if name in self.part or not any(name in page.states for page in self.pages):
            return None
        return list(chain.from_iterable(page.states.get(name, repeat(None, page.rows)) for page in self.pages))

    def cell(self, name: str, row: int) -> Any:
        """Return one value as it came."""
        if name in self.part:
            return self.part[name]
        for page in self.pages:
            if row < page.rows:
                return page.columns[name][row]
            row -= page.rows
        raise IndexError(row)


def _fault(field_type: FieldType, raw: object) -> str:
    """Return what is wrong with a part of a key."""
    try:
        canonical(field_type.type, raw)
    except RefusedValueError as error:
        return "no value" if raw is None else str(error)
    return "its state says that nothing is known of it"

"""Reading through the one collecting loop, with an ear on the pages and a hand on the world between them."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from fullcount.compiler.catalog import Resource
from fullcount.compiler.everything import everything_of
from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.values import Cell, Value
from fullcount.runtime.collect.budget import Budget
from fullcount.runtime.collect.coerce import coerce_cell
from fullcount.runtime.collect.loop import collect
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.connectors.base import Matches, Page, Question, Reading, Scan, ScanInfo, SourceReader
from fullcount.runtime.evidence.envelope import Envelope
from fullcount.runtime.testing.bed import Bed, Key


@dataclass(slots=True)
class Tap:
    """A reader that notes what passes. `between(n)` is called after the n-th page of the first pass."""

    reader: SourceReader
    page_rows: int
    between: Callable[[int], object] | None = None
    infos: list[ScanInfo] = field(default_factory=list)
    passes: list[list[Page]] = field(default_factory=list)

    async def identity(self) -> Mapping[str, str]:
        """See `SourceReader.identity`."""
        return await self.reader.identity()

    @asynccontextmanager
    async def scan(self, question: Question) -> AsyncIterator[Scan]:
        """See `SourceReader.scan`."""
        async with self.reader.scan(replace(question, page_rows=self.page_rows)) as scan:
            self.infos.append(scan.info)
            self.passes.append([])
            yield _TappedScan(scan, self)

    async def read(self, resource: Resource, key: tuple[Value, ...], fields: Sequence[str]) -> Reading:
        """See `SourceReader.read`."""
        return await self.reader.read(resource, key, fields)

    async def lookup(self, resource: Resource, field: str, value: Value, fields: Sequence[str]) -> Matches:
        """See `SourceReader.lookup`."""
        return await self.reader.lookup(resource, field, value, fields)

    async def count(self, resource: Resource) -> int:
        """See `SourceReader.count`."""
        return await self.reader.count(resource)

    async def close(self) -> None:
        """See `SourceReader.close`: whoever opened the reader closes it."""


@dataclass(frozen=True, slots=True)
class _TappedScan:
    scan: Scan
    tap: Tap

    @property
    def info(self) -> ScanInfo:
        """See `Scan.info`."""
        return self.scan.info

    async def fetch(self, cursor: str | None) -> Page:
        """See `Scan.fetch`."""
        page = await self.scan.fetch(cursor)
        pages = self.tap.passes[-1]
        pages.append(page)
        if self.tap.between is not None and len(self.tap.passes) == 1:
            self.tap.between(len(pages))
        return page


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of one read."""

    envelope: Envelope
    infos: Sequence[ScanInfo]
    passes: Sequence[Sequence[Page]]
    resource: Resource

    @property
    def pages(self) -> Sequence[Page]:
        """The pages of the last pass."""
        return self.passes[-1] if len(self.passes) > 0 else ()

    @property
    def objects(self) -> list[tuple[Key, Mapping[str, Cell]]]:
        """Every row of the last pass, as canonical cells, in the order in which they came."""
        found = []
        for page in self.pages:
            for index in range(page.rows):
                cells = {
                    name: coerce_cell(
                        self.resource.fields[name],
                        column[index],
                        page.states[name][index] if name in page.states else None,
                    )
                    for name, column in page.columns.items()
                }
                found.append((tuple(cells[name].value for name in self.resource.key), cells))
        return [(key, cells) for key, cells in found if None not in key]  # type: ignore[misc] # just so

    @property
    def keys(self) -> list[Key]:
        """The keys, in the order in which they came."""
        return [key for key, _ in self.objects]

    @property
    def said(self) -> str:
        """What the envelope says, for a message."""
        codes = ", ".join(reason.code for reason in self.envelope.completeness.reasons) or "no reason"
        return f"{self.envelope.status} with {self.envelope.work.rows} rows and {codes}"


async def read_all(
    bed: Bed,
    reader: SourceReader,
    *,
    page_rows: int | None = None,
    between: Callable[[int], object] | None = None,
    budget: Budget | None = None,
) -> Seen:
    """Read every object and every field; by default in the smallest pages, and without a second try."""
    resource = bed.declared()
    tap = Tap(reader, min(bed.page_rows) if page_rows is None else page_rows, between)
    with tempfile.TemporaryDirectory() as folder:
        envelope = await collect(
            tap,
            everything_of(resource),
            resource,
            bindings=Bindings({}, 0),
            snapshots=SnapshotStore(Path(folder)),
            budget=Budget(retries=0) if budget is None else budget,
            clock=lambda: datetime.now(UTC),
        )
    return Seen(envelope, tap.infos, tap.passes, resource)


@asynccontextmanager
async def reading(bed: Bed) -> AsyncIterator[SourceReader]:
    """Open the reader of a bed, and close it."""
    reader = await bed.connector.open_reader(bed.source, bed.config)
    try:
        yield reader
    finally:
        await reader.close()

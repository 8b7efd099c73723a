"""The open sources of one run: readers for every run; an actor only where something is to be acted on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Self

from fullcount.compiler.catalog import Resource
from fullcount.compiler.values import Value
from fullcount.runtime.connectors.base import (
    ActCall,
    ClosureFound,
    Collateral,
    ForeseesActing,
    ForeseesClosure,
    ForeseesCollateral,
    LooksAtKept,
    Matches,
    Question,
    Reading,
    Scan,
    SourceActor,
    SourceReader,
)
from fullcount.runtime.evidence.envelope import Incompleteness
from fullcount.runtime.gathering import Gathering
from fullcount.runtime.workspace import Workspace


class OnDemandReader:
    """A source's reader that connects when it is first asked something.

    So a source that can't be reached fails where it is asked, inside the loop that turns failures into an envelope.
    """

    def __init__(self, workspace: Workspace, source: str) -> None:
        self._workspace = workspace
        self._source = source
        self._opening = asyncio.Lock()
        self._reader: SourceReader | None = None
        self._gathering: Gathering | None = None

    async def _opened(self) -> SourceReader:
        async with self._opening:
            if self._reader is None:
                connector, config = self._workspace.connector(self._source)
                self._reader = await connector.open_reader(self._source, config)
        return self._reader

    async def identity(self) -> Mapping[str, str]:
        """See `SourceReader.identity`."""
        return await (await self._opened()).identity()

    @asynccontextmanager
    async def scan(self, question: Question) -> AsyncIterator[Scan]:
        """See `SourceReader.scan`."""
        async with (await self._opened()).scan(question) as scan:
            yield scan

    async def read(self, resource: Resource, key: tuple[Value, ...], fields: Sequence[str]) -> Reading:
        """See `SourceReader.read`."""
        return await self._together(await self._opened()).read(resource, key, fields)

    def _together(self, reader: SourceReader) -> Gathering:
        if self._gathering is None:
            self._gathering = Gathering(reader)
        return self._gathering

    async def lookup(self, resource: Resource, field: str, value: Value, fields: Sequence[str]) -> Matches:
        """See `SourceReader.lookup`."""
        return await self._together(await self._opened()).lookup(resource, field, value, fields)

    async def count(self, resource: Resource) -> int:
        """See `SourceReader.count`."""
        return await (await self._opened()).count(resource)

    async def collateral(self, resource: Resource, operation: str) -> Collateral:
        """See `ForeseesCollateral.collateral`; nothing for a source that has nothing of the kind."""
        reader = await self._opened()
        return await reader.collateral(resource, operation) if isinstance(reader, ForeseesCollateral) else Collateral()

    async def unfit(self, resource: Resource, operation: str) -> Incompleteness | None:
        """See `ForeseesActing.unfit`; None for a source that has nothing of the kind."""
        reader = await self._opened()
        return await reader.unfit(resource, operation) if isinstance(reader, ForeseesActing) else None

    async def why_not_kept(self, call: ActCall) -> str | None:
        """See `LooksAtKept.why_not_kept`; None for a source that keeps nothing."""
        reader = await self._opened()
        return await reader.why_not_kept(call) if isinstance(reader, LooksAtKept) else None

    async def closures(
        self, resource: Resource, operation: str, keys: Sequence[tuple[Value, ...]]
    ) -> Sequence[ClosureFound]:
        """See `ForeseesClosure.closures`; unknown for a source that can't look it up."""
        reader = await self._opened()
        if isinstance(reader, ForeseesClosure):
            return await reader.closures(resource, operation, keys)
        return [ClosureFound(unknown="its source can't look up what goes with an object") for _ in keys]

    async def close(self) -> None:
        """See `SourceReader.close`."""
        if self._reader is not None:
            await self._reader.close()
            self._reader = self._gathering = None


class Readers:
    """One reader a source, closed together at the end.

    It has no method that opens an actor: whoever is handed this object can't act.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._readers: dict[str, OnDemandReader] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for reader in self._readers.values():
            await reader.close()

    def reader(self, source: str) -> SourceReader:
        """Return the reader of a source; it connects when it is first asked something."""
        return self._reader(source)

    def _reader(self, source: str) -> OnDemandReader:
        return self._readers.setdefault(source, OnDemandReader(self._workspace, source))

    async def collateral(self, source: str, resource: Resource, operation: str) -> Collateral:
        """Return what a write sets off at the source besides its one object. Raises `SourceError`."""
        return await self._reader(source).collateral(resource, operation)

    async def unfit(self, source: str, resource: Resource, operation: str) -> Incompleteness | None:
        """Return what would keep an operation from being done at all. Raises `SourceError`."""
        return await self._reader(source).unfit(resource, operation)

    async def closures(
        self, source: str, resource: Resource, operation: str, keys: Sequence[tuple[Value, ...]]
    ) -> Sequence[ClosureFound]:
        """Return what goes with each of these objects. Raises `SourceError`."""
        return await self._reader(source).closures(resource, operation, keys)

    async def identities(self, sources: Iterable[str]) -> dict[str, dict[str, str]]:
        """Return who reads and where, by source. Raises `SourceError`."""
        return {source: dict(await self.reader(source).identity()) for source in sorted(sources)}


async def open_actor(workspace: Workspace, source: str) -> SourceActor:
    """Open the writing side of a source, with the credentials for acting. Raises `SourceError`."""
    connector, config = workspace.connector(source)
    return await connector.open_actor(source, config)

"""Single reads that are asked for at the same moment, put to the source as one question.

Every object is still read live, right before its act. Only what the source found counts: an object that it did not
return, and each one of a question that failed, is read by itself, so that nothing is ever concluded from a list of keys
beyond the objects in it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fullcount.compiler.catalog import Resource
from fullcount.compiler.values import Cell, Value
from fullcount.runtime.connectors.base import Existence, Reading, ReadsMany, SourceError, SourceReader

_Key = tuple[Value, ...]
_Found = Mapping[_Key, Mapping[str, Cell]]


@dataclass(slots=True)
class _Batch:
    """Objects asked for at one moment; `keys` in their order."""

    keys: dict[_Key, None] = field(default_factory=dict)
    answer: asyncio.Task[_Found] | None = None


class Gathering:
    """Reads single objects of one source, together where that is possible."""

    def __init__(self, reader: SourceReader) -> None:
        self._reader = reader
        self._open: dict[tuple[str, tuple[str, ...]], _Batch] = {}

    async def read(self, resource: Resource, key: _Key, fields: Sequence[str]) -> Reading:
        """See `SourceReader.read`."""
        found = (await self._together(self._reader, resource, key, tuple(fields))).get(key)
        if found is not None:
            return Reading(Existence.FOUND, found)
        return await self._reader.read(resource, key, fields)

    async def _together(self, reader: SourceReader, resource: Resource, key: _Key, fields: tuple[str, ...]) -> _Found:
        if not isinstance(reader, ReadsMany):
            return {}
        most = reader.most_keys(resource)
        if most < 2:
            return {}
        about = (resource.name, fields)
        batch = self._open.get(about)
        if batch is None or batch.answer is None or len(batch.keys) >= most:
            batch = self._open[about] = _Batch()
            batch.answer = asyncio.ensure_future(self._ask(reader, resource, fields, batch))
        batch.keys[key] = None
        # whoever gives up waiting leaves the answer to the others
        return await asyncio.shield(batch.answer)

    async def _ask(self, reader: ReadsMany, resource: Resource, fields: tuple[str, ...], batch: _Batch) -> _Found:
        await asyncio.sleep(0)  # the others that are asked for at this moment come first
        if self._open.get((resource.name, fields)) is batch:
            del self._open[resource.name, fields]
        if len(batch.keys) < 2:
            return {}
        try:
            return await reader.read_many(resource, tuple(batch.keys), fields)
        except SourceError:
            return {}  # each is read by itself, and says for itself what is in its way

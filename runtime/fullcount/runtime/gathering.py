"""Single reads and look-ups that are asked for at the same moment, put to the source as one question.

Every object is still read live, right before its act, and so is what an absence rests on. Of a list of keys only what
the source found counts: an object that it did not return, and each one of a question that failed, is read by itself, so
that nothing is ever concluded from such a list beyond the objects in it. Of a list of look-ups each answer is the one
that its own look-up would give; a value that the source has no such answer for is looked up by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

from fullcount.compiler.catalog import Resource
from fullcount.compiler.values import Cell, Value
from fullcount.runtime.connectors.base import (
    Existence,
    LooksUpMany,
    Matches,
    Reading,
    ReadsMany,
    SourceError,
    SourceReader,
)

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")

_Key = tuple[Value, ...]


@dataclass(slots=True)
class _Batch(Generic[Asked, Answer]):
    """What was asked for at one moment, in its order."""

    asked: dict[Asked, None] = field(default_factory=dict)
    answers: asyncio.Task[Mapping[Asked, Answer]] | None = None


class _Together(Generic[Asked, Answer]):
    """Gathers questions that differ in one thing alone."""

    def __init__(self) -> None:
        self._open: dict[Hashable, _Batch[Asked, Answer]] = {}

    async def answer(
        self,
        about: Hashable,
        asked: Asked,
        most: int,
        put: Callable[[tuple[Asked, ...]], Awaitable[Mapping[Asked, Answer]]],
    ) -> Answer | None:
        """Return what a list says of `asked`; None: it says nothing. `about`: what the questions have in common."""
        if most < 2:
            return None
        batch = self._open.get(about)
        if batch is None or batch.answers is None or len(batch.asked) >= most:
            batch = self._open[about] = _Batch()
            batch.answers = asyncio.ensure_future(self._put(about, batch, put))
        batch.asked[asked] = None
        # whoever gives up waiting leaves the answer to the others
        return (await asyncio.shield(batch.answers)).get(asked)

    async def _put(
        self,
        about: Hashable,
        batch: _Batch[Asked, Answer],
        put: Callable[[tuple[Asked, ...]], Awaitable[Mapping[Asked, Answer]]],
    ) -> Mapping[Asked, Answer]:
        await asyncio.sleep(0)  # the others that are asked for at this moment come first
        if self._open.get(about) is batch:
            del self._open[about]
        if len(batch.asked) < 2:
            return {}
        try:
            return await put(tuple(batch.asked))
        except SourceError:
            return {}  # each is asked for by itself, and says for itself what is in its way


class Gathering:
    """Reads and looks up in one source, together where that is possible."""

    def __init__(self, reader: SourceReader) -> None:
        self._reader = reader
        self._reads: _Together[_Key, Mapping[str, Cell]] = _Together()
        self._lookups: _Together[Value, Matches] = _Together()

    async def read(self, resource: Resource, key: _Key, fields: Sequence[str]) -> Reading:
        """See `SourceReader.read`."""
        reader, names = self._reader, tuple(fields)
        if isinstance(reader, ReadsMany):
            most = reader.most_keys(resource)
            put = partial(_read, reader, resource, names)
            found = await self._reads.answer((resource.name, names), key, most, put)
            if found is not None:
                return Reading(Existence.FOUND, found)
        return await reader.read(resource, key, fields)

    async def lookup(self, resource: Resource, field: str, value: Value, fields: Sequence[str]) -> Matches:
        """See `SourceReader.lookup`."""
        reader, names = self._reader, tuple(fields)
        if isinstance(reader, LooksUpMany):
            most = reader.most_values(resource, field)
            put = partial(_look_up, reader, resource, field, names)
            found = await self._lookups.answer((resource.name, field, names), value, most, put)
            if found is not None:
                return found
        return await reader.lookup(resource, field, value, fields)


async def _read(
    reader: ReadsMany, resource: Resource, fields: tuple[str, ...], keys: tuple[_Key, ...]
) -> Mapping[_Key, Mapping[str, Cell]]:
    return await reader.read_many(resource, keys, fields)


async def _look_up(
    reader: LooksUpMany, resource: Resource, field: str, fields: tuple[str, ...], values: tuple[Value, ...]
) -> Mapping[Value, Matches]:
    return await reader.lookup_many(resource, field, values, fields)

"""Reading and acting on a source that is split: each question and each act goes to its part, on one connection.

Guarantees: an object is read and written in the part that its key names and in no other; the parts share the source's
pace and its allowance, so that many parts ask no faster than one. Of the whole there is no listing and no count: a
part that is not asked is not spoken for. An object that says of itself that it is in another part is never one of the
part that was asked, which is what a parameter that the API passes over would make of it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from fullcount.compiler.catalog import Resource
from fullcount.compiler.values import Value
from fullcount.runtime.connectors.base import (
    ActCall,
    ActResult,
    Existence,
    Matches,
    Outcome,
    Page,
    Question,
    Reading,
    Scan,
    ScanInfo,
    SourceError,
)
from fullcount.runtime.connectors.http.actor import HttpActor
from fullcount.runtime.connectors.http.config import HttpConfig
from fullcount.runtime.connectors.http.opening import Connection, identity
from fullcount.runtime.connectors.http.partitions import of_part, partitions_of
from fullcount.runtime.connectors.http.reader import HttpReader
from fullcount.runtime.connectors.http.speaking import spoken
from fullcount.runtime.connectors.http.targets import Targets
from fullcount.runtime.connectors.in_parts import (
    no_listing,
    not_covered,
    own_call,
    own_fields,
    own_key,
    part_of,
    resource_of_part,
    with_part,
)
from fullcount.runtime.connectors.in_text import PageColumns
from fullcount.runtime.evidence.envelope import Incompleteness, part_name


class SplitReader:
    """Reads the parts. See `SourceReader`."""

    def __init__(self, config: HttpConfig, connection: Connection) -> None:
        self._config, self._connection = config, connection
        self._dialect = spoken(config)
        self._targets = Targets()

    @classmethod
    def open(cls, config: HttpConfig) -> SplitReader:
        """Make the connection pool; nothing is contacted yet. Raises `WorkspaceError` FC605."""
        return cls(config, Connection.open(config, config.auth))

    async def identity(self) -> Mapping[str, str]:
        """See `SourceReader.identity`. The target is the template: which parts were read stands in the envelope."""
        return identity(self._config, self._config.auth)

    @asynccontextmanager
    async def scan(self, question: Question) -> AsyncIterator[Scan]:
        """See `SourceReader.scan`: the one part that the question names."""
        part, name = question.partition, question.resource.name
        told = self._told(name, part)
        own = replace(
            question,
            resource=resource_of_part(question.resource, part),
            fields=(*question.fields, *told),
            partition={},
        )
        self._targets.ask(of_part(self._config, self._dialect, name, part), name, part)
        async with self._of(name, part).scan(own) as scan:
            yield _Compared(scan, told, part_name(part)) if len(told) > 0 else scan

    async def read(self, resource: Resource, key: tuple[Value, ...], fields: Sequence[str]) -> Reading:
        """See `SourceReader.read`."""
        part = part_of(partitions_of(self._config, resource.name), resource, key)
        told, own = self._told(resource.name, part), resource_of_part(resource, part)
        asked = (*own_fields(fields, part), *told)
        reading = await self._of(resource.name, part).read(own, own_key(resource, key, part), asked)
        for name, value in told.items():
            if reading.existence is Existence.FOUND and reading.cells[name].value != value:
                return Reading(Existence.UNKNOWN, reasons=(_elsewhere(name, part_name(part)),))
        kept = {name: cell for name, cell in reading.cells.items() if name not in told}
        return with_part(replace(reading, cells=kept), fields, part)

    async def lookup(self, resource: Resource, field: str, value: Value, fields: Sequence[str]) -> Matches:
        """See `SourceReader.lookup`: none in what is split, because no part speaks for the others."""
        return await self._whole(resource, f"looking up `{field}`").lookup(resource, field, value, fields)

    async def count(self, resource: Resource) -> int:
        """See `SourceReader.count`: none of what is split, because no part speaks for the others."""
        return await self._whole(resource, f"counting {resource.name}").count(resource)

    async def close(self) -> None:
        """See `SourceReader.close`."""
        await self._connection.close()

    def _of(self, resource: str, part: Mapping[str, str]) -> HttpReader:
        """Return the reader of one part. Raises `SourceError`."""
        config = of_part(self._config, self._dialect, resource, part)
        return HttpReader(config, self._connection.client(config))

    def _whole(self, resource: Resource, doing: str) -> HttpReader:
        if len(partitions_of(self._config, resource.name)) > 0:
            raise SourceError(no_listing(doing))
        return self._of(resource.name, {})

    def _told(self, resource: str, part: Mapping[str, str]) -> dict[str, str]:
        """Return the names of the part that each object repeats, with what they must be."""
        fields = self._config.resources[resource].fields
        return {name: value for name, value in part.items() if name in fields and fields[name].at is not None}


@dataclass(frozen=True, slots=True)
class _Compared:
    """An open read of one part whose objects say in which part they are. See `Scan`."""

    scan: Scan
    told: Mapping[str, str]
    part: str

    @property
    def info(self) -> ScanInfo:
        """See `Scan.info`."""
        return self.scan.info

    async def fetch(self, cursor: str | None) -> Page:
        """See `Scan.fetch`."""
        page = await self.scan.fetch(cursor)
        found = tuple(
            _elsewhere(name, self.part)
            for name, value in self.told.items()
            if any(each != value for each in page.columns[name])
        )
        return replace(
            page,
            columns=_without(page.columns, self.told),
            states={name: states for name, states in page.states.items() if name not in self.told},
            reasons=(*page.reasons, *found),
            dead_end=page.dead_end or len(found) > 0,
        )


def _without(columns: Mapping[str, Sequence[Any]], names: Mapping[str, str]) -> Mapping[str, Sequence[Any]]:
    if isinstance(columns, PageColumns):
        return columns.without(names)
    return {name: column for name, column in columns.items() if name not in names}


def _elsewhere(name: str, part: str) -> Incompleteness:
    detail = f"asked for {part}, and an object came whose `{name}` is another one or not known"
    return not_covered(detail)


class SplitActor:
    """Acts in the parts. See `SourceActor`."""

    def __init__(self, config: HttpConfig, connection: Connection) -> None:
        self._config, self._connection = config, connection
        self._dialect = spoken(config)

    @classmethod
    def open(cls, config: HttpConfig) -> SplitActor:
        """Make the connection pool; nothing is contacted yet. Raises `WorkspaceError` FC605."""
        return cls(config, Connection.open(config, config.act_auth or config.auth))

    async def identity(self) -> Mapping[str, str]:
        """See `SourceActor.identity`."""
        return identity(self._config, self._config.act_auth or self._config.auth)

    async def perform(self, call: ActCall) -> ActResult:
        """See `SourceActor.perform`."""
        try:
            actor, own = self._of(call)
        except SourceError as error:
            return ActResult(Outcome.FAILED, None, f"nothing was written: {error.reason.detail}")
        return await actor.write(own)

    async def took_effect(self, call: ActCall) -> bool | None:
        """See `SourceActor.took_effect`. Raises `SourceError` when the part can't be asked."""
        names = partitions_of(self._config, call.resource.name)
        if len(call.key) == 0 and len(names) > 0:
            return None  # what was made has a key that only the lost answer told
        actor, own = self._of(call)
        return await actor.took_effect(own)

    async def close(self) -> None:
        """See `SourceActor.close`."""
        await self._connection.close()

    def _of(self, call: ActCall) -> tuple[HttpActor, ActCall]:
        """Return the actor of the part that an object is in, and the call as this part knows it."""
        name = call.resource.name
        part = part_of(partitions_of(self._config, name), call.resource, call.key)
        config = of_part(self._config, self._dialect, name, part)
        return HttpActor(config, self._connection.client(config)), own_call(call, part)

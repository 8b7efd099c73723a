"""Reading and acting on a source that is split: each question and each act goes to the database of its part.

Guarantees: an object is read and written in the part that its key names and in no other; two parts are never one
database under two names; before the first write in a part it was made sure that the writing side reaches the very
database that is read. Of the whole there is no listing and no count: a part that is not asked is not spoken for.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import make_url

from fullcount.compiler.catalog import Resource
from fullcount.compiler.values import Value
from fullcount.runtime.connectors.base import (
    TARGET_FACTS,
    TARGET_OBJECTS,
    ActCall,
    ActResult,
    ClosureFound,
    Collateral,
    Matches,
    Outcome,
    Page,
    Question,
    Reading,
    Scan,
    ScanInfo,
    SourceError,
)
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
from fullcount.runtime.connectors.local_user import local_user
from fullcount.runtime.connectors.sql.actor import SqlActor
from fullcount.runtime.connectors.sql.config import SqlConfig
from fullcount.runtime.connectors.sql.identity import objects_of, tables_of_sqlite
from fullcount.runtime.connectors.sql.partitions import of_part
from fullcount.runtime.connectors.sql.reader import SqlReader
from fullcount.runtime.evidence.envelope import part_name
from fullcount.runtime.workspace.secrets import DatabaseUrl


class SplitReader:
    """Reads the parts. See `SourceReader`."""

    def __init__(self, source: str, config: SqlConfig) -> None:
        self._source, self._config = source, config
        self._opening = asyncio.Lock()
        self._parts: dict[tuple[str, ...], SqlReader] = {}
        self._places: dict[tuple[tuple[str, str], ...], Mapping[str, str]] = {}
        self._answered: set[tuple[str, ...]] = set()

    async def identity(self) -> Mapping[str, str]:
        """See `SourceReader.identity`. The target is the template: which parts were read stands in the envelope."""
        return _target(self._config, self._config.url)

    @asynccontextmanager
    async def scan(self, question: Question) -> AsyncIterator[Scan]:
        """See `SourceReader.scan`: the one part that the question names."""
        part = question.partition
        reader = await self.of(part)
        own = replace(question, resource=resource_of_part(question.resource, part), partition={})
        async with reader.scan(own) as scan:
            yield _Heard(scan, self._answered, self._named(part))

    async def read(self, resource: Resource, key: tuple[Value, ...], fields: Sequence[str]) -> Reading:
        """See `SourceReader.read`."""
        part = part_of(self._config.partitions, resource, key)
        reader, own = await self.of(part), resource_of_part(resource, part)
        reading = await reader.read(own, own_key(resource, key, part), own_fields(fields, part))
        return with_part(reading, fields, part)

    async def lookup(self, resource: Resource, field: str, value: Value, fields: Sequence[str]) -> Matches:
        """See `SourceReader.lookup`: there is none, because no part speaks for the others."""
        raise SourceError(no_listing(f"looking up `{field}`"))

    async def count(self, resource: Resource) -> int:
        """See `SourceReader.count`: there is none, because no part speaks for the others."""
        raise SourceError(no_listing(f"counting {resource.name}"))

    async def collateral(self, resource: Resource, operation: str) -> Collateral:
        """See `ForeseesCollateral.collateral`: what a write sets off in any of the parts that gave rows so far.

        A part that gave none has no object of a plan in it, so that it may be one that does not answer.
        """
        own = resource_of_part(resource, self._config.partitions)
        found = [
            await reader.collateral(own, operation) for part, reader in self._parts.items() if part in self._answered
        ]
        return Collateral(
            unknown=tuple(dict.fromkeys(phrase for each in found for phrase in each.unknown)),
            known=tuple(dict.fromkeys(phrase for each in found for phrase in each.known)),
            way_on=next((each.way_on for each in found if each.way_on != ""), ""),
        )

    async def closures(
        self, resource: Resource, operation: str, keys: Sequence[tuple[Value, ...]]
    ) -> Sequence[ClosureFound]:
        """See `ForeseesClosure.closures`: each in the part that the object is in."""
        by_part: dict[tuple[str, ...], list[int]] = {}
        parts = [part_of(self._config.partitions, resource, key) for key in keys]
        for number, part in enumerate(parts):
            by_part.setdefault(self._named(part), []).append(number)
        found = [ClosureFound() for _ in keys]
        for numbers in by_part.values():
            part = parts[numbers[0]]
            own = resource_of_part(resource, part)
            asked = [own_key(resource, keys[number], part) for number in numbers]
            answers = await (await self.of(part)).closures(own, operation, asked)
            for number, each in zip(numbers, answers, strict=True):
                found[number] = replace(
                    each,
                    own=tuple(_whole_key(resource, key, part) for key in each.own),
                    first=tuple(_whole_key(resource, key, part) for key in each.first),
                )
        return found

    async def close(self) -> None:
        """See `SourceReader.close`."""
        for reader in self._parts.values():
            await reader.close()
        self._parts.clear()

    async def of(self, part: Mapping[str, str]) -> SqlReader:
        """Return the reader of one part, connected. Raises `SourceError`."""
        config, named = of_part(self._config, part), self._named(part)
        async with self._opening:
            if named not in self._parts:
                self._parts[named] = await self._opened(config, part)
            return self._parts[named]

    async def _opened(self, config: SqlConfig, part: Mapping[str, str]) -> SqlReader:
        """Connect to one part, having made sure that no other part is the same database."""
        reader = await SqlReader.open(self._source, config)
        try:
            place = _place(await reader.identity())
            other = self._places.setdefault(place, dict(part))
            if other != part:
                detail = (
                    f"the parts {part_name(other)} and {part_name(part)} are one and the same database, so that each "
                    "object would be there several times"
                )
                raise SourceError(not_covered(detail))
        except SourceError:
            await reader.close()
            raise
        return reader

    def _named(self, part: Mapping[str, str]) -> tuple[str, ...]:
        return tuple(part[name] for name in self._config.partitions)


@dataclass(frozen=True, slots=True)
class _Heard:
    """An open read of one part that notes when the part has given its first page. See `Scan`."""

    scan: Scan
    answered: set[tuple[str, ...]]
    part: tuple[str, ...]

    @property
    def info(self) -> ScanInfo:
        """See `Scan.info`."""
        return self.scan.info

    async def fetch(self, cursor: str | None) -> Page:
        """See `Scan.fetch`."""
        page = await self.scan.fetch(cursor)
        self.answered.add(self.part)
        return page


class SplitActor:
    """Acts in the parts. See `SourceActor`."""

    def __init__(self, source: str, config: SqlConfig) -> None:
        self._source, self._config = source, config
        self._opening = asyncio.Lock()
        self._parts: dict[tuple[str, ...], SqlActor] = {}

    async def identity(self) -> Mapping[str, str]:
        """See `SourceActor.identity`."""
        return _target(self._config, self._config.url if self._config.act_url is None else self._config.act_url)

    async def perform(self, call: ActCall) -> ActResult:
        """See `SourceActor.perform`."""
        try:
            actor, own = await self._of(call)
        except SourceError as error:
            return ActResult(Outcome.FAILED, None, f"nothing was written: {error.reason.detail}")
        return await actor.write(own)

    async def back_up(self, call: ActCall) -> Mapping[str, Any] | None:
        """See `TakesBackups.back_up`. Raises `SourceError` when the part can't be asked."""
        actor, own = await self._of(call)
        return await actor.back_up(own)

    async def took_effect(self, call: ActCall) -> bool | None:
        """See `SourceActor.took_effect`. Raises `SourceError` when the part can't be asked."""
        actor, own = await self._of(call)
        return await actor.took_effect(own)

    async def close(self) -> None:
        """See `SourceActor.close`."""
        for actor in self._parts.values():
            await actor.close()
        self._parts.clear()

    async def _of(self, call: ActCall) -> tuple[SqlActor, ActCall]:
        """Return the actor of the part that an object is in, and the call as this part knows it."""
        part = part_of(self._config.partitions, call.resource, call.key)
        own = own_call(call, part)
        named = tuple(part[name] for name in self._config.partitions)
        async with self._opening:
            if named not in self._parts:
                self._parts[named] = await self._opened(part)
            return self._parts[named], own

    async def _opened(self, part: Mapping[str, str]) -> SqlActor:
        """Connect to one part for writing, having made sure that it is the database that is read."""
        config = of_part(self._config, part)
        reader = await SqlReader.open(self._source, config)
        try:
            read = _targets(await reader.identity())
        finally:
            await reader.close()
        actor = await SqlActor.open(self._source, config)
        written = _targets(await actor.identity())
        if written != read:
            await actor.close()
            detail = f"the part {part_name(part)} is read in one database and written in another"
            raise SourceError(not_covered(detail))
        return actor


def _targets(facts: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in facts.items() if name.startswith(TARGET_FACTS)}


def _place(facts: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return what a database has under whatever name it is reached: its file, or its cluster and what is read there."""
    if "file" in facts:
        return (("file", facts["file"]),)
    names = {"target_host", "target_port"} if "target_system" in facts else set()
    return tuple(sorted((name, value) for name, value in _targets(facts).items() if name not in names))


def _target(config: SqlConfig, address: DatabaseUrl) -> Mapping[str, str]:
    """Return the facts that hold for every part: where the template leads, without secrets."""
    url = make_url(address.resolve())
    split_by = ", ".join(config.partitions)
    if url.get_backend_name() == "sqlite":
        return {
            "target_dialect": "sqlite",
            "target_path": url.database or "",
            "target_split_by": split_by,
            "user": local_user(),
            **tables_of_sqlite(config),
        }
    return {
        "target_dialect": "postgresql",
        "target_host": url.host or "",
        "target_port": str(url.port or ""),
        "target_database": url.database or "",
        "target_split_by": split_by,
        "user": url.username or "",
        **{
            f"{TARGET_OBJECTS}{name}": objects_of(f"{table.db_schema}.{table.table}", table.key)
            for name, table in config.resources.items()
            if table.db_schema is not None  # else the search path of each part chooses
        },
    }


def _whole_key(resource: Resource, key: tuple[Value, ...], part: Mapping[str, str]) -> tuple[Value, ...]:
    """Return the key of an object of a part as it is in the whole."""
    rest = iter(key)
    return tuple(part[name] if name in part else next(rest) for name in resource.key)

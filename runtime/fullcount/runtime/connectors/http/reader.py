"""The reading side of an HTTP source. It sends no request that writes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from fullcount.compiler.catalog import Resource
from fullcount.compiler.values import Cell, Value
from fullcount.runtime.connectors.base import Matches, Question, Reading, Scan, SourceError
from fullcount.runtime.connectors.http import many, paths
from fullcount.runtime.connectors.http.client import HttpClient
from fullcount.runtime.connectors.http.conditions import number_of
from fullcount.runtime.connectors.http.config import HttpConfig, HttpResource
from fullcount.runtime.connectors.http.exchange import Exchange, Request
from fullcount.runtime.connectors.http.objects import detail_of, limits_of, places_for, read_object
from fullcount.runtime.connectors.http.opening import asked_identity, open_client
from fullcount.runtime.connectors.http.page import read_page
from fullcount.runtime.connectors.http.scan import Listing, open_scan, operation_for
from fullcount.runtime.connectors.http.speaking import requests_of, spoken
from fullcount.runtime.connectors.http.template import NoValueError, path_of
from fullcount.runtime.evidence.codes import BLOCKING_WARNINGS, Reason
from fullcount.runtime.evidence.envelope import Incompleteness

_MOST_PAGES = 200
"""Pages of one targeted look-up: what goes beyond is not targeted."""


class HttpReader:
    """Reads lists and objects. See `SourceReader`."""

    def __init__(self, config: HttpConfig, client: HttpClient) -> None:
        self._config, self._client = config, client
        self._dialect = spoken(config)

    @classmethod
    def open(cls, config: HttpConfig) -> HttpReader:
        """Make the connection pool; nothing is contacted yet. Raises `WorkspaceError` FC605."""
        return cls(config, open_client(config, config.auth))

    async def identity(self) -> Mapping[str, str]:
        """See `SourceReader.identity`."""
        return await asked_identity(self._config, self._config.auth, self._client)

    @asynccontextmanager
    async def scan(self, question: Question) -> AsyncIterator[Scan]:
        """See `SourceReader.scan`."""
        settings = self._config.resources[question.resource.name]
        async with open_scan(self._dialect, self._client, self._listing(settings, question.fields)) as scan:
            yield scan

    def _listing(self, settings: HttpResource, fields: Sequence[str], start: Request | None = None) -> Listing:
        starts = requests_of(settings) if start is None else (start,)
        return Listing(
            starts,
            places_for(settings, fields),
            detail=detail_of(settings, fields),
            limits=limits_of(settings.detail),
            guarantee=settings.consistency,
        )

    async def read(self, resource: Resource, key: tuple[Value, ...], fields: Sequence[str]) -> Reading:
        """See `SourceReader.read`."""
        settings = self._config.resources[resource.name]
        return await read_object(self._dialect, self._client, settings, resource, key, fields)

    def most_keys(self, resource: Resource) -> int:
        """See `ReadsMany.most_keys`."""
        return many.most_keys(self._config.resources[resource.name])

    async def read_many(
        self, resource: Resource, keys: Sequence[tuple[Value, ...]], fields: Sequence[str]
    ) -> Mapping[tuple[Value, ...], Mapping[str, Cell]]:
        """See `ReadsMany.read_many`."""
        listed = await self._listed(resource, keys, fields)
        return {} if listed is None else listed.once()

    def most_values(self, resource: Resource, field: str) -> int:
        """See `LooksUpMany.most_values`: values of the key alone can be asked for by a list."""
        return self.most_keys(resource) if resource.key == (field,) else 0

    async def lookup_many(
        self, resource: Resource, field: str, values: Sequence[Value], fields: Sequence[str]
    ) -> Mapping[Value, Matches]:
        """See `LooksUpMany.lookup_many`."""
        asked = self._config.resources[resource.name].read_many
        listed = await self._listed(resource, [(value,) for value in values], fields)
        return {} if asked is None or listed is None else many.matches(asked, listed, values)

    async def _listed(
        self, resource: Resource, keys: Sequence[tuple[Value, ...]], fields: Sequence[str]
    ) -> many.Listed | None:
        """Ask for objects by a list of their keys; None: there is no such list, or something is missing from it."""
        settings = self._config.resources[resource.name]
        request = many.request_for(settings, resource, keys, fields)
        if request is None:
            return None
        listing = self._listing(settings, tuple(dict.fromkeys((*resource.key, *fields))), request)
        found: dict[tuple[Value, ...], list[Mapping[str, Cell]]] = {}
        ended, counted = False, 0
        async with open_scan(self._dialect, self._client, listing) as scan:
            cursor: str | None = None
            for _ in range(_MOST_PAGES):
                page = await scan.fetch(cursor)
                counted += page.rows
                if not many.is_whole(page) or (page.cursor is None and many.miscounted(page, counted) is not None):
                    return None
                for key, cells in many.objects(page, resource, fields):
                    found.setdefault(key, []).append(cells)
                cursor, ended = page.cursor, page.end is not None
                if cursor is None:
                    break
        return many.Listed(found, ended)

    async def lookup(self, resource: Resource, field: str, value: Value, fields: Sequence[str]) -> Matches:
        """See `SourceReader.lookup`. A source may answer with more than was asked for; only what matches is kept."""
        settings = self._config.resources[resource.name]
        try:
            target = path_of(settings.lookup[field], {field: (value, resource.fields[field].type)})
        except NoValueError:
            detail = f"`{field}` has a value that can't be asked for"
            return Matches((), complete=False, reasons=(Incompleteness(code=Reason.SCOPE_NOT_COVERED, detail=detail),))
        wanted = tuple(dict.fromkeys((*fields, field)))
        listing = self._listing(settings, wanted, Request.to(target))
        rows: list[Mapping[str, Cell]] = []
        reasons: list[Incompleteness] = []
        ended, counted = False, 0
        async with open_scan(self._dialect, self._client, listing) as scan:
            cursor: str | None = None
            for _ in range(_MOST_PAGES):
                page = await scan.fetch(cursor)
                counted += page.rows
                rows += [
                    {name: cells[name] for name in fields}
                    for cells in many.rows(page, resource, wanted)
                    if cells[field].value is None or cells[field].value == value
                ]
                reasons += page.reasons
                late = [notice for notice in page.warnings if notice.code in BLOCKING_WARNINGS]
                reasons += [Incompleteness(code=Reason.COMPLETENESS_UNPROVABLE, detail=str(one.code)) for one in late]
                cursor, ended = page.cursor, page.end is not None
                if cursor is None:
                    other = many.miscounted(page, counted)
                    reasons += [] if other is None else [other]
                    break
        return Matches(tuple(rows), complete=ended and len(reasons) == 0, reasons=tuple(reasons))

    async def count(self, resource: Resource) -> int:
        """See `SourceReader.count`."""
        where = self._config.resources[resource.name].count
        if where is None:
            detail = f"`{resource.name}` has no `count`"
            raise SourceError(Incompleteness(code=Reason.COMPLETENESS_UNPROVABLE, detail=detail))
        request = Request.to(where.path)
        operation = operation_for(self._dialect, request)
        reply = await self._client.send(request, operation.xml_lists)
        whole = operation.model_copy(update={"kind": "object", "items": "", "proof": [""]})
        if not isinstance(reply.body, int):  # some answer with a bare number
            read_page(whole, Exchange(request, reply, host=self._client.host))
        raw = (
            reply.headers.get(where.header.lower())
            if where.header is not None
            else paths.first(reply.body, where.at or "")
        )
        number = number_of(raw)
        if number is None or number != int(number) or number < 0:
            detail = f"{request.summary}: there is no count where the configuration says"
            raise SourceError(Incompleteness(code=Reason.MALFORMED_RESPONSE, detail=detail))
        return int(number)

    async def close(self) -> None:
        """See `SourceReader.close`."""
        await self._client.close()

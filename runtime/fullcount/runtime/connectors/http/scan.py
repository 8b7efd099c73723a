"""An open read of one list over HTTP: pages as the dialect reads them, and what only shows over several pages.

Guarantees: one reply is one page; nothing is retried, merged or concluded here. What two pages say against each other
(another snapshot, a broken order, a right that was lost, a cursor that stands still) is a reason on the page at which
it shows. Memory does not grow with the list, except by one short mark an object where names may share an object.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from fullcount.compiler.claims import Consistency
from fullcount.runtime.connectors.base import Page, ScanInfo, SourceError
from fullcount.runtime.connectors.http import paths
from fullcount.runtime.connectors.http.conditions import fits
from fullcount.runtime.connectors.http.details import DETAIL, NO_LIMITS, Details, Limits
from fullcount.runtime.connectors.http.exchange import Exchange, Reply, Request
from fullcount.runtime.connectors.http.fields import Place, columns_of
from fullcount.runtime.connectors.http.following import begins_later, carries_cursor, cursor_of
from fullcount.runtime.connectors.http.forms import Detail, Dialect, Operation
from fullcount.runtime.connectors.http.order import Order
from fullcount.runtime.connectors.http.page import read_page
from fullcount.runtime.connectors.http.said import Following, Found, Said, together, way_on
from fullcount.runtime.evidence.codes import Reason, WarningCode, Way
from fullcount.runtime.evidence.envelope import Incompleteness

_NEXT_PART = "next part"


class Client(Protocol):
    """What sends a request. It never raises for what HTTP or a network does: that is in the reply."""

    @property
    def host(self) -> str:
        """The host that is spoken to."""
        ...

    async def send(self, request: Request, xml_lists: Sequence[str] = ()) -> Reply:
        """Send and return the reply; `xml_lists` are the elements that an XML body repeats."""
        ...


@dataclass(frozen=True, slots=True)
class Listing:
    """What to list: the first request of each part, the fields, and how much is asked besides."""

    starts: tuple[Request, ...]
    fields: Mapping[str, Place]
    probes: tuple[str, ...] | None = None
    """Requests before the list; None: those of the dialect."""
    details: bool = True
    detail: Detail | None = None
    """A further request for each object instead of the dialect's."""
    limits: Limits = NO_LIMITS
    """What the further requests may cost."""
    guarantee: Consistency | None = None
    """What the configuration vouches for instead of the dialect."""


def operation_for(dialect: Dialect, request: Request) -> Operation:
    """Return the operation that reads the replies to a request: the first that fits; the last fits everything."""
    exchange = Exchange(request, Reply())
    return next(one for one in dialect.operations if fits(one.when, exchange))


@asynccontextmanager
async def open_scan(dialect: Dialect, client: Client, listing: Listing) -> AsyncIterator[HttpScan]:
    """Ask the probes and the first page. Raises `SourceError`."""
    scan = HttpScan(dialect, client, listing)
    await scan.begin()
    yield scan


@dataclass(slots=True)
class HttpScan:
    """See `Scan`."""

    dialect: Dialect
    client: Client
    listing: Listing
    info: ScanInfo = field(init=False)
    _facts: frozenset[str] = frozenset()
    _part: int = 0
    _collected: int = 0
    _following: Following | None = None
    _buffered: Page | None = None
    _pin: str | None = None
    _order: Order | None = None
    _rights: dict[str, frozenset[str]] = field(default_factory=dict)
    _marks: set[bytes] = field(default_factory=set)
    _details: Details = field(init=False)
    _loose: set[str] = field(default_factory=set)
    """Fields that some object did not have: their columns are made, page by page."""

    def __post_init__(self) -> None:
        taken = [name for name, place in self.listing.fields.items() if (place.at or "").startswith(f"{DETAIL}/")]
        self._details = Details(self._send, self.client.host, self.listing.limits, taken)

    async def _send(self, request: Request) -> tuple[Reply, Operation]:
        operation = operation_for(self.dialect, request)
        return await self.client.send(request, operation.xml_lists), operation

    async def begin(self) -> None:
        """Ask what has to be known before the list, then its first page, which says how the pages belong together."""
        start = self.listing.starts[0]
        operation = operation_for(self.dialect, start)
        self._facts = await self._probe(operation, start)
        self._buffered, said = await self._read(start)
        keeps = self._consistency(operation, said)
        self.info = ScanInfo(
            consistency=keeps,
            visibility=self.dialect.visibility,
            snapshot_token=self._pin if keeps is Consistency.PINNED else None,
            confirm=keeps is Consistency.UNSTABLE,
            shifts=said is not None and _shifts(said),
        )

    def _consistency(self, operation: Operation, said: Said | None) -> Consistency:
        keeps = self._of_pages(said)
        asks_more = self.listing.details and (self.listing.detail or operation.detail) is not None
        # each detail is read at an instant of its own
        return Consistency.INTERVAL if asks_more and keeps is Consistency.PINNED else keeps

    def _of_pages(self, said: Said | None) -> Consistency:
        if self.listing.guarantee is not None:
            return self.listing.guarantee
        if len(self.listing.starts) > 1:
            return Consistency.UNSTABLE
        if self._pin is not None:
            return Consistency.PINNED
        following = None if said is None else said.following
        return Consistency.INTERVAL if following is None else following.keeps

    async def _probe(self, operation: Operation, start: Request) -> frozenset[str]:
        templates = operation.probes if self.listing.probes is None else self.listing.probes
        facts: set[str] = set()
        for template in templates:
            target = template.replace("{path}", start.path).replace("{parent}", start.path.rpartition("/")[0])
            request = replace(Request.to(target), headers=start.headers)
            probe = operation_for(self.dialect, request)
            exchange = Exchange(request, await self.client.send(request), host=self.client.host)
            read_page(replace_kind(probe), exchange)
            facts |= {fact.name for fact in probe.fact if fits(fact.when, exchange)}
        return frozenset(facts)

    async def fetch(self, cursor: str | None) -> Page:
        """See `Scan.fetch`."""
        if cursor is None and self._buffered is not None:
            page, self._buffered = self._buffered, None
            return page
        if cursor is None:
            return (await self._read(self.listing.starts[0]))[0]
        if self._part > 0 and cursor == self._part_cursor:
            return (await self._read(self.listing.starts[self._part]))[0]
        if self._following is not None and cursor == self._following.cursor:
            return (await self._read(self._following.request))[0]
        found = Incompleteness(code=Reason.CURSOR_EXPIRED, detail="the cursor is not that of the page before")
        raise SourceError(found, continuation=way_on(Way.RESTART))

    async def _read(self, request: Request) -> tuple[Page, Said | None]:
        operation = operation_for(self.dialect, request)
        if carries_cursor(operation, request):
            request = replace(request, resumed=True)
        reply = await self.client.send(request, operation.xml_lists)
        asked = frozenset(self.listing.fields)
        exchange = Exchange(request, reply, self._facts, asked, self.client.host)
        try:
            said = read_page(operation, exchange, self._collected)
        except SourceError as error:
            if len(self.listing.starts) == 1:
                raise
            return self._lost_part(request, error), None
        detail = self.listing.detail or operation.detail
        if self.listing.details and detail is not None:
            await self._details.add(detail, operation, request, said)
        self._compare(operation, exchange, said)
        columns, states = columns_of(operation, exchange, said, self.listing.fields, self._loose)
        self._collected += len(said.items)
        return self._page(said, columns, states), said

    def _page(self, said: Said, columns: Mapping[str, Sequence[Any]], states: Mapping[str, Any]) -> Page:
        self._following = said.following
        cursor = None if said.following is None else said.following.cursor
        end = said.end
        if cursor is None and end is not None and self._part + 1 < len(self.listing.starts):
            cursor, end = self._next_part(), None
        reasons, way, dead_end = together(said.found)
        return Page(
            columns=columns,
            rows=len(said.items),
            states=states,
            cursor=cursor,
            end=end,
            total=said.total if len(self.listing.starts) == 1 else None,
            reasons=reasons,
            warnings=tuple(said.warnings),
            continuation=way,
            dead_end=dead_end,
            unless_continued=tuple(one.reason for one in said.pending),
        )

    def _next_part(self) -> str:
        self._part += 1
        return self._part_cursor

    @property
    def _part_cursor(self) -> str:
        return f"{_NEXT_PART} {self._part}"

    def _lost_part(self, request: Request, error: SourceError) -> Page:
        """Name the part that did not answer, and go on with the next one: they are listed together (R18)."""
        reason = error.reason.model_copy(update={"part": request.path})
        more = self._part + 1 < len(self.listing.starts)
        return Page(
            columns={name: [] for name in self.listing.fields},
            rows=0,
            cursor=self._next_part() if more else None,
            reasons=(reason,),
            continuation=error.continuation,
        )

    # --- what shows over several pages -------------------------------------------------------------------------------

    def _compare(self, operation: Operation, exchange: Exchange, said: Said) -> None:
        self._compare_pins(operation, exchange, said)
        self._compare_rights(operation, exchange, said)
        if self._order is None:
            self._order = Order.asked(operation, exchange.request)
        if self._order is not None and not self._order.holds(said.items):
            detail = f"the rows do not come in the order by `{self._order.field}` that was asked for"
            said.found.append(Found(Incompleteness(code=Reason.UNSTABLE_ORDER, detail=detail), way_on(Way.RESTART)))
        used = exchange.request.cursor or cursor_of(operation, exchange.request)
        if said.following is not None and (said.following.cursor == used or _is_same(said.following, exchange)):
            detail = "the page gave the very cursor with which it was asked for"
            found = Incompleteness(code=Reason.CURSOR_LOOP, detail=detail)
            said.found.append(Found(found, way_on(Way.RESTART)))
            said.following = None
        if said.end is not None:
            self._compare_wanted(operation, exchange, said)
            self._compare_start(said)
        if operation.shared is not None:
            self._compare_names(operation, said)

    def _compare_pins(self, operation: Operation, exchange: Exchange, said: Said) -> None:
        if operation.pinned_when is not None:
            said.pin = "by the request" if fits(operation.pinned_when, exchange) else None
        if self._collected == 0 and self._pin is None:
            self._pin = said.pin
        elif said.pin != self._pin and len(self.listing.starts) == 1:
            detail = f"a page belongs to the state `{said.pin}`, those before it to `{self._pin}`"
            found = Incompleteness(code=Reason.SNAPSHOT_CHANGED, detail=detail)
            said.found.append(Found(found, way_on(Way.RESTART)))

    def _compare_rights(self, operation: Operation, exchange: Exchange, said: Said) -> None:
        for name in operation.steady_header:
            text = exchange.reply.headers.get(name)
            rights = frozenset() if text is None else frozenset(part.strip() for part in text.split(",")) - {""}
            before = self._rights.setdefault(name, rights)
            if len(before - rights) > 0:
                lost = ", ".join(f"`{right}`" for right in sorted(before - rights))
                detail = f"the reader lost {lost} while it was reading (`{name}`)"
                said.found.append(Found(Incompleteness(code=Reason.VISIBILITY_RESTRICTED, detail=detail), None))

    def _compare_wanted(self, operation: Operation, exchange: Exchange, said: Said) -> None:
        for place in operation.wanted:
            wanted = paths.first(exchange.request.body, place)
            got = self._collected + len(said.items)
            if isinstance(wanted, list) and got < len(set(map(str, wanted))) and said.following is None:
                detail = f"{len(wanted):,} objects were asked for by name (`{place}`), and {got:,} came back"
                said.found.append(Found(Incompleteness(code=Reason.COUNT_MISMATCH, detail=detail), None))

    def _compare_start(self, said: Said) -> None:
        """The end of a list that was not read from its beginning proves nothing of what stands before it."""
        first = self.listing.starts[0]
        alone = len(self.listing.starts) == 1 and len(said.found) == 0
        if alone and begins_later(operation_for(self.dialect, first), first):
            detail = f"{first.summary}: the read begins at a later page, and what stands before it was not read"
            said.found.append(Found(Incompleteness(code=Reason.SCOPE_NOT_COVERED, detail=detail), None))

    def _compare_names(self, operation: Operation, said: Said) -> None:
        shared = operation.shared
        if shared is None:
            return
        untold = False
        for item in said.items:
            several = False
            if shared.names is not None:
                names = paths.first(item, shared.names)
                several = isinstance(names, list) and len(names) > 1
            value = None if shared.same is None else paths.first(item, shared.same) or None  # "" names no object
            untold = untold or (value is None and shared.same is not None and DETAIL in item)
            if value is not None:
                mark = hashlib.blake2b(str(value).encode(errors="surrogatepass"), digest_size=12).digest()
                several = several or mark in self._marks
                self._marks.add(mark)
            if several:
                said.warn(
                    WarningCode.SHARED_IDENTITY, "several names stand for one object: an act on it takes them all"
                )
                return
        if untold:
            detail = "a name does not tell for which object it stands: others may stand for the same one"
            said.warn(WarningCode.PARTIAL_FIELD_SET, detail)


def _is_same(following: Following, exchange: Exchange) -> bool:
    """Whether the way to the next page is the request that was just made, however the address is written."""
    return exchange.request.place == following.request.place


def _shifts(said: Said) -> bool:
    """Whether a row that comes twice tells of one that was missed."""
    shifts = False if said.following is None else said.following.shifts
    return said.total is None if shifts == "uncounted" else shifts


def replace_kind(probe: Operation) -> Operation:
    """Return a probe's operation so that its body is taken as one object."""
    whole = {"kind": "object", "items": "", "proof": [""], "cursor": [], "total": None, "order": []}
    return probe.model_copy(update=whole)


def keyed(operation: Operation, items: Sequence[Any]) -> str | None:
    """Return the first place of the operation at which any item has its name; None if none has one."""
    return next((place for place in operation.key if any(paths.first(item, place) is not None for item in items)), None)

"""From a reply to the request for the next page, in each of the ways in which APIs speak of one.

Guarantees: a request is made only of what the source gave, or of the position that it stated; an address that it gave
is followed with its path and query on the configured host, never to another one, so that credentials stay where they
belong.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fullcount.runtime.connectors.http import paths
from fullcount.runtime.connectors.http.conditions import Seen, asked_number, fits, number_of
from fullcount.runtime.connectors.http.exchange import Exchange, Request, links, split_target
from fullcount.runtime.connectors.http.forms import Cursor, Offset, Operation
from fullcount.runtime.connectors.http.said import Following, Found, refusal
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness


def next_page(
    operation: Operation, exchange: Exchange, items: Sequence[Any], seen: Seen
) -> tuple[Following | None, bool]:
    """Return the next page's request, and whether the reply says that there is more at all.

    Raises `SourceError` where what should be the next page's address is none.
    """
    promised = False
    for cursor in operation.cursor:
        if cursor.more is not None:
            if not fits(cursor.more, exchange, seen):
                continue
            promised = promised or cursor.offset is None
        request = _request(cursor, exchange, items)
        if request is not None and request.cursor is not None:
            if not _can_be_sent(request.cursor):
                return None, True
            return Following(request, request.cursor, cursor.keeps, cursor.shifts), True
    return None, promised


def _can_be_sent(cursor: str) -> bool:
    """Whether it is text: half a character, which JSON can have, can't be sent back."""
    try:
        cursor.encode()
    except UnicodeEncodeError:
        return False
    return True


def cursor_of(operation: Operation, request: Request) -> str | None:
    """Return the cursor that a request carries as it stands, in one of the ways of the operation."""
    for cursor in operation.cursor:
        if cursor.query is not None and (text := request.asked(cursor.query)) is not None:
            return text
        if cursor.body is not None and (value := paths.first(request.body, cursor.body)) is not None:
            return _text(value)
    return None


def carries_cursor(operation: Operation, request: Request) -> bool:
    """Return whether a request goes on from an earlier reply: it names a cursor, not a position or a first key."""
    names = [one for one in operation.cursor if one.offset is None and one.last is None]
    by_key = [one for one in operation.cursor if one.last is not None and one.query is not None]
    return cursor_of(operation.model_copy(update={"cursor": [*names, *by_key]}), request) is not None


def begins_later(operation: Operation, request: Request) -> bool:
    """Return whether a request asks for a later page than the first, so that what stands before it is not read."""
    by_place = {one.asked: one.first for cursor in operation.cursor if (one := cursor.offset) is not None}
    positions = {**_POSITIONS, **by_place}
    for name, first in positions.items():
        text = None if name is None else request.asked(name)
        if text is not None and (number_of(text) or 0) > first:
            return True
    named = [one for one in operation.cursor if one.offset is None and one.query not in positions]
    given = [request.asked(one.query) for one in named if one.query is not None]
    sent = [paths.first(request.body, one.body) for one in named if one.body is not None and one.last is None]
    return any(value is not None and value not in ("", [], {}) for value in [*given, *sent])


_POSITIONS: Mapping[str | None, int] = {
    "page": 1,
    "page[number]": 1,
    "page[offset]": 0,
    "offset": 0,
    "skip": 0,
    "$skip": 0,
    "startAt": 0,
    "startIndex": 1,
}
"""Query parameters by which APIs page by position, and the first position of each."""


def _request(cursor: Cursor, exchange: Exchange, items: Sequence[Any]) -> Request | None:
    address = _address(cursor, exchange)
    if address is not None:
        try:
            path, query = split_target(address)
        except ValueError:
            detail = f"{exchange.request.summary}: the address that it gives for the next page is none"
            raise refusal([Found(Incompleteness(code=Reason.MALFORMED_RESPONSE, detail=detail), None)]) from None
        if not address.startswith(("/", "http:", "https:")):
            path = exchange.request.path
        return replace(exchange.request, path=path, query=query, resumed=True, cursor=address)
    value = _value(cursor, exchange, items)
    if value is None or value == "":
        return None
    request = replace(exchange.request, resumed=True, cursor=_text(value))
    if cursor.query is not None:
        request = request.with_query(cursor.query, _text(value))
    for name, source in cursor.query_too.items():
        further = paths.first(exchange.reply.body, source)
        if further is not None:
            request = request.with_query(name, _text(further))
    if cursor.body is not None:
        request = replace(request, body=paths.put(request.body, cursor.body, value))
    held = {place: source for place, source in cursor.hold.items() if len(paths.find(request.body, place)) == 0}
    for place, source in {**cursor.carry, **held}.items():
        carried = paths.first(exchange.reply.body, source)
        if carried is not None:
            request = replace(request, body=paths.put(request.body, place, carried))
    return request


def _address(cursor: Cursor, exchange: Exchange) -> str | None:
    if cursor.link is not None:
        return links(exchange.reply.headers.get("link", "")).get(cursor.link)
    if cursor.url is None:
        return None
    value = paths.first_of(exchange.reply.body, cursor.url)
    if isinstance(value, dict):  # HAL and JSON:API may put the address into an object
        value = value.get("href")
    return value if isinstance(value, str) and value != "" else None


def _value(cursor: Cursor, exchange: Exchange, items: Sequence[Any]) -> Any:
    if cursor.header is not None:
        return exchange.reply.headers.get(cursor.header, "").strip() or None
    if cursor.at is not None:
        return paths.first_of(exchange.reply.body, cursor.at)
    if cursor.last is not None:
        value = paths.first(items[-1], cursor.last) if len(items) > 0 else None
        return _successor(value) if cursor.successor and isinstance(value, str) else value
    if cursor.offset is not None:
        return _position(cursor.offset, exchange, len(items))
    return None


def _position(offset: Offset, exchange: Exchange, count: int) -> int | None:
    """Return where the next page begins; None at the end, or if a page gave nothing to go on from."""
    body = exchange.reply.body
    start = None if offset.start is None else number_of(paths.first(body, offset.start))
    if start is None and offset.asked is not None:
        start = asked_number(exchange, offset.asked)
    total = number_of(paths.first_of(body, offset.total))
    stated = None if offset.count is None else number_of(paths.first(body, offset.count))
    if total is None:
        return None
    here = offset.first if start is None else int(start)
    given = count if stated is None else min(int(stated), count)
    following = here + given
    return following if given > 0 and following - offset.first < total else None


def _successor(key: str) -> str | None:
    """Return the first key behind one that is given in base64; None if it is not base64."""
    try:
        return b64encode(b64decode(key, validate=True) + b"\0").decode()
    except ValueError:
        return None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, separators=(",", ":"), default=float)

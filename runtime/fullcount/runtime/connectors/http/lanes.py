"""Connections that take turns: each carries one request at a time, and the one that was used last is used next.

Guarantees: a request is sent once, on one connection; a connection whose reply was not read to its end, or that broke,
is never used again; no more than `MOST` are open. What goes wrong is told in httpx's own exceptions.

It stands in for the pool of httpx, which looks through all its connections at each request and lets several requests
fight over one of them: with sixteen at a time that takes longer than the requests.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Final

import httpcore
import httpx

MOST: Final = 100
"""Connections that are open at once; who comes then waits for as long as a request may for the pool."""
_KEPT: Final = 20
"""Connections that are kept while nobody uses them."""
_KEPT_SECONDS: Final = 5.0

_SAID: Final[dict[type[Exception], type[httpx.TransportError]]] = {
    getattr(httpcore, name): getattr(httpx, name)
    for name in (
        "ConnectError",
        "ConnectTimeout",
        "LocalProtocolError",
        "NetworkError",
        "PoolTimeout",
        "ProtocolError",
        "ProxyError",
        "ReadError",
        "ReadTimeout",
        "RemoteProtocolError",
        "TimeoutException",
        "UnsupportedProtocol",
        "WriteError",
        "WriteTimeout",
    )
}


class Lanes(httpx.AsyncBaseTransport):
    """The transport of an `httpx.AsyncClient` that talks to few hosts, without a proxy."""

    def __init__(self, context: ssl.SSLContext) -> None:
        """`context`: whom to trust."""
        self._context = context
        self._idle: dict[str, list[httpcore.AsyncHTTPConnection]] = {}
        self._places = asyncio.Semaphore(MOST)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """See `httpx.AsyncBaseTransport`. Raises `httpx.TransportError`."""
        url = request.url
        where = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        if where.scheme not in {b"http", b"https"}:
            msg = f"a request to `{url.scheme}:` can't be sent"
            raise httpx.UnsupportedProtocol(msg)
        asked = httpcore.Request(
            method=request.method,
            url=where,
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        await self._place(request)
        lane: httpcore.AsyncHTTPConnection | None = None
        try:
            lane = await self._lane(where.origin)
            with _said():
                reply = await lane.handle_async_request(asked)
        except BaseException:  # also a cancellation: the place is given back whatever happened
            self._places.release()
            raise
        body = _Body(self, lane, where.origin, reply)
        return httpx.Response(reply.status, headers=reply.headers, stream=body, extensions=reply.extensions)

    async def _place(self, request: httpx.Request) -> None:
        if not self._places.locked():
            await self._places.acquire()
            return
        try:
            async with asyncio.timeout(request.extensions.get("timeout", {}).get("pool")):
                await self._places.acquire()
        except TimeoutError:
            msg = f"all {MOST} connections are in use"
            raise httpx.PoolTimeout(msg) from None

    async def _lane(self, origin: httpcore.Origin) -> httpcore.AsyncHTTPConnection:
        idle = self._idle.setdefault(str(origin), [])
        while len(idle) > 0:
            lane = idle.pop()
            if lane.is_available() and not lane.has_expired():
                return lane
            await lane.aclose()
        return httpcore.AsyncHTTPConnection(origin, self._context, keepalive_expiry=_KEPT_SECONDS)

    async def done(self, lane: httpcore.AsyncHTTPConnection, origin: httpcore.Origin) -> None:
        """Take back a connection whose reply was read, or given up."""
        self._places.release()
        idle = self._idle.setdefault(str(origin), [])
        if lane.is_available() and len(idle) < _KEPT:
            idle.append(lane)
        elif not lane.is_closed():
            await lane.aclose()

    async def aclose(self) -> None:
        """Close what is idle; what is in use is closed by whoever uses it."""
        while len(self._idle) > 0:
            _, lanes = self._idle.popitem()
            for lane in lanes:
                await lane.aclose()


class _Body(httpx.AsyncByteStream):
    """The body of a reply; the connection is free again once it was closed."""

    def __init__(
        self, lanes: Lanes, lane: httpcore.AsyncHTTPConnection, origin: httpcore.Origin, reply: httpcore.Response
    ) -> None:
        self._lanes, self._lane, self._origin, self._reply = lanes, lane, origin, reply
        self._open = True

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _said():
            async for part in self._reply.aiter_stream():
                yield part

    async def aclose(self) -> None:
        if not self._open:
            return
        self._open = False
        try:
            with _said():
                await self._reply.aclose()
        finally:
            await self._lanes.done(self._lane, self._origin)


@contextmanager
def _said() -> Iterator[None]:
    """Say what httpcore says in the words of httpx."""
    try:
        yield
    except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError, httpcore.ProxyError) as error:
        kind = next(_SAID[one] for one in type(error).__mro__ if one in _SAID)
        raise kind(str(error)) from error
    except httpcore.UnsupportedProtocol as error:
        raise httpx.UnsupportedProtocol(str(error)) from error

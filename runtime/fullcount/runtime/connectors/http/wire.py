"""Requests over the network: aiohttp behind the transport interface of httpx.

Guarantees: a request is sent once, on one connection, whatever its method is and however it fails; a connection whose
reply was not read to its end, or that broke, or on which something came that nobody had asked for, is never used again:
a reply that comes late must not pass for that to the next request. No more than `MOST` are open. No redirect is
followed, no cookie is kept, no body is decompressed here. What goes wrong is told in httpx's own exceptions, and a
request of which nothing can have been sent is told apart from one that may have arrived.

It stands in for httpx's own transport, which takes as long for a page of a thousand objects as decoding it does.
"""

from __future__ import annotations

import asyncio
import select
import ssl
from collections.abc import AsyncIterator
from contextvars import ContextVar
from io import BytesIO
from typing import Any, Final

import aiohttp
import httpx
from aiohttp.connector import Connection
from aiohttp.tracing import Trace
from yarl import URL

MOST: Final = 100
"""Connections that are open at once; who comes then waits for as long as a request may for the pool."""
_KEPT_SECONDS: Final = 5.0
_BUFFER: Final = 256 * 1024
"""Bytes of a reply that may wait to be taken before the other side is made to wait."""
_HEAD: Final = 100_000
"""Bytes of a line or of a header at most: links to next pages can be long."""
_HEADERS: Final = 1_000

_NEVER_SENT: Final = (aiohttp.ClientConnectorError, aiohttp.ClientConnectorCertificateError)
_UNSENDABLE: Final = (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError)


class Wire(httpx.AsyncBaseTransport):
    """The transport of an `httpx.AsyncClient`. Used within one event loop."""

    def __init__(self, context: ssl.SSLContext, proxy: str | None = None) -> None:
        """`context`: whom to trust; `proxy`: the address that everything goes through."""
        self._context, self._proxy = context, proxy
        self._places = asyncio.Semaphore(MOST)
        self._opened: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """See `httpx.AsyncBaseTransport`. Raises `httpx.TransportError`."""
        if request.url.scheme not in {"http", "https"}:
            msg = f"a request to `{request.url.scheme}:` can't be sent"
            raise httpx.UnsupportedProtocol(msg)
        await self._place(request)
        try:
            reply = await self._sent(request)
        except BaseException:  # also a cancellation: the place is given back whatever happened
            self._places.release()
            raise
        return httpx.Response(reply.status, headers=list(reply.raw_headers), stream=_Body(reply, self._places))

    async def aclose(self) -> None:
        """Close all connections."""
        session, self._opened = self._opened, None
        if session is not None:
            await session.close()

    async def _place(self, request: httpx.Request) -> None:
        if not self._places.locked():
            await self._places.acquire()
            return
        try:
            async with asyncio.timeout(_timeouts(request).get("pool")):
                await self._places.acquire()
        except TimeoutError:
            msg = f"all {MOST} connections are in use"
            raise httpx.PoolTimeout(msg) from None

    async def _sent(self, request: httpx.Request) -> aiohttp.ClientResponse:
        timeouts = _timeouts(request)
        body = await request.aread()
        address = f"{request.url.scheme}://{request.url.netloc.decode()}{request.url.raw_path.decode()}"
        try:
            return await self._session().request(
                request.method,
                URL(address, encoded=True),
                headers=[(name.decode(), value.decode()) for name, value in request.headers.raw],
                data=BytesIO(body) if len(body) > 0 else None,
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(
                    total=None, sock_connect=timeouts.get("connect"), sock_read=timeouts.get("read")
                ),
            )
        except aiohttp.ClientError as error:
            raise said(error) from error
        except ValueError as error:  # a line break in a header: nothing was sent
            raise httpx.LocalProtocolError(str(error)) from error

    def _session(self) -> aiohttp.ClientSession:
        if self._opened is None:
            self._opened = aiohttp.ClientSession(
                connector=_Connections(limit=0, ssl=self._context, keepalive_timeout=_KEPT_SECONDS),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                skip_auto_headers=("accept", "accept-encoding", "content-type", "user-agent"),
                trust_env=False,
                proxy=self._proxy,
                middlewares=(_once,),
                trace_configs=[_watch()],
                read_bufsize=_BUFFER,
                max_line_size=_HEAD,
                max_field_size=_HEAD,
                max_headers=_HEADERS,
            )
        return self._opened


_reused: ContextVar[bool] = ContextVar("_reused", default=False)
"""Whether the connection that the task has got was used before."""


class _Connections(aiohttp.TCPConnector):
    """Gives out no connection on which something came while it was kept."""

    async def connect(
        self,
        req: aiohttp.ClientRequest,
        traces: list[Trace],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 - the name is that of the library
    ) -> Connection:
        """See `BaseConnector.connect`."""
        while True:
            _reused.set(False)
            connection = await super().connect(req, traces, timeout)
            protocol = connection.protocol
            # what a new connection has to say is part of its beginning, such as the tickets of TLS
            if not _reused.get() or not (
                protocol is None or protocol.should_close or _is_readable(connection.transport)
            ):
                return connection
            connection.close()


def _is_readable(transport: asyncio.Transport | None) -> bool:
    """Whether something came that the loop has not taken yet, or the other side has closed."""
    held = None if transport is None else transport.get_extra_info("socket")
    if held is None or held.fileno() < 0:
        return True
    waiting = select.poll()
    waiting.register(held.fileno(), select.POLLIN)
    return len(waiting.poll(0)) > 0


def _watch() -> aiohttp.TraceConfig:
    async def note(*_: Any) -> None:
        _reused.set(True)

    watching = aiohttp.TraceConfig()
    watching.on_connection_reuseconn.append(note)
    return watching


async def _once(request: aiohttp.ClientRequest, send: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """Send a request and say at once what goes wrong: of its own errors aiohttp takes some as a cause to send again."""
    try:
        return await send(request)
    except aiohttp.ClientError as error:
        raise said(error) from error
    except OSError as error:
        raise httpx.ReadError(str(error)) from error


def said(error: aiohttp.ClientError) -> httpx.TransportError:
    """Return in the words of httpx what aiohttp says."""
    text = str(error) or type(error).__name__
    match error:
        case aiohttp.ClientHttpProxyError() | aiohttp.ClientProxyConnectionError():
            return httpx.ProxyError(text)
        case aiohttp.ConnectionTimeoutError():
            return httpx.ConnectTimeout(text)
        case aiohttp.ServerTimeoutError():
            return httpx.ReadTimeout(text)
        case _ if isinstance(error, _NEVER_SENT):
            return httpx.ConnectError(text)
        case _ if isinstance(error, _UNSENDABLE):
            return httpx.UnsupportedProtocol(text)
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientResponseError() | aiohttp.ClientPayloadError():
            return httpx.RemoteProtocolError(text)
        case _:
            return httpx.ReadError(text)


def _timeouts(request: httpx.Request) -> dict[str, float | None]:
    given: dict[str, float | None] = request.extensions.get("timeout", {})
    return given


class _Body(httpx.AsyncByteStream):
    """The body of a reply; the connection is free again once it was closed."""

    def __init__(self, reply: aiohttp.ClientResponse, places: asyncio.Semaphore) -> None:
        self._reply, self._places = reply, places
        self._open = True

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for part in self._reply.content.iter_any():
                yield part
        except aiohttp.ClientError as error:
            raise said(error) from error

    async def aclose(self) -> None:
        if not self._open:
            return
        self._open = False
        try:
            if self._reply.content.at_eof():
                self._reply.release()
            else:
                self._reply.close()
        finally:
            self._places.release()

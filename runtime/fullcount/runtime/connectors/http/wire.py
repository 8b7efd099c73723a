"""Requests over the network: aiohttp behind the transport interface of httpx.

Guarantees: a request is sent once, on one connection, whatever its method is and however it fails; a connection whose
reply was not read to its end, or that broke, or on which something came that nobody had asked for, is never used again:
a reply that comes late must not pass for that to the next request. No more than `MOST` are open. Connecting, and
a reply with all of its body, end within the given time. No redirect is followed, no cookie is kept, no body is
decompressed here. What goes wrong is told in httpx's own exceptions, and a request of which nothing can have been sent
is told apart from one that may have arrived.

It stands in for httpx's own transport, which takes as long for a page of a thousand objects as decoding it does.
"""

from __future__ import annotations

import asyncio
import re
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

_UNSAYABLE: Final = re.compile(r"[\0\r\n]")
_TOO_LONG: Final = "the reply was not there in time"
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
            until = _until(_timeouts(request))
            reply = await self._sent(request, until)
        except BaseException:  # also a cancellation: the place is given back whatever happened
            self._places.release()
            raise
        return httpx.Response(reply.status, headers=list(reply.raw_headers), stream=_Body(reply, self._places, until))

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

    async def _sent(self, request: httpx.Request, until: float | None) -> aiohttp.ClientResponse:
        timeouts = _timeouts(request)
        body = await request.aread()
        headers = [(name.decode(), value.decode()) for name, value in request.headers.raw]
        if any(_UNSAYABLE.search(text) is not None for header in headers for text in header):
            msg = "a header has a line break in it"
            raise httpx.LocalProtocolError(msg)
        address = f"{request.url.scheme}://{request.url.netloc.decode()}{request.url.raw_path.decode()}"
        try:
            async with asyncio.timeout_at(until):
                return await self._session().request(
                    request.method,
                    URL(address, encoded=True),
                    headers=headers,
                    data=BytesIO(body) if len(body) > 0 else None,
                    allow_redirects=False,
                    timeout=aiohttp.ClientTimeout(
                        total=None, connect=timeouts.get("connect"), sock_read=timeouts.get("read")
                    ),
                )
        except TimeoutError as error:
            raise httpx.ReadTimeout(_TOO_LONG) from error
        except aiohttp.ClientError as error:
            raise said(error) from error
        except ValueError as error:  # of aiohttp's own: whether something was sent by then is not known
            raise httpx.ReadError(str(error)) from error

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


def _until(timeouts: dict[str, float | None]) -> float | None:
    """Return by when everything of a reply must be there, on the loop's clock: each byte may come just in time."""
    connect, read = timeouts.get("connect"), timeouts.get("read")
    return None if connect is None or read is None else asyncio.get_running_loop().time() + connect + read


class _Body(httpx.AsyncByteStream):
    """The body of a reply; the connection is free again once it was closed."""

    def __init__(self, reply: aiohttp.ClientResponse, places: asyncio.Semaphore, until: float | None) -> None:
        self._reply, self._places, self._until = reply, places, until
        self._open = True

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (part := await self._part()) != b"":
            yield part

    async def _part(self) -> bytes:
        try:
            async with asyncio.timeout_at(self._until):
                return await self._reply.content.readany()
        except TimeoutError as error:
            raise httpx.ReadTimeout(_TOO_LONG) from error
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

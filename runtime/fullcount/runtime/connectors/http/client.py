"""Sending requests: a transport of httpx behind the one method that a scan needs.

Guarantees: a redirect is never followed, no cookie is kept, and no request goes to another host than the configured
one; what a network does is in the reply, never an exception; no message and no reply carries a header of the request,
so that credentials stay where they are. The client of httpx is left out: of all that it does for a request nothing is
wanted here.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Protocol

import httpx

from fullcount.runtime import __version__
from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.connectors.http.content import (
    ENCODINGS,
    BrokenContentError,
    TooMuchError,
    content_of,
    text_of,
)
from fullcount.runtime.connectors.http.decoding import decode
from fullcount.runtime.connectors.http.exchange import Fault, Reply, Request
from fullcount.runtime.connectors.http.forms import Wait
from fullcount.runtime.connectors.http.pace import Pace
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness

_WAITS = (
    Wait(header="retry-after"),
    Wait(header="x-ratelimit-reset", kind="epoch"),
    Wait(header="x-rate-limit-reset", kind="epoch"),
    Wait(header="ratelimit-reset"),
)
_LONGEST_BODY = 256 * 1024 * 1024
"""Bytes of one reply that are taken at most."""
_LONGEST_TOKEN = 1024 * 1024
"""Bytes of an answer with a token that are taken at most."""
_LONGEST_WORD = 2000
"""Characters of an error in bare words that are looked at."""


_TIMEOUT = 30.0
"""Seconds for connecting, and for a reply with all of its body, where nothing else is said."""
_SENT_ALWAYS: Mapping[str, str] = {
    "accept": "application/json",
    "accept-encoding": ENCODINGS,
    "user-agent": f"fullcount/{__version__}",
}

Ask = Callable[[httpx.Request], Awaitable[httpx.Response]]
"""Sends a request and reads the whole reply. Raises `httpx.TransportError`, `BrokenContentError` and `TooMuchError`."""


class Authorization(Protocol):
    """What makes a request one of a known caller."""

    async def headers(self, ask: Ask) -> Mapping[str, str]:
        """Return the headers to send. Raises `SourceError`."""
        ...

    def rejected(self) -> bool:
        """Forget what was refused; return whether another attempt with something new makes sense."""
        ...


class HttpClient:
    """One connection pool to one host, with one identity."""

    def __init__(
        self,
        transport: httpx.AsyncBaseTransport,
        base_url: str,
        headers: Mapping[str, str],
        authorization: Authorization | None = None,
        pace: Pace | None = None,
        timeout: float = _TIMEOUT,
    ) -> None:
        self._transport, self._authorization, self._pace = transport, authorization, pace
        self._base = httpx.URL(base_url)
        self._prefix = self._base.path.rstrip("/")
        self._headers = {**_SENT_ALWAYS, **{name.lower(): value for name, value in headers.items()}}
        self._extensions = {"timeout": httpx.Timeout(timeout).as_dict()}

    @property
    def host(self) -> str:
        """See `Client.host`."""
        return self._base.netloc.decode().lower()

    async def send(self, request: Request, xml_lists: Sequence[str] = ()) -> Reply:
        """See `Client.send`. Raises `SourceError` only where a credential can't be had."""
        reply = await self._once(request, xml_lists)
        if (
            reply.status == httpx.codes.UNAUTHORIZED
            and self._authorization is not None
            and self._authorization.rejected()
        ):
            reply = await self._once(request, xml_lists)
        return reply

    async def _once(self, request: Request, xml_lists: Sequence[str]) -> Reply:
        if self._pace is None:
            return await self._asked(request, xml_lists)
        await self._pace.wait()
        try:
            return await self._asked(request, xml_lists)
        finally:
            self._pace.answered()

    async def _asked(self, request: Request, xml_lists: Sequence[str]) -> Reply:
        given = {} if self._authorization is None else await self._authorization.headers(self._whole)
        try:
            asked = self._made(request, given)
        except (httpx.InvalidURL, UnicodeError):  # longer than any address, or with what no request can have
            return Reply(failed=httpx.LocalProtocolError.__name__)
        answered = False
        try:
            async with self._sent(asked) as response:
                answered = True
                reply = await self._taken(response, xml_lists)
        except httpx.RemoteProtocolError as error:
            # closed before a word of a reply: nobody answered; after that, what came is not whole
            return Reply(failed=type(error).__name__ if answered else httpx.ReadError.__name__)
        except httpx.TransportError as error:
            return Reply(failed=type(error).__name__)
        if self._pace is not None:
            self._pace.note(reply.headers, reply.wait(_WAITS, datetime.now(UTC)))
        return reply

    @asynccontextmanager
    async def _sent(self, request: httpx.Request) -> AsyncIterator[httpx.Response]:
        request.extensions = self._extensions
        response = await self._transport.handle_async_request(request)
        try:
            yield response
        finally:
            await response.aclose()

    async def _whole(self, request: httpx.Request) -> httpx.Response:
        """See `Ask`."""
        async with self._sent(request) as response:
            encoding = response.headers.get("content-encoding", "")
            content = await content_of(_parts(response), encoding, _LONGEST_TOKEN)
            return httpx.Response(response.status_code, content=content)

    async def close(self) -> None:
        """Release the connections."""
        await self._transport.aclose()

    def _made(self, request: Request, given: Mapping[str, str]) -> httpx.Request:
        headers = {**self._headers, **request.headers, **given}
        content: bytes | None = None
        if request.body is not None:
            content = json.dumps(request.body, ensure_ascii=False, default=float).encode()
            headers.setdefault("content-type", "application/json")
        encoded = {name.encode(): value.encode() for name, value in headers.items()}
        return httpx.Request(request.method, self._url(request), headers=encoded, content=content)

    def _url(self, request: Request) -> httpx.URL:
        target = request.target
        if self._prefix != "" and not target.startswith(self._prefix + "/"):
            target = self._prefix + target
        return self._base.copy_with(raw_path=_encoded(target))

    async def _taken(self, response: httpx.Response, xml_lists: Sequence[str]) -> Reply:
        headers = {name.lower(): value for name, value in response.headers.items()}
        encoding, kind = headers.get("content-encoding", ""), headers.get("content-type", "")
        try:
            text = text_of(await content_of(_parts(response), encoding, _LONGEST_BODY), kind)
        except TooMuchError:
            detail = f"a reply of more than {_LONGEST_BODY:,} bytes was not taken: ask for smaller pages"
            raise SourceError(Incompleteness(code=Reason.CLIENT_LIMIT_REACHED, detail=detail)) from None
        except BrokenContentError:
            return Reply(response.status_code, headers, None, Fault.BROKEN)
        body, fault, plain = decode(text, kind, xml_lists)
        if fault is Fault.FOREIGN and response.is_error and not text.lstrip().startswith("<"):
            body = text[:_LONGEST_WORD]  # some APIs say in bare words what is wrong
        return Reply(response.status_code, headers, body, fault, text=plain)


def _parts(response: httpx.Response) -> AsyncIterable[bytes]:
    """Return what came as it came: httpx would decompress without a limit."""
    if not isinstance(response.stream, httpx.AsyncByteStream):
        msg = "a transport gave a reply that can't be awaited"
        raise TypeError(msg)
    return response.stream


def _encoded(target: str) -> bytes:
    """Return a path with its query as it goes over the wire: what is encoded already stays as it is."""
    from urllib.parse import quote

    return quote(target, safe="/?&=%:@!$'()*+,;~[]-._").encode()

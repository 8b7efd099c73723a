"""Servers that are broken or mean it badly: what they send is no complete list, no other's reply, and no traceback."""

from __future__ import annotations

import asyncio
import gzip
import json
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace

import httpx
import pytest
from tests.support.reading_http import config, read_all

from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.connectors.http.auth import authorization
from fullcount.runtime.connectors.http.client import HttpClient
from fullcount.runtime.connectors.http.conditions import number_of, same
from fullcount.runtime.connectors.http.config import Auth
from fullcount.runtime.connectors.http.content import BrokenContentError, TooMuchError, content_of, text_of
from fullcount.runtime.connectors.http.exchange import Exchange, Reply, Request, links
from fullcount.runtime.connectors.http.outcome import judge_write
from fullcount.runtime.connectors.http.scan import operation_for
from fullcount.runtime.connectors.http.speaking import spoken
from fullcount.runtime.connectors.http.wire import Wire
from fullcount.runtime.evidence.codes import Reason

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
LIST = json.dumps({"items": [{"id": "a", "owner": None, "n": 1}], "next_cursor": None}).encode()


def reply(body: bytes, *headers: bytes) -> bytes:
    """Return a whole reply."""
    lines = [b"HTTP/1.1 200 OK", b"content-length: %d" % len(body), *headers]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


@asynccontextmanager
async def talking(talk: Talk) -> AsyncIterator[str]:
    """Give the address of a server that does what it is told with each connection."""

    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await talk(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(once, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        await server.wait_closed()


def wired(seconds: float, proxy: str | None = None) -> httpx.AsyncClient:
    """Return a client that waits for so long."""
    transport = Wire(ssl.create_default_context(), proxy)
    return httpx.AsyncClient(transport=transport, timeout=seconds, trust_env=False)


@pytest.mark.requirement("R31")
@pytest.mark.parametrize("status", [b"200 OK", b"204 No Content", b"408 Request Timeout"])
async def test_what_comes_on_a_connection_at_rest_is_not_the_reply_to_the_next_request(status):
    """A server that speaks without being asked, as when it closes, tells nothing of a request that came later."""
    spoke = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(2):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(reply(b"asked"))
            await asyncio.sleep(0.01)
            writer.write(b"HTTP/1.1 " + status + b"\r\nx-stray: 1\r\ncontent-length: 0\r\n\r\n")
            spoke.set()

    async with talking(talk) as address, wired(5) as client:
        assert (await client.get(address)).text == "asked"
        await spoke.wait()
        await asyncio.sleep(0.01)
        second = await client.request("DELETE", address)
    assert (second.text, second.headers.get("x-stray")) == ("asked", None)


_SILENT = {
    "an interim reply": b"HTTP/1.1 100 Continue\r\n\r\n",
    "a chunk that is none": b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n",
    "drops": b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n",
    "a request that is not read": None,
}


@pytest.mark.parametrize("what", _SILENT)
async def test_a_reply_ends_in_time_however_the_server_draws_it_out(what):
    """Nothing keeps a run for ever: no silence behind an interim reply, no broken chunk, no single bytes."""
    held = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = _SILENT[what]
        if first is not None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(first)
            await asyncio.sleep(0.02)
        if what == "a chunk that is none":
            writer.write(b"zz\r\n")
        while what == "drops" and not writer.is_closing():
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.02)
        await held.wait()

    body = b"x" * 20_000_000 if _SILENT[what] is None else b""
    async with talking(talk) as address, wired(0.1) as client:
        with pytest.raises(httpx.ReadTimeout):
            async with asyncio.timeout(5):
                await client.post(address, content=body)
        held.set()


async def test_a_proxy_that_says_nothing_had_nothing_of_the_request():
    """As long as the way to the server is not there, nothing was sent, and that can be told."""
    held = asyncio.Event()

    async def talk(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await held.wait()

    async with talking(talk) as address, wired(0.1, address) as client:
        with pytest.raises(httpx.ConnectTimeout):
            async with asyncio.timeout(5):
                await client.delete("https://nowhere.invalid/")
        held.set()


_ZIPPED = gzip.compress(LIST)
_ODD = {
    "gzip without its end": (reply(_ZIPPED[:-8], b"content-encoding: gzip"), Reason.MALFORMED_RESPONSE),
    "gzip with more behind it": (reply(_ZIPPED + b"more", b"content-encoding: gzip"), Reason.MALFORMED_RESPONSE),
    "gzip twice": (reply(gzip.compress(_ZIPPED), b"content-encoding: gzip, gzip"), Reason.MALFORMED_RESPONSE),
    "a charset that reads escapes": (
        reply(LIST, b"content-type: application/json; charset=unicode_escape"),
        Reason.MALFORMED_RESPONSE,
    ),
    "a charset that is none": (reply(LIST, b"content-type: a/json; charset=undefined"), Reason.MALFORMED_RESPONSE),
    "a total beyond numbers": (reply(LIST[:-1] + b', "total": 1e999999999}'), Reason.MALFORMED_RESPONSE),
    "a total that is none": (reply(LIST[:-1] + b', "total": NaN}'), Reason.MALFORMED_RESPONSE),
    "a cursor too long to send": (
        reply(b'{"items": [{"id": "a"}], "next_cursor": "' + b"c" * 70_000 + b'"}'),
        Reason.MALFORMED_RESPONSE,
    ),
    "a cursor that is no text": (
        reply(b'{"items": [{"id": "a"}], "next_cursor": "\\ud800"}'),
        Reason.MORE_PAGES_AVAILABLE,
    ),
    "a next page at no address": (
        reply(b'[{"id": "a"}]', b'link: <http://[none>; rel="next"'),
        Reason.MALFORMED_RESPONSE,
    ),
    "a redirect to no address": (
        reply(b"", b"location: http://[none").replace(b"200 OK", b"302 Found"),
        Reason.AUTH_FAILED,
    ),
}


@pytest.mark.requirement("R2")
@pytest.mark.parametrize("what", _ODD)
async def test_what_can_not_be_read_or_asked_for_is_a_reason_and_no_list(what, tmp_path):
    """Nothing that a server names ends a run in a traceback, or a list before its end."""
    sent, reason = _ODD[what]

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(sent)

    async with talking(talk) as address:
        found = await read_all(config(SimpleNamespace(url=address), "cursor", timeout=5), tmp_path)
    assert not found.complete
    assert reason in {each.code for each in found.completeness.reasons}


async def test_a_list_with_a_mark_of_its_byte_order_or_in_several_streams_is_read(tmp_path):
    """What is whole is not refused: parsers may pass over the mark, and gzip may go on behind an end."""
    body = "\ufeff".encode() + LIST

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(reply(gzip.compress(body[:20]) + gzip.compress(body[20:]), b"content-encoding: gzip"))

    async with talking(talk) as address:
        assert (await read_all(config(SimpleNamespace(url=address), "cursor", timeout=5), tmp_path)).complete


async def _in_parts(content: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(content), size):
        yield content[start : start + size]


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
async def test_a_body_is_decompressed_as_far_as_the_limit_and_no_further(size):
    """However small it was made; what has its end within the limit is the same as before."""
    deflate = zlib.compressobj(wbits=-15)
    bare = deflate.compress(LIST) + deflate.flush()
    for encoding, content in [("gzip", _ZIPPED), ("deflate", zlib.compress(LIST)), ("deflate", bare), ("", LIST)]:
        assert await content_of(_in_parts(content, size), encoding, 10_000) == LIST
        if encoding != "":
            with pytest.raises(BrokenContentError):
                await content_of(_in_parts(content[:-1], size), encoding, 10_000)
    with pytest.raises(TooMuchError):
        await content_of(_in_parts(gzip.compress(b" " * 5_000_000), size), "gzip", 1_000_000)
    assert await content_of(_in_parts(b"", size), "gzip", 10) == b""


@pytest.mark.parametrize("charset", ["idna", "punycode", "unicode_escape", "utf-7", "hex", "\0", "nothing"])
def test_a_character_set_is_one(charset):
    """What codecs there are besides is not for texts of others."""
    with pytest.raises(BrokenContentError):
        text_of(b"a", f"text/plain; charset={charset}")


def test_numbers_beyond_all_counting_and_long_headers_cost_nothing():
    """Neither is worked through digit by digit, nor a header again from each of its places."""
    from decimal import Decimal

    for value in (Decimal("1e999999999"), Decimal("NaN"), float("inf"), 10**400):
        assert number_of(value) is None
        assert not same(value, 1)
    assert same(Decimal("2.0"), 2)
    assert same(2.5, "2.5")
    assert links("<" * 90_000 + '/x>; rel="next"') == {"next": "/x"}


def test_a_write_that_can_not_be_made_was_not_sent():
    """An address or a header that no request can have: refused, and nobody has to look what came of it."""
    settings = config(SimpleNamespace(url="http://127.0.0.1:1"), "cursor")
    request = Request.to("/things/a", "DELETE")
    failed = Exchange(request, Reply(failed="LocalProtocolError"))
    assert judge_write(operation_for(spoken(settings), request), failed).outcome.value == "refused"


@pytest.mark.parametrize(
    "answer",
    [
        reply(b"no gzip", b"content-encoding: gzip"),
        reply(gzip.compress(b" " * 3_000_000), b"content-encoding: gzip"),
        reply(b'{"access_token": "a\\r\\nx: y", "expires_in": 60}'),
        reply(b'{"access_token": "a", "expires_in": NaN}'),
        reply(b"[" * 100_000),
    ],
)
async def test_an_answer_without_a_usable_token_is_told_as_one(answer, monkeypatch):
    """It is read within a limit, and what it gives is something that a header can have."""
    monkeypatch.setenv("HOSTILE_SECRET", "s")

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)

    async with talking(talk) as address:
        settings = {"token_url": address, "client_id": "c", "client_secret": {"env": "HOSTILE_SECRET"}}
        given = authorization(Auth.model_validate({"oauth2": settings}))
        client = HttpClient(Wire(ssl.create_default_context()), address, {}, given, timeout=5)
        with pytest.raises(SourceError) as failed:
            await client.send(Request.to("/list"))
        await client.close()
    assert failed.value.reason.code is Reason.MALFORMED_RESPONSE

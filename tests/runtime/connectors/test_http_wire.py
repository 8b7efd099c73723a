"""Requests over the network: sent once, over whole connections, and told truthfully when they fail."""

from __future__ import annotations

import asyncio
import socket
import socketserver
import ssl
import struct
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from itertools import product

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullcount.runtime.connectors.http import wire
from fullcount.runtime.connectors.http.client import HttpClient
from fullcount.runtime.connectors.http.exchange import Request
from fullcount.runtime.connectors.http.wire import Wire

Answering = Callable[[int, int], Awaitable[bytes | None]]
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


@asynccontextmanager
async def serving(answer: Answering) -> AsyncIterator[tuple[httpx.AsyncClient, list[int]]]:
    """Give a client over `Wire` and how many requests each connection carried; `answer(connection, request)`.

    None for an answer closes the connection.
    """
    carried: list[int] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = len(carried)
        carried.append(0)
        try:
            while True:
                await reader.readuntil(b"\r\n\r\n")
                carried[number] += 1
                given = await answer(number, carried[number])
                if given is None:
                    break
                writer.write(given)
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    transport = Wire(ssl.create_default_context())
    try:
        async with httpx.AsyncClient(
            transport=transport, base_url=f"http://127.0.0.1:{port}", timeout=5, trust_env=False
        ) as client:
            yield client, carried
    finally:
        server.close()
        await server.wait_closed()


async def _always(_connection: int, _request: int) -> bytes:
    await asyncio.sleep(0.002)
    return OK


async def test_a_connection_that_the_server_closed_is_not_used_again():
    """The next request goes over a new one, and is sent once."""

    async def answer(connection: int, _request: int) -> bytes | None:
        return OK if connection > 0 else b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok"

    async with serving(answer) as (client, carried):
        for _ in range(3):
            assert (await client.get("/")).text == "ok"
    assert carried == [1, 2]


async def test_a_reply_that_was_not_read_to_its_end_ends_its_connection():
    """What is left of it would be taken for the next reply."""

    async def answer(_connection: int, _request: int) -> bytes:
        return b"HTTP/1.1 200 OK\r\ncontent-length: 400000\r\n\r\n" + b"x" * 400_000

    async with serving(answer) as (client, carried):
        async with client.stream("GET", "/") as reply:
            async for _ in reply.aiter_bytes():
                break
        assert len((await client.get("/")).content) == 400_000
    assert carried == [1, 1]


async def test_what_goes_wrong_is_told_as_httpx_tells_it_and_gives_the_place_back(monkeypatch):
    """No answer, and nobody there: by name, so that rules for replies that failed can tell them apart."""
    monkeypatch.setattr(wire, "MOST", 1)

    async def answer(connection: int, _request: int) -> bytes | None:
        return None if connection < 2 else OK

    async with serving(answer) as (client, _):
        for _ in range(2):
            with pytest.raises(httpx.RemoteProtocolError):
                await client.get("/")
        assert (await client.get("/")).text == "ok"
        with pytest.raises(httpx.ConnectError):
            await client.get("http://127.0.0.1:1/")
        with pytest.raises(httpx.UnsupportedProtocol):
            await client.get("ftp://127.0.0.1/")
        assert (await client.get("/")).text == "ok"


async def test_who_waits_too_long_for_a_connection_is_told(monkeypatch):
    """With all of them in use a request gives up, and nothing of it was sent."""
    monkeypatch.setattr(wire, "MOST", 1)
    let, came = asyncio.Event(), asyncio.Event()

    async def answer(_connection: int, _request: int) -> bytes:
        came.set()
        await let.wait()
        return OK

    async with serving(answer) as (client, carried):
        first = asyncio.ensure_future(client.get("/"))
        await came.wait()
        with pytest.raises(httpx.PoolTimeout):
            await client.get("/", timeout=httpx.Timeout(5, pool=0.01))
        let.set()
        assert (await first).text == "ok"
    assert carried == [1]


async def test_a_request_that_was_given_up_frees_its_place(monkeypatch):
    """A cancelled request closes its connection and keeps nobody out."""
    monkeypatch.setattr(wire, "MOST", 1)
    let, came = asyncio.Event(), asyncio.Event()

    async def answer(connection: int, _request: int) -> bytes:
        came.set()
        if connection == 0:
            await let.wait()
        return OK

    async with serving(answer) as (client, carried):
        first = asyncio.ensure_future(client.get("/"))
        await came.wait()
        first.cancel()
        await asyncio.wait({first})
        assert first.cancelled()
        assert (await client.get("/")).text == "ok"
        let.set()
    assert carried == [1, 1]


async def test_requests_of_the_same_time_each_have_a_connection_which_is_kept():
    """Sixteen workers open sixteen connections at most, and no more for any number of requests."""
    async with serving(_always) as (client, carried):

        async def worker() -> None:
            for _ in range(5):
                assert (await client.get("/")).text == "ok"

        await asyncio.gather(*(worker() for _ in range(16)))
    assert len(carried) <= 16
    assert sum(carried) == 80


_SENT = {"no answer": b"", "half a head": b"HTTP/1.1 200 OK\r\ncontent-le", "no http": b"hello\r\n\r\n", "silent": None}
"""What a server that took a request may do: close before an answer or within it, speak another tongue, say nothing."""


@pytest.mark.requirement("R31")
@pytest.mark.parametrize(("method", "fault"), list(product(["GET", "PUT", "POST", "DELETE"], [*_SENT, "reset"])))
async def test_a_request_is_sent_once_whatever_its_method_and_however_it_fails(method, fault):
    """A second DELETE may destroy what the first one only marked: whoever wants another attempt decides it himself."""
    seen: list[bytes] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        seen.append(head)
        if len(seen) == 1:  # the first is answered, so that the second goes over a connection that was used before
            writer.write(OK)
            head = await reader.readuntil(b"\r\n\r\n")
            seen.append(head)
        if fault == "reset":
            held = writer.get_extra_info("socket")
            held.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.close()
            return
        answer = _SENT[fault]
        if answer is None:
            while await reader.read(64) != b"":
                pass  # until the client gives up
        else:
            writer.write(answer)
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with httpx.AsyncClient(transport=Wire(ssl.create_default_context()), timeout=0.1, trust_env=False) as client:
        assert (await client.get(f"http://127.0.0.1:{port}/")).text == "ok"
        with pytest.raises(httpx.TransportError) as failed:
            await client.request(method, f"http://127.0.0.1:{port}/x", content=b"{}" if method != "GET" else None)
    await asyncio.sleep(0.02)
    server.close()
    await server.wait_closed()
    assert [head.split()[0].decode() for head in seen] == ["GET", method]
    # closed with a body unread, a connection may end either way: what counts is that the request may have arrived
    closed = {httpx.ReadError, httpx.RemoteProtocolError}
    assert type(failed.value) in ({httpx.ReadTimeout} if fault == "silent" else closed)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("http://127.0.0.1:{closed}/", httpx.ConnectError),
        ("https://127.0.0.1:{plain}/", httpx.ConnectError),
        ("http://nowhere.invalid/", httpx.ConnectError),
        ("http://127.0.0.1:{plain}/", httpx.ProxyError),
    ],
)
async def test_what_can_not_have_been_sent_is_told_apart(address, expected):
    """Nobody there, no trust, no such name, no proxy: these alone say that an act did not happen."""

    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"this is no handshake")
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    there = address.format(closed=1, plain=server.sockets[0].getsockname()[1])
    proxy = "http://127.0.0.1:1" if expected is httpx.ProxyError else None
    async with httpx.AsyncClient(transport=Wire(ssl.create_default_context(), proxy), trust_env=False) as client:
        with pytest.raises(expected) as failed:
            await client.delete(there)
    server.close()
    await server.wait_closed()
    assert type(failed.value) is expected


@pytest.mark.parametrize("cut", [b"content-length: 10\r\n\r\nabc", b"transfer-encoding: chunked\r\n\r\n5\r\nabc"])
async def test_a_body_that_breaks_off_is_no_body(cut):
    """Neither by the length that was promised nor by a last chunk that did not come."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n" + cut)
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with httpx.AsyncClient(transport=Wire(ssl.create_default_context()), trust_env=False) as client:
        with pytest.raises(httpx.RemoteProtocolError):
            await client.get(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
    server.close()
    await server.wait_closed()


_PIECES = st.lists(
    st.sampled_from(["a", "%2F", "%2e%2e", "..", ".", "", "%C3%A9", "~", "!$&'()*+,;=:@", "[x]"]), max_size=5
)


async def test_a_target_arrives_as_it_was_asked_for_and_nothing_is_added():
    """No path is put in order, no name is encoded twice, no cookie and no header of another's making goes along."""
    heads: list[bytes] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while not reader.at_eof():
            with suppress(asyncio.IncompleteReadError):
                heads.append(await reader.readuntil(b"\r\n\r\n"))
                writer.write(b"HTTP/1.1 200 OK\r\nset-cookie: a=b\r\ncontent-length: 0\r\n\r\n")
        writer.close()

    targets: list[str] = []

    @given(_PIECES, _PIECES)
    def draw(path: list[str], query: list[str]) -> None:
        targets.append("/" + "/".join(path) + ("" if query in ([], [""]) else "?" + "&".join(query)))

    draw()
    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    transport = Wire(ssl.create_default_context())
    base = httpx.URL(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    for target in targets:
        request = httpx.Request("DELETE", base.copy_with(raw_path=target.encode()), headers={"x-a": "1"})
        reply = await transport.handle_async_request(request)
        await reply.aread()
        await reply.aclose()
    await transport.aclose()
    server.close()
    asked = [base.copy_with(raw_path=target.encode()).raw_path for target in targets]  # httpx itself takes out `/./`
    assert [head.split(b"\r\n")[0] for head in heads] == [b"DELETE " + target + b" HTTP/1.1" for target in asked]
    names = {line.partition(b":")[0].lower() for head in heads for line in head.split(b"\r\n")[1:] if line != b""}
    assert names <= {b"host", b"x-a", b"content-length"}


async def test_a_proxy_is_asked_for_everything():
    """With a proxy no name is looked up and no host is spoken to but the proxy."""

    async def answer(_connection: int, _request: int) -> bytes:
        return OK

    async with serving(answer) as (client, carried):
        transport = Wire(ssl.create_default_context(), f"http://127.0.0.1:{client.base_url.port}")
        async with httpx.AsyncClient(transport=transport, trust_env=False) as through:
            assert (await through.get("http://nowhere.invalid/list")).text == "ok"
    assert carried == [1]


async def test_a_server_is_told_who_asks_and_gets_no_cookie_back():
    """A cookie would tie a read to what the server remembers of an earlier one."""
    heads: list[str] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while not reader.at_eof():
            with suppress(asyncio.IncompleteReadError):
                heads.append((await reader.readuntil(b"\r\n\r\n")).decode().lower())
                writer.write(b"HTTP/1.1 302 Found\r\nset-cookie: a=b\r\nlocation: /x\r\ncontent-length: 2\r\n\r\n{}")
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    there = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    client = HttpClient(Wire(ssl.create_default_context()), there, {})
    assert [(await client.send(Request.to("/list"))).status for _ in range(2)] == [302, 302]
    await client.close()
    server.close()
    assert [head.split()[1] for head in heads] == ["/list", "/list"]
    assert all("user-agent: fullcount/" in head and "accept-encoding: gzip, deflate" in head for head in heads)
    assert not any("cookie" in head for head in heads)


_LATE = b"HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\n{}"


@pytest.mark.requirement("R2")
@pytest.mark.parametrize("late", [_LATE, _LATE[:20], b"x", b"\r\n"])
@pytest.mark.parametrize("when", ["with the reply", "while it is kept", "unnoticed"])
async def test_a_reply_that_nobody_asked_for_is_never_the_reply_to_the_next_request(late, when):
    """A 404 that came late would say of another object that it is gone."""
    carried: list[int] = []

    class Talking(socketserver.StreamRequestHandler):
        disable_nagle_algorithm = True  # what comes late is not held back until the next request is sent

        def handle(self) -> None:
            while len(line := self.rfile.readline()) > 0:
                if line != b"\r\n":
                    continue
                carried.append(1)
                self.wfile.write(OK + late if when == "with the reply" else OK)
                if when != "with the reply":
                    time.sleep(0.01)
                    self.wfile.write(late)

    class Serving(socketserver.ThreadingTCPServer):
        block_on_close = True

        def handle_error(self, request: object, client_address: object) -> None:
            """A connection that the client closed is what is expected."""

    with Serving(("127.0.0.1", 0), Talking) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        there = f"http://127.0.0.1:{server.server_address[1]}"
        async with httpx.AsyncClient(transport=Wire(ssl.create_default_context()), trust_env=False) as client:
            for _ in range(3):
                try:
                    reply = await client.delete(there)
                except httpx.TransportError:
                    assert when == "with the reply"  # what can't be parted from it makes no reply
                    continue
                assert (reply.status_code, reply.text) == (200, "ok")
                if when == "unnoticed":
                    time.sleep(0.03)  # noqa: ASYNC251 - the loop is busy while it comes
                else:
                    await asyncio.sleep(0.03)
        server.shutdown()
    assert len(carried) == 3

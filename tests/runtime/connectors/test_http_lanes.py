"""Connections that take turns: reused while they are whole, never shared, and given back whatever happens."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import httpx
import pytest

from fullcount.runtime.connectors.http import lanes
from fullcount.runtime.connectors.http.lanes import Lanes

Answering = Callable[[int, int], Awaitable[bytes | None]]
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


@asynccontextmanager
async def serving(answer: Answering) -> AsyncIterator[tuple[httpx.AsyncClient, list[int]]]:
    """Give a client over `Lanes` and how many requests each connection carried; `answer(connection, request)`.

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
    transport = Lanes(ssl.create_default_context())
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
    monkeypatch.setattr(lanes, "MOST", 1)

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
    monkeypatch.setattr(lanes, "MOST", 1)
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
    monkeypatch.setattr(lanes, "MOST", 1)
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

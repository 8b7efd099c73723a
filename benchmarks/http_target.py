"""A server of things that may be read and deleted, as cheap as it can be, in a process of its own.

    python benchmarks/http_target.py 5000 0.02     # prints its port, then serves until its input ends

It speaks just enough HTTP/1.1 for a client that keeps its connections: `GET /things` lists all, `GET /things/ID`
answers with an `ETag`, `DELETE /things/ID` needs `If-Match` and destroys once. Each request is taken to come in one
piece. The second number is how many seconds an answer about one thing takes, as across a network.
"""

from __future__ import annotations

import asyncio
import json
import sys

_NOT_FOUND = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"
_STALE = b"HTTP/1.1 412 Precondition Failed\r\ncontent-length: 0\r\n\r\n"
_DELETED = b"HTTP/1.1 204 No Content\r\n\r\n"


class Things(asyncio.Protocol):
    """One connection. All share `objects`: the body of each thing by the end of its path."""

    objects: dict[bytes, bytes]
    latency: float

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer one request, after a while."""
        if self.latency == 0 or data.startswith(b"GET /things "):
            self.answer(data)
        else:
            asyncio.get_running_loop().call_later(self.latency, self.answer, data)

    def answer(self, data: bytes) -> None:
        """Answer one request now."""
        method, path, _ = data.split(b" ", 2)
        name = path.rpartition(b"/")[2]
        if method == b"GET" and name == b"things":
            items = b",".join(self.objects.values())
            self.transport.write(_reply(b'{"items":[%s],"next_cursor":null,"total":%d}' % (items, len(self.objects))))
        elif name not in self.objects:
            self.transport.write(_NOT_FOUND)
        elif method == b"GET":
            self.transport.write(_reply(self.objects[name]))
        elif b'if-match: "1"' in data.lower():
            del self.objects[name]
            self.transport.write(_DELETED)
        else:
            self.transport.write(_STALE)


def _reply(body: bytes) -> bytes:
    head = b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\netag: "1"\r\ncontent-length: %d\r\n\r\n' % len(body)
    return head + body


def _thing(n: int) -> dict[str, object]:
    owner = None if n > 0 else "clerk"
    return {"id": f"t{n:06}", "uid": f"uid-{n}", "owner": owner, "state": "idle", "size": n, "idle_days": 400}


async def serve(count: int, latency: float) -> None:
    """Serve so many things that nobody owns, and one that somebody does, until the standard input ends."""
    Things.objects = {f"t{n:06}".encode(): json.dumps(_thing(n)).encode() for n in range(count + 1)}
    Things.latency = latency
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Things, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.buffer.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), float(sys.argv[2])))

"""A list over HTTP in a process of its own, so cheap that it is never what a reader waits for.

    python benchmarks/paged_server.py ROWS PAGE_ROWS [--shuffled]

Every page is rendered before the address is printed; an answer is one `sendall` of bytes that are there. It speaks as
the dialect `generic_http` expects: `items`, `next_cursor`, `has_more`, an exact `total`, and one `snapshot` for all.
"""

from __future__ import annotations

import json
import random
import socket
import sys
import threading
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


def rendered(rows: int, page_rows: int, *, shuffled: bool) -> list[bytes]:
    """Return every page as a whole reply."""
    from benchmarks.accounts import FIELDS, made_row

    order = list(range(rows))
    if shuffled:
        random.Random(7).shuffle(order)
    replies = []
    for start in range(0, rows, page_rows):
        items = [dict(zip(FIELDS, made_row(index), strict=True)) for index in order[start : start + page_rows]]
        for item in items:
            item["locked"] = bool(item["locked"])
        more = start + page_rows < rows
        cursor = str(start // page_rows + 1) if more else None
        page = {"items": items, "next_cursor": cursor, "has_more": more, "total": rows, "snapshot": "s1"}
        body = json.dumps(page).encode()
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        replies.append(head.encode() + body)
    return replies


def serve(connection: socket.socket, replies: list[bytes]) -> None:
    """Answer on one connection until it is closed."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    read = b""
    while data := connection.recv(65536):
        read += data
        while b"\r\n\r\n" in read:
            head, _, read = read.partition(b"\r\n\r\n")
            cursor = parse_qs(urlsplit(head.split(b" ")[1].decode()).query).get("cursor", ["0"])
            connection.sendall(replies[int(cursor[0])])


def main() -> None:
    """Render, print the address, and answer until the process is ended."""
    rows, page_rows = int(sys.argv[1]), int(sys.argv[2])
    replies = rendered(rows, page_rows, shuffled="--shuffled" in sys.argv)
    listening = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    while True:
        connection, _ = listening.accept()
        threading.Thread(target=serve, args=(connection, replies), daemon=True).start()


if __name__ == "__main__":
    main()

"""A front for protocols of bytes, such as PostgreSQL's: it cuts, holds back and swallows what goes over a connection.

    with TcpFront("127.0.0.1", 5432) as front:         # front.port stands in the address in its place
        with front.cut(after=20_000): ...              # the connection dies after so many more bytes of the server
        with front.swallow(b"COMMIT"): ...             # the server gets the request, the client no answer

It understands no protocol. What no fault speaks of passes unchanged; a fault holds within its block only.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self

_CHUNK = 65_536
_LONGEST_HANG = 30.0


@dataclass(slots=True)
class _Fault:
    ending: threading.Event
    left: int | None = None
    """Bytes of the server that still pass before the connections are cut; None: not cut by count."""
    words: bytes | None = None
    """What in a request makes its answer disappear; None: nothing."""
    seconds: float = 0.0
    """How long each piece of the server's answer is held back."""
    swallowing: bool = False


class TcpFront:
    """A forwarder to one server. See the module's text."""

    def __init__(self, host: str, port: int) -> None:
        self._server = (host, port)
        self._fault: _Fault | None = None
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self.passed = 0
        """Bytes of the server that reached a client."""
        self.cuts = 0
        """How often a connection was cut by a fault."""

    def __enter__(self) -> Self:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._fault is not None:
            self._fault.ending.set()
        self._listening.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._listening.close()
        self._thread.join(5)
        for each in self._connections():
            _reset(each)

    @property
    def port(self) -> int:
        """The port to put into an address, on 127.0.0.1."""
        port: int = self._listening.getsockname()[1]
        return port

    @contextmanager
    def cut(self, *, after: int = 0) -> Iterator[None]:
        """Reset every connection over which the server sends, once it has sent so many more bytes in all."""
        with self._holding(_Fault(threading.Event(), left=after)):
            yield

    @contextmanager
    def swallow(self, words: bytes) -> Iterator[None]:
        """Let a request with these bytes pass, lose the answer, and reset the connection."""
        with self._holding(_Fault(threading.Event(), words=words)):
            yield

    @contextmanager
    def delay(self, seconds: float) -> Iterator[None]:
        """Hold back each piece that the server sends."""
        with self._holding(_Fault(threading.Event(), seconds=seconds)):
            yield

    @contextmanager
    def hang(self) -> Iterator[None]:
        """Let nothing of the server arrive before the block is left."""
        with self.delay(_LONGEST_HANG):
            yield

    @contextmanager
    def _holding(self, fault: _Fault) -> Iterator[None]:
        with self._lock:
            before, self._fault = self._fault, fault
        try:
            yield
        finally:
            with self._lock:
                self._fault = before
            fault.ending.set()

    def _connections(self) -> list[socket.socket]:
        with self._lock:
            return list(self._open)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return  # the front has ended
            try:
                server = socket.create_connection(self._server)
            except OSError:
                _reset(client)
                continue
            with self._lock:
                self._open |= {client, server}
            for pump in (self._requests, self._answers):
                threading.Thread(target=self._run, args=(pump, client, server), daemon=True).start()

    def _run(
        self, pump: Callable[[socket.socket, socket.socket], None], client: socket.socket, server: socket.socket
    ) -> None:
        try:
            pump(client, server)
        except OSError:
            pass  # one side went away, which is what this is about
        finally:
            for each in (client, server):
                _shut(each)
            with self._lock:
                self._open -= {client, server}

    def _requests(self, client: socket.socket, server: socket.socket) -> None:
        while (chunk := client.recv(_CHUNK)) != b"":
            with self._lock:
                fault = self._fault
                if fault is not None and fault.words is not None and fault.words in chunk:
                    fault.swallowing = True
            server.sendall(chunk)

    def _answers(self, client: socket.socket, server: socket.socket) -> None:
        while (chunk := server.recv(_CHUNK)) != b"":
            with self._lock:
                fault = self._fault
                passing, ends = self._through(fault, chunk)
            if fault is not None and fault.seconds > 0:
                fault.ending.wait(fault.seconds)
            client.sendall(passing)
            self.passed += len(passing)
            if ends:
                _reset(client)
                return

    def _through(self, fault: _Fault | None, chunk: bytes) -> tuple[bytes, bool]:
        """Return what of a piece arrives, and whether the connection ends with it."""
        if fault is not None and fault.swallowing:
            self.cuts += 1
            return b"", True
        if fault is None or fault.left is None:
            return chunk, False
        if len(chunk) < fault.left:
            fault.left -= len(chunk)
            return chunk, False
        passing, fault.left = chunk[: fault.left], 0
        self.cuts += 1
        return passing, True


def _reset(each: socket.socket) -> None:
    """End a connection at once, and so that the other side sees that it did not end well."""
    try:
        each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        each.shutdown(socket.SHUT_RD)  # whoever reads it holds it open
    except OSError:
        return  # it is closed already
    each.close()


def _shut(each: socket.socket) -> None:
    """Wake whoever reads the other half, then close."""
    with suppress(OSError):  # it is closed already
        each.shutdown(socket.SHUT_RDWR)
    each.close()

"""The fault front: a proxy between the product and an HTTP server, which goes wrong where a test says.

    with HttpFront("http://127.0.0.1:8080") as front:                  # front.url stands in the configuration
        with front.fault(reset(), when=to("/things"), at=only(3)):     # the third page from here on is never answered
            ...

Guarantees: what no fault speaks of passes unchanged; a fault holds within its block only; `seen` has every request
that came, answered or not. It listens on this machine only, forgets everything when it ends, and is for tests: it
checks no certificate and keeps no secret.
"""

from __future__ import annotations

import http.client
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_OF_THE_CONNECTION = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "te", "upgrade"})
_ANSWERS_WITHIN = 60.0
"""Seconds that the server behind the front has for a reply."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it came."""

    method: str
    target: str
    headers: dict[str, str]
    """By names in lower case."""
    body: bytes

    @property
    def path(self) -> str:
        """The path, without the query."""
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        """The query's parameters, the last value of each."""
        pairs = parse_qs(urlsplit(self.target).query, keep_blank_values=True)
        return {name: values[-1] for name, values in pairs.items()}

    @property
    def writes(self) -> bool:
        """Whether it is of a method that may change something."""
        return self.method not in {"GET", "HEAD"}


@dataclass(frozen=True, slots=True)
class Told:
    """What goes back. `keep`: so many bytes of the body arrive, then the connection ends; None: all of them."""

    status: int = 200
    headers: Sequence[tuple[str, str]] = ()
    body: bytes = b""
    keep: int | None = None


class Dropped(Exception):  # noqa: N818 - an end of a connection, not an error of ours
    """The connection is reset: the client gets no reply."""


@dataclass(slots=True)
class Passing:
    """One request on its way through. `forward` asks the server and returns what it told."""

    asked: Asked
    number: int
    """Which request this is of those that the fault fits, from 1."""
    forward: Callable[[], Told]
    ending: threading.Event
    """Set when the front ends or the fault's block is left: whoever waits must go on."""


Action = Callable[[Passing], Told]
"""What a fault does: it returns what goes back, or raises `Dropped`."""
When = Callable[[Asked], bool]


@dataclass(slots=True)
class _Fault:
    action: Action
    when: When
    at: Callable[[int], bool]
    ending: threading.Event = field(default_factory=threading.Event)
    count: int = 0


def always(number: int) -> bool:
    """At each request that fits."""
    return True


def only(wanted: int) -> Callable[[int], bool]:
    """At one request alone, from 1, of those that fit since the fault began."""
    return lambda number: number == wanted


def since(wanted: int) -> Callable[[int], bool]:
    """At this request and all later ones."""
    return lambda number: number >= wanted


def anything(asked: Asked) -> bool:
    """Whatever is asked."""
    return True


def to(path: str, *methods: str) -> Callable[[Asked], bool]:
    """Return the test for requests to one path; without methods for all of them."""
    return lambda asked: asked.path == path and (len(methods) == 0 or asked.method in methods)


class HttpFront:
    """A proxy to one server. See the module's text."""

    def __init__(self, server: str) -> None:
        parts = urlsplit(server)
        if parts.scheme not in {"http", "https"} or parts.hostname is None:
            msg = f"`{server}` is no address of an HTTP server"
            raise ValueError(msg)
        self._secure = parts.scheme == "https"
        self._host, self._port = parts.hostname, parts.port or (443 if self._secure else 80)
        self._prefix = parts.path.rstrip("/")
        self._faults: list[_Fault] = []
        self._lock = threading.Lock()
        self.seen: list[Asked] = []
        """Every request that came, in order."""

    def __enter__(self) -> Self:
        self._listening = _listen(self)
        self._thread = threading.Thread(
            target=self._listening.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for fault in self._faults:
            fault.ending.set()
        self._listening.shutdown()
        self._listening.server_close()
        self._thread.join(5)

    @property
    def url(self) -> str:
        """The address to put into a configuration."""
        return f"http://127.0.0.1:{self._listening.server_address[1]}{self._prefix}"

    @contextmanager
    def fault(self, action: Action, *, when: When = anything, at: Callable[[int], bool] = always) -> Iterator[None]:
        """Let requests go wrong within this block: those that `when` fits, at the numbers that `at` names.

        Of several faults that fit, the one begun last acts; the others don't count the request.
        """
        made = _Fault(action, when, at)
        with self._lock:
            self._faults.insert(0, made)
        try:
            yield
        finally:
            with self._lock:
                self._faults.remove(made)
            made.ending.set()

    def answer(self, asked: Asked) -> Told:
        """Return what goes back for one request. Raises `Dropped`."""
        with self._lock:
            self.seen.append(asked)
            chosen: _Fault | None = None
            for fault in self._faults:
                if fault.when(asked):
                    fault.count += 1
                    chosen = fault if fault.at(fault.count) else None
                    if chosen is not None:
                        break
        if chosen is None:
            return self._forward(asked)
        return chosen.action(Passing(asked, chosen.count, lambda: self._forward(asked), chosen.ending))

    def _forward(self, asked: Asked) -> Told:
        """Ask the server behind. Raises `Dropped` if it does not answer: the client is to see just that."""
        make = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        connection = make(self._host, self._port, timeout=_ANSWERS_WITHIN)
        headers = {name: value for name, value in asked.headers.items() if name not in _OF_THE_CONNECTION | {"host"}}
        try:
            connection.request(asked.method, asked.target, body=asked.body or None, headers=headers)
            reply = connection.getresponse()
            body = reply.read()
        except (OSError, http.client.HTTPException) as error:
            raise Dropped from error
        finally:
            connection.close()
        left_out = _OF_THE_CONNECTION - ({"content-length"} if asked.method == "HEAD" else set())
        return Told(reply.status, [each for each in reply.getheaders() if each[0].lower() not in left_out], body)


def _listen(front: HttpFront) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def pass_on(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            headers = {name.lower(): value for name, value in self.headers.items()}
            try:
                told = front.answer(Asked(self.command, self.path, headers, self.rfile.read(length)))
            except Dropped:
                self._reset()
                return
            self.send_response_only(told.status)
            for name, value in told.headers:
                self.send_header(name, value)
            if self.command != "HEAD":  # what a HEAD says of the length is the server's
                self.send_header("content-length", str(len(told.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(told.body if told.keep is None else told.body[: told.keep])
            if told.keep is not None:
                self.close_connection = True

        def _reset(self) -> None:
            """Close with a reset, not with an orderly end that could pass for an empty reply."""
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True

        def log_message(self, *arguments: Any) -> None:
            """Say nothing: a test looks at `seen`."""

    for method in _METHODS:
        setattr(Handler, f"do_{method}", Handler.pass_on)

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Say nothing: a client that goes away is what some faults bring about."""

        def shutdown_request(self, request: Any) -> None:
            """Close at once: a socket that lingers for nothing sends its reset only so."""
            self.close_request(request)

    return Server(("127.0.0.1", 0), Handler)

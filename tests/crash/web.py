"""An HTTP target that loses responses, and counts every effect it had on an object.

    with LossyApi(objects) as api:
        api.begin(seed)            # as it was at first; which request goes wrong, and how, follows from the seed
        api.settle()               # what it has accepted and not done yet takes effect now
        api.effects                # [("clerk", "t003"), …]: which object was changed, and whose it was then

Whatever it answers, it keeps a precondition at the instant of the effect, and repeats nothing that came with a key that
it knows. A write can go wrong in every way of `WRITE_FAULTS`: done and never answered, never done, answered after the
client has given up, done long after that, accepted for later (202), answered with an error although it was done.
"""

from __future__ import annotations

import json
import random
import select
import socket
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import unquote, urlsplit

FREE, TAKEN = "gone", "clerk"
"""Who owns an object before the act, and after it."""

WRITE_FAULTS = (
    "lost",  # done, and the connection closed without an answer
    "dropped",  # not done, and the connection closed
    "late",  # done, and answered only after the client has given up
    "delayed",  # the connection closed; done when further processes have come and gone, or when one has just looked
    "error_done",  # done, and answered with 500
    "error_not_done",  # answered with 503
    "pending_done",  # done, and answered with 202
    "pending",  # answered with 202; done as late as that
    "pending_never",  # answered with 202, and forgotten
    "cut",  # done; the answer breaks off
    "throttled",  # not done: 429
)
READ_FAULTS = ("lost", "error_done", "cut")


@dataclass
class Delayed:
    """A write that takes effect later: after `turns` further processes, or right after `reads` further looks at it."""

    key: str
    write: Callable[[], Any]
    turns: int | None = None
    reads: int | None = None


@dataclass
class Asked:
    """One request on one object."""

    method: str
    key: str
    if_match: str | None
    idempotency_key: str | None
    body: Any
    destroys: bool = False
    """A second one does more than the first."""


@dataclass
class LossyApi:
    """See the module's text. `kinds`: how objects are written to, of the operations that the tests configure."""

    keys: tuple[str, ...]
    faults: tuple[str, ...] = WRITE_FAULTS
    effects: list[tuple[str, str]] = field(default_factory=list)
    owner: dict[str, str] = field(default_factory=dict)
    version: dict[str, int] = field(default_factory=dict)
    answered: dict[str, tuple[int, Any] | None] = field(default_factory=dict)
    """By idempotency key: what was answered; None while it has not ended."""
    delayed: list[Delayed] = field(default_factory=list)
    forgotten: set[str] = field(default_factory=set)
    """Objects of which a write was accepted that will never be done."""
    seed: int | None = None

    def __post_init__(self) -> None:
        self._lock = threading.RLock()
        self._nth: Counter[tuple[str, str]] = Counter()
        self.begin(None)

    def begin(self, seed: int | None) -> None:
        """Be as at first. None: nothing goes wrong."""
        with self._lock:
            self.seed = seed
            self.owner = dict.fromkeys(self.keys, FREE) | {"kept": "somebody"}
            self.version = dict.fromkeys(self.owner, 1)
            self.effects, self.answered, self.delayed, self.forgotten = [], {}, [], set()
            self._nth.clear()

    def settle(self, *, everything: bool = False) -> bool:
        """Let a turn pass: what is due takes effect. Return whether anything was due."""
        with self._lock:
            waiting, self.delayed = self.delayed, []
            for each in waiting:
                each.turns = None if each.turns is None else each.turns - 1
                if everything or each.turns == 0:
                    each.write()
                else:
                    self.delayed.append(each)
            return len(self.delayed) < len(waiting)

    def _was_read(self, key: str) -> None:
        waiting, self.delayed = self.delayed, []
        for each in waiting:
            if each.key == key and each.reads is not None:
                each.reads -= 1
            if each.reads == 0:
                each.write()
            else:
                self.delayed.append(each)

    # --- the server ---------------------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def handle_any(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                raw = self.rfile.read(length)
                if len(raw) < length:  # its sender was killed in the middle of it
                    self.close_connection = True
                    return
                steps = [unquote(step) for step in urlsplit(self.path).path.strip("/").split("/")]
                fault, (status, body, headers) = api.answer(
                    self.command,
                    steps,
                    {name.lower(): value for name, value in self.headers.items()},
                    json.loads(raw) if raw else None,
                )
                if fault in {"lost", "dropped", "delayed", "late"}:
                    if fault == "late":
                        select.select([self.connection], [], [], 10)  # until the client gives up, or dies
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                content = b"" if body is None else json.dumps(body).encode()
                self.send_response(status)
                for name, value in {"content-type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(content) + (10 if fault == "cut" else 0)))
                self.end_headers()
                self.wfile.write(content)
                self.close_connection = self.close_connection or fault == "cut"

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            setattr(Handler, f"do_{method}", Handler.handle_any)

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: Any) -> None:
                """A client that was killed is what this is about."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    # --- what it does -------------------------------------------------------------------------------------------------

    def answer(
        self, method: str, steps: list[str], headers: dict[str, str], body: Any
    ) -> tuple[str | None, tuple[int, Any, dict[str, str]]]:
        """Return what goes wrong, and the answer."""
        with self._lock:
            if steps == ["things"]:
                return None, (200, self._all(), {})
            if steps == ["count"]:
                return None, (200, {"count": len(self.owner)}, {})
            key = steps[1]
            fault = self._fault(method, key)
            if method == "GET":
                answer = (500, None, {}) if fault == "error_done" else self._one(key)
                self._was_read(key)
                return fault, answer
            asked = Asked(
                method, key, headers.get("if-match"), headers.get("idempotency-key"), body, steps[-1] == "trash"
            )
            return fault, (*self._write(asked, fault), {})

    def _all(self) -> dict[str, Any]:
        items = [{"id": key, "owner": owner} for key, owner in sorted(self.owner.items())]
        return {"items": items, "next_cursor": None, "total": len(items), "snapshot": "s"}

    def _one(self, key: str) -> tuple[int, Any, dict[str, str]]:
        if key not in self.owner:
            return 404, {"error": "not found"}, {}
        return 200, {"id": key, "owner": self.owner[key]}, {"ETag": f'"{self.version[key]}"'}

    def _fault(self, method: str, key: str) -> str | None:
        """Return what goes wrong: of an object's nth request of a kind always the same under the same seed."""
        if self.seed is None:
            return None
        kind = "read" if method == "GET" else "write"
        self._nth[kind, key] += 1
        chance = random.Random(f"{self.seed}/{kind}/{key}/{self._nth[kind, key]}")
        if kind == "read":
            return chance.choice(READ_FAULTS) if chance.random() < 0.02 else None
        return chance.choice(self.faults) if chance.random() < 0.3 else None

    def _write(self, asked: Asked, fault: str | None) -> tuple[int, Any]:
        known = asked.idempotency_key
        if known is not None and known in self.answered:
            before = self.answered[known]
            return (409, {"error": "in flight"}) if before is None else before
        if fault in {"dropped", "error_not_done", "throttled", "pending_never"}:
            if fault == "pending_never":
                self.forgotten.add(asked.key)
            return {"error_not_done": 503, "throttled": 429}.get(str(fault), 202), None
        if known is not None:
            self.answered[known] = None
        if fault in {"delayed", "pending"}:
            chance = random.Random(f"{self.seed}/turns/{asked.key}")
            until = {chance.choice(("turns", "reads")): chance.randint(1, 3)}
            self.delayed.append(Delayed(asked.key, lambda: self._effect(asked), **until))
            return 202, None
        status, body = self._effect(asked)
        if fault == "error_done":
            return 500, {"error": "a proxy"}
        return (202, None) if fault == "pending_done" else (status, body)

    def _effect(self, asked: Asked) -> tuple[int, Any]:
        status, body = self._done(asked)
        if asked.idempotency_key is not None:
            self.answered[asked.idempotency_key] = (status, body)
        return status, body

    def _done(self, asked: Asked) -> tuple[int, Any]:
        key = asked.key
        if key not in self.owner and not asked.destroys:
            return 404, {"error": "not found"}
        if asked.if_match is not None and asked.if_match != f'"{self.version[key]}"':
            return 412, {"error": "changed"}
        if asked.method == "PUT" and asked.body["owner"] == self.owner[key]:
            return 200, {"id": key}  # the same again is no change
        self.effects.append((asked.body["owner"] if asked.body is not None else TAKEN, key))
        if asked.method == "DELETE":
            self.owner.pop(key, None)
            return 204, None
        self.owner[key] = asked.body["owner"]
        self.version[key] += 1
        return 200, {"id": key, "owner": self.owner[key]}

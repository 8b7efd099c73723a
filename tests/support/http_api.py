"""A real HTTP server on this machine that speaks as several kinds of APIs do, over objects that tests may change.

    with Api(things) as api:                        # things: dicts with an `id`
        api.url                                     # http://127.0.0.1:…
        api.objects["a"]["owner"] = "x"             # the world changes
        api.faults.append(fault)                    # fault(request) -> Answer | None, asked before the real answer
        api.requests                                # every request that came

Families, by the first step of the path: `/cursor` (plain), `/link` (GitHub), `/keyset` (Stripe), `/scim`, `/k8s`,
`/graphql`, `/nolast` (says nothing about its end), `/token` (OAuth 2.0). Single objects are at `/FAMILY/ID`, with an
`ETag`; writes take `If-Match`.
"""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

PAGE = 3


@dataclass
class Asked:
    """One request as it came."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass
class Answer:
    """What goes back. `body` None: nothing; a `str` as it is; anything else as JSON. `cut`: bytes that are left out."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    cut: int = 0


Fault = Callable[[Asked], "Answer | None"]


class Server:
    """A server on this machine; `answer` says what it answers."""

    def answer(self, asked: Asked) -> Answer:
        """Answer one request."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                raw = self.rfile.read(length)
                parts = urlsplit(self.path)
                query = {name: values[-1] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
                headers = {name.lower(): value for name, value in self.headers.items()}
                body = _decoded(raw, headers.get("content-type", ""))
                answer = api.answer(Asked(self.command, parts.path, query, headers, body))
                content = b"" if answer.body is None else _content(answer.body)
                self.send_response(answer.status)
                for name, value in {"content-type": "application/json", **answer.headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content[: len(content) - answer.cut])
                if answer.cut > 0:
                    self.close_connection = True

            def log_message(self, *arguments: Any) -> None:
                """Say nothing: tests read `requests`."""

        for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"):
            setattr(Handler, f"do_{method}", Handler.handle_any)

        class Server(ThreadingHTTPServer):
            def handle_error(self, request: Any, client_address: Any) -> None:
                """Say nothing: a client that went away is what some tests are about."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    @property
    def url(self) -> str:
        """The server's address."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"


class Api(Server):
    """See the module's text."""

    def __init__(self, things: list[dict[str, Any]], *, page: int = PAGE, token: str | None = None) -> None:
        self.objects = {str(thing["id"]): thing for thing in things}
        self.versions = dict.fromkeys(self.objects, 1)
        self.page, self.token = page, token
        self.tokens_given = 0
        self.requests: list[Asked] = []
        self.faults: list[Fault] = []
        self.effects: list[tuple[str, str]] = []
        self.snapshot: str | None = "s1"
        self._lock = threading.Lock()

    def lists(self, family: str) -> list[Asked]:
        """Every request for a page of a family."""
        return [asked for asked in self.requests if asked.path == f"/{family}"]

    def answer(self, asked: Asked) -> Answer:
        """Answer one request."""
        with self._lock:
            self.requests.append(asked)
            for fault in self.faults:
                if (answer := fault(asked)) is not None:
                    return answer
            if asked.path == "/token":
                return self._give_token(asked)
            if self.token is not None and asked.headers.get("authorization") != f"Bearer {self.token}":
                return Answer(401, {"error": "invalid_token"})
            steps = [unquote(step) for step in asked.path.strip("/").split("/")]
            if len(steps) > 1:
                return self._one(asked, steps[-1])
            return getattr(self, f"_{steps[0]}")(asked)

    # --- one object ---------------------------------------------------------------------------------------------------

    def _one(self, asked: Asked, key: str) -> Answer:
        if key == "count":
            return Answer(200, {"count": len(self.objects)})
        if key not in self.objects:
            return Answer(404, {"error": "not found"})
        etag = f'"{self.versions[key]}"'
        if asked.method in {"GET", "HEAD"}:
            return Answer(200, self.objects[key], {"ETag": etag})
        if asked.headers.get("if-match", etag) != etag:
            return Answer(412, {"error": "changed"})
        self.effects.append((asked.method, key))
        if asked.method == "DELETE":
            del self.objects[key]
            return Answer(204)
        self.change(key, **asked.body)
        return Answer(200, self.objects[key], {"ETag": f'"{self.versions[key]}"'})

    def change(self, key: str, **values: Any) -> None:
        """Change an object, and its version with it."""
        self.objects[key].update(values)
        self.versions[key] += 1

    def _give_token(self, asked: Asked) -> Answer:
        if asked.body.get("client_secret") != "s3cret":
            return Answer(401, {"error": "invalid_client"})
        self.tokens_given += 1
        self.token = f"t{self.tokens_given}"
        return Answer(200, {"access_token": self.token, "token_type": "bearer", "expires_in": 3600})

    # --- lists --------------------------------------------------------------------------------------------------------

    def _matching(self, asked: Asked) -> list[dict[str, Any]]:
        owner = asked.query.get("owner")
        return [
            self.objects[key]
            for key in sorted(self.objects)
            if owner is None or self.objects[key].get("owner") == owner
        ]

    def _cursor(self, asked: Asked) -> Answer:
        things = self._matching(asked)
        start = int(asked.query.get("cursor", "0"))
        more = start + self.page < len(things)
        body = {
            "items": things[start : start + self.page],
            "next_cursor": str(start + self.page) if more else None,
            "total": len(things),
        }
        return Answer(200, body if self.snapshot is None else {**body, "snapshot": self.snapshot})

    def _nolast(self, asked: Asked) -> Answer:
        return Answer(200, {"items": self._matching(asked)})

    def _link(self, asked: Asked) -> Answer:
        things, page = self._matching(asked), int(asked.query.get("page", "1"))
        start = (page - 1) * self.page
        more = start + self.page < len(things)
        headers = {"Link": f'<https://elsewhere.example/link?page={page + 1}>; rel="next"'} if more else {}
        return Answer(200, things[start : start + self.page], headers)

    def _keyset(self, asked: Asked) -> Answer:
        after = asked.query.get("starting_after", "")
        things = [thing for thing in self._matching(asked) if str(thing["id"]) > after]
        return Answer(200, {"object": "list", "data": things[: self.page], "has_more": len(things) > self.page})

    def _scim(self, asked: Asked) -> Answer:
        things, start = self._matching(asked), int(asked.query.get("startIndex", "1"))
        given = things[start - 1 : start - 1 + self.page]
        body = {"totalResults": len(things), "startIndex": start, "itemsPerPage": len(given), "Resources": given}
        return Answer(200, body)

    def _k8s(self, asked: Asked) -> Answer:
        things = [
            {"metadata": {"uid": str(thing["id"]), "name": str(thing["id"])}, "spec": thing}
            for thing in self._matching(asked)
        ]
        token = asked.query.get("continue")
        start, version = (0, self.snapshot) if token is None else json.loads(base64.b64decode(token))
        if version != self.snapshot:
            return Answer(410, {"kind": "Status", "reason": "Expired", "code": 410, "metadata": {}})
        more = start + self.page < len(things)
        following = base64.b64encode(json.dumps([start + self.page, version]).encode()).decode() if more else ""
        metadata = {"resourceVersion": version, "continue": following}
        return Answer(200, {"kind": "ThingList", "metadata": metadata, "items": things[start : start + self.page]})

    def _graphql(self, asked: Asked) -> Answer:
        things = self._matching(asked)
        start = int(asked.body["variables"].get("after") or 0)
        more = start + self.page < len(things)
        connection = {
            "nodes": things[start : start + self.page],
            "pageInfo": {"hasNextPage": more, "endCursor": str(start + self.page)},
            "totalCount": len(things),
        }
        return Answer(200, {"data": {"viewer": {"things": connection}}})


def _decoded(raw: bytes, content_type: str) -> Any:
    if raw == b"":
        return None
    if "form" in content_type:
        return {name: values[-1] for name, values in parse_qs(raw.decode()).items()}
    return json.loads(raw)


def _content(body: Any) -> bytes:
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()

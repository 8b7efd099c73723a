"""A recorded exchange, served to the real HTTP client in place of a network.

Guarantees: replies are served in the order in which they were recorded; a probe or a detail is answered by the reply
that was recorded for its path. A request behind the last reply is answered by the failure that was recorded last, as
often as it is tried again, or else by the statement that there is more: the recording stops where its client stopped.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from fullcount.runtime.conformance.case import Step
from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.connectors.http.exchange import OPERATION_HEADER, Request, host_of
from fullcount.runtime.connectors.http.forms import Dialect
from fullcount.runtime.evidence.codes import Reason, Way
from fullcount.runtime.evidence.envelope import Continuation, Incompleteness

HOST = "recorded.invalid"
_GOOD = range(200, 300)


def host_of_api(dialect: Dialect) -> str:
    """Return the host that a recording is of: the API's own where it has one, so that its addresses are known again."""
    return host_of(dialect.base_url or "") or HOST


def request_of(step: Step) -> Request:
    """Return a recorded request as the connector would make it."""
    recorded = step.request
    headers = {str(name): str(value) for name, value in (recorded.get("headers") or {}).items()}
    body = recorded.get("body")
    if "operation" in recorded:
        headers[OPERATION_HEADER] = str(recorded["operation"])
        body = recorded.get("params", {}) if body is None else body
    request = Request.to(_target(recorded), str(recorded.get("method", "GET")).upper(), headers, body)
    asked = recorded.get("query")
    for name, value in asked.items() if isinstance(asked, dict) else ():
        request = request.with_query(str(name), str(value))
    return request


def _target(recorded: Mapping[str, Any]) -> str:
    target = str(recorded.get("path") or recorded.get("url") or "/")
    return target if target.startswith("/") or "://" in target else f"/{target}"


class Recording(httpx.AsyncBaseTransport):
    """See the module's text. `rewind` begins anew: what was recorded does not change by being read twice."""

    def __init__(self, pages: Sequence[Step], aside: Sequence[Step]) -> None:
        self._pages, self._aside = pages, aside
        self._next = 0
        self._asked: tuple[str, str, bytes] | None = None

    def rewind(self) -> None:
        """Begin anew."""
        self._next = 0
        self._asked = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer as recorded."""
        step = self._beside(request) or self._page(request)
        return _response(step, request)

    def _beside(self, request: httpx.Request) -> Step | None:
        for step in self._aside:
            asked = request_of(step)
            query = [pair for pair in asked.query if pair not in request.url.params.multi_items()]
            if (asked.method, asked.path, query) == (request.method, request.url.path, []):
                return step
        return None

    def _page(self, request: httpx.Request) -> Step:
        if all(request_of(step).method != request.method for step in self._pages):
            msg = "a look at one object, which was not recorded"
            raise httpx.ReadError(msg, request=request)
        if self._next >= len(self._pages) or self._is_retry_of_another(request):
            last = self._pages[min(self._next, len(self._pages)) - 1] if self._next > 0 else None
            again = self._asked == _words(request)  # an API may say in a reply with status 200 that it failed
            if last is not None and (again or last.response.status not in _GOOD):
                return last
            raise SourceError(
                Incompleteness(
                    code=Reason.MORE_PAGES_AVAILABLE,
                    detail="the source gave a way to a next page, and the recording ends before it",
                ),
                continuation=Continuation(way=Way.NEXT_CURSOR, preserves_snapshot=False, hint="read the next page"),
            )
        step = self._pages[self._next]
        self._next += 1
        self._asked = _words(request)
        return step

    def _is_retry_of_another(self, request: httpx.Request) -> bool:
        """Whether a failed request is tried again, while the recording goes on with another one."""
        if self._next == 0:
            return False
        before, after = self._pages[self._next - 1], self._pages[self._next]
        failed = before.response.status not in _GOOD
        return failed and before.request != after.request and request_of(before).path == request.url.path


def _words(request: httpx.Request) -> tuple[str, str, bytes]:
    return request.method, str(request.url), request.content


def _response(step: Step, request: httpx.Request) -> httpx.Response:
    answer = step.response
    if answer.status is None:
        name = str(answer.body.get("client_error", "ReadError")) if isinstance(answer.body, dict) else "ReadError"
        kind = getattr(httpx, name, httpx.ReadError)
        if not (isinstance(kind, type) and issubclass(kind, httpx.TransportError)):
            kind = httpx.ReadTimeout if "timeout" in name.lower() else httpx.ReadError
        raise kind(name, request=request)
    headers = {name: _header(value) for name, value in answer.headers.items() if name.lower() not in _OF_WIRE}
    content = b64decode(answer.body) if answer.encoding is not None else _content(answer.body, headers)
    given = [(name.encode(), value.encode(errors="surrogatepass")) for name, value in headers.items()]
    return httpx.Response(int(answer.status), headers=given, content=content, request=request)


_OF_WIRE = frozenset({"content-length", "transfer-encoding", "content-encoding", "connection"})


def _header(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _content(body: Any, headers: dict[str, str]) -> bytes:
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode(errors="surrogatepass")
    if not any(name.lower() == "content-type" for name in headers):
        headers["content-type"] = "application/json"
    return json.dumps(body).encode()

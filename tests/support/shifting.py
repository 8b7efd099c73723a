"""An HTTP API in memory whose collection moves while it is read, in each way in which APIs page.

It is honest: it tells its end, its total and its errors as its kind of API does, of the state that it is in at each
request. What changes at which request, and what goes wrong at which, is given beforehand.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx

from fullcount.runtime.connectors.http.client import HttpClient
from fullcount.runtime.connectors.http.config import HttpConfig
from fullcount.runtime.connectors.http.reader import HttpReader

Style = Literal["pinned", "keyset", "counted", "uncounted", "positions", "numbers", "shards"]
DIALECTS: Mapping[Style, str] = {
    "pinned": "generic_http",
    "keyset": "stripe",
    "counted": "generic_http",
    "uncounted": "generic_http",
    "positions": "scim",
    "numbers": "github_rest",
    "shards": "stripe",
}
HOST = "http://api.test"


@dataclass(frozen=True)
class Event:
    """What happens right before a request. `move` puts the object elsewhere in the order, and is a change of it."""

    at: int
    kind: Literal["insert", "delete", "move", "withdraw"]
    key: str
    place: int = 0


@dataclass(frozen=True)
class Trouble:
    """How a request is answered instead."""

    at: int
    kind: Literal["expired", "forbidden", "throttled", "down", "reset", "broken", "html"]


@dataclass
class Moving:
    """The API. `rows`: where each object stands in the order."""

    style: Style
    page: int
    places: dict[str, int]
    events: tuple[Event, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    requests: int = 0
    withdrawn: bool = False
    states: list[dict[str, int]] = field(default_factory=list)
    """The collection as it was at each request, and before the first one."""
    _pins: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.states.append(dict(self.places))

    @property
    def throughout(self) -> set[str]:
        """The objects that were there, and could be seen, at every request."""
        return set.intersection(*map(set, self.states))

    @property
    def ever(self) -> set[str]:
        """The objects that were there at any request."""
        return set.union(*map(set, self.states))

    def reader(self) -> HttpReader:
        """Return the real reader over this API, without a network."""
        resource = {
            "list": ["/left", "/right"] if self.style == "shards" else "/things",
            "key": ["id"],
            "fields": {"id": "text", "place": "int"},
        }
        settings = HttpConfig.model_validate(
            {"dialect": DIALECTS[self.style], "base_url": HOST, "resources": {"things": resource}}
        )
        self.settings = settings
        return HttpReader(settings, HttpClient(httpx.MockTransport(self.answer), HOST, {}))

    def answer(self, request: httpx.Request) -> httpx.Response:
        """Answer one request, after what happens before it."""
        self.requests += 1
        for event in self.events:
            if event.at == self.requests:
                self._happen(event)
        self.states.append(dict(self.places))
        for trouble in self.troubles:
            if trouble.at == self.requests:
                return _troubled(trouble, request)
        query = dict(request.url.params)
        style = "keyset" if self.style == "shards" else "counted" if self.style == "uncounted" else self.style
        answered: httpx.Response = getattr(self, f"_{style}")(request.url.path, query)
        return answered

    def _happen(self, event: Event) -> None:
        if event.kind == "insert":
            self.places[event.key] = event.place
        elif event.key in self.places:
            if event.kind == "move":
                self.places[event.key] = event.place
            else:
                self.withdrawn = self.withdrawn or event.kind == "withdraw"
                del self.places[event.key]

    def _ordered(self) -> list[dict[str, Any]]:
        return [
            {"id": key, "place": place}
            for key, place in sorted(self.places.items(), key=lambda pair: (pair[1], pair[0]))
        ]

    def _pinned(self, path: str, query: dict[str, str]) -> httpx.Response:
        pin, _, start = query.get("cursor", "").partition(":")
        if pin == "":
            pin, start = f"s{self.requests}", "0"
            self._pins[pin] = self._ordered()
        rows, begin = self._pins[pin], int(start)
        stop = begin + self.page
        more = stop < len(rows)
        body = {"items": rows[begin:stop], "next_cursor": f"{pin}:{stop}" if more else None, "snapshot": pin}
        return _json(body)

    def _counted(self, path: str, query: dict[str, str]) -> httpx.Response:
        rows, begin = self._ordered(), int(query.get("cursor", "0"))
        stop = begin + self.page
        body = {"items": rows[begin:stop], "next_cursor": str(stop) if stop < len(rows) else None}
        return _json(body if self.style == "uncounted" else {**body, "total": len(rows)})

    def _keyset(self, path: str, query: dict[str, str]) -> httpx.Response:
        after = query.get("starting_after", "")
        rows = sorted(self._ordered(), key=lambda row: row["id"])
        mine = [row for row in rows if path == "/things" or (int(row["id"][1:]) % 2 == 0) == (path == "/left")]
        found = [row for row in mine if row["id"] > after]
        return _json({"object": "list", "data": found[: self.page], "has_more": len(found) > self.page})

    def _positions(self, path: str, query: dict[str, str]) -> httpx.Response:
        rows, start = self._ordered(), int(query.get("startIndex", "1"))
        given = rows[start - 1 : start - 1 + self.page]
        return _json({"totalResults": len(rows), "startIndex": start, "itemsPerPage": len(given), "Resources": given})

    def _numbers(self, path: str, query: dict[str, str]) -> httpx.Response:
        rows, number = self._ordered(), int(query.get("page", "1"))
        stop = number * self.page
        headers = {"X-OAuth-Scopes": "read:org" if self.withdrawn else "read:org, repo"}
        if stop < len(rows):
            headers["Link"] = f'<{HOST}{path}?page={number + 1}>; rel="next"'
        return _json(rows[stop - self.page : stop], headers)


def _json(body: Any, headers: Mapping[str, str] | None = None, status: int = 200) -> httpx.Response:
    return httpx.Response(
        status, headers={"content-type": "application/json", **(headers or {})}, text=json.dumps(body)
    )


def _troubled(trouble: Trouble, request: httpx.Request) -> httpx.Response:
    match trouble.kind:
        case "expired":
            return _json({"error": "cursor expired", "scimType": "expiredCursor"}, status=410)
        case "forbidden":
            return _json({"error": "forbidden"}, status=403)
        case "throttled":
            return _json({"error": "slow down"}, {"Retry-After": "1"}, status=429)
        case "down":
            return _json({"error": "unavailable"}, status=503)
        case "reset":
            raise httpx.ReadError("reset", request=request)
        case "broken":
            return httpx.Response(200, headers={"content-type": "application/json"}, text='{"items": [{"id": "k0')
        case _:
            return httpx.Response(200, headers={"content-type": "text/html"}, text="<html>sign in</html>")

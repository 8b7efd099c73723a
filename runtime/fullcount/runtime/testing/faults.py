"""What can go wrong between the product and a server: actions of the fault front.

Each says what a client gets to see, not what is wrong behind it. `before` lets the world change between two requests;
everything else changes a reply, or lets it never arrive.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from fullcount.runtime.testing.front import Action, Dropped, Passing, Told

_LONGEST_HANG = 30.0
_JSON = ("content-type", "application/json")


def reset() -> Action:
    """Reset the connection; the request does not reach the server."""

    def action(passing: Passing) -> Told:
        raise Dropped

    return action


def lose_reply() -> Action:
    """Let the server do what it was asked, and lose its answer."""

    def action(passing: Passing) -> Told:
        passing.forward()
        raise Dropped

    return action


def answer(status: int, body: Any = None, headers: Mapping[str, str] | None = None) -> Action:
    """Answer in the server's place: text as it is, anything else as JSON; None: nothing."""
    content = b"" if body is None else body.encode() if isinstance(body, str) else json.dumps(body).encode()
    given = (_JSON, *(headers or {}).items()) if not isinstance(body, str) else tuple((headers or {}).items())
    return lambda passing: Told(status, given, content)


def throttle(after: int | None = None) -> Action:
    """Refuse with 429, and say after how many seconds to come back, if at all."""
    return answer(429, {"error": "too many requests"}, {} if after is None else {"Retry-After": str(after)})


def forbid() -> Action:
    """Refuse with 403: the permission is gone."""
    return answer(403, {"error": "forbidden"})


def log_out() -> Action:
    """Refuse with 401: the credential ended."""
    return answer(401, {"error": "unauthorized"})


def unavailable() -> Action:
    """Refuse with 503."""
    return answer(503, {"error": "unavailable"})


def html() -> Action:
    """Answer with a page for people and status 200, as portals and gateways do."""
    page = "<!DOCTYPE html><html><body><h1>Please sign in</h1></body></html>"
    return answer(200, page, {"content-type": "text/html"})


def truncate(share: float = 0.5) -> Action:
    """Send a part of the reply's body (0 to 1) under the length of the whole, then end the connection."""

    def action(passing: Passing) -> Told:
        told = passing.forward()
        return Told(told.status, told.headers, told.body, keep=int(len(told.body) * share))

    return action


def delay(seconds: float) -> Action:
    """Hold the request back for some seconds."""

    def action(passing: Passing) -> Told:
        passing.ending.wait(seconds)
        return passing.forward()

    return action


def hang() -> Action:
    """Never answer, until the fault's block is left."""

    def action(passing: Passing) -> Told:
        passing.ending.wait(_LONGEST_HANG)
        raise Dropped

    return action


def before(change: Callable[[], object]) -> Action:
    """Change something behind the client's back, then let the request pass."""

    def action(passing: Passing) -> Told:
        change()
        return passing.forward()

    return action


def edit(change: Callable[[Any], Any]) -> Action:
    """Change a JSON reply: drop rows or a shard, end a list early, repeat a cursor. `change` returns the new body."""

    def action(passing: Passing) -> Told:
        told = passing.forward()
        return Told(told.status, told.headers, json.dumps(change(json.loads(told.body))).encode())

    return action


def without_header(*names: str) -> Action:
    """Leave out headers of the reply, such as the `Link` to the next page."""
    gone = {name.lower() for name in names}

    def action(passing: Passing) -> Told:
        told = passing.forward()
        return Told(told.status, [(name, value) for name, value in told.headers if name.lower() not in gone], told.body)

    return action


def replay() -> Action:
    """Answer every request with the reply to the first one: the same page, the same cursor, again and again."""
    kept: list[Told] = []

    def action(passing: Passing) -> Told:
        if len(kept) == 0:
            kept.append(passing.forward())
        return kept[0]

    return action

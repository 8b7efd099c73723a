"""What a stub of an API is: a list over several pages in the words of that API, and the ways in which it fails.

Written from what the APIs document and were seen to do, never from the dialects that are to read them. A stub is data:

    Stub("slack", "/api/conversations.list?limit=3", pages=token("channels", …), faults=[Fault("no scope", …)])

`StubServer` is one real server on this machine that speaks as the stub that it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from tests.support.http_api import Answer, Asked, Server

PAGE, COUNT = 3, 7
"""Three pages: two full ones and a short one."""

Pages = Callable[[Sequence[Any], Asked], Answer]
"""From all objects and one request to the page that it asks for."""
Bend = Callable[[Answer], Answer]


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one page, and the reasons of which the read must give one."""

    name: str
    bend: Bend
    codes: tuple[str, ...]
    page: int = 2
    """Which request for a page it meets: that one, and those that repeat it."""


@dataclass(frozen=True)
class Stub:
    """One list of one API."""

    dialect: str
    target: str
    pages: Pages
    thing: Callable[[str], Any] = lambda name: {"id": name}
    """How an object looks that is called by this name."""
    at: str = "id"
    """Where the name stands in it."""
    method: str = "GET"
    body: Any = None
    operation: str | None = None
    paged: bool = True
    counted: bool = False
    """Whether the API gives an exact total, so that an object that is left out shows."""
    faults: Sequence[Fault] = ()
    beside: Callable[[Asked], Answer | None] = lambda asked: None
    """What it answers to requests that are not for a page."""
    best: frozenset[str] = frozenset()
    """What is said against the list even when all of it was given."""
    name: str = ""
    """What tells it from other stubs of the same dialect."""

    @property
    def title(self) -> str:
        """The dialect, and which of its stubs."""
        return self.dialect if self.name == "" else f"{self.dialect}-{self.name}"

    @property
    def resource(self) -> dict[str, Any]:
        """What the configuration says of it."""
        said = {"method": self.method, "body": self.body, "operation": self.operation}
        fields = {"name": {"type": "text", "at": self.at}}
        told = {key: value for key, value in said.items() if value is not None}
        return {"list": self.target, "key": ["name"], "fields": fields, **told}

    def every_fault(self) -> list[Fault]:
        """Return what may go wrong with any API, and with this one."""
        found = [replace(fault, page=fault.page if self.paged else 1) for fault in COMMON]
        if self.paged:
            found.append(Fault("cursor that stands still", unbent, ("CURSOR_LOOP",)))
        if self.counted:
            last = 3 if self.paged else 1
            found.append(Fault("last page that lacks one", unbent, ("COUNT_MISMATCH",), last))
        return [*found, *self.faults]


NAMES = [f"n{number}" for number in range(1, COUNT + 1)]


def unbent(answer: Answer) -> Answer:
    """Return an answer as it is: the stub itself lies."""
    return answer


COMMON = (
    Fault("body that breaks off", lambda answer: replace(answer, cut=3), ("MALFORMED_RESPONSE",)),
    Fault(
        "page of a log-in",
        lambda answer: Answer(200, "<!DOCTYPE html><html>Sign in</html>", {"content-type": "text/html"}),
        ("MALFORMED_RESPONSE",),
    ),
    Fault("something else", lambda answer: Answer(200, {"message": "internal error"}), ("MALFORMED_RESPONSE",)),
    Fault("token that ended", lambda answer: Answer(401, {}), ("AUTH_FAILED",)),
    Fault("server that is down", lambda answer: Answer(503, {}), ("SOURCE_UNAVAILABLE", "RATE_LIMITED")),
    Fault("throttle", lambda answer: Answer(429, {}, {"Retry-After": "30"}), ("RATE_LIMITED",)),
)
"""What may go wrong with any list over HTTP."""


# --- words of stubs ---------------------------------------------------------------------------------------------------


def refuses(status: int, body: Any = None, **headers: str) -> Bend:
    """Return a fault that answers so instead of with a page."""
    plain = {"content-type": "text/plain"} if isinstance(body, str) else {}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda answer: Answer(status, body, {**plain, **named})


def says(place: str, value: Any) -> Bend:
    """Return a fault that puts a value at a place of the body: `a/b`; in a list a number; `~` for a `/` in a key."""

    def bend(answer: Answer) -> Answer:
        body = deepcopy(answer.body)
        holder, step = _holder(body, place)
        holder[step] = value
        return replace(answer, body=body)

    return bend


def lacks(*places: str) -> Bend:
    """Return a fault that takes places out of the body; what begins with `header:` is one."""

    def bend(answer: Answer) -> Answer:
        body, headers = deepcopy(answer.body), dict(answer.headers)
        for place in places:
            if place.startswith("header:"):
                headers.pop(place.removeprefix("header:"), None)
            else:
                holder, step = _holder(body, place)
                holder.pop(step, None)
        return replace(answer, body=body, headers=headers)

    return bend


def heads(**headers: str) -> Bend:
    """Return a fault that sends further headers."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda answer: replace(answer, headers={**answer.headers, **named})


def _holder(body: Any, place: str) -> tuple[Any, Any]:
    *way, last = [step.replace("~", "/") for step in place.split("/")]
    for step in way:
        body = body[int(step)] if isinstance(body, list) else body.setdefault(step, {})
    return body, int(last) if isinstance(body, list) else last


def put(place: str, value: Any, *besides: Mapping[str, Any]) -> dict[str, Any]:
    """Return a body with a value at a place, and more beside it."""
    whole: dict[str, Any] = {}
    for more in besides:
        whole |= deepcopy(dict(more))
    holder, step = _holder(whole, place)
    holder[step] = value
    return whole


@dataclass(frozen=True)
class Cut:
    """One page of all objects."""

    start: int
    things: Sequence[Any]
    end: int
    more: bool
    total: int


def cut(things: Sequence[Any], start: int) -> Cut:
    """Return the page that begins at a position."""
    end = min(start + PAGE, len(things))
    return Cut(start, list(things[start:end]), end, end < len(things), len(things))


# --- the server -------------------------------------------------------------------------------------------------------


@dataclass
class StubServer(Server):
    """Speaks as one stub at a time; `fault` is what goes wrong."""

    stub: Stub | None = None
    fault: Fault | None = None
    names: Sequence[str] = ()
    met: bool = False
    """Whether the fault happened."""
    _pages: list[Any] = field(default_factory=list)

    def speak(self, stub: Stub, fault: Fault | None = None, names: Sequence[str] = ()) -> None:
        """Speak as a stub from now on, of objects with these names."""
        self.stub, self.fault, self.names = stub, fault, names
        self.met, self._pages = False, []

    def answer(self, asked: Asked) -> Answer:
        """Answer one request."""
        stub, fault = self.stub, self.fault
        if stub is None:
            return Answer(500)
        beside = stub.beside(asked)
        if beside is not None:
            return beside
        wanted = (asked.query, asked.body, asked.path)
        if wanted not in self._pages:
            self._pages.append(wanted)
        met = fault is not None and self._pages.index(wanted) + 1 == fault.page
        things = [stub.thing(name) for name in self.names]
        if fault is None or not met:
            return stub.pages(things, asked)
        self.met = True
        if fault.name == "cursor that stands still":
            query, body, path = self._pages[0]
            return stub.pages(things, replace(asked, query=query, body=body, path=path))
        if fault.name == "last page that lacks one":
            answer = stub.pages(things, asked)
            return _without_last(answer, things[-1])
        return fault.bend(stub.pages(things, asked))


def _without_last(answer: Answer, thing: Any) -> Answer:
    """Return a page without an object, wherever in the body it stands."""
    return replace(answer, body=_left_out(answer.body, thing))


def _left_out(body: Any, thing: Any) -> Any:
    if isinstance(body, list):
        return [_left_out(each, thing) for each in body if thing not in (each, _inside(each))]
    if isinstance(body, dict):
        return {name: _left_out(each, thing) for name, each in body.items()}
    return body


def _inside(member: Any) -> Any:
    return member.get("node") if isinstance(member, dict) else None

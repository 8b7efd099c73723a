"""Detail calls: a further request for each object of a list, within limits of their own.

Guarantees: what such a request can't give is a state of the field, never an absence: `forbidden` where the reader may
not see it, `source_failed` where the answer failed, `not_requested` where it was not asked. An object that the list
names and whose detail is not found changed during the scan (`SNAPSHOT_CHANGED`). A reply is judged by the rules of the
dialect, so that an error with status 200 is an error. Our own limits, once reached, are a reason (R12); a source that
throttles is waited for as long as it says, all requests together, and left alone when that is too long (R17).
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from fullcount.compiler.values import FieldState
from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.connectors.http import paths
from fullcount.runtime.connectors.http.conditions import fits
from fullcount.runtime.connectors.http.exchange import Exchange, Reply, Request, split_target
from fullcount.runtime.connectors.http.forms import Detail, Operation
from fullcount.runtime.connectors.http.page import read_reply
from fullcount.runtime.connectors.http.said import Found, Said, way_on
from fullcount.runtime.evidence.codes import Reason, WarningCode, Way
from fullcount.runtime.evidence.envelope import Incompleteness, Notice

DETAIL = "$detail"
"""The name under which an item has its detail: `status`, `headers`, `body`, or `failed`: the state of its fields."""

_PLACE = re.compile(r"\{([^{}]+)\}")
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 60.0
_GONE = frozenset({200, 404, 410})
_HIDDEN = frozenset({Reason.VISIBILITY_RESTRICTED, Reason.AUTH_FAILED})


@dataclass(frozen=True, slots=True)
class Limits:
    """What the detail calls of one pass may cost; None: unbounded. See `HttpDetail`."""

    at_once: int = 8
    calls: int | None = None
    seconds: float | None = None
    retries: int = 4


NO_LIMITS = Limits()

Send = Callable[[Request], Awaitable[tuple[Reply, Operation]]]
"""What sends a request and finds the rules for its reply. Raises `SourceError`."""


@dataclass(slots=True)
class Answered:
    """What became of one detail. `body` None: there is none, and its fields have the state `failed`."""

    failed: FieldState | None = None
    body: Mapping[str, Any] | None = None
    gone: bool = False
    again: SourceError | None = None
    """The source says to ask again."""
    warnings: Sequence[Notice] = ()

    @property
    def cell(self) -> Mapping[str, Any]:
        """What is put into the item."""
        return {"failed": self.failed} if self.body is None else self.body


def judge_detail(operation: Operation, exchange: Exchange) -> Answered:
    """Return what a reply to a detail call says. Pure."""
    if any(fits(empty.when, exchange) for empty in operation.empty_on):
        return Answered(FieldState.SOURCE_FAILED, gone=True)
    reply = exchange.reply
    try:
        said = read_reply(operation, exchange)
    except SourceError as error:
        return _refused(error, reply)
    if len(said.found) > 0:
        hidden = all(found.reason.code in _HIDDEN for found in said.found)
        return Answered(FieldState.FORBIDDEN if hidden else FieldState.SOURCE_FAILED, warnings=said.warnings)
    whole = {"status": reply.status, "headers": dict(reply.headers), "body": reply.body}
    return Answered(body=whole, warnings=said.warnings)


def _refused(error: SourceError, reply: Reply) -> Answered:
    code = error.reason.code
    if code in _HIDDEN or (reply.status in {401, 403} and code is Reason.EXISTENCE_UNKNOWN):
        return Answered(FieldState.FORBIDDEN)
    gone = code is Reason.EXISTENCE_UNKNOWN and reply.status in _GONE
    after = None if error.continuation is None else error.continuation.after_seconds
    again = code is Reason.RATE_LIMITED or (error.retryable and after is not None)
    return Answered(FieldState.SOURCE_FAILED, gone=gone, again=error if again else None)


@dataclass(slots=True)
class Details:
    """The detail calls of one pass over a list: they share limits, and what was found against them is said once."""

    send: Send
    host: str
    limits: Limits = NO_LIMITS
    fields: Sequence[str] = ()
    """The fields that are taken from details."""
    calls: int = 0
    _begun: float | None = None
    _not_before: float = 0.0
    _waits: int = 0
    _stopped: Found | None = None
    _said: bool = False
    _warned: bool = False

    async def add(self, detail: Detail, operation: Operation, request: Request, said: Said) -> None:
        """Ask for the detail of each item of a page, and put it into the item."""
        if self._begun is None:
            self._begun = time.monotonic()
        gate = asyncio.Semaphore(self.limits.at_once)
        gone: list[Request] = []

        async def one(item: Any) -> Any:
            async with gate:
                asked = _request(detail, operation, request, item)
                answered = Answered(FieldState.NOT_REQUESTED) if asked is None else await self._asked(asked)
                if asked is not None and answered.gone:
                    gone.append(asked)
                for notice in answered.warnings:
                    if notice not in said.warnings:
                        said.warnings.append(notice)
                return {**item, DETAIL: answered.cell}

        said.items = list(await asyncio.gather(*(one(item) for item in said.items)))
        if len(gone) > 0:
            self._warn(said, f"{gone[0].summary}: not found, though the list named it: it changed during the scan")
        elif any(item[DETAIL].get("failed") is FieldState.SOURCE_FAILED for item in said.items):
            self._warn(said, "requests for the details of some objects failed")
        if self._stopped is not None and not self._said:
            self._said = True
            said.found.append(self._stopped)

    def _warn(self, said: Said, detail: str) -> None:
        """Warn once of what failed: that of the first object stands for all."""
        if len(self.fields) > 0 and not self._warned:
            self._warned = True
            said.warn(WarningCode.PARTIAL_FIELD_SET, detail, fields=list(self.fields))

    async def _asked(self, request: Request) -> Answered:
        """Ask for one detail, and again while the source says to come back and the limits allow it."""
        while True:
            if not await self._may_ask():
                return Answered(FieldState.NOT_REQUESTED)
            self.calls += 1
            waits = self._waits
            try:
                async with asyncio.timeout(self._left()) as limit:
                    reply, rules = await self.send(request)
            except TimeoutError:
                if not limit.expired():
                    raise
                self._stop(self._out_of_time())
                return Answered(FieldState.SOURCE_FAILED)
            except SourceError as error:  # a credential could not be had, or what is left of our allowance is others'
                answered = _refused(error, Reply())
                if error.reason.code is Reason.RATE_LIMITED:
                    answered.failed = FieldState.NOT_REQUESTED
            else:
                answered = judge_detail(rules, Exchange(request, reply, host=self.host))
            if answered.again is None or not self._waits_for(answered.again, waits):
                return answered

    async def _may_ask(self) -> bool:
        """Wait until the next request may be made; False if none may."""
        while self._stopped is None:
            if self.limits.calls is not None and self.calls >= self.limits.calls:
                self._stop(_calls_spent(self.limits.calls))
            elif self._left() == 0:
                self._stop(self._out_of_time())
            elif (wait := self._not_before - time.monotonic()) > 0:
                await asyncio.sleep(wait)
            else:
                return True
        return False

    def _waits_for(self, error: SourceError, waits: int) -> bool:
        """Note how long to leave the source alone; False if that is longer than our limits allow.

        `waits`: how often had been waited when the request was sent. Those that were on their way together wait once.
        """
        if waits == self._waits:
            self._waits += 1
        stated = None if error.continuation is None else error.continuation.after_seconds
        wait = min(_FIRST_WAIT * 2.0 ** (self._waits - 1), _LONGEST_WAIT) if stated is None else stated
        left = self._left()
        too_long = not error.retryable or wait > _LONGEST_WAIT or (left is not None and wait >= left)
        if self._waits > self.limits.retries or too_long:
            if error.reason.code is Reason.RATE_LIMITED:
                self._stop(Found(error.reason, error.continuation))
            return False
        self._not_before = max(self._not_before, time.monotonic() + wait)
        return True

    def _left(self) -> float | None:
        seconds = self.limits.seconds
        begun = self._begun
        return None if seconds is None or begun is None else max(0.0, begun + seconds - time.monotonic())

    def _stop(self, why: Found) -> None:
        if self._stopped is None:
            self._stopped = why

    def _out_of_time(self) -> Found:
        seconds = self.limits.seconds
        found = Incompleteness(
            code=Reason.TIME_BUDGET_EXCEEDED,
            detail=f"the deadline of {seconds:g} s for the requests for each object passed",
            data={"limit": "detail.deadline", "value": seconds, "detail_calls": self.calls},
        )
        return Found(found, way_on(Way.RETRY_WITH_DEADLINE, "raise `deadline` of the resource's `detail`"))


def _calls_spent(calls: int) -> Found:
    found = Incompleteness(
        code=Reason.CLIENT_LIMIT_REACHED,
        detail=f"our own limit of {calls:,} requests for each object was reached before all objects were asked for",
        data={"limit": "detail.calls", "value": calls},
    )
    return Found(found, way_on(Way.RESTART, "raise `calls` of the resource's `detail` and read again"))


def _request(detail: Detail, operation: Operation, request: Request, item: Any) -> Request | None:
    """Return the request for the detail of an item; None if the item does not say which it is."""
    target = target_of(detail.path, operation, request, item)
    if target is None:
        return None
    path, query = split_target(target)
    return replace(request, method=detail.method, path=path, query=query, body=None, resumed=False, cursor=None)


def target_of(template: str, operation: Operation, request: Request, item: Any) -> str | None:
    """Return a path with its places filled, percent-encoded; None if a place has no value that can be a step of one.

    `{stem}` is the list's own path without the operation's `stem`; any other place is one of the item.
    """
    lacking = False

    def filled(found: re.Match[str]) -> str:
        nonlocal lacking
        if found[1] == "stem":
            return request.path.removesuffix(operation.stem)
        value = paths.first(item, found[1])
        text = "" if value is None or isinstance(value, (dict, list)) else str(value)
        lacking = lacking or text in {"", ".", ".."}
        return quote(text, safe=":@")

    target = _PLACE.sub(filled, template)
    return None if lacking else target

"""Whether an exchange fits a condition of a dialect.

Guarantees: a test of a value that is not there fails, unless it asks for just that (`present = false`, `empty = true`);
numbers and booleans that an API sends as text are the same as bare ones. Nothing here decides what a fit means.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from fullcount.runtime.connectors.http import paths
from fullcount.runtime.connectors.http.exchange import Exchange, Reply, Request, host_of
from fullcount.runtime.connectors.http.forms import Check, Filled, Predicate, Wait, When


@dataclass(frozen=True, slots=True)
class Seen:
    """What was made out of the reply before a condition is asked: None where that is not known yet."""

    items: int | None = None
    cursor: bool | None = None
    below_total: bool | None = None
    member: Any = None
    """The member that `body` looks into, where members are judged one by one."""
    by_member: bool = False
    wait: Sequence[Wait] = ()


NOTHING = Seen()


def fits(when: When, exchange: Exchange, seen: Seen = NOTHING) -> bool:
    """Return whether every part of the condition holds."""
    # the status first: it parts most rules from most replies, and costs the least
    return (
        _status_fits(when, exchange.reply)
        and asks_for(when, exchange)
        and _reply_fits(when, exchange, seen)
        and (len(when.any) == 0 or any(fits(one, exchange, seen) for one in when.any))
    )


def asks_for(when: When, exchange: Exchange) -> bool:
    """Return whether the parts of the condition that concern the request hold."""
    request = exchange.request
    return (
        (when.path is None or on_path(request.path, when.path))
        and (when.method is None or holds(when.method, [request.method]))
        and (when.operation is None or holds(when.operation, [] if request.operation is None else [request.operation]))
        and (len(when.query) == 0 or all(holds(test, _queried(request, name)) for name, test in when.query.items()))
        and (len(when.sent) == 0 or all(holds(test, paths.find(request.body, at)) for at, test in when.sent.items()))
        and (len(when.sent_header) == 0 or _headers_hold(when.sent_header, request.headers))
        and (when.resumed is None or when.resumed == request.resumed)
        and (when.fact is None or when.fact in exchange.facts)
        and (when.asked is None or when.asked in exchange.asked)
    )


def _queried(request: Request, name: str) -> list[str]:
    return [value for key, value in request.query if key == name]


def _headers_hold(tests: Mapping[str, Predicate], headers: Mapping[str, str]) -> bool:
    return all(holds(test, [headers[name]] if name in headers else []) for name, test in tests.items())


def _status_fits(when: When, reply: Reply) -> bool:
    return (when.failed is None or holds(when.failed, [] if reply.failed is None else [reply.failed])) and (
        when.status is None or (reply.failed is None and holds(when.status, [reply.status]))
    )


def _reply_fits(when: When, exchange: Exchange, seen: Seen) -> bool:
    body = seen.member if seen.by_member else exchange.reply.body
    return (
        (len(when.header) == 0 or _headers_hold(when.header, exchange.reply.headers))
        and (len(when.body) == 0 or all(holds(test, paths.find(body, place)) for place, test in when.body.items()))
        and (when.no_member is None or _has_no_member(body, when.no_member))
        and (len(when.fewer) == 0 or all(_is_fewer(body, place, other) for place, other in when.fewer.items()))
        and (when.cursor is None or when.cursor == seen.cursor)
        and (when.items is None or (seen.items is not None and holds(when.items, [seen.items])))
        and (when.below_total is None or when.below_total == seen.below_total)
        and (when.filled is None or _is_filled(when.filled, exchange, seen))
        and (when.elsewhere is None or when.elsewhere == _leads_elsewhere(exchange))
        and (when.wait is None or _wait_fits(when.wait, exchange, seen))
    )


def _has_no_member(body: Any, names: str) -> bool:
    return isinstance(body, Mapping) and all(
        _pattern(names).search(str(name)) is None or _is_empty(value) or value is False for name, value in body.items()
    )


def _is_fewer(body: Any, place: str, other: str) -> bool:
    less, more = number_of(paths.first(body, place)), number_of(paths.first(body, other))
    return less is not None and more is not None and less < more


def holds(test: Predicate, values: Sequence[Any]) -> bool:
    """Return whether a test holds for what was found at a place: for any of it, where there is more than one."""
    if isinstance(test, Check):
        return _check(test, values)
    wanted = test if isinstance(test, list) else [test]
    return any(same(value, one) for value in values for one in wanted)


def _check(test: Check, values: Sequence[Any]) -> bool:
    if test.present is not None and test.present != (len(values) > 0):
        return False
    if test.empty is not None and test.empty != all(_is_empty(value) for value in values):
        return False
    if test.none_of is not None and any(same(value, one) for value in values for one in test.none_of):
        return False
    if test.none_over is not None:
        numbers = [number_of(value) for value in values]
        if len(numbers) == 0 or any(number is None or number > test.none_over for number in numbers):
            return False
    about_one = [test.is_, test.one_of, test.matches, test.over, test.under]
    return all(part is None for part in about_one) or any(_fits_one(test, value) for value in values)


def _fits_one(test: Check, value: Any) -> bool:
    number = number_of(value)
    return (
        (test.is_ is None or same(value, test.is_))
        and (test.one_of is None or any(same(value, one) for one in test.one_of))
        and (test.matches is None or (isinstance(value, str) and _pattern(test.matches).search(value) is not None))
        and (test.over is None or (number is not None and number > test.over))
        and (test.under is None or (number is not None and number < test.under))
    )


def same(value: Any, wanted: Any) -> bool:
    """Return whether two scalars are the same, whichever of them is written as text."""
    if type(value) is type(wanted) is int:  # a status, by far the most of what is asked
        return bool(value == wanted)
    return bool(_plain(value) == _plain(wanted))


def _plain(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (float, Decimal)) and math.isfinite(value) and value == int(value):
        return str(int(value))
    if isinstance(value, (int, float, Decimal)):
        return str(value)
    if isinstance(value, str) and value.lower() in {"true", "false"}:
        return value.lower()
    return value


def _is_empty(value: Any) -> bool:
    return value is None or value == "" or value == [] or value == {}


_BEYOND = 10**18


def number_of(value: Any) -> float | None:
    """Return a number, also one that is written as text."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float, Decimal)):
        try:
            number = float(value)
        except OverflowError:
            return None
        return number if abs(number) < _BEYOND else None  # what no source counts is no count: infinite, or no number
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,18}(\.\d+)?", value.strip()) is not None:
        return float(value)
    return None


def asked_number(exchange: Exchange, name: str) -> float | None:
    """Return a number that the request asks for, in its query or at a place of its body."""
    text = exchange.request.asked(name)
    return number_of(text if text is not None else paths.first(exchange.request.body, name))


def _is_filled(filled: Filled, exchange: Exchange, seen: Seen) -> bool:
    asked = None
    for name in (filled.query, filled.body):
        if name is not None and asked is None:
            asked = asked_number(exchange, name)
    if asked is None and filled.reply is not None:
        asked = number_of(paths.first(exchange.reply.body, filled.reply))
    limit = filled.default if asked is None else asked
    return limit is not None and seen.items is not None and seen.items >= limit > 0


def _leads_elsewhere(exchange: Exchange) -> bool:
    host = host_of(exchange.reply.headers.get("location", ""))
    return host not in {"", exchange.host}


def _wait_fits(test: Predicate, exchange: Exchange, seen: Seen) -> bool:
    seconds = exchange.reply.wait(seen.wait, _instant(exchange.reply.headers))
    return seconds is not None and holds(test, [seconds])


def _instant(headers: Mapping[str, str]) -> datetime:
    """Return the server's own clock where it tells it, so that instants of one reply are compared with each other."""
    return server_time(headers) or datetime.now(UTC)


def server_time(headers: Mapping[str, str]) -> datetime | None:
    """Return the instant of the `Date` header."""
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(headers["date"])
    except (KeyError, ValueError, TypeError):
        return None


def on_path(path: str, patterns: str | list[str]) -> bool:
    """Return whether a path ends as one of the patterns says; what is encoded in a step stands for itself."""
    if "%" in path:
        path = "/".join(unquote(step).replace("/", "%2F") for step in path.split("/"))
    return any(
        _path(one).fullmatch(path) is not None for one in ([patterns] if isinstance(patterns, str) else patterns)
    )


@lru_cache(maxsize=512)
def _path(pattern: str) -> re.Pattern[str]:
    steps = [".*" if step == "**" else ".*?".join(map(re.escape, step.split("*"))) for step in pattern.split("/")]
    text = "/".join(step.replace(".*?", "[^/]*") for step in steps)
    return re.compile(rf".*?{text}/?")


@lru_cache(maxsize=512)
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)

"""From one exchange to what it says: the rules of a dialect applied to a reply. Pure.

Guarantees: a reply that is no page of the API raises `SourceError` with one reason; a list is taken for empty only if
the reply says so in the way the dialect gives for it; an end is named only where the reply carries the dialect's sign.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from fullcount.runtime.connectors.base import SourceError, Total
from fullcount.runtime.connectors.http import paths
from fullcount.runtime.connectors.http.conditions import Seen, asked_number, fits, number_of, server_time
from fullcount.runtime.connectors.http.exchange import Exchange, Fault, table
from fullcount.runtime.connectors.http.following import next_page
from fullcount.runtime.connectors.http.forms import Finding, Operation
from fullcount.runtime.connectors.http.forms import Total as TotalRule
from fullcount.runtime.connectors.http.graphql import read_errors
from fullcount.runtime.connectors.http.said import (
    RETRYABLE,
    Found,
    Said,
    founds,
    notices,
    refusal,
    way_on,
)
from fullcount.runtime.connectors.http.shape import misshapen
from fullcount.runtime.evidence.codes import Reason, WarningCode, Way
from fullcount.runtime.evidence.envelope import Incompleteness

VALUE = "$value"
"""The name under which an item that is no mapping has its value; the name of a member of a mapping is `$name`."""
NAME = "$name"
_MAPPINGS = frozenset({dict})
_NEVER_ITEMS = frozenset({"error", "errors", "fault", "faults", "failures", "warning", "warnings"})
"""Lists beside the items, by whatever API: where items are any list of the body, these are none."""


def read_page(operation: Operation, exchange: Exchange, collected: int = 0) -> Said:
    """Return what a reply says; `collected` items came before it. Raises `SourceError` for what is no page."""
    seen = Seen(wait=operation.wait)
    for empty in operation.empty_on:
        if fits(empty.when, exchange, seen):
            return Said(end=empty.name)
    _refuse(operation, exchange, seen)
    said = Said()
    if operation.graphql is not None:
        read_errors(operation, exchange, said)
    wrong = misshapen(operation, exchange.reply)
    if wrong is not None:
        raise refusal([_found(Reason.MALFORMED_RESPONSE, f"{exchange.request.summary}: {wrong}")])
    said.items = _items(operation, exchange, said)
    count = len(said.items) if said.given is None else said.given
    below = _below_total(operation, exchange, count, collected)
    said.following, more = next_page(operation, exchange, said.items, Seen(items=count, below_total=below))
    seen = Seen(items=count, cursor=said.following is not None, below_total=below, wait=operation.wait)
    if said.following is None and more:
        detail = "the reply says that there is more, and does not say where"
        said.found += [_found(Reason.MORE_PAGES_AVAILABLE, detail), _found(Reason.MALFORMED_RESPONSE, detail)]
    elif said.following is None:
        said.end = _end(operation, exchange, seen)
    _look(operation, exchange, seen, said)
    _compare_count(operation, exchange, count, said)
    said.total = _total(operation, exchange, seen, said, collected)
    said.pin = _text(paths.first_of(exchange.reply.body, operation.pin)) if operation.pin is not None else None
    _sizes(operation, exchange, count, said)
    return said


def read_reply(operation: Operation, exchange: Exchange) -> Said:
    """Return what a reply says that is no list: a detail of an object, of whatever form.

    Raises `SourceError` for what is no answer of the API.
    """
    seen = Seen(wait=operation.wait)
    _refuse(operation, exchange, seen)
    said = Said()
    if operation.graphql is not None:
        read_errors(operation, exchange, said)
    if exchange.reply.body is None and exchange.request.method != "HEAD":
        detail = f"{exchange.request.summary}: there is no body at all"
        raise refusal([_found(Reason.MALFORMED_RESPONSE, detail, Way.RESTART)])
    _look(operation, exchange, seen, said)
    return said


def _found(code: Reason, detail: str, way: Way | None = None, **data: Any) -> Found:
    return Found(Incompleteness(code=code, detail=detail, data=data), None if way is None else way_on(way))


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _refuse(operation: Operation, exchange: Exchange, seen: Seen) -> None:
    """Raise what a reply is that is no page."""
    reply, summary = exchange.reply, exchange.request.summary
    for rule in operation.error:
        if fits(rule.when, exchange, seen):
            said = reply.failed if reply.failed is not None else f"status {reply.status}"
            after = reply.wait(operation.wait, _now(exchange))
            made = founds(rule, _detail(rule, f"{summary}: {said}"), after=after)
            raise refusal(made, retryable=made[0].reason.code in RETRYABLE)
    if reply.failed is not None:
        detail = f"{summary}: {reply.failed}"
        raise refusal([_found(Reason.SOURCE_UNAVAILABLE, detail, Way.RETRY_WITH_DEADLINE)], retryable=True)
    if reply.status not in operation.accepts:
        detail = f"{summary}: status {reply.status} has no meaning for this list"
        raise SourceError(Incompleteness(code=Reason.UNEXPECTED_STATUS, detail=detail, data={"status": reply.status}))
    if reply.fault is Fault.BROKEN:
        raise refusal([_found(Reason.MALFORMED_RESPONSE, f"{summary}: the body breaks off", Way.RESTART)])
    if reply.fault is Fault.AMBIGUOUS:
        detail = f"{summary}: an object in the body has a name twice: which of the two counts nobody can say"
        raise refusal([_found(Reason.MALFORMED_RESPONSE, detail)])
    if reply.fault is Fault.FOREIGN:
        detail = f"{summary}: the body is not of the API's kind: a page of a proxy or a log-in, perhaps"
        raise refusal([_found(Reason.MALFORMED_RESPONSE, detail)])


def _now(exchange: Exchange) -> datetime:
    return server_time(exchange.reply.headers) or datetime.now(UTC)


def _detail(rule: Finding, otherwise: str) -> str:
    return f"{otherwise}: {rule.detail}" if rule.detail != "" else otherwise


# --- items ------------------------------------------------------------------------------------------------------------


def _items(operation: Operation, exchange: Exchange, said: Said) -> list[Any]:
    body, summary = exchange.reply.body, exchange.request.summary
    if operation.kind == "object" and exchange.request.method == "HEAD":
        return [{"$headers": dict(exchange.reply.headers)}]
    if body is None:
        raise refusal([_found(Reason.MALFORMED_RESPONSE, f"{summary}: there is no body at all", Way.RESTART)])
    if operation.kind == "object":
        return [_object(operation, body, summary)]
    if operation.of == "mapping":
        members = paths.find(body, _one(operation.items))
        if len(members) == 0 or not isinstance(members[0], dict):
            raise _no_list(summary)
        if not all(_is_of(operation.members, value) for value in members[0].values()):
            raise _no_list(summary, "a mapping of the API's kind")
        return [{NAME: name, VALUE: value} for name, value in members[0].items()]
    found = _list(operation, body)
    if found is None:
        if len(said.found) > 0:  # errors beside the data say why there is none
            raise refusal(said.found, retryable=said.found[0].reason.code in RETRYABLE)
        raise _no_list(summary)
    if operation.of == "csv":
        return found
    if operation.unwrap is not None:
        found = [_unwrapped(item, operation.unwrap) for item in found]
    if set(map(type, found)) == _MAPPINGS:
        said.place = _place(operation, body, found)
        return found
    hidden = sum(item is None for item in found)
    if hidden > 0:
        said.given = len(found)
        if len(said.found) == 0:
            said.found.append(_found(operation.null_item, f"{summary}: {hidden} of {len(found)} items are null"))
    return [item if isinstance(item, dict) else {VALUE: item} for item in found if item is not None]


def _is_of(kind: str, value: Any) -> bool:
    if kind == "words":
        return isinstance(value, list) and all(isinstance(word, str) for word in value)
    return kind == "any" or isinstance(value, dict)


def _unwrapped(member: Any, step: str) -> Any:
    return member[step] if isinstance(member, dict) and step in member else member


def _one(places: str | list[str]) -> str:
    return places if isinstance(places, str) else places[0]


def _object(operation: Operation, body: Any, summary: str) -> Any:
    value = paths.first_of(body, operation.items)
    if not isinstance(value, dict):
        raise _no_list(summary, "the object")
    proof = operation.proof or operation.key
    if operation.items in ("", []) and all(paths.first(value, place) is None for place in proof):
        raise _no_list(summary, f"an object with {' or '.join(f'`{place}`' for place in proof)}")
    return value


def _list(operation: Operation, body: Any) -> list[Any] | None:
    """Return the members of the list; None if it is not there, or null where the API never says null for empty."""
    nothing = False
    for place in [operation.items] if isinstance(operation.items, str) else operation.items:
        matches = _matches(operation, body, place)
        if operation.of == "csv":
            rows = table(matches[0]) if len(matches) > 0 and isinstance(matches[0], str) else None
            if rows is not None:
                return list(rows)
            continue
        lists = [match for match in matches if isinstance(match, list)]
        if len(lists) > 0 and len(lists) == len(matches):
            return lists[0] if len(lists) == 1 else [item for part in lists for item in part]
        nothing = nothing or (len(matches) > 0 and all(match is None for match in matches))
        deeper = any(other.startswith(f"{place}/") for other in operation.items)
        if len(matches) > 0 and not nothing and place != "" and not deeper:
            return None
    if nothing:
        return [] if operation.null == "empty" else None
    alone = operation.missing == "empty" and isinstance(body, dict) and set(body) <= set(operation.beside)
    return [] if alone and not _is_odd(operation, body) else None


def _is_odd(operation: Operation, body: dict[str, Any]) -> bool:
    """Whether something stands where the list would be, and is none: a null, a text, or members without its steps."""
    steps = [operation.items] if isinstance(operation.items, str) else operation.items
    holders = [body[name] for name in (place.split("/")[0] for place in steps) if name in body]
    nothing: tuple[Any, ...] = (None, []) if operation.null == "empty" else ([],)
    return any(value not in nothing and not isinstance(value, dict) for value in holders)


def _place(operation: Operation, body: Any, found: list[Any]) -> str | None:
    """Return the place of the list that was found; None if it is no list of the body itself."""
    places = [operation.items] if isinstance(operation.items, str) else operation.items
    return next((place for place in places if any(match is found for match in _matches(operation, body, place))), None)


def _matches(operation: Operation, body: Any, place: str) -> list[Any]:
    parent, _, step = place.rpartition("/")
    if step != "[]":
        return paths.find(body, place)
    return [
        value
        for holder in paths.find(body, parent)
        for name, value in paths.entries(holder, "")
        if isinstance(value, list) and name not in operation.not_items and name.lower() not in _NEVER_ITEMS
    ]


def _no_list(summary: str, what: str = "the list") -> SourceError:
    return refusal([_found(Reason.MALFORMED_RESPONSE, f"{summary}: {what} is not where the API puts it")])


# --- what else a page says --------------------------------------------------------------------------------------------


def _end(operation: Operation, exchange: Exchange, seen: Seen) -> str | None:
    position = next((one for one in operation.cursor if one.offset is not None), None)
    if position is not None and position.offset is not None:
        total = number_of(paths.first_of(exchange.reply.body, position.offset.total))
        if total is not None and not any(end.name == "" for end in operation.end):
            return "position_reached_total"
    return next((end.name for end in operation.end if fits(end.when, exchange, seen)), None)


def _look(operation: Operation, exchange: Exchange, seen: Seen, said: Said) -> None:
    """Apply the findings of the dialect."""
    summary = exchange.request.summary
    for rule in operation.finding:
        if rule.last and seen.cursor:
            continue
        if rule.each is None:
            if fits(rule.when, exchange, seen):
                _note(rule, _detail(rule, summary), said, _parts(rule, exchange.reply.body))
            continue
        parts: list[str | None] = []
        for name, member in paths.entries(exchange.reply.body, rule.each):
            inside = replace(seen, member=member, by_member=True)
            if fits(rule.when, exchange, inside):
                parts += [name] if rule.part == "$name" else _parts(rule, member)
        if len(parts) > 0:
            _note(rule, _detail(rule, summary), said, parts)


def _parts(rule: Finding, body: Any) -> list[str | None]:
    if rule.part is None or rule.part == "$name":
        return [None]
    named = [value for value in paths.find(body, rule.part) if value is not None]
    flat = [one for value in named for one in (value if isinstance(value, list) else [value])]
    return [str(one) for one in flat] or [None]


def _note(rule: Finding, detail: str, said: Said, parts: list[str | None]) -> None:
    for part in dict.fromkeys(parts):
        (said.pending if rule.unless_continued else said.found).extend(founds(rule, detail, part=part))
    said.warnings += notices(rule, detail)
    said.states.update(rule.fields)


def _below_total(operation: Operation, exchange: Exchange, count: int, collected: int) -> bool | None:
    """Whether something must be left: by an exact total, or, by one that is not, because this page had something."""
    if operation.total is None:
        return None
    number = _counted(operation.total, exchange)
    if number is None:
        return None
    exact = _exact(operation.total, exchange, Seen(items=count))
    so_far = count if operation.total.from_here else collected + count
    return so_far < number if exact else count > 0


def _counted(rule: TotalRule, exchange: Exchange) -> float | None:
    return number_of(_stated(rule, exchange))


def _stated(rule: TotalRule, exchange: Exchange) -> Any:
    raw = exchange.reply.headers.get(rule.header) if rule.header is not None else None
    return paths.first_of(exchange.reply.body, rule.at) if raw is None and rule.at is not None else raw


def _exact(rule: TotalRule, exchange: Exchange, seen: Seen) -> bool:
    return rule.exact and (rule.exact_when is None or fits(rule.exact_when, exchange, seen))


def _total(operation: Operation, exchange: Exchange, seen: Seen, said: Said, collected: int) -> Total | None:
    rule = operation.total
    if rule is None:
        return None
    number = _counted(rule, exchange)
    if number is None:
        stated = _stated(rule, exchange)
        if stated is not None and stated != "":
            said.found.append(_found(Reason.MALFORMED_RESPONSE, f"a total that is no number: `{str(stated)[:40]}`"))
        return None
    so_far = collected + (len(said.items) if said.given is None else said.given)
    if rule.remaining:
        return Total(so_far + int(number), exact=False)
    if rule.from_here:
        number += collected
    exact = _exact(rule, exchange, seen)
    # rows that are missing for a cause that is known are missing from the count as well
    unexplained = said.following is None and len(said.found) == 0
    if rule.short is not None and not exact and unexplained and so_far < number:
        detail = f"{so_far:,} collected of {int(number):,} that the source speaks of"
        said.found += founds(rule.short, detail)
    return Total(int(number), exact=exact)


def _compare_count(operation: Operation, exchange: Exchange, count: int, said: Said) -> None:
    """Compare the items of the page with how many it says that it has."""
    rule, body = operation.page_count, exchange.reply.body
    stated = None if rule is None else number_of(paths.first(body, rule.at))
    if rule is None:
        return
    if stated is None:
        said_so = paths.first(body, rule.at)
        if said_so is not None:
            detail = f"a count of the page that is no number: `{str(said_so)[:40]}`"
            said.found.append(_found(Reason.MALFORMED_RESPONSE, detail))
        return
    given = count + sum(
        len(value) for place in rule.also for value in paths.find(body, place) if isinstance(value, list)
    )
    if given != stated:
        detail = f"{given:,} items on a page that says it has {int(stated):,}"
        said.found.append(_found(Reason.COUNT_MISMATCH, detail, Way.RESTART))


def _sizes(operation: Operation, exchange: Exchange, count: int, said: Said) -> None:
    """Warn of a page with fewer items than were asked for; it is not the end for that."""
    asked = [number for name in operation.size if (number := asked_number(exchange, name)) is not None]
    if len(asked) > 0 and 0 < count < asked[0] and said.following is not None:
        said.warn(WarningCode.SHORT_PAGE, f"{count:,} items where {int(asked[0]):,} were asked for; the read went on")

"""From the items of a page to columns, with the state of each value that is not there.

Guarantees: `absent` is only what the source positively says is absent (null, or a key that this API leaves out for just
that); a key that was not asked for, was hidden, failed or was cut gives its own state (R7).
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from operator import itemgetter
from typing import Any

from fullcount.compiler.values import FieldState
from fullcount.runtime.connectors.http import paths
from fullcount.runtime.connectors.http.conditions import fits
from fullcount.runtime.connectors.http.exchange import Exchange, Request
from fullcount.runtime.connectors.http.forms import FieldRule, Operation
from fullcount.runtime.connectors.http.said import Found, Said, way_on
from fullcount.runtime.connectors.in_text import PageColumns
from fullcount.runtime.evidence.codes import Reason, WarningCode, Way
from fullcount.runtime.evidence.envelope import Incompleteness

_NO_RULE = FieldRule()
_MISSING: Any = object()
_ODD_STEPS = frozenset({"*", "**", "[]"})
_LONG = 1_000
"""Characters an item, on the average, above which a text is not kept: the columns cost little beside decoding it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a field stands in an item; `as_json`: its value is taken as JSON text, whatever it is."""

    at: str | None = None
    as_json: bool = False
    missing: FieldState | None = None
    """What the configuration says that a missing key means; None: what the dialect says."""
    may_stay: bool = False
    """Its type is one that may be left in the text (`in_text.py`)."""


Columns = Mapping[str, Sequence[Any]]
States = dict[str, list[FieldState | None]]


def columns_of(
    operation: Operation, exchange: Exchange, said: Said, fields: Mapping[str, Place], loose: set[str] | None = None
) -> tuple[Columns, States]:
    """Return the values of each field and their states; notes in `said` what is cut, hidden, late or not recorded.

    `loose`: fields that an object did not have before, to which others are added; None: no column is left in the text.
    """
    reader = _Reader(operation, exchange, said)
    columns: dict[str, Sequence[Any]] = {}
    states: States = {}
    left = {} if loose is None else reader.left_in_text(fields, loose)
    for name, place in fields.items():
        if name in left:
            reader.warn_of_lag(name)
            continue
        values, found = reader.column(name, place)
        columns[name] = values
        if any(state is not None for state in found):  # none at all where every value speaks for itself
            states[name] = found
    if len(left) == 0 or exchange.reply.text is None or said.place is None:
        return columns, states
    return PageColumns(columns, exchange.reply.text, _names(said.place), left), states


class _Reader:
    def __init__(self, operation: Operation, exchange: Exchange, said: Said) -> None:
        self.operation, self.exchange, self.said = operation, exchange, said
        self.hidden = [] if operation.masked is None else [self._is_masked(item) for item in said.items]

    def _is_masked(self, item: Any) -> bool:
        masked = self.operation.masked
        if masked is None or not isinstance(item, dict):
            return False
        others = [value for key, value in item.items() if key not in masked.but]
        return len(others) > 0 and all(value is None for value in others)

    def left_in_text(self, fields: Mapping[str, Place], loose: set[str]) -> dict[str, str]:
        """Return the fields whose columns need not be made, with the name that the value has in every object.

        Of these nothing has to be looked at value by value, and nothing is told of them besides their values.
        """
        said, text, operation = self.said, self.exchange.reply.text, self.operation
        if text is None or said.place is None or len(said.items) == 0 or len(text) > _LONG * len(said.items):
            return {}
        if not _is_plain(_names(said.place)) or len(said.lost_fields) > 0 or any(self.hidden):
            return {}
        if operation.nested is not None or operation.nested_beside is not None:
            return {}
        left: dict[str, str] = {}
        for field, place in fields.items():
            rule = operation.fields.get(field, _NO_RULE)
            at = rule.at if place.at is None else place.at
            name = field if at is None else at
            told = rule.window is not None or field in said.states or field in loose
            # what the connector itself puts into an item (`$detail`) is in no text
            in_each = _is_plain((name,)) and "/" not in name and not name.startswith("$")
            if place.may_stay and not place.as_json and in_each and not told:
                left[field] = name
        if _all_have(said.items, left.values()):
            return left
        loose |= {field for field, name in left.items() if not _all_have(said.items, [name])}
        return {field: name for field, name in left.items() if field not in loose}

    def warn_of_lag(self, name: str) -> None:
        """Warn of what is known of a field, whatever its values are."""
        self._warn(name, self.operation.fields.get(name, _NO_RULE), (), ())

    def column(self, name: str, place: Place) -> tuple[list[Any], list[FieldState | None]]:
        """Return one field of every item."""
        rule = self.operation.fields.get(name, _NO_RULE)
        at = rule.at if place.at is None else place.at
        plain = self._plain_column(name, at, rule, place)
        if plain is not None:
            self._warn(name, rule, plain[1], plain[0])
            return plain
        values: list[Any] = []
        states: list[FieldState | None] = []
        for index, item in enumerate(self.said.items):
            value, state = self._cell(name, at, rule, place, index, item)
            values.append(value)
            states.append(state)
        self._warn(name, rule, states, values)
        return values, states

    def _plain_column(
        self, name: str, at: str | None, rule: FieldRule, place: Place
    ) -> tuple[list[Any], list[FieldState | None]] | None:
        """Return a column of which nothing has to be looked at value by value; None if something has.

        It says the same as `_cell` for each, and is what makes a page of a thousand objects cheap.
        """
        said = self.said
        odd = place.as_json or len(said.lost_fields) > 0 or name in said.states or any(self.hidden)
        steps = (name if at is None else at).split("/")
        if odd or steps[0].startswith("$") or not _is_plain(steps):
            return None
        values = _at_each(said.items, steps)
        everywhere = values is not None
        if values is None:
            values = _where_it_is(said.items, steps)
        if self.operation.nested is not None and dict in set(map(type, values)):
            return None
        beside = self.operation.nested_beside is not None
        if beside and any(self._goes_on_beside(name, at, item) for item in said.items):
            return None
        if everywhere:
            return values, []
        if at is None and ("." in name or len(self.operation.within) > 0):
            return None
        state = self._missing(name, rule, place)
        states = [state if value is _MISSING else None for value in values]
        return [None if value is _MISSING else value for value in values], states

    def _cell(
        self, name: str, at: str | None, rule: FieldRule, place: Place, index: int, item: Any
    ) -> tuple[Any, FieldState | None]:
        lost = self.said.lost_fields.get((index, (at or name).split("/")[0].split(".")[0]))
        if lost is not None:
            return None, lost
        if name in self.said.states:
            return None, self.said.states[name]
        if at is not None and at.startswith("$detail/"):
            if "$detail" not in item:  # there is no such request for this list
                return None, FieldState.NOT_REQUESTED
            failed = paths.first(item, "$detail/failed")
            if failed is not None:
                return None, failed
        matches = paths.find(item, at) if at is not None else _by_name(item, name, self.operation.within)
        if len(matches) == 0:
            return None, self._missing(name, rule, place)
        value = matches if at is not None and "*" in at else matches[0]
        if value is None:
            masked = self.operation.masked
            return None, masked.state if masked is not None and self.hidden[index] else None
        told = None if self.operation.nested is None else paths.first(value, self.operation.nested)
        if told is True or (isinstance(told, str) and told != "") or self._goes_on_beside(name, at, item):
            self._cut(name)
            return None, FieldState.TRUNCATED
        return (_as_json(value) if place.as_json else value), None

    def _goes_on_beside(self, name: str, at: str | None, item: Any) -> bool:
        ending = self.operation.nested_beside
        return ending is not None and paths.first(item, (name if at is None else at) + ending) is not None

    def _missing(self, name: str, rule: FieldRule, place: Place) -> FieldState:
        """Return what it means that a key is not there."""
        chosen = self._chosen(name)
        of_single_reads = place.at is not None and place.at.startswith("$headers/")
        if chosen is False or of_single_reads:
            return FieldState.NOT_REQUESTED
        if place.missing is not None:
            return place.missing
        if rule.missing is not None and not (chosen and rule.missing is FieldState.NOT_REQUESTED):
            return rule.missing
        asked_all = chosen and self.operation.missing_field is FieldState.NOT_REQUESTED
        return FieldState.INDETERMINATE if asked_all else self.operation.missing_field

    def _chosen(self, name: str) -> bool | None:
        """Whether the request asked for the field; None: it named no fields."""
        projection, request = self.operation.projection, self.exchange.request
        if projection is None:
            return None
        if projection.prefix is not None and projection.when is not None and fits(projection.when, self.exchange):
            return name.replace(".", "/").startswith(projection.prefix + "/")
        top = name.split(".")[0]
        if any(top in _named_by(request, place, place) for place in projection.without):
            return False
        places = zip_longest(_each(projection.query), _each(projection.body))
        named = next(
            (found for query, body in places if len(found := _named_by(request, query, body)) > 0), frozenset()
        )
        if len(named) == 0 or named == {"true"}:
            return None
        return "*" in named or bool(named & {"*all", "*navigable"}) or top in named

    def _cut(self, name: str) -> None:
        reason = Incompleteness(
            code=Reason.MORE_PAGES_AVAILABLE,
            detail=f"the list inside the field `{name}` goes on, and was not read to its end",
            data={"field": name},
        )
        if all(one.reason != reason for one in self.said.found):
            self.said.found.append(Found(reason, way_on(Way.NEXT_CURSOR, f"read `{name}` of each object to its end")))

    def _warn(self, name: str, rule: FieldRule, states: Sequence[FieldState | None], values: Sequence[Any]) -> None:
        said = self.said
        if rule.lag is not None:
            said.warn(WarningCode.USAGE_DATA_LAG, rule.lag, fields=[name])
        told = states if len(states) > 0 else [None] * len(values)
        if rule.window is not None and any(
            value is None and state in {None, FieldState.ABSENT} for value, state in zip(values, told, strict=True)
        ):
            said.warn(WarningCode.TRACKING_WINDOW_LIMIT, rule.window, fields=[name])
        if any(state is FieldState.FORBIDDEN for state in states):
            detail = f"`{name}` of some objects is hidden from the reader"
            said.warn(WarningCode.PARTIAL_FIELD_SET, detail, fields=[name])


def _names(place: str) -> tuple[str, ...]:
    return () if place == "" else tuple(place.split("/"))


def _is_plain(steps: Sequence[str]) -> bool:
    """Whether each step is the name of one member."""
    return all(steps) and _ODD_STEPS.isdisjoint(steps) and not any(step.isdecimal() for step in steps)


def _all_have(items: Sequence[Any], names: Collection[str]) -> bool:
    """Whether every item has every one of these names."""
    if len(names) == 0:
        return True
    try:
        deque(map(itemgetter(*names), items), maxlen=0)
    except KeyError:
        return False
    return True


def _each(places: str | list[str] | None) -> list[str]:
    return [] if places is None else [places] if isinstance(places, str) else places


def _named_by(request: Request, query: str | None, body: str | None) -> frozenset[str]:
    """Return the names in a query parameter or at a place of the request's body."""
    text: Any = None if query is None else request.asked(query)
    if text is None and body is not None:
        text = paths.first(request.body, body)
    if isinstance(text, list):
        text = ",".join(map(str, text))
    elif isinstance(text, bool):
        text = str(text).lower()
    if not isinstance(text, str):
        return frozenset()
    parts = text.replace("(", ",").replace(")", ",").replace("/", ",").split(",")
    return frozenset(part.strip() for part in parts)


def _at_each(items: Sequence[Any], steps: Sequence[str]) -> list[Any] | None:
    """Return what every item has at a place; None if one has nothing there."""
    values: Iterable[Any] = items
    try:
        for step in steps:
            values = list(map(itemgetter(step), values))
    except (KeyError, TypeError):  # not there, or nothing that anything could be in
        return None
    return list(values)


def _where_it_is(items: Sequence[Any], steps: Sequence[str]) -> list[Any]:
    """Return what items have at a place, `_MISSING` for those that have nothing there."""
    values: list[Any] = [item.get(steps[0], _MISSING) for item in items]
    for step in steps[1:]:
        values = [value.get(step, _MISSING) if type(value) is dict else _MISSING for value in values]
    return values


def _by_name(item: Any, name: str, within: Sequence[str]) -> list[Any]:
    """Return what stands under a field's own name, or where its points lead, at the top or where fields are kept."""
    for place in ("", *within):
        prefix = f"{place}/" if place != "" else ""
        for path in (name, name.replace(".", "/")):
            found = paths.find(item, prefix + path)
            if len(found) > 0:
                return found
    return []


def _as_json(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, separators=(",", ":"), default=float)

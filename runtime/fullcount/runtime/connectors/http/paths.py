"""Places inside a decoded body: `metadata/continue`, `items/*/warning/code`, `errors/0/type`.

Steps are parted by `/`. `*` stands for every value of a list or mapping, `[]` for every value that is itself a list, a
number for a place in a list, `**` goes down through mappings to the nearest ones that have the next step; the empty
path is the body itself. A place that is not there gives no match, which is not the same as a match that is null.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

_OF_LISTS = "[]"
_OF_ALL = "*"
_DOWN = "**"
_ODD = frozenset({"", _OF_LISTS, _OF_ALL, _DOWN})


def find(body: Any, path: str) -> list[Any]:
    """Return every value at `path`, nulls among them, in the order of the body."""
    if isinstance(body, dict) and path not in _ODD and "/" not in path:  # by far the most of what is asked
        return [body[path]] if path in body else []
    return [value for _, value in located(body, path)]


def located(body: Any, path: str) -> list[tuple[tuple[str | int, ...], Any]]:
    """Return every value at `path` with the very steps that lead to it."""
    found: list[tuple[tuple[str | int, ...], Any]] = [((), body)]
    steps = _steps(path)
    for number, step in enumerate(steps):
        if step == _DOWN:
            wanted = steps[number + 1]
            found = [pair for trail, holder in found for pair in _nearest(holder, wanted, trail)]
        else:
            found = [((*trail, name), value) for trail, holder in found for name, value in _below(holder, step)]
    return found


def _nearest(holder: Any, wanted: str, trail: tuple[str | int, ...]) -> list[tuple[tuple[str | int, ...], Any]]:
    """Return the mappings nearest below that have the wanted step. Lists are not gone into: they hold items."""
    level = [(trail, holder)]
    while len(level) > 0:
        having = [(place, value) for place, value in level if isinstance(value, Mapping) and wanted in value]
        if len(having) > 0:
            return having
        level = [
            ((*place, str(name)), below)
            for place, value in level
            if isinstance(value, Mapping)
            for name, below in value.items()
        ]
    return []


def first(body: Any, path: str) -> Any:
    """Return the first value at `path` that is not null; None if there is none."""
    return next((value for value in find(body, path) if value is not None), None)


def first_of(body: Any, paths: str | Sequence[str]) -> Any:
    """Return the first value that is not null at the first of several places that has one."""
    for path in [paths] if isinstance(paths, str) else paths:
        value = first(body, path)
        if value is not None:
            return value
    return None


def entries(body: Any, path: str) -> list[tuple[str, Any]]:
    """Return the members of the list or mapping at `path`, each with its name: its key, or its number in a list."""
    found: list[tuple[str, Any]] = []
    for holder in find(body, path):
        if isinstance(holder, Mapping):
            found += [(str(key), value) for key, value in holder.items()]
        elif isinstance(holder, list):
            found += [(str(index), value) for index, value in enumerate(holder)]
    return found


def put(body: Any, path: str, value: Any) -> Any:
    """Return a copy of a request's body with `value` at `path`; mappings on the way are made where they are missing."""
    steps = _steps(path)
    copied = dict(body) if isinstance(body, Mapping) else {}
    copied[steps[0]] = value if len(steps) == 1 else put(copied.get(steps[0]), "/".join(steps[1:]), value)
    return copied


def _steps(path: str) -> list[str]:
    return [] if path == "" else path.split("/")


def _below(holder: Any, step: str) -> Iterator[tuple[str | int, Any]]:
    if step in {_OF_ALL, _OF_LISTS}:
        named: Iterable[tuple[str | int, Any]] = ()
        if isinstance(holder, Mapping):
            named = ((str(name), value) for name, value in holder.items())
        elif isinstance(holder, list):
            named = enumerate(holder)
        for name, value in named:
            if step == _OF_ALL or isinstance(value, list):
                yield name, value
    elif isinstance(holder, Mapping):
        if step in holder:
            yield step, holder[step]
    elif isinstance(holder, list) and step.isdecimal() and int(step) < len(holder):
        yield int(step), holder[int(step)]

"""Which fields of its object an update sets, by its body: what stands where a field stands sets that field.

Guarantees: nothing is guessed. What the body names at no field's place, or in a form that says no value, makes `more`
true, unless the configuration says with `sets` what else there is. No I/O and nothing heavy: `check` reads this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fullcount.compiler.catalog import Effect
from fullcount.compiler.types import DECIMAL
from fullcount.runtime.connectors.http.config import PLACE, HttpOperation, HttpResource, places_of


@dataclass(slots=True)
class Effects:
    """See `Operation.sets`, `given` and `sets_more`."""

    sets: dict[str, Any] = field(default_factory=dict)
    given: dict[str, str] = field(default_factory=dict)
    more: bool = False


def effects_of(resource: HttpResource, operation: HttpOperation) -> Effects:
    """Return what an operation sets; nothing for one that is no update."""
    found = Effects()
    if operation.effect is not Effect.UPDATE:
        return found
    standing = _standing(resource)
    named = {*resource.key, resource.incarnation, resource.version}
    leaves = [] if operation.body is None else list(_leaves(operation.body))
    found.more = len(leaves) == 0 or operation.method in {"POST", "DELETE"}  # an action, which may do anything
    for at, value in leaves:
        fields = [name for name in standing.get(at, ()) if name not in named]
        if len(fields) == 0:
            found.more |= not _is_told(resource, operation, standing.get(at, ()), value)
        for name in fields:
            _add(found, resource, operation, name, value)
    if operation.sets is not None:
        found.more = False
        for name, value in operation.sets.items():
            _add(found, resource, operation, name, value)
    return found


def _standing(resource: HttpResource) -> dict[str, list[str]]:
    """Return the fields by where they stand in the object, and in what a single read returns around it."""
    places: dict[str, list[str]] = {}
    for name, each in resource.fields.items():
        at = each.at or name
        if each.json_text or at.startswith("$"):
            continue
        for place in {at, f"{resource.read_at}/{at}".lstrip("/")}:
            places.setdefault(place, []).append(name)
    return places


def _leaves(body: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    if not isinstance(body, Mapping) or len(body) == 0:
        yield at, body
        return
    for name, value in body.items():
        yield from _leaves(value, f"{at}/{name}".lstrip("/"))


def _is_told(resource: HttpResource, operation: HttpOperation, there: list[str] | tuple[()], value: Any) -> bool:
    """Whether what stands at no settable field's place tells what it sets: a key, or a parameter named like a field."""
    whole = PLACE.fullmatch(value) if isinstance(value, str) else None
    if whole is None:
        return False
    name = whole[1].lstrip("$")
    return name in resource.key or name in there or (name in operation.parameters and name in resource.fields)


def _add(found: Effects, resource: HttpResource, operation: HttpOperation, name: str, value: Any) -> None:
    of = resource.fields[name].type.type
    places = places_of(value)
    if len(places) == 0:
        if isinstance(value, float) and of == DECIMAL:
            found.sets[name] = repr(value)
        elif isinstance(value, (bool, int, str)):
            found.sets[name] = value
        elif isinstance(value, list) and all(isinstance(each, (bool, int, str)) for each in value):
            found.sets[name] = tuple(value)
        else:
            found.more = True
        return
    parameter = operation.parameters.get(places[0])
    if value == f"{{{places[0]}}}" and parameter is not None and parameter.type == of:
        found.given |= {} if places[0] == name else {name: places[0]}
    elif value != f"{{${name}}}":  # as it was seen: it stays
        found.more = True

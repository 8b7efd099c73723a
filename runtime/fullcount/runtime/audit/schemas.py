"""What a schema says of a value, with its references followed and its `allOf`, `oneOf` and `anyOf` joined.

Guarantees: a property counts as required only where every alternative requires it; what could not be read (a reference
out of the document or into nothing, a composition that goes round in a circle or is too large) is named in `unread` and
never taken for a promise. Ends on every document: references go round at most once, and each question has a budget.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import unquote

from fullcount.runtime.audit.documents import Json

BUDGET: Final = 20_000
"""How many schemas are read for one operation."""
WHOLE: Final = 2_000_000
"""How many are read for all operations together; large public documents need a hundredth of it."""
DEPTH: Final = 60
"""How many references and compositions may stand behind one another."""

Raw = Mapping[str, Json]
NOTHING: Final[Raw] = {}


def mapping(value: Json | None) -> Raw:
    """Return the value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else NOTHING


def sequence(value: Json | None) -> Sequence[Json]:
    """Return the value if it is a list, else an empty one."""
    return value if isinstance(value, list) else ()


def text(value: Json | None) -> str:
    """Return the value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class Property:
    """A property: its schema, and whether every reply must have it."""

    schema: Json
    required: bool


@dataclass(frozen=True, slots=True)
class Shape:
    """What is known of a value; an empty `types` says that any type may be there."""

    types: frozenset[str] = frozenset()
    nullable: bool = False
    properties: Mapping[str, Property] = field(default_factory=dict)
    items: Json = None
    """The schema of the members of a list; None if nothing is said of them."""
    members: Json = None
    """The schema of what stands under free keys."""
    description: str = ""
    format: str = ""
    maximum: float | None = None
    max_items: float | None = None
    default: Json = None
    values: frozenset[str] | None = None
    """The only values that may be there, each as JSON, null apart; None: nothing is said of them."""
    unread: tuple[str, ...] = ()

    @property
    def constant(self) -> bool:
        """Whether it is the same in every reply, and so says nothing of any."""
        return self.values is not None and len(self.values) <= 1 and not self.nullable


class Reader:
    """Reads the schemas of one document. `remote` gathers the references that lead out of it."""

    def __init__(self, document: Raw, version: str) -> None:
        self._document = document
        self._strict_siblings = not version.startswith(("2.", "3.0"))
        """From 3.1 on what stands beside a `$ref` counts; before, it is ignored."""
        self._null_key = {"2": "x-nullable", "3.0": "nullable"}.get(version[: 1 if version.startswith("2") else 3])
        self._whole = WHOLE
        self._given = self._left = BUDGET
        self.remote: dict[str, None] = {}

    def refill(self) -> None:
        """Begin another operation."""
        self._whole -= self._given - max(self._left, 0)
        self._given = self._left = max(min(BUDGET, self._whole), 0)

    def target(self, value: Json | None) -> tuple[Json | None, str]:
        """Return what a reference leads to, or the value itself, and what went wrong on the way."""
        seen: set[str] = set()
        while isinstance(value, dict) and isinstance(value.get("$ref"), str):
            ref = text(value["$ref"])
            if ref in seen or len(seen) > DEPTH:
                return None, f"`{ref}` leads back to itself"
            seen.add(ref)
            value, wrong = self._follow(ref)
            if wrong:
                return None, wrong
        return value, ""

    def object(self, value: Json | None) -> Raw:
        """Return the object that a reference leads to, or an empty one."""
        return mapping(self.target(value)[0])

    def _follow(self, ref: str) -> tuple[Json | None, str]:
        if not ref.startswith("#"):
            self.remote[ref] = None
            return None, f"`{ref}` leads out of the document and is not followed"
        if ref != "#" and not ref.startswith("#/"):
            return None, f"`{ref}` is a name and no path, and is not followed"
        found: Json | None = dict(self._document)
        for step in ref[1:].split("/")[1:]:
            key = unquote(step).replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict) and key in found:
                found = found[key]
            elif isinstance(found, list) and key.isdecimal() and len(key) < 9 and int(key) < len(found):
                found = found[int(key)]
            else:
                return None, f"`{ref}` leads to nothing"
        return found, ""

    def shape(self, schema: Json | None) -> Shape:
        """Return what a schema says."""
        return self._shape(schema, ())

    def _shape(self, schema: Json | None, trail: tuple[str, ...]) -> Shape:
        self._left -= 1
        if self._left < 0 or len(trail) > DEPTH:
            return Shape(unread=("the schema is too large or too deep to read",))
        if schema is True:
            return Shape()
        if not isinstance(schema, dict):
            return Shape(unread=("a schema that is no object",))
        if "$dynamicRef" in schema or "$recursiveRef" in schema:
            return Shape(unread=("a reference that depends on who follows it",))
        if "$ref" in schema:
            return self._referred(schema, trail)
        joined = self._own(schema)
        inner = (*trail, "")
        for part in sequence(schema.get("allOf")):
            joined = _both(joined, self._shape(part, inner))
            self._left -= len(joined.properties) // 8
        for word in ("oneOf", "anyOf"):
            parts = sequence(schema.get(word))
            if len(parts) > 0:
                joined = _both(joined, _either([self._shape(part, inner) for part in parts]))
        return joined

    def _referred(self, schema: Raw, trail: tuple[str, ...]) -> Shape:
        ref = schema["$ref"]
        if not isinstance(ref, str):
            return Shape(unread=("a reference that is no text",))
        if ref in trail:
            return Shape(unread=(f"`{ref}` is made of itself",))
        found, wrong = self._follow(ref)
        if wrong:
            return Shape(unread=(wrong,))
        shape = self._shape(found, (*trail, ref))
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        if self._strict_siblings and beside:
            return _both(shape, self._shape(beside, (*trail, "")))
        return shape

    def _own(self, schema: Raw) -> Shape:
        said = schema.get("type")
        types = {each for each in (sequence(said) if isinstance(said, list) else [said]) if isinstance(each, str)}
        if len(types) == 0:
            types = {kind for key, kind in _TELLING.items() if key in schema}
        if schema.get("const", "") is None:
            types = {"null"}
        required = {each for each in sequence(schema.get("required")) if isinstance(each, str)}
        properties = {
            name: Property(each, name in required)
            for name, each in mapping(schema.get("properties")).items()
            if mapping(each).get("writeOnly") is not True
        }
        properties |= {name: Property(True, True) for name in sorted(required - properties.keys())}
        maximum, most = schema.get("maximum"), schema.get("maxItems")
        return Shape(
            types=frozenset(types - {"null"}) if types != {"null"} else frozenset({"null"}),
            nullable="null" in types or (self._null_key is not None and schema.get(self._null_key) is True),
            properties=properties,
            items=schema.get("items"),
            members=_members(schema.get("additionalProperties")),
            description=" ".join(filter(None, (text(schema.get("title")), text(schema.get("description"))))),
            format=text(schema.get("format")),
            maximum=float(maximum) if isinstance(maximum, (int, float)) and abs(maximum) < 1e300 else None,
            max_items=float(most) if isinstance(most, int) and 0 <= most < 10**9 else None,
            default=schema.get("default"),
            values=_values(schema),
        )


_TELLING: Final = {"properties": "object", "additionalProperties": "object", "items": "array"}


def _members(value: Json | None) -> Json:
    return value if isinstance(value, dict) and len(value) > 0 else None


def _values(schema: Raw) -> frozenset[str] | None:
    said = [schema["const"]] if "const" in schema else schema.get("enum")
    if not isinstance(said, list):
        return None
    return frozenset(json.dumps(each, sort_keys=True) for each in said if each is not None)


def _both(one: Shape, other: Shape) -> Shape:
    """Return what holds where both hold."""
    typed = len(one.types) > 0 and len(other.types) > 0
    return Shape(
        types=one.types & other.types if typed else one.types | other.types,
        nullable=(one.nullable and other.nullable) if typed else (one.nullable or other.nullable),
        properties={
            name: _property_of_both(one.properties.get(name), other.properties.get(name))
            for name in (*one.properties, *(each for each in other.properties if each not in one.properties))
        },
        items=other.items if one.items is None else one.items,
        members=other.members if one.members is None else one.members,
        description=" ".join(filter(None, (one.description, other.description))),
        format=one.format or other.format,
        maximum=_least(one.maximum, other.maximum),
        max_items=_least(one.max_items, other.max_items),
        default=other.default if one.default is None else one.default,
        values=one.values
        if other.values is None
        else other.values & (other.values if one.values is None else one.values),
        unread=(*one.unread, *other.unread),
    )


def _property_of_both(one: Property | None, other: Property | None) -> Property:
    if one is None or other is None:
        only = other if one is None else one
        return only if only is not None else Property(True, False)
    if one.schema is True or _same(one.schema, other.schema):
        return Property(other.schema, one.required or other.required)
    schema: Json = one.schema if other.schema is True else {"allOf": [one.schema, other.schema]}
    return Property(schema, one.required or other.required)


def _same(one: Json, other: Json) -> bool:
    """Whether two schemas are one: by name, for a comparison of their contents could take for ever."""
    if one is other:
        return True
    both = isinstance(one, dict) and isinstance(other, dict) and len(one) == len(other) == 1
    return both and isinstance(mapping(one).get("$ref"), str) and mapping(one)["$ref"] == mapping(other).get("$ref")


def _least(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


def _either(alternatives: Sequence[Shape]) -> Shape:
    """Return what holds whichever alternative holds. A null beside others makes the value nullable."""
    null = frozenset({"null"})
    real = [each for each in alternatives if each.types != null]
    if len(real) == 0:
        return Shape(types=null, nullable=True)
    nullable = len(real) < len(alternatives) or any(each.nullable for each in real)
    if len(real) == 1:
        return replace(real[0], nullable=nullable)
    names = dict.fromkeys(name for each in real for name in each.properties)
    untyped = any(len(each.types) == 0 for each in real)
    return Shape(
        types=frozenset() if untyped else frozenset().union(*(each.types for each in real)),
        nullable=nullable,
        properties={name: _property_of_either([each.properties.get(name) for each in real]) for name in names},
        items=next((each.items for each in real if each.items is not None), None),
        members=next((each.members for each in real if each.members is not None), None),
        description=" ".join(filter(None, (each.description for each in real))),
        values=None
        if any(each.values is None for each in real)
        else frozenset().union(*(each.values or () for each in real)),
        unread=tuple(problem for each in real for problem in each.unread),
    )


def _property_of_either(found: Sequence[Property | None]) -> Property:
    there = [each for each in found if each is not None]
    first = there[0].schema
    same = all(_same(each.schema, first) for each in there)
    schemas: list[Json] = [each.schema for each in there]
    return Property(
        first if same else {"oneOf": schemas}, len(there) == len(found) and all(each.required for each in there)
    )

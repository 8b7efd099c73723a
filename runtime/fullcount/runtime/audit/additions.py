"""What to add to a document so that a list can be proven whole: parts of schemas, in the document's own version."""

from __future__ import annotations

from collections.abc import Mapping

Part = Mapping[str, object]


def nullable(kind: str, description: str, version: str) -> Part:
    """Return the schema of a value that may be null, as this version writes it."""
    if version.startswith("2."):
        return {"type": kind, "x-nullable": True, "description": description}
    if version.startswith("3.0"):
        return {"type": kind, "nullable": True, "description": description}
    return {"type": [kind, "null"], "description": description}


def required(place: tuple[str, ...], part: Part) -> Part:
    """Return the schema in which a place must be there, and is this."""
    schema = part
    for name in reversed(place):
        schema = {"required": [name], "properties": {name: schema}}
    return schema


def next_cursor(place: tuple[str, ...], version: str) -> Part:
    """Return what makes a cursor an end marker."""
    return required(
        place, nullable("string", "Where the list goes on. Null on the last page, and only there.", version)
    )


def flag(place: tuple[str, ...], description: str) -> Part:
    """Return a flag that must be there."""
    return required(place, {"type": "boolean", "description": description})


def complete(place: tuple[str, ...] = ("complete",)) -> Part:
    """Return the flag that affirms the end."""
    return flag(place, "True on the last page if nothing was left out.")


def exact_total(place: tuple[str, ...] = ("total",)) -> Part:
    """Return a total that proves something."""
    words = "The exact number of items that the request matches, at the state that the pages show."
    return required(place, {"type": "integer", "minimum": 0, "description": words})


def failed_parts() -> Part:
    """Return where parts that did not answer are named."""
    part = {"type": "object", "required": ["part", "code"]}
    return required(
        ("errors",), {"type": "array", "items": part, "description": "What did not answer. Empty if all did."}
    )


def named(place: str, description: str) -> Part:
    """Return a text that must be there."""
    return required((place,), {"type": "string", "description": description})


def parameter(name: str, description: str, version: str) -> Part:
    """Return a parameter of the query."""
    kind: Part = {"type": "string"} if version.startswith("2.") else {"schema": {"type": "string"}}
    return {"parameters": [{"name": name, "in": "query", "description": description, **kind}]}


def header(status: str, name: str, description: str, version: str, *, always: bool) -> Part:
    """Return a reply with a header."""
    one: Part = {"description": description}
    kind: Part = {"type": "string"} if version.startswith("2.") else {"schema": {"type": "string"}}
    must: Part = {"required": True} if always and not version.startswith("2.") else {}
    return {"responses": {status: {"headers": {name: {**one, **must, **kind}}}}}

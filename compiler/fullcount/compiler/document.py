"""A checked program as plain JSON and back, exactly; and its digest.

The document is what a plan stores and an apply runs, so it must say everything that matters and nothing else: places in
a file are left out. Every value carries its type by name, and only the types listed here can be read back: a document
can never make anything but a program.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal, InvalidOperation
from enum import Enum
from typing import Any

from fullcount.compiler import claims, ir, program, types
from fullcount.compiler.program import Program, Workflow

FORMAT = "fullcount-program"
VERSION = 1
_SAFE_INT = 2**53 - 1
"""Whole numbers beyond this are written as text: readers in other languages would round them."""

_CLASSES: dict[str, type[Any]] = {
    f"{module.__name__.rsplit('.', 1)[-1]}.{name}": value
    for module in (types, claims, ir, program)
    for name, value in vars(module).items()
    if isinstance(value, type) and is_dataclass(value) and value.__module__ == module.__name__
}
_NAMES = {value: name for name, value in _CLASSES.items()}
_LATER: Mapping[str, frozenset[str]] = {
    "program.Canary": frozenset({"then"}),
    "program.Act": frozenset({"rehearse"}),
    "program.Step": frozenset({"backup", "cascades", "rehearse"}),
}
"""Parts that came later, by class: left out where they say nothing, so that what is without them keeps its digest."""
_ENUMS: dict[str, type[Enum]] = {"Kind": types.Kind, "Consistency": claims.Consistency, "Direction": claims.Direction}


class DocumentError(ValueError):
    """A document that is not a program. The message is for people."""


def to_document(checked: Program) -> dict[str, Any]:
    """Return the program as plain JSON: only objects, arrays, texts, numbers, booleans and null."""
    return {"format": FORMAT, "version": VERSION, "program": encode(checked)}


def from_document(document: Mapping[str, Any]) -> Program:
    """Return the program that a document holds. Raises DocumentError."""
    made = _content(document, "program")
    if not isinstance(made, Program):
        raise DocumentError("this document does not hold a program")
    return made


def workflow_to_document(workflow: Workflow) -> dict[str, Any]:
    """Return one workflow as plain JSON."""
    return {"format": FORMAT, "version": VERSION, "workflow": encode(workflow)}


def workflow_from_document(document: Mapping[str, Any]) -> Workflow:
    """Return the workflow that a document holds. Raises DocumentError."""
    made = _content(document, "workflow")
    if not isinstance(made, Workflow):
        raise DocumentError("this document does not hold a workflow")
    return made


def program_digest(checked: Program | Workflow) -> str:
    """Return `sha256:…` over the canonical form (RFC 8785) of the document, which leaves out places."""
    import rfc8785

    document = to_document(checked) if isinstance(checked, Program) else workflow_to_document(checked)
    return "sha256:" + hashlib.sha256(rfc8785.dumps(document)).hexdigest()


def _content(document: Mapping[str, Any], part: str) -> Any:
    if set(document) != {"format", "version", part}:
        raise DocumentError(f"this is not the document of a {part}")
    if document["format"] != FORMAT or document["version"] != VERSION:
        raise DocumentError(f"this document is of another format or version than `{FORMAT}` {VERSION}")
    return decode(document[part])


def encode(value: Any) -> Any:
    """Return a value of a program as plain JSON."""
    match value:
        case Enum():
            return {"$enum": type(value).__name__, "value": value.value}
        case None | bool() | str():
            return value
        case int():
            return value if -_SAFE_INT <= value <= _SAFE_INT else {"$int": str(value)}
        case Decimal():
            return {"$decimal": str(value)}
        case tuple():
            return [encode(item) for item in value]
        case frozenset():
            return {"$set": [encode(item) for item in sorted(value)]}
        case Mapping():
            return {"$map": {key: encode(item) for key, item in value.items()}}
    if type(value) not in _NAMES:
        raise TypeError(f"{type(value).__name__} has no place in a program")
    name = _NAMES[type(value)]
    body = {f.name: encode(getattr(value, f.name)) for f in fields(value) if f.compare}
    for later in _LATER.get(name, ()):
        if _says_nothing(body[later]):
            del body[later]
    return {"$": name, **body}


def _says_nothing(part: Any) -> bool:
    return part is None or part is False


def decode(value: Any) -> Any:
    """Return the value that plain JSON stands for. Raises DocumentError."""
    if isinstance(value, list):
        return tuple(decode(item) for item in value)
    if not isinstance(value, dict):
        if value is None or isinstance(value, bool | str | int):
            return value
        raise DocumentError(f"`{value}` has no place in a program")
    try:
        return _tagged(value)
    except (KeyError, TypeError, ValueError, InvalidOperation, AttributeError) as problem:
        if isinstance(problem, DocumentError):
            raise
        raise DocumentError(f"a part of this document can't be read: {problem}") from problem


def _tagged(value: dict[str, Any]) -> Any:
    if "$" in value:
        made = _CLASSES[value["$"]]
        body = {name: decode(item) for name, item in value.items() if name != "$"}
        wanted = {f.name for f in fields(made) if f.compare}
        unsaid = {later for later in _LATER.get(value["$"], ()) if _says_nothing(body.get(later))}
        if set(body) != wanted - unsaid:
            raise DocumentError(f"`{value['$']}` has other parts than {', '.join(sorted(wanted))}")
        return made(**body)
    match value:
        case {"$enum": name, "value": item, **rest} if not rest:
            return _ENUMS[name](item)
        case {"$int": text, **rest} if not rest:
            return int(text)
        case {"$decimal": text, **rest} if not rest:
            return Decimal(text)
        case {"$set": items, **rest} if not rest:
            return frozenset(decode(item) for item in items)
        case {"$map": items, **rest} if not rest:
            return {name: decode(item) for name, item in items.items()}
        case _:
            raise DocumentError("a part of this document says not what it is")

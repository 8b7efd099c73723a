"""A catalogue as plain JSON and back, exactly.

Whatever a catalogue is made of is written with all of its parts, so that nothing a connector declares is lost on the
way. A kind of value that is not known here is an error and never left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

from fullcount.compiler import catalog, claims, types
from fullcount.compiler.catalog import StaticCatalog

_CLASSES: Final[dict[str, type[Any]]] = {
    name: value
    for module in (catalog, claims, types)
    for name, value in vars(module).items()
    if isinstance(value, type) and (issubclass(value, Enum) or hasattr(value, "__match_args__"))
}


def catalog_to_document(made: StaticCatalog) -> Any:
    """Return a catalogue as plain JSON."""
    return _encoded(made)


def catalog_from_document(document: Any) -> StaticCatalog:
    """Return the catalogue that a document of `catalog_to_document` stands for."""
    made = _decoded(document)
    if not isinstance(made, StaticCatalog):
        raise TypeError("this is not the document of a catalogue")
    return made


def _encoded(value: Any) -> Any:
    if isinstance(value, Enum):
        return {"class": type(value).__name__, "value": value.value}
    match value:
        case None | bool() | str() | int():
            return value
        case tuple():
            return [_encoded(item) for item in value]
        case frozenset():
            return {"set": [_encoded(item) for item in sorted(value)]}
        case Mapping():
            return {"map": {name: _encoded(item) for name, item in value.items()}}
    kind = type(value)
    if _CLASSES.get(kind.__name__) is not kind:
        raise TypeError(f"{kind.__name__} has no place in a catalogue")
    return {"class": kind.__name__, "parts": [_encoded(getattr(value, name)) for name in kind.__match_args__]}


def _decoded(value: Any) -> Any:
    match value:
        case {"class": name, "value": item}:
            return _CLASSES[name](item)
        case {"class": name, "parts": parts}:
            return _CLASSES[name](*map(_decoded, parts))
        case {"set": items}:
            return frozenset(map(_decoded, items))
        case {"map": items}:
            return {name: _decoded(item) for name, item in items.items()}
        case list():
            return tuple(map(_decoded, value))
        case _:
            return value

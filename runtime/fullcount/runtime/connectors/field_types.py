"""Field types as configurations write them: `text`, `timestamp?`, `list<text>`, `map<int>?`."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator

from fullcount.compiler.types import SCALARS, FieldType, Kind, ListOf, MapOf, Scalar
from fullcount.runtime.workspace.errors import SettingError, did_you_mean

_SHAPE = re.compile(r"\s*(?:(list|map)\s*<\s*([a-z]+)\s*>|([a-z]+))\s*(\??)\s*")


def parse_field_type(text: Any) -> FieldType:
    """Return the type that `text` names. Raises `SettingError`."""
    if isinstance(text, FieldType):
        return text
    shape = _SHAPE.fullmatch(text) if isinstance(text, str) else None
    if shape is None:
        msg = "expected a field type"
        raise SettingError(msg, help='as `"text"`, `"timestamp?"`, `"list<text>"` or `"map<text>"`')
    container, inner, plain, optional = shape.groups()
    name = inner or plain
    if name not in SCALARS:
        msg = f"there is no type `{name}`"
        raise SettingError(msg, help=did_you_mean(name, SCALARS))
    item = SCALARS[name]
    whole = ListOf(item) if container == "list" else MapOf(item) if container == "map" else item
    return FieldType(whole, optional == "?")


_IDENTIFYING = frozenset({Kind.TEXT, Kind.INT, Kind.BOOL, Kind.DATE, Kind.TIMESTAMP, Kind.DECIMAL})


def can_identify(field: FieldType) -> bool:
    """Whether a value of this type can tell one object from another."""
    return isinstance(field.type, Scalar) and field.type.kind in _IDENTIFYING


FieldTypeSetting = Annotated[Any, BeforeValidator(parse_field_type)]
"""A `FieldType` in a configuration model."""

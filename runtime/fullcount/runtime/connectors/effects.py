"""What an update sets on its object, by its declaration and its arguments: the same for acting and for looking back.

Guarantees: a value is what a reader of the source would be handed for it; what has no such form is none of the fields,
and `more` says so. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from fullcount.compiler.catalog import Operation, Resource
from fullcount.compiler.types import DECIMAL, Type
from fullcount.compiler.values import Value
from fullcount.runtime.collect.canonical import RefusedValueError, canonical


@dataclass(frozen=True, slots=True)
class FieldsSet:
    """The fields that are set, with their values. `more`: others may be set too, and nobody says which."""

    fields: dict[str, Value]
    more: bool


def fields_set(resource: Resource, operation: Operation, arguments: Mapping[str, Value]) -> FieldsSet:
    """Return the fields of the object that a call with these arguments sets."""
    parameters, more = operation.parameters, operation.sets_more
    found = {
        name: value
        for name, value in arguments.items()
        if name in resource.fields and name in parameters and parameters[name].key is None
    }
    found |= {name: arguments[parameter] for name, parameter in operation.given.items() if parameter in arguments}
    for name, raw in operation.sets.items():
        try:
            found[name] = constant(resource.fields[name].type, raw)
        except RefusedValueError:
            more = True
    return FieldsSet(found, more)


def constant(type_: Type, raw: Any) -> Value:
    """Return a value that a declaration names. Raises `RefusedValueError` for one that is not of the type."""
    if type_ == DECIMAL and isinstance(raw, (int, str)) and not isinstance(raw, bool):
        try:
            return canonical(type_, Decimal(raw))
        except ArithmeticError:
            raise RefusedValueError("expected decimal, found text that is no number") from None
    return canonical(type_, list(raw) if isinstance(raw, tuple) else raw)

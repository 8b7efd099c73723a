"""Sources that are split: what a part has of a resource, an object and a call. Shared by the connectors that split.

Guarantees: an object is in the part that its key names and in no other; what names the part is never asked of the part
itself. No I/O here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from fullcount.compiler.catalog import Resource
from fullcount.compiler.types import TEXT, FieldType
from fullcount.compiler.values import Cell, FieldState, Value
from fullcount.runtime.connectors.base import ActCall, Existence, Reading, SourceError
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness
from fullcount.runtime.workspace.errors import SettingError

NAME = FieldType(TEXT, optional=False)
"""What names a part: text that is always there."""


def check_names(names: Sequence[str]) -> None:
    """Raise `SettingError` for a partition that is named twice."""
    if len(set(names)) != len(names):
        msg = "`partitions` names one twice"
        raise SettingError(msg)


def check_fields(resource: str, fields: Mapping[str, FieldType], names: Iterable[str]) -> None:
    """Raise `SettingError` for fields of a resource that can't name its part."""
    for name in names:
        if name in fields and fields[name] != NAME:
            msg = f"`resources.{resource}.fields.{name}` is `{fields[name]}`,"
            raise SettingError(f"{msg} and what names a part is `text` that is always there")


def resource_of_part(resource: Resource, part: Collection[str]) -> Resource:
    """Return a resource as one part has it."""
    operations = {
        name: replace(
            operation, parameters={n: parameter for n, parameter in operation.parameters.items() if n not in part}
        )
        for name, operation in resource.operations.items()
    }
    return replace(
        resource,
        fields={name: of for name, of in resource.fields.items() if name not in part},
        key=tuple(name for name in resource.key if name not in part),
        operations=operations,
        partitions={},
    )


def part_of(names: Iterable[str], resource: Resource, key: tuple[Value, ...]) -> dict[str, str]:
    """Return the part that an object is in. Raises `SourceError` if its key does not say."""
    by_name = dict(zip(resource.key, key, strict=True)) if len(key) > 0 else {}
    part: dict[str, str] = {}
    for name in names:
        value = by_name.get(name)
        if not isinstance(value, str):
            detail = f"the key of `{resource.source}.{resource.name}` does not say in which `{name}` an object is"
            raise SourceError(not_covered(detail))
        part[name] = value
    return part


def own_key(resource: Resource, key: tuple[Value, ...], part: Collection[str]) -> tuple[Value, ...]:
    """Return the key by which the part itself knows an object."""
    return tuple(value for name, value in zip(resource.key, key, strict=True) if name not in part)


def own_fields(fields: Sequence[str], part: Collection[str]) -> tuple[str, ...]:
    """Return the fields that the part itself is asked for."""
    return tuple(name for name in fields if name not in part)


def own_call(call: ActCall, part: Collection[str]) -> ActCall:
    """Return a call as the part knows it."""
    return replace(
        call,
        resource=resource_of_part(call.resource, part),
        key=own_key(call.resource, call.key, part),
        arguments={name: value for name, value in call.arguments.items() if name not in part},
        expected={name: cell for name, cell in call.expected.items() if name not in part},
    )


def with_part(reading: Reading, fields: Sequence[str], part: Mapping[str, str]) -> Reading:
    """Return an object that was read in a part, with what names the part."""
    if reading.existence is not Existence.FOUND:
        return reading
    named = {name: Cell(FieldState.PRESENT, part[name]) for name in fields if name in part}
    return replace(reading, cells={**reading.cells, **named})


def not_covered(detail: str) -> Incompleteness:
    """Return the reason of a question that does not lead to one part."""
    return Incompleteness(code=Reason.SCOPE_NOT_COVERED, detail=detail)


def no_listing(what: str) -> Incompleteness:
    """Return the reason of a question about all parts at once: none of them speaks for the others."""
    return not_covered(f"{what}: a source that is split has no listing of the whole")

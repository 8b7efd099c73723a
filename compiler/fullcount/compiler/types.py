"""The types of the language.

Whether a value may be absent (`T?`) is not part of the type but stands beside it, because flow typing takes it away
(`a.owner is present and …`) without changing what the value is.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from fullcount.dsl.dataclass import dataclass, field
from fullcount.dsl.source import Span


class Kind(StrEnum):
    """The scalar kinds. `percent` exists for literals of clauses and of `sample` only; no field can have it."""

    TEXT = "text"
    INT = "int"
    DECIMAL = "decimal"
    BOOL = "bool"
    TIMESTAMP = "timestamp"
    DATE = "date"
    DURATION = "duration"
    SIZE = "size"
    PERCENT = "percent"


@dataclass(frozen=True, slots=True)
class Scalar:
    """A type without parts."""

    kind: Kind

    def __str__(self) -> str:
        return str(self.kind)


@dataclass(frozen=True, slots=True)
class ListOf:
    """`list<T>`."""

    item: Type

    def __str__(self) -> str:
        return f"list<{self.item}>"


@dataclass(frozen=True, slots=True)
class MapOf:
    """`map<T>`: text keys, values of one type."""

    value: Type

    def __str__(self) -> str:
        return f"map<{self.value}>"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a record. It has a value, or is absent where its type says so; nothing else can be known of it."""

    name: str
    type: FieldType


@dataclass(frozen=True, slots=True)
class RecordOf:
    """`record { port: int, cidr: text? }`. The order of parts means nothing, so they are kept by name."""

    parts: tuple[Part, ...]

    def part(self, name: str) -> FieldType | None:
        """Return the type of a part, or None if there is none of that name."""
        return next((part.type for part in self.parts if part.name == name), None)

    def __str__(self) -> str:
        return f"record {{ {', '.join(f'{part.name}: {part.type}' for part in self.parts)} }}"


Type = Scalar | ListOf | MapOf | RecordOf

TEXT = Scalar(Kind.TEXT)
INT = Scalar(Kind.INT)
DECIMAL = Scalar(Kind.DECIMAL)
BOOL = Scalar(Kind.BOOL)
TIMESTAMP = Scalar(Kind.TIMESTAMP)
DATE = Scalar(Kind.DATE)
DURATION = Scalar(Kind.DURATION)
SIZE = Scalar(Kind.SIZE)
PERCENT = Scalar(Kind.PERCENT)

SCALARS: dict[str, Scalar] = {str(t.kind): t for t in (TEXT, INT, DECIMAL, BOOL, TIMESTAMP, DATE, DURATION, SIZE)}

ORDERED = frozenset({Kind.INT, Kind.DECIMAL, Kind.TIMESTAMP, Kind.DATE, Kind.DURATION, Kind.SIZE, Kind.TEXT})
"""Kinds that `<` and its kin accept. Text is ordered by code point."""


@dataclass(frozen=True, slots=True)
class IdOf:
    """Which objects a value names, or the items of a list: those whose key field `key` (`hr.employees.id`) it equals.

    `said` tells people how that is known, `span` where it was declared if a workflow says so. It is no part of a type:
    two values of one type may name different objects, and are then never compared.
    """

    key: str
    said: str
    span: Span | None = None

    @property
    def resource(self) -> str:
        """The resource whose objects are named."""
        return self.key.rpartition(".")[0]


@dataclass(frozen=True, slots=True)
class FieldType:
    """A field's type and whether the source may positively say that it has no value."""

    type: Type
    optional: bool = False
    names: IdOf | None = field(default=None, compare=False)
    """Which objects its values name, where that is known."""

    def __str__(self) -> str:
        return f"{self.type}{'?' if self.optional else ''}"


def record_of(parts: Mapping[str, FieldType]) -> RecordOf:
    """Return the record with these parts."""
    return RecordOf(tuple(Part(name, parts[name]) for name in sorted(parts)))


def fits(said: Type, actual: Type) -> bool:
    """Whether values of `actual` can be read as `said`: the same type, of records perhaps not every part."""
    match said, actual:
        case RecordOf(parts=parts), RecordOf():
            return all(
                (there := actual.part(part.name)) is not None
                and fits(part.type.type, there.type)
                and (part.type.optional or not there.optional)
                for part in parts
            )
        case ListOf(item=a), ListOf(item=b):
            return fits(a, b)
        case _:
            return said == actual

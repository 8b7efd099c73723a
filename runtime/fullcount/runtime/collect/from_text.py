"""Columns of pages straight from the JSON text of their replies, parsed by Arrow: at its speed, and without the lock.

Guarantees: a column is returned only if it is what the values of the decoded text would have become, value for value
and state for state. Arrow's parser is as strict as our types: it refuses a text for a number, `1.0` for an int, a name
that stands twice, half a surrogate pair. Whatever it refuses, and whatever is not as expected, is not returned: then
the caller makes the column of decoded values, which says what is wrong and with which row. Nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.json

from fullcount.compiler.types import FieldType, Kind, Scalar
from fullcount.runtime.collect.coerce import Array, Column, parsed_column
from fullcount.runtime.connectors.base import Page
from fullcount.runtime.connectors.in_text import PageColumns, may_stay

FEW_ROWS: Final = 256
"""Below so many rows, to begin parsing costs more than the rows."""
_LONGEST: Final = 256 * 1024 * 1024
"""Bytes that are parsed at once at most."""
_LIST: Final = "list"
"""The name under which a list is put that is a whole reply."""
_PARSED: Final[dict[Kind, pa.DataType]] = {
    Kind.TEXT: pa.string(),
    Kind.INT: pa.int64(),
    Kind.SIZE: pa.int64(),
    Kind.BOOL: pa.bool_(),
    Kind.TIMESTAMP: pa.string(),
    Kind.DATE: pa.string(),
}
_parser: Any = pyarrow.json


def stands_in_text(fields: Mapping[str, FieldType], pages: Sequence[Page]) -> dict[str, str]:
    """Return the fields that can be read from the text of these pages, with their names there."""
    columns = [page.columns for page in pages]
    first = columns[0]
    if not isinstance(first, PageColumns) or sum(page.rows for page in pages) < FEW_ROWS:
        return {}
    found = {field: name for field, name in first.names.items() if field in fields and may_stay(fields[field].type)}
    for other in columns[1:]:
        if not isinstance(other, PageColumns) or other.place != first.place:
            return {}
        found = {field: name for field, name in found.items() if other.names.get(field) == name}
    return found


def columns_from_text(fields: Mapping[str, FieldType], pages: Sequence[Page]) -> dict[str, Column] | None:
    """Return columns of all the pages' rows, as far as they can be read from the text; None: the text was refused."""
    names = stands_in_text(fields, pages)
    kinds: dict[str, pa.DataType] = {}
    for field, name in names.items():
        if kinds.setdefault(name, _parsed_as(fields[field])) != _parsed_as(fields[field]):
            return {}  # two fields of one value, of which one is no value of its type
    if len(names) == 0:
        return {}
    objects = _objects([page.columns for page in pages if isinstance(page.columns, PageColumns)], kinds)
    if objects is None or len(objects) != sum(page.rows for page in pages) or objects.null_count > 0:
        return None
    read = {field: parsed_column(fields[field], objects.field(name)) for field, name in names.items()}
    return {field: column for field, column in read.items() if column is not None}


def _parsed_as(field_type: FieldType) -> pa.DataType:
    if not isinstance(field_type.type, Scalar):
        msg = f"a {field_type.type} is not read from text"
        raise TypeError(msg)
    return _PARSED[field_type.type.kind]


def _objects(columns: Sequence[PageColumns], kinds: Mapping[str, pa.DataType]) -> Array | None:
    """Parse every reply as one row; return their objects one after another, None if anything was refused."""
    steps = columns[0].place or (_LIST,)
    wanted: pa.DataType = pa.list_(pa.struct(list(kinds.items())))
    for step in reversed(steps[1:]):
        wanted = pa.struct([(step, wanted)])
    whole = len(columns[0].place) == 0
    try:
        text = "\n".join(f'{{"{_LIST}":{each.text}}}' if whole else each.text for each in columns).encode()
        if len(text) > _LONGEST:
            return None
        table = _parser.read_json(
            pa.BufferReader(text),
            read_options=_parser.ReadOptions(use_threads=False, block_size=len(text) + 1),
            parse_options=_parser.ParseOptions(
                explicit_schema=pa.schema([(steps[0], wanted)]),
                unexpected_field_behavior="ignore",
                newlines_in_values=True,
            ),
        )
    except (pa.ArrowInvalid, UnicodeEncodeError):
        return None
    found: Array = table.column(0).combine_chunks()
    for step in steps[1:]:
        found = found.field(step)
    return None if len(found) != len(columns) or found.null_count > 0 else found.flatten()

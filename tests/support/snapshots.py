"""Small snapshots for tests: rows with field states as Arrow or Parquet, and statements run over them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Context, Decimal
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from fullcount.compiler.lower.sql import Relation
from fullcount.compiler.lower.world import Equal, Related
from fullcount.compiler.types import FieldType, Kind, ListOf, MapOf, RecordOf, Type
from fullcount.compiler.values import STATE_ORDER, STATE_SUFFIX, FieldState, Row, Value

_ARROW = {
    Kind.TEXT: pa.string(),
    Kind.INT: pa.int64(),
    Kind.DECIMAL: pa.decimal128(38, 9),
    Kind.BOOL: pa.bool_(),
    Kind.TIMESTAMP: pa.timestamp("us", tz="UTC"),
    Kind.DATE: pa.date32(),
    Kind.DURATION: pa.int64(),
    Kind.SIZE: pa.int64(),
}


def arrow_type(of_type: Type) -> pa.DataType:
    """The type of a value column."""
    match of_type:
        case ListOf(item=item):
            return pa.list_(arrow_type(item))
        case MapOf(value=value):
            return pa.map_(pa.string(), arrow_type(value))
        case RecordOf(parts=parts):
            return pa.struct([pa.field(part.name, arrow_type(part.type.type)) for part in parts])
        case _:
            return _ARROW[of_type.kind]


def _stored(value: Value | None, of_type: Type):
    match value:
        case dict() if isinstance(of_type, RecordOf):
            return {k: _stored(v, of_type.part(k).type) for k, v in value.items()}
        case dict():
            return [(k, _stored(v, of_type.value)) for k, v in value.items()]
        case tuple():
            return [_stored(v, of_type.item) for v in value]
        case Decimal():
            return value.quantize(Decimal("0.000000001"), context=Context(prec=38))
        case _:
            return value


def _array(values: list[Value | None], of_type: Type) -> pa.Array:
    wanted = arrow_type(of_type)
    stored = [_stored(v, of_type) for v in values]
    return pa.array(stored, wanted) if pa.types.is_nested(wanted) else _numbers(stored, wanted)


def _numbers(stored: list, wanted: pa.DataType) -> pa.Array:
    if pa.types.is_timestamp(wanted):
        return pa.array(stored, pa.int64()).cast(wanted)
    if pa.types.is_date32(wanted):
        return pa.array(stored, pa.int32()).cast(wanted)
    return pa.array(stored, wanted)


def table(fields: Mapping[str, FieldType], rows: Sequence[Row]) -> pa.Table:
    """Rows as a snapshot stores them: for each field a value column and a state column."""
    columns: dict[str, pa.Array] = {}
    for name, field_type in fields.items():
        cells = [row[name] for row in rows]
        columns[name] = _array([c.value if c.state is FieldState.PRESENT else None for c in cells], field_type.type)
        columns[name + STATE_SUFFIX] = pa.array([STATE_ORDER.index(c.state) for c in cells], pa.int8())
    return pa.table(columns)


def write(path: Path, fields: Mapping[str, FieldType], rows: Sequence[Row], *, complete: bool = True) -> Relation:
    """Write a snapshot to a Parquet file and return it as a relation."""
    pq.write_table(table(fields, rows), path)
    return Relation(f"read_parquet('{path}')", complete)


def run(statement: str, connection: duckdb.DuckDBPyConnection | None = None) -> list[tuple]:
    """Run a statement and return its rows."""
    if connection is None:
        with duckdb.connect(config={"threads": 1}) as connection:
            return connection.execute(statement).fetchall()
    return connection.execute(statement).fetchall()


class HeldWorld:
    """A world of rows in memory. It narrows as far as the contract allows, so that a wrong hint would show."""

    def __init__(self, held: Mapping[str, Related]):
        self._held = held

    def rows(self, inventory: str, equal: Equal) -> Related:
        rows, complete = self._held[inventory]
        return Related([row for row in rows if _may_match(row, equal)], complete)


def _may_match(row: Row, equal: Iterable[tuple[str, Value]]) -> bool:
    return all(row[name].state is not FieldState.PRESENT or row[name].value == value for name, value in equal)

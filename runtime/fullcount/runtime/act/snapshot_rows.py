"""Rows of a stored snapshot for one object's questions: read from Parquet by the values the rule asks for.

A snapshot never changes, so answers are kept. Rows whose asked field has no known value are part of every answer, as
`World.rows` demands: they may be the ones that matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from fullcount.compiler.lower.world import Equal, Related
from fullcount.compiler.types import Kind, ListOf, MapOf, RecordOf, Scalar, Type
from fullcount.compiler.values import STATE_ORDER, STATE_SUFFIX, Cell, FieldState
from fullcount.runtime.collect.canonical import canonical
from fullcount.runtime.collect.coerce import arrow_type

_KEPT_ANSWERS = 256
_AS_NUMBERS: dict[Kind, pa.DataType] = {Kind.TIMESTAMP: pa.int64(), Kind.DATE: pa.int32()}
_NOT_PRESENT = {state: Cell(state, None) for state in STATE_ORDER if state is not FieldState.PRESENT}


class SnapshotRows:
    """The rows of one snapshot with the fields that a rule reads. `path` gives the checked file, when first needed."""

    def __init__(self, path: Callable[[], Path], fields: Mapping[str, Type], *, complete: bool) -> None:
        self._path = path
        self._fields = fields
        self._complete = complete
        self._answer: Callable[[Equal], Related] = lru_cache(maxsize=_KEPT_ANSWERS)(self._read)

    def related(self, equal: Equal) -> Related:
        """Return the rows as `World.rows` asks for them. Raises what `path` raises."""
        return self._answer(equal)

    def _read(self, equal: Equal) -> Related:
        columns = [column for name in self._fields for column in (name, name + STATE_SUFFIX)]
        table = pq.read_table(self._path(), columns=columns, filters=self._filter(equal))
        cells = {name: self._cells(table, name, of) for name, of in self._fields.items()}
        names = list(cells)
        rows = [dict(zip(names, row, strict=True)) for row in zip(*cells.values(), strict=True)]
        if len(names) == 0:
            rows = [{} for _ in range(table.num_rows)]
        return Related(rows, self._complete)

    def _filter(self, equal: Equal) -> Any:
        parts: Any = None
        for name, value in equal:
            # without a value the row may still be the one that matters
            fits: Any = (pc.field(name) == pa.scalar(value, arrow_type(self._fields[name]))) | (
                pc.field(name + STATE_SUFFIX) != STATE_ORDER.index(FieldState.PRESENT)
            )
            parts = fits if parts is None else parts & fits
        return parts

    def _cells(self, table: Any, name: str, of: Type) -> list[Cell]:
        values, states = table.column(name), table.column(name + STATE_SUFFIX).to_pylist()
        return [
            Cell(FieldState.PRESENT, value)
            if STATE_ORDER[state] is FieldState.PRESENT
            else _NOT_PRESENT[STATE_ORDER[state]]
            for value, state in zip(_canonical_column(values, of), states, strict=True)
        ]


def _canonical_column(values: Any, of: Type) -> list[Any]:
    match of:
        case Scalar(kind=kind):
            as_number = _AS_NUMBERS.get(kind)
            plain: list[Any] = (values if as_number is None else values.cast(as_number)).to_pylist()
            return plain
        case _:
            return [None if raw is None else canonical(of, _natural(raw, of)) for raw in values.to_pylist()]


def _natural(raw: Any, of: Type) -> Any:
    match of:
        case MapOf():
            return dict(raw)
        case ListOf(item=RecordOf() as item):
            return [_natural(part, item) for part in raw]
        case RecordOf(parts=parts):
            return {p.name: _natural(raw[p.name], p.type.type) for p in parts if raw[p.name] is not None}
        case _:
            return raw

"""The scope and the canaries of an inventory, tested on every row that was read, whatever the source filtered.

Guarantees: a row is left out only if its scope is *false*; a row of which that can't be told stays in, so that rules
find it undecided rather than gone. A canary counts as seen only if its test is *true* for a row that stays in.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from fullcount.compiler import ir, program
from fullcount.compiler.lower.sql import TRUTH, Relation, filter_statement
from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.types import INT, FieldType
from fullcount.runtime.collect.coerce import Array, kernel
from fullcount.runtime.collect.order import connect

_ROW = "$row"
"""A column that numbers the rows, so that each answer finds its row; no field can have this name."""
_CHUNK = "chunk"


@dataclass(frozen=True, slots=True)
class Sifted:
    """Some rows and which of them are in the scope; None: all."""

    table: pa.Table
    inside: Array | None


class Sieve:
    """Tests rows in DuckDB, many at a time. To be used by one thread at a time; `close` it."""

    def __init__(self, inventory: program.Inventory, bindings: Bindings, spill: Path) -> None:
        self._inventory, self._bindings = inventory, bindings
        self._unseen = dict(enumerate(inventory.expects))
        self._database = connect(spill) if inventory.scope is not None or len(self._unseen) > 0 else None

    @property
    def unseen(self) -> tuple[ir.Expr, ...]:
        """The canaries that no row has shown so far."""
        return tuple(self._unseen.values())

    def sift(self, table: pa.Table) -> Sifted:
        """Test the scope on each row, and look for canaries among those inside."""
        database = self._database
        if database is None or table.num_rows == 0:
            return Sifted(table, None)
        inside: Array | None = None
        if self._inventory.scope is not None:
            # false is outside; true and unknown are inside
            inside = kernel.fill_null(self._truths(database, self._inventory.scope, table), fill_value=True)
            if kernel.all(inside).as_py():
                inside = None
        kept = table if inside is None else table.filter(inside)
        for index, expr in list(self._unseen.items()):
            if kept.num_rows > 0 and kernel.any(self._truths(database, expr, kept)).as_py():
                del self._unseen[index]
        return Sifted(table, inside)

    def _truths(self, database: duckdb.DuckDBPyConnection, expr: ir.Expr, table: pa.Table) -> Array:
        """Return true, false or null for each row, in the order of the rows."""
        numbered = table.append_column(_ROW, pa.array(range(table.num_rows), type=pa.int64()))
        by_number = replace(self._inventory, key=(_ROW,), fields={**self._inventory.fields, _ROW: FieldType(INT)})
        statement = filter_statement(expr, by_number, Relation(_CHUNK, complete=False), self._bindings)
        database.register(_CHUNK, numbered)
        try:
            answer = database.sql(f'SELECT "{TRUTH}" FROM ({statement}) ORDER BY "{_ROW}"').to_arrow_table()  # noqa: S608
        finally:
            database.unregister(_CHUNK)
        return answer.column(TRUTH).combine_chunks()

    def close(self) -> None:
        """Release the database."""
        if self._database is not None:
            self._database.close()


def bind_params(expr: ir.Expr, bindings: Bindings) -> ir.Expr:
    """Return the expression with each parameter replaced by its value. Raises `KeyError` for one that is not bound."""
    if isinstance(expr, ir.Param):
        return ir.Const(bindings.params[expr.name], expr.type, expr.span)
    changes: dict[str, Any] = {}
    for attribute in fields(expr):
        value = getattr(expr, attribute.name)
        if isinstance(value, ir.Expr):
            changes[attribute.name] = bind_params(value, bindings)
        elif isinstance(value, tuple):
            changes[attribute.name] = tuple(
                bind_params(part, bindings) if isinstance(part, ir.Expr) else part for part in value
            )
    return replace(expr, **changes) if len(changes) > 0 else expr

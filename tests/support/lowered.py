"""Directed tests of the lowerings: one rule about one object, asked of both, which must agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import duckdb
from tests.support.worlds import ROW_ID, rule_of, sql_verdicts, verdicts

from fullcount.compiler import ir
from fullcount.compiler.lower.world import Related
from fullcount.compiler.types import BOOL, INT, FieldType, Type
from fullcount.compiler.values import ABSENT, Cell, FieldState, Truth, present

UNREAD = Cell(FieldState.NOT_REQUESTED, None)


def const(value: Any, of_type: Type) -> ir.Const:
    return ir.Const(value, of_type)


def field(row: str, name: str, of_type: Type, inventory: str = "base") -> ir.Field:
    return ir.Field(row, inventory, name, of_type, optional=True)


def both(*parts: ir.Expr) -> ir.Expr:
    return ir.And(parts)


def cell(value: Any) -> Cell:
    """A cell: given as such, or None for absent, or a value."""
    if isinstance(value, Cell):
        return value
    return ABSENT if value is None else present(value)


def rows(*given: Mapping[str, Any], complete: bool = True) -> tuple[Sequence[Mapping[str, Any]], bool]:
    """The rows of another inventory."""
    return given, complete


def truth_of(
    expr: ir.Expr,
    base: Mapping[str, Any] | None = None,
    **others: tuple[Sequence[Mapping[str, Any]], bool],
) -> Truth:
    """Return the truth of a rule about the object `a` of `base`, as both lowerings give it."""
    given = {"base": rows(base or {}), **others}
    schema = _schema(expr, given)
    view = {
        name: Related([{ROW_ID: present(i), **_cells(row, schema[name])} for i, row in enumerate(found)], complete)
        for name, (found, complete) in given.items()
    }
    rule = rule_of(schema, expr)
    by_closure = verdicts(rule, view)[0].rule
    by_sql = sql_verdicts(rule, view, _database())[0].rule
    assert by_sql is by_closure, f"SQL says {by_sql}, the closure {by_closure}"
    return by_closure


def value_of(expr: ir.Expr, expected: ir.Const, base: Mapping[str, Any] | None = None, **others) -> Truth:
    """Whether an expression has the expected value; unknown if it has no known value."""
    return truth_of(ir.Compare("==", expr, expected), base, **others)


@cache
def _database() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})


def _schema(expr: ir.Expr, given: Mapping[str, Any]) -> dict[str, dict[str, FieldType]]:
    schema: dict[str, dict[str, FieldType]] = {name: {} for name in given}

    def visit(node: ir.Expr) -> None:
        if isinstance(node, ir.Field):
            schema[node.inventory][node.name] = FieldType(node.type, optional=True)
        for child in ir.children(node):
            visit(child)

    visit(expr)
    return schema


def _cells(row: Mapping[str, Any], fields: Mapping[str, FieldType]) -> dict[str, Cell]:
    return {name: cell(row[name]) if name in row else UNREAD for name in fields}


__all__ = ["BOOL", "INT", "UNREAD", "both", "cell", "const", "field", "rows", "truth_of", "value_of"]

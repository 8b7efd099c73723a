"""The part of a scope that a database can test as exactly as we do: a WHERE clause, or nothing.

Guarantees: no row is left out whose scope is true or unknown. A row with no value, or on SQLite with a value that is
not of its declared type, is therefore let through, and the collector decides. What can't be said so is not pushed down.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam, false, func, or_
from sqlalchemy.types import NullType

from fullcount.compiler import ir
from fullcount.compiler.types import FieldType, Kind, Scalar, Type
from fullcount.runtime.connectors.sql.described import Described
from fullcount.runtime.connectors.sql.values import Values

_KINDS = frozenset({Kind.TEXT, Kind.INT, Kind.BOOL})
_POSTGRES_TYPES = frozenset({"text", "character varying", "smallint", "integer", "bigint", "boolean"})
"""Types whose equality is ours: blanks count, case counts, no value has two spellings."""


@dataclass(frozen=True, slots=True)
class Pushed:
    """What was translated. `whole`: nothing of the scope is left to the collector but its second look."""

    condition: ColumnElement[bool] | None
    whole: bool


class PushDown:
    """Translates scopes over one table."""

    def __init__(
        self, described: Described, fields: Mapping[str, FieldType], values: Values, *, postgres: bool
    ) -> None:
        self._described, self._fields = described, fields
        self._table, self._values, self._postgres = described.table, values, postgres

    def push(self, scope: ir.Expr | None) -> Pushed:
        """Translate the conjuncts that can be; None has nothing to translate, and is whole."""
        if scope is None:
            return Pushed(None, whole=True)
        conjuncts = scope.items if isinstance(scope, ir.And) else (scope,)
        conditions = [self._condition(conjunct) for conjunct in conjuncts]
        pushed = [condition for condition in conditions if condition is not None]
        condition = and_(*pushed) if len(pushed) > 0 else None
        return Pushed(condition, whole=len(pushed) == len(conditions))

    def _condition(self, expr: ir.Expr) -> ColumnElement[bool] | None:
        match expr:
            case ir.Compare(operator="==" | "!=" as operator, left=ir.Field() as field, right=ir.Const() as constant):
                return self._equality(field, (constant,), negated=operator == "!=")
            case ir.Compare(operator="==" | "!=" as operator, left=ir.Const() as constant, right=ir.Field() as field):
                return self._equality(field, (constant,), negated=operator == "!=")
            case ir.In(item=ir.Field() as field, collection=ir.ListConst(items=items)):
                return self._equality(field, items, negated=False)
            case ir.Field() as field:
                return self._equality(field, (ir.TRUE,), negated=False)
            case ir.Not(operand=ir.Field() as field):
                return self._equality(field, (ir.TRUE,), negated=True)
            case ir.IsState(operand=ir.Field() as field, state="present" | "absent" as state):
                return self._state(field, absent=state == "absent")
            case ir.Not(operand=ir.IsState(operand=ir.Field() as field, state="present" | "absent" as state)):
                return self._state(field, absent=state == "present")
        return None

    def _equality(
        self, field: ir.Field, constants: tuple[ir.Const, ...], *, negated: bool
    ) -> ColumnElement[bool] | None:
        declared = self._declared(field)
        if declared is None:
            return None
        column = self._described.columns[field.name]
        try:
            values = [self._values.encode(declared, column, constant.value) for constant in constants]
        except ValueError:
            return None
        if len(values) == 0:
            return self._unless_sure(field, false())
        exact = self._described.exact(self._table.c[field.name])
        test = or_(*(exact == bindparam(None, value, type_=NullType()) for value in values))
        return self._unless_sure(field, ~test if negated else test)

    def _state(self, field: ir.Field, *, absent: bool) -> ColumnElement[bool] | None:
        if self._declared(field) is None:
            return None
        column = self._table.c[field.name]
        if not absent:
            return column.is_not(None)
        return column.is_(None) if self._postgres else or_(column.is_(None), self._strange(field))

    def _declared(self, field: ir.Field) -> FieldType | None:
        """Return the field's type if the database can test it as we do."""
        if field.row != ir.SELF or field.name not in self._described.columns:
            return None
        declared, column = self._fields[field.name], self._described.columns[field.name]
        if not isinstance(declared.type, Scalar) or declared.type.kind not in _KINDS or not column.readable:
            return None
        return declared if not self._postgres or column.type in _POSTGRES_TYPES else None

    def _unless_sure(self, field: ir.Field, test: ColumnElement[bool]) -> ColumnElement[bool]:
        """Let through what has no value to test: its scope is unknown, not false."""
        column = self._table.c[field.name]
        if not self._postgres:
            return or_(test, column.is_(None), self._strange(field))
        return test if self._described.columns[field.name].not_null else or_(test, column.is_(None))

    def _strange(self, field: ir.Field) -> ColumnElement[bool]:
        return not_as_declared(self._table.c[field.name], self._fields[field.name].type)


def not_as_declared(column: ColumnElement[Any], declared: Type) -> ColumnElement[bool]:
    """Return the test for SQLite values, NULL aside, that are not of their field's type: nothing is known of those."""
    if declared == Scalar(Kind.TEXT):
        return func.typeof(column).not_in(["text", "null"])
    strange = func.typeof(column).not_in(["integer", "null"])
    return or_(strange, column.not_in([0, 1])) if declared == Scalar(Kind.BOOL) else strange

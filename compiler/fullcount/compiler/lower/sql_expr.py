"""The typed expression as a DuckDB expression over one frame.

A truth is a BOOLEAN where NULL means unknown; DuckDB's AND, OR and NOT are Kleene's. A value is NULL unless it is
known, with a second expression that says whether it is surely absent. No expression raises an error on any row: what
has no value in `ir.py` is NULL here. Expressions without rows are computed beforehand, by the closure.
"""

from __future__ import annotations

from collections.abc import Mapping

from fullcount.compiler import functions, ir
from fullcount.compiler.functions import MICROSECONDS_OF_A_DAY, TRIM_CHARACTERS
from fullcount.compiler.lower import (
    closure,
    facts,
    json_text,
    networks,
    patterns,
    sampling,
    spelling,
    sql_related,
    sql_text,
    versions,
)
from fullcount.compiler.lower.sql_frame import NEVER, Frame, Known, Range, Statement
from fullcount.compiler.types import BOOL, RecordOf, Type
from fullcount.compiler.values import STATE_ORDER, FieldState

_COMPARE = {"==": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}

_FUNCTIONS = {
    "lower": "lower({})",
    "upper": "upper({})",
    "trim": f"trim({{}}, {sql_text.text(TRIM_CHARACTERS)})",
    "trim_dot": spelling.TRIM_DOT_SQL,
    "nfc": spelling.NFC_SQL,
    "starts_with": "starts_with({}, NULLIF({}, ''))",
    "ends_with": "ends_with({}, NULLIF({}, ''))",
    "contains": "contains({}, NULLIF({}, ''))",
    "length": "length({})",
    "intersects": "list_has_any({}, {})",
    "subset": "list_has_all({1}, {0})",
    "keys": "list_sort(map_keys({}))",
    "text": "CAST({} AS VARCHAR)",
    # `//` rounds towards zero, and a day before 1970 must not be counted as the one after it
    "utc_date": f"({{0}} // {MICROSECONDS_OF_A_DAY} - CAST({{0}} % {MICROSECONDS_OF_A_DAY} < 0 AS BIGINT))",
}


class Lowering:
    """Lowers expressions over the rows in `scope`; sub-queries that are needed twice become columns of `frame`."""

    def __init__(
        self, statement: Statement, frame: Frame, scope: Mapping[str, Frame], items: Mapping[str, str] | None = None
    ) -> None:
        self.statement = statement
        self.frame = frame
        self.scope = scope
        self.items = {} if items is None else items

    def inside(self, row: str, frame: Frame) -> Lowering:
        """Return the lowering of what a quantifier says of its own row."""
        return Lowering(self.statement, frame, {**self.scope, row: frame})

    # ---- tests

    def truth(self, expr: ir.Expr) -> str:
        """Return a BOOLEAN expression."""
        match expr:
            case _ if facts.is_constant(expr):
                answer = closure.compile_truth(expr, self.statement.bindings)({}, closure.NOWHERE)
                return "CAST(NULL AS BOOLEAN)" if answer is None else sql_text.literal(answer, BOOL)
            case ir.Not(operand=operand):
                return f"(NOT {self.truth(operand)})"
            case ir.And(items=items):
                return "(" + " AND ".join(map(self.truth, items)) + ")"
            case ir.Or(items=items):
                return "(" + " OR ".join(map(self.truth, items)) + ")"
            case ir.Compare():
                return self._compare(expr)
            case ir.IsState():
                return self._is_state(expr)
            case ir.In():
                return self._in(expr)
            case ir.AnyItem():
                return self._any_item(expr)
            case ir.Some():
                return sql_related.some(self, expr)
            case _:
                if expr.type != BOOL:
                    raise ValueError(f"an expression of type {expr.type} is not a test")
                return self.known(expr).value

    def _compare(self, expr: ir.Compare) -> str:
        if not (facts.is_interval(expr.left) or facts.is_interval(expr.right)):
            return f"({self.known(expr.left).value} {_COMPARE[expr.operator]} {self.known(expr.right).value})"
        left, right = self.range(expr.left), self.range(expr.right)
        both = f"{left.present} AND {right.present}"
        match expr.operator:
            case "<":
                return _three(both, f"{left.high} < {right.low}", f"{left.low} >= {right.high}")
            case "<=":
                return _three(both, f"{left.high} <= {right.low}", f"{left.low} > {right.high}")
            case ">":
                return _three(both, f"{left.low} > {right.high}", f"{left.high} <= {right.low}")
            case ">=":
                return _three(both, f"{left.low} >= {right.high}", f"{left.high} < {right.low}")
            case "==":
                return _three(both, _same(left, right), _apart(left, right))
            case "!=":
                return _three(both, _apart(left, right), _same(left, right))
            case _:
                raise ValueError(f"`{expr.operator}` is not a comparison")

    def _is_state(self, expr: ir.IsState) -> str:
        present, absent = self._presence(expr.operand)
        match expr.state:
            case "present":
                return f"CASE WHEN {present} THEN TRUE WHEN {absent} THEN FALSE END"
            case "absent":
                return f"CASE WHEN {absent} THEN TRUE WHEN {present} THEN FALSE END"
            case "known":
                return f"CASE WHEN {present} OR {absent} THEN TRUE END"
            case _:
                raise ValueError(f"`{expr.state}` is not a state to ask for")

    def _presence(self, expr: ir.Expr) -> tuple[str, str]:
        if facts.is_interval(expr):
            interval = self.range(expr)
            return interval.present, interval.absent
        if isinstance(expr, ir.Field):
            return self._has_state(expr, FieldState.PRESENT), self._has_state(expr, FieldState.ABSENT)
        value = self.known(expr)
        return f"({value.value} IS NOT NULL)", value.absent

    def _has_state(self, expr: ir.Field, state: FieldState) -> str:
        code = STATE_ORDER.index(state)
        return f"(({sql_text.state(self.scope[expr.row].alias, expr.name)} = {code}) IS TRUE)"

    def _in(self, expr: ir.In) -> str:
        item = self.known(expr.item).value
        if isinstance(expr.collection, ir.ListConst):
            if not expr.collection.items:
                return f"CASE WHEN {item} IS NOT NULL THEN FALSE END"
            listed = ", ".join(sql_text.literal(c.value, c.type) for c in expr.collection.items)
            return f"({item} IN ({listed}))"
        held = self.known(expr.collection).value
        return f"CASE WHEN {item} IS NOT NULL AND {held} IS NOT NULL THEN list_contains({held}, {item}) END"

    def _any_item(self, expr: ir.AnyItem) -> str:
        if facts.is_relational(expr.where):
            raise ValueError("the condition of `any` and `all` looks into no inventory")
        held, variable = self.known(expr.collection).value, self.statement.variable()
        inner = Lowering(self.statement, self.frame, self.scope, {**self.items, expr.item: variable})
        code = f"CASE ({inner.truth(expr.where)}) WHEN TRUE THEN 2 WHEN FALSE THEN 0 ELSE 1 END"
        strongest = f"list_max(list_transform({held}, lambda {variable}: {code}))"
        # a list without items has no strongest, one without a value has none either
        return (
            f"CASE {strongest} WHEN 2 THEN TRUE WHEN 1 THEN NULL WHEN 0 THEN FALSE"
            f" ELSE CASE WHEN {held} IS NOT NULL THEN FALSE END END"
        )

    # ---- values

    def known(self, expr: ir.Expr) -> Known:
        """Return the value as far as it is known exactly."""
        match expr:
            case _ if facts.is_constant(expr):
                return self._constant(expr)
            case ir.Field(row=row, name=name, type=type_):
                column = sql_text.column(self.scope[row].alias, name, type_)
                return Known(column, self._has_state(expr, FieldState.ABSENT))
            case ir.Item(name=name):
                return Known(self.items[name])
            case ir.MapGet(target=target, key=key, type=type_):
                return self._map_get(target, key, type_)
            case ir.Else() | ir.Aggregate() if facts.is_interval(expr):
                return self._exact(expr)
            case ir.Else(operand=operand, fallback=fallback):
                first, second = self.known(operand), self.known(fallback)
                chosen = f"COALESCE({first.value}, CASE WHEN {first.absent} THEN {second.value} END)"
                return Known(chosen, _both(first.absent, second.absent))
            case ir.Arith():
                return Known(self._arithmetic(expr))
            case ir.Call():
                return self._call(expr)
            case _:
                return Known(self.truth(expr))

    def _constant(self, expr: ir.Expr) -> Known:
        cell = closure.compile_value(expr, self.statement.bindings)({}, closure.NOWHERE)
        if cell.value is None:
            return Known(sql_text.null(expr.type), "TRUE" if cell.state is FieldState.ABSENT else NEVER)
        return Known(sql_text.literal(cell.value, expr.type))

    def _map_get(self, target: ir.Expr, key: ir.Expr, type_: Type) -> Known:
        if isinstance(target.type, RecordOf):
            record, part = self.known(target), sql_text.extracted(self.known(target).value, closure.literal_text(key))
            none = f"({record.value} IS NOT NULL AND {part} IS NULL)"
            return Known(part, none if record.absent == NEVER else f"({record.absent} OR {none})")
        held, name = self.known(target), self.known(key).value
        value = f"{held.value}[{name}]"
        if not facts.is_constant(target):
            value = sql_text.canonical(value, type_)
        missing = f"(NOT map_contains({held.value}, {name})) IS TRUE"
        return Known(value, f"({name} IS NOT NULL AND ({held.absent} OR {missing}))")

    def _exact(self, expr: ir.Expr) -> Known:
        found = self.range(expr)
        value = found.low
        if sql_text.sql_type(expr.type) == "BIGINT":
            value = f"TRY_CAST({value} AS BIGINT)"
        return Known(f"CASE WHEN {found.present} AND {found.low} = {found.high} THEN {value} END", found.absent)

    def _arithmetic(self, expr: ir.Arith) -> str:
        left, right = self.known(expr.left).value, self.known(expr.right).value
        match expr.operator:
            case "+" | "-" | "*":
                wide = f"CAST({left} AS HUGEINT) {expr.operator} CAST({right} AS HUGEINT)"
            case "/":
                wide = f"CAST({left} AS HUGEINT) // NULLIF(CAST({right} AS HUGEINT), 0)"
            case _:
                raise ValueError(f"`{expr.operator}` is not an arithmetic operator")
        return f"TRY_CAST({wide} AS BIGINT)"

    def _call(self, expr: ir.Call) -> Known:
        first, *others = expr.arguments
        fresh = self.statement.variable
        match expr.function:
            case "matches" | "glob" as name:
                pattern = closure.literal_text(others[0])
                written = patterns.glob_pattern(pattern) if name == "glob" else pattern
                return Known(f"regexp_full_match({self.known(first).value}, {sql_text.text(written)})")
            case "cidr_contains":
                network = closure.literal_network(first)
                return Known(networks.contains_sql(network, self.known(others[0]).value, fresh))
            case "semver_compare":
                return Known(versions.compare_sql(self.known(first).value, self.known(others[0]).value, fresh))
            case "sample":
                return Known(sampling.sampled_sql(closure.literal_border(others[0]), self.known(first).value))
            case "json":
                found = json_text.found_sql(closure.literal_text(others[0]), self.known(first).value, fresh)
                # within a test of a list it hangs on the item, and can't be a column of the row
                once = found if self.items else self.frame.hoist(found)
                return Known(f"({once}).value", f"(({once}).absent IS TRUE)")
            case functions.SEVERAL:
                parts = [self.known(each).value for each in expr.arguments]
                known = " AND ".join(f"{part} IS NOT NULL" for part in parts)
                return Known(f"CASE WHEN {known} THEN [{', '.join(parts)}] END")
            case name:
                return Known(_FUNCTIONS[name].format(*(self.known(a).value for a in expr.arguments)))

    # ---- intervals

    def range(self, expr: ir.Expr) -> Range:
        """Return the value as an interval; each part is cheap to repeat."""
        match expr:
            case ir.Aggregate():
                return sql_related.aggregate(self, expr)
            case ir.Else(operand=operand, fallback=fallback) if facts.is_interval(expr):
                first, second = self.range(operand), self.range(fallback)
                low = f"CASE WHEN {first.present} THEN {first.low} WHEN {first.absent} THEN {second.low} END"
                high = f"CASE WHEN {first.present} THEN {first.high} WHEN {first.absent} THEN {second.high} END"
                present = f"({first.present} OR ({first.absent} AND {second.present}))"
                return Range(self.frame.hoist(low), self.frame.hoist(high), present, _both(first.absent, second.absent))
            case _:
                found = self.known(expr)
                value = found.value if isinstance(expr, ir.Const | ir.Field) else self.frame.hoist(found.value)
                return Range(value, value, f"({value} IS NOT NULL)", found.absent)


def _both(left: str, right: str) -> str:
    return NEVER if NEVER in (left, right) else f"({left} AND {right})"


def _three(condition: str, true: str, false: str) -> str:
    return f"CASE WHEN NOT ({condition}) THEN NULL WHEN {true} THEN TRUE WHEN {false} THEN FALSE END"


def _same(left: Range, right: Range) -> str:
    return f"({left.low} = {left.high} AND {right.low} = {right.high} AND {left.low} = {right.low})"


def _apart(left: Range, right: Range) -> str:
    return f"({left.low} > {right.high} OR {left.high} < {right.low})"

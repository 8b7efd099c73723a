"""Sub-queries that depend on the object and on the inner row at once, in SQL. DuckDB decorrelates them.

With an equality, the rows that belong are joined by hash. The two sets of rows that merely *may* belong (keys without a
value, on either side) can only be compared one by one with the objects. To decide "is there such a row", a few rows are
tried first, and all of them only for the objects that these did not settle.
"""

# ruff: noqa: S608 - this module exists to build SQL; names and values enter it through `sql_text` alone

from __future__ import annotations

from typing import TYPE_CHECKING

from fullcount.compiler import ir
from fullcount.compiler.lower import facts
from fullcount.compiler.lower.sql_frame import NEVER, Frame
from fullcount.dsl.dataclass import dataclass

if TYPE_CHECKING:
    from fullcount.compiler.lower.sql_expr import Lowering

CODE = "max(CASE WHEN s.p THEN 2 WHEN s.p IS NULL THEN 1 ELSE 0 END)"
"""The strongest of a set of truths: 2 true, 1 unknown, 0 false; NULL for an empty set."""

_FEW = 64


@dataclass(frozen=True, slots=True)
class _Target:
    """The equality that a sub-query is joined by, and what else its rows must satisfy."""

    key: ir.Expr
    other: str
    rest: ir.Expr


@dataclass(frozen=True, slots=True)
class _Set:
    """Some of the rows: those whose key satisfies `… {after}`, for the objects that satisfy `before`."""

    before: str
    after: str
    maybe: bool
    """Whether the rows only may belong, because a key has no value."""


def _target(outer: Lowering, expr: ir.Some | ir.Aggregate) -> _Target | None:
    parts = facts.conjuncts(expr.where)
    for position, part in enumerate(parts):
        found = facts.join(part, expr.row)
        if found is not None and facts.free_rows(found.other):
            rest = facts.conjunction(parts[:position] + parts[position + 1 :])
            return _Target(found.key, outer.known(found.other).value, rest)
    return None


def _sets(target: _Target, complete: bool) -> tuple[_Set, ...]:
    """Return the three sets; of an inventory that is not complete, rows that may belong add nothing."""
    belonging = _Set("TRUE", f"= {target.other}", maybe=False)
    if not complete:
        return (belonging,)
    keyless = _Set("TRUE", "IS NULL", maybe=True)
    to_keyless_object = _Set(f"{target.other} IS NULL", "IS NOT NULL", maybe=True)
    return belonging, keyless, to_keyless_object


def selections(outer: Lowering, expr: ir.Some | ir.Aggregate, select: str, complete: bool) -> list[str]:
    """Return what is selected from each set of the rows that belong or may; together the sets are all that matter."""
    target = _target(outer, expr)
    if target is None:
        return [f"(SELECT {select} FROM {rows(outer, expr, expr.where)})"]
    return [f"(SELECT {select} FROM {_rows_of(outer, expr, target, one)})" for one in _sets(target, complete)]


def code(outer: Lowering, expr: ir.Some, complete: bool) -> str:
    """Return the column with the `CODE` of all rows that matter."""
    target = _target(outer, expr)
    if target is None:
        return outer.frame.hoist(f"(SELECT {CODE} FROM {rows(outer, expr, expr.where)})")
    belonging, *possible = _sets(target, complete)
    codes = [outer.frame.hoist(f"(SELECT {CODE} FROM {_rows_of(outer, expr, target, belonging)})")]
    for one in possible:
        few = _few(outer, expr, target, one)
        tried = outer.frame.hoist(f"(SELECT {CODE} FROM {_rows_of(outer, expr, target, one, few)})")
        unsettled = _Set(f"{one.before} AND {tried} IS DISTINCT FROM 1", one.after, one.maybe)
        codes += [tried, outer.frame.hoist(f"(SELECT {CODE} FROM {_rows_of(outer, expr, target, unsettled)})")]
    return codes[0] if len(codes) == 1 else outer.frame.hoist(f"greatest({', '.join(codes)})")


def _few(outer: Lowering, expr: ir.Some, target: _Target, one: _Set) -> str:
    """Return a few rows of a set, which ones does not matter, that are not excluded by what they are themselves."""
    inner, frame = inside(outer, expr)
    own = tuple(part for part in facts.conjuncts(target.rest) if facts.free_rows(part) <= {expr.row})
    truth, key = inner.truth(facts.conjunction(own)), inner.known(target.key).value
    return outer.statement.common(
        f"SELECT {frame.alias}.* FROM {frame.from_item()}"
        f" WHERE ({truth}) IS NOT FALSE AND {key} {one.after} LIMIT {_FEW}"
    )


def _rows_of(
    outer: Lowering, expr: ir.Some | ir.Aggregate, target: _Target, one: _Set, source: str | None = None
) -> str:
    inner, frame = inside(outer, expr, source)
    truth = inner.truth(target.rest)
    if one.maybe:
        truth = f"CASE WHEN {truth} IS FALSE THEN FALSE END"
    condition = f"{one.before} AND {inner.known(target.key).value} {one.after}"
    return f"(SELECT {truth} AS p, {value(inner, expr)} FROM {frame.from_item()} WHERE {condition}) s"


def rows(outer: Lowering, expr: ir.Some | ir.Aggregate, where: ir.Expr) -> str:
    """Return the FROM item `s` with the truth `p` of each row, its value `v` and whether that is absent, `a`."""
    inner, frame = inside(outer, expr)
    truth = inner.truth(where)
    return f"(SELECT {truth} AS p, {value(inner, expr)} FROM {frame.from_item()}) s"


def value(inner: Lowering, expr: ir.Some | ir.Aggregate) -> str:
    """Return the columns `v` and `a` of what is aggregated."""
    if isinstance(expr, ir.Some) or expr.of is None:
        return f"NULL AS v, {NEVER} AS a"
    found = inner.known(expr.of)
    return f"{found.value} AS v, {found.absent} AS a"


def inside(outer: Lowering, expr: ir.Some | ir.Aggregate, source: str | None = None) -> tuple[Lowering, Frame]:
    """Open a frame over the rows that a quantifier ranges over, or over some of them."""
    frame = outer.statement.frame(expr.inventory, source)
    return outer.inside(expr.row, frame), frame

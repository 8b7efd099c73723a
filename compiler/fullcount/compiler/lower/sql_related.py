"""`some` and the aggregates in SQL: sub-queries over other inventories, as joins on equality wherever the rule has one.

A row of another inventory belongs (true), may belong (NULL) or does not belong. An equality `x.key == other` of a
`where` makes three sets of rows, so that DuckDB never has to compare all rows with all rows for it:

- rows whose key equals a known `other`: joined by hash; they belong as far as the rest of the `where` says;
- rows whose key has no value: they may belong to anything that the rest does not exclude;
- all rows, for an object whose `other` has no value: each may belong if the rest does not exclude it.

The three sets are disjoint for each object. Where the rest is about the inner row alone, each is computed once for the
whole statement, here; otherwise `sql_correlated.py` asks for each object.
"""

# ruff: noqa: S608 - this module exists to build SQL; names and values enter it through `sql_text` alone

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING

from fullcount.compiler import ir
from fullcount.compiler.lower import facts, sql_correlated, sql_summary
from fullcount.compiler.lower.sql_frame import Range

if TYPE_CHECKING:
    from fullcount.compiler.lower.sql_expr import Lowering

_MOST_KEYS = 2
"""Sets for every combination of keys without a value grow threefold with each key; beyond this, one key is joined."""


def some(outer: Lowering, expr: ir.Some) -> str:
    """Return the truth of "a row exists"."""
    parts = facts.split(expr.where, expr.row)
    complete = outer.statement.relation(expr.inventory).complete
    if parts.mixed or len(parts.keys) > _MOST_KEYS:
        return _truth_of_code(sql_correlated.code(outer, expr, complete), "TRUE", "TRUE", complete)
    given = outer.truth(facts.conjunction(parts.outer))
    holds, may_hold = f"({given} IS TRUE)", f"({given} IS NOT FALSE)"
    own = facts.conjunction(parts.own)
    if not parts.keys:
        code = f"(SELECT {sql_correlated.CODE} FROM {sql_correlated.rows(outer, expr, own)})"
        return _truth_of_code(outer.frame.hoist(code), holds, may_hold, complete)
    certain, possible = _keyed_some(outer, expr, parts.keys, own)
    if parts.outer:
        possible = f"{certain} OR {possible}"
    found = f"CASE WHEN {holds} AND {certain} THEN TRUE"
    return f"{found} WHEN {may_hold} AND ({possible}) THEN NULL ELSE FALSE END" if complete else f"{found} END"


def _truth_of_code(code: str, holds: str, may_hold: str, complete: bool) -> str:
    found = f"CASE WHEN {code} = 2 AND {holds} THEN TRUE"
    return f"{found} WHEN {code} >= 1 AND {may_hold} THEN NULL ELSE FALSE END" if complete else f"{found} END"


def _keyed_some(outer: Lowering, expr: ir.Some, keys: tuple[facts.Join, ...], own: ir.Expr) -> tuple[str, str]:
    """Return the tests that a row surely matches, and that a row may match."""
    others = [outer.known(key.other).value for key in keys]
    inner, frame = sql_correlated.inside(outer, expr)
    columns = [f"{inner.known(key.key).value} AS k{i}" for i, key in enumerate(keys)]
    truth = inner.truth(own)
    rows = outer.statement.common(
        f"SELECT * FROM (SELECT {', '.join(columns)}, {truth} AS p FROM {frame.from_item()}) s WHERE s.p IS NOT FALSE"
    )
    all_keys = tuple(range(len(keys)))
    known = " AND ".join(f"k{i} IS NOT NULL" for i in all_keys)
    certain = _among(others, all_keys, f"SELECT {{}} FROM {rows} WHERE p AND {known}")
    unclear = _among(others, all_keys, f"SELECT {{}} FROM {rows} WHERE p IS NULL AND {known}")
    return certain, " OR ".join([unclear, *_without_value(others, rows)])


def _among(others: list[str], matched: tuple[int, ...], select: str) -> str:
    """Return the test that the outer values of the matched keys are among the selected ones, which have no NULL.

    Several keys are compared as one struct: DuckDB's mark join on several columns does not hash.
    """
    sought = ", ".join(others[i] for i in matched)
    keys = ", ".join(f"k{i}" for i in matched)
    if len(matched) > 1:
        sought, keys = f"row({sought})", f"row({keys})"
    return f"({sought} IN ({select.format(keys)}))"


def _without_value(others: list[str], rows: str) -> Iterator[str]:
    """Yield tests for a row that matches because each key is equal, or has no value on one of the sides."""
    for ways in product(("equal", "row", "object"), repeat=len(others)):
        matched = tuple(i for i, way in enumerate(ways) if way == "equal")
        if len(matched) == len(others):
            continue
        in_row = [f"k{i} IS NULL" for i, way in enumerate(ways) if way == "row"]
        in_object = [f"{others[i]} IS NULL" for i, way in enumerate(ways) if way == "object"]
        conditions = " AND ".join([*in_row, *(f"k{i} IS NOT NULL" for i in matched)]) or "TRUE"
        if matched:
            test = _among(others, matched, f"SELECT {{}} FROM {rows} WHERE {conditions}")
        else:
            test = f"(SELECT count(*) > 0 FROM {rows} WHERE {conditions})"
        yield "(" + " AND ".join([*in_object, test]) + ")"


def aggregate(outer: Lowering, expr: ir.Aggregate) -> Range:
    """Return the interval of an aggregate."""
    complete = outer.statement.relation(expr.inventory).complete
    parts = facts.split(expr.where, expr.row)
    summary = sql_summary.summary(expr)
    own_value = expr.of is None or facts.free_rows(expr.of) <= {expr.row}
    if len(parts.keys) == 1 and own_value and not parts.mixed and not parts.outer:
        columns = _keyed_aggregate(outer, expr, parts.keys[0], facts.conjunction(parts.own), summary)
    else:
        columns = sql_correlated.selections(outer, expr, sql_summary.packed(summary), complete)
    return sql_summary.interval(outer.frame, expr, [outer.frame.hoist(c) for c in columns], complete)


def _keyed_aggregate(
    outer: Lowering, expr: ir.Aggregate, key: facts.Join, own: ir.Expr, summary: dict[str, str]
) -> list[str]:
    other = outer.known(key.other).value
    inner, frame = sql_correlated.inside(outer, expr)
    column, truth, value = inner.known(key.key).value, inner.truth(own), sql_correlated.value(inner, expr)
    rows = outer.statement.common(
        f"SELECT * FROM (SELECT {column} AS k, {truth} AS p, {value} FROM {frame.from_item()}) s WHERE s.p IS NOT FALSE"
    )
    packed = sql_summary.packed(summary)
    groups = outer.statement.common(f"SELECT s.k, {packed} AS z FROM {rows} s WHERE s.k IS NOT NULL GROUP BY s.k")
    possible = f"SELECT k, CAST(NULL AS BOOLEAN) AS p, v, a FROM {rows}"
    keyless = f"(SELECT {packed} FROM ({possible} WHERE k IS NULL) s)"
    everything = f"(SELECT {packed} FROM ({possible}) s)"
    return [
        f"(SELECT g.z FROM {groups} g WHERE g.k = {other})",
        f"CASE WHEN {other} IS NOT NULL THEN {keyless} END",
        f"CASE WHEN {other} IS NULL THEN {everything} END",
    ]

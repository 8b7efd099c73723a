"""The lowerings agree on many rows too, where DuckDB works in several vectors and threads and picks other joins."""

from __future__ import annotations

from random import Random

import duckdb
import pytest
from tests.support import snapshots
from tests.support.expressions import POOLS
from tests.support.lowered import both, field
from tests.support.worlds import BINDINGS, ROW_ID, UNKNOWN_STATES, rule_of, verdicts

from fullcount.compiler import ir
from fullcount.compiler.lower.sql import select_statement
from fullcount.compiler.lower.world import Related
from fullcount.compiler.types import BOOL, DECIMAL, INT, TEXT, TIMESTAMP, FieldType
from fullcount.compiler.values import ABSENT, Cell, present

FIELDS = {"owner": TEXT, "team": TEXT, "active": BOOL, "age": INT, "amount": DECIMAL, "seen": TIMESTAMP}
SCHEMA = {name: {f: FieldType(t, optional=True) for f, t in FIELDS.items()} for name in ("base", "people")}


def of(row: str, name: str) -> ir.Field:
    return field(row, name, FIELDS[name], "base" if row == "a" else "people")


def same(name: str) -> ir.Expr:
    return ir.Compare("==", of("p", name), of("a", name))


def some(*parts: ir.Expr) -> ir.Expr:
    return ir.Some("people", "p", both(*parts))


def aggregate(function: str, name: str | None, *parts: ir.Expr) -> ir.Aggregate:
    of_type = INT if name is None else FIELDS[name]
    return ir.Aggregate(function, "people", "p", both(*parts), None if name is None else of("p", name), of_type)


LATER = ir.Compare(">", of("p", "seen"), of("a", "seen"))
RULES = {
    "one key": ir.Not(some(same("owner"), of("p", "active"))),
    "two keys": ir.Not(some(same("owner"), same("team"), of("p", "active"))),
    "a key and both rows": ir.Not(some(same("owner"), LATER)),
    "no key": some(LATER, of("p", "active")),
    "a count by key": ir.Compare("<", aggregate("count", None, same("owner"), of("p", "active")), ir.Const(2, INT)),
    "a maximum by key": ir.Compare("<", aggregate("max", "age", same("owner"), same("owner")), of("a", "age")),
    "a sum by key and both rows": ir.Compare(">=", aggregate("sum", "amount", same("team"), LATER), of("a", "amount")),
}


def made_rows(random: Random, number: int, first: int) -> list[dict[str, Cell]]:
    """Rows with distinct-enough keys, in which one cell in fifty is absent and one in fifty is unknown."""

    def cell(name: str) -> Cell:
        fate = random.random()
        if fate < 0.02:
            return ABSENT
        if fate < 0.04:
            return Cell(random.choice(UNKNOWN_STATES), None)
        if FIELDS[name] == TEXT:
            return present(f"{name}-{random.randrange(300)}")
        return present(random.choice(POOLS[FIELDS[name]]))

    return [{ROW_ID: present(first + i), **{name: cell(name) for name in FIELDS}} for i in range(number)]


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("name", RULES)
def test_the_lowerings_agree_on_thousands_of_rows(tmp_path, name, complete):
    """Row by row, from Parquet, with values that are absent or unknown on a few rows of both sides."""
    random = Random(7)
    people = made_rows(random, 150, 1_000_000)
    if name != "no key":
        people = [row for row in people if row["owner"].value is not None]
    view = {"base": Related(made_rows(random, 2200, 0), True), "people": Related(people, complete)}
    rule = rule_of(SCHEMA, RULES[name])
    relations = {
        inventory: snapshots.write(
            tmp_path / f"{inventory}.parquet",
            {ROW_ID: FieldType(INT), **SCHEMA[inventory]},
            related.rows,
            complete=related.complete,
        )
        for inventory, related in view.items()
    }
    with duckdb.connect(config={"threads": 2}) as connection:
        statement = select_statement(rule.workflow, rule.proposal, relations, BINDINGS)
        by_sql = {row_id: truth for row_id, _, truth, *_ in connection.execute(statement).fetchall()}
    by_closure = {row_id: verdict.rule for row_id, verdict in verdicts(rule, view).items()}
    assert by_sql == by_closure
    if complete:
        expected = {True, None} if name == "no key" else {True, False, None}
        assert set(by_closure.values()) == expected, "the rows should be able to show a difference"

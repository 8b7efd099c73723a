"""The pushed-down scope on SQLite: it may let too much through, never too little."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.profiles import examples
from tests.support.sql import File, Source, sqlite_settings

from fullcount.compiler import ir
from fullcount.compiler.lower.closure import compile_truth
from fullcount.compiler.lower.world import Bindings, Related
from fullcount.compiler.types import BOOL, INT, TEXT, ListOf
from fullcount.runtime.collect.coerce import coerce_cell

FIELDS = {"id": "int", "env": "text", "owner": "text?", "n": "int?", "on": "bool"}
TYPES = {"env": TEXT, "owner": TEXT, "n": INT, "on": BOOL}
RESOURCE = {"table": "accounts", "key": ["id"], "fields": FIELDS}
CREATE = 'CREATE TABLE accounts (id INTEGER PRIMARY KEY, env TEXT COLLATE NOCASE, owner, n, "on" BOOLEAN)'
RAW = st.sampled_from([None, "a", "A", "a ", "", "1", 0, 1, 2, 1.0, b"a", "true"])
CONSTANTS = {TEXT: ["a", "A", "", "1", "a\0"], INT: [0, 1, -1], BOOL: [True, False]}


def field(name: str) -> ir.Field:
    return ir.Field(ir.SELF, "accounts", name, TYPES[name], name in {"owner", "n"})


@st.composite
def conjuncts(draw: st.DrawFn) -> ir.Expr:
    """One conjunct of any of the shapes that are pushed down, and one that is not."""
    name = draw(st.sampled_from(sorted(TYPES)))
    constant = ir.Const(draw(st.sampled_from(CONSTANTS[TYPES[name]])), TYPES[name])
    shape = draw(st.integers(0, 6))
    if shape == 0:
        return ir.Compare(draw(st.sampled_from(["==", "!="])), field(name), constant)
    if shape == 1:
        return ir.Compare(draw(st.sampled_from(["==", "!="])), constant, field(name))
    if shape == 2:
        return ir.In(field(name), ir.ListConst((constant,) * draw(st.integers(0, 2)), ListOf(TYPES[name])))
    if shape == 3:
        state = ir.IsState(field(name), draw(st.sampled_from(["present", "absent", "known"])))
        return ir.Not(state) if draw(st.booleans()) else state
    if shape == 4:
        return draw(st.sampled_from([field("on"), ir.Not(field("on"))]))
    if shape == 5:
        return ir.Compare("<", field(name), constant)
    return ir.Or((ir.Compare("==", field(name), constant), field("on")))


class NoWorld:
    def rows(self, inventory: str, equal: object) -> Related:
        return Related((), complete=True)


def scope_truths(
    scope: ir.Expr, rows: list[tuple[object, ...]], declared: Mapping[str, object]
) -> dict[object, bool | None]:
    """What the reference says of each row's scope."""
    truth = compile_truth(scope, Bindings({}, 0))
    natural = {"on": lambda raw: bool(raw) if type(raw) is int and raw in {0, 1} else raw}
    found = {}
    for row in rows:
        cells = {
            name: coerce_cell(declared[name], natural.get(name, lambda raw: raw)(raw))
            for name, raw in zip(FIELDS, row, strict=True)
        }
        found[row[0]] = truth({ir.SELF: cells}, NoWorld())
    return found


@pytest.mark.requirement("R6", "R38")
@examples(1000)
@given(st.lists(conjuncts(), min_size=1, max_size=3), st.lists(st.tuples(RAW, RAW, RAW, RAW), max_size=12))
def test_no_row_is_left_out_whose_scope_is_not_false_and_the_count_is_of_what_comes(tmp_path_factory, parts, raws):
    """Every row comes whose scope is true or unknown, and the exact total counts just the rows that come."""
    scope = ir.And(tuple(parts)) if len(parts) > 1 else parts[0]
    path = tmp_path_factory.mktemp("push") / "x.db"
    file = File(path, CREATE)
    if raws:
        file.insert(*((index, *raw) for index, raw in enumerate(raws)))
    stored = file.rows("SELECT * FROM accounts")
    source = Source(sqlite_settings(path, RESOURCE))

    async def read():
        found = await source.read_all(scope)
        await source.close()
        return found

    found = asyncio.run(read())
    truths = scope_truths(scope, stored, source.resource.fields)
    wanted = {key for key, truth in truths.items() if truth is not False}
    assert wanted <= set(found.keys)
    if found.info.scope_pushed_down:
        assert wanted == set(found.keys)  # else the count would disagree with what the collector keeps
    assert found.total == len(found.rows)


async def test_a_scope_is_called_pushed_down_only_as_a_whole(file, source):
    """One conjunct that stays behind makes it no."""
    production = ir.Compare(
        "==", ir.Field(ir.SELF, "accounts", "environment", TEXT, False), ir.Const("production", TEXT)
    )
    less = ir.Compare("<", ir.Field(ir.SELF, "accounts", "environment", TEXT, False), ir.Const("q", TEXT))
    whole, part, none = [await source.read_all(scope) for scope in (production, ir.And((production, less)), less)]
    assert [read.info.scope_pushed_down for read in (whole, part, none)] == [True, False, False]
    assert [read.total for read in (whole, part, none)] == [12, 12, 25]
    assert {"production"} == {row["environment"] for row in whole.rows}

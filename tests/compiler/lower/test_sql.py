"""The statement: what it returns, what it refuses, and that neither data nor session can change what it means."""

from __future__ import annotations

from datetime import UTC, datetime

import duckdb
import pytest
from tests.support import snapshots
from tests.support.lowered import const, field, truth_of
from tests.support.worlds import BINDINGS, ROW_ID, inventory, rule_of

from fullcount.compiler import ir
from fullcount.compiler.lower import sql_text
from fullcount.compiler.lower.closure import compile_truth
from fullcount.compiler.lower.sql import (
    EXCEPTED,
    FLOOR,
    IN_SCOPE,
    PROTECTED,
    RULE,
    Relation,
    filter_statement,
    select_statement,
)
from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.types import BOOL, DATE, INT, TEXT, TIMESTAMP, FieldType, ListOf, MapOf
from fullcount.compiler.values import Cell, FieldState, present

HOSTILE = [
    "it's",
    '"',
    "'; DROP TABLE t; --",
    "a\nb",
    "\0",
    "x\0y\0",
    "\\",
    "\\'",
    "😀",
    "{key}",
    "{}",
    "%s",
    "$1",
    "--",
    "/*",
    "e'\\x00'",
]


def at(*when: int) -> int:
    return int(datetime(*when, tzinfo=UTC).timestamp()) * 1_000_000


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.requirement("R40")
def test_no_text_ends_its_literal(text):
    """Whatever a constant holds, it stays one value: alone, in a list, as a key, as a field's value."""
    assert snapshots.run(f"SELECT {sql_text.text(text)}") == [(text,)]
    assert snapshots.run(f"SELECT {sql_text.literal((text,), ListOf(TEXT))}") == [([text],)]
    assert snapshots.run(f"SELECT {sql_text.literal({text: text}, MapOf(TEXT))}[{sql_text.text(text)}]") == [(text,)]
    name = field("a", "name", TEXT)
    same = ir.Compare("==", name, const(text, TEXT))
    assert truth_of(same, {"name": text}) is True
    assert truth_of(same, {"name": text + " "}) is False
    people = ir.Some(
        "people", "p", ir.And((ir.Compare("==", field("p", "id", TEXT, "people"), const(text, TEXT)), same))
    )
    assert truth_of(people, {"name": text}, people=([{"id": text}], True)) is True


@pytest.mark.parametrize("name", [n for n in HOSTILE if "\0" not in n])
@pytest.mark.requirement("R40")
def test_no_name_ends_its_identifier(name):
    """A field may be called anything."""
    assert truth_of(ir.Compare("==", field("a", name, TEXT), const("x", TEXT)), {name: "x"}) is True


def test_what_cannot_be_written_is_refused():
    """A name with NUL, half a surrogate pair, a number beyond 64 bits, a value of another type."""
    with pytest.raises(ValueError, match="NUL"):
        sql_text.identifier("a\0b")
    for value, of_type in (("\ud800", TEXT), (2**63, INT), (True, INT), (1, BOOL), (1, TEXT), ("1", INT)):
        with pytest.raises(ValueError, match=r"is not|does not fit|surrogate"):
            sql_text.literal(value, of_type)


FIELDS = {"seen": FieldType(TIMESTAMP), "day": FieldType(DATE), "times": FieldType(ListOf(TIMESTAMP))}
ROW = {
    ROW_ID: present(1),
    "seen": present(at(2026, 3, 29, 1, 30)),
    "day": present(20_541),
    "times": present((at(2026, 10, 25, 0, 30),)),
}
TIMES = ir.And(
    (
        ir.Compare("==", field("a", "seen", TIMESTAMP), const(at(2026, 3, 29, 1, 30), TIMESTAMP)),
        ir.Compare("==", field("a", "day", DATE), const(20_541, DATE)),
        ir.In(const(at(2026, 10, 25, 0, 30), TIMESTAMP), field("a", "times", ListOf(TIMESTAMP))),
    )
)


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Europe/Berlin", "Pacific/Apia"])
def test_the_time_zone_of_the_session_does_not_matter(tmp_path, zone):
    """Instants and days are compared as numbers."""
    rule = rule_of({"base": FIELDS}, TIMES)
    relation = snapshots.write(tmp_path / "base.parquet", {ROW_ID: FieldType(INT), **FIELDS}, [ROW])
    statement = select_statement(rule.workflow, rule.proposal, {"base": relation}, BINDINGS)
    with duckdb.connect() as connection:
        connection.execute(f"SET TimeZone = '{zone}'")
        assert connection.execute(statement).fetchall() == [(1, True, True, False, False, False)]


def test_the_statement_names_its_columns_and_gives_keys_in_canonical_form(tmp_path):
    """Keys come first; a key that is a timestamp is the number that the closure sees."""
    fields = {"rule": FieldType(TEXT), "seen": FieldType(TIMESTAMP)}
    rule = rule_of({"base": fields}, ir.TRUE)
    inventories = {"base": inventory("base", fields)}
    object.__setattr__(inventories["base"], "key", ("rule", "seen"))
    object.__setattr__(rule.workflow, "inventories", inventories)
    row = {ROW_ID: present(1), "rule": present("r"), "seen": present(-5)}
    relation = snapshots.write(tmp_path / "base.parquet", {ROW_ID: FieldType(INT), **fields}, [row])
    with duckdb.connect() as connection:
        answer = connection.execute(select_statement(rule.workflow, rule.proposal, {"base": relation}, BINDINGS))
        assert [column[0] for column in answer.description] == [
            "rule",
            "seen",
            IN_SCOPE,
            RULE,
            EXCEPTED,
            PROTECTED,
            FLOOR,
        ]
        assert answer.fetchall() == [("r", -5, True, True, False, False, False)]


@pytest.mark.parametrize("by", ["excepts", "protections"])
def test_what_keeps_and_is_not_proven_false_is_not_false(tmp_path, by):
    """`excepted` and `protected` are truths of their own: unknown where the condition is, false without a condition."""
    held = field("a", "held", BOOL)
    rule = rule_of({"base": {"held": FieldType(BOOL)}}, ir.TRUE, **{by: [held, const(False, BOOL)]})
    cells = (present(True), present(False), Cell(FieldState.FORBIDDEN, None))
    rows = [{ROW_ID: present(i), "held": cell} for i, cell in enumerate(cells)]
    relation = snapshots.write(tmp_path / "b.parquet", {ROW_ID: FieldType(INT), "held": FieldType(BOOL)}, rows)
    found = snapshots.run(select_statement(rule.workflow, rule.proposal, {"base": relation}, BINDINGS))
    truths = [(True, False), (False, False), (None, False)]
    expected = truths if by == "excepts" else [(other, truth) for truth, other in truths]
    assert sorted(found) == [(i, True, True, *truths, False) for i, truths in enumerate(expected)]


def test_a_rule_without_the_snapshot_it_needs_is_refused():
    """Nothing is concluded from an inventory that was not read at all."""
    some = ir.Some("people", "p", ir.TRUE)
    rule = rule_of({"base": {}, "people": {}}, some)
    with pytest.raises(ValueError, match="`people`, of which no snapshot was given"):
        select_statement(rule.workflow, rule.proposal, {"base": Relation("t", complete=True)}, BINDINGS)


def test_a_parameter_that_is_not_bound_is_refused_by_both():
    """There is no default that widens."""
    expr = ir.Compare("==", field("a", "name", TEXT), ir.Param("nobody", TEXT))
    rule = rule_of({"base": {"name": FieldType(TEXT)}}, expr)
    unbound = Bindings({}, 0)
    with pytest.raises(KeyError):
        compile_truth(expr, unbound)
    with pytest.raises(KeyError):
        select_statement(rule.workflow, rule.proposal, {"base": Relation("t", complete=True)}, unbound)


def test_fields_that_differ_in_case_only_are_refused():
    """DuckDB would read one for the other."""
    rule = rule_of({"base": {"Name": FieldType(TEXT), "name": FieldType(TEXT)}}, ir.TRUE)
    with pytest.raises(ValueError, match="differ in case only"):
        select_statement(rule.workflow, rule.proposal, {"base": Relation("t", complete=True)}, BINDINGS)


def test_a_filter_gives_the_truth_of_a_test_for_each_row(tmp_path):
    """Scope and canaries are asked of each row, bare."""
    fields = {"env": FieldType(TEXT)}
    cells = (present("production"), present("test"), Cell(FieldState.SOURCE_FAILED, None))
    rows = [{ROW_ID: present(i), "env": cell} for i, cell in enumerate(cells)]
    relation = snapshots.write(tmp_path / "b.parquet", {ROW_ID: FieldType(INT), **fields}, rows)
    scope = ir.Compare("==", field(ir.SELF, "env", TEXT), const("production", TEXT))
    found = snapshots.run(filter_statement(scope, inventory("base", fields), relation, BINDINGS))
    assert sorted(found) == [(0, True), (1, False), (2, None)]

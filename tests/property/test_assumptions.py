"""What is counted of an assumption is what the rule's own meaning says, row by row."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import given
from tests.support.profiles import examples
from tests.support.snapshots import HeldWorld, table
from tests.support.worlds import BINDINGS, Case, cases, relevant, sql_verdicts

from fullcount.compiler import ir
from fullcount.compiler.assumptions import assumptions
from fullcount.compiler.lower.closure import compile_truth
from fullcount.compiler.lower.sql import Relation
from fullcount.compiler.walk import rename_row
from fullcount.runtime.plan.assumed import count_assumed


@pytest.fixture(scope="module")
def sql():
    with duckdb.connect() as connection:
        yield connection


@given(cases())
@examples(300)
def test_counts_are_those_of_the_closure_and_leave_the_selection_alone(sql: duckdb.DuckDBPyConnection, case: Case):
    """For each assumption: of how many rows in scope it could be said, and of how many it is true."""
    rule, view = case.rule, case.view
    fields = relevant(rule)
    before = sql_verdicts(rule, view, sql)
    for name, related in view.items():
        sql.register(f"snapshot_{name}", table(fields[name], related.rows))
    relations = {name: Relation(f"snapshot_{name}", related.complete) for name, related in view.items()}
    assumed = count_assumed(sql, rule.workflow, rule.proposal, relations, BINDINGS)
    sql.execute("SELECT 1").fetchall()  # the result of the count is done with
    held = HeldWorld(view)
    for each in assumed.counted:
        own = each.assumption
        scope = rule.workflow.inventories[own.inventory].scope
        in_scope = compile_truth(ir.TRUE if scope is None else rename_row(scope, ir.SELF, own.row), BINDINGS)
        test = compile_truth(own.test, BINDINGS)
        among = None if own.among is None else compile_truth(own.among, BINDINGS)
        rows = [{own.row: row} for row in view[own.inventory].rows if in_scope({own.row: row}, held) is True]
        said = [env for env in rows if (test(env, held) is not None if among is None else among(env, held) is True)]
        assert (each.rows, each.true) == (len(said), sum(test(env, held) is True for env in said))
    assert sql_verdicts(rule, view, sql) == before


@given(cases())
@examples(200)
def test_only_what_was_read_to_its_end_is_asked(case: Case):
    """Assumptions are about named inventories of the rule, and each is said once."""
    found = assumptions(case.rule.proposal, None)
    assert len({each.said for each in found}) == len(found)
    for each in found:
        assert {each.inventory, each.partner or each.inventory} <= set(case.rule.workflow.inventories)

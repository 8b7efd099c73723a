"""A trace says what the plan says, node by node, and every change that it proposes flips the decision.

Over generated rules, worlds and faithful partial views (`tests/support/worlds.py`): the root of every traced part has
the truth that the plan's statement gives it; every node within has the closure's; and with each proposed change made to
the world in earnest, rows and fields and all, the statement itself comes to the promised verdict.
"""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import event, given
from tests.support.profiles import examples
from tests.support.snapshots import HeldWorld
from tests.support.understanding import decisions, nodes, row_id
from tests.support.worlds import BINDINGS, ROW_ID, Case, cases, sql_verdicts, verdicts

from fullcount.compiler import ir
from fullcount.compiler.lower.closure import compile_truth
from fullcount.compiler.lower.world import Bindings, Related
from fullcount.runtime.understand.decision import Parts, Verdict, verdict_of
from fullcount.runtime.understand.edits import AddRow, DropRow, Finish, SetField, SetParam
from fullcount.runtime.understand.flip import flips

pytestmark = pytest.mark.requirement("R19", "R25")


@pytest.fixture(scope="module")
def sql():
    """One database for all examples."""
    with duckdb.connect(config={"threads": 1}) as connection:
        yield connection


def _parts(told) -> Parts:
    """What the statement says of an object that no list names."""
    return Parts(told.in_scope, told.rule, told.protected, False, told.excepted, told.floor, True)


@given(cases())
@examples(500)
def test_the_root_of_a_trace_has_the_truth_that_the_statement_gives(sql: duckdb.DuckDBPyConnection, case: Case):
    """Scope, rule and exemptions: the traced truth is the plan's, for each object of any view."""
    planned = sql_verdicts(case.rule, case.view, sql)
    for row, _rule, decided, _around in decisions(case):
        told = planned[row_id(row)]
        assert decided.parts == _parts(told)
        assert (decided.verdict is Verdict.CANDIDATE) is (told.before_picks is True)  # a pick is the plan's to say


@given(cases())
@examples(500)
def test_every_node_of_a_trace_has_the_closures_truth(case: Case):
    """No junction, negation or row within says other than what the closure says of the same expression and rows."""
    world = HeldWorld(case.view)
    for _row, _rule, decided, _around in decisions(case):
        for root in decided.nodes:
            for node in nodes(root):
                assert node.truth is compile_truth(node.expr, BINDINGS)(node.env, world)


def changed(case: Case, row, flip):
    """The view as it would be: every row list rewritten by hand, apart from the code under test."""
    view = {name: ([dict(r) for r in related.rows], related.complete) for name, related in case.view.items()}
    for change in flip.changes:
        match change.edit:
            case SetField(inventory=name, key=(key,), name=field, cell=cell):
                (found,) = [r for r in view[name][0] if r[ROW_ID].value == key]
                found[field] = cell
            case AddRow(inventory=name, row=new):
                known = view[name][0][0] if view[name][0] else new
                view[name][0].append({f: new[f] for f in known})
            case DropRow(inventory=name, key=(key,)):
                view[name][0][:] = [r for r in view[name][0] if r[ROW_ID].value != key]
            case Finish(inventory=name):
                view[name] = (view[name][0], True)
    return {name: Related(rows, complete) for name, (rows, complete) in view.items()}


@given(cases())
@examples(1000)
def test_every_proposed_change_flips_the_decision(case: Case):
    """Made in earnest, the changes lead to the verdict that stands beside them, over the rewritten rows."""
    for row, rule, decided, around in decisions(case):
        for flip in flips(rule, row, decided, around):
            event(f"{decided.verdict} -> {flip.becomes}, {len(flip.changes)} facts")
            params = {c.edit.name: c.edit.value for c in flip.changes if isinstance(c.edit, SetParam)}
            found = verdicts(
                case.rule,
                changed(case, row, flip),
                compiler=lambda e, b, p=params: compile_truth(e, Bindings({**b.params, **p}, b.now)),
            )[row_id(row)]
            becomes, _ = verdict_of(_parts(found))
            assert becomes is flip.becomes
            assert becomes is not decided.verdict
            assert isinstance(rule.where, ir.Expr)

"""The theorem that every change must keep: a partial view never selects what the whole would not.

For every world W, every faithful partial view V of it (rows missing, scans cut, fields masked by any of the five states
that are not knowledge) and every rule: `selected(V) ⊆ selected(W)`. And stronger: whatever V answers with true or
false, W answers the same, for each object and each test (scope, rule, exemptions, protections, floors, picks).
Generators are in `tests/support/worlds.py`. If this test finds a rule that breaks it, the lowering is wrong, or the
meaning in `ir.py`.
"""

from __future__ import annotations

from dataclasses import fields, replace
from random import Random

import duckdb
import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from tests.support.profiles import examples
from tests.support.worlds import UNKNOWN_STATES, Case, Verdict, cases, sql_verdicts, verdicts

from fullcount.compiler.lower import closure
from fullcount.compiler.lower.world import Related
from fullcount.compiler.values import ABSENT

pytestmark = pytest.mark.requirement("R19", "R20", "R21")

Verdicts = dict[int, Verdict]


def contradictions(in_view: Verdicts, in_world: Verdicts) -> list[str]:
    """Where the view claims to know what is not so in the world; empty if the theorem holds for these answers."""
    found = []
    for row_id, seen in in_view.items():
        true = in_world[row_id]
        if seen.selected and not true.selected:
            found.append(f"row {row_id} is selected in the view and not in the world")
        for test in fields(Verdict):
            claimed, actual = getattr(seen, test.name), getattr(true, test.name)
            if claimed is not None and claimed is not actual:
                found.append(f"row {row_id}: {test.name} is {claimed} in the view and {actual} in the world")
    return found


@given(cases())
@examples(10_000)
def test_a_partial_view_never_selects_what_the_world_does_not_by_the_closure(case: Case):
    """The closure's answers over a view hold in the world, too."""
    assert contradictions(verdicts(case.rule, case.view), verdicts(case.rule, case.world)) == []


@given(cases())
@examples(2000)
def test_a_partial_view_never_selects_what_the_world_does_not_by_sql(sql: duckdb.DuckDBPyConnection, case: Case):
    """The statement's answers over the snapshots of a view hold over those of the world, too."""
    in_view, in_world = sql_verdicts(case.rule, case.view, sql), sql_verdicts(case.rule, case.world, sql)
    assert contradictions(in_view, in_world) == []


@pytest.fixture(scope="module")
def sql():
    """One database for all examples: each replaces the snapshots of the one before."""
    with duckdb.connect(config={"threads": 1}) as connection:
        yield connection


# ---- the theorem can fail: evaluators with one classic mistake each are caught by the same property


def _complete_whatever_the_read_says(case: Case) -> Verdicts:
    view = {name: Related(related.rows, True) for name, related in case.view.items()}
    return verdicts(case.rule, view)


def _unknown_fields_read_as_absent(case: Case) -> Verdicts:
    view = {
        name: Related(
            [{f: ABSENT if cell.state in UNKNOWN_STATES else cell for f, cell in row.items()} for row in related.rows],
            related.complete,
        )
        for name, related in case.view.items()
    }
    return verdicts(case.rule, view)


class _TwoValued(closure._Compiler):
    def truth(self, expr):
        answer = super().truth(expr)
        return lambda env, world: bool(answer(env, world))


def _unknown_tests_taken_as_false(case: Case) -> Verdicts:
    return verdicts(case.rule, case.view, compiler=lambda expr, bindings: _TwoValued(bindings).truth(expr))


def _exemptions_that_are_unknown_do_not_keep(case: Case) -> Verdicts:
    found = verdicts(case.rule, case.view)
    return {row_id: replace(v, excepted=bool(v.excepted)) for row_id, v in found.items()}


def _protections_that_are_unknown_do_not_keep(case: Case) -> Verdicts:
    found = verdicts(case.rule, case.view)
    return {row_id: replace(v, protected=bool(v.protected)) for row_id, v in found.items()}


def _a_place_that_is_unknown_is_the_last_of_its_group(case: Case) -> Verdicts:
    found = verdicts(case.rule, case.view)
    return {row_id: replace(v, floor=bool(v.floor)) for row_id, v in found.items()}


def _a_place_that_is_unknown_is_among_the_first(case: Case) -> Verdicts:
    found = verdicts(case.rule, case.view)
    return {row_id: replace(v, picked=v.picked is not False) for row_id, v in found.items()}


def _empty_answer_taken_as_unread_scope_without_rows(case: Case) -> Verdicts:
    view = {name: Related(r.rows, r.complete or not r.rows) for name, r in case.view.items()}
    return verdicts(case.rule, view)


@pytest.mark.parametrize(
    "unsound",
    [
        _complete_whatever_the_read_says,
        _unknown_fields_read_as_absent,
        _unknown_tests_taken_as_false,
        _exemptions_that_are_unknown_do_not_keep,
        _protections_that_are_unknown_do_not_keep,
        _a_place_that_is_unknown_is_the_last_of_its_group,
        _a_place_that_is_unknown_is_among_the_first,
        _empty_answer_taken_as_unread_scope_without_rows,
    ],
)
def test_an_evaluator_with_a_classic_mistake_breaks_the_theorem(unsound):
    """The generators are strong enough: a wrong selection is found for each of the mistakes that people make."""

    def selects_wrongly(case: Case) -> bool:
        in_world = verdicts(case.rule, case.world)
        return any(v.selected and not in_world[row_id].selected for row_id, v in unsound(case).items())

    find(
        cases(),
        selects_wrongly,
        settings=settings(
            max_examples=1000, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
        ),
        random=Random(1),
    )

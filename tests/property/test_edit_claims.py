"""`can only shrink` is a theorem: over every generated world and view the edited rule selects nothing more.

The edits are those that people make (`tests/support/edits.py`): conditions and exemptions more or less, thresholds,
operators, scopes and list items moved. What is claimed of an edit is checked on the worlds that Hypothesis finds, by
the closure and by the statement of a plan.
"""

from __future__ import annotations

from random import Random

import duckdb
import pytest
from hypothesis import HealthCheck, Phase, event, find, given, settings
from tests.support.edits import Edited, edits
from tests.support.profiles import examples
from tests.support.worlds import sql_verdicts, verdicts

from fullcount.compiler import implication
from fullcount.runtime.understand.edit import Answer, Side, judge_edit

pytestmark = pytest.mark.requirement("R19", "R20")


@pytest.fixture(scope="module")
def sql():
    """One database for all examples."""
    with duckdb.connect(config={"threads": 1}) as connection:
        yield connection


def judged(edited: Edited):
    """What is claimed of the edit."""
    sides = [Side(rule.workflow, rule.proposal) for rule in (edited.before, edited.after)]
    return judge_edit(*sides)


def selected(found):
    """The ids of the objects that are selected."""
    return {row_id for row_id, verdict in found.items() if verdict.selected}


def broken(edited: Edited) -> list[str]:
    """Where a claim does not hold; empty if it holds over the world and over the view."""
    answer, wrong = judged(edited).answer, []
    for view in (edited.world, edited.view):
        before, after = (selected(verdicts(rule, view)) for rule in (edited.before, edited.after))
        if answer in {Answer.SHRINKS, Answer.SAME} and not after <= before:
            wrong.append(f"{answer}, but {after - before} entered")
        if answer in {Answer.GROWS, Answer.SAME} and not before <= after:
            wrong.append(f"{answer}, but {before - after} left")
    return wrong


@given(edits())
@examples(1500)
def test_what_is_claimed_of_an_edit_holds(edited: Edited):
    """An edit that can only shrink selects a subset, one that can only grow a superset, over any reading."""
    event(str(judged(edited).answer))
    assert broken(edited) == []


@given(edits())
@examples(500)
def test_what_is_claimed_of_an_edit_holds_by_sql(sql: duckdb.DuckDBPyConnection, edited: Edited):
    """The same by the statement that plans are made of."""
    answer = judged(edited).answer
    before, after = (selected(sql_verdicts(rule, edited.view, sql)) for rule in (edited.before, edited.after))
    assert not (answer in {Answer.SHRINKS, Answer.SAME} and not after <= before)
    assert not (answer in {Answer.GROWS, Answer.SAME} and not before <= after)


# ---- the theorem can fail: provers with one classic mistake each are caught by the same property


def _thresholds_the_wrong_way_round(given_: str, wanted: str, down: int, up: int) -> bool:
    return given_ == wanted and down <= 0 and up <= 0


def _any_threshold_will_do(given_: str, wanted: str, down: int, up: int) -> bool:
    return given_ == wanted


@pytest.mark.slow
@pytest.mark.parametrize("mistake", [_thresholds_the_wrong_way_round, _any_threshold_will_do])
def test_a_prover_with_a_classic_mistake_is_caught(monkeypatch, mistake):
    """The generators are strong enough: a false claim is found for each of these mistakes."""
    monkeypatch.setattr(implication, "_follows", mistake)
    find(
        edits(),
        lambda edited: broken(edited) != [],
        settings=settings(
            max_examples=4000, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
        ),
        random=Random(3),
    )


@pytest.mark.parametrize("answer", [Answer.SHRINKS, Answer.GROWS])
def test_claims_are_made(answer):
    """The proof is not empty: it finds edits that can only shrink, and edits that can only grow, and that do so."""

    def really(edited: Edited) -> bool:
        before, after = (selected(verdicts(rule, edited.world)) for rule in (edited.before, edited.after))
        return judged(edited).answer is answer and before != after

    find(
        edits(),
        really,
        settings=settings(
            max_examples=2000, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
        ),
        random=Random(5),
    )

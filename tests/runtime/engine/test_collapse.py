"""The collapse alarm over several nights, through the command line: what is refused, what is said, and the way on."""

from __future__ import annotations

import contextlib
import sqlite3

import pytest
from tests.support.workspaces import WORKFLOW

from fullcount.runtime.approve.identity import Person

EVIDENCE = 3
SMALL = "rows at least 1"


@pytest.fixture
def nights(bench):
    """A feed of twenty people that was read for five nights."""
    for number in range(14):
        bench.sql("hr", "INSERT INTO employees VALUES (?, 1)", f"x{number}")
    bench.rule(people_claims=SMALL)
    bench.plan()
    with contextlib.closing(sqlite3.connect(bench.state)) as db:
        ((question, run_id),) = db.execute("SELECT series, run_id FROM certificates WHERE inventory = 'people'")
    with bench.store() as store:  # four more nights like the first
        certificate = next(each for each in store.certificates(run_id) if each.document.inventory == "people")
        for _ in range(4):
            again = store.begin_run(WORKFLOW, "plan", Person(1, "night"))
            store.record_certificate(again, WORKFLOW, certificate.document, certificate.observed_at, question)
            store.finish_run(again, "waiting", 5, {})
    return bench


def collapse(planned):
    """Return the one finding of a refused plan."""
    (found,) = [finding for refusal in planned["refusals"] for finding in refusal["findings"]]
    assert found["code"] == "FC736"
    return found


@pytest.mark.requirement("R19", "R36")
def test_a_feed_that_fell_far_below_its_series_licenses_nothing_that_rests_on_absence(nights):
    """Night after night, however often it is read; until somebody says that it is meant, and how much."""
    bench = nights
    bench.sql("hr", "DELETE FROM employees WHERE id LIKE 'x%'")
    for _ in range(3):  # what is refused is not counted, so that it never becomes usual
        found = collapse(bench.plan(exits=EVIDENCE))
    assert "has 6 rows, far below what is usual: 20 (median of the last 5 certified readings)" in found["message"]
    assert "with fewer than 18 nothing may rest" in found["message"]
    assert "write `change at most 70%`" in found["ways_on"][1]
    assert found["needed_by"]
    assert "FC736" in bench.run("plan", f"workflows/{WORKFLOW}.fcw").said

    bench.rule(people_claims=f"{SMALL}, change at most 70%")
    allowed = bench.plan()
    assert allowed["plan"]["measurements"]["people"]["series"] == [20] * 5
    assert "far below: allowed by `change at most`" in bench.run("show", allowed["plan_id"]).words
    bench.approve(allowed)
    assert bench.run("apply", allowed["plan_id"]).exit == 0  # the act asks it again, by what the plan holds
    assert bench.run("verify").exit == 0


def test_steps_that_each_pass_are_seen_together(nights):
    """`change at most 40%` looks at one night; two such nights are more than it allows under what is usual."""
    bench = nights
    bench.rule(people_claims=f"{SMALL}, change at most 40%")
    bench.sql("hr", "DELETE FROM employees WHERE id IN ('x0', 'x1', 'x2', 'x3', 'x4', 'x5', 'x6', 'x7')")
    bench.plan()
    bench.sql("hr", "DELETE FROM employees WHERE id IN ('x8', 'x9', 'x10')")
    assert "has 9 rows" in collapse(bench.plan(exits=EVIDENCE))["message"]


def test_before_there_is_a_series_the_plan_says_so_and_refuses_nothing(bench):
    """Too few readings prove nothing either way. The base of a proposal rests on no absence and is not compared."""
    bench.rule(people_claims=SMALL)
    planned = bench.plan()
    assert planned["plan"]["measurements"]["people"]["series"] == []
    assert planned["plan"]["measurements"]["accounts"]["series"] is None
    assert "not compared with a series: 0 of 5 certified readings" in bench.run("show", planned["plan_id"]).words
    bench.sql("hr", "DELETE FROM employees WHERE id != 'p1'")
    assert bench.plan()["plan"]["measurements"]["people"]["series"] == [6]


def test_another_scope_is_another_question(nights):
    """Readings of the one are no measure of the other."""
    bench = nights
    file = bench.root / "workflows" / f"{WORKFLOW}.fcw"
    text = file.read_text("utf-8")
    file.write_text(
        text.replace("fields { id: text, active: bool }", 'fields { id: text, active: bool }\n    scope id != "x0"')
    )
    assert bench.plan()["plan"]["measurements"]["people"]["series"] == []
    file.write_text(text, "utf-8")
    assert bench.plan()["plan"]["measurements"]["people"]["series"] == [20] * 5

"""A graduated act on a real workspace: what a person sees of steps and clocks, from the command line."""

from __future__ import annotations

import asyncio
import csv
import io
from datetime import UTC, datetime, timedelta

import pytest
from tests.support.workspaces import ORPHANS

from fullcount.runtime.approve.identity import current_person
from fullcount.runtime.planning import PlanRequest
from fullcount.runtime.workflow_files import compiled_workflow

STEPS = """act disable with steps {
    warn:    directory.update(id: a.id, locked: false) undo directory.update(id: a.id, locked: true)
    lock:    directory.update(id: a.id, locked: true) after 14d
    release: directory.update(id: a.id, locked: false)
    stop     after 3 failures
  }"""


@pytest.fixture
def graduated(bench):
    """The workspace with a graduated act, its first step done to every orphan."""
    path = bench.root / bench.rule(act=STEPS)
    # what a step does must not end its own rule (FC557)
    path.write_text(path.read_text("utf-8").replace("where not a.locked\n      and", "where"), encoding="utf-8")
    planned = bench.approved()
    assert {row["key"][0]: row["step"]["label"] for row in planned["plan"]["rows"]} == dict.fromkeys(ORPHANS, "warn")
    assert bench.run("apply", planned["plan_id"]).exit == 0
    return bench


def planned_at(bench, instant):
    """Plan as of another instant, for the engine as for the store."""
    with bench.engine(clock=lambda: instant) as engine:
        chosen, sources = compiled_workflow(bench.root / "workflows/disable_orphans.fcw", engine.workspace, None)
        (proposal,) = chosen.proposals
        params = {param.name: param.default for param in chosen.params}
        request = PlanRequest(chosen, proposal, params, current_person(), sources=sources)
        return asyncio.run(engine.plan(request)).plan


@pytest.mark.requirement("R37")
def test_a_plan_before_the_clock_has_nothing_to_do_and_says_who_waits(graduated):
    """Text, JSON and the list of those that wait, with what was done last and from when on the next step is due."""
    planned = graduated.plan(exits=0)
    assert (planned["state"], planned["plan"]["rows"]) == ("nothing", [])
    waits = {row["key"][0]: row["step"] for row in planned["plan"]["steps"]["waiting"]}
    assert {key: (step["before"], step["label"]) for key, step in waits.items()} == dict.fromkeys(
        ORPHANS, ("warn", "lock")
    )
    shown = graduated.run("show", planned["plan_id"])
    assert "NOTHING TO DO" in shown.out
    assert "selected, waits for step `lock`" in shown.words
    assert "waiting 3, the first until" in shown.words
    listed = graduated.run("show", planned["plan_id"], "--waiting")
    assert all(key in listed.out for key in ORPHANS)
    assert "warn 20" in listed.words
    page = graduated.root / "review.html"
    assert graduated.run("show", planned["plan_id"], "--html", page).exit == 0
    text = page.read_text()
    assert "3 selected, and not due yet" in text
    assert all(f'<th scope="row">{key}</th><td data-label="next step">lock</td>' in text for key in ORPHANS)


def test_each_row_shows_its_step_and_its_clock(graduated):
    """On the terminal, on the page and in the table for a spreadsheet."""
    graduated.sql("directory", "UPDATE accounts SET owner = 'p1' WHERE id = 'a03'")
    later = datetime.now(UTC) + timedelta(days=14, minutes=1)
    plan = planned_at(graduated, later)
    plan_id = plan.document.plan_id
    shown = graduated.run("show", plan_id)
    assert "2 lock" in shown.words
    assert "NOT REVERSIBLE." in shown.words
    for key, step in (("a01", "lock"), ("a02", "lock"), ("a03", "release")):
        (line,) = [each for each in shown.out.splitlines() if f" {key} " in each]
        assert step in line.split()
        assert "warn" in line
    rows = list(csv.DictReader(io.StringIO(graduated.run("show", plan_id, "--csv").out)))
    assert {row["key"]: (row["step"], row["after step"]) for row in rows} == {
        "a01": ("lock", "warn"), "a02": ("lock", "warn"), "a03": ("release", "warn"),
    }  # fmt: skip
    assert all(row["since"].endswith("Z") for row in rows)
    page = graduated.root / "review.html"
    assert graduated.run("show", plan_id, "--html", page).exit == 0
    assert '<td data-label="step">release</td>' in page.read_text()


def test_runs_say_how_many_objects_stand_where(graduated):
    """As text and as JSON; the record verifies."""
    text = graduated.run("runs")
    assert "3 objects after `warn` since" in text.words
    (row,) = graduated.run("runs", "--json").json["steps"]
    assert (row["step"], row["standing"], row["objects"]) == ("warn", "open", 3)
    assert graduated.run("verify").exit == 0


def test_why_explains_an_object_that_waits_and_one_that_is_released(graduated):
    """The decision is the rule's; what the clock says is told beside it."""
    planned = graduated.plan(exits=0)
    waits = graduated.run("why", planned["plan_id"], "a01")
    assert "waits for step `lock`" in waits.words
    graduated.sql("directory", "UPDATE accounts SET owner = 'p1' WHERE id = 'a03'")
    released = graduated.plan()
    assert [row["step"]["label"] for row in released["plan"]["rows"]] == ["release"]
    told = graduated.run("why-not", released["plan_id"], "a03")
    assert told.exit == 0, told.said
    assert "no longer qualifies, and is released" in told.words


def test_an_act_of_two_kinds_is_refused_by_check(bench):
    """`check` names the code; nothing is planned."""
    path = bench.rule(act=STEPS.replace("with steps {", "with directory.update(id: a.id, locked: true) {"))
    assert "FC556" in bench.run("check", path).said

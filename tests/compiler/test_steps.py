"""Graduated acts: refused where a clock, an order or a release would not mean what it reads like."""

from __future__ import annotations

import pytest
from tests.support.compiling import codes, findings, only, underlined, with_rule, workflow

from fullcount.compiler.document import workflow_from_document, workflow_to_document
from fullcount.compiler.graph import build_graph
from fullcount.compiler.graph_render import to_json, to_mermaid
from fullcount.compiler.program import RELEASE

DAY = 86_400_000_000
PLAIN = with_rule("a.locked")
ACT = """act disable with directory.update(id: a.id, locked: true) {
    undo directory.update(id: a.id, locked: false)
  }"""
WARN = "warn: directory.update(id: a.id, locked: false)"
UNDO = "undo directory.update(id: a.id, locked: false)"
LOCK = f"lock: directory.update(id: a.id, locked: true) {UNDO} after 14d"
DELETE = "delete: directory.delete(id: a.id) after 7d"
LET_GO = "release: directory.update(id: a.id, locked: false)"


def steps(*written: str, text: str = PLAIN) -> str:
    """Return the workflow with these steps in place of its one operation."""
    assert ACT in text
    body = "\n    ".join(written)
    return text.replace(ACT, f"act disable with steps {{\n    {body}\n  }}")


@pytest.mark.requirement("R33")
@pytest.mark.parametrize(
    ("written", "code", "place"),
    [
        ((), "FC551", "disable"),
        ((LET_GO,), "FC551", "release"),
        ((WARN, "lock: directory.update(id: a.id, locked: true)"), "FC552", "lock"),
        ((WARN, "lock: directory.update(id: a.id, locked: true) after 0d"), "FC552", "after 0d"),
        ((f"{WARN} after 0d", LOCK), "FC552", "after 0d"),
        ((WARN, LOCK, f"{LET_GO} after 3d"), "FC553", "after 3d"),
        ((WARN, LOCK, f"{LET_GO} {UNDO}"), "FC553", "directory.update(id: a.id, locked: false)"),
        ((WARN, LOCK, LET_GO, LET_GO), "FC101", "release"),
        ((WARN, LOCK, LOCK), "FC101", "lock"),
        ((DELETE.removesuffix(" after 7d"), LOCK), "FC555", "lock"),
        ((WARN, LOCK, "release: directory.delete(id: a.id)"), "FC555", "directory.delete"),
        ((WARN, "lock: directory.lock(id: a.id) after 14d"), "FC113", "lock"),
        ((WARN, "lock: hr.update(id: a.id) after 14d"), "FC114", "hr.update"),
        ((WARN, "lock: directory.update(id: a.owner, locked: true) after 14d"), "FC116", "a.owner"),
        ((WARN, 'lock: directory.update(id: a.id, locked: "yes") after 14d'), "FC201", '"yes"'),
        ((WARN, f"{DELETE} {UNDO}".replace(" after 7d", "") + " after 7d"), "FC117", "directory.update"),
    ],
)
def test_a_graduated_act_that_does_not_mean_what_it_says_is_refused(written, code, place):
    """No step, no clock, a clock of nothing, names twice, a deletion before the end, an operation that is none."""
    text = steps(*written)
    assert (only(text).code, underlined(text)) == (code, place)


def test_steps_beside_one_operation_are_refused():
    """Nobody could say which of them an approved object would get."""
    text = PLAIN.replace(UNDO, f"{UNDO}\n    {DELETE}")
    assert codes(text) == ["FC556"]


def test_objects_that_can_not_be_told_from_recreated_ones_have_no_clock():
    """The clock of a branch that was warned would go on for another one of the same name."""
    branches = """workflow prune {
  inventory branches from vcs.branches { key name fields { name: text, merged: bool } }
  verify branches { complete, fresh within 1h }
  propose prune from branches as b { where b.merged limit 5 }
  approve prune { 2 of role "iam-admin", expires after 3d }
  act prune with steps { delete: vcs.delete(name: b.name) after 14d }
}"""
    assert codes(branches) == ["FC554"]


def test_three_mistakes_in_steps_are_three_findings():
    """Each step is read for itself, also where one of them does not parse."""
    text = steps("warn: directory.update(id: a.id, locked: )", "lock: directory.lock(id: a.id) after", DELETE)
    assert [finding.code for finding in findings(text)] == ["FC001", "FC001"]
    assert codes(steps(WARN, "lock: directory.lock(id: a.id)", "delete: directory.drop(id: a.id) after 7d")) == [
        "FC552", "FC113", "FC113",
    ]  # fmt: skip


def test_one_person_alone_for_a_step_that_is_final_is_warned_of():
    """The warning is about the step, not about the act as a whole."""
    text = steps(f"{WARN} {UNDO}", LOCK, DELETE, LET_GO).replace("2 of role", "1 of role")
    assert (only(text).code, "step `delete`" in only(text).message) == ("FC405", True)
    assert underlined(text) == "directory.delete(id: a.id)"
    assert codes(steps(f"{WARN} {UNDO}", LOCK, LET_GO).replace("2 of role", "1 of role")) == []


def test_a_graduated_act_is_kept_in_the_program():
    """Names, clocks in microseconds, undo per step, and the release apart."""
    checked = workflow(steps(WARN, LOCK, DELETE, LET_GO, "rate 10 per second", "concurrency 4"))
    (act,) = checked.acts
    assert [(step.label, step.after, step.undo is not None) for step in act.steps] == [
        ("warn", 0, False),
        ("lock", 14 * DAY, True),
        ("delete", 7 * DAY, False),
    ]
    assert act.call is None
    assert act.release is not None
    assert list(act.calls) == ["warn", "lock", "delete", RELEASE]
    assert list(act.undos) == ["lock"]
    assert not act.reversible
    assert [act.calls[label].reversible for label in ("warn", "lock", "delete")] == [False, True, False]
    assert (act.rate, act.concurrency) == (10, 4)
    assert workflow_from_document(workflow_to_document(checked)) == checked


def test_the_first_step_may_wait_and_names_are_free():
    """A step may be called like a clause of the act, or like any other word of the language."""
    checked = workflow(
        steps("stop: directory.update(id: a.id, locked: true) after 3d", "undo: directory.delete(id: a.id) after 7d")
    )
    assert [(step.label, step.after) for step in checked.acts[0].steps] == [("stop", 3 * DAY), ("undo", 7 * DAY)]


def test_the_graph_says_the_steps_of_an_act():
    """What is drawn names them, with their clocks."""
    graph = build_graph(workflow(steps(WARN, LOCK, DELETE, LET_GO)))
    assert "act disable: warn, lock after 14d, delete after 7d, release" in to_mermaid(graph)
    assert '"detail": "warn, lock after 14d, delete after 7d, release"' in to_json(graph)

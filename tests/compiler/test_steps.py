"""Graduated acts: refused where a clock, an order or a release would not mean what it reads like."""

from __future__ import annotations

import pytest
from tests.support.compiling import codes, findings, only, underlined, with_rule, workflow

from fullcount.compiler.document import workflow_from_document, workflow_to_document
from fullcount.compiler.graph import build_graph
from fullcount.compiler.graph_render import to_json, to_mermaid
from fullcount.compiler.program import RELEASE

DAY = 86_400_000_000
PLAIN = with_rule('a.environment == "test"')
ACT = """act disable with directory.update(id: a.id, locked: true) {
    undo directory.update(id: a.id, locked: false)
  }"""
WARN = "warn: directory.update(id: a.id, locked: false)"
UNDO = "undo directory.update(id: a.id, locked: false)"
LOCK = f"lock: directory.update(id: a.id, locked: true) {UNDO} after 14d"
DELETE = "delete: directory.delete(id: a.id) after 7d"
TELL = 'warn: mail.write(to: a.team, subject: a.id, text: "to be locked")'
BACKUP = "backup: cloud.create_snapshot(volume: a.id)"
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
        ((WARN, LOCK, f"{LET_GO} every 1h, 3 times"), "FC553", "every 1h, 3 times"),
        ((f"{WARN} every 0h, 3 times", LOCK), "FC552", "every 0h, 3 times"),
        ((f"{WARN} every 1h, 0 times", LOCK), "FC558", "every 1h, 0 times"),
        ((f"{WARN} every 1h, 1 times", LOCK), "FC558", "every 1h, 1 times"),
        ((f"{WARN} every 1h, 101 times", LOCK), "FC558", "every 1h, 101 times"),
        ((WARN, DELETE.replace("after 7d", "every 7d, 2 times")), "FC555", "delete"),
        ((WARN, LOCK, f"{LET_GO} {UNDO}"), "FC553", "directory.update(id: a.id, locked: false)"),
        ((WARN, LOCK, LET_GO, LET_GO), "FC101", "release"),
        ((WARN, LOCK, LOCK), "FC101", "lock"),
        ((DELETE.removesuffix(" after 7d"), LOCK), "FC555", "lock"),
        ((WARN, LOCK, "release: directory.delete(id: a.id)"), "FC555", "directory.delete"),
        ((WARN, "lock: directory.lock(id: a.id) after 14d"), "FC113", "lock"),
        ((WARN, "lock: hr.update(id: a.id) after 14d"), "FC113", "update"),
        ((WARN, "lock: vcs.delete(name: a.id) after 14d"), "FC114", "vcs.delete"),
        ((WARN, "lock: cloud.delete_snapshot(id: a.id) after 14d"), "FC114", "cloud.delete_snapshot"),
        ((f"{BACKUP} undo cloud.delete_snapshot(id: a.id)", LOCK), "FC114", "cloud.delete_snapshot"),
        ((f"{BACKUP} {UNDO}", LOCK), "FC117", "directory.update"),
        ((TELL.replace("a.team", "a.owner"), LOCK), "FC202", "a.owner"),
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


VOLUMES = """workflow retire {
  inventory volumes from cloud.volumes { key id fields { id: text, attached: bool } expect id == "canary" }
  verify volumes { complete, fresh within 1h }
  propose retire from volumes as v { where not v.attached limit 5 }
  approve retire { 2 of role "iam-admin", expires after 3d }
  act retire with steps { delete: cloud.delete_volume(id: v.id) after 14d }
}"""
BRANCHES = """workflow prune {
  inventory branches from vcs.branches { key name fields { name: text, author: text, merged: bool } }
  verify branches { complete, fresh within 1h }
  propose prune from branches as b { where b.merged limit 5 }
  approve prune { 2 of role "iam-admin", expires after 3d }
  act prune with steps {
    warn: mail.write(to: b.author, subject: b.name, text: "to be deleted")
    delete: vcs.delete(name: b.name) undo vcs.restore(name: b.name, sha: "1") after 14d
  }
}"""


def test_objects_that_can_not_be_told_from_recreated_ones_have_no_clock():
    """The clock of a volume that was warned would go on for another one of the same name."""
    assert codes(VOLUMES) == ["FC554"]


def test_a_clock_is_bound_to_the_version_where_nothing_changes_it():
    """A branch has a commit and no incarnation: warned and deleted is fine, changed in between is not."""
    assert codes(BRANCHES) == []
    (inventory,) = workflow(BRANCHES).inventories.values()
    assert inventory.clock_mark == "sha"
    deleted = 'delete: vcs.delete(name: b.name) undo vcs.restore(name: b.name, sha: "1")'
    put = BRANCHES.replace(deleted, 'put: vcs.restore(name: b.name, sha: "1")')
    assert codes(put) == ["FC554"]


def test_what_makes_something_new_leaves_the_object_alone():
    """A message and a snapshot are neither taken back nor final, and set no field of the object."""
    checked = workflow(steps(TELL, f"{BACKUP} after 1d", LOCK, LET_GO).replace("2 of role", "1 of role"))
    (act,) = checked.acts
    assert [(step.label, step.call.own, step.call.reversible) for step in act.steps] == [
        ("warn", False, False),
        ("backup", False, False),
        ("lock", True, True),
    ]
    assert act.sources == ("mail", "cloud", "directory")
    assert not act.reversible
    assert codes(PLAIN.replace(ACT, f"act disable with {TELL.removeprefix('warn: ')}")) == []
    assert workflow_from_document(workflow_to_document(checked)) == checked


def test_a_released_object_is_not_taken_to_fulfil_the_rule():
    """It is released because it does not: what the rule says of its owner holds no longer."""
    owned = with_rule("a.owner is present").replace("a.team", "a.owner")
    tell = TELL.replace("a.team", "a.owner")
    assert codes(steps(tell, LOCK, text=owned)) == []
    release = tell.replace("warn:", "release:")
    assert codes(steps(tell, LOCK, release, text=owned)) == ["FC202"]


@pytest.mark.parametrize(
    ("rule", "written", "refused"),
    [
        ("not a.locked and a.owner is absent", (WARN, LOCK, DELETE), True),
        ("a.owner is absent and not (a.locked or a.protected is absent)", (WARN, LOCK, DELETE), True),
        ("not a.locked and a.owner is absent", (WARN, LOCK, LET_GO), True),
        ("not a.locked and a.owner is absent", (WARN, LOCK), False),
        ('(not a.locked or a.team == "x") and a.owner is absent', (WARN, LOCK, DELETE), False),
        ("a.owner is absent", (WARN, LOCK, DELETE, LET_GO), False),
    ],
)
def test_a_step_does_not_take_its_object_out_of_the_rule(rule, written, refused):
    """The steps after it would never come, and a release would take it back; as a last step it is fine."""
    found = [code for code in codes(steps(*written, text=with_rule(rule))) if code != "FC561"]
    assert found == (["FC557"] if refused else [])


def test_three_mistakes_in_steps_are_three_findings():
    """Each step is read for itself, also where one of them does not parse."""
    text = steps("warn: directory.update(id: a.id, locked: )", "lock: directory.lock(id: a.id) after", DELETE)
    assert [finding.code for finding in findings(text)] == ["FC001", "FC001"]
    assert codes(steps(WARN, "lock: directory.lock(id: a.id)", "delete: directory.drop(id: a.id) after 7d")) == [
        "FC552", "FC113", "FC113",
    ]  # fmt: skip


def test_one_person_alone_for_a_step_that_is_final_is_warned_of():
    """The warning is about the step, not about the act as a whole."""
    undone = f"{WARN} {UNDO.replace('false', 'true')}"
    text = steps(undone, LOCK, DELETE, LET_GO).replace("2 of role", "1 of role")
    assert (only(text).code, "step `delete`" in only(text).message) == ("FC405", True)
    assert underlined(text) == "directory.delete(id: a.id)"
    assert codes(steps(undone, LOCK, LET_GO).replace("2 of role", "1 of role")) == []


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


def test_a_step_that_is_repeated_is_so_many_steps():
    """Each has a name and a clock of its own, so that none is ever done twice or left out."""
    checked = workflow(steps(WARN, f"{TELL.replace('warn', 'nag')} every 2h, 3 times", LOCK))
    assert [(step.label, step.after) for step in checked.acts[0].steps] == [
        ("warn", 0),
        ("nag", DAY // 12),
        ("nag 2", DAY // 12),
        ("nag 3", DAY // 12),
        ("lock", 14 * DAY),
    ]


def test_the_graph_says_the_steps_of_an_act():
    """What is drawn names them, with their clocks."""
    graph = build_graph(workflow(steps(WARN, LOCK, DELETE, LET_GO)))
    assert "act disable: warn, lock after 14d, delete after 7d, release" in to_mermaid(graph)
    assert '"detail": "warn, lock after 14d, delete after 7d, release"' in to_json(graph)

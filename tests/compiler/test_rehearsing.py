"""`rehearse restore`: refused where there is nothing to rehearse with, and part of what a plan is bound to."""

from __future__ import annotations

import pytest
from tests.support.compiling import codes, findings, only, underlined, with_rule, workflow

from fullcount.compiler.document import workflow_from_document, workflow_to_document
from fullcount.compiler.graph import build_graph, stage_of
from fullcount.compiler.program import AtMost, Backup

PLAIN = with_rule("a.locked")
UNDO = "undo directory.update(id: a.id, locked: false)"
CANARY = "canary 5 then wait 15m"


def acting(*clauses: str) -> str:
    """Return a workflow whose act has these clauses."""
    return PLAIN.replace(UNDO, "\n    ".join(clauses))


@pytest.mark.requirement("R28")
@pytest.mark.parametrize(
    ("clauses", "code"),
    [
        ((UNDO, "rehearse restore"), "FC579"),
        ((CANARY, "rehearse restore"), "FC580"),
    ],
)
def test_a_rehearsal_without_a_canary_or_without_a_way_back_is_refused(clauses, code):
    """It would show nothing, or hold nothing back."""
    text = acting(*clauses)
    assert (only(text).code, underlined(text)) == (code, "rehearse restore")


@pytest.mark.requirement("R28")
@pytest.mark.parametrize(
    ("clauses", "code"),
    [
        (("backup kept for 0d", "canary 2 then wait 15m"), "FC574"),
        (("backup kept for 1s", "canary 2 then wait 15m", "rehearse restore"), "FC584"),
        (("backup kept for 86399s",), "FC584"),
        (("backup kept for 1d", "canary 2 then wait 1s"), "FC584"),
        (("backup kept for 86459s", "canary 2 then wait 1m"), "FC584"),
        (("backup kept for 1d",), None),
        (("backup kept for 86460s", "canary 2 then wait 1m", "rehearse restore"), None),
    ],
)
def test_a_backup_outlives_the_wait_of_the_canary_by_a_day(clauses, code):
    """What is over when the rest is done can't restore what the canary did; the finding is at the clause."""
    text = acting(*clauses).replace("directory.update(id: a.id, locked: true)", "directory.delete(id: a.id)")
    if code is None:
        assert codes(text) == []
    else:
        assert (only(text).code, underlined(text)) == (code, clauses[0])


LOCK = "lock: directory.update(id: a.id, locked: true)"
DELETE = "delete: directory.delete(id: a.id) after 30d"
RELEASE = "release: directory.update(id: a.id, locked: false)"
BACKUP = "backup kept for 30d"
SMALL = "canary 1 then wait 15m"


def graduated(*entries: str) -> str:
    """Return a workflow whose act has these steps and clauses."""
    start, end = PLAIN.index("act disable"), PLAIN.rindex("}")
    return PLAIN[:start] + "act disable with steps {\n" + "\n".join(entries) + "\n}\n" + PLAIN[end:]


@pytest.mark.requirement("R28")
@pytest.mark.parametrize(
    ("entries", "code", "place"),
    [
        ((f"{LOCK} {UNDO} rehearse restore", DELETE), "FC579", "rehearse restore"),
        ((LOCK, f"{DELETE} rehearse restore", CANARY), "FC580", "rehearse restore"),
        ((f"{LOCK} {UNDO} rehearse restore", f"{DELETE} {BACKUP} rehearse restore", SMALL), "FC582", SMALL),
        ((LOCK, f"{DELETE} backup kept for 0d"), "FC574", "backup kept for 0d"),
        ((LOCK, f"{DELETE} backup kept for 23h"), "FC584", "backup kept for 23h"),
        ((LOCK, f"{DELETE} backup kept for 1d", CANARY), "FC584", "backup kept for 1d"),
        ((f"{LOCK} {UNDO} backup kept for 30d", DELETE), "FC575", "backup kept for 30d"),
        ((f"{LOCK} backup kept for 30d", DELETE), "FC576", "backup kept for 30d"),
        ((LOCK, f"{DELETE} cascades within limit"), "FC572", "cascades within limit"),
        ((LOCK, DELETE, f"{RELEASE} rehearse restore"), "FC553", "rehearse restore"),
        ((LOCK, DELETE, f"{RELEASE} {BACKUP}"), "FC553", BACKUP),
        ((LOCK, DELETE, f"{RELEASE} cascades within limit"), "FC553", "cascades within limit"),
        ((LOCK, f"{DELETE} backup kept for 30d backup kept for 31d"), "FC003", "backup"),
        ((f"{DELETE} every 1h, 3 times", LOCK), "FC003", "every"),
    ],
)  # fmt: skip
def test_a_step_is_held_to_what_a_plain_act_is_held_to(entries, code, place):
    """What deletes in the end keeps its backup and is rehearsed like any deletion; a release does neither."""
    text = graduated(*entries)
    finding = next(each for each in findings(text) if each.code == code)
    assert text[finding.span.start : finding.span.end] == place


def test_a_clause_of_a_step_belongs_to_no_other():
    """Said of all of them at once, nobody could tell which step is meant."""
    finding = only(graduated("backup kept for 30d", LOCK, DELETE))
    assert finding.code == "FC002"
    assert "behind the operation of the step" in finding.help


def test_what_is_kept_of_a_step_is_part_of_the_program_and_of_its_graph():
    """The plan is bound to it, step by step, and what is without it keeps its digest."""
    text = graduated(f"{LOCK} {UNDO}", f"{DELETE} backup kept for 30d rehearse restore", CANARY)
    made = workflow(text)
    (act,) = made.acts
    assert act.backups == {"delete": Backup(30 * 86_400_000_000)}
    assert (act.rehearsed, act.cascading, act.reversible) == (("delete",), frozenset(), True)
    assert act.undos["delete"].from_backup
    document = workflow_to_document(made)
    assert workflow_from_document(document) == made
    lock, delete = document["workflow"]["acts"][0]["steps"]
    assert "backup" not in lock
    assert {"backup", "rehearse"} <= set(delete)
    (node,) = [node for node in build_graph(made) if node.startswith("act")]
    assert stage_of(build_graph(made), node).detail == "lock, delete after 30d (its restore is rehearsed)"


def test_a_canary_of_steps_may_have_something_counted_after_it():
    """As that of an act with one operation."""
    made = workflow(graduated(LOCK, DELETE, f"{CANARY} then at most 3 of hr.headcount"))
    assert made.acts[0].canary.then == AtMost(3, "hr", "headcount")
    assert codes(graduated(LOCK, DELETE, f"{CANARY} then at most 3 of hr.employees")) == ["FC121"]


def test_each_time_of_a_repeated_step_is_rehearsed_for_itself():
    """They are steps of their own, so that a canary with room for one of them alone is too small."""
    nag = "nag: directory.update(id: a.id, locked: true) undo directory.update(id: a.id, locked: false)"
    entries = (f"{nag} rehearse restore every 1d, 6 times", DELETE)
    assert codes(graduated(*entries, CANARY)) == ["FC582"]
    (act,) = workflow(graduated(*entries, "canary 6 then wait 15m")).acts
    assert act.rehearsed == ("nag", *(f"nag {number}" for number in range(2, 7)))


def test_a_rehearsal_is_part_of_the_program_and_of_its_graph():
    """So that the digest that people approve covers it, and everybody sees it."""
    made = workflow(acting(UNDO, CANARY, "rehearse restore"))
    (act,) = made.acts
    assert act.rehearse
    assert workflow_from_document(workflow_to_document(made)) == made
    graph = build_graph(made)
    assert [stage_of(graph, node).detail for node in graph if node.startswith("act")] == ["a restore is rehearsed"]

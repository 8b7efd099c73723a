"""`rehearse restore`: refused where there is nothing to rehearse with, and part of what a plan is bound to."""

from __future__ import annotations

import pytest
from tests.support.compiling import codes, only, underlined, with_rule, workflow

from fullcount.compiler.document import workflow_from_document, workflow_to_document
from fullcount.compiler.graph import build_graph, stage_of

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


def test_steps_are_not_rehearsed():
    """Their clocks would move with an act that is taken back: the language has no such clause there."""
    graduated = "act disable with steps { rehearse restore lock: directory.update(id: a.id, locked: true) }"
    start, end = PLAIN.index("act disable"), PLAIN.rindex("}")
    assert "FC002" in codes(PLAIN[:start] + graduated + "\n" + PLAIN[end:])


def test_a_rehearsal_is_part_of_the_program_and_of_its_graph():
    """So that the digest that people approve covers it, and everybody sees it."""
    made = workflow(acting(UNDO, CANARY, "rehearse restore"))
    (act,) = made.acts
    assert act.rehearse
    assert workflow_from_document(workflow_to_document(made)) == made
    graph = build_graph(made)
    assert [stage_of(graph, node).detail for node in graph if node.startswith("act")] == ["a restore is rehearsed"]

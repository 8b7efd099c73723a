"""`notify`: refused where nobody would ever be told; else it is part of the program and of the graph."""

from __future__ import annotations

import pytest
from tests.support.compiling import only, underlined, with_rule, workflow

from fullcount.compiler.document import workflow_from_document, workflow_to_document
from fullcount.compiler.edges import Ended
from fullcount.compiler.graph import build_graph, requirement_of
from fullcount.compiler.program import Notify

PLAIN = with_rule("a.locked")


def telling(*clauses: str) -> str:
    return PLAIN.replace("  approve disable", "".join(f"  {each}\n" for each in clauses) + "  approve disable")


@pytest.mark.requirement("R33")
@pytest.mark.parametrize(
    ("clauses", "code", "place"),
    [
        (['notify "nobody" on done'], "FC130", '"nobody"'),
        (['notify "chat" on done, done'], "FC431", "done"),
        (['notify "chat" on done', 'notify "chat" on refused, done'], "FC431", "done"),
    ],
)
def test_who_would_never_be_told_or_is_told_twice_is_refused(clauses, code, place):
    """A notifier that is not configured, and an event said again."""
    text = telling(*clauses)
    assert (only(text).code, underlined(text)) == (code, place)


def test_a_report_waits_for_nobody():
    """Whoever waits to be told of it would wait for ever."""
    at = PLAIN.index("  approve disable")
    report = PLAIN[:at] + '  notify "chat" on waiting, done\n}\n'
    assert (only(report).code, underlined(report)) == ("FC432", "waiting")


@pytest.mark.requirement("R42")
def test_who_is_told_is_part_of_the_program_and_of_the_graph():
    """One stage for each notifier, behind the proposal and the act, for the ends that it is told of."""
    checked = workflow(telling('notify "chat" on stopped', 'notify "ops-mail" on waiting', 'notify "chat" on waiting'))
    assert checked.notifies == (Notify("chat", ("waiting", "stopped")), Notify("ops-mail", ("waiting",)))
    assert workflow_from_document(workflow_to_document(checked)) == checked
    graph = build_graph(checked)
    assert requirement_of(graph, "propose:disable", "notify:chat") == Ended(events=("waiting", "stopped"))
    assert requirement_of(graph, "act:disable", "notify:chat") == Ended(events=("stopped",))
    assert set(graph.predecessors("notify:ops-mail")) == {"propose:disable"}

"""FC564: an undo that leaves something as the act set it."""

from __future__ import annotations

from collections.abc import Iterator

from fullcount.compiler import program
from fullcount.compiler.lint.subject import Subject, finding
from fullcount.dsl.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Warn of each undo by the same operation that gives back only some of what was set."""
    for decl in subject.decl.acts:
        act = next((each for each in subject.workflow.acts if each.proposal == decl.proposal.text), None)
        if act is None:
            continue
        for label, undo in act.undos.items():
            left = _left(act.calls[label], undo, subject)
            step = next((each for each in decl.steps if each.label.text == label), None)
            written = decl.undo if step is None else step.undo
            if left == [] or written is None:
                continue
            named = " and ".join(f"`{name}`" for name in left)
            yield finding(
                "FC564",
                f"this `undo` leaves {named} as the act set it",
                written.span,
                why="the plan says that the act can be taken back, and a part of it stays",
                way=f"give {named} the value from before as well, or leave it alone in the act",
            )


def _left(done: program.OperationCall, undo: program.OperationCall, subject: Subject) -> list[str]:
    if (done.source, done.resource, done.operation) != (undo.source, undo.resource, undo.operation):
        return []
    operations = subject.names.catalog.resources(done.source)[done.resource].operations
    parameters = operations[done.operation].parameters
    return [name for name in done.arguments if parameters[name].key is None and name not in undo.arguments]

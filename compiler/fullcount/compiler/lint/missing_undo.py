"""FC561: an act that could be taken back, if the workflow said how. What FC405 says of it is not said twice."""

from __future__ import annotations

from collections.abc import Iterator

from fullcount.compiler import program
from fullcount.compiler.catalog import Operation
from fullcount.compiler.lint.one_approver import alone
from fullcount.compiler.lint.subject import Subject, finding
from fullcount.dsl.diagnostics import Diagnostic


def _takes_back(other: Operation, call: program.OperationCall) -> bool:
    """Whether an `undo` could call it; what restores from a backup is called by none."""
    return call.operation in other.undoes and not other.restores


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Warn of each operation without `undo` that another one takes back.

    A graduated act with a `release` is left alone: that is its way back.
    """
    for decl in subject.decl.acts:
        act = next((each for each in subject.workflow.acts if each.proposal == decl.proposal.text), None)
        if act is None or act.release is not None or alone(subject, act):
            continue
        for label, call in act.calls.items():
            if label in act.undos:
                continue
            step = next((each for each in decl.steps if each.label.text == label), None)
            place = decl.operation if step is None else step.operation
            operations = subject.names.catalog.resources(call.source)[call.resource].operations
            undoing = sorted(each.name for each in operations.values() if _takes_back(each, call))
            if place is None or len(undoing) == 0:
                continue
            yield finding(
                "FC561",
                f"`{call.operation}` could be taken back, and the act does not say how",
                place.span,
                why="`fullcount undo` would have nothing to go by when the night went wrong",
                way=f"add `undo {call.source}.{call.resource}.{undoing[0]}(…)`",
            )

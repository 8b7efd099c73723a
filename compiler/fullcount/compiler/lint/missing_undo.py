"""FC561: an act that could be taken back, if the workflow said how. What FC405 says of it is not said twice."""

from __future__ import annotations

from collections.abc import Iterator

from fullcount.compiler.lint.one_approver import alone
from fullcount.compiler.lint.subject import Subject, finding
from fullcount.dsl.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Warn of each act without `undo` whose operation another one takes back."""
    for decl in subject.decl.acts:
        act = next((each for each in subject.workflow.acts if each.proposal == decl.proposal.text), None)
        if act is None or decl.undo is not None or alone(subject, act):
            continue
        resource = subject.names.catalog.resources(act.call.source)[act.call.resource]
        undoing = sorted(each.name for each in resource.operations.values() if act.call.operation in each.undoes)
        if len(undoing) == 0:
            continue
        yield finding(
            "FC561",
            f"`{act.call.operation}` could be taken back, and the act does not say how",
            decl.operation.span,
            why="`fullcount undo` would have nothing to go by when the night went wrong",
            way=f"add `undo {act.call.source}.{act.call.resource}.{undoing[0]}(…)`",
        )

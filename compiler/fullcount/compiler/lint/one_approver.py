"""FC405: an act that can't be taken back and that one person alone may approve."""

from __future__ import annotations

from collections.abc import Iterator

from fullcount.compiler import program
from fullcount.compiler.lint.subject import Subject, finding
from fullcount.dsl.diagnostics import Diagnostic


def alone(subject: Subject, act: program.Act) -> bool:
    """Whether one person alone may approve an act."""
    approvals = [each for each in subject.workflow.approvals if each.proposal == act.proposal]
    return sum(q.count for each in approvals for q in each.quorums) == 1


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Warn of each act where a mistake of one person would be final."""
    for act in subject.workflow.acts:
        if act.call.reversible or not alone(subject, act):
            continue
        decl = next(each for each in subject.decl.acts if each.proposal.text == act.proposal)
        yield finding(
            "FC405",
            f"`{act.call.operation}` can't be taken back here, and one person alone may approve it",
            decl.operation.span,
            note="no `undo`",
            why="a mistake of one person would then be final",
            way="add an `undo` if the operation has one, or ask for two people",
        )

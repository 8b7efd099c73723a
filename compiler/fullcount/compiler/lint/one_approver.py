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
        if act.reversible or not alone(subject, act):
            continue
        decl = next(each for each in subject.decl.acts if each.proposal.text == act.proposal)
        finals = ((n, c) for n, c in act.calls.items() if n != program.RELEASE and c.own and not c.reversible)
        name, final = next(finals, (None, None))
        if final is None:
            continue  # a message, or something new: whatever was there is as it was
        step = next((each for each in decl.steps if each.label.text == name), None)
        place = decl.operation if step is None else step.operation
        said = f"`{final.operation}`" if step is None else f"step `{step.label.text}`"
        yield finding(
            "FC405",
            f"{said} can't be taken back here, and one person alone may approve it",
            decl.span if place is None else place.span,
            note="no `undo`",
            why="a mistake of one person would then be final",
            way="add an `undo` if the operation has one, or ask for two people",
        )

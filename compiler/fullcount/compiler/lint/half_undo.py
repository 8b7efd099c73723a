"""FC564: an undo that leaves something as the act set it."""

from __future__ import annotations

from collections.abc import Iterator

from fullcount.compiler.lint.subject import Subject, finding
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Warn of each undo by the same operation that gives back only some of what was set."""
    for decl in subject.decl.acts:
        act = next((each for each in subject.workflow.acts if each.proposal == decl.proposal.text), None)
        if act is None:
            continue
        written: dict[str | None, tree.OperationCall | None] = {step.label.text: step.undo for step in decl.steps}
        written[None] = decl.undo
        for label, left in act.left_by_undo.items():
            place = written[label]
            if place is None:
                continue
            named = " and ".join(f"`{name}`" for name in left)
            yield finding(
                "FC564",
                f"this `undo` leaves {named} as the act set it",
                place.span,
                why="the plan says that the act can be taken back, and a part of it stays",
                way=f"give {named} the value from before as well, or leave it alone in the act",
            )

"""FC218: a rule with conditions of which none is about the object that would be acted on."""

from __future__ import annotations

from collections.abc import Iterator

from fullcount.compiler.lint.subject import Subject, finding
from fullcount.compiler.walk import mentions_row
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Warn of each rule that selects every object or none."""
    for decl in subject.names.proposals.values():
        row = decl.row.text
        if isinstance(decl.where, tree.All) or mentions_row(subject.proposal_of(decl).where, row):
            continue
        yield finding(
            "FC218",
            f"this rule never looks at `{row}`, so it selects every object or none",
            decl.where.span,
            why="a rule that forgets the object it is about is the quickest way to act on all of them",
            way=f"name a field of `{row}`",
        )

"""FC264: an exemption of what the rule does not select anyway."""

from __future__ import annotations

from collections.abc import Iterator

from fullcount.compiler import ir
from fullcount.compiler.implication import implies
from fullcount.compiler.lint.subject import Subject, finding
from fullcount.dsl.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Warn of each `except when` that is false for every object that the rule selects."""
    for decl in subject.names.proposals.values():
        proposal = subject.proposal_of(decl)
        for exemption in proposal.excepts:
            if exemption.condition is None or not implies(proposal.where, ir.Not(exemption.condition)):
                continue
            yield finding(
                "FC264",
                "this exempts nothing that the rule selects",
                exemption.condition.span,
                label=(decl.where.span, "the rule rules it out already"),
                why="whoever wrote it believes that it keeps objects, and the rule may have changed since",
                way="remove it, or correct the one of the two that is wrong",
            )

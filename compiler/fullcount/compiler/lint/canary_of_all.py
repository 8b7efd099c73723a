"""FC563: a canary that is never followed by anything."""

from __future__ import annotations

from collections.abc import Iterator

from fullcount.compiler.lint.subject import Subject, finding
from fullcount.dsl.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Warn of each canary of as many objects as the limit allows: all of a plan is done before anybody looks."""
    for act in subject.decl.acts:
        proposal = subject.names.proposals.get(act.proposal.text)
        limit = None if proposal is None else proposal.limit
        if act.canary is None or limit is None or limit.count is None or not 0 < limit.count <= act.canary.count:
            continue
        yield finding(
            "FC563",
            f"this canary is of {act.canary.count}, and a plan has at most {limit.count}",
            act.canary.span,
            why="everything is done before the wait, so nothing is learnt in time",
            way="take a few of what the limit allows",
        )

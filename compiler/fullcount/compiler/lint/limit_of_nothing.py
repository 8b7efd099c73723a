"""FC502: a limit that allows nothing."""

from __future__ import annotations

from collections.abc import Iterator

from fullcount.compiler.lint.subject import Subject, finding
from fullcount.dsl.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Warn of each limit of zero: it means none, and every plan with objects in it exceeds it."""
    for decl in subject.names.proposals.values():
        limit = decl.limit
        if limit is not None and (limit.count == 0 or limit.percent == 0):
            yield finding(
                "FC502",
                "this limit allows no act at all",
                limit.span,
                why="zero means none, never `unlimited`",
                way="raise the limit, or leave it to keep the act switched off",
            )

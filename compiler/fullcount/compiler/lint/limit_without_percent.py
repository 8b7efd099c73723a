"""FC560: a large limit that does not shrink with the inventory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fullcount.compiler.lint.subject import Subject, finding
from fullcount.dsl.diagnostics import Diagnostic

MANY: Final = 500
"""From this many objects on, a number alone says little about how large a part they are."""


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Warn of each act with a large number for a limit and no percentage."""
    acted_on = {act.proposal for act in subject.workflow.acts}
    for decl in subject.names.proposals.values():
        limit = decl.limit
        if decl.name.text not in acted_on or limit is None or limit.percent is not None:
            continue
        if decl.bounded is not None:
            continue  # a part of what was not counted is no cap (FC324)
        if limit.count is not None and limit.count >= MANY:
            yield finding(
                "FC560",
                f"`limit {limit.count}` may be everything there is",
                limit.span,
                why="a number that suits a busy night does not hold back a wrong rule over a small inventory",
                way=f"add a part of the inventory: `limit {limit.count}, 5%`; the stricter of both holds",
            )

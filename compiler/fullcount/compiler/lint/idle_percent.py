"""FC565: a percentage that holds nothing back. What is above all there is where that is a mistake is FC503."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from fullcount.compiler.lint.subject import Subject, finding
from fullcount.dsl.diagnostics import Diagnostic

ALL: Final = Decimal(100)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Warn of each percentage in `verify`, `limit`, `stop` and `automatically` that nothing can reach or exceed."""
    yield from _changes(subject)
    for decl in subject.names.proposals.values():
        limit = decl.limit
        if limit is not None and limit.count is None and limit.percent == ALL:
            yield finding(
                "FC565",
                "`limit 100%` is everything there is",
                limit.span,
                why="when a rule goes wrong, this limit holds nothing back",
                way="write the part that a busy night needs: `limit 50, 5%`",
            )
    for act in subject.decl.acts:
        if act.stop is not None and act.stop.percent == ALL:
            yield finding(
                "FC565",
                "`stop after 100%` stops when every object of the plan has failed",
                act.stop.span,
                why="nothing is left then that it could hold back",
                way="write `stop after 3 failures or 1%`",
            )
    for approval in subject.decl.approvals:
        if approval.automatic is not None and approval.automatic.percent == ALL:
            yield finding(
                "FC565",
                "`percent <= 100%` holds for every plan",
                approval.automatic.span,
                why="it reads like a condition under which nobody is asked, and is none",
                way="write the part up to which nobody needs to look, or leave it to `count`",
            )


def _changes(subject: Subject) -> Iterator[Diagnostic]:
    for verify in subject.decl.verifies:
        for claim in verify.claims:
            if claim.kind == "change" and isinstance(claim.value, Decimal) and claim.value >= ALL:
                yield finding(
                    "FC565",
                    f"`change at most {claim.value.normalize():f}%` never notices what is missing",
                    claim.span,
                    note="nothing shrinks by more",
                    why=f"`{verify.inventory.text}` could come back empty and pass",
                    way="write less than 100%, such as `change at most 20%`; if it may really grow that much, allow "
                    "the warning with that reason",
                )

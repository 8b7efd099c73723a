"""FC261: two conditions of which never both, or always one, is true."""

from __future__ import annotations

from collections.abc import Iterator

from fullcount.compiler import ir
from fullcount.compiler.implication import implies
from fullcount.compiler.lint.subject import Subject, finding
from fullcount.dsl.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Warn of each `and` that is never true, and of each `or` that is always true of what is known."""
    for junction in subject.junctions():
        never = isinstance(junction, ir.And)
        for one, other in subject.pairs(junction):
            if implies(one, ir.Not(other)) if never else implies(ir.Not(one), other):
                yield finding(
                    "FC261",
                    "these two are never both true, so the `and` selects nothing"
                    if never
                    else "one of these two is always true, so the `or` rules nothing out",
                    other.span,
                    label=(one.span, "the other one"),
                    why="a condition that is the same for every object was meant to be another one",
                    way="join them with `or`, or correct one of them"
                    if never
                    else "join them with `and`, or correct one of them",
                )

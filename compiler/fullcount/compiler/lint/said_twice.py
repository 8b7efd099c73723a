"""FC260: the same condition twice in one `and` or `or`."""

from __future__ import annotations

from collections.abc import Iterator

from fullcount.compiler import ir
from fullcount.compiler.implication import implies
from fullcount.compiler.lint.subject import Subject, finding
from fullcount.dsl.diagnostics import Diagnostic


def same(one: ir.Expr, other: ir.Expr) -> bool:
    """Whether two conditions are true of the same objects, proven by their shape."""
    return implies(one, other) and implies(other, one)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Warn of each condition that says what another one beside it says already."""
    for junction in subject.junctions():
        for one, other in subject.pairs(junction):
            if same(one, other):
                yield finding(
                    "FC260",
                    f"`{subject.context.quote(other.span)}` is said twice",
                    other.span,
                    label=(one.span, "first said here"),
                    why="one of the two was probably meant to be something else",
                    way="correct one of them, or remove it",
                )

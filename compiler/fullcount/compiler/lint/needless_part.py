"""FC262: a comparison that another one beside it makes needless."""

from __future__ import annotations

from collections.abc import Iterator

from fullcount.compiler import ir
from fullcount.compiler.implication import implies
from fullcount.compiler.lint.said_twice import same
from fullcount.compiler.lint.subject import Subject, finding
from fullcount.dsl.diagnostics import Diagnostic

_COMPARED = (ir.Compare, ir.In)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Warn of each comparison that changes nothing: tests of presence are left alone, since types need them."""
    for junction in subject.junctions():
        stricter_counts = isinstance(junction, ir.And)
        for one, other in subject.pairs(junction):
            if not (_compares(one) and _compares(other)) or same(one, other):
                continue
            for strict, lax in ((one, other), (other, one)):
                if implies(strict, lax):
                    needless, deciding = (lax, strict) if stricter_counts else (strict, lax)
                    yield finding(
                        "FC262",
                        f"`{subject.context.quote(needless.span)}` changes nothing here",
                        needless.span,
                        label=(deciding.span, "this one decides"),
                        why="whoever reads it believes that it holds something back",
                        way="remove it, or correct the border of one of them",
                    )
                    break


def _compares(expr: ir.Expr) -> bool:
    return isinstance(expr.operand if isinstance(expr, ir.Not) else expr, _COMPARED)

"""FC265: a parameter that is a length below zero."""

from __future__ import annotations

from collections.abc import Iterator

from fullcount.compiler.lint.subject import Subject, finding
from fullcount.compiler.types import Kind, Scalar
from fullcount.dsl.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Warn of each default below zero: `now - idle` is then a time to come, which everything is older than."""
    for param in subject.workflow.params:
        bound = subject.names.params.get(param.name)
        if bound is None or not isinstance(param.type, Scalar) or param.type.kind is not Kind.DURATION:
            continue
        if isinstance(param.default, int) and param.default < 0:
            yield finding(
                "FC265",
                f"`{param.name}` is a length below zero",
                bound.decl.span,
                why=f"`now - {param.name}` is then a time to come, and every object is older than that",
                way="remove the `-`",
            )

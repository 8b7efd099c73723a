"""FC123: a parameter that no rule uses, though somebody will set it and expect a difference."""

from __future__ import annotations

from collections.abc import Iterator

from fullcount.compiler.lint.subject import Subject, finding
from fullcount.dsl.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Warn of each parameter that nothing reads."""
    for name, param in subject.names.params.items():
        if param is not None and name not in subject.names.used_params:
            yield finding(
                "FC123",
                f"parameter `{name}` is never used",
                param.decl.name.span,
                why="someone who sets it would expect a difference",
                way="use it in a rule, or remove it",
            )

"""FC122: an inventory that no rule uses: a name that was mistyped elsewhere, or a read that is paid for nothing."""

from __future__ import annotations

from collections.abc import Iterator

from fullcount.compiler.lint.subject import Subject, finding
from fullcount.dsl.diagnostics import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Warn of each inventory that nothing looks into."""
    for name, bound in subject.names.inventories.items():
        if bound is not None and name not in subject.names.used_inventories:
            yield finding(
                "FC122",
                f"inventory `{name}` is never used",
                bound.decl.name.span,
                why="it is read at every run, and nothing depends on what it says",
                way="use it in a rule, or remove it",
            )

"""What was declared and nothing uses: likely a name that was mistyped elsewhere, or a read that is paid for nothing."""

from __future__ import annotations

from fullcount.compiler.names import Names
from fullcount.compiler.report import warning
from fullcount.dsl.diagnostics import Diagnostics


def warn_unused(names: Names, sink: Diagnostics) -> None:
    """Warn of inventories and parameters that no rule uses."""
    for name, bound in names.inventories.items():
        if bound is not None and name not in names.used_inventories:
            warning(
                sink,
                "FC122",
                f"inventory `{name}` is never used",
                bound.decl.name.span,
                why="it is read at every run, and nothing depends on what it says",
                help="use it in a rule, or remove it",
            )
    for name, param in names.params.items():
        if param is not None and name not in names.used_params:
            warning(
                sink,
                "FC123",
                f"parameter `{name}` is never used",
                param.decl.name.span,
                why="someone who sets it would expect a difference",
                help="use it in a rule, or remove it",
            )

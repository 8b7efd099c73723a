"""FC263: a pattern without anything of a pattern in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fullcount.compiler import ir
from fullcount.compiler.lint.subject import Subject, finding
from fullcount.compiler.walk import nodes
from fullcount.dsl.diagnostics import Diagnostic

_SIGNS: Final = {"matches": re.compile(r"[\\.^$*+?()\[\]{}|]"), "glob": re.compile(r"[*?]")}


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Warn of each `matches` or `glob` that is an equality: it matches the whole text, so it finds no part of one."""
    for condition in subject.conditions():
        for node in nodes(condition):
            if not isinstance(node, ir.Call) or node.function not in _SIGNS:
                continue
            pattern = node.arguments[1]
            if not isinstance(pattern, ir.Const) or not isinstance(pattern.value, str):
                continue
            if _SIGNS[node.function].search(pattern.value) is None:
                held = subject.context.quote(node.arguments[0].span)
                yield finding(
                    "FC263",
                    f'`"{pattern.value}"` is a plain text, and it has to be the whole of the value',
                    pattern.span,
                    why="a pattern matches from the beginning to the end, so it finds nothing that only has this in it",
                    way=f'write `{held} == "{pattern.value}"`, or `contains({held}, "{pattern.value}")`',
                )

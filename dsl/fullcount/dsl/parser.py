"""parse."""

from __future__ import annotations

import re

from lark.exceptions import UnexpectedInput

from fullcount.dsl import tables, tree
from fullcount.dsl.builder import Builder
from fullcount.dsl.diagnostics import Diagnostic, Diagnostics
from fullcount.dsl.source import Source

_COMMENT = re.compile(r'"(?:[^"\\\n]|\\[^\n])*"?|(#[^\n]*)')


def parse(source: Source) -> tuple[tree.File | None, Diagnostics]:
    """Parse one file."""
    diagnostics = Diagnostics()
    try:
        root = tables.parser().parse(source.text)
    except UnexpectedInput as failure:
        at = failure.pos_in_stream if failure.pos_in_stream is not None else 0
        diagnostics.add(Diagnostic("FC001", "unexpected text", source.span(at, at + 1)))
        return None, diagnostics
    file = Builder(source, diagnostics).file(root, comments(source))
    return (None if diagnostics.has_errors else file), diagnostics


def comments(source: Source) -> tuple[tree.Comment, ...]:
    """Return the comments of a file in order."""
    return tuple(
        tree.Comment(
            match.group(1).rstrip("\r"), source.span(match.start(), match.start() + len(match.group(1).rstrip("\r")))
        )
        for match in _COMMENT.finditer(source.text)
        if match.group(1) is not None
    )

"""What a file declares, as a tree of names: the outline that an editor shows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from fullcount.compiler.editor.symbols import parts_of
from fullcount.compiler.editor.view import View
from fullcount.dsl import tree
from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.source import Source, Span

_FIRST_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Entry:
    """A declaration: its clause's word, its name, the whole of it and its name's place."""

    word: str
    name: str
    span: Span
    at: Span
    inner: tuple[Entry, ...]


def contents(view: View) -> tuple[Entry, ...]:
    """Return what a text declares, in its order; clauses that are about a name stand under that name."""
    return () if view.file is None else tuple(_entries(view.file, view.source))


def _entries(node: Any, source: Source) -> Iterator[Entry]:
    for part in sorted(parts_of(node), key=lambda each: each.span):
        name = next(
            (
                value
                for role in ("name", "inventory", "proposal")
                if isinstance(value := getattr(part, role, None), tree.Name)
            ),
            None,
        )
        word = _FIRST_WORD.match(source.text, part.span.start)
        if name is not None and word is not None:
            inner = tuple(_entries(part, source)) if isinstance(part, tree.Workflow) else ()
            yield Entry(word.group(), name.text, part.span, name.span, inner)

"""`format_source`: from a text to its canonical layout.

It says what the text said: before a text is handed out, it is parsed again and must give the same tree and the same
comments, and it must be its own layout. If not, the mistake is Fullcount's own: it is reported and there is no text.
"""

from __future__ import annotations

from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostic, Diagnostics
from fullcount.dsl.fmt.columns import text_of
from fullcount.dsl.fmt.comments import attach
from fullcount.dsl.fmt.document import lay_out
from fullcount.dsl.fmt.layout import layout
from fullcount.dsl.fmt.proof import same_comments, same_meaning
from fullcount.dsl.parse_tree import Tree
from fullcount.dsl.parser import read
from fullcount.dsl.source import Source


def format_source(source: Source) -> tuple[str | None, Diagnostics]:
    """Return the canonical text of a file, or None if the diagnostics hold an error: of the file, or FC920."""
    found = read(source)
    if found.file is None or found.root is None:
        return None, found.diagnostics
    text = _laid_out(source, found.file, found.root)
    lost = _lost(source.name, found.file, text)
    if lost is None:
        return text, found.diagnostics
    found.diagnostics.add(
        Diagnostic(
            "FC920",
            f"the layout of this file would have changed {lost}, so it was left as it was",
            source.span(0, 0),
            why="a formatter that changes what a file says would change which objects are acted on",
            help="this is a mistake of Fullcount: report it with this file",
        )
    )
    return None, found.diagnostics


def _laid_out(source: Source, file: tree.File, root: Tree) -> str:
    return text_of(lay_out(layout(root, attach(source.text, root, file.comments))))


def _lost(name: str, file: tree.File, text: str) -> str | None:
    """Return what a new text would have lost, or None if nothing."""
    source = Source(name, text)
    again = read(source)
    if again.file is None or again.root is None or not same_meaning(file, again.file):
        return "what it means"
    if not same_comments(file, again.file):
        return "its comments"
    if _laid_out(source, again.file, again.root) != text:
        return "at each run"
    return None

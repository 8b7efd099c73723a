"""`parse`: from a source to its tree, or to everything that is wrong with it.

Total: no text makes it raise. It hands out a tree only when there is no error at all, so that nobody can go on with
half of a workflow. Warnings alone do not hold the tree back.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from fullcount.dsl import tables, tree
from fullcount.dsl.builder import Builder
from fullcount.dsl.characters import clean
from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.diagnostics import Diagnostic, Diagnostics
from fullcount.dsl.failure import Failure
from fullcount.dsl.parse_tree import Tree
from fullcount.dsl.source import Source, Span

#: After so many places that do not parse, the rest of the file is left for the next run. Each costs a parse of the
#: whole text, so a very long one is given up earlier.
MAX_FAILURES: Final = 20
_LONG: Final = 200_000
_MAX_FAILURES_OF_LONG: Final = 3

_COMMENT = re.compile(r'"(?:[^"\\\n]|\\[^\n])*"?|(#[^\n]*)')


@dataclass(frozen=True, slots=True)
class Read:
    """What a text gave. `root` is the parse with all of its tokens; both it and the tree are None after an error.

    `rough` is what could be read around the errors, with placeholders in their places: an editor finds its way in it,
    nothing is ever compiled from it. None where not even that is possible.
    """

    file: tree.File | None
    root: Tree | None
    diagnostics: Diagnostics
    rough: tree.File | None = None


def parse(source: Source) -> tuple[tree.File | None, Diagnostics]:
    """Parse one file. The tree is None if and only if the diagnostics hold an error."""
    found = read(source)
    return found.file, found.diagnostics


def read(source: Source) -> Read:
    """Parse one file, as `parse` does, and keep its tokens too."""
    diagnostics = Diagnostics()
    text = clean(source, diagnostics)
    damaged: list[Span] = []
    root = tables.parser().parse(text)
    if isinstance(root, Failure):
        root = _go_on(source, text, root, diagnostics, damaged)
    if isinstance(root, Failure):
        return Read(None, None, diagnostics)
    if len(damaged) == 0:
        file = Builder(source, diagnostics, damaged).file(root, _comments(source))
    else:
        built = Diagnostics()
        file = Builder(source, built, damaged).file(root, _comments(source))
        for finding in built:
            diagnostics.add(_within(source, finding))
    return Read(None, None, diagnostics, file) if diagnostics.has_errors else Read(file, root, diagnostics, file)


def _go_on(
    source: Source, text: str, root: Tree | Failure, diagnostics: Diagnostics, damaged: list[Span]
) -> Tree | Failure:
    """Explain a failure, take away what is to blame, and parse what is left, over and over."""
    # a file without a mistake does not pay for these
    from fullcount.dsl.messages import explain
    from fullcount.dsl.outline import outline
    from fullcount.dsl.recover import repair
    from fullcount.dsl.scene import scene

    most = MAX_FAILURES if len(text) < _LONG else _MAX_FAILURES_OF_LONG
    while isinstance(root, Failure) and len(damaged) < most:
        rough = outline(text)
        at = scene(source, root, rough)
        finding, blame = explain(at)
        if finding.span.end <= len(source.text):  # a brace that a repair added is nobody's mistake
            diagnostics.add(finding)
        repaired = repair(text, rough, at.index, blame)
        if repaired is None or repaired.text == text:
            break
        text = repaired.text
        damaged.append(source.span(repaired.start, repaired.end))
        root = tables.parser().parse(text)
    return root


def _within(source: Source, finding: Diagnostic) -> Diagnostic:
    """Return a finding with all of its places in the text: a repair may have added the brace that it ends with."""

    def place(span: Span) -> Span:
        return source.span(min(span.start, len(source.text)), min(span.end, len(source.text)))

    fits = finding.fix is None or all(edit.span.end <= len(source.text) for edit in finding.fix.edits)
    labels = tuple(replace(label, span=place(label.span)) for label in finding.labels)
    return replace(finding, span=place(finding.span), labels=labels, fix=finding.fix if fits else None)


def _comments(source: Source) -> tuple[tree.Comment, ...]:
    found = []
    for match in _COMMENT.finditer(source.text):
        if match.group(1) is not None:
            text = match.group(1).rstrip("\r")
            found.append(tree.Comment(text, source.span(match.start(), match.start() + len(text))))
    return tuple(found)

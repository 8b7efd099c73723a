"""Where a finding is, as the tools of a repository name it: a path from its root, lines and columns from 1."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from urllib.parse import quote

from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.source import Source, Span


@dataclass(frozen=True, slots=True)
class Root:
    """The root of the repository and the folder from which files were named, both absolute, with `/` between parts."""

    root: str
    folder: str

    def path(self, name: str) -> str:
        """Return the path of a file from the root; the absolute one if it lies outside."""
        whole = posixpath.normpath(posixpath.join(self.folder, name.replace("\\", "/")))
        inside = whole.startswith(self.root.rstrip("/") + "/")
        return posixpath.relpath(whole, self.root) if inside else whole

    def uri(self, name: str) -> str:
        """Return the path of a file from the root as a URI reference; a `file:` URI if it lies outside."""
        path = self.path(name)
        return f"file://{quote(path)}" if posixpath.isabs(path) else quote(path)


@dataclass(frozen=True, slots=True)
class Region:
    """A passage: 1-based lines and columns in code points, the end column exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


def region(span: Span, sources: Mapping[str, Source]) -> Region | None:
    """Return where a span is; None if the text of its file is not there."""
    source = sources.get(span.source)
    if source is None:
        return None
    length = len(source.text)
    return Region(*source.position(min(span.start, length)), *source.position(min(max(span.start, span.end), length)))

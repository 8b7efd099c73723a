"""A text as an editor sees it: as much of its tree as can be read, its names, and the names that it imports."""

from __future__ import annotations

from fullcount.compiler.editor.symbols import Kind, Occurrence, Shared, Symbol, at, occurrences, shared_by
from fullcount.compiler.imports import Loader, gather
from fullcount.dsl import tree
from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.diagnostics import Diagnostics
from fullcount.dsl.parser import read
from fullcount.dsl.source import Source


@dataclass(frozen=True, slots=True)
class View:
    """`file` is None where nothing can be read; `whole` where there was no mistake in the form of the text."""

    source: Source
    file: tree.File | None
    whole: bool
    shared: Shared
    names: tuple[Occurrence, ...]

    def at(self, offset: int) -> Occurrence | None:
        """Return the name at an offset, or right before it."""
        return at(self.names, offset)

    def of(self, symbol: Symbol) -> list[Occurrence]:
        """Return every place in this text that means a symbol."""
        return [each for each in self.names if each.symbol == symbol]


def view_of(source: Source, loader: Loader) -> View:
    """Read a text and, as far as they are without mistakes, the files that it imports."""
    found = read(source)
    file = found.rough
    if file is None:
        return View(source, None, False, Shared(), ())
    # what is wrong with the imports is for the diagnostics to say
    imported = gather(source, file, loader, Diagnostics())
    others = [each for name, each in imported.parsed.items() if name != source.name]
    shared = shared_by([file, *others])
    files = {}
    for statement in file.imports:
        loaded = loader(source.name, statement.path)
        if isinstance(loaded, Source):
            files[statement.path] = Symbol(Kind.FILE, statement.path, loaded.span(0, 0))
    shared = Shared(shared.records, shared.definitions, files)
    return View(source, file, found.file is not None, shared, tuple(occurrences(file, shared)))

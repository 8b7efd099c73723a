"""Which files one compilation is made of: the file itself and, in depth, what it imports.

Pure: text comes in through a loader that the runtime supplies, which also decides what may be read. Every file is read
once, however many others import it; files that import each other in a circle are reported with the whole circle.
What could not be loaded is remembered, so that the names it would have brought are not reported as unknown.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, Protocol

from fullcount.compiler.report import error
from fullcount.dsl import tree
from fullcount.dsl.dataclass import dataclass, field
from fullcount.dsl.diagnostics import Diagnostics, Label
from fullcount.dsl.parser import parse
from fullcount.dsl.source import Source

MAX_FILES: Final = 100
"""How many files one compilation may be made of: more is a mistake, and nobody could review it."""


class NotLoaded(Enum):
    """Why there is no text for an import."""

    MISSING = "missing"
    OUTSIDE = "outside of the workspace"
    UNREADABLE = "unreadable"


class Loader(Protocol):
    """Gives the text behind an import."""

    def __call__(self, importing: str, path: str) -> Source | NotLoaded:
        """Return the file at `path`, which is relative to the file whose `Source.name` is `importing`.

        One file always comes with one `Source.name`, by whichever path it was found.
        """
        ...


def no_files(importing: str, path: str) -> NotLoaded:
    """The loader of a text that stands alone: there are no other files."""
    return NotLoaded.MISSING


@dataclass(slots=True)
class Files:
    """Every file of a compilation, each after those that it imports. `whole`: nothing failed to load or to parse."""

    sources: dict[str, Source] = field(default_factory=dict)
    parsed: dict[str, tree.File] = field(default_factory=dict)
    whole: bool = True

    def pairs(self) -> list[tuple[tree.File, Source]]:
        """Return each file that parsed, with its text."""
        return [(file, self.sources[name]) for name, file in self.parsed.items()]


def gather(source: Source, file: tree.File, loader: Loader, sink: Diagnostics) -> Files:
    """Load everything that a file imports, directly or through another, and report what can't be."""
    files = Files({source.name: source})
    _Gatherer(files, loader, sink).enter(source, file, ())
    return files


@dataclass(frozen=True, slots=True)
class _Step:
    """A file on the way, and the import by which the way goes on from it."""

    name: str
    by: tree.Import


@dataclass(slots=True)
class _Gatherer:
    files: Files
    loader: Loader
    sink: Diagnostics

    def enter(self, source: Source, file: tree.File, way: tuple[_Step, ...]) -> None:
        seen: dict[str, tree.Import] = {}
        for statement in file.imports:
            loaded = self._load(source, statement)
            if loaded is None:
                self.files.whole = False
                continue
            if loaded.name in seen:
                self._twice(statement, seen[loaded.name])
                continue
            seen[loaded.name] = statement
            self._follow(loaded, (*way, _Step(source.name, statement)))
        self.files.parsed[source.name] = file

    def _follow(self, source: Source, way: tuple[_Step, ...]) -> None:
        places = [step.name for step in way]
        if source.name in places:
            self._circle(way[places.index(source.name) :])
            self.files.whole = False
            return
        if source.name in self.files.sources:
            return
        self.files.sources[source.name] = source
        file, found = parse(source)
        for finding in found:
            self.sink.add(finding)
        if file is None:
            self.files.whole = False
            return
        self.enter(source, file, way)

    def _load(self, source: Source, statement: tree.Import) -> Source | None:
        problem = place_problem(statement.path, (".fcw",))
        if not problem and len(self.files.sources) >= MAX_FILES:
            problem = f"a workflow and what it imports may be {MAX_FILES} files"
        if problem:
            error(
                self.sink,
                "FC141",
                f"`{statement.path}` can't be imported: {problem}",
                statement.path_span,
                help='write the path from this file to a `.fcw` file of the workspace, as `import "lib/people.fcw"`',
            )
            return None
        loaded = self.loader(source.name, statement.path)
        match loaded:
            case Source():
                return loaded
            case NotLoaded.OUTSIDE:
                error(
                    self.sink,
                    "FC141",
                    f"`{statement.path}` can't be imported: it is outside of the workspace",
                    statement.path_span,
                    why="what a clean-up means must not depend on files that its reviewers do not see",
                    help="move the file into the workspace",
                )
            case NotLoaded.UNREADABLE:
                error(
                    self.sink,
                    "FC140",
                    f"`{statement.path}` can't be read as text",
                    statement.path_span,
                    help="check that it is a file, saved as UTF-8, which this user may read",
                )
            case _:
                error(
                    self.sink,
                    "FC140",
                    f"there is no file `{statement.path}`",
                    statement.path_span,
                    note="looked for beside this file",
                    help="correct the path: it starts at the folder of the file that imports",
                )
        return None

    def _twice(self, statement: tree.Import, first: tree.Import) -> None:
        error(
            self.sink,
            "FC101",
            f"`{statement.path}` is imported twice",
            statement.path_span,
            labels=(Label(first.path_span, "first imported here"),),
            help="remove one of them",
        )

    def _circle(self, circle: tuple[_Step, ...]) -> None:
        names = [step.name for step in circle]
        shown = " -> ".join(f"`{name}`" for name in (*names, names[0]))
        error(
            self.sink,
            "FC142",
            f"these files import each other in a circle: {shown}" if len(names) > 1 else "this file imports itself",
            circle[-1].by.path_span,
            labels=tuple(Label(step.by.path_span, "on the way round") for step in circle[:-1]),
            help="move what they share into a file of its own, which imports none of them",
        )


_DRIVE = r"[A-Za-z]:"


def place_problem(path: str, endings: tuple[str, ...]) -> str:
    """Return why a path can never name a file of this kind, whatever there is; empty if it can."""
    if path.startswith(("/", "~")) or re.match(_DRIVE, path):
        return "it does not start at the folder of this file"
    if "\\" in path:
        return "folders are separated by `/`"
    if not path.endswith(endings):
        return f"it does not end in {' or '.join(f'`{ending}`' for ending in endings)}"
    if any(part in {"", *endings} for part in path.split("/")) or not path.isprintable():
        return "it is not the path of a file"
    return ""

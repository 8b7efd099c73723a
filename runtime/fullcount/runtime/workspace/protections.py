"""The workspace's protections: `protect.fcw` and every `.fcw` file in the folder `protect`, read anew at each call.

A file that can't be read, or that is named so that nobody would read it, is an error and never no protection: one that
is silently lost is a deletion. What stood in the files the last time, and in what they import, is compiled again only
if a byte of it changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fullcount.dsl.diagnostics import Diagnostics, Severity
from fullcount.dsl.source import Source
from fullcount.runtime.errors import FullcountError
from fullcount.runtime.typed import path_argument
from fullcount.runtime.workspace.errors import WorkspaceError

if TYPE_CHECKING:
    from fullcount.compiler.catalog import Catalog
    from fullcount.compiler.imports import Loader, NotLoaded
    from fullcount.compiler.protections import Protections

FILE: Final = "protect.fcw"
FOLDER: Final = "protect"
SUFFIX: Final = ".fcw"

Imported = dict[tuple[str, str], "Source | NotLoaded"]
"""What was found behind each import: by the importing file and the path as it is written there."""


class ProtectionsError(FullcountError):
    """The protections have mistakes, so that nobody can say what is protected."""


class ProtectionFiles:
    """The protections of the workspace in `root`, whose files are named as one would type them in `seen_from`."""

    def __init__(
        self,
        root: Path,
        catalog: Catalog,
        seen_from: Path | None = None,
        content_of: Callable[[Path], bytes] = Path.read_bytes,
    ) -> None:
        self._root = root
        self._seen_from = root if seen_from is None else seen_from
        self._catalog = catalog
        self._content_of = content_of
        self._read: tuple[Source, ...] | None = None
        self._imported: Imported = {}
        self._checked: Protections | None = None

    def paths(self) -> tuple[Path, ...]:
        """Return the files, in order of name. Raises `WorkspaceError` FC614 for one that nobody would read."""
        single = self._root / FILE
        found = [single] if os.path.lexists(single) else []
        return (*found, *sorted(_in_folder(self._root / FOLDER)))

    def name_of(self, path: Path) -> str | None:
        """Return what a file is called in messages; None for one that is not among them."""
        resolved = path.resolve()
        found = next((each for each in self.paths() if each.resolve() == resolved), None)
        return None if found is None else self._name(found)

    def current(self, instead: Source | None = None) -> Protections:
        """Return what stands in the files now, with everything that is wrong with it.

        `instead` is read in the place of the file with its name, if there is one. Raises `WorkspaceError` FC614 if a
        file can't be read.
        """
        read = tuple(self._source(path) for path in self.paths())
        if instead is not None:
            read = tuple(instead if source.name == instead.name else source for source in read)
        if self._checked is None or read != self._read or self._imports_changed():
            loader = self._loader(read)
            self._read, self._checked = read, _checked(read, self._catalog, loader)
            self._imported = loader.found
        return self._checked

    def _loader(self, files: Iterable[Source]) -> _Recorder:
        from fullcount.runtime.workflow_files import ImportedFiles

        first = (Path(source.name) for source in files)
        return _Recorder(ImportedFiles(self._root, *first, base=self._seen_from, read=self._content_of))

    def _imports_changed(self) -> bool:
        if len(self._imported) == 0 or self._read is None:
            return False
        loader = self._loader(self._read)
        return any(loader(*asked) != found for asked, found in self._imported.items())

    def relied_on(self) -> Protections:
        """Return what stands in the files now. Raises `ProtectionsError` FC615 if anything is wrong with it."""
        found = self.current()
        if found.diagnostics.has_errors:
            first = next(each for each in found.diagnostics if each.severity is Severity.ERROR)
            name = first.span.source
            line, _ = found.sources[name].position(first.span.start)
            message = f"`{name}` has mistakes, so nobody can say what is protected: line {line}: {first.message}"
            raise ProtectionsError("FC615", message, help=f"fullcount check {path_argument(name)}")
        return found

    def _name(self, path: Path) -> str:
        return Path(os.path.relpath(path, self._seen_from)).as_posix()

    def _source(self, path: Path) -> Source:
        name = self._name(path)
        try:
            return Source(name, self._content_of(path).decode("utf-8"))
        except OSError as error:
            raise WorkspaceError("FC614", f"the protections in `{name}` can't be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            message = f"the protections in `{name}` are not UTF-8 text: byte {error.start} can't be read"
            raise WorkspaceError("FC614", message, help="save the file as UTF-8") from error


class _Recorder:
    """Reads what the protections import, and remembers what it found."""

    def __init__(self, loader: Loader) -> None:
        self.found: Imported = {}
        self._loader = loader

    def __call__(self, importing: str, path: str) -> Source | NotLoaded:
        """See `Loader`."""
        loaded = self._loader(importing, path)
        self.found[importing, path] = loaded
        return loaded


def _checked(sources: tuple[Source, ...], catalog: Catalog, loader: Loader) -> Protections:
    from fullcount.compiler.protections import check_protections, shared_names
    from fullcount.dsl.parser import parse

    sink = Diagnostics()
    files = []
    for source in sources:
        file, found = parse(source)
        for finding in found:
            sink.add(finding)
        if file is not None:
            files.append((file, source))
    shared = {source.name: shared_names(source, file, loader, catalog, sink) for file, source in files}
    made = check_protections(files, catalog, sink, shared)
    texts = {source.name: source for source in sources}
    return replace(made, sources={**made.sources, **texts}, files=frozenset(texts))


def _in_folder(folder: Path) -> Iterator[Path]:
    if not os.path.lexists(folder):
        return

    def unreadable(error: OSError) -> None:
        raise WorkspaceError("FC614", f"the protections in `{error.filename}` can't be read: {error.strerror}")

    if not folder.is_dir():
        unreadable(NotADirectoryError(20, "it is not a folder", str(folder)))
    for here, folders, files in os.walk(folder, onerror=unreadable):
        for name in [*folders, *files]:
            path = Path(here) / name
            if path.is_symlink() and path.is_dir():
                message = f"`{path}` is a link to a folder, which is not followed, so its protections would be left out"
                raise WorkspaceError("FC614", message, help="put the files themselves into the folder `protect`")
        for name in files:
            if name.endswith(SUFFIX):
                yield Path(here) / name
            elif not name.startswith((".", "README")):
                message = f"`{Path(here) / name}` is not a `{SUFFIX}` file, so no protection is read from it"
                raise WorkspaceError("FC614", message, help=f"name it `….{SUFFIX[1:]}`, or move it somewhere else")

"""The files that an editor works on: what is open as it is there, everything else as it is on disk.

Files are known by their real paths. Nothing is written, and no source is contacted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fullcount.compiler.catalog import Catalog, StaticCatalog
from fullcount.compiler.editor.rename import Refusal, rename
from fullcount.compiler.editor.view import View, view_of
from fullcount.compiler.imports import Loader
from fullcount.compiler.pipeline import Compiled
from fullcount.dsl.diagnostics import Edit, Severity
from fullcount.dsl.parser import parse
from fullcount.dsl.source import Source
from fullcount.runtime.errors import FullcountError
from fullcount.runtime.workflow_files import ImportedFiles, compile_text, find_files
from fullcount.runtime.workspace import Premises, WorkspaceError

NO_WORKSPACE = "FC601"


@dataclass(frozen=True, slots=True)
class Checked:
    """What a file compiles to. `trouble` is what keeps it from being more than read; `root` is what names start at."""

    compiled: Compiled
    trouble: FullcountError | None
    root: Path


@dataclass(slots=True)
class Project:
    """`opened` are the texts in the editor, by real path."""

    opened: dict[Path, str] = field(default_factory=dict)

    # -- files ---------------------------------------------------------------------------------------------------------

    def text(self, path: Path) -> Source:
        """Return a file as it is now. Raises `OSError` or `UnicodeDecodeError` for one that can't be read."""
        opened = self.opened.get(path.resolve())
        return Source(str(path), path.read_bytes().decode("utf-8") if opened is None else opened)

    def content(self, path: Path) -> bytes:
        """Return a file's content, that of the editor if it is open there. Raises `OSError`."""
        real = path.resolve()
        if real in self.opened:
            return self.opened[real].encode("utf-8", "surrogatepass")
        return real.read_bytes()

    # -- checking ------------------------------------------------------------------------------------------------------

    def check(self, path: Path) -> Checked:
        """Compile a file as `fullcount check` does, with what is in the editor.

        Without a workspace, or with one that can't be used, only the form of the text is looked at. Raises `OSError` or
        `UnicodeDecodeError` for a file that can't be read.
        """
        source = self.text(path)
        try:
            premises = Premises.known(path.parent).reading(self.content)
            own_name = premises.protections.name_of(path)
            known = source if own_name is None else Source(own_name, source.text)
            return Checked(compile_text(known, path, premises, saved=path.exists()), None, premises.root)
        except FullcountError as error:
            _, found = parse(source)
            trouble = None if error.code == NO_WORKSPACE else error
            return Checked(Compiled(None, found, {source.name: source}), trouble, path.parent)

    # -- looking -------------------------------------------------------------------------------------------------------

    def catalog(self, path: Path) -> Catalog:
        """Return what the sources of a file's workspace declare; nothing without one."""
        try:
            return Premises.known(path.parent).catalog()
        except WorkspaceError:
            return StaticCatalog({})

    def loader(self, path: Path) -> Loader:
        """Return what gives the imports of a file: from its workspace, or from its folder if it has none."""
        return ImportedFiles(self._root(path), path, read=self.content)

    def view(self, path: Path) -> View:
        """Read a file. Raises `OSError` or `UnicodeDecodeError`."""
        return view_of(self.text(path), self.loader(path))

    def views(self, path: Path) -> dict[str, View]:
        """Read every file of a file's workspace, itself among them, by their names."""
        found: dict[str, View] = {}
        for each in [path, *self._files(self._root(path))]:
            try:
                found[str(each)] = self.view(each)
            except (OSError, UnicodeDecodeError):
                continue  # what can't be read means nothing, and `check` says so
        return found

    def renamed(self, path: Path, offset: int, new: str) -> tuple[Edit, ...] | Refusal:
        """Return the edits that rename what stands at an offset; they leave every text with the mistakes it had."""
        views = self.views(path)
        edits = rename(views, self.loader(path), str(path), offset, new)
        if isinstance(edits, Refusal):
            return edits
        after = Project({**self.opened, **{Path(name): text for name, text in _edited(views, edits).items()}})
        for name in {edit.span.source for edit in edits}:
            file = Path(name)
            if _errors(after.check(file)) - _errors(
                Project(dict(self.opened) | {file: views[name].source.text}).check(file)
            ):
                return Refusal(f"with the name `{new}`, `{name}` would no longer compile as it does now")
        return edits

    def _root(self, path: Path) -> Path:
        try:
            return Premises.known(path.parent).root
        except WorkspaceError:
            return path.parent

    def _files(self, root: Path) -> Iterable[Path]:
        here = {each.resolve() for each in find_files([root])}
        return sorted(here | {each for each in self.opened if each.is_relative_to(root)})


def _errors(checked: Checked) -> Counter[str]:
    return Counter(each.code for each in checked.compiled.diagnostics if each.severity is Severity.ERROR)


def _edited(views: Mapping[str, View], edits: Iterable[Edit]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for edit in sorted(edits, key=lambda each: each.span, reverse=True):
        name = edit.span.source
        text = texts.get(name, views[name].source.text)
        texts[name] = text[: edit.span.start] + edit.replacement + text[edit.span.end :]
    return texts

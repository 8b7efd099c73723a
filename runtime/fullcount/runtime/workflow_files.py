"""Reading and compiling workflow files for the verbs: the edge where text comes in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from fullcount.dsl.source import Source
from fullcount.runtime.errors import FullcountError
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.typed import path_argument

if TYPE_CHECKING:
    from fullcount.compiler.imports import NotLoaded
    from fullcount.compiler.pipeline import Compiled
    from fullcount.compiler.program import Workflow
    from fullcount.runtime.workspace import Premises


class MistakesError(FullcountError):
    """A workflow has mistakes, which were shown; nothing was run."""

    exit = Exit.ERROR

    def __init__(self, path: Path) -> None:
        help = f"fullcount check {path_argument(path)}"  # noqa: A001
        super().__init__("FC694", f"`{path}` has mistakes; nothing was run", help=help)


class UsageError(FullcountError):
    """The command was called in a way that can't be carried out."""

    exit = Exit.USAGE


class UnreadableError(UsageError):
    """A workflow file that can't be read as text. `source` is what can be shown of it, `at` how far that is text."""

    def __init__(self, code: str, message: str, source: Source, at: int, *, help: str) -> None:  # noqa: A002
        super().__init__(code, message, help=help)
        self.source = source
        self.at = at


def read_source(path: Path) -> Source:
    """Read a workflow file. Raises `UnreadableError` when it can't be read or is not UTF-8."""
    name = str(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        message = f"can't read `{path}`: {error.strerror}"
        raise UnreadableError("FC690", message, Source(name, ""), 0, help="give the path of a `.fcw` file") from error
    try:
        return Source(name, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise UnreadableError(
            "FC691",
            f"`{path}` is not UTF-8 text: byte {error.start} can't be read",
            Source(name, data.decode("utf-8", "replace")),
            len(data[: error.start].decode("utf-8")),
            help="save the file as UTF-8",
        ) from error


def replace_text(path: Path, text: str) -> None:
    """Replace a file's text, in one step: whoever reads it sees the old or the new one, whole.

    Raises `UsageError` when it can't be written.
    """
    import shutil  # most commands write nothing

    target = path.resolve()  # behind a link, the file that it names
    beside = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        beside.write_bytes(text.encode("utf-8"))
        shutil.copymode(target, beside)
        beside.replace(target)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise UsageError(
            "FC690", f"can't write `{path}`: {error.strerror}", help="name a file in a folder that you may write to"
        ) from error


def repository_root(folder: Path) -> Path:
    """Return the root of the git repository around a folder, or the folder itself if there is none."""
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), folder)


def places_of(workspace: Premises) -> list[Path]:
    """Return where a workspace's language stands, as one would type it here: its workflows and its protections."""
    return [Path(os.path.relpath(each)) for each in (workspace.root / "workflows", *workspace.protections.paths())]


def workflow_files(paths: Iterable[Path]) -> list[Path]:
    """Return the `.fcw` files meant by the given paths. Raises `UsageError` when there is none."""
    found = find_files(paths)
    if not found:
        raise UsageError(
            "FC692",
            "there is no `.fcw` file to check",
            help="name a file or folder, or make a first workflow with `fullcount init`",
        )
    return found


def find_files(paths: Iterable[Path]) -> list[Path]:
    """Return the `.fcw` files meant by the given paths, folders searched in depth, in order of name; each file once.

    A link that leads nowhere is among them, to be told. What is no file (a folder, a pipe without a writer) is not.
    """
    found: dict[str, Path] = {}
    for path in paths:
        inside = sorted(filter(_may_be_workflow, path.rglob("*.fcw"))) if path.is_dir() else [path]
        for each in inside:
            found.setdefault(os.path.realpath(each), each)
    return list(found.values())


def _may_be_workflow(path: Path) -> bool:
    return ".fullcount" not in path.parts and (path.is_file() or not path.exists())


class ImportedFiles:
    """Reads what a workflow file imports, from within the workspace alone; the compiler's loader.

    A path is judged by where it leads, not by how it is written: neither `..` nor a symbolic link leads outside. `base`
    is the folder that the names of files are relative to; by default the one we are in. `read` gives the content of a
    file that is there; an editor gives what has not been saved yet.
    """

    def __init__(
        self, root: Path, *first: Path, base: Path | None = None, read: Callable[[Path], bytes] = Path.read_bytes
    ) -> None:
        self._root = root.resolve()
        self._base = Path() if base is None else base
        self._names = {(self._base / each).resolve(): str(each) for each in first}
        self._read = read

    def __call__(self, importing: str, path: str) -> Source | NotLoaded:
        """See `Loader`."""
        from fullcount.compiler.imports import NotLoaded

        joined = Path(importing).parent / path
        try:
            real = (self._base / joined).resolve()
            if not real.is_relative_to(self._root):
                return NotLoaded.OUTSIDE
            if not real.exists():
                return NotLoaded.MISSING
            if not real.is_file():
                return NotLoaded.UNREADABLE
            text = self._read(real).decode("utf-8")
        except (OSError, RuntimeError, UnicodeDecodeError):  # a circle of links is a RuntimeError up to Python 3.12
            return NotLoaded.UNREADABLE
        shown = Path(os.path.normpath(joined))
        return Source(
            self._names.setdefault(real, str(shown if (self._base / shown).resolve() == real else real)), text
        )


def compile_file(path: Path, workspace: Premises) -> Compiled:
    """Compile one file, with what it imports, under the protections of its workspace; it may have mistakes.

    Raises `UsageError` when the file can't be read; `WorkspaceError` FC614 for protections that can't be read.
    """
    return compile_text(source_of(path, workspace), path, workspace)


def source_of(path: Path, workspace: Premises) -> Source:
    """Read a file that is to be compiled in this workspace. Raises `UsageError` when it can't be read."""
    source = read_source(path)
    own_name = workspace.protections.name_of(path)
    return source if own_name is None else Source(own_name, source.text)  # one of them is known by one name only


def compile_text(source: Source, path: Path, workspace: Premises, *, saved: bool = True) -> Compiled:
    """Compile a text as `compile_file` does its file; one of the protections stands for what is in the file now.

    A text that was never saved has no author yet: only an editor has such a one, and nothing is planned from it.
    """
    from fullcount.compiler.pipeline import compile_source

    return compile_source(
        source,
        workspace.catalog(),
        ImportedFiles(workspace.root, path, read=workspace.content_of),
        protections=workspace.protections.current(source),
        authors=authors_of([str(path)] if saved else []),
    )


def compiled_workflow(path: Path, workspace: Premises, name: str | None) -> tuple[Workflow, Mapping[str, Source]]:
    """Compile a file that must be free of mistakes; return the workflow that is meant and the texts it came from.

    Raises `MistakesError` after showing the mistakes; `UsageError` when the name is missing or wrong; `WorkspaceError`.
    """
    compiled, sources = compiled_workflows(path, workspace)
    workflows = {workflow.name: workflow for workflow in compiled}
    if name is None and len(workflows) == 1:
        return next(iter(workflows.values())), sources
    if name is not None and name in workflows:
        return workflows[name], sources
    if len(workflows) == 0:
        raise UsageError("FC693", f"`{path}` declares no workflow", help="name a file that does")
    found = f"there is no workflow `{name}` in `{path}`" if name is not None else f"`{path}` has several workflows"
    raise UsageError("FC693", found, help=f"choose with --workflow: {', '.join(workflows)}")


def compiled_workflows(path: Path, workspace: Premises) -> tuple[tuple[Workflow, ...], Mapping[str, Source]]:
    """Compile a file that must be free of mistakes; return its workflows and the texts they came from.

    Raises `MistakesError` after showing the mistakes; `WorkspaceError`.
    """
    import click

    from fullcount.dsl.render import render

    compiled = compile_file(path, workspace)
    if compiled.program is None:
        click.echo(render(compiled.diagnostics, compiled.sources, color=False), err=True)
        raise MistakesError(path)
    return compiled.program.workflows, compiled.sources


def authors_of(sources: Iterable[str]) -> frozenset[str]:
    """Return the principals who wrote a workflow, as far as the system knows: the owners of all its files.

    `sources` are the names of the texts it was compiled from: who wrote a definition wrote a part of each rule.
    """
    return frozenset(f"uid:{Path(name).stat().st_uid}" for name in sources)

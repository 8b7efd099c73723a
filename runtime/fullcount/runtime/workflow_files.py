"""Reading and compiling workflow files for the verbs: the edge where text comes in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from fullcount.dsl.source import Source
from fullcount.runtime.errors import FullcountError
from fullcount.runtime.exit_codes import Exit

if TYPE_CHECKING:
    from fullcount.compiler.catalog import Catalog
    from fullcount.compiler.pipeline import Compiled
    from fullcount.compiler.program import Workflow
    from fullcount.runtime.workspace.protections import ProtectionFiles


class MistakesError(FullcountError):
    """A workflow has mistakes, which were shown; nothing was run."""

    exit = Exit.ERROR

    def __init__(self, path: Path) -> None:
        super().__init__("FC694", f"`{path}` has mistakes; nothing was run", help=f"fullcount check {path}")


class UsageError(FullcountError):
    """The command was called in a way that can't be carried out."""

    exit = Exit.USAGE


def read_source(path: Path) -> Source:
    """Read a workflow file. Raises `UsageError` when it can't be read or is not UTF-8."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(
            "FC690", f"can't read `{path}`: {error.strerror}", help="give the path of a `.fcw` file"
        ) from error
    try:
        return Source(str(path), data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise UsageError(
            "FC691",
            f"`{path}` is not UTF-8 text: byte {error.start} can't be read",
            help="save the file as UTF-8",
        ) from error


def find_files(paths: Iterable[Path]) -> list[Path]:
    """Return the `.fcw` files meant by the given paths, folders searched in depth, in order of name."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found.extend(sorted(p for p in path.rglob("*.fcw") if ".fullcount" not in p.parts))
        else:
            found.append(path)
    return found


def compile_file(path: Path, catalog: Catalog, protections: ProtectionFiles | None = None) -> Compiled:
    """Compile one file under the protections of its workspace; the diagnostics are in the answer.

    None: no workspace is at hand. Raises `WorkspaceError` FC614 for protections that can't be read.
    """
    from fullcount.compiler.pipeline import compile_source

    source = read_source(path)
    if protections is None:
        return compile_source(source, catalog)
    own_name = protections.name_of(path)
    if own_name is not None:
        source = Source(own_name, source.text)  # it is one of them: known by one name only
    return compile_source(source, catalog, protections=protections.current())


def compiled_workflow(
    path: Path, catalog: Catalog, name: str | None, protections: ProtectionFiles | None = None
) -> tuple[Workflow, Mapping[str, Source]]:
    """Compile a file that must be free of mistakes; return the workflow that is meant and the texts it came from.

    Raises `MistakesError` after showing the mistakes; `UsageError` when the name is missing or wrong; `WorkspaceError`.
    """
    import typer

    from fullcount.dsl.render import render

    compiled = compile_file(path, catalog, protections)
    if compiled.program is None:
        typer.echo(render(compiled.diagnostics, compiled.sources, color=False), err=True)
        raise MistakesError(path)
    workflows = {workflow.name: workflow for workflow in compiled.program.workflows}
    if name is None and len(workflows) == 1:
        return next(iter(workflows.values())), compiled.sources
    if name is not None and name in workflows:
        return workflows[name], compiled.sources
    found = f"there is no workflow `{name}` in `{path}`" if name is not None else f"`{path}` has several workflows"
    raise UsageError("FC693", found, help=f"choose with --workflow: {', '.join(workflows) or 'it has none'}")


def author_of(path: Path) -> str:
    """Return the principal who wrote a workflow, as far as the system knows: the owner of its file."""
    return f"uid:{path.stat().st_uid}"

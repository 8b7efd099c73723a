"""`fullcount fmt`: one layout for every workflow, without options. Connects to nothing.

A file with a mistake is left as it is: what was not understood is not moved about.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fullcount.runtime.cli.layout import count
from fullcount.runtime.cli.options import AsJson, WorkflowPaths
from fullcount.runtime.exit_codes import Exit

if TYPE_CHECKING:
    from fullcount.dsl.diagnostics import Diagnostics
    from fullcount.dsl.source import Source


@dataclass(frozen=True, slots=True)
class _Result:
    """One file: its text, and the text it should have; None if it has mistakes."""

    path: Path
    source: Source
    text: str | None
    diagnostics: Diagnostics

    @property
    def changed(self) -> bool:
        return self.text is not None and self.text != self.source.text


def fmt(
    paths: WorkflowPaths = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 if a file would change.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Write nothing; show what would change.")] = False,
    as_json: AsJson = False,
) -> None:
    """Lay workflows out in the one canonical way."""
    from fullcount.dsl.fmt import format_source
    from fullcount.runtime.workflow_files import read_source, replace_text, workflow_files

    results = []
    for path in workflow_files(paths or _places()):
        source = read_source(path)
        results.append(_Result(path, source, *format_source(source)))
    dry = check or diff
    for result in results:
        if not dry and result.changed and result.text is not None:
            replace_text(result.path, result.text)
    if as_json:
        _say_json(results, written=not dry, with_diff=diff)
    else:
        _say(results, written=not dry, with_diff=diff)
    failed = any(result.text is None or (check and result.changed) for result in results)
    raise typer.Exit(int(Exit.ERROR if failed else Exit.DONE))


def _places() -> list[Path]:
    from fullcount.runtime.workflow_files import places_of
    from fullcount.runtime.workspace import Workspace

    return places_of(Workspace.load(Path.cwd()))


def _say(results: list[_Result], *, written: bool, with_diff: bool) -> None:
    from fullcount.dsl.render import render, visible
    from fullcount.runtime.cli.screen import colour

    for result in results:
        if result.text is None:
            typer.echo(render(result.diagnostics, {result.source.name: result.source}, color=colour()))
            typer.echo(f"left as it is: {visible(str(result.path))}")
        elif result.changed and with_diff:
            typer.echo(_difference(result, result.text))
        elif result.changed:
            typer.echo(f"{'formatted' if written else 'would change'}: {visible(str(result.path))}")
    changed = sum(result.changed for result in results)
    mistaken = sum(result.text is None for result in results)
    parts = [f"{count(changed, 'file')} {'formatted' if written else 'would change'}"] if changed > 0 else []
    parts += [f"{count(len(results) - changed - mistaken, 'file')} already in form"]
    parts += [f"{count(mistaken, 'file')} with mistakes"] if mistaken > 0 else []
    typer.echo(", ".join(parts))


def _difference(result: _Result, text: str) -> str:
    from difflib import unified_diff

    from fullcount.dsl.render import visible

    name = str(result.path)
    lines = unified_diff(result.source.text.split("\n"), text.split("\n"), name, f"{name} (formatted)", lineterm="")
    return "\n".join(visible(line) for line in lines)


def _say_json(results: list[_Result], *, written: bool, with_diff: bool) -> None:
    from fullcount.dsl.output.data import to_json

    files = [
        {
            "file": str(result.path),
            "changed": result.changed,
            "written": written and result.changed,
            **({"diff": _difference(result, result.text)} if with_diff and result.text is not None else {}),
            **to_json(result.diagnostics, {result.source.name: result.source}),
        }
        for result in results
    ]
    typer.echo(json.dumps({"ok": all(result.text is not None for result in results), "files": files}, indent=2))

"""`fullcount fmt`: one layout for every workflow, without options. Connects to nothing.

A file with a mistake is left as it is: what was not understood is not moved about.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fullcount.runtime.cli import options
from fullcount.runtime.cli.layout import count
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


@options.command()
@options.workflow_paths
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a file would change.")
@click.option("--diff", is_flag=True, help="Write nothing; show what would change.")
@options.as_json
def fmt(paths: tuple[Path, ...], check: bool, diff: bool, as_json: bool) -> None:
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
    raise click.exceptions.Exit(int(Exit.ERROR if failed else Exit.DONE))


def _places() -> list[Path]:
    from fullcount.runtime.workflow_files import places_of
    from fullcount.runtime.workspace import Premises

    return places_of(Premises.known(Path.cwd()))


def _say(results: list[_Result], *, written: bool, with_diff: bool) -> None:
    from fullcount.dsl.render import render, visible
    from fullcount.runtime.cli.screen import colour

    for result in results:
        if result.text is None:
            click.echo(render(result.diagnostics, {result.source.name: result.source}, color=colour()))
            click.echo(f"left as it is: {visible(str(result.path))}")
        elif result.changed and with_diff:
            click.echo(_difference(result, result.text))
        elif result.changed:
            click.echo(f"{'formatted' if written else 'would change'}: {visible(str(result.path))}")
    changed = sum(result.changed for result in results)
    mistaken = sum(result.text is None for result in results)
    parts = [f"{count(changed, 'file')} {'formatted' if written else 'would change'}"] if changed > 0 else []
    parts += [f"{count(len(results) - changed - mistaken, 'file')} already in form"]
    parts += [f"{count(mistaken, 'file')} with mistakes"] if mistaken > 0 else []
    click.echo(", ".join(parts))


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
    click.echo(json.dumps({"ok": all(result.text is not None for result in results), "files": files}, indent=2))

"""`fullcount check`: compile, and report every mistake at once. Connects to nothing."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fullcount.runtime.cli.options import AsJson
from fullcount.runtime.exit_codes import Exit

if TYPE_CHECKING:
    from fullcount.compiler.program import Workflow

FIRES_SHOWN = 5


def check(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Files or folders; by default the workspace's `workflows` folder.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compile workflows and report every mistake."""
    from fullcount.dsl.render import render, to_json
    from fullcount.runtime.workflow_files import UsageError, compile_file, find_files
    from fullcount.runtime.workspace import Workspace

    workspace = Workspace.load(Path.cwd())
    files = find_files(paths or [workspace.root / "workflows"])
    if not files:
        raise UsageError(
            "FC692",
            "there is no `.fcw` file to check",
            help="name a file or folder, or make a first workflow with `fullcount init`",
        )
    catalog = workspace.catalog()
    results = [(path, compile_file(path, catalog, workspace.root)) for path in files]
    failed = any(compiled.diagnostics.has_errors for _, compiled in results)
    workflows = [
        workflow for _, compiled in results if compiled.program is not None for workflow in compiled.program.workflows
    ]
    if as_json:
        reports: list[Any] = [
            {"file": str(path), **to_json(compiled.diagnostics, compiled.sources)} for path, compiled in results
        ]
        typer.echo(json.dumps({"ok": not failed, "files": reports, "schedules": _schedules_json(workflows)}, indent=2))
    else:
        for _, compiled in results:
            if len(compiled.diagnostics):
                typer.echo(render(compiled.diagnostics, compiled.sources, color=_colour()))
        for workflow in workflows:
            _say_schedule(workflow)
        if not failed:
            typer.echo(f"checked {_count(len(files), 'file')}, {_count(len(workflows), 'workflow')}: no mistakes")
    raise typer.Exit(int(Exit.ERROR if failed else Exit.DONE))


def _fires(workflow: Workflow) -> list[datetime]:
    from fullcount.compiler.schedule import next_fires

    if workflow.schedule is None:
        return []
    return next_fires(workflow.schedule, datetime.now(UTC), FIRES_SHOWN)


def _say_schedule(workflow: Workflow) -> None:
    fires = _fires(workflow)
    if fires and workflow.schedule is not None:
        from zoneinfo import ZoneInfo

        zone = ZoneInfo(workflow.schedule.timezone)
        typer.echo(f"{workflow.name} runs next at ({workflow.schedule.timezone}):")
        for fire in fires:
            typer.echo(f"  {fire.astimezone(zone):%a %Y-%m-%d %H:%M %Z}")


def _schedules_json(workflows: list[Workflow]) -> dict[str, list[str]]:
    return {w.name: [fire.isoformat() for fire in _fires(w)] for w in workflows if w.schedule is not None}


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _colour() -> bool:
    import os
    import sys

    return sys.stdout.isatty() and "NO_COLOR" not in os.environ

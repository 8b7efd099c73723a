"""`fullcount check`: compile, and report every mistake at once. Connects to nothing.

With `--fix` it also mends what its findings say how to mend, in the files themselves, and checks again.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fullcount.runtime.cli import options
from fullcount.runtime.cli.ending import NotUnderstoodError
from fullcount.runtime.cli.layout import count
from fullcount.runtime.exit_codes import Exit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fullcount.compiler.pipeline import Compiled
    from fullcount.compiler.program import Workflow
    from fullcount.dsl.diagnostics import Diagnostic, Diagnostics
    from fullcount.dsl.output.places import Root
    from fullcount.dsl.source import Source
    from fullcount.runtime.workflow_files import UnreadableError
    from fullcount.runtime.workspace import Premises

FIRES_SHOWN = 5


class Format(StrEnum):
    """How to report."""

    TEXT = "text"
    CONCISE = "concise"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"


@dataclass(frozen=True, slots=True)
class _Checked:
    """One file: what its compilation gave, and what was mended in it before, each in the text it was found in."""

    path: Path
    source: Source
    compiled: Compiled
    fixed: tuple[tuple[Diagnostic, Source], ...]


@options.command()
@options.workflow_paths
@click.option("--format", "form", type=click.Choice(Format, case_sensitive=False), help="How to report.")
@options.as_json
@click.option("--fix", is_flag=True, help="Mend what can only be meant in one way.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix: make the other proposed changes too; read them.")
def check(paths: tuple[Path, ...], form: Format | None, as_json: bool, fix: bool, unsafe_fixes: bool) -> None:
    """Compile workflows and report every mistake. Connects to nothing."""
    from fullcount.runtime.workflow_files import places_of, workflow_files
    from fullcount.runtime.workspace import Premises

    if as_json and form not in {None, Format.JSON}:
        raise NotUnderstoodError("FC699", f"`--json` and `--format {form}` are two forms", help="choose one of them")
    if unsafe_fixes and not fix:
        raise NotUnderstoodError("FC699", "`--unsafe-fixes` changes nothing by itself", help="add `--fix`")
    workspace = Premises.known(Path.cwd())
    files = workflow_files(paths or places_of(workspace))
    results = _together([_read(path, workspace, named=path in paths, fix=fix, unsafe=unsafe_fixes) for path in files])
    failed = any(each.compiled.diagnostics.has_errors for each in results)
    held = len(workspace.protections.current().declared)
    _report(results, Format.JSON if as_json else form or Format.TEXT, held=held, failed=failed)
    raise click.exceptions.Exit(int(Exit.ERROR if failed else Exit.DONE))


def _together(results: list[_Checked]) -> list[_Checked]:
    """Add what is wrong between files."""
    from fullcount.compiler.pipeline import compiled_together

    compiled = compiled_together([each.compiled for each in results])
    return [replace(each, compiled=found) for each, found in zip(results, compiled, strict=True)]


def _read(path: Path, workspace: Premises, *, named: bool, fix: bool, unsafe: bool) -> _Checked:
    """Check a file. One that can't be read is a finding, and hides none of the others; not so a wrong name."""
    from fullcount.runtime.workflow_files import UnreadableError

    try:
        return _check(path, workspace, fix=fix, unsafe=unsafe)
    except UnreadableError as error:
        if named and error.code == "FC690":
            raise
        return _unreadable(path, error)


def _unreadable(path: Path, error: UnreadableError) -> _Checked:
    from fullcount.compiler.pipeline import Compiled
    from fullcount.dsl.diagnostics import Diagnostic, Diagnostics

    found, source = Diagnostics(), error.source
    found.add(Diagnostic(error.code, error.message, source.span(error.at, error.at), help=error.help))
    return _Checked(path, source, Compiled(None, found, {source.name: source}), ())


def _check(path: Path, workspace: Premises, *, fix: bool, unsafe: bool) -> _Checked:
    from fullcount.runtime.workflow_files import compile_text, replace_text, source_of

    source = source_of(path, workspace)
    compiled = compile_text(source, path, workspace)
    if not fix or all(found.fix is None for found in compiled.diagnostics):
        return _Checked(path, source, compiled, ())
    from fullcount.dsl.fixes import fix_all

    fixed = fix_all(source, lambda text: compile_text(text, path, workspace).diagnostics, unsafe=unsafe)
    if not fixed.applied:
        return _Checked(path, source, compiled, ())
    replace_text(path, fixed.source.text)
    return _Checked(path, fixed.source, compile_text(fixed.source, path, workspace), fixed.applied)


def _report(results: list[_Checked], form: Format, *, held: int, failed: bool) -> None:
    """Print what was found. Only text and JSON say more than that: what was mended, and when workflows run."""
    found = list(dict.fromkeys(finding for each in results for finding in each.compiled.diagnostics))
    sources = {name: source for each in results for name, source in each.compiled.sources.items()}
    match form:
        case Format.TEXT:
            _say(results, held=held, failed=failed)
        case Format.JSON:
            _say_json(results, failed=failed)
        case Format.CONCISE:
            from fullcount.dsl.output.concise import to_concise

            click.echo(to_concise(found, sources), nl=False)
        case Format.SARIF:
            from fullcount.dsl.output.sarif import to_sarif
            from fullcount.runtime import __version__

            click.echo(json.dumps(to_sarif(found, sources, _root(), version=__version__), indent=2))
        case Format.GITHUB:
            from fullcount.dsl.output.github import to_github

            click.echo(to_github(found, sources, _root()), nl=False)


def _root() -> Root:
    from fullcount.dsl.output.places import Root
    from fullcount.runtime.workflow_files import repository_root

    here = Path.cwd()
    return Root(repository_root(here).as_posix(), here.as_posix())


def _workflows(results: list[_Checked]) -> list[Workflow]:
    programs = [each.compiled.program for each in results]
    return [workflow for program in programs if program is not None for workflow in program.workflows]


def _say(results: list[_Checked], *, held: int, failed: bool) -> None:
    from fullcount.dsl.render import render
    from fullcount.runtime.cli.screen import colour

    for each in results:
        _say_fixed(each)
    for found, sources in _fresh(results):
        click.echo(render(found, sources, color=colour()))
    workflows = _workflows(results)
    for workflow in workflows:
        _say_schedule(workflow)
    own = [(found, each.source.name) for each in results for found in each.compiled.diagnostics]
    _say_fixable([found.fix.safe for found, name in own if found.fix is not None and found.span.source == name])
    if not failed:
        counts = [(len(results), "file"), (len(workflows), "workflow"), *([(held, "protection")] if held > 0 else [])]
        click.echo(f"checked {', '.join(count(number, noun) for number, noun in counts)}: no mistakes")


def _fresh(results: list[_Checked]) -> Iterator[tuple[Diagnostics, Mapping[str, Source]]]:
    """Go through what was found, each thing once: a mistake in the protections is found with every file."""
    from fullcount.dsl.diagnostics import Diagnostics

    said: set[Diagnostic] = set()
    for each in results:
        fresh = Diagnostics()
        for finding in each.compiled.diagnostics:
            if finding not in said:
                fresh.add(finding)
        said.update(fresh)
        if len(fresh):
            yield fresh, each.compiled.sources


def _say_fixed(checked: _Checked) -> None:
    from fullcount.dsl.render import visible

    for finding, source in checked.fixed:
        if finding.fix is not None:
            line, column = source.position(finding.span.start)
            click.echo(visible(f"fixed {source.name}:{line}:{column} {finding.code}: {finding.fix.title}"))
    if checked.fixed:
        click.echo("")


def _say_fixable(safe: list[bool]) -> None:
    """Say how many of the findings can be mended by this command."""
    if any(safe):
        click.echo(f"{count(sum(safe), 'mistake')} can be mended with `fullcount check --fix`")
    if not all(safe):
        unsafe = count(len(safe) - sum(safe), "mistake")
        click.echo(f"{unsafe} can be mended with `fullcount check --fix --unsafe-fixes`; look at what it did")


def _say_json(results: list[_Checked], *, failed: bool) -> None:
    from fullcount.dsl.output.data import to_json

    files: list[Any] = [
        {
            "file": str(each.path),
            **to_json(each.compiled.diagnostics, each.compiled.sources),
            "fixed": [
                {"code": finding.code, "line": source.position(finding.span.start)[0], "title": finding.fix.title}
                for finding, source in each.fixed
                if finding.fix is not None
            ],
        }
        for each in results
    ]
    schedules = _schedules_json(_workflows(results))
    click.echo(json.dumps({"ok": not failed, "files": files, "schedules": schedules}, indent=2))


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
        click.echo(f"{workflow.name} runs next at ({workflow.schedule.timezone}):")
        for fire in fires:
            click.echo(f"  {fire.astimezone(zone):%a %Y-%m-%d %H:%M %Z}")


def _schedules_json(workflows: list[Workflow]) -> dict[str, list[str]]:
    return {w.name: [fire.isoformat() for fire in _fires(w)] for w in workflows if w.schedule is not None}

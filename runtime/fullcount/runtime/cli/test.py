"""`fullcount test`: the tests beside the workflows, tried on the real engine without any connector."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fullcount.runtime.cli import options
from fullcount.runtime.exit_codes import Exit

if TYPE_CHECKING:
    from fullcount.compiler.pipeline import Compiled
    from fullcount.runtime.trials.run import Result
    from fullcount.runtime.trials.session import Outcome
    from fullcount.runtime.workspace import Workspace


@options.command("test")
@options.workflow_paths
@options.as_json
@click.option("-k", "name", metavar="NAME", help="Only tests with this in their name.")
@click.option("--coverage", is_flag=True, help="Show what of each rule the tests have seen.")
@click.option("--mutate", is_flag=True, help="Make mistakes and see which no test notices.")
@click.option("--allow", type=click.IntRange(min=0), metavar="N", help="With --mutate: fail if more mutants survive.")
@click.option("--junit", type=options.PATH, metavar="FILE", help="Write the results as JUnit XML too.")
def try_out(
    paths: tuple[Path, ...],
    as_json: bool,
    name: str | None,
    coverage: bool,
    mutate: bool,
    allow: int | None,
    junit: Path | None,
) -> None:
    """Try workflows on the answers that their tests give. Connects to nothing."""
    from fullcount.runtime.cli.ending import NotUnderstoodError
    from fullcount.runtime.cli.screen import show_json
    from fullcount.runtime.trials.session import Asked, run_tests
    from fullcount.runtime.trials.text import junit_xml, report_json
    from fullcount.runtime.workflow_files import UsageError, workflow_files
    from fullcount.runtime.workspace import Workspace

    if allow is not None and not mutate:
        raise NotUnderstoodError("FC699", "`--allow` says how many mutants may survive", help="add `--mutate`")
    workspace = Workspace.load(Path.cwd())
    files = [
        (path, _compiled(path, workspace))
        for path in workflow_files(paths or [Path(os.path.relpath(workspace.root / "workflows"))])
    ]
    asked = Asked(name, coverage, mutate)
    outcome = run_tests(files, workspace, asked, (lambda _: None) if as_json else _Screen().say)
    if len(outcome.results) == 0:
        found = "there is no test" if name is None else f"there is no test with `{name}` in its name"
        raise UsageError("FC660", f"{found} in {_counted(len(files))}", help=_HELP)
    if junit is not None:
        _write(junit, junit_xml(outcome.results))
    if as_json:
        covered = outcome.coverage if coverage else None
        mutated = outcome.mutants if mutate else None
        show_json(report_json(outcome.results, covered, mutated, outcome.sources))
    else:
        _say_rest(outcome, mutate=mutate)
    too_many = allow is not None and outcome.survivors > allow
    raise click.exceptions.Exit(int(Exit.DONE if outcome.passed and not too_many else Exit.ERROR))


_HELP = 'write one into a workflow: `test "what must hold" { given … expect … }`'


class _Screen:
    """Says each result as it comes, under the name of its workflow."""

    def __init__(self) -> None:
        self._under: tuple[Path, str] | None = None

    def say(self, result: Result) -> None:
        from fullcount.runtime.text import plain
        from fullcount.runtime.trials.text import result_lines

        under = (result.case.path, result.case.trial.workflow)
        if under != self._under:
            click.echo(("" if self._under is None else "\n") + plain(f"{under[0]}  {under[1]}"))
            self._under = under
        for line in result_lines(result):
            click.echo(line)


def _say_rest(outcome: Outcome, *, mutate: bool) -> None:
    from fullcount.runtime.trials.text import coverage_lines, mutation_lines, summary_line

    click.echo(f"\n{summary_line(outcome.results)}")
    for name, parts in outcome.coverage.items():
        click.echo("\n" + "\n".join(coverage_lines(name, parts, outcome.sources)))
    for name, tried in outcome.mutants.items():
        click.echo("\n" + "\n".join(mutation_lines(name, tried, outcome.sources)))
    if mutate and not outcome.passed:
        click.echo("no mutants were made: a test that fails already would notice every one of them")


def _compiled(path: Path, workspace: Workspace) -> Compiled:
    """Compile a file that must be free of mistakes. Raises `MistakesError` after showing them."""
    from fullcount.dsl.render import render
    from fullcount.runtime.workflow_files import MistakesError, compile_file

    compiled = compile_file(path, workspace)
    if compiled.program is None:
        click.echo(render(compiled.diagnostics, compiled.sources, color=False), err=True)
        raise MistakesError(path)
    return compiled


def _write(path: Path, text: str) -> None:
    from fullcount.runtime.workflow_files import UsageError

    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            "FC690", f"can't write `{path}`: {error.strerror}", help="name a file in a folder that you may write to"
        ) from error


def _counted(number: int) -> str:
    from fullcount.runtime.cli.layout import count

    return count(number, "file")

"""`fullcount report`: what a run came to, as CSV, JSON or one offline page."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import click

from fullcount.runtime.cli import options


@options.command()
@click.argument("run", help="A run's or a plan's id, or an unambiguous beginning of it.")
@click.option(
    "--format", "form", type=click.Choice(["csv", "json", "html"]), required=True, help="What is to be written."
)
@click.option("-o", "--output", type=options.PATH, help="Write to this file instead of standard output.")
@options.force
def report(run: str, form: str, output: Path | None, force: bool) -> None:
    """Write what a run came to, object by object. Also of one that was refused, stopped or is invalid.

    Of a plan its latest run is taken: the last apply or undo, or the run that made it.
    """
    from fullcount.runtime.cli.overwriting import check_overwriting
    from fullcount.runtime.cli.session import reading_session
    from fullcount.runtime.journal.runs_of import run_of
    from fullcount.runtime.reports.gather import report_of
    from fullcount.runtime.reports.lines import csv_of, is_report, json_of
    from fullcount.runtime.reports.page import page_of
    from fullcount.runtime.workflow_files import UsageError

    if output is not None:
        check_overwriting(output, is_report, force=force)
    renderers = {"csv": csv_of, "json": json_of, "html": page_of}
    with reading_session() as here:
        found = run_of(here.store, run)
        with report_of(here.store, found, here.workspace.name) as made:
            pieces: Iterable[str] = renderers[form](made)
            if output is None:
                sys.stdout.writelines(pieces)
                return
            try:
                with output.open("w", encoding="utf-8", newline="") as file:
                    file.writelines(pieces)
            except OSError as error:
                raise UsageError(
                    "FC690", f"can't write `{output}`: {error.strerror}", help="name a file that you may write"
                ) from error
    click.echo(f"written to {output}")

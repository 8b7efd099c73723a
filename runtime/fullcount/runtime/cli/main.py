"""The command line: one file per verb, in the order in which one meets them.

`fullcount --help` and `fullcount check` must answer at once: the verbs' modules import nothing heavy at their top.
"""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from fullcount.dsl.editions import CURRENT as EDITION
from fullcount.runtime import __version__
from fullcount.runtime.cli import (
    apply,
    approve,
    check,
    conformance,
    diff,
    evaluate,
    evidence,
    explain,
    fmt,
    graph,
    halt,
    init,
    plan,
    runs,
    serve,
    show,
    strike,
    undo,
    verify,
    why,
)
from fullcount.runtime.cli.ending import reported
from fullcount.runtime.exit_codes import Exit

app = typer.Typer(
    name="fullcount",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("init")(init.init)
app.command("check")(check.check)
app.command("evidence")(evidence.evidence)
app.command("fmt")(fmt.fmt)
app.command("graph")(graph.graph)
app.command("plan")(plan.plan)
app.command("show")(show.show)
app.command("why")(why.why)
app.command("why-not")(why.why_not)
app.command("eval")(evaluate.evaluate)
app.command("diff")(diff.diff)
app.command("approve")(approve.approve)
app.command("strike")(strike.strike)
app.command("apply")(apply.apply)
app.command("undo")(undo.undo)
app.command("runs")(runs.runs)
app.command("verify")(verify.verify)
app.command("conformance")(conformance.conformance)
app.command("serve")(serve.serve)
app.command("halt")(halt.halt)
app.command("explain")(explain.explain)


VERBS = tuple(command.name or "" for command in app.registered_commands)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"fullcount {__version__} (language {EDITION})")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Bulk clean-ups that only run when the count is full."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(int(Exit.USAGE))


def main() -> None:
    """Run the command line; the exit code is one of `Exit`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that lacks a character must not cost the report of what was done.
            stream.reconfigure(errors="backslashreplace")
    arguments = sys.argv[1:]
    with reported(arguments, VERBS):
        # Not `standalone`: how errors are shown, and as which exit code they end, is decided in `ending`.
        code = app(arguments, prog_name="fullcount", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else int(Exit.DONE))


if __name__ == "__main__":
    main()

"""`fullcount graph`: the stages of a workflow and what each edge requires."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import click

from fullcount.runtime.cli import options


class Format(StrEnum):
    """How to draw."""

    MERMAID = "mermaid"
    DOT = "dot"
    SVG = "svg"
    JSON = "json"


@options.command()
@options.workflow_file
@options.workflow_name
@click.option(
    "--format", "form", type=click.Choice(Format, case_sensitive=False), default="mermaid", help="How to draw."
)
@options.as_json
@click.option("--output", "-o", type=options.PATH, help="Write to a file, not the screen.")
@options.force
def graph(file: Path, workflow: str | None, form: Format, as_json: bool, output: Path | None, force: bool) -> None:
    """Print the stages and what each edge requires."""
    from fullcount.compiler import graph_render
    from fullcount.compiler.graph import build_graph
    from fullcount.runtime.cli.screen import write_file
    from fullcount.runtime.workflow_files import compiled_workflow
    from fullcount.runtime.workspace import Premises

    workspace = Premises.known(Path.cwd())
    chosen, sources = compiled_workflow(file, workspace, workflow)
    stages = build_graph(chosen, sources)
    if as_json or form is Format.JSON:
        text = graph_render.to_json(stages)
    elif form is Format.DOT:
        text = graph_render.to_dot(stages)
    elif form is Format.SVG:
        text = graph_render.to_svg(stages)
    else:
        text = graph_render.to_mermaid(stages)
    if output is None:
        click.echo(text)
    else:
        lead = _MARKS.get(Format.JSON if as_json else form, "")
        write_file(output, f"{lead}{text}", ours=_is_graph, force=force, as_json=as_json)


_MARK = "written by fullcount graph"
_MARKS = {
    Format.MERMAID: f"%% {_MARK}\n",
    Format.DOT: f"// {_MARK}\n",
    Format.SVG: f"<!-- {_MARK} -->\n",
}
"""What a file begins with, so that the next one may take its place. JSON has no comments."""


def _is_graph(beginning: str) -> bool:
    """Whether a file that begins like this is a drawn graph."""
    as_json = beginning.startswith('{\n  "workflow": ') and '\n  "stages": [' in beginning
    return as_json or beginning.startswith(tuple(_MARKS.values()))

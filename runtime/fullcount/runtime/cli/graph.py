"""`fullcount graph`: the stages of a workflow and what each edge requires."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from fullcount.runtime.cli.options import AsJson, Force, WorkflowFile, WorkflowName


class Format(StrEnum):
    """How to draw."""

    MERMAID = "mermaid"
    DOT = "dot"
    SVG = "svg"
    JSON = "json"


def graph(
    file: WorkflowFile,
    workflow: WorkflowName = None,
    form: Annotated[Format, typer.Option("--format", help="How to draw.")] = Format.MERMAID,
    as_json: AsJson = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to a file, not the screen.")] = None,
    force: Force = False,
) -> None:
    """Print the stages and what each edge requires."""
    from fullcount.compiler import graph_render
    from fullcount.compiler.graph import build_graph
    from fullcount.runtime.cli.screen import write_file
    from fullcount.runtime.workflow_files import compiled_workflow
    from fullcount.runtime.workspace import Workspace

    workspace = Workspace.load(Path.cwd())
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
        typer.echo(text)
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

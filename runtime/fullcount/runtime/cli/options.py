"""Options and arguments that several verbs share, so that they read the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
WorkflowPaths = Annotated[
    list[Path] | None, typer.Argument(help="Files or folders; by default the workspace's `workflows` folder.")
]
WorkflowFile = Annotated[Path, typer.Argument(help="A workflow file.")]
WorkflowName = Annotated[str | None, typer.Option("--workflow", help="Which workflow, if the file has several.")]
ProposalName = Annotated[str | None, typer.Option("--proposal", help="Which proposal, if the workflow has several.")]
Params = Annotated[list[str] | None, typer.Option("--param", help="NAME=VALUE, as often as needed.")]
Force = Annotated[bool, typer.Option("--force", help="Write over a file that this command did not write.")]
On = Annotated[str, typer.Option("--on", metavar="PLAN|RUN", help="The plan or run whose snapshots to use.")]
PlanId = Annotated[str, typer.Argument(help="A plan's id, or an unambiguous beginning of it.")]

"""`fullcount evidence FILE`: what each conclusion rests on, and what promises it. Connects to nothing."""

from __future__ import annotations

from pathlib import Path

import typer

from fullcount.runtime.cli.options import AsJson, WorkflowFile, WorkflowName


def evidence(file: WorkflowFile, workflow: WorkflowName = None, as_json: AsJson = False) -> None:
    """Show each use of an inventory: its direction and why, what it requires, what promises that."""
    import json

    from fullcount.runtime.understand.evidence_of import evidence_of
    from fullcount.runtime.understand.evidence_text import evidence_json, evidence_lines
    from fullcount.runtime.workflow_files import compiled_workflow, compiled_workflows
    from fullcount.runtime.workspace import Workspace

    workspace = Workspace.load(Path.cwd())
    if workflow is None:
        chosen, sources = compiled_workflows(file, workspace)
    else:
        one, sources = compiled_workflow(file, workspace, workflow)
        chosen = (one,)
    found = [evidence for each in chosen for evidence in evidence_of(each, sources)]
    if as_json:
        typer.echo(json.dumps({"file": str(file), "proposals": evidence_json(found)}, indent=2))
    else:
        typer.echo("\n".join(evidence_lines(found)))

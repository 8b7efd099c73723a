"""`fullcount evidence FILE`: what each conclusion rests on, and what promises it. Connects to nothing."""

from __future__ import annotations

from pathlib import Path

import click

from fullcount.runtime.cli import options


@options.command()
@options.workflow_file
@options.workflow_name
@options.as_json
def evidence(file: Path, workflow: str | None, as_json: bool) -> None:
    """Show what each conclusion rests on. For each use of an inventory: its direction and why, what it requires, and
    what promises that.
    """
    import json

    from fullcount.runtime.understand.evidence_of import evidence_of
    from fullcount.runtime.understand.evidence_text import evidence_json, evidence_lines
    from fullcount.runtime.workflow_files import compiled_workflow, compiled_workflows
    from fullcount.runtime.workspace import Premises

    workspace = Premises.known(Path.cwd())
    if workflow is None:
        chosen, sources = compiled_workflows(file, workspace)
    else:
        one, sources = compiled_workflow(file, workspace, workflow)
        chosen = (one,)
    found = [evidence for each in chosen for evidence in evidence_of(each, sources)]
    if as_json:
        click.echo(json.dumps({"file": str(file), "proposals": evidence_json(found)}, indent=2))
    else:
        click.echo("\n".join(evidence_lines(found)))

"""`fullcount eval FILE --on PLAN|RUN`: what a workflow would select over stored snapshots. Reads no source."""

from __future__ import annotations

from typing import Annotated

import typer

from fullcount.runtime.cli.options import AsJson, On, Params, ProposalName, WorkflowFile, WorkflowName


def evaluate(
    file: WorkflowFile,
    on: On,
    workflow: WorkflowName = None,
    proposal: ProposalName = None,
    param: Params = None,
    all_rows: Annotated[bool, typer.Option("--all", help="Every row.")] = False,
    as_json: AsJson = False,
) -> None:
    """Evaluate a workflow on the snapshots of an earlier plan or run; read no source, store nothing."""
    from fullcount.runtime.cli.plan import bound_params, given_params, one_proposal
    from fullcount.runtime.cli.screen import show, show_json
    from fullcount.runtime.cli.session import reading_session
    from fullcount.runtime.understand.held import held_on
    from fullcount.runtime.understand.select import select
    from fullcount.runtime.understand.select_text import render_selection, selection_json
    from fullcount.runtime.workflow_files import compiled_workflow

    with reading_session() as here:
        chosen, _ = compiled_workflow(file, here.workspace, workflow)
        proposed = one_proposal(chosen, proposal)
        params = bound_params(chosen, given_params(param or []))
        held = held_on(here.store, on, here.engine.snapshots)
        found = select(held, chosen, proposed, params, here.workspace.exemptions)
    if as_json:
        show_json(selection_json(found))
    elif all_rows:
        show(render_selection(found, rows=None))
    else:
        show(render_selection(found))

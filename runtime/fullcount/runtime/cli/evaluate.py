"""`fullcount eval FILE --on PLAN|RUN`: what a workflow would select over stored snapshots. Reads no source."""

from __future__ import annotations

from pathlib import Path

import click

from fullcount.runtime.cli import options


@options.command("eval")
@options.workflow_file
@options.on
@options.workflow_name
@options.proposal_name
@options.params
@click.option("--all", "all_rows", is_flag=True, help="Every row.")
@options.as_json
def evaluate(
    file: Path,
    on: str,
    workflow: str | None,
    proposal: str | None,
    param: tuple[str, ...],
    all_rows: bool,
    as_json: bool,
) -> None:
    """Evaluate a workflow on stored snapshots. Those of an earlier plan or run; no source is read, nothing stored."""
    from fullcount.runtime.cli.plan import bound_params, given_params, one_proposal
    from fullcount.runtime.cli.screen import show, show_json
    from fullcount.runtime.cli.session import reading_session
    from fullcount.runtime.plan.withheld import check_withheld
    from fullcount.runtime.understand.held import held_on
    from fullcount.runtime.understand.select import select
    from fullcount.runtime.understand.select_text import render_selection, selection_json
    from fullcount.runtime.workflow_files import compiled_workflow

    with reading_session() as here:
        chosen, _ = compiled_workflow(file, here.workspace, workflow)
        proposed = one_proposal(chosen, proposal)
        check_withheld(chosen, proposed, None, here.workspace.recorded(chosen.inventories.values()))
        params = bound_params(chosen, given_params(param))
        held = held_on(here.store, on, here.engine.snapshots)
        found = select(held, chosen, proposed, params, here.engine.exemptions)
    if as_json:
        show_json(selection_json(found))
    elif all_rows:
        show(render_selection(found, rows=None))
    else:
        show(render_selection(found))

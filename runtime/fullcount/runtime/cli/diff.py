"""`fullcount diff A.fcw B.fcw --on PLAN`: what enters and leaves a selection when one workflow becomes the other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fullcount.runtime.cli.options import AsJson, On, Params, ProposalName, WorkflowName


def diff(
    before: Annotated[Path, typer.Argument(metavar="A", help="The workflow file as it was.")],
    after: Annotated[Path, typer.Argument(metavar="B", help="The workflow file as it would be.")],
    on: On,
    workflow: WorkflowName = None,
    proposal: ProposalName = None,
    param: Params = None,
    all_rows: Annotated[bool, typer.Option("--all", help="Every object.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compare two workflows on stored snapshots, and say whether the edit can only shrink what is selected."""
    from fullcount.runtime.cli.plan import bound_params, given_params, one_proposal
    from fullcount.runtime.cli.screen import show, show_json
    from fullcount.runtime.cli.session import reading_session
    from fullcount.runtime.understand.compare import Version, compare
    from fullcount.runtime.understand.held import held_on
    from fullcount.runtime.understand.select_text import comparison_json, render_comparison
    from fullcount.runtime.workflow_files import compiled_workflow

    given = given_params(param or [])
    with reading_session() as here:
        chosen = [compiled_workflow(path, here.workspace, workflow)[0] for path in (before, after)]
        known = {declared.name for each in chosen for declared in each.params}
        versions = []
        for each in chosen:
            # a parameter that only one side has is given to that side; one that neither has is refused by both
            own = {declared.name for declared in each.params}
            mine = {name: text for name, text in given.items() if name in own or name not in known}
            versions.append(Version(each, one_proposal(each, proposal), bound_params(each, mine)))
        held = held_on(here.store, on, here.engine.snapshots)
        found = compare(held, versions[0], versions[1], here.workspace.exemptions)
    if as_json:
        show_json(comparison_json(found))
    elif all_rows:
        show(render_comparison(found, rows=None))
    else:
        show(render_comparison(found))

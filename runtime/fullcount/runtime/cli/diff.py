"""`fullcount diff A.fcw B.fcw --on PLAN`: what enters and leaves a selection when one workflow becomes the other."""

from __future__ import annotations

from pathlib import Path

import click

from fullcount.runtime.cli import options


@options.command()
@click.argument("before", metavar="A", type=options.PATH, help="The workflow file as it was.")
@click.argument("after", metavar="B", type=options.PATH, help="The workflow file as it would be.")
@options.on
@options.workflow_name
@options.proposal_name
@options.params
@click.option("--all", "all_rows", is_flag=True, help="Every object.")
@options.as_json
def diff(
    before: Path,
    after: Path,
    on: str,
    workflow: str | None,
    proposal: str | None,
    param: tuple[str, ...],
    all_rows: bool,
    as_json: bool,
) -> None:
    """Compare two workflows on stored snapshots. Says whether the edit can only shrink what is selected."""
    from fullcount.runtime.cli.plan import bound_params, given_params, one_proposal
    from fullcount.runtime.cli.screen import show, show_json
    from fullcount.runtime.cli.session import reading_session
    from fullcount.runtime.plan.withheld import check_withheld
    from fullcount.runtime.understand.compare import Version, compare
    from fullcount.runtime.understand.held import held_on
    from fullcount.runtime.understand.select_text import comparison_json, render_comparison
    from fullcount.runtime.workflow_files import compiled_workflow

    given = given_params(param)
    with reading_session() as here:
        chosen = [compiled_workflow(path, here.workspace, workflow)[0] for path in (before, after)]
        known = {declared.name for each in chosen for declared in each.params}
        versions = []
        for each in chosen:
            # a parameter that only one side has is given to that side; one that neither has is refused by both
            own = {declared.name for declared in each.params}
            mine = {name: text for name, text in given.items() if name in own or name not in known}
            proposed = one_proposal(each, proposal)
            check_withheld(each, proposed, None, here.workspace.recorded(each.inventories.values()))
            versions.append(Version(each, proposed, bound_params(each, mine)))
        held = held_on(here.store, on, here.engine.snapshots)
        found = compare(held, versions[0], versions[1], here.engine.exemptions)
    if as_json:
        show_json(comparison_json(found))
    elif all_rows:
        show(render_comparison(found, rows=None))
    else:
        show(render_comparison(found))

"""`fullcount strike`: takes rows out of a plan. What is left is another plan, to be approved by its own digest."""

from __future__ import annotations

import click

from fullcount.runtime.cli import options


@options.command()
@options.plan_id
@click.argument(
    "keys", nargs=-1, required=True, metavar="KEY…", help="Keys of rows, as a screen shows them or as a JSON list."
)
@click.option("--because", metavar="WHY", help="Why; it stands in the new plan.")
@options.as_json
def strike(plan: str, keys: tuple[str, ...], because: str | None, as_json: bool) -> None:
    """Strike rows from a plan. They stay as they are; the rest becomes a new plan, which needs its own approval.

    It takes a role that may approve. The older plan and the approvals given to it are over.
    """
    from fullcount.compiler.document import workflow_from_document
    from fullcount.runtime.cli.reports import strike_report
    from fullcount.runtime.cli.screen import show, show_json
    from fullcount.runtime.cli.session import session
    from fullcount.runtime.graphs import proposal_of
    from fullcount.runtime.understand.objects import written_key
    from fullcount.runtime.workflow_files import UsageError

    if because is not None and not because.strip():
        raise UsageError("FC696", "a reason was announced and is empty", help='--because "why", or leave it out')
    with session() as here:
        old = here.store.load_plan(plan)
        workflow = workflow_from_document(old.document.program)
        inventory = workflow.inventories[proposal_of(workflow, old.document.proposal).inventory]
        there = [row.key for row in old.document.rows]
        struck = [written_key(key, inventory, there) for key in keys]
        new = here.engine.strike(old, here.person, struck, None if because is None else because.strip())
    if as_json:
        asked = set(struck)
        left = {row.key for row in new.document.rows}
        show_json(
            {
                "plan_id": new.document.plan_id,
                "digest": new.document.digest,
                "state": new.state,
                "candidates": len(new.document.rows),
                "struck": [list(row.key) for row in old.document.rows if row.key not in left],
                "waited_for_them": [
                    list(row.key) for row in old.document.rows if row.key not in left and row.key not in asked
                ],
                "replaces": old.document.plan_id,
            }
        )
        return
    show(strike_report(old, new, struck))

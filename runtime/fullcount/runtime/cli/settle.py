"""`fullcount settle`: somebody who has looked says what came of an act whose outcome nobody knows."""

from __future__ import annotations

import click

from fullcount.runtime.cli import options


@options.command()
@options.plan_id
@click.argument(
    "keys", nargs=-1, required=True, metavar="KEY…", help="Keys of rows, as a screen shows them or as a JSON list."
)
@click.option("--took-effect", is_flag=True, help="The act was done.")
@click.option("--no-effect", is_flag=True, help="The act was not done, and nothing of it can come any more.")
@click.option("--because", metavar="WHY", help="How that is known; it stands with the outcome and in the journal.")
@options.as_json
def settle(
    plan: str, keys: tuple[str, ...], took_effect: bool, no_effect: bool, because: str | None, as_json: bool
) -> None:
    """Say what came of acts whose outcome nobody knows. Nothing is read or acted on.

    First let `fullcount apply PLAN` find out by reading. It takes a role that may approve.
    """
    from fullcount.compiler.document import workflow_from_document
    from fullcount.runtime.cli.ending import NotUnderstoodError
    from fullcount.runtime.cli.reports import settle_report
    from fullcount.runtime.cli.screen import show, show_json
    from fullcount.runtime.cli.session import session
    from fullcount.runtime.graphs import proposal_of
    from fullcount.runtime.understand.objects import written_key

    if took_effect == no_effect:
        raise NotUnderstoodError(
            "FC699", "an act took effect or it did not", help="say one of `--took-effect` and `--no-effect`"
        )
    if because is None or not because.strip():
        raise NotUnderstoodError("FC699", "an act is settled with a reason", help='--because "how you know"')
    with session() as here:
        stored = here.store.load_plan(plan)
        workflow = workflow_from_document(stored.document.program)
        inventory = workflow.inventories[proposal_of(workflow, stored.document.proposal).inventory]
        there = [row.key for row in stored.document.rows]
        named = [written_key(key, inventory, there) for key in keys]
        settled = here.engine.settle(stored, here.person, named, took_effect=took_effect, because=because.strip())
    if as_json:
        show_json(
            {
                "plan_id": stored.document.plan_id,
                "settled": [
                    {
                        "key": list(entry.object_key),
                        "act": entry.kind,
                        "outcome": entry.outcome,
                        "reason": entry.reason,
                        "detail": entry.detail,
                    }
                    for entry in settled
                ],
            }
        )
        return
    show(settle_report(stored, settled))

"""`fullcount undo`: plan to take back what was done, where nobody has changed it since."""

from __future__ import annotations

import click

from fullcount.runtime.cli import options


@options.command()
@click.argument("what", metavar="PLAN|RUN|OBJECT", help="A plan or a run, or the key of an object that was acted on.")
@click.argument(
    "objects",
    nargs=-1,
    metavar="[OBJECT…]",
    help="Only these objects of the plan or run, as a screen shows their keys or as JSON lists.",
)
@options.as_json
def undo(what: str, objects: tuple[str, ...], as_json: bool) -> None:
    """Plan to take back what was done. Reads each object, acts on nothing: approve and apply the plan.

    What was changed since is left alone. Ends with 5 when the undo waits for approval, with 0 when there is nothing to
    take back, and with 4 or 1 when there is and it can't be, or can't be told.
    """
    import asyncio

    from fullcount.runtime.cli.screen import show, show_json
    from fullcount.runtime.cli.session import session
    from fullcount.runtime.undoing import aim

    with session() as here:
        meant = aim(here.store, what, objects)
        end = asyncio.run(here.engine.plan_undo(meant.plan_id, here.person, meant.only, named=meant.named))
        acted = here.store.plan_brief(meant.plan_id)
        replaced = () if end.plan is None else here.store.replaced_by(end.plan.document.plan_id)
    if as_json:
        from fullcount.runtime.cli.plan import end_document

        show_json(end_document(end) | {"replaces": list(replaced)})
    else:
        from fullcount.runtime.cli.reports import replaced_report, told_report, undo_plan_report

        show(undo_plan_report(end, here.person, acted))
        if len(replaced) > 0:
            show(replaced_report(replaced))
        if end.told:
            show(told_report(end.told))
    raise click.exceptions.Exit(int(end.exit))

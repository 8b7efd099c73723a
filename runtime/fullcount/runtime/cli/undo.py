"""`fullcount undo`: take back what was done, where nobody has changed it since."""

from __future__ import annotations

import click

from fullcount.runtime.cli import options


@options.command()
@click.argument("what", metavar="PLAN|RUN|OBJECT", help="A plan or a run, or the key of an object that was acted on.")
@click.argument(
    "objects",
    nargs=-1,
    metavar="[OBJECT…]",
    help="Only these objects of the plan or run; a JSON list if the key has several fields.",
)
@options.as_json
def undo(what: str, objects: tuple[str, ...], as_json: bool) -> None:
    """Take back what was done, object by object. What was changed since is left alone."""
    from fullcount.runtime.cli.acting import run_to_its_end
    from fullcount.runtime.cli.reports import told_report, undo_report
    from fullcount.runtime.cli.screen import show, show_json
    from fullcount.runtime.cli.session import session
    from fullcount.runtime.undoing import aim

    with session() as here:
        meant = aim(here.store, what, objects)
        end = run_to_its_end(
            lambda stop, tell: here.engine.undo(
                meant.plan_id, here.person, stop=stop, progress=tell, only=meant.only, named=meant.named
            ),
            as_json,
        )
        head = here.store.head()
    if as_json:
        from fullcount.runtime.cli.acting import end_document

        show_json(end_document(end, "undo"))
    else:
        show(undo_report(end, head))
        if end.told:
            show(told_report(end.told))
    raise click.exceptions.Exit(int(end.exit))

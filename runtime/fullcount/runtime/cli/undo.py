"""`fullcount undo`: take back what a plan did, where nobody has changed it since."""

from __future__ import annotations

import click

from fullcount.runtime.cli import options


@options.command()
@options.plan_id
@options.as_json
def undo(plan: str, as_json: bool) -> None:
    """Take back what a plan did, object by object. What was changed since is left alone."""
    from fullcount.runtime.cli.acting import run_to_its_end
    from fullcount.runtime.cli.reports import told_report, undo_report
    from fullcount.runtime.cli.screen import show, show_json
    from fullcount.runtime.cli.session import session

    with session() as here:
        end = run_to_its_end(lambda stop, tell: here.engine.undo(plan, here.person, stop=stop, progress=tell), as_json)
        head = here.store.head()
    if as_json:
        from fullcount.runtime.cli.acting import end_document

        show_json(end_document(end, "undo"))
    else:
        show(undo_report(end, head))
        if end.told:
            show(told_report(end.told))
    raise click.exceptions.Exit(int(end.exit))

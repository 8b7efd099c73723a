"""`fullcount apply`: recheck and act on each object of an approved plan, once."""

from __future__ import annotations

import click

from fullcount.runtime.cli import options


@options.command()
@options.plan_id
@options.as_json
def apply(plan: str, as_json: bool) -> None:
    """Act on, or take back, what an approved plan lists. Each object is read again right before.

    Called again it does nothing twice: what was cut off is gone on with, what is done stays done.
    """
    from fullcount.runtime.act.backing_up import past_restoring
    from fullcount.runtime.cli.acting import run_to_its_end
    from fullcount.runtime.cli.reports import apply_report, told_report
    from fullcount.runtime.cli.screen import show, show_json
    from fullcount.runtime.cli.session import session

    with session() as here:
        end = run_to_its_end(lambda stop, tell: here.engine.apply(plan, here.person, stop=stop, progress=tell), as_json)
        head = here.store.head()
        too_late = past_restoring(here.store.last_acts(end.plan.document.plan_id), here.store.now())
        taken_back = sum(each.done for each in here.store.taken_back(end.plan.document.plan_id))
    if as_json:
        from fullcount.runtime.cli.acting import end_document

        show_json(end_document(end))
    else:
        show(apply_report(end, head, taken_back, too_late=too_late))
        if end.told:
            show(told_report(end.told))
    raise click.exceptions.Exit(int(end.exit))

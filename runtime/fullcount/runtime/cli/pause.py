"""`fullcount pause`: one workflow stops before its next act, and goes on when a person says so."""

from __future__ import annotations

import contextlib

import click

from fullcount.runtime.cli import options


@options.command()
@click.argument("workflow", help="The name of the workflow, as its plans have it.")
@click.argument("reason", required=False, help="Why it must wait; it is shown to all who then try.")
@click.option("--release", is_flag=True, help="Let it go on.")
@options.as_json
def pause(workflow: str, reason: str | None, release: bool, as_json: bool) -> None:
    """Pause one workflow, or let it go on. Without a reason it says whether the workflow is paused.

    What was done stays done and can be taken back; what was approved stays approved until that expires.
    """
    from fullcount.runtime.cli.ending import NotUnderstoodError
    from fullcount.runtime.cli.screen import show_json
    from fullcount.runtime.cli.session import reading_session, session
    from fullcount.runtime.store.errors import StoreMissing
    from fullcount.runtime.text import plain
    from fullcount.runtime.typed import argument

    if reason is not None and release:
        raise NotUnderstoodError(
            "FC699", "a reason pauses and `--release` goes on; it can't be both", help="see `fullcount pause --help`"
        )
    if reason is not None and not reason.strip():
        raise NotUnderstoodError("FC699", "a workflow is paused with a reason", help='`fullcount pause NAME "why"`')
    paused: str | None = None
    if release or reason is not None:
        with session() as here:
            if len(here.store.plans(1, workflow=workflow)) == 0:
                raise NotUnderstoodError(
                    "FC699",
                    f"there is no plan of a workflow `{workflow}`, so there is nothing to pause",
                    help="see the names   fullcount runs",
                )
            if release:
                here.store.unpause(workflow, here.person)
            elif reason is not None:
                here.store.pause(workflow, reason.strip(), here.person)
            paused = here.store.paused_because(workflow)
    else:
        with contextlib.suppress(StoreMissing), reading_session() as here:  # without a store nobody has paused anything
            paused = here.store.paused_because(workflow)
    name = plain(workflow)
    if as_json:
        show_json({"workflow": workflow, "paused": paused is not None, "reason": paused})
    elif paused is None:
        click.echo(f"`{name}` is not paused")
    else:
        release_it = f"fullcount pause {argument(workflow)} --release"
        click.echo(f"`{name}` is paused: {plain(paused)}\n  = help: let it go on with `{release_it}`")

"""`fullcount halt`: the kill switch. No act starts while it is on, in any process on this store."""

from __future__ import annotations

import contextlib

import click

from fullcount.runtime.cli import options


@options.command()
@click.argument("reason", required=False, help="Why acting must stop; it is shown to all who then try.")
@click.option("--release", is_flag=True, help="Allow acting again.")
@options.as_json
def halt(reason: str | None, release: bool, as_json: bool) -> None:
    """Stop all acting at once, or allow it again. Without a reason it says whether acting is stopped."""
    from fullcount.runtime.cli.ending import NotUnderstoodError
    from fullcount.runtime.cli.screen import show_json
    from fullcount.runtime.cli.session import reading_session, session
    from fullcount.runtime.store.errors import StoreMissing
    from fullcount.runtime.text import plain

    if reason is not None and release:
        raise NotUnderstoodError(
            "FC699", "a reason halts and `--release` allows again; it can't be both", help="see `fullcount halt --help`"
        )
    if reason is not None and not reason.strip():
        raise NotUnderstoodError("FC699", "acting is halted with a reason", help='`fullcount halt "why"`')
    halted: str | None = None
    if release or reason is not None:
        with session() as here:
            if release:
                here.store.resume(here.person)
            elif reason is not None:
                here.store.halt(reason.strip(), here.person)
            halted = here.store.halted()
    else:
        with contextlib.suppress(StoreMissing), reading_session() as here:  # without a store nobody has halted anything
            halted = here.store.halted()
    if as_json:
        show_json({"halted": halted is not None, "reason": halted})
    elif halted is None:
        click.echo("acting is allowed")
    else:
        click.echo(f"acting is halted: {plain(halted)}\n  = help: allow it again with `fullcount halt --release`")

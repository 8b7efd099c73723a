"""`fullcount halt`: the kill switch. No act starts while it is on, in any process on this store."""

from __future__ import annotations

from typing import Annotated

import typer

from fullcount.runtime.cli.options import AsJson


def halt(
    reason: Annotated[str, typer.Argument(help="Why acting must stop; it is shown to all who then try.")] = "",
    release: Annotated[bool, typer.Option("--release", help="Allow acting again.")] = False,
    as_json: AsJson = False,
) -> None:
    """Stop all acting at once, or allow it again; without a reason, say whether it is stopped."""
    from fullcount.runtime.cli.screen import show_json
    from fullcount.runtime.cli.session import session
    from fullcount.runtime.text import plain

    with session() as here:
        if release:
            here.store.resume(here.person)
        elif reason.strip():
            here.store.halt(reason.strip(), here.person)
        halted = here.store.halted()
    if as_json:
        show_json({"halted": halted is not None, "reason": halted})
    elif halted is None:
        typer.echo("acting is allowed")
    else:
        typer.echo(f"acting is halted: {plain(halted)}\n  = help: allow it again with `fullcount halt --release`")

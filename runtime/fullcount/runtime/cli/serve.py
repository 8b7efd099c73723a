"""`fullcount serve`: runs what is due, until it is stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fullcount.runtime.cli import options

if TYPE_CHECKING:
    from fullcount.runtime.cli.session import Session


@options.command()
@options.as_json
def serve(as_json: bool) -> None:
    """Run scheduled workflows when they are due. SIGTERM and SIGINT end it in good order.

    With `--json` the log is JSON lines. Several services may share one store: each planned instant is run once.
    """
    import asyncio

    from fullcount.runtime.cli.session import session
    from fullcount.runtime.service.logs import log_to_stderr
    from fullcount.runtime.workflow_files import UsageError

    with session() as here:
        folder = here.workspace.root / "workflows"
        if not folder.is_dir():
            raise UsageError(
                "FC692",
                f"there is no folder `{folder}`, so nothing would ever be run",
                help="make it, and put workflows with a `schedule` into it; `fullcount check` shows when they run",
            )
        log_to_stderr(as_json=as_json)
        asyncio.run(_serve(here))
    raise click.exceptions.Exit(0)


async def _serve(here: Session) -> None:
    import asyncio
    import signal

    from fullcount.runtime.service.nightly import NightlyService
    from fullcount.runtime.service.scheduled import ScheduledWorkflows

    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    load = ScheduledWorkflows(here.workspace, here.workspace.root / "workflows")
    await NightlyService(here.engine, here.person, load).run(stopping)

"""A nightly service with a short lease, as a process of its own: `python -m tests.support.serving` in a workspace."""

from __future__ import annotations

import asyncio
import signal
from datetime import timedelta

from fullcount.runtime.cli.session import session
from fullcount.runtime.service.logs import log_to_stderr
from fullcount.runtime.service.nightly import NightlyService
from fullcount.runtime.service.scheduled import ScheduledWorkflows

LEASE = timedelta(seconds=2)


async def serve() -> None:
    """Serve until SIGTERM."""
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    with session() as here:
        load = ScheduledWorkflows(here.workspace, here.workspace.root / "workflows")
        await NightlyService(here.engine, here.person, load, lease=LEASE, look_every=1).run(stopping)


if __name__ == "__main__":
    log_to_stderr(as_json=True)
    asyncio.run(serve())

"""The alarm clock: APScheduler 3, isolated here.

It holds no truth. It wakes the service at an instant; whether a slot is due, and whether this process may have it, is
decided from the store. Losing an alarm, or ringing it twice, is harmless.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime

from apscheduler.jobstores.memory import MemoryJobStore
from apscheduler.schedulers.asyncio import AsyncIOScheduler


class Alarm:
    """Wakes a coroutine at given instants, one pending alarm a name."""

    def __init__(self) -> None:
        self._scheduler = AsyncIOScheduler(
            jobstores={"default": MemoryJobStore()},
            # A late alarm must still ring: the store decides what is too late, not the alarm clock.
            job_defaults={"misfire_grace_time": None, "coalesce": True, "max_instances": 1},
            timezone="UTC",
        )

    def start(self) -> None:
        """Start ringing; must be called inside a running event loop."""
        self._scheduler.start()

    def at(self, name: str, instant: datetime, wake: Callable[[], Awaitable[None]]) -> None:
        """Ring once at `instant`; an alarm of the same name that has not rung yet is replaced."""
        self._scheduler.add_job(wake, "date", run_date=instant, id=name, replace_existing=True)

    def every(self, name: str, seconds: int, wake: Callable[[], Awaitable[None]]) -> None:
        """Ring each `seconds`."""
        self._scheduler.add_job(wake, "interval", seconds=seconds, id=name, replace_existing=True)

    def stop(self) -> None:
        """Stop ringing; a wake-up under way is not interrupted."""
        self._scheduler.shutdown(wait=False)

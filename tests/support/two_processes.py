"""Two processes that apply one plan: both at once, or one that is held up at a point and let go on when it has lost.

stopped = Held(folder, plan_id, "after_call", nth=7)   # stands still there, with its lease and whatever is under way
report = run_process(folder, plan_id, later=60)        # another one, after the lease of the first has run out
late = stopped.go_on()                                 # what the first one reports in the end
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import time
from pathlib import Path
from typing import Any

from tests.support import crash_driver


def child(folder: str, plan_id: str, point: str, nth: int, answer: str) -> None:
    """Be the process: apply, and write the report, or what it ended in."""
    order = crash_driver.Order(folder, plan_id, point=point, nth=nth, trouble="stop")
    Path(answer).write_text(json.dumps(asyncio.run(crash_driver.obey(order))))


class Process:
    """One process that applies."""

    def __init__(self, folder: Path, plan_id: str, point: str = "none", nth: int = 1, name: str = "first") -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__])
        self._answer = folder / f"answer-{name}.json"
        self._process = context.Process(target=child, args=(str(folder), plan_id, point, nth, str(self._answer)))
        self._process.start()

    def report(self) -> dict[str, Any]:
        """Wait for its end, and return what it said."""
        self._process.join(60)
        assert self._process.exitcode == 0, self._process.exitcode
        found: dict[str, Any] = json.loads(self._answer.read_text())
        return found

    def held(self) -> None:
        """Wait until it stands still."""
        stat = Path(f"/proc/{self._process.pid}/stat")
        for _ in range(3_000):
            if stat.read_text().rpartition(")")[2].split()[0] == "T":
                return
            assert self._process.exitcode is None, "it came to its end instead"
            time.sleep(0.01)
        raise AssertionError("it never came to that point")

    def go_on(self) -> dict[str, Any]:
        """Let it go on, and return what it says in the end."""
        os.kill(self._process.pid or 0, signal.SIGCONT)
        return self.report()

"""Applies a plan of a workspace in a process of its own, which kills itself with SIGKILL at a chosen point.

    killed = run_process(folder, plan_id, "after_call", nth=37)      # the exit status is -SIGKILL
    report = run_process(folder, plan_id)                            # runs to the end

The faults are injected from here, around the store and the actor that the product is handed; the product knows nothing
of them. Processes are forked from a server that has everything imported, so that each costs little.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fullcount.runtime import engine
from fullcount.runtime.act.context import Progress
from fullcount.runtime.approve.identity import current_person
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.connectors.base import ActCall, ActResult, SourceActor
from fullcount.runtime.store.store import Store
from fullcount.runtime.workspace import Workspace

POINTS = (
    "before_intents",
    "in_intents_commit",
    "after_intents",
    "before_call",
    "after_call",
    "before_outcomes",
    "in_outcomes_commit",
    "after_outcomes",
    "before_finish",
    "none",
)


CANARY_POINTS = (
    "before_canary_wait",
    "in_canary_wait_commit",
    "after_canary_wait",
    "in_wait",
    "before_canary_pass",
    "in_canary_pass_commit",
    "after_canary_pass",
)
"""Those of a plan with a canary; `in_wait` is passed each second that a run sits the wait out."""


class Fault:
    """Counts how often each point is passed, and ends the process at the chosen one."""

    def __init__(self, point: str, nth: int) -> None:
        assert point in (*POINTS, *CANARY_POINTS), point
        self.point, self.left = point, nth

    def at(self, point: str) -> None:
        """Pass a point."""
        if point == self.point:
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


class FaultyStore(Store):
    """A store that may end the process around and inside its transactions."""

    fault = Fault("none", 0)
    _inside = ""

    @contextmanager
    def writing(self) -> Iterator[Any]:
        """See `Store.writing`; the point is passed after every statement and before the commit."""
        with super().writing() as tx:
            yield tx
            tx.session.flush()
            if self._inside:
                self.fault.at(f"in_{self._inside}_commit")

    def record_intents(self, *args: Any, **kw: Any) -> Any:
        """See `Store.record_intents`."""
        return self._around("intents", super().record_intents, *args, **kw)

    def record_outcomes(self, *args: Any, **kw: Any) -> Any:
        """See `Store.record_outcomes`."""
        return self._around("outcomes", super().record_outcomes, *args, **kw)

    def begin_canary_wait(self, *args: Any, **kw: Any) -> Any:
        """See `Store.begin_canary_wait`."""
        return self._around("canary_wait", super().begin_canary_wait, *args, **kw)

    def pass_canary(self, *args: Any, **kw: Any) -> Any:
        """See `Store.pass_canary`."""
        return self._around("canary_pass", super().pass_canary, *args, **kw)

    def finish_apply(self, *args: Any, **kw: Any) -> Any:
        """See `Store.finish_apply`."""
        self.fault.at("before_finish")
        return super().finish_apply(*args, **kw)

    def _around(self, name: str, real: Any, *args: Any, **kw: Any) -> Any:
        self.fault.at(f"before_{name}")
        self._inside = name
        try:
            answer = real(*args, **kw)
        finally:
            self._inside = ""
        self.fault.at(f"after_{name}")
        return answer


class FaultyActor:
    """An actor that may end the process around a call."""

    def __init__(self, real: SourceActor, fault: Fault) -> None:
        self._real, self._fault = real, fault

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    async def perform(self, call: ActCall) -> ActResult:
        """See `SourceActor.perform`."""
        self._fault.at("before_call")
        result = await self._real.perform(call)
        self._fault.at("after_call")
        return result


async def run(folder: Path, plan_id: str, fault: Fault, later: timedelta) -> dict[str, Any]:
    """Apply the plan."""
    workspace = Workspace.load(folder)
    real_open = engine.open_actor

    def clock() -> datetime:
        return datetime.now(UTC) + later

    async def open_actor(*args: Any) -> Any:
        return FaultyActor(await real_open(*args), fault)

    engine.open_actor = open_actor
    FaultyStore.fault = fault
    with FaultyStore.open(workspace.store_url, clock=clock) as store:
        runner = engine.Engine(workspace, store, SnapshotStore(workspace.snapshot_dir), clock=clock)

        def told(progress: Progress) -> None:
            if progress.waits_until is not None:
                fault.at("in_wait")

        end = await runner.apply(plan_id, current_person(), progress=told)
    report = end.report
    if report is None:
        return {"exit": int(end.exit), "refusals": [r.model_dump(mode="json") for r in end.refusals]}
    return {
        "exit": int(report.exit),
        "sums_hold": report.sums_hold,
        "repeated": report.repeated,
        "counts": {outcome.value: n for outcome, n in report.counts.items() if n > 0},
        "stopped_by": None if report.stopped_by is None else report.stopped_by.message,
    }


def child(folder: str, plan_id: str, point: str, nth: int, later: float, answer: str) -> None:
    """Be the process: apply, and write the report."""
    report = asyncio.run(run(Path(folder), plan_id, Fault(point, nth), timedelta(seconds=later)))
    Path(answer).write_text(json.dumps(report))


def run_process(
    folder: Path, plan_id: str, point: str = "none", *, nth: int = 1, later: float = 0
) -> tuple[int | None, dict[str, Any] | None]:
    """Apply in a process of its own; return its exit status, and its report if it lived to write one.

    `later` moves its clock on by so many seconds, so that the lease of a killed run has ended.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    answer = folder / "answer.json"
    answer.unlink(missing_ok=True)
    process = context.Process(target=child, args=(str(folder), plan_id, point, nth, later, str(answer)))
    process.start()
    process.join(60)
    if process.exitcode is None:
        process.kill()
        process.join()
    return process.exitcode, json.loads(answer.read_text()) if answer.exists() else None

"""Applies or undoes a plan in a process of its own, which ends by SIGKILL at a chosen point, or after a chosen time.

    run_process(folder, plan_id, "after_call", nth=37)        # the exit status is -SIGKILL
    run_process(folder, plan_id, after=0.05)                  # killed from outside, wherever it may be by then
    status, report = run_process(folder, plan_id)             # runs to the end

The faults are injected from here, around the transactions of the store and the actor that the product is handed; the
product knows nothing of them. A point of the store is named for what is being recorded, not for the method that does
it. Processes are forked from one that has everything imported (`crash_nursery`), so that each costs little.
"""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from fullcount.runtime import engine
from fullcount.runtime.act.context import Progress
from fullcount.runtime.approve.identity import current_person
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.connectors.base import ActCall, ActResult, SourceActor
from fullcount.runtime.connectors.files import disk
from fullcount.runtime.errors import FullcountError
from fullcount.runtime.journal.payloads import Payload
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.transaction import Transaction
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
"""Those that every apply passes. `in_…_commit`: every statement of the transaction was sent, and not its commit."""

EDGE_POINTS = (
    "before_claim",
    "before_began",
    "before_run_finished",
    "in_began_commit",
    "after_began",
    "in_finish_commit",
    "after_finish",
    "in_claim_commit",
    "after_claim",
    "in_release_commit",
    "in_run_finished_commit",
)
"""Those at the beginning and at the end of a run."""

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

FILE_POINTS = ("in_files",)
"""Right before each call of the connector for files that changes something on the disk."""

RECORDED = {
    "intents": "intents",
    "outcomes": "outcomes",
    "canary_waits": "canary_wait",
    "canary_passed": "canary_pass",
    "apply_began": "began",
    "apply_ended": "finish",
    "lease_claimed": "claim",
    "lease_released": "release",
    "run_finished": "run_finished",
}
"""The part of a point's name that stands for what a transaction records, by the kind of the journal's entry."""


@dataclass(frozen=True)
class Order:
    """What one process is to do. `later`: seconds by which its clock is ahead, so that a dead run's lease has ended."""

    folder: str
    plan_id: str
    point: str = "none"
    nth: int = 1
    later: float = 0.0
    after: float | None = None
    """Seconds after which the process is killed from outside, wherever it is."""
    trouble: str = "kill"
    """What happens at the point: `kill`; `full`: from then on nothing more can be written to any file of this process;
    `read_only`: from then on the store does not let itself be written to; `stop`: it stands still until it is told to
    go on."""
    answer: str = ""


class Fault:
    """Counts how often each point is passed, and lets its trouble begin at the chosen one."""

    def __init__(self, point: str, nth: int, trouble: str = "kill") -> None:
        assert point in (*POINTS, *EDGE_POINTS, *CANARY_POINTS, *FILE_POINTS), point
        self.point, self.left, self.trouble = point, nth, trouble

    def at(self, point: str, connection: Connection | None = None) -> None:
        """Pass a point. `connection`: that of the transaction that it is in, or after."""
        if point == self.point:
            self.left -= 1
            if self.left == 0:
                self._begin()
        if self.left <= 0 and self.trouble == "read_only" and connection is not None:
            connection.exec_driver_sql("PRAGMA query_only = ON")

    def _begin(self) -> None:
        if self.trouble == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.trouble == "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        if self.trouble == "full":
            _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, most))


class FaultyTransaction(Transaction):
    """A transaction that notes what is recorded in it."""

    fault = Fault("none", 0)
    names: tuple[str, ...] = ()

    def record(self, payload: Payload, *, run_id: str | None = None) -> int:
        """See `Transaction.record`; nothing of the change is durable yet."""
        name = RECORDED.get(payload.KIND)
        if name is not None and name not in self.names:
            self.names = (*self.names, name)
            self.fault.at(f"before_{name}", self.session.connection())
        return super().record(payload, run_id=run_id)


class FaultyStore(Store):
    """A store that may end the process around and inside its transactions."""

    fault = Fault("none", 0)

    @contextmanager
    def writing(self) -> Iterator[Any]:
        """See `Store.writing`; the point is passed after every statement and before the commit."""
        with super().writing() as real:
            tx = FaultyTransaction(session=real.session, now=real.now, head=real.head)
            tx.fault = self.fault
            self.fault.at("begin", real.session.connection())
            yield tx
            tx.session.flush()
            for name in tx.names:
                self.fault.at(f"in_{name}_commit", real.session.connection())
        for name in tx.names:
            self.fault.at(f"after_{name}")


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


async def obey(order: Order) -> dict[str, Any]:
    """Apply the plan, also one that is an undo, and return what came of it."""
    workspace = Workspace.load(Path(order.folder))
    real_open, fault, later = (
        engine.open_actor,
        Fault(order.point, order.nth, order.trouble),
        timedelta(seconds=order.later),
    )

    def clock() -> datetime:
        return datetime.now(UTC) + later

    async def open_actor(*args: Any) -> Any:
        return FaultyActor(await real_open(*args), fault)

    engine.open_actor = open_actor
    steps = {name: getattr(disk, name) for name in _DISK_STEPS} if order.point in FILE_POINTS else {}
    for name, real in steps.items():
        setattr(disk, name, _passing(real, fault))
    try:
        return await _act(order, workspace, fault, clock)
    finally:
        engine.open_actor = real_open
        for name, real in steps.items():
            setattr(disk, name, real)


_DISK_STEPS = ("rename", "rename_to_free", "make_folder", "write", "settle", "unlink", "remove_folder")


def _passing(real: Callable[..., Any], fault: Fault) -> Callable[..., Any]:
    def step(*given: Any) -> Any:
        fault.at("in_files")
        return real(*given)

    return step


async def _act(order: Order, workspace: Workspace, fault: Fault, clock: Callable[[], datetime]) -> dict[str, Any]:
    FaultyStore.fault = fault
    with FaultyStore.open(workspace.store_url, clock=clock) as store:
        runner = engine.Engine(workspace, store, SnapshotStore(workspace.snapshot_dir), clock=clock)

        def told(progress: Progress) -> None:
            if progress.waits_until is not None:
                fault.at("in_wait")

        try:
            end = await runner.apply(order.plan_id, current_person(), progress=told)
        except FullcountError as error:
            return {"exit": int(error.exit), "error": {"code": error.code, "message": error.message}}
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


def run_process(
    folder: Path, plan_id: str, point: str = "none", *, nth: int = 1, later: float = 0, **more: Any
) -> tuple[int | None, dict[str, Any] | None]:
    """Act in a process of its own; return its exit status, and its report if it lived to write one.

    `later` moves its clock on by so many seconds, so that the lease of a killed run has ended. `after`: seconds after
    which it is killed from outside. The status is None if it had to be ended because it never did.
    """
    from tests.support.crash_nursery import nursery

    answer = str(folder / "answer.json")
    return nursery().run(asdict(Order(str(folder), plan_id, point=point, nth=nth, later=later, answer=answer, **more)))

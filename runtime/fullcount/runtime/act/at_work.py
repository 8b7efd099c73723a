"""Whether somebody is at work on a plan that was begun, by its lease: who holds it, and whether that process is there.

Guarantees: a plan counts as being acted on only while its lease is in force, for a run of this very plan, and its
holder is not known to be gone. Nothing is claimed and nothing is written.
"""

from __future__ import annotations

import os
import socket

from fullcount.runtime.plan.review import Standstill
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.views import PlanState, StoredPlan


def standstill(store: Store, plan: StoredPlan) -> Standstill | None:
    """Return how a plan that was begun came to stand still; None: it was not begun, or somebody is at work on it."""
    if plan.state is not PlanState.APPLYING:
        return None
    document = plan.document
    lease = store.plan_lease(document.acted_plan_id)
    if lease is None:
        return Standstill(cut_off=False, why="no run is at work on it")
    run = store.find_run(lease.holder.rpartition("/")[2])
    if run is None or run.plan_id != document.plan_id:  # who holds it is at something else, an undo for instance
        return Standstill(cut_off=False, why="no run is at work on it")
    gone = is_gone(lease.holder)
    if lease.expires_at > store.now():
        if not gone:
            return None
        ends = f"its hold ends at {lease.expires_at:%H:%M:%S} UTC"
        return Standstill(cut_off=True, why=f"{_process(lease.holder)} no longer runs; {ends}")
    if run.finished_at is not None:
        return Standstill(cut_off=False, why="its last run ended before all of it was done")
    how = "no longer runs" if gone else "let its hold run out"
    return Standstill(cut_off=True, why=f"{_process(lease.holder)} {how}")


def is_gone(holder: str) -> bool:
    """Whether the holder of a lease was a process of this host that is no longer there."""
    host, _, rest = holder.partition("/")
    process = rest.partition("/")[0]
    return host == socket.gethostname() and process.isdecimal() and not _runs(int(process))


def _runs(process: int) -> bool:
    """Whether there is a process of this number here; also when that can't be told."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _process(holder: str) -> str:
    match holder.split("/"):
        case [host, process, _] if process.isdecimal():
            return f"process {process} on `{host}`"
        case _:
            return f"`{holder}`"

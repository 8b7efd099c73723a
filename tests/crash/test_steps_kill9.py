"""`kill -9` in two nights of a graduated act: each step is done once to each object, and its clock is its own."""

from __future__ import annotations

import asyncio
import signal
from datetime import timedelta

import pytest
from tests.crash import preparing
from tests.crash.test_kill9 import Prepared, problems
from tests.support.crash_driver import run_process

from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.store.store import Store
from fullcount.runtime.workspace import Workspace

pytestmark = [pytest.mark.slow, pytest.mark.requirement("R29", "R30", "R32", "R34")]

OBJECTS = 60
DAYS = timedelta(days=14)
MINUTE = 60
KILLS = [
    (("before_call", 1), ("after_call", 37)),
    (("after_call", 1), ("in_outcomes_commit", 2)),
]


@pytest.fixture(scope="module")
def steps(tmp_path_factory):
    """A database, and an approved plan of the first step of its rows."""
    return Prepared(tmp_path_factory.mktemp("steps"), preparing.prepare_steps, OBJECTS)


def clocks(folder):
    """Return each clock with the outcome of the act that set it, by account."""
    with Store.open(Workspace.load(folder).store_url) as store:
        rows = store.steps("lock_orphans", "lock")
        outcomes = {}
        for plan_id in {row.plan_id for row in rows}:
            outcomes |= {(plan_id, entry.object_key): entry for entry in store.ledger(plan_id)}
    return {row.object_key[0]: (row, outcomes[row.plan_id, row.object_key]) for row in rows}


def night(folder, plan_id, kill, *, after):
    """Apply a plan in a process that is killed, then in one that is not."""
    point, nth = kill
    status, _ = run_process(folder, plan_id, point, nth=nth, later=after)
    assert status == -signal.SIGKILL
    assert problems(folder) == []
    status, report = run_process(folder, plan_id, later=after + MINUTE)
    assert (status, report["counts"], report["stopped_by"]) == (0, {"done": OBJECTS}, None)
    assert problems(folder) == []


@pytest.mark.parametrize(("first", "second"), KILLS)
def test_each_step_is_done_once_although_both_nights_were_killed(steps, first, second):
    """Marked once and locked once, never early, and each clock runs from the outcome that was recorded."""
    folder, plan_id = steps.anew()
    night(folder, plan_id, first, after=0)
    assert set(map(tuple, preparing.sql_writes(folder).values())) == {(0,)}
    for row, entry in clocks(folder).values():
        assert (row.step, row.since, entry.outcome) == ("mark", entry.outcome_at, Outcome.DONE)

    latest = DAYS + timedelta(seconds=2 * MINUTE)
    with pytest.raises(AssertionError):  # nothing is listed: every clock still runs
        asyncio.run(preparing.approved_plan(folder, OBJECTS, later=DAYS - timedelta(seconds=MINUTE)))
    locking = asyncio.run(preparing.approved_plan(folder, OBJECTS, later=latest))
    night(folder, locking, second, after=latest.total_seconds())

    assert preparing.sql_writes(folder) == {f"a{n:05}": [0, 1] for n in range(OBJECTS)}
    for row, entry in clocks(folder).values():
        assert (row.step, row.since, row.plan_id) == ("lock", entry.outcome_at, locking)

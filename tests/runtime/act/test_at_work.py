"""A plan that was begun is called acted on only while a living run of this very plan holds its lease."""

from __future__ import annotations

import os
import socket
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from fullcount.runtime.act.at_work import standstill
from fullcount.runtime.store.views import Fence, PlanState

NOW = datetime(2026, 12, 7, 9, tzinfo=UTC)
HERE, GONE = os.getpid(), 2**22 + 1
LATER, BEFORE = timedelta(seconds=20), timedelta(seconds=-20)


def looked_at(*, state=PlanState.APPLYING, undoes=None, process=HERE, left=LATER, of="P", ended=False, host=None):
    """Look at a plan `P` whose lease, or that of the plan it undoes, a run of the plan `of` was the last to claim."""
    holder = f"{socket.gethostname() if host is None else host}/{process}/R"
    leases = {"P" if undoes is None else undoes: Fence("", holder, 1, NOW + left)}
    store = SimpleNamespace(
        plan_lease=leases.get,
        now=lambda: NOW,
        find_run=lambda _: SimpleNamespace(plan_id=of, finished_at=NOW if ended else None),
    )
    document = SimpleNamespace(plan_id="P", acted_plan_id="P" if undoes is None else undoes)
    return standstill(store, SimpleNamespace(state=state, document=document))


@pytest.mark.requirement("R39")
@pytest.mark.parametrize("undoes", [None, "Q"])
def test_a_plan_that_nobody_is_at_work_on_is_not_acted_on(undoes):
    """Its run ended, was killed, or what holds the lease is another plan's run; the same for an undo."""
    ended = looked_at(undoes=undoes, left=BEFORE, ended=True)
    assert (ended.cut_off, ended.why) == (False, "its last run ended before all of it was done")
    other = looked_at(undoes=undoes, of="another")
    assert (other.cut_off, other.why) == (False, "no run is at work on it")
    killed = looked_at(undoes=undoes, process=GONE)
    assert killed.cut_off
    assert f"process {GONE} on " in killed.why
    assert killed.why.endswith("no longer runs; its hold ends at 09:00:20 UTC")
    assert looked_at(undoes=undoes, process=GONE, left=BEFORE).why.endswith("no longer runs")
    assert looked_at(undoes=undoes, host="elsewhere", left=BEFORE).why.endswith("let its hold run out")


def test_a_plan_that_a_living_run_holds_is_acted_on():
    """So is one whose holder can't be looked for from here; and what was never begun does not stand still."""
    assert looked_at() is None
    assert looked_at(undoes="Q") is None
    assert looked_at(host="elsewhere") is None
    assert looked_at(state=PlanState.WAITING, left=BEFORE) is None

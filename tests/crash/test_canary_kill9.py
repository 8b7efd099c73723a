"""`kill -9` around and in the wait for a canary: the wait goes on, and each object is changed once."""

from __future__ import annotations

import signal

import pytest
from tests.crash import preparing
from tests.crash.test_kill9 import Prepared, assert_finished, problems
from tests.support.crash_driver import CANARY_POINTS, run_process

from fullcount.runtime.store.store import Store
from fullcount.runtime.workspace import Workspace

pytestmark = [pytest.mark.slow, pytest.mark.requirement("R29", "R32", "R34", "R43")]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A database with an approved plan over many of its rows, the first twenty of them a canary."""
    return Prepared(tmp_path_factory.mktemp("canary"), preparing.prepare_canary)


def wait_of(folder, plan_id):
    with Store.open(Workspace.load(folder).store_url) as store:
        return store.canary(plan_id)


@pytest.mark.parametrize("point", CANARY_POINTS)
def test_an_apply_that_is_killed_around_its_canary_goes_on_and_changes_each_row_once(prepared, point):
    """A wait that was recorded is never begun anew; no more than the canary was changed before it had passed."""
    folder, plan_id = prepared.anew()
    status, _ = run_process(folder, plan_id, point)
    assert status == -signal.SIGKILL
    assert problems(folder) == []
    before = wait_of(folder, plan_id)
    changed = sum(preparing.sql_changes(folder).values())
    assert changed == 20
    status, report = run_process(folder, plan_id, later=60)
    assert (status, report["exit"], report["counts"]) == (0, 0, {"done": preparing.OBJECTS})
    after = wait_of(folder, plan_id)
    if before is not None:
        assert (after.waits_from, after.waits_until) == (before.waits_from, before.waits_until)
    assert len(after.object_keys) == 20
    assert set(preparing.sql_changes(folder).values()) == {1}
    assert preparing.sql_is_done(folder)
    assert_finished(folder, plan_id)


def test_a_canary_that_was_spoilt_while_the_run_was_dead_stops_the_rest(prepared):
    """The look after the wait is that of whichever run comes to it."""
    folder, plan_id = prepared.anew()
    assert run_process(folder, plan_id, "in_wait")[0] == -signal.SIGKILL
    with preparing.database(folder) as db:
        db.execute("UPDATE accounts SET locked = 0, version = version + 1 WHERE id = 'a00003'")
    _, report = run_process(folder, plan_id, later=60)
    assert "the canary does not hold: 1 of 20: a00003" in report["stopped_by"]
    assert report["counts"] == {"done": 20, "not_started": preparing.OBJECTS - 20}

"""`kill -9` at each point of the rehearsal of a restore: it goes on, and each of its two acts is done once."""

from __future__ import annotations

import signal

import pytest
from tests.crash import preparing
from tests.crash.test_kill9 import Prepared, assert_finished, problems
from tests.support.crash_driver import run_process
from tests.support.profiles import nightly

from fullcount.runtime.store.store import Store
from fullcount.runtime.workspace import Workspace

pytestmark = [pytest.mark.slow, pytest.mark.requirement("R29", "R32", "R34", "R43")]

_AROUND = ("before_intents", "in_intents_commit", "after_intents", "before_outcomes", "in_outcomes_commit")
_EVERY = [
    *((point, nth) for point in _AROUND for nth in (2, 3)),
    *((point, nth) for point in ("before_call", "after_call") for nth in (3, 4)),
    ("after_outcomes", 2),
    ("before_canary_pass", 1),
]
"""The second group is the restore, the third the act after it; before both, two objects were called for."""
KILLS = _EVERY if nightly() else [("after_call", 3), ("after_outcomes", 2)]


STEPS = _EVERY if nightly() else [("before_intents", 1), ("before_call", 4)]
"""The first is between the backups of a canary and its acts, the other between that of a rehearsal and its act."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A database with an approved plan over four of its rows, the first two of them a canary."""
    return Prepared(tmp_path_factory.mktemp("rehearsal"), preparing.prepare_rehearsal, 4)


@pytest.fixture(scope="module")
def prepared_step(tmp_path_factory):
    """The same, where the deletion is a step of a graduated act."""
    return Prepared(tmp_path_factory.mktemp("step"), preparing.prepare_rehearsed_step, 4)


@pytest.mark.parametrize(("point", "nth"), STEPS)
def test_a_step_that_is_killed_in_its_rehearsal_goes_on_and_stands_where_it_belongs(prepared_step, point, nth):
    """As a plain act does; and the clock of each object says that it is deleted."""
    folder, plan_id = prepared_step.anew()
    status, _ = run_process(folder, plan_id, point, nth=nth)
    assert status == -signal.SIGKILL
    assert problems(folder) == []
    status, report = run_process(folder, plan_id, later=60)
    assert (status, report["exit"], report["counts"]) == (0, 0, {"done": 4})
    assert preparing.sql_writes(folder) == {"a00000": [1, 0, 1], **{f"a0000{n}": [1] for n in (1, 2, 3)}}
    assert_finished(folder, plan_id, 4)
    with Store.open(Workspace.load(folder).store_url) as store:
        assert {(row.step, row.standing.value) for row in store.steps("lock_orphans", "lock")} == {("delete", "open")}


@pytest.mark.parametrize(("point", "nth"), KILLS)
def test_an_apply_that_is_killed_in_its_rehearsal_goes_on_and_does_each_act_once(prepared, point, nth):
    """One row is deleted, restored and deleted again, the others are deleted; what is in between verifies."""
    folder, plan_id = prepared.anew()
    status, _ = run_process(folder, plan_id, point, nth=nth)
    assert status == -signal.SIGKILL
    assert problems(folder) == []
    assert {key for key, writes in preparing.sql_writes(folder).items() if len(writes) > 1} <= {"a00000"}
    status, report = run_process(folder, plan_id, later=60)
    assert (status, report["exit"], report["counts"]) == (0, 0, {"done": 4})
    assert preparing.sql_writes(folder) == {"a00000": [1, 0, 1], **{f"a0000{n}": [1] for n in (1, 2, 3)}}
    assert_finished(folder, plan_id, 4)

"""A store that can't be written to any more, at each of its commits: the run stops and does nothing unrecorded.

The target is an API in another process, so that it does not run out of space with the store.
"""

from __future__ import annotations

import pytest
from tests.crash.judging import at_any_time, ended, verified
from tests.crash.targets import OBJECTS, Kept
from tests.support.crash_driver import run_process

pytestmark = [pytest.mark.slow, pytest.mark.requirement("R29", "R32", "R34", "R43")]

RECORDED = ("claim", "began", "intents", "outcomes", "finish", "run_finished")
POINTS = {"full": [f"in_{name}_commit" for name in RECORDED], "read_only": [f"before_{name}" for name in RECORDED]}
"""A file system takes what is written until it is committed; a database says it at the statement."""
LEASE = 40


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The targets of this module."""
    made = Kept(tmp_path_factory.mktemp("targets"))
    yield made
    made.close()


@pytest.mark.parametrize("trouble", ["full", "read_only"])
def test_a_store_that_takes_nothing_more_stops_the_run_and_loses_nothing(kept, trouble):
    """Each run that could not record something says so, what was called has its intent, and in the end all is done."""
    target = kept.of("patch_etag-3")
    target.anew(None)
    for number, point in enumerate(POINTS[trouble]):
        before = sum(target.effects().done.values())
        status, report = run_process(target.folder, target.plan_id, point, trouble=trouble, later=LEASE * number)
        assert status == 0, (point, report)
        told = report.get("error", {}).get("message") or report["stopped_by"]
        assert report["exit"] == 1, (point, report)
        assert "the store does not answer" in told, (point, report)
        at_any_time(target)
        if number < 3:  # nothing was meant
            assert sum(target.effects().done.values()) == before, point
    for again in range(2):
        status, report = run_process(target.folder, target.plan_id, later=LEASE * (len(RECORDED) + again))
        assert (status, report["exit"], report["counts"]) == (0, 0, {"done": OBJECTS})
    ended(target, "apply")
    verified(target)

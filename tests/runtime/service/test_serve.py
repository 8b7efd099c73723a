"""`fullcount serve` as a process of its own: signals, two of them on one store, and one that is killed."""

import signal
from collections import Counter
from itertools import pairwise

import pytest
from tests.support.workspaces import ORPHANS, Served

pytestmark = pytest.mark.slow


def slots(bench):
    return bench.run("runs", "--limit", "500", "--json").json["slots"]


def runs(bench):
    return bench.run("runs", "--limit", "500", "--json").json["runs"]


@pytest.mark.requirement("R36", "R44")
def test_each_run_ends_as_what_it_is_and_sigterm_ends_the_service_well(bench):
    """Refused, waiting, nothing to do, failed: each is recorded as such; SIGTERM ends all of it with exit 0."""
    bench.rule("waiting", schedule="schedule every 2s")
    bench.rule("refused", schedule="schedule every 2s", people_claims="rows at least 100")
    bench.rule("nothing", schedule="schedule every 2s", scope='id == "a06"')
    bench.rule("failing", schedule="schedule every 2s", param="param team: text")
    bench.rule("mistaken", schedule="schedule every 2s", limit="?")
    with Served(bench.start("serve", "--json")) as served:
        assert set(served.until("serving")["workflows"]) == {"waiting", "refused", "nothing", "failing"}
        wanted = {"waiting", "refused", "nothing"}
        while wanted:
            entry = served.until("run ended")
            assert entry["workflow"] == entry["state"]
            wanted.discard(entry["workflow"])
        assert served.stop() == 0
        assert served.log[-1]["event"] == "stopped"
        events = Counter(entry["event"] for entry in served.log)
        assert events["run failed"] >= 1
        assert events["not served: the workflow has mistakes"] == 1
    assert all(slot["state"] != "claimed" for slot in slots(bench))
    assert bench.locked() == set()
    assert bench.run("verify").exit == 0


@pytest.mark.requirement("R29")
def test_two_services_on_one_store_run_each_slot_once(bench):
    """Whichever of them takes a slot, no slot is run twice, and none is run at the same time as another."""
    bench.rule("waiting", schedule="schedule every 1s")
    with Served(bench.start("serve", "--json")) as one, Served(bench.start("serve", "--json")) as other:
        for served in (one, other, one, other):
            served.until("run ended" if served.log else "serving")
        assert (one.stop(), other.stop()) == (0, 0)
    taken = [entry["planned_at"] for served in (one, other) for entry in served.log if entry["event"] == "slot taken"]
    assert len(taken) == len(set(taken))
    by_slot = Counter(run["slot_id"] for run in runs(bench))
    assert set(by_slot.values()) == {1}
    in_time = sorted((run["started_at"], run["finished_at"]) for run in runs(bench))
    assert all(ended <= begun for (_, ended), (begun, _) in pairwise(in_time))
    assert bench.run("verify").exit == 0


@pytest.mark.requirement("R29", "R38")
def test_two_services_on_one_store_act_on_each_object_once(bench):
    """What was approved is applied by one of them, in one run; each account has been changed once."""
    bench.rule(schedule="schedule every 1s")
    bench.approved()
    before = dict(bench.sql("directory", "SELECT id, row_version FROM accounts"))
    with Served(bench.start("serve", "--json")) as one, Served(bench.start("serve", "--json")) as other:
        for served in (one, other, one, other):
            served.until("run ended" if served.log else "serving")
        assert (one.stop(), other.stop()) == (0, 0)
    after = dict(bench.sql("directory", "SELECT id, row_version FROM accounts"))
    assert {key: after[key] - before[key] for key in before} == {key: int(key in ORPHANS) for key in before}
    assert bench.locked() == set(ORPHANS)
    assert bench.run("verify").exit == 0


@pytest.mark.requirement("R32")
def test_killed_service_leaves_a_slot_that_the_next_one_closes_and_goes_on(bench):
    """After `kill -9` in the middle of a run, a service that is started again closes the slot and runs the next one."""
    bench.rule("waiting", schedule="schedule every 1s")
    with Served(bench.python("-m", "tests.support.serving")) as killed:
        killed.until("slot taken")
        killed.process.kill()
        killed.process.wait(10)
    assert [slot["state"] for slot in slots(bench)].count("claimed") == 1
    with Served(bench.python("-m", "tests.support.serving")) as served:
        served.until("interrupted slot")
        served.until("run ended", state="waiting")
        assert served.stop() == 0
    assert all(slot["state"] != "claimed" for slot in slots(bench))
    assert sum(slot["detail"].startswith("interrupted") for slot in slots(bench)) >= 1
    assert bench.run("verify").exit == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_service_without_workflows_serves_and_ends_on_a_signal(bench, number):
    """Nothing to serve is no error, since workflows may come later; what it waits for is said."""
    for path in (bench.root / "workflows").glob("*.fcw"):
        path.unlink()
    with Served(bench.start("serve", "--json")) as served:
        assert "workflows" in served.until("nothing is scheduled")["waits_for"]
        assert served.until("serving")["workflows"] == []
        assert served.stop(number) == 0


def test_service_outside_a_workspace_ends_with_a_code(bench):
    """No configuration, no service."""
    (bench.root / "fullcount.toml").unlink()
    with bench.start("serve", "--json") as running:
        out, _ = running.communicate(timeout=60)
    assert (running.returncode, "FC601" in out) == (1, True)

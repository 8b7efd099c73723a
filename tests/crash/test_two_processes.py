"""Two processes apply one plan at once: each object once, and the one that lost its lease writes no more."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.crash import preparing
from tests.crash.test_kill9 import Prepared
from tests.support.crash_driver import run_process
from tests.support.postgres import running_cluster
from tests.support.profiles import some
from tests.support.two_processes import Process

from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.journal.verify import verify
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.views import PlanState
from fullcount.runtime.workspace import Workspace

pytestmark = [pytest.mark.slow, pytest.mark.requirement("R29", "R30", "R32", "R34", "R43")]

OBJECTS = 24

POINTS = [("after_began", 1), ("after_intents", 2), ("before_call", 3), ("after_call", 3), ("after_outcomes", 2)]


@pytest.fixture(scope="module")
def sqlite(tmp_path_factory) -> Prepared:
    """A database with an approved plan over its rows, and a store that is a file."""
    return Prepared(tmp_path_factory.mktemp("two"), preparing.prepare_sql, OBJECTS)


@pytest.fixture
def team(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """The same, with a store on a server."""
    preparing.prepare_sql(tmp_path, OBJECTS)
    settings = tmp_path / "fullcount.toml"
    text = settings.read_text()
    settings.write_text(text.replace('name = "crash"\n', 'name = "crash"\nstore = { file = "store.url" }\n'))
    with running_cluster() as cluster, cluster.database("store") as name:
        (tmp_path / "store.url").write_text(cluster.full_url(database=name))
        yield tmp_path, asyncio.run(preparing.approved_plan(tmp_path, OBJECTS))


def assert_each_once(folder: Path, plan_id: str) -> None:
    """Each row was written once, each has its one outcome, and the record verifies."""
    assert preparing.sql_changes(folder) == {f"a{n:05}": 1 for n in range(OBJECTS)}
    assert preparing.sql_is_done(folder)
    workspace = Workspace.load(folder)
    with Store.open(workspace.store_url) as store:
        entries = store.ledger(plan_id)
        assert [entry.outcome for entry in entries] == [Outcome.DONE] * OBJECTS
        assert store.load_plan(plan_id).state is PlanState.APPLIED
        assert verify(store, SnapshotStore(workspace.snapshot_dir)).problems == ()


def both_at_once(folder: Path, plan_id: str) -> None:
    """One holds the lease and acts; the other is told so, or finds that everything was done."""
    both = [Process(folder, plan_id, name=name) for name in ("first", "second")]
    said = [process.report() for process in both]
    acted = [report for report in said if report["exit"] == 0 and not report["repeated"]]
    assert len(acted) == 1
    (other,) = [report for report in said if report is not acted[0]]
    assert other["repeated"] or "is at work on the plan" in other["stopped_by"]
    assert_each_once(folder, plan_id)


def one_is_held_up(folder: Path, plan_id: str, point: str, nth: int) -> None:
    """The second takes over, resolves what the first left open, and ends; the first wakes up and writes no more."""
    first = Process(folder, plan_id, point, nth)
    first.held()
    _, second = run_process(folder, plan_id, later=60)
    assert (second["exit"], second["counts"], second["sums_hold"]) == (0, {"done": OBJECTS}, True)
    late = first.go_on()
    assert late["exit"] in (Exit.STALE, Exit.ERROR), late
    assert "lease" in late["stopped_by"] or "ended as" in late["stopped_by"], late
    assert_each_once(folder, plan_id)


def test_two_that_begin_at_once_do_each_object_once(sqlite):
    """One acts, the other does not; with a store that is a file."""
    both_at_once(*sqlite.anew())


@pytest.mark.service("postgres")
def test_two_that_begin_at_once_do_each_object_once_with_a_store_on_a_server(team):
    """One acts, the other does not."""
    both_at_once(*team)


@pytest.mark.parametrize(("point", "nth"), some(POINTS, 2))
def test_one_that_was_held_up_past_its_lease_is_refused_and_each_object_is_done_once(sqlite, point, nth):
    """Before its intents, between intent and call, after the call: its token is not the newest any more."""
    one_is_held_up(*sqlite.anew(), point, nth)


@pytest.mark.service("postgres")
def test_one_that_was_held_up_is_refused_by_a_store_on_a_server_too(team):
    """Where the call was made and its outcome was not recorded yet."""
    one_is_held_up(*team, "after_call", 3)

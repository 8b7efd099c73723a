"""Several processes on one store: each thing once, and one chain."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.stores import ANA, BO, CHEN, WORKFLOW, Office

from fullcount.runtime.journal.verify import verify
from fullcount.runtime.store.store import Store

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[3]


def started(url: str, work: str, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.support.store_worker", url, work, name, str(count)]
    paths = ":".join(str(ROOT / part) for part in ("dsl", "compiler", "runtime", "."))
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env={"PYTHONPATH": paths}
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def together(url: str, work: str, names: tuple[str, ...], count: int = 0) -> list[list[str]]:
    """Let processes begin at once, and return what each printed."""
    processes = [started(url, work, name, count) for name in names]
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate(timeout=120)[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0] * len(names)
    return said


@pytest.fixture
def shared(store_url: str) -> Iterator[Office]:
    """An office whose store has the clock of its database, as real ones do."""
    with Office(store_url) as office:
        office.store.close()
        office.store = Store.open(store_url)
        yield office


@pytest.mark.requirement("R34")
def test_two_writers_never_fork_the_chain(shared):
    """Every entry of both is in one chain without a gap."""
    first, second = together(shared.url, "runs", ("a", "b"), 25)
    report = verify(shared.store)
    assert report.problems == ()
    assert report.entries == len({*first, *second}) == 50


@pytest.mark.requirement("R34")
def test_a_writer_that_is_killed_leaves_a_chain_that_verifies(shared):
    """What it said was written is there; what it was about to write is not half there."""
    process = started(shared.url, "runs", "a", 10_000)
    process.stdin.write("go\n")
    process.stdin.flush()
    said = [process.stdout.readline().strip() for _ in range(5)]
    process.send_signal(signal.SIGKILL)
    said += process.communicate(timeout=60)[0].split()
    whole = {line for line in said if len(line) == 26}
    report = verify(shared.store)
    assert report.problems == ()
    assert whole <= {row.run_id for row in shared.store.runs(100_000)}
    assert len(whole) <= report.entries <= len(whole) + 1


def test_a_slot_is_claimed_by_one_of_two(shared):
    """Two services on one store: each planned instant once."""
    first, second = together(shared.url, "slots", ("a", "b"), 20)
    claimed = [sum(slot != "-" for slot in pair) for pair in zip(first, second, strict=True)]
    assert claimed == [1] * 20


def test_tokens_are_never_given_twice(shared):
    """Whoever claims, the token is new."""
    first, second = together(shared.url, "leases", ("a", "b"), 10)
    tokens = [int(token) for token in first + second]
    assert sorted(tokens) == list(range(1, 21))


@pytest.mark.requirement("R24", "R29")
def test_two_approvers_at_once_complete_the_quorum_once(shared):
    """Three people say yes at the same time: one key is minted, and the third is told that nothing is missing."""
    shared.plan("a")
    names = tuple(str(person.uid) for person in (ANA, BO, CHEN))
    said = [line for lines in together(shared.url, "approve", names) for line in lines]
    assert sorted(said) == ["FC716", "False", "True"]
    assert verify(shared.store).problems == ()


@pytest.mark.requirement("R29")
def test_two_runs_never_both_act_on_one_object(shared):
    """Both mean every act of one plan; each object is given to exactly one of them."""
    plan, first, fence = shared.applying(*(f"k{number}" for number in range(12)))
    shared.store.release(fence)
    second = shared.store.begin_run(WORKFLOW, "apply", BO, plan_id=plan.document.plan_id)
    acted = [key for keys in together(shared.url, "intents", (first, second)) for key in keys]
    assert sorted(acted) == sorted(row.key[0] for row in plan.document.rows)
    assert verify(shared.store).problems == ()


@pytest.mark.requirement("R29", "R32")
def test_two_plans_never_both_act_on_one_object(shared):
    """Two processes, each with a plan of its own for the same objects: each object is meant by exactly one of them."""
    keys = [f"k{number}" for number in range(12)]
    runs = []
    for workflow, order in ((WORKFLOW, keys), ("another_workflow", keys[::-1])):
        plan = shared.plan(*order, workflow=workflow)
        shared.approve(plan)
        runs.append(shared.store.begin_run(workflow, "apply", BO, plan_id=plan.document.plan_id))
    acted = [key for said in together(shared.url, "same-objects", tuple(runs)) for key in said]
    assert sorted(acted) == sorted(keys)
    assert verify(shared.store).problems == ()

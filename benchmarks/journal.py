"""What an act costs in the store: its intent and its outcome, with ledger and journal, against bare inserts.

    python benchmarks/journal.py [--objects 2000] [--rounds 3]

On SQLite (write-ahead log, `synchronous=FULL`) and on a PostgreSQL of its own that writes to disk for every commit, in
groups of 50 as `apply` writes them. The floor does in the same database and the same number of transactions what nobody
can leave out: it inserts a row for each intent, and updates it with the outcome. What comes on top is what makes it a
record: approval, lease, kill switch and plan looked at in the same transaction, keys, the journal's entries and their
chain. Best of the rounds, which alternate.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import text

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.support.postgres import find_binaries, running_cluster
from tests.support.stores import Office

from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.store.engine import make_engine, writer
from fullcount.runtime.store.views import Intent, OutcomeEntry

GROUP = 50
PARAMETERS = {
    "arguments": {"id": "t000001"},
    "expected": {"id": ["t000001"], "uid": ["uid-1"], "owner": "absent", "state": ["idle"], "etag": ['"1"']},
}
BEFORE = {"id": "t000001", "uid": "uid-1", "state": "idle", "etag": '"1"'}

Took = tuple[float, float]
"""Seconds on the wall, and of the processor."""


@contextmanager
def timed(found: list[Took]) -> Iterator[None]:
    """Note how long the inside took."""
    began, used = time.perf_counter(), time.process_time()
    yield
    found.append((time.perf_counter() - began, time.process_time() - used))


def journaled(url: str, objects: int) -> Took:
    """Return what intents and outcomes of a whole plan take."""
    found: list[Took] = []
    with Office(url) as office:
        names = [f"t{n:06}" for n in range(objects)]
        plan = office.plan(*names, limit=(objects, None))
        office.approve(plan)
        run_id, fence = office.begin(plan)
        store, plan_id = office.store, plan.document.plan_id
        store.begin_apply(plan_id, run_id, fence)
        with timed(found):
            for at in range(0, objects, GROUP):
                keys = [(name,) for name in names[at : at + GROUP]]
                intents = [Intent(key, "shop.things.delete", PARAMETERS) for key in keys]
                store.record_intents(plan_id, run_id, fence, intents)
                ends = [OutcomeEntry(key, Outcome.DONE, None, "DELETE /things/t: status 204", BEFORE) for key in keys]
                store.record_outcomes(plan_id, run_id, fence, ends)
    return found[0]


def bare(url: str, objects: int) -> Took:
    """Return what the same number of rows and transactions takes, with nothing around them."""
    engine = writer(make_engine(url))
    found: list[Took] = []
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE bare (id TEXT PRIMARY KEY, said TEXT NOT NULL, came_of TEXT)"))
    insert = text("INSERT INTO bare (id, said) VALUES (:id, :said)")
    update = text("UPDATE bare SET came_of = :came_of WHERE id = :id")
    with timed(found):
        for at in range(0, objects, GROUP):
            keys = [f"t{n:06}" for n in range(at, min(at + GROUP, objects))]
            with engine.begin() as connection:
                connection.execute(insert, [{"id": key, "said": str(PARAMETERS)} for key in keys])
            with engine.begin() as connection:
                connection.execute(update, [{"id": key, "came_of": "done"} for key in keys])
    engine.dispose()
    return found[0]


def compare(name: str, urls: Iterator[str], objects: int, rounds: int) -> None:
    """Run both and print what each act costs."""
    ours, floor = [], []
    for _ in range(rounds):
        floor.append(bare(next(urls), objects))
        ours.append(journaled(next(urls), objects))
    for what, took in (("bare", floor), ("journal", ours)):
        seconds, used = (min(each[part] for each in took) for part in (0, 1))
        print(
            f"{name:11} {what:8} {1e3 * seconds / objects:6.3f} ms an act, {1e3 * used / objects:.3f} of the processor"
        )


def files(folder: Path) -> Iterator[str]:
    """Yield addresses of new SQLite files."""
    number = 0
    while True:
        number += 1
        yield f"sqlite:///{folder / f'{number}.db'}"


def main() -> None:
    """Compare on both databases."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--objects", type=int, default=2_000)
    arguments.add_argument("--rounds", type=int, default=3)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compare("SQLite", files(Path(folder)), given.objects, given.rounds)
    if find_binaries() is None:
        print("PostgreSQL  is not installed here")
        return
    with running_cluster(durable=True) as cluster:

        def databases() -> Iterator[str]:
            number = 0
            while True:
                number += 1
                cluster.execute(f'CREATE DATABASE "bench{number}"')
                yield cluster.full_url(database=f"bench{number}")

        compare("PostgreSQL", databases(), given.objects, given.rounds)
    print(f"{given.objects:,} objects in groups of {GROUP}, {os.getloadavg()[0]:.1f} load")


if __name__ == "__main__":
    main()

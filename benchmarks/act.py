"""Acts per second through `apply`, against a bare loop of the same SELECT and UPDATE with a commit each.

    python benchmarks/act.py [--rows 1000] [--rounds 3]

Both work on the same table of a SQLite file with the same driver in the same run. The bare loop reads one row by key,
updates it if its version is what was read, and commits. `apply` reads the row, looks up its owner, evaluates the whole
rule, asks the guard, commits the intent, writes conditionally, and commits the outcome, with the journal. The ratio is
what that costs (goal: at least 0.8 of the floor's rate where the target is across a network; a local file is the
hardest case). Best of the rounds, which alternate, so that a slow moment of the machine hits both.

With `--latency 0.005` each read and each write of both takes so many seconds longer, as across a network, at the same
concurrency.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import sqlalchemy

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.crash import preparing

from fullcount.runtime import engine as engine_module
from fullcount.runtime.approve.identity import current_person
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.engine import Engine
from fullcount.runtime.store.store import Store
from fullcount.runtime.workspace import Workspace

CONCURRENCY = 4
"""What the prepared workflow says."""


class Slow:
    """A reader or actor that takes longer for each call that goes to the source."""

    def __init__(self, real: Any, latency: float) -> None:
        self._real, self._latency = real, latency

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._real, name)
        if name not in {"read", "perform"}:
            return real

        async def later(*args: Any) -> Any:
            await asyncio.sleep(self._latency)
            return await real(*args)

        return later


async def through_apply(folder: Path, rows: int, latency: float) -> float:
    """Prepare, plan and approve; return the seconds of the apply alone."""
    preparing.prepare_sql(folder, rows)
    plan_id = await preparing.approved_plan(folder, rows)
    workspace = Workspace.load(folder)
    real_open, real_reader = engine_module.open_actor, engine_module.Readers.reader
    if latency > 0:

        async def open_actor(*args: Any) -> Any:
            return Slow(await real_open(*args), latency)

        def reader(self: Any, source: str) -> Any:
            return Slow(real_reader(self, source), latency)

        engine_module.open_actor = open_actor  # type: ignore[assignment]
        engine_module.Readers.reader = reader  # type: ignore[method-assign]
    try:
        with Store.open(workspace.store_url) as store:
            runner = Engine(workspace, store, SnapshotStore(workspace.snapshot_dir))
            began = time.perf_counter()
            end = await runner.apply(plan_id, current_person())
            seconds = time.perf_counter() - began
    finally:
        engine_module.open_actor, engine_module.Readers.reader = real_open, real_reader  # type: ignore[method-assign]
    assert end.report is not None
    assert end.report.counts[Outcome.DONE] == rows
    return seconds


async def bare(folder: Path, rows: int, latency: float) -> float:
    """Return the seconds of the same reads and writes, one transaction an object, at the same concurrency."""
    preparing.prepare_sql(folder, rows)
    engine = sqlalchemy.create_engine(f"sqlite:///{folder / 'target.db'}")
    select = sqlalchemy.text("SELECT id, uuid, owner, locked, version FROM accounts WHERE id = :id")
    update = sqlalchemy.text(
        "UPDATE accounts SET locked = 1, version = version + 1 WHERE id = :id AND version = :version"
    )
    with engine.connect() as connection:
        keys = connection.execute(sqlalchemy.text("SELECT id FROM accounts WHERE id <> 'kept' ORDER BY id")).scalars()
        todo = list(keys)
        connection.rollback()

        async def worker() -> None:
            while todo:
                key = todo.pop()
                await asyncio.sleep(latency)
                row = connection.execute(select, {"id": key}).one()
                connection.rollback()
                await asyncio.sleep(latency)
                changed = connection.execute(update, {"id": key, "version": row.version}).rowcount
                connection.commit()
                assert changed == 1

        began = time.perf_counter()
        await asyncio.gather(*(worker() for _ in range(CONCURRENCY)))
        seconds = time.perf_counter() - began
    engine.dispose()
    return seconds


def main() -> None:
    """Run both, alternating, and print the rates and their ratio."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rows", type=int, default=1_000)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--latency", type=float, default=0.0, help="seconds that each read and write takes longer")
    given = arguments.parse_args()
    ours, floor = float("inf"), float("inf")
    for _ in range(given.rounds):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            floor = min(floor, asyncio.run(bare(Path(one), given.rows, given.latency)))
            ours = min(ours, asyncio.run(through_apply(Path(other), given.rows, given.latency)))
    print(f"bare loop   {given.rows / floor:10,.0f} acts/s")
    print(f"apply       {given.rows / ours:10,.0f} acts/s   {os.getloadavg()[0]:.1f} load")
    print(f"ratio       {floor / ours:10.2f} of the floor's rate, {given.rows:,} rows, latency {given.latency} s")


if __name__ == "__main__":
    main()

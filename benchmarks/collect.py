"""Rows per second through `collect`, against the bare SQLAlchemy loop that keeps the rows in a list.

    python benchmarks/collect.py [--rows 200000] [--rounds 3]

The floor reads the same table of the same database with the same driver in the same run. `collect` counts, pages,
checks every value, and writes a snapshot; the ratio is what that costs (goal: at most 1.3). Best of the rounds, which
alternate, so that a slow moment of the machine hits both.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource as process
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.accounts import FIELDS, inventory_of, made_row

from fullcount.compiler.lower.world import Bindings
from fullcount.runtime.collect.loop import Budget, collect
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.connectors.sql import CONNECTOR

COLUMNS = ", ".join(FIELDS)


def sqlite_table(folder: Path, rows: int) -> str:
    """Make the table in a new SQLite file and return its address."""
    path = folder / "directory.db"
    connection = sqlite3.connect(path)
    connection.execute(
        "CREATE TABLE accounts (id TEXT PRIMARY KEY NOT NULL, entry_uuid TEXT NOT NULL, owner TEXT, team TEXT,"
        " environment TEXT, created TEXT, last_login TEXT, locked BOOLEAN, row_version INTEGER)"
    )
    connection.executemany(
        "INSERT INTO accounts VALUES (?,?,?,?,?,?,?,?,?)", (made_row(index) for index in range(rows))
    )
    connection.commit()
    connection.close()
    return f"sqlite:///{path}"


@contextmanager
def postgres_table(rows: int) -> Iterator[str]:
    """Make the table in a new PostgreSQL cluster and yield its address."""
    import psycopg
    from tests.support.postgres import running_cluster

    with running_cluster() as cluster:
        cluster.execute(
            "CREATE TABLE accounts (id text PRIMARY KEY, entry_uuid text NOT NULL, owner text, team text,"
            " environment text, created timestamptz, last_login timestamptz, locked boolean, row_version int)"
        )
        with psycopg.connect(cluster.full_url(), autocommit=True) as connection:
            with connection.cursor().copy(f"COPY accounts ({COLUMNS}) FROM STDIN") as copy:
                for index in range(rows):
                    copy.write_row(made_row(index))
            connection.execute("VACUUM ANALYZE accounts")
        yield cluster.full_url()


def bare(address: str) -> int:
    """The floor: select everything, keep the rows in a list."""
    engine = sqlalchemy.create_engine(address.replace("postgresql://", "postgresql+psycopg://"))
    kept = []
    with engine.connect() as connection:
        columns = [sqlalchemy.column(name) for name in FIELDS]
        statement = sqlalchemy.select(*columns).select_from(sqlalchemy.table("accounts"))
        for row in connection.execution_options(yield_per=5_000).execute(statement):
            kept.append(row)  # noqa: PERF402 - the floor is the loop that people write
    engine.dispose()
    return len(kept)


async def collected(address: str, folder: Path) -> int:
    """The same table through `collect`, to a snapshot."""
    os.environ["BENCHMARK_URL"] = address
    table = {"table": "accounts", "key": ["id"], "version": "row_version", "fields": FIELDS}
    config = CONNECTOR.config_model.model_validate({"url": {"env": "BENCHMARK_URL"}, "resources": {"accounts": table}})
    accounts = CONNECTOR.resources("directory", config)["accounts"]
    reader = await CONNECTOR.open_reader("directory", config)
    envelope = await collect(
        reader,
        inventory_of(accounts),
        accounts,
        bindings=Bindings({}, 0),
        snapshots=SnapshotStore(folder),
        budget=Budget(),
        clock=lambda: datetime.now(UTC),
    )
    await reader.close()
    if not envelope.complete:
        raise RuntimeError(envelope.completeness.model_dump_json())
    return envelope.work.rows


def timed(run: Callable[[], int], rows: int) -> float:
    """Return the seconds that a run took; it must have seen every row."""
    begun = time.perf_counter()
    seen = run()
    if seen != rows:
        raise RuntimeError(f"{seen} of {rows} rows")
    return time.perf_counter() - begun


def compare(name: str, address: str, rows: int, rounds: int) -> None:
    """Print both rates and the ratio of their times."""
    floor, ours = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            ours.append(timed(lambda: asyncio.run(collected(address, Path(folder))), rows))
        floor.append(timed(lambda: bare(address), rows))
    rates = f"bare {rows / min(floor):>9,.0f} rows/s   collect {rows / min(ours):>9,.0f} rows/s"
    print(f"{name:<11} {rates}   ratio {min(ours) / min(floor):.2f}")


def main() -> None:
    """Run the comparison on each database that is there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    from tests.support.postgres import find_binaries

    with tempfile.TemporaryDirectory() as folder:
        compare("SQLite", sqlite_table(Path(folder), options.rows), options.rows, options.rounds)
    if find_binaries() is None:
        print("PostgreSQL  not installed here, left out")
    else:
        with postgres_table(options.rows) as address:
            compare("PostgreSQL", address, options.rows, options.rounds)
    peak = process.getrusage(process.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:,.0f} MiB, the floor's list of {options.rows:,} rows included")


if __name__ == "__main__":
    main()

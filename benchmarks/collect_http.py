"""Objects per second over HTTP through `collect`, against a bare httpx loop, and the memory of either.

    python benchmarks/collect_http.py [--rows 100000 1000000] [--page-rows 1000] [--rounds 5] [--shuffled]

The server is a process of its own that answers with pages rendered beforehand. The floor is the loop that people write:
an `httpx.Client` follows the cursor, takes each page with `.json()`, and puts the ids into a set; it keeps nothing
else. `collect` reads the same pages through the `http` connector: it checks every value, proves the end, and writes a
snapshot. The ratio of the times is what that costs (goal: at most 1.3). Both run each time in a process of their own,
in turn, so that a slow moment of the machine hits both; the ratio is the median of the pairs, since the speed of a
machine drifts more than the two differ, and that of the best of each side stands beside it. Time counts from before the
first request to the result, imports left out; on a busy machine the ratio of the processor time (of all threads) says
more. The peak of memory is the process's own, so that of `collect` should not grow with the rows (the floor's set of
ids does).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource as process
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


@dataclass(frozen=True)
class Run:
    """What one side took: seconds by the clock and of the processor, and MiB."""

    rows: int
    seconds: float
    cpu: float
    peak: float


class Watch:
    """Counts from when it is made."""

    def __init__(self) -> None:
        self._begun, self._cpu = time.perf_counter(), time.process_time()

    def read(self, rows: int) -> Run:
        """Return what was taken so far."""
        return Run(rows, time.perf_counter() - self._begun, time.process_time() - self._cpu, peak())


@contextmanager
def served(rows: int, page_rows: int, *, shuffled: bool) -> Iterator[str]:
    """Start the server and yield its address."""
    place = Path(__file__).parent / "paged_server.py"
    arguments = [str(rows), str(page_rows), *(["--shuffled"] if shuffled else [])]
    with subprocess.Popen([sys.executable, str(place), *arguments], stdout=subprocess.PIPE, text=True) as server:
        try:
            if server.stdout is None:
                raise RuntimeError("the server has no output")
            yield server.stdout.readline().strip()
        finally:
            server.kill()


def bare(address: str) -> Run:
    """The floor: follow the cursor, parse each page, keep the ids."""
    import httpx

    watch = Watch()
    seen: set[str] = set()
    with httpx.Client() as client:
        cursor: str | None = None
        while True:
            response = client.get(f"{address}/accounts", params={} if cursor is None else {"cursor": cursor})
            response.raise_for_status()
            page = response.json()
            seen.update(item["id"] for item in page["items"])
            cursor = page["next_cursor"]
            if cursor is None:
                break
    return watch.read(len(seen))


def collected(address: str) -> Run:
    """The same list through `collect`, to a snapshot."""
    from benchmarks.accounts import FIELDS

    from fullcount.runtime.connectors.http import CONNECTOR

    settings = {"list": "/accounts", "key": ["id"], "fields": FIELDS}
    given = {"dialect": "generic_http", "base_url": address, "resources": {"accounts": settings}}
    config = CONNECTOR.config_model.model_validate(given)
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_collected(config, Path(folder)))


async def _collected(config: Any, folder: Path) -> Run:
    from benchmarks.accounts import inventory_of

    from fullcount.compiler.lower.world import Bindings
    from fullcount.runtime.collect.loop import Budget, collect
    from fullcount.runtime.collect.snapshots import SnapshotStore
    from fullcount.runtime.connectors.http import CONNECTOR, reader  # noqa: F401 - imported before the clock runs

    accounts = CONNECTOR.resources("directory", config)["accounts"]
    watch = Watch()
    source = await CONNECTOR.open_reader("directory", config)
    envelope = await collect(
        source,
        inventory_of(accounts),
        accounts,
        bindings=Bindings({}, 0),
        snapshots=SnapshotStore(folder),
        budget=Budget(),
        clock=lambda: datetime.now(UTC),
    )
    await source.close()
    if not envelope.complete:
        raise RuntimeError(envelope.completeness.model_dump_json())
    return watch.read(envelope.work.rows)


def peak() -> float:
    """Return the most memory that this process had, in MiB; what its parent had before it does not count."""
    status = Path("/proc/self/status")
    if not status.exists():
        return process.getrusage(process.RUSAGE_SELF).ru_maxrss / 1024
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


def alone(which: str, address: str, rows: int) -> Run:
    """Run one side in a process of its own. It must have seen every row."""
    command = [sys.executable, __file__, "--run", which, address]
    run = Run(**json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout))
    if run.rows != rows:
        raise RuntimeError(f"{run.rows} of {rows} rows")
    return run


def compare(rows: int, page_rows: int, rounds: int, *, shuffled: bool) -> None:
    """Print both rates, the ratio of the times, and both peaks of memory."""
    floor, ours = [], []
    with served(rows, page_rows, shuffled=shuffled) as address:
        for _ in range(rounds):
            ours.append(alone("collect", address, rows))
            floor.append(alone("bare", address, rows))
    slow, fast = min(run.seconds for run in ours), min(run.seconds for run in floor)
    pairs = list(zip(ours, floor, strict=True))
    ratio = median(mine.seconds / other.seconds for mine, other in pairs)
    cpu = median(mine.cpu / other.cpu for mine, other in pairs)
    peaks = [max(run.peak for run in side) for side in (floor, ours)]
    print(
        f"{rows:>9,} objects   bare {rows / fast:>9,.0f}/s   collect {rows / slow:>9,.0f}/s   ratio {ratio:.2f}"
        f" (of the best {slow / fast:.2f}, processor {cpu:.2f})"
        f"   peak memory: bare {peaks[0]:,.0f} MiB, collect {peaks[1]:,.0f} MiB",
        flush=True,
    )


def main() -> None:
    """Compare at each size; with `--run`, be one side."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--page-rows", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--shuffled", action="store_true", help="objects in no order of their key")
    parser.add_argument("--run", nargs=2, metavar=("SIDE", "ADDRESS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run is not None:
        side, address = options.run
        print(json.dumps(asdict(bare(address) if side == "bare" else collected(address))))
        return
    for rows in options.rows:
        compare(rows, options.page_rows, options.rounds, shuffled=options.shuffled)


if __name__ == "__main__":
    main()

"""A process that has the product imported and forks one child for each order, so that a kill costs milliseconds.

It has once applied and undone a small plan of its own, so that what a process works out once is worked out, and keeps
no thread and no connection of that: a child begins as a process begins that was started long ago.
`python -m tests.support.crash_nursery` reads orders as lines of JSON and answers with a line each.
"""

from __future__ import annotations

import asyncio
import atexit
import gc
import importlib
import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from functools import cache
from pathlib import Path
from typing import Any

_HANGS_AFTER = 600.0 if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 120.0
"""Seconds after which a child is ended because it will never end; at night others may have the machine as well."""
_USED = (
    "alembic.runtime.migration",
    "duckdb",
    "fullcount.runtime.connectors.files.actor",
    "fullcount.runtime.connectors.files.reader",
    "fullcount.runtime.connectors.git",
    "fullcount.runtime.connectors.git.actor",
    "fullcount.runtime.connectors.git.reader",
    "fullcount.runtime.connectors.http.actor",
    "fullcount.runtime.connectors.http.reader",
    "fullcount.runtime.connectors.sql",
    "fullcount.runtime.connectors.sql.actor",
    "fullcount.runtime.connectors.sql.reader",
    "pyarrow.parquet",
    "sqlalchemy.dialects.sqlite.pysqlite",
)
"""What an apply would otherwise import only when it needs it."""


class Nursery:
    """The side of the tests."""

    def __init__(self) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        command = [sys.executable, "-m", __name__]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
        )
        atexit.register(self.close)

    def run(self, order: dict[str, Any]) -> tuple[int | None, dict[str, Any] | None]:
        """Have an order carried out; return the exit status (None: it never ended) and the report, if there is one."""
        answer = Path(order["answer"])
        answer.unlink(missing_ok=True)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if line == "":
            msg = f"the nursery has ended with {self._process.wait(10)}; what it said stands above"
            raise RuntimeError(msg)
        status = json.loads(line)["status"]
        return status, json.loads(answer.read_text()) if answer.exists() else None

    def close(self) -> None:
        """End it; it has no child then, since it answers only once a child has ended."""
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()


@cache
def nursery() -> Nursery:
    """Return the one of this test process."""
    return Nursery()


def main() -> None:
    """Carry out orders until there are no more."""
    from tests.support import crash_driver

    for name in _USED:
        importlib.import_module(name)
    _share_statements()
    _rehearse(crash_driver)
    for thread in threading.enumerate():
        if thread is not threading.main_thread():
            thread.join()  # one that was told to end; a child that is forked from beside a thread can't be relied on
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        order = crash_driver.Order(**json.loads(line))
        lives, life = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(lives)
            _be(crash_driver, order)
        os.close(life)
        status = _ended(child, lives, order.after)
        os.close(lives)
        sys.stdout.write(json.dumps({"status": status}) + "\n")
        sys.stdout.flush()


def _share_statements() -> None:
    """Let all engines keep compiled statements in one place, as those of one long-lived process would."""
    from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
    from sqlalchemy.engine import Engine
    from sqlalchemy.util import LRUCache

    shared: LRUCache[Any, Any] = LRUCache(2000)
    real = Engine.__init__

    def begin(self: Engine, *args: Any, **kw: Any) -> None:
        real(self, *args, **kw)
        self._compiled_cache = shared

    Engine.__init__ = begin  # type: ignore[method-assign]
    # a statement is kept for a dialect: those of all engines are as good as one
    SQLiteDialect_pysqlite.__hash__ = lambda self: hash(type(self))  # type: ignore[method-assign]
    SQLiteDialect_pysqlite.__eq__ = lambda self, other: type(self) is type(other)  # type: ignore[method-assign]


def _rehearse(driver: Any) -> None:
    """Apply and undo a small plan. It is made in another process, because reading leaves threads behind."""
    with tempfile.TemporaryDirectory(prefix="fullcount-nursery-") as named:
        folder, objects = Path(named), 3
        child = os.fork()
        if child == 0:
            status = 1
            try:
                from tests.crash import preparing

                preparing.prepare_sql(folder, objects)
                (folder / "plan").write_text(asyncio.run(preparing.approved_plan(folder, objects)))
                status = 0
            finally:
                os._exit(status)
        _, ended = os.waitpid(child, 0)
        if ended != 0:
            msg = "the nursery could not prepare its rehearsal"
            raise RuntimeError(msg)
        plan_id: str | None = (folder / "plan").read_text()
        for again in (True, False):
            report = asyncio.run(driver.obey(driver.Order(named, plan_id)))
            if report["counts"] != {"done": objects}:
                msg = f"the nursery's rehearsal failed: {report}"
                raise RuntimeError(msg)
            if again:
                from tests.crash import preparing

                plan_id = asyncio.run(preparing.approved_undo(folder, plan_id))


def _be(driver: Any, order: Any) -> None:
    """Be the child."""
    status = 1
    try:
        report = asyncio.run(driver.obey(order))
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        Path(order.answer).write_text(json.dumps(report))
        status = 0
    except BaseException:  # noqa: BLE001 - it is a process: whatever ends it is told, and it never returns
        import traceback

        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def _ended(child: int, lives: int, after: float | None) -> int | None:
    """Wait for the child; kill it `after` so many seconds. Return its exit status, below 0 for a signal."""
    until = time.monotonic() + _HANGS_AFTER
    hangs = False
    for limit in (() if after is None else (after,)) + (_HANGS_AFTER,):
        if len(select.select([lives], [], [], max(0.0, min(limit, until - time.monotonic())))[0]) > 0:
            break
        hangs = limit == _HANGS_AFTER
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return None if hangs else os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    main()

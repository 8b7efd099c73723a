"""Acts per second through `apply` over HTTP, against a bare asyncio loop of the same GET and DELETE.

    python benchmarks/act_http.py [--objects 2000] [--rounds 3] [--latency 0] [--profile FILE] [--store URL]

Both talk to the same kind of server, in a process of its own on this machine, with sixteen requests at a time. The
bare loop is what somebody would write by hand: `httpx.AsyncClient`, sixteen workers, each reads an object and deletes it
if its `ETag` is what was read. `apply` reads the object, evaluates the whole rule on it, asks the guard, commits the
intent, deletes under the same condition, and commits the outcome, with the journal, on SQLite. The goal is 0.8 of the
bare loop's rate. Best of the rounds, which alternate, so that a slow moment of the machine hits both.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.crash import preparing

from fullcount.runtime.approve.identity import current_person
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.engine import Engine
from fullcount.runtime.store.store import Store
from fullcount.runtime.workspace import Workspace

CONCURRENCY = 16

Took = tuple[float, float]
"""Seconds on the wall, and of the processor."""

SETTINGS = """\
[workspace]
name = "bench"

[roles]
ops = ["uid:{uid}"]

[sources.shop]
connector = "http"
dialect   = "generic_http"
base_url  = "{url}"

[sources.shop.resources.things]
list = "/things"
read = "/things/{{id}}"
key  = ["id"]
not_found_is_gone = true
incarnation = "uid"
version = "etag"
[sources.shop.resources.things.fields]
id        = "text"
uid       = "text"
owner     = "text?"
state     = "text"
size      = "int"
idle_days = "int"
etag      = {{ type = "text", at = "$headers/etag" }}
[sources.shop.resources.things.operations.delete]
method       = "DELETE"
path         = "/things/{{id}}"
effect       = "delete"
precondition = "if_match"
"""

RULE = """\
workflow delete_idle {
  describe "Delete things that nobody owns or uses."
  owner    "shop"

  inventory things from shop.things {
    key         id
    incarnation uid
    fields      { id: text, uid: text, owner: text?, state: text, size: int, idle_days: int }
    expect      id == "t000000"
  }
  verify things { complete, fresh within 1h }

  propose purge from things as t {
    where t.owner is absent and t.state == "idle" and t.idle_days > 90
    limit 1000000
  }
  approve purge { 1 of role "ops", expires after 1d }
  act purge with shop.things.delete(id: t.id) {
    concurrency 16
  }
}
"""


@contextmanager
def target(objects: int) -> Iterator[str]:
    """Run the server over so many things; give its address."""
    program = Path(__file__).with_name("http_target.py")
    server = subprocess.Popen(
        [sys.executable, str(program), str(objects)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    try:
        yield f"http://127.0.0.1:{server.stdout.readline().strip()}"
    finally:
        server.communicate("")


async def bare(url: str, objects: int) -> Took:
    """Return what the same requests took, written by hand."""
    todo = [f"t{n:06}" for n in range(1, objects + 1)]
    async with httpx.AsyncClient(base_url=url) as client:

        async def worker() -> None:
            while len(todo) > 0:
                path = f"/things/{todo.pop()}"
                read = await client.get(path)
                found = read.json()
                if found["owner"] is None and found["state"] == "idle" and found["idle_days"] > 90:
                    deleted = await client.delete(path, headers={"if-match": read.headers["etag"]})
                    assert deleted.status_code == 204

        began, used = time.perf_counter(), time.process_time()
        await asyncio.gather(*(worker() for _ in range(CONCURRENCY)))
        return time.perf_counter() - began, time.process_time() - used


async def through_apply(folder: Path, url: str, objects: int, profile: cProfile.Profile | None) -> Took:
    """Plan and approve; return what the apply alone took."""
    (folder / "fullcount.toml").write_text(SETTINGS.format(url=url, uid=current_person().uid))
    (folder / "workflow.fcw").write_text(RULE)
    plan_id = await preparing.approved_plan(folder, objects)
    workspace = Workspace.load(folder)
    with Store.open(workspace.store_url) as store:
        runner = Engine(workspace, store, SnapshotStore(workspace.snapshot_dir))
        if profile is not None:
            profile.enable()
        began, used = time.perf_counter(), time.process_time()
        end = await runner.apply(plan_id, current_person())
        took = time.perf_counter() - began, time.process_time() - used
        if profile is not None:
            profile.disable()
    assert end.report is not None
    assert end.report.counts[Outcome.DONE] == objects, (end.report.counts, end.report.stopped_by)
    return took


def main() -> None:
    """Run both, alternating, and print the rates and their ratio."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--objects", type=int, default=2_000)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--profile", type=Path, help="write where the time of the last apply went (cProfile)")
    given = arguments.parse_args()
    ours, floor = [float("inf")] * 2, [float("inf")] * 2
    profile: cProfile.Profile | None = None
    for number in range(given.rounds):
        with target(given.objects) as url:
            floor = list(map(min, floor, asyncio.run(bare(url, given.objects))))
        if given.profile is not None and number == given.rounds - 1:
            profile = cProfile.Profile()
        with tempfile.TemporaryDirectory() as folder, target(given.objects) as url:
            took = asyncio.run(through_apply(Path(folder), url, given.objects, profile))
            ours = list(map(min, ours, took))
    if profile is not None:
        profile.dump_stats(given.profile)
    for name, (seconds, used) in (("bare loop", floor), ("apply", ours)):
        each, cpu = 1e3 * seconds / given.objects, 1e3 * used / given.objects
        print(f"{name:11} {given.objects / seconds:10,.0f} acts/s   {each:.2f} ms an object, {cpu:.2f} of the processor")
    ratio = f"{floor[0] / ours[0]:.2f} of the floor's rate, {floor[1] / ours[1]:.2f} by time of the processor"
    print(f"ratio       {ratio}, {given.objects:,} objects, {os.getloadavg()[0]:.1f} load")


if __name__ == "__main__":
    main()

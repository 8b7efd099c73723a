"""Acts per second through `apply` over HTTP, against a bare asyncio loop of the same GET and DELETE.

    python benchmarks/act_http.py [--objects 2000] [--rounds 3] [--latency 0.02] [--profile FILE]

All talk to the same kind of server, in a process of its own on this machine, with sixteen requests at a time. The bare
loop is what somebody would write by hand: one `httpx.AsyncClient`, sixteen workers, each reads an object and deletes it
if its `ETag` is what was read. Where each worker has a client of its own, none waits for a shared pool: that is the
least that httpx can do. `apply` reads the object, evaluates the whole rule on it, asks the guard, commits the intent,
deletes under the same condition, and commits the outcome, with the journal, on SQLite; opening the plan and verifying
the record are in it. The goal is 0.8 of the bare loop's rate. Best of the rounds, which alternate, so that a slow
moment of the machine hits all.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import os
import pstats
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
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
closure      = "none"
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
def target(objects: int, latency: float = 0.0) -> Iterator[str]:
    """Run the server over so many things; give its address."""
    program = Path(__file__).with_name("http_target.py")
    server = subprocess.Popen(
        [sys.executable, str(program), str(objects), str(latency)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    try:
        yield f"http://127.0.0.1:{server.stdout.readline().strip()}"
    finally:
        server.communicate("")


async def bare(url: str, objects: int, *, shared: bool = True) -> Took:
    """Return what the same requests took, written by hand; `shared`: one client for all workers."""
    todo = [f"/things/t{n:06}" for n in range(1, objects + 1)]
    trusted = ssl.create_default_context()  # made once: it takes longer than many requests

    def client() -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=url, verify=trusted, trust_env=False)

    async def worker(client: httpx.AsyncClient) -> None:
        while len(todo) > 0:
            path = todo.pop()
            read = await client.get(path)
            found = read.json()
            if found["owner"] is None and found["state"] == "idle" and found["idle_days"] > 90:
                deleted = await client.delete(path, headers={"if-match": read.headers["etag"]})
                assert deleted.status_code == 204

    async with AsyncExitStack() as stack:
        made = [await stack.enter_async_context(client()) for _ in range(1 if shared else CONCURRENCY)]
        began, used = time.perf_counter(), time.process_time()
        await asyncio.gather(*(worker(made[n % len(made)]) for n in range(CONCURRENCY)))
        return time.perf_counter() - began, time.process_time() - used


async def through_apply(folder: Path, url: str, objects: int, profile: cProfile.Profile | None = None) -> Took:
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


def profiled(objects: int, latency: float, path: Path) -> None:
    """Apply once more, and write and print where the time went."""
    profile = cProfile.Profile()
    with tempfile.TemporaryDirectory() as folder, target(objects, latency) as url:
        asyncio.run(through_apply(Path(folder), url, objects, profile))
    profile.dump_stats(path)
    pstats.Stats(profile).sort_stats("cumtime").print_stats("fullcount", 30)


def main() -> None:
    """Run all, alternating, and print the rates and their ratios."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--objects", type=int, default=2_000)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--latency", type=float, default=0.0, help="seconds that each answer takes longer")
    arguments.add_argument("--profile", type=Path, help="afterwards, write where the time of an apply went (cProfile)")
    given = arguments.parse_args()
    best: dict[str, Took] = {}

    def note(name: str, took: Took) -> None:
        known = best.get(name, took)
        best[name] = min(known[0], took[0]), min(known[1], took[1])

    for _ in range(given.rounds):
        for name, shared in (("bare loop", True), ("one client a worker", False)):
            with target(given.objects, given.latency) as url:
                note(name, asyncio.run(bare(url, given.objects, shared=shared)))
        with tempfile.TemporaryDirectory() as folder, target(given.objects, given.latency) as url:
            note("apply", asyncio.run(through_apply(Path(folder), url, given.objects)))
    ours = best["apply"]
    for name, (seconds, used) in best.items():
        each, cpu = 1e3 * seconds / given.objects, 1e3 * used / given.objects
        print(f"{name:20} {given.objects / seconds:8,.0f} acts/s  {each:6.2f} ms an object, {cpu:.2f} of the processor")
    for name in ("bare loop", "one client a worker"):
        seconds, used = best[name]
        print(f"ratio to {name:20} {seconds / ours[0]:.2f} of its rate, {used / ours[1]:.2f} by time of the processor")
    print(f"{given.objects:,} objects, latency {given.latency} s, {os.getloadavg()[0]:.1f} load")
    if given.profile is not None:
        profiled(given.objects, given.latency, given.profile)


if __name__ == "__main__":
    main()

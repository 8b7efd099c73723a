"""The whole of a clean-up over every hostile object, run once; the tests judge what came of each."""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.adversarial.objects import hostile, twins
from tests.support.workspaces import WORKFLOW, Bench

FILE = f"workflows/{WORKFLOW}.fcw"


@dataclass
class Whole:
    """Everything that one clean-up wrote and did."""

    bench: Bench
    names: dict[str, str]
    others: set[str]
    before: list[tuple[Any, ...]] = field(default_factory=list)
    applied: list[tuple[Any, ...]] = field(default_factory=list)
    undone: list[tuple[Any, ...]] = field(default_factory=list)
    planned: Any = None
    screens: dict[str, str] = field(default_factory=dict)
    exits: dict[str, int] = field(default_factory=dict)
    documents: dict[str, str] = field(default_factory=dict)
    outside: set[Path] = field(default_factory=set)

    def see(self, name: str, *arguments: str) -> str:
        """Run a verb and keep what it printed."""
        ended = self.bench.run(*arguments)
        self.screens[name], self.exits[name] = ended.said, ended.exit
        return ended.out


def fill(bench: Bench, names: dict[str, str]) -> set[str]:
    """Give the directory every hostile object, due, with a hostile owner; and the twins of each, which are not due."""
    texts = set(names.values())
    others = twins(texts) - {key for (key,) in bench.sql("directory", "SELECT id FROM accounts")}
    recent, long_ago = (datetime.now(UTC) - timedelta(days=days) for days in (1, 900))
    rows = [
        (text, f"u{number}", None if number % 3 == 0 else f"{text} of old", long_ago.isoformat())
        for number, text in enumerate(sorted(texts))
    ]
    rows += [(text, f"twin{number}", None, recent.isoformat()) for number, text in enumerate(sorted(others))]
    with contextlib.closing(sqlite3.connect(bench.root / "directory.db")) as db, db:
        db.executemany("INSERT INTO accounts VALUES (?, ?, ?, ?, 0, 1)", rows)
    bench.rule(limit="500, 100%")
    return others


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Whole:
    """Plan, look at it in every form, approve, apply, look again, verify, undo, verify."""
    outer = tmp_path_factory.mktemp("hostile")
    bench = Bench(outer / "bench")
    run = Whole(bench, hostile(), set())
    run.others = fill(bench, run.names)
    run.before = bench.target()
    run.planned = bench.plan()
    plan = run.planned["plan_id"]
    for name, arguments in {
        "plan": ("plan", FILE),
        "show": ("show", plan, "--all"),
        "undecided": ("show", plan, "--undecided"),
        "evidence": ("evidence", FILE),
        "runs": ("runs",),
    }.items():
        run.see(name, *arguments)
    plan = bench.run("runs", "--json").json["plans"][0]["plan_id"]
    run.planned = bench.run("show", plan, "--json").json
    run.documents["json"] = bench.run("show", plan, "--json").out
    run.documents["csv"] = bench.run("show", plan, "--csv").out
    bench.run("show", plan, "--html", "page.html")
    run.documents["html"] = (bench.root / "page.html").read_text("utf-8")
    run.see("unapproved", "apply", plan)
    assert bench.target() == run.before
    run.see("approve", "approve", plan, "--digest", run.planned["plan"]["digest"])
    run.see("apply", "apply", plan)
    run.applied = bench.target()
    run.see("again", "apply", plan)
    assert bench.target() == run.applied
    run.documents["applied json"] = bench.run("show", plan, "--json").out
    run.see("verify", "verify")
    run.see("undo", "undo", plan)
    undo = bench.run("runs", "--json").json["plans"][0]
    run.see("approve undo", "approve", undo["plan_id"], "--digest", undo["digest"])
    run.see("apply undo", "apply", undo["plan_id"])
    run.undone = bench.target()
    run.see("verify after undo", "verify")
    run.outside = {path for path in outer.rglob("*") if bench.root not in path.parents and path != bench.root}
    return run

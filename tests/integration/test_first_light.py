"""The whole path on real systems, thin: from a file to a verified record, through the command line alone."""

import contextlib
import os
import re
import shutil
import sqlite3
from datetime import UTC, datetime

import pytest
from tests.support.workspaces import PROJECT, WORKFLOW, Bench
from workflows.demo.repository import Repository

FILE = f"workflows/{WORKFLOW}.fcw"
REFUSED, WAITING = 3, 5

GIT = """\
[workspace]
name = "branches"

[sources.vcs]
connector = "git"
repository = "service.git"
base = "{base}"

[roles]
maintainers = ["uid:{uid}"]
"""


@pytest.fixture
def bench(tmp_path):
    """A small real workspace."""
    return Bench(tmp_path / "bench")


@pytest.mark.requirement("R41", "R42", "R43", "R24", "R29", "R34")
def test_clean_up_of_accounts_from_the_file_to_the_verified_record(bench):
    """Refused while partial, planned when complete, approved, applied with changes underneath, undone, verified."""
    assert bench.run("check").exit == 0
    graph = bench.run("graph", FILE)
    assert "absence: complete" in graph.out

    bench.configure(hr_limit=2)
    refused = bench.run("plan", FILE)
    assert refused.exit == REFUSED
    assert "nothing was proposed" in refused.out
    bench.configure()

    planned = bench.run("plan", FILE)
    assert planned.exit == WAITING
    plan = bench.plan()
    assert bench.run("apply", plan["plan_id"]).exit == WAITING
    assert bench.locked() == set()

    page = bench.root / "review.html"
    assert bench.run("show", plan["plan_id"], "--html", page).exit == 0
    assert not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", page.read_text(encoding="utf-8"))
    assert bench.run("show", plan["plan_id"], "--csv").out.count("\n") == 4

    bench.approve(plan)
    bench.sql("directory", "UPDATE accounts SET entry_uuid = 'recreated' WHERE id = 'a02'")
    done = bench.run("apply", plan["plan_id"])
    assert done.exit == 0, done.said
    assert "2 done" in done.out
    assert "a02" in done.out
    assert bench.locked() == {"a01", "a03"}

    again = bench.run("apply", plan["plan_id"])
    assert (again.exit, "nothing was done again" in again.out) == (0, True)
    bench.undone(plan)
    assert bench.locked() == set()

    verified = bench.run("verify", "--json")
    assert (verified.exit, verified.json["ok"]) == (0, True)
    head = verified.json["head"]
    assert bench.run("verify", "--anchor", f"{head['seq']}:{head['hash']}").exit == 0
    assert bench.run("verify", "--anchor", f"{head['seq']}:sha256:{'0' * 64}").exit != 0


@pytest.mark.requirement("R34", "R36")
def test_record_with_one_changed_byte_does_not_verify(bench):
    """Whichever entry of the journal is changed, the record is refused, and the entry is named."""
    bench.run("apply", bench.approved()["plan_id"])
    with contextlib.closing(sqlite3.connect(bench.state)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        entries = db.execute("SELECT seq, payload FROM journal ORDER BY seq").fetchall()
    whole = bench.state.read_bytes()
    for seq, payload in entries[:: max(1, len(entries) // 6)]:
        at = len(payload) // 2
        changed = payload[:at] + ("x" if payload[at] != "x" else "y") + payload[at + 1 :]
        with contextlib.closing(sqlite3.connect(bench.state)) as db, db:
            for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
                db.execute(f'DROP TRIGGER "{name}"')
            db.execute("UPDATE journal SET payload = ? WHERE seq = ?", (changed, seq))
        ended = bench.run("verify")
        assert ended.exit == 1
        assert f"entry {seq}" in ended.words
        bench.state.write_bytes(whole)
        for rest in ("-wal", "-shm"):
            bench.state.with_name(bench.state.name + rest).unlink(missing_ok=True)
    assert bench.run("verify").exit == 0


@pytest.fixture
def branches(tmp_path):
    """A workspace over a repository with merged, squashed, fresh and unmerged branches."""
    bench = Bench.__new__(Bench)
    bench.root, bench.uid = tmp_path / "git", os.getuid()
    (bench.root / "workflows").mkdir(parents=True)
    shutil.copy(PROJECT / "workflows/stale_branches/stale_branches.fcw", bench.root / "workflows")
    (bench.root / "fullcount.toml").write_text(GIT.format(base="main", uid=os.getuid()))
    repository = Repository(bench.root / "service.git", tmp_path / "scratch", datetime.now(UTC))
    repository.make()
    return bench, repository


RULE = "workflows/stale_branches.fcw"
STALE = {"cache-keys", "csv-export", "dark-mode", "login-form", "rate-limits", "retry-queue"}


@pytest.mark.requirement("R21", "R36")
def test_branches_are_refused_while_the_base_is_not_there(branches):
    """Without its base branch nothing can be said to be merged, so nothing is proposed and nothing deleted."""
    bench, repository = branches
    before = repository.branches()
    (bench.root / "fullcount.toml").write_text(GIT.format(base="trunk", uid=os.getuid()))
    planned = bench.plan(file=RULE, exits=REFUSED)
    assert planned["envelopes"]["branches"]["status"] == "failed"
    assert repository.branches() == before


@pytest.mark.requirement("R22", "R29", "R41", "R43")
def test_clean_up_of_branches_leaves_the_one_that_got_a_new_commit(branches):
    """Deleted with their reviewed commit, one left alone, nothing twice, and restored from the record."""
    bench, repository = branches
    before = repository.branches()
    plan = bench.plan(file=RULE)
    assert {row["key"][0].removeprefix("feature/") for row in plan["plan"]["rows"]} == STALE
    assert bench.run("apply", plan["plan_id"]).exit == WAITING
    assert repository.branches() == before

    bench.approve(plan)
    repository.push_new_commit("feature/csv-export")
    assert bench.run("apply", plan["plan_id"]).exit == 0
    gone = {f"feature/{name}" for name in STALE - {"csv-export"}}
    assert set(repository.branches()) == set(before) - gone
    journal = bench.journal()
    assert bench.run("apply", plan["plan_id"]).exit == 0
    assert bench.journal() == journal

    bench.undone(plan)
    assert repository.branches() == before
    assert bench.run("verify").exit == 0

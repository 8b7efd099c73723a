"""Real targets with objects that are due, and an approved plan over them, for a process to be killed at."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from fullcount.compiler.pipeline import compile_source
from fullcount.dsl.source import Source
from fullcount.runtime.approve.identity import current_person
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.engine import Engine
from fullcount.runtime.planning import PlanRequest
from fullcount.runtime.store.store import Store
from fullcount.runtime.workspace import Workspace

OBJECTS = 60

SQL_TOML = """
[workspace]
name = "crash"

[roles]
ops = ["uid:{uid}"]

[sources.directory]
connector = "sql"
url = "sqlite:///target.db"

[sources.directory.resources.accounts]
table = "accounts"
key = ["id"]
incarnation = "uuid"
version = "version"
version_managed = true
writable = ["locked"]
known_triggers = ["noted"]
fields = {{ id = "text", uuid = "text", owner = "text?", locked = "bool", version = "int" }}

[sources.directory.resources.people]
table = "people"
key = ["id"]
fields = {{ id = "text", active = "bool" }}
"""

SQL_WORKFLOW = """
workflow lock_orphans {
  describe "Lock accounts that nobody owns."
  owner    "iam-team"

  inventory accounts from directory.accounts {
    key         id
    incarnation uuid
    fields      { id: text, uuid: text, owner: text?, locked: bool, version: int }
  }

  inventory people from directory.people {
    key    id
    fields { id: text, active: bool }
  }

  verify accounts { complete, fresh within 1h }
  verify people { complete, fresh within 1h }

  propose lock from accounts as a {
    where not a.locked and (a.owner is absent or no people as p where (p.id == a.owner and p.active))
    limit 100000
  }

  approve lock { 1 of role "ops", expires after 1d }

  act lock with directory.update(id: a.id, locked: true) {
    undo        directory.update(id: a.id, locked: false)
    concurrency 4
  }
}
"""

_GIT_TOML = """
[workspace]
name = "crash"

[roles]
ops = ["uid:{uid}"]

[sources.code]
connector = "git"
repository = "repository.git"
base = "main"
"""

_GIT_WORKFLOW = """
workflow prune_branches {
  describe "Delete branches that are merged."
  owner    "platform"

  inventory branches from code.branches {
    key    name
    fields { name: text, sha: text, merged: bool, is_base: bool }
  }

  verify branches { complete, fresh within 1h }

  propose prune from branches as b {
    where b.merged and not b.is_base
    limit 100000
  }

  approve prune { 1 of role "ops", expires after 1d }

  act prune with code.delete(name: b.name) {
    undo        code.restore(name: b.name, sha: b.sha)
    concurrency 4
  }
}
"""


_FILES_TOML = """
[workspace]
name = "crash"

[roles]
ops = ["uid:{uid}"]

[sources.share]
connector = "files"
root = "{folder}/uploads"
quarantine = "{folder}/quarantine"

[sources.share.resources.files]
kind = "file"
patterns = ["*"]
depth = 1
delete = "quarantine"
"""

_FILES_WORKFLOW = """
workflow tidy_uploads {
  describe "Delete old uploads."
  owner    "platform"

  inventory files from share.files {
    key         path
    incarnation incarnation
    fields      { path: text, incarnation: text, version: text, modified: timestamp }
  }

  verify files { complete, fresh within 1h }

  propose tidy from files as f {
    where f.modified < now - 1d
    limit 100000
  }

  approve tidy { 1 of role "ops", expires after 1d }

  act tidy with share.delete(path: f.path) {
    undo        share.put_back(path: f.path, version: f.version)
    concurrency 4
  }
}
"""


@contextmanager
def database(folder: Path) -> Iterator[sqlite3.Connection]:
    """Open the target, commit at the end, and close it."""
    with closing(sqlite3.connect(folder / "target.db")) as connection, connection:
        yield connection


def prepare_sql(folder: Path, objects: int = OBJECTS) -> None:
    """Make a database with orphaned accounts; a trigger notes each write."""
    with database(folder) as db:
        db.executescript(
            """
            PRAGMA journal_mode = WAL;
            CREATE TABLE accounts (
              id TEXT PRIMARY KEY NOT NULL, uuid TEXT NOT NULL, owner TEXT, locked BOOLEAN NOT NULL,
              version INTEGER NOT NULL
            );
            CREATE TABLE people (id TEXT PRIMARY KEY NOT NULL, active BOOLEAN NOT NULL);
            CREATE TABLE audit (id TEXT NOT NULL, locked BOOLEAN NOT NULL);
            CREATE TRIGGER noted AFTER UPDATE ON accounts BEGIN
              INSERT INTO audit VALUES (new.id, new.locked);
            END;
            """
        )
        db.executemany(
            "INSERT INTO accounts VALUES (?, ?, ?, 0, 1)",
            [(f"a{n:05}", f"uuid-{n}", None if n % 2 else f"gone-{n}") for n in range(objects)],
        )
        db.execute("INSERT INTO accounts VALUES ('kept', 'uuid-kept', 'p1', 0, 1)")
        db.execute("INSERT INTO people VALUES ('p1', 1)")
    (folder / "fullcount.toml").write_text(SQL_TOML.format(uid=current_person().uid))
    (folder / "workflow.fcw").write_text(SQL_WORKFLOW)


def prepare_canary(folder: Path, objects: int = OBJECTS) -> None:
    """Make the same database; the first twenty of its rows are a canary."""
    prepare_sql(folder, objects)
    workflow = folder / "workflow.fcw"
    text = workflow.read_text()
    workflow.write_text(text.replace("concurrency 4", "concurrency 4\n    canary 20 then wait 2s"))


def prepare_rehearsal(folder: Path, objects: int) -> None:
    """Make the same database; its rows are deleted with a backup, and the first two rehearse their restore."""
    prepare_sql(folder, objects)
    with database(folder) as db:
        db.executescript(
            """
            CREATE TRIGGER went AFTER DELETE ON accounts BEGIN INSERT INTO audit VALUES (old.id, 1); END;
            CREATE TRIGGER came AFTER INSERT ON accounts BEGIN INSERT INTO audit VALUES (new.id, 0); END;
            """
        )
    for name, changes in (
        ("fullcount.toml", {'["noted"]': '["noted", "went", "came"]\ndeletable = true'}),
        (
            "workflow.fcw",
            {
                "not a.locked and": "a.version >= 1 and",
                "directory.update(id: a.id, locked: true)": "directory.delete(id: a.id)",
                "undo        directory.update(id: a.id, locked: false)": "backup kept for 2d",
                "concurrency 4": "concurrency 4\n    canary 2 then wait 1s\n    rehearse restore",
            },
        ),
    ):
        text = (folder / name).read_text()
        for old, new in changes.items():
            assert old in text
            text = text.replace(old, new)
        (folder / name).write_text(text)


def prepare_rehearsed_step(folder: Path, objects: int) -> None:
    """Make the same as `prepare_rehearsal`, of an act with steps, the only one of which deletes."""
    prepare_rehearsal(folder, objects)
    workflow = folder / "workflow.fcw"
    text = workflow.read_text()
    steps = """  act lock with steps {
    delete: directory.delete(id: a.id) backup kept for 2d rehearse restore
    concurrency 4
    canary 2 then wait 1s
  }
}
"""
    workflow.write_text(text[: text.index("  act lock with")] + steps)


def prepare_steps(folder: Path, objects: int) -> None:
    """Make the same database; its rows are marked first and locked fourteen days later."""
    prepare_sql(folder, objects)
    with database(folder) as db:
        db.execute("ALTER TABLE accounts ADD COLUMN marked BOOLEAN NOT NULL DEFAULT 0")
    for name, changes in (
        (
            "fullcount.toml",
            {'["locked"]': '["locked", "marked"]', 'locked = "bool"': 'locked = "bool", marked = "bool"'},
        ),
        ("workflow.fcw", {"locked: bool": "locked: bool, marked: bool", "not a.locked and": "a.version >= 1 and"}),
    ):
        text = (folder / name).read_text()
        for old, new in changes.items():
            assert old in text
            text = text.replace(old, new)
        (folder / name).write_text(text)
    workflow = folder / "workflow.fcw"
    text = workflow.read_text()
    steps = """  act lock with steps {
    mark: directory.update(id: a.id, marked: true)
    lock: directory.update(id: a.id, locked: true) undo directory.update(id: a.id, locked: false) after 14d
    concurrency 4
  }
}
"""
    workflow.write_text(text[: text.index("  act lock with")] + steps)


def sql_writes(folder: Path) -> dict[str, list[int]]:
    """Return what each account was set to by each write, in order: whether it was locked."""
    found: dict[str, list[int]] = {}
    with database(folder) as db:
        for key, locked in db.execute("SELECT id, locked FROM audit ORDER BY rowid"):
            found.setdefault(key, []).append(locked)
    return found


def sql_changes(folder: Path) -> Counter[str]:
    """Return how often each account was written."""
    with database(folder) as db:
        return Counter(key for (key,) in db.execute("SELECT id FROM audit"))


def sql_is_done(folder: Path) -> bool:
    """Whether every account that was due is locked, each at its second version, and the kept one is not."""
    with database(folder) as db:
        rows = db.execute("SELECT id, locked, version FROM accounts").fetchall()
    return all((locked, version) == ((0, 1) if key == "kept" else (1, 2)) for key, locked, version in rows)


def _git(folder: Path, *arguments: str, given: str | None = None) -> str:
    command = ["git", "-C", str(folder / "repository.git"), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, input=given).stdout.strip()


def prepare_git(folder: Path, objects: int = OBJECTS) -> None:
    """Make a bare repository with merged branches; a hook notes each change of a ref."""
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(folder / "repository.git")], check=True)
    tree = _git(folder, "mktree", given="")
    identity = ["-c", "user.name=Ana", "-c", "user.email=ana@example.org"]
    first = _git(folder, *identity, "commit-tree", tree, "-m", "first")
    last = _git(folder, *identity, "commit-tree", tree, "-p", first, "-m", "second")
    refs = [f"create refs/heads/topic-{n:03} {first}" for n in range(objects)]
    _git(folder, "update-ref", "--stdin", given="\n".join([f"create refs/heads/main {last}", *refs, ""]))
    hook = folder / "repository.git" / "hooks" / "reference-transaction"
    log = folder / "changes.log"
    hook.write_text(f'#!/bin/sh\n[ "$1" = committed ] && cat >> "{log}"\nexit 0\n')
    hook.chmod(0o755)
    (folder / "fullcount.toml").write_text(_GIT_TOML.format(uid=current_person().uid))
    (folder / "workflow.fcw").write_text(_GIT_WORKFLOW)


def git_branches(folder: Path) -> set[str]:
    """Return the branches that are there."""
    return set(_git(folder, "for-each-ref", "--format=%(refname:short)", "refs/heads").splitlines())


def git_deletions(folder: Path) -> Counter[str]:
    """Return how often each branch was deleted, as the repository's hook noted it."""
    return Counter(name for name, new in _git_changes(folder) if set(new) == {"0"})


def git_creations(folder: Path) -> Counter[str]:
    """Return how often each branch was made or moved."""
    return Counter(name for name, new in _git_changes(folder) if set(new) != {"0"})


def _git_changes(folder: Path) -> Iterator[tuple[str, str]]:
    for line in (folder / "changes.log").read_text().splitlines():
        _, new, ref = line.split()
        if ref.startswith("refs/heads/"):
            yield ref.removeprefix("refs/heads/"), new


async def approved_plan(folder: Path, objects: int = OBJECTS, *, later: timedelta = timedelta(0)) -> str:
    """Compile, collect, certify, plan and approve; return the plan's id. `later` moves the clock on."""

    def clock() -> datetime:
        return datetime.now(UTC) + later

    workspace = Workspace.load(folder)
    compiled = compile_source(Source("workflow.fcw", (folder / "workflow.fcw").read_text()), workspace.catalog())
    assert compiled.program is not None, [(d.code, d.message) for d in compiled.diagnostics]
    (workflow,) = compiled.program.workflows
    with Store.open(workspace.store_url, clock=clock) as store:
        engine = Engine(workspace, store, SnapshotStore(workspace.snapshot_dir), clock=clock)
        request = PlanRequest(workflow, workflow.proposals[0], {}, current_person())
        end = await engine.plan(request)
        assert end.plan is not None, end.refusals
        assert len(end.plan.document.rows) == objects
        engine.give_approval(end.plan, current_person(), end.plan.document.digest)
        return end.plan.document.plan_id


async def approved_undo(folder: Path, plan_id: str, *, later: timedelta = timedelta(0)) -> str | None:
    """Plan to take back what a plan did, and approve that; return the undo's id, None if there is nothing.

    Each object counts as named: what was found gone after a kill is brought back as well.
    """

    def clock() -> datetime:
        return datetime.now(UTC) + later

    workspace = Workspace.load(folder)
    with Store.open(workspace.store_url, clock=clock) as store:
        engine = Engine(workspace, store, SnapshotStore(workspace.snapshot_dir), clock=clock)
        end = await engine.plan_undo(plan_id, current_person(), named=True)
        if end.plan is None:
            return None
        engine.give_approval(end.plan, current_person(), end.plan.document.digest)
        return end.plan.document.plan_id


def git_sha(folder: Path, branch: str) -> str:
    """Return the commit of a branch."""
    return _git(folder, "rev-parse", f"refs/heads/{branch}")


def git_move(folder: Path, branch: str, sha: str) -> None:
    """Make or move a branch."""
    _git(folder, "update-ref", f"refs/heads/{branch}", sha)


def prepare_files(folder: Path, objects: int = OBJECTS) -> None:
    """Make a folder of old files, and one that is new."""
    uploads = folder / "uploads"
    uploads.mkdir()
    (folder / "quarantine").mkdir(mode=0o700)
    for name in (*(f"f{n:03}" for n in range(objects)), "kept"):
        (uploads / name).write_text(name)
        if name != "kept":
            os.utime(uploads / name, (1_000_000_000, 1_000_000_000))
    (folder / "fullcount.toml").write_text(_FILES_TOML.format(uid=current_person().uid, folder=folder))
    (folder / "workflow.fcw").write_text(_FILES_WORKFLOW)

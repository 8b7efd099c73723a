"""A real workspace in a folder, small enough to be looked at whole, and the command line on it.

The directory has twelve accounts. Three are orphans that the rule selects: `a01` has no owner, the owner of `a02` left,
the owner of `a03` is not among the people at all. The HR feed has six people, payroll (an independent list) as well.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from fullcount.runtime.cli.main import main
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.engine import Engine
from fullcount.runtime.store.store import Store
from fullcount.runtime.workspace import Workspace

PROJECT = Path(__file__).resolve().parents[2]
ORPHANS = ("a01", "a02", "a03")
WORKFLOW = "disable_orphans"

CONFIGURATION = """\
[workspace]
name = "bench"

[sources.directory]
connector = "sql"
url = "sqlite:///directory.db"
timezone = "UTC"

[sources.directory.resources.accounts]
table = "{table}"
key = ["id"]
incarnation = "entry_uuid"
version = "row_version"
version_managed = true
writable = ["locked"]
deletable = true
fields = {{ id = "text", entry_uuid = "text", owner = "text?", last_login = "timestamp", locked = "bool", \
row_version = "int" }}

[sources.hr]
connector = "sql"
url = {hr_url}
{hr_limit}
[sources.hr.resources.employees]
table = "employees"
key = ["id"]
fields = {{ id = "text", active = "bool" }}

[sources.hr.resources.headcount]
table = "payroll"
key = ["employee_id"]
fields = {{ employee_id = "text" }}

[roles]
{roles}

[exemptions]
exemptions = "exemptions.toml"
"""

RULE = """\
workflow {name} {{
  describe "Lock accounts that nobody owns and nobody uses."
  owner    "iam-team"
  {schedule}

  param idle: duration = 90d
  {param}

  inventory accounts from directory.accounts {{
    key         id
    incarnation entry_uuid
    fields      {{ id: text, entry_uuid: text, owner: text?, last_login: timestamp, locked: bool }}
    scope       {scope}
    {expect}
  }}
  inventory people from hr.employees {{
    key    id
    fields {{ id: text, active: bool }}
  }}

  verify accounts {{ complete, fresh within {fresh} }}
  verify people   {{ complete, fresh within 24h, {people_claims} }}

  propose disable from accounts as a {{
    where not a.locked
      and a.last_login < now - idle
      and (a.owner is absent or no people as p where (p.id == a.owner and p.active))
    except in exemptions
    limit  {limit}
    show   a.owner, a.last_login
  }}
  {approve}
  {act}
}}
"""

APPROVE = "approve disable {{ {quorum}, expires after {expires} }}"
ACT = """act disable with directory.update(id: a.id, locked: true) {
    undo directory.update(id: a.id, locked: false)
    stop after 3 failures
  }"""

AN_API = """
[workspace]
name = "shop"

[roles]
ops = ["uid:{uid}"]

[sources.shop]
connector = "http"
dialect   = "generic_http"
base_url  = "{url}"
"""
"""The settings of a workspace with one API, for `format`: who may approve (`uid`), and where it is (`url`)."""


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    exit: int
    out: str
    err: str

    @cached_property
    def json(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)

    @property
    def said(self) -> str:
        """Everything that was printed."""
        return self.out + self.err

    @property
    def words(self) -> str:
        """Everything that was printed, as one line: what was wrapped is found whole."""
        return " ".join(self.said.split())


class Bench:
    """One workspace. Everything is real: files, databases, the store, the command line."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.uid = os.getuid()
        (root / "workflows").mkdir(parents=True)
        self.configure()
        self.exempt()
        self.rule()
        make_people(root / "hr.db")
        make_accounts(root / "directory.db")

    @classmethod
    def at(cls, root: Path) -> Self:
        """Return the command line on a folder, as it is."""
        bench = cls.__new__(cls)
        bench.root, bench.uid = root, os.getuid()
        return bench

    @classmethod
    def of(cls, root: Path, settings: str, workflow: str, **places: object) -> Self:
        """Make a workspace of a test's own: `places` and `uid` fill those of its settings."""
        bench = cls.at(root)
        (root / "workflows").mkdir(parents=True)
        (root / "fullcount.toml").write_text(settings.format(uid=bench.uid, **places), encoding="utf-8")
        name = workflow.split()[1]
        (root / "workflows" / f"{name}.fcw").write_text(workflow, encoding="utf-8")
        return bench

    # -- the workspace ------------------------------------------------------------------------------------------------

    def configure(
        self,
        *,
        hr_limit: int | None = None,
        table: str = "accounts",
        hr_url: str = '"sqlite:///hr.db"',
        roles: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        """Write fullcount.toml; `hr_limit` cuts the HR feed short."""
        members = {"iam-admin": (f"uid:{self.uid}",)} if roles is None else roles
        text = CONFIGURATION.format(
            table=table,
            hr_url=hr_url,
            hr_limit="" if hr_limit is None else f"max_rows = {hr_limit}\n",
            roles="\n".join(f"{role} = {json.dumps(names)}" for role, names in members.items()),
        )
        (self.root / "fullcount.toml").write_text(text, encoding="utf-8")

    def rule(self, name: str = WORKFLOW, *, file: str | None = None, **changes: str) -> Path:
        """Write a workflow file and return its path, relative to the workspace; `changes` fill its places."""
        given = {
            "name": name,
            "schedule": "",
            "param": "",
            "scope": "true",
            "expect": "",
            "fresh": "1h",
            "people_claims": "rows at least 3, count agrees with hr.headcount",
            "limit": "5, 50%",
            "quorum": '1 of role "iam-admin"',
            "expires": "3d",
            "approve": APPROVE,
            "act": ACT,
            **changes,
        }
        given["approve"] = given["approve"].format_map(given)
        if given["scope"] == "true":
            given["scope"] = 'id != ""'
        path = Path("workflows") / (file or f"{name}.fcw")
        (self.root / path).write_text(RULE.format_map(given), encoding="utf-8")
        return path

    def exempt(self, *keys: str) -> None:
        """Write the exemption list."""
        entries = "".join(
            f'[[exemption]]\nkey = "{key}"\nowner = "ops"\nreason = "kept"\nexpires = 2999-12-31\n' for key in keys
        )
        (self.root / "exemptions.toml").write_text(entries, encoding="utf-8")

    # -- the target ---------------------------------------------------------------------------------------------------

    def sql(self, database: str, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run one statement on `directory` or `hr`."""
        with contextlib.closing(sqlite3.connect(self.root / f"{database}.db")) as db, db:
            return db.execute(statement, values).fetchall()

    def target(self) -> list[tuple[Any, ...]]:
        """Everything in the directory: the proof of what was done is here."""
        return self.sql("directory", "SELECT * FROM accounts ORDER BY id")

    def locked(self) -> set[str]:
        """The accounts that are locked at the target."""
        return {key for (key,) in self.sql("directory", "SELECT id FROM accounts WHERE locked")}

    # -- the command line ---------------------------------------------------------------------------------------------

    def run(self, *arguments: str | Path, at: Path | None = None) -> Ended:
        """Run one command in this process, as `main` would. A bug is raised here, with its traceback."""
        out, err = io.StringIO(), io.StringIO()
        given, hook = sys.argv, sys.excepthook
        sys.argv = ["fullcount", *map(str, arguments)]
        code: Any = None
        try:
            with (
                contextlib.chdir(at or self.root),
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(err),
            ):
                main()
        except SystemExit as ended:
            code = ended.code
        finally:
            sys.argv, sys.excepthook = given, hook
        assert isinstance(code, int)
        return Ended(code, out.getvalue(), err.getvalue())

    def start(
        self, *arguments: str | Path, uid: int | None = None, env: Mapping[str, str] | None = None, **more: Any
    ) -> subprocess.Popen[str]:
        """Start a command as a process of its own, whose real user is `uid` when that is given (needs root).

        Its effective user stays, so that it can read the interpreter and the store wherever they are.
        """
        become = "" if uid is None else f"import os; os.setresuid({uid}, 0, 0); "
        program = f"{become}from fullcount.runtime.cli.main import main; main()"
        return self.python("-c", program, *map(str, arguments), env=env, **more)

    def python(self, *arguments: str, env: Mapping[str, str] | None = None, **more: Any) -> subprocess.Popen[str]:
        """Start an interpreter in the workspace."""
        return subprocess.Popen(
            [sys.executable, *arguments],
            cwd=self.root,
            env={**os.environ, **environment(), **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **more,
        )

    def process(self, *arguments: str | Path, uid: int | None = None, env: Mapping[str, str] | None = None) -> Ended:
        """Run a command as a process of its own."""
        with self.start(*arguments, uid=uid, env=env) as running:
            out, err = running.communicate(timeout=60)
        return Ended(running.returncode, out, err)

    # -- the usual steps ----------------------------------------------------------------------------------------------

    def plan(self, *arguments: str, file: str | Path = f"workflows/{WORKFLOW}.fcw", exits: int = 5) -> Any:
        """Make a plan and return what `plan --json` says."""
        ended = self.run("plan", file, "--json", *arguments)
        assert ended.exit == exits, ended.said
        return ended.json

    def approve(self, planned: Any) -> None:
        """Approve a plan by its digest."""
        ended = self.run("approve", planned["plan_id"], "--digest", planned["digest"])
        assert ended.exit == 0, ended.said

    def undone(self, planned: Any, *objects: str, exits: int = 0) -> Any:
        """Take back what a plan did, in the three steps; return what the last one, `apply --json`, says."""
        undo = self.run("undo", planned["plan_id"], *objects, "--json")
        assert undo.exit == 5, undo.said
        self.approve(undo.json)
        ended = self.run("apply", undo.json["plan_id"], "--json")
        assert ended.exit == exits, ended.said
        return ended.json

    def approved(self) -> Any:
        """Make a plan and have it approved."""
        planned = self.plan()
        self.approve(planned)
        return planned

    # -- underneath ---------------------------------------------------------------------------------------------------

    @property
    def state(self) -> Path:
        """The file of the store."""
        return self.root / ".fullcount" / "state.db"

    @contextlib.contextmanager
    def store(self, **options: Any) -> Iterator[Store]:
        """Open the store."""
        with Store.open(f"sqlite:///{self.state}", **options) as store:
            yield store

    @contextlib.contextmanager
    def engine(self, clock: Any = None) -> Iterator[Engine]:
        """Open the store and an engine over it, both with the clock that is given."""
        given = {} if clock is None else {"clock": clock}
        workspace = Workspace.load(self.root)
        with self.store(**given) as store:
            yield Engine(workspace, store, SnapshotStore(workspace.snapshot_dir), **given)

    def journal(self) -> list[str]:
        """The kinds of the journal's entries, oldest first; nothing when there is no store."""
        if not self.state.exists():
            return []
        with contextlib.closing(sqlite3.connect(self.state)) as db:
            return [kind for (kind,) in db.execute("SELECT kind FROM journal ORDER BY seq")]

    def everything(self) -> tuple[Any, ...]:
        """All that a refused command must leave as it is: the target, the HR feed, the journal and the files."""
        files = {
            str(path.relative_to(self.root)): path.read_bytes()
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and ".fullcount" not in path.parts and path.suffix != ".db"
        }
        return self.target(), self.sql("hr", "SELECT * FROM employees ORDER BY id"), self.journal(), files


class Served:
    """A `fullcount serve` under test: its log can be waited for, and it is never left running."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.log: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        self.process.wait(10)

    def until(self, event: str, **fields: Any) -> dict[str, Any]:
        """Read the log until an entry with this event and these fields, and return it."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            assert line.startswith("{"), f"not a line of JSON: {line}"
            entry = json.loads(line)
            self.log.append(entry)
            if entry["event"] == event and fields.items() <= entry.items():
                return entry
        msg = f"the service ended before `{event}` {fields}: {self.log}"
        raise AssertionError(msg)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        assert self.process.stderr is not None
        self.log += [json.loads(line) for line in self.process.stderr]
        return self.process.wait(10)


def environment() -> dict[str, str]:
    """What a process of its own needs to find the project's modules."""
    return {"PYTHONPATH": os.pathsep.join(str(PROJECT / room) for room in ("dsl", "compiler", "runtime", "."))}


def make_people(path: Path) -> None:
    """Make the HR database: six people, one of whom has left."""
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE employees (id TEXT PRIMARY KEY NOT NULL, active BOOLEAN NOT NULL)")
        db.execute("CREATE TABLE payroll (employee_id TEXT PRIMARY KEY NOT NULL)")
        db.executemany("INSERT INTO employees VALUES (?, ?)", [(f"p{n}", n != 6) for n in range(1, 7)])
        db.executemany("INSERT INTO payroll VALUES (?)", [(f"p{n}",) for n in range(1, 7)])


def make_accounts(path: Path) -> None:
    """Make the directory: three orphans, and nine accounts that are owned, in use, or both."""
    now = datetime.now(UTC)
    rows = [
        ("a01", None, 200),
        ("a02", "p6", 200),
        ("a03", "p9", 200),
        ("a04", "p5", 200),  # idle, but owned
        ("a05", "p9", 5),  # without an owner, but in use
        *((f"a{n:02}", f"p{n % 5 + 1}", n) for n in range(6, 13)),
    ]
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute(
            "CREATE TABLE accounts (id TEXT PRIMARY KEY NOT NULL, entry_uuid TEXT NOT NULL, owner TEXT,"
            " last_login TEXT NOT NULL, locked BOOLEAN NOT NULL, row_version INTEGER NOT NULL)"
        )
        db.executemany(
            "INSERT INTO accounts VALUES (?, ?, ?, ?, 0, 1)",
            [
                (key, f"uuid-{key}", owner, (now - timedelta(days=idle)).isoformat(timespec="seconds"))
                for key, owner, idle in rows
            ],
        )


ANSI = re.compile(r"\x1b|\x9b")
HARMFUL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
"""What foreign text must never bring onto a screen: controls, invisible marks, direction overrides."""


def too_wide(text: str, width: int = 100) -> list[str]:
    """Return the lines that are wider than a report and could have been wrapped."""
    return [line for line in text.splitlines() if len(line) > width and " " in line.strip()[: width - 20]]

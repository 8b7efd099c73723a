"""The demonstration, step by step, each through the command line that an operator uses."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from workflows.demo import company
from workflows.demo.repository import Repository

HERE = Path(__file__).resolve().parent.parent
SEED = 20_261_130

CONFIGURATION = """\
[workspace]
name = "demo"

[sources.directory]
connector = "sql"
url = "sqlite:///directory.db"
timezone = "UTC"

[sources.directory.resources.accounts]
table = "accounts"
key = ["id"]
incarnation = "entry_uuid"
version = "row_version"
version_managed = true
writable = ["locked"]

[sources.directory.resources.accounts.fields]
id = "text"
entry_uuid = "text"
owner = "text?"
team = "text"
environment = "text"
created = "timestamp"
last_login = "timestamp?"
locked = "bool"
row_version = "int"

[sources.hr]
connector = "sql"
url = "sqlite:///hr.db"
{hr_limit}
[sources.hr.resources.employees]
table = "employees"
key = ["id"]
fields = {{ id = "text", name = "text", team = "text", active = "bool" }}

# Payroll is another system's list: its head count is independent of the HR feed.
[sources.hr.resources.headcount]
table = "payroll"
key = ["employee_id"]
fields = {{ employee_id = "text" }}

[sources.vcs]
connector = "git"
repository = "service.git"
base = "main"

[roles]
iam-admin = ["uid:{uid}"]
maintainers = ["uid:{uid}"]

[exemptions]
exemptions = "exemptions.toml"
"""


class DemoFailedError(Exception):
    """A step did not end as the demonstration says it must."""


class Demo:
    """One demonstration in one folder, which is made anew."""

    def __init__(self, root: Path, say: Callable[[str], None]) -> None:
        self.root = root
        self._say = say
        self._now = datetime.now(UTC)
        self._repository = Repository(root / "service.git", root / ".scratch", self._now)

    def run(self) -> None:
        """Run every step. Raises `DemoFailedError` as soon as one ends in another way than it must."""
        self._make()
        self._accounts()
        self._branches()
        self._record()

    # -- the company --------------------------------------------------------------------------------------------------

    def _make(self) -> None:
        self._title("A made company: a directory of accounts, an HR feed, a git repository")
        shutil.rmtree(self.root, ignore_errors=True)
        (self.root / "workflows").mkdir(parents=True)
        for folder in ("orphaned_accounts", "stale_branches"):
            for file in (HERE / folder).glob("*.fcw"):
                shutil.copy(file, self.root / "workflows" / file.name)
        (self.root / "exemptions.toml").write_text("# nobody is exempted\n", encoding="utf-8")
        dice = random.Random(SEED)
        active, former = company.make_hr(self.root / "hr.db", dice)
        self._victims = company.make_directory(self.root / "directory.db", active, former, self._now, dice)
        self._repository.make()
        self._configure()
        self._say(
            f"{company.SERVICE_ACCOUNTS + 1:,} accounts, {company.PEOPLE:,} people, "
            f"{len(self._repository.branches())} branches, in {self.root.name}/"
        )
        self._fullcount(0, "check")

    def _configure(self, *, hr_limit: int | None = None) -> None:
        limit = "" if hr_limit is None else f"max_rows = {hr_limit}\n"
        text = CONFIGURATION.format(uid=os.getuid(), hr_limit=limit)
        (self.root / "fullcount.toml").write_text(text, encoding="utf-8")

    # -- accounts -----------------------------------------------------------------------------------------------------

    def _accounts(self) -> None:
        rule = "workflows/orphaned_accounts.fcw"
        directory = self.root / "directory.db"

        self._title("The HR feed is cut short at 1,000 people: partial. Nothing may be concluded from who is missing")
        self._configure(hr_limit=1_000)
        self._fullcount(3, "plan", rule)
        self._configure()

        self._title("Cut short before the first person: partial and empty, the most dangerous answer of all")
        self._configure(hr_limit=0)
        self._fullcount(3, "plan", rule)
        self._configure()

        self._title("The HR table was emptied by a failed load: whole, and still not believed")
        self._sql("hr.db", "ALTER TABLE employees RENAME TO loaded", "CREATE TABLE employees (id TEXT PRIMARY KEY"
                  " NOT NULL, name TEXT NOT NULL, team TEXT NOT NULL, active BOOLEAN NOT NULL)")  # fmt: skip
        self._fullcount(3, "plan", rule)
        self._sql("hr.db", "DROP TABLE employees", "ALTER TABLE loaded RENAME TO employees")
        self._must(company.locked_accounts(directory) == 0, "no account is locked after three refusals")

        self._title("The whole feed: the plan, in the order of a reviewer's questions")
        self._fullcount(5, "plan", rule)
        plan = self._latest("disable_orphaned_accounts")
        self._fullcount(0, "show", plan["plan_id"], "--html", "review.html")
        self._fullcount(0, "graph", rule)

        self._title("Not approved: nothing is done")
        self._fullcount(5, "apply", plan["plan_id"])
        self._must(company.locked_accounts(directory) == 0, "no account is locked without an approval")

        self._title("Somebody who may approves exactly this plan, by its digest")
        self._fullcount(0, "approve", plan["plan_id"], "--digest", plan["digest"])

        self._title("Meanwhile one account is used, one is recreated under the same id, one is deleted")
        company.use_account(directory, self._victims.used)
        company.recreate_account(directory, self._victims.recreated)
        company.delete_account(directory, self._victims.deleted)
        self._fullcount(0, "apply", plan["plan_id"])
        self._must(company.locked_accounts(directory) == company.ORPHANS, f"{company.ORPHANS} accounts are locked")

        self._title("Applied again: nothing is done twice")
        self._fullcount(0, "apply", plan["plan_id"])

        self._title("To be undone: read live, and a plan of its own, which nobody has approved yet")
        self._fullcount(5, "undo", plan["plan_id"])
        undo = self._latest("disable_orphaned_accounts")
        self._fullcount(5, "apply", undo["plan_id"])
        self._must(company.locked_accounts(directory) == company.ORPHANS, "nothing is taken back without an approval")

        self._title("Approved by its own digest, and taken back, object by object")
        self._fullcount(0, "approve", undo["plan_id"], "--digest", undo["digest"])
        self._fullcount(0, "apply", undo["plan_id"])
        self._must(company.locked_accounts(directory) == 0, "no account is locked any more")

    # -- branches -----------------------------------------------------------------------------------------------------

    def _branches(self) -> None:
        self._title("Stale branches: merged, or merged by squash; one gets a new commit after the approval")
        self._fullcount(5, "plan", "workflows/stale_branches.fcw")
        plan = self._latest("prune_merged_branches")
        self._fullcount(0, "approve", plan["plan_id"], "--digest", plan["digest"])
        self._repository.push_new_commit("feature/csv-export")
        self._fullcount(0, "apply", plan["plan_id"])
        left = self._repository.branches()
        self._say(f"branches left: {', '.join(left)}")
        expected = {"main", "feature/csv-export", "feature/payment-v2", "feature/fresh", "release/2.4"}
        self._must(set(left) == expected, "only branches whose content is in main were deleted")

    # -- the record ---------------------------------------------------------------------------------------------------

    def _record(self) -> None:
        self._title("What ran, and the record of it, verified")
        self._fullcount(0, "runs", "--limit", "6")
        self._fullcount(0, "verify")

        self._title("One byte of the record is changed: it must not verify")
        shutil.copytree(self.root, self.root / "tampered", ignore=shutil.ignore_patterns("tampered", ".scratch"))
        self._tamper(self.root / "tampered" / ".fullcount" / "state.db")
        self._fullcount(1, "verify", where=self.root / "tampered")
        self._fullcount(0, "verify", quiet=True)
        self._say("the untouched record still verifies")
        self._title(f"Done. The review as one offline file: {self.root.name}/review.html")

    def _tamper(self, state: Path) -> None:
        """Change one byte of one entry, past the triggers that refuse it, as somebody with the file could."""
        with sqlite3.connect(state) as db:
            for (trigger,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
                db.execute(f'DROP TRIGGER "{trigger}"')
            seq, payload = db.execute(
                "SELECT seq, payload FROM journal WHERE kind LIKE '%outcome%' ORDER BY seq LIMIT 1"
            ).fetchone()
            at = payload.index("done")
            db.execute("UPDATE journal SET payload = ? WHERE seq = ?", (payload[:at] + "D" + payload[at + 1 :], seq))
        db.close()

    # -- how steps are run --------------------------------------------------------------------------------------------

    def _title(self, text: str) -> None:
        self._say(f"\n== {text}")

    def _fullcount(self, expected: int, *arguments: str, where: Path | None = None, quiet: bool = False) -> None:
        if not quiet:
            self._say(f"\n$ fullcount {' '.join(arguments)}")
        done = subprocess.run(
            [sys.executable, "-m", "fullcount.runtime.cli.main", *arguments],
            cwd=where or self.root,
            capture_output=True,
            text=True,
            check=False,
        )
        if not quiet:
            self._say((done.stdout + done.stderr).rstrip())
        if done.returncode != expected:
            msg = f"`fullcount {' '.join(arguments)}` ended with {done.returncode}, it must end with {expected}"
            raise DemoFailedError(f"{msg}\n{done.stdout}{done.stderr}")

    def _latest(self, workflow: str) -> dict[str, str]:
        import json

        done = subprocess.run(
            [sys.executable, "-m", "fullcount.runtime.cli.main", "runs", "--workflow", workflow, "--json"],
            cwd=self.root,
            capture_output=True,
            text=True,
            check=True,
        )
        newest: dict[str, str] = json.loads(done.stdout)["plans"][0]
        return newest

    def _sql(self, database: str, *statements: str) -> None:
        with sqlite3.connect(self.root / database) as db:
            for statement in statements:
                db.execute(statement)
        db.close()

    def _must(self, holds: bool, what: str) -> None:
        if not holds:
            raise DemoFailedError(f"it does not hold that {what}")
        self._say(f"   holds at the target: {what}")

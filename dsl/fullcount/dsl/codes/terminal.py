"""The workspace in which the sessions of codes take place, and what such a session is made of.

A session is lines of a terminal, `$ fullcount plan accounts.fcw`, typed one after another in a fresh copy of this
workspace. Two plans of `accounts.fcw` were made in it before. In a line `PLAN` and `DIGEST` stand for the id and the
digest of the newest plan, `OLDER` for the id of the one before it, `HEAD` for the journal's head, and the user of the
session is `uid:1000`.

Nothing here is run by the program; a test plays every session.
"""

from __future__ import annotations

from typing import Final

SETTINGS: Final = """\
[workspace]
name = "acme"

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
fields = { id = "text", entry_uuid = "text", owner = "text", last_login = "timestamp", locked = "bool", \
row_version = "int" }

[sources.hr]
connector = "sql"
url = "sqlite:///hr.db"

[sources.hr.resources.employees]
table = "employees"
key = ["id"]
fields = { id = "text", active = "bool" }

[roles]
iam-admin = ["uid:1000"]

[exemptions]
kept = "kept.toml"
"""

ACCOUNTS: Final = """\
workflow lock_orphans {
  owner "rené"

  param idle: duration = 90d

  inventory accounts from directory.accounts {
    key id
    incarnation entry_uuid
    fields { id: text, entry_uuid: text, owner: text, last_login: timestamp, locked: bool }
  }
  inventory people from hr.employees {
    key id
    fields { id: text, active: bool }
  }

  verify accounts { complete, fresh within 1h }
  verify people { complete, fresh within 24h }

  propose lock from accounts as a {
    where not a.locked
      and a.last_login < now - idle
      and no people as p where (p.id == a.owner and p.active)
    except in kept
    limit 5, 50%
  }

  approve lock { 1 of role "iam-admin", expires after 3d }

  act lock with directory.update(id: a.id, locked: true) {
    undo directory.update(id: a.id, locked: false)
    stop after 1 failure
  }
}
"""

FILES: Final[dict[str, str]] = {"fullcount.toml": SETTINGS, "accounts.fcw": ACCOUNTS, "kept.toml": ""}
"""The workspace's files, besides its store and the databases."""

DATABASES: Final[dict[str, str]] = {
    "directory.db": """\
CREATE TABLE accounts (
    id TEXT PRIMARY KEY NOT NULL, entry_uuid TEXT NOT NULL, owner TEXT NOT NULL, last_login TEXT NOT NULL,
    locked BOOLEAN NOT NULL, row_version INTEGER NOT NULL
);
INSERT INTO accounts VALUES
    ('a01', 'e01', 'p8', datetime('now', '-200 days'), 0, 1),
    ('a02', 'e02', 'p9', datetime('now', '-150 days'), 0, 1),
    ('a03', 'e03', 'p1', datetime('now', '-200 days'), 0, 1),
    ('a04', 'e04', 'p2', datetime('now', '-1 days'), 0, 1),
    ('a05', 'e05', 'p3', datetime('now', '-1 days'), 0, 1);
""",
    "hr.db": """\
CREATE TABLE employees (id TEXT PRIMARY KEY NOT NULL, active BOOLEAN NOT NULL);
INSERT INTO employees VALUES ('p1', 1), ('p2', 1), ('p3', 1), ('p4', 0);
""",
}
"""The databases of its sources: of five accounts, `a01` and `a02` are idle and nobody's."""

BEFORE: Final = ("fullcount plan accounts.fcw --param idle=100d", "fullcount plan accounts.fcw")
"""What was run in the workspace before a session begins."""

PLAN: Final = "fullcount plan accounts.fcw"
APPROVE: Final = "fullcount approve PLAN --digest DIGEST"
APPLY: Final = "fullcount apply PLAN"

CANARY: Final = ("stop after 1 failure", "canary 1 then wait 15m")
"""The change of the workflow by which an apply is paused after the first object."""

Files = tuple[tuple[str, str], ...]


MEANT: Final = {
    "PLAN": "the id of the newest plan",
    "DIGEST": "its digest",
    "OLDER": "the id of the plan before it",
    "HEAD": "the head of the journal, as `fullcount verify` prints it",
}
"""What words of a session stand for."""


def session(*lines: str) -> str:
    """Return these commands as lines of a terminal."""
    return "".join(f"$ {line}\n" for line in lines)


def unlocked(trigger: str, statement: str) -> tuple[str, str]:
    """Return two lines by which somebody who may write to the store changes it behind the program's back."""
    at = "sqlite3 .fullcount/state.db"
    return f'{at} "DROP TRIGGER {trigger}"', f'{at} "{statement}"'


def edited(path: str, *changes: tuple[str, str]) -> Files:
    """Return a file of the workspace, each first text replaced by the second. ValueError if one does not occur."""
    text = FILES[path]
    for old, new in changes:
        if old not in text:
            raise ValueError(f"`{path}` has no `{old}`")
        text = text.replace(old, new, 1)
    return ((path, text),)

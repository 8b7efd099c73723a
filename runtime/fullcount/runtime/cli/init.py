"""`fullcount init`: a workspace that can be checked at once."""

from __future__ import annotations

import os
from pathlib import Path

import click

from fullcount.runtime.cli import options

CONFIGURATION = """\
# What this workspace may read and act on. `fullcount check` needs this file only; it connects to nothing.
[workspace]
name = "{name}"

# One source is one connection. Credentials are named by reference, never written here:
#   url = {{ env = "DIRECTORY_URL" }}     or     url = {{ file = "/run/secrets/directory" }}
# `act_url` holds the credentials for acting; reading never uses them.
[sources.directory]
connector = "sql"
url = "sqlite:///directory.db"
timezone = "UTC"

[sources.directory.resources.accounts]
table = "accounts"
key = ["id"]
# What differs when an account is deleted and made again under the same id; without it the two can't be told apart.
incarnation = "entry_uuid"
version = "row_version"
fields = {{ id = "text", entry_uuid = "text", owner = "text?", last_login = "timestamp?", created = "timestamp", locked = "bool", row_version = "int" }}
writable = ["locked"]

# Who may approve: user names of this system, or "uid:1000".
[roles]
operators = ["uid:{uid}"]

[exemptions]
exemptions = "exemptions.toml"
"""

EXEMPTIONS = """\
# Objects that stay whatever a rule says. Each needs an owner, a reason and a last day.
#
# [[exemption]]
# key = "svc-billing"
# owner = "payments"
# reason = "runs once a quarter"
# expires = 2027-03-31
"""

PROTECTIONS = """\
# What no workflow of this workspace may take, whatever its rule says. An object is free only if the condition is
# proven false for it. This file is read for every plan, and again before every act.
#
# protect break_glass from directory.accounts as a where (starts_with(a.id, "bg-")) because "for emergencies"
"""

WORKFLOW = """\
workflow lock_idle_accounts {
  describe "Lock accounts that nobody has used for a long time."
  owner    "operators"

  param idle: duration = 90d

  inventory accounts from directory.accounts {
    key         id
    incarnation entry_uuid # a recreated account is another account
    fields      { id: text, entry_uuid: text, owner: text?, last_login: timestamp?,
                  created: timestamp, locked: bool }
  }

  verify accounts { complete, fresh within 1h }

  propose lock from accounts as a {
    where not a.locked and (a.last_login else a.created) < now - idle
    except in exemptions
    limit  50, 5%
    show   a.owner, a.last_login
  }

  approve lock { 1 of role "operators", expires after 3d }

  act lock with directory.update(id: a.id, locked: true) {
    undo directory.update(id: a.id, locked: false)
    stop after 3 failures
  }

  # tried with `fullcount test`, on the answers that stand here
  test defaults accounts { entry_uuid: "e1", owner: "ana", last_login: now - 1d,
                           created: now - 700d, locked: false }

  test "an account that nobody has used for 90 days is locked, and one that was used is not" {
    given  accounts [
      { id: "idle", last_login: now - 91d },
      { id: "used", last_login: now - 90d },
      { id: "never used", last_login: absent, created: now - 91d },
      { id: "new", last_login: absent, created: now - 89d },
      { id: "locked already", last_login: now - 91d, locked: true },
    ] and 40 more
    expect plan ["idle", "never used"]
    expect outcome "idle" = done
  }

  test "an account of which something is hidden is nobody's to lock" {
    given  accounts [
      { id: "hidden", last_login: forbidden },
      { id: "lock unknown", last_login: now - 91d, locked: failed },
    ] and 40 more
    expect plan empty
    expect undecided ["hidden" because "last_login: forbidden", "lock unknown"]
  }

  test "what is exempted stays" {
    given  accounts [{ id: "quarterly", last_login: now - 91d }] and 40 more
    given  list exemptions = ["quarterly"]
    expect plan empty
    expect kept ["quarterly" because "exempted"]
  }

  test "a list that was cut short, or is too old, locks nobody" {
    given  accounts partial RESULT_LIMIT_REACHED stale 2h [{ id: "idle", last_login: now - 91d }]
    expect refused RESULT_LIMIT_REACHED, FC742
  }

  test "more than 5% of all accounts are never locked at once" {
    given  accounts [{ id: "idle", last_login: now - 91d }] and 18 more
    expect count 1
    expect refused FC711
  }

  test "more than 50 accounts are never locked at once" {
    given  accounts [] and 51 more { last_login: now - 91d } and 1_100 more
    expect count 51
    expect refused FC711
  }

  test "an account that was used since the plan is left alone" {
    given  accounts [{ id: "idle", last_login: now - 91d }] and 40 more
    before act change accounts "idle" { last_login: now }
    expect outcome "idle" = changed
  }
}
"""

IGNORED = "# state and snapshots of Fullcount\n.fullcount/\n"


@options.command()
@click.argument("folder", type=options.PATH, default=Path(), help="Where; it is made if it is not there.")
@options.as_json
def init(folder: Path, as_json: bool) -> None:
    """Make a workspace. Writes fullcount.toml, a first workflow, and empty lists of exemptions and protections;
    overwrites nothing.
    """
    from fullcount.runtime.cli.screen import show_json
    from fullcount.runtime.workflow_files import UsageError

    root = folder.resolve()
    files = {
        root / "fullcount.toml": CONFIGURATION.format(name=_name(root), uid=os.getuid()),
        root / "exemptions.toml": EXEMPTIONS,
        root / "protect.fcw": PROTECTIONS,
        root / "workflows" / "lock_idle_accounts.fcw": WORKFLOW,
        root / ".gitignore": IGNORED,
    }
    made = []
    try:
        standing = [path for path in files if os.path.lexists(path) and path.name != ".gitignore"]
        if standing:
            raise UsageError(
                "FC698",
                f"`{standing[0]}` is there already; nothing was written",
                help="name another folder, or move what is there out of the way",
            )
        for path, text in files.items():
            if not os.path.lexists(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("x", encoding="utf-8") as file:
                    file.write(text)
                made.append(path)
    except OSError as error:
        so_far = f"only {', '.join(path.name for path in made)} was made" if made else "nothing was written"
        raise UsageError(
            "FC698",
            f"can't make a workspace in `{root}`: {error.strerror}; {so_far}",
            help="name a folder that you may write to",
        ) from error
    if as_json:
        show_json({"root": str(root), "made": [str(path.relative_to(root)) for path in made]})
        return
    click.echo(f"made a workspace in {root}")
    for path in made:
        click.echo(f"  {path.relative_to(root)}")
    click.echo("next: say in fullcount.toml what to read, then `fullcount check`")


def _name(root: Path) -> str:
    kept = "".join(c for c in root.name if c.isalnum() or c in "-_")
    return kept or "workspace"

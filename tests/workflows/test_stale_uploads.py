"""The ready-made clean-up of uploads, over a real folder and a real table: planned, approved, applied, taken back."""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.support.workspaces import Bench

READY_MADE = Path(__file__).parents[2] / "workflows" / "stale_uploads" / "stale_uploads.fcw"
FILE = "workflows/delete_unreferenced_uploads.fcw"
SETTINGS = """\
[workspace]
name = "shop"

[roles]
maintainers = ["uid:{uid}"]

[sources.share]
connector  = "files"
root       = "{share}/uploads"
marker     = ".uploads"
quarantine = "{share}/quarantine"

[sources.share.resources.uploads]
kind     = "file"
patterns = ["**"]
depth    = "all"
left_out = [".uploads"]
delete   = "quarantine"

[sources.shop]
connector = "sql"
url = "sqlite:///shop.db"

[sources.shop.resources.attachments]
table = "attachments"
key = ["id"]
fields = {{ id = "text", path = "text" }}

[sources.shop.resources.uploaded]
table = "uploaded"
key = ["attachment_id"]
fields = {{ attachment_id = "text" }}
"""


class Shop:
    """A workspace with uploads, of which the table names some."""

    def __init__(self, folder: Path) -> None:
        self.uploads, self.quarantine = folder / "share" / "uploads", folder / "share" / "quarantine"
        self.uploads.mkdir(parents=True)
        self.quarantine.mkdir(mode=0o700)
        self.put(".uploads", days=0)
        text = READY_MADE.read_text()
        self.bench = Bench.of(folder / "shop", SETTINGS, text[text.index("workflow ") :], share=folder / "share")
        with self.database() as db:
            db.execute("CREATE TABLE attachments (id TEXT PRIMARY KEY NOT NULL, path TEXT NOT NULL)")
            db.execute("CREATE TABLE uploaded (attachment_id TEXT PRIMARY KEY NOT NULL)")

    @contextlib.contextmanager
    def database(self):
        """Open the table of the shop."""
        with contextlib.closing(sqlite3.connect(self.bench.root / "shop.db")) as db, db:
            yield db

    def put(self, name: str, *, days: int = 40) -> None:
        """Upload a file, so many days old."""
        place = self.uploads / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(name, encoding="utf-8")
        then = time.time() - days * 86_400
        os.utime(place, (then, then))

    def attach(self, *names: str) -> None:
        """Let attachments refer to files."""
        with self.database() as db:
            for name in names:
                db.execute("INSERT INTO attachments VALUES (?, ?)", (f"id of {name}", name))
                db.execute("INSERT INTO uploaded VALUES (?)", (f"id of {name}",))

    def there(self) -> dict[str, str]:
        """Return what lies in the folder of uploads, by path."""
        found = (path for path in self.uploads.rglob("*") if path.is_file() and path.name != ".uploads")
        return {str(path.relative_to(self.uploads)): path.read_text(encoding="utf-8") for path in found}

    def kept(self) -> int:
        """Return how many files lie in quarantine."""
        return len(list(self.quarantine.rglob("object")))

    def plan(self, *, untouched: str = "0s", exits: int = 5):
        """Make a plan. When a file came here nobody can set, so the rule's age is given."""
        return self.bench.plan("--param", f"untouched={untouched}", file=FILE, exits=exits)


@pytest.fixture
def shop(tmp_path):
    """Five uploads: attached, attached later, unused, unused in a folder, and of tomorrow."""
    made = Shop(tmp_path)
    for name in ("attached.png", "attached later.png", "2026/01/unused.png", "unused.png", "new.png"):
        made.put(name, days=-1 if name == "new.png" else 40)
    made.attach("attached.png")
    return made


@pytest.mark.requirement("R19", "R20", "R26", "R28")
def test_only_what_nothing_refers_to_goes_and_comes_back_as_it_was(shop):
    """The table is asked again right before each act; undo brings back the very files; the record verifies."""
    before = shop.there()
    assert shop.plan(untouched="30d", exits=0)["state"] == "nothing"  # none of them has been here for a month
    plan = shop.plan()
    assert {row["key"][0] for row in plan["plan"]["rows"]} == {
        "attached later.png",
        "2026/01/unused.png",
        "unused.png",
    }
    assert shop.there() == before
    shop.bench.approve(plan)
    shop.attach("attached later.png")
    applied = shop.bench.run("apply", plan["plan_id"])
    assert "changed" in applied.said
    assert set(shop.there()) == {"attached.png", "attached later.png", "new.png"}
    assert shop.kept() == 2
    assert shop.bench.run("verify").exit == 0
    shop.bench.undone(plan)
    assert (shop.there(), shop.kept()) == (before, 0)
    assert shop.bench.run("verify").exit == 0


@pytest.mark.requirement("R1", "R2", "R36")
def test_an_empty_folder_where_the_mount_should_be_deletes_nothing_and_plans_nothing(shop, tmp_path):
    """The marker is not there: neither is the list complete, nor is an approved plan applied to what is there now."""
    plan = shop.plan()
    shop.bench.approve(plan)
    shop.uploads.rename(tmp_path / "unmounted")
    shop.uploads.mkdir()
    refused = shop.bench.run("plan", FILE, "--param", "untouched=0s", "--json")
    assert "SOURCE_UNAVAILABLE" in refused.said
    assert shop.bench.run("apply", plan["plan_id"]).exit != 0
    shop.put(".uploads", days=0)  # another mount, with a marker of its own and a file of the same name
    shop.put("unused.png")
    applied = shop.bench.run("apply", plan["plan_id"])
    assert "is not the one of the plan: `target_id_folder`" in applied.words
    assert (set(shop.there()), shop.kept()) == ({"unused.png"}, 0)


def _gone_stale(_settings):
    raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), "/quarantine")


@pytest.mark.requirement("R28")
def test_what_lies_in_quarantine_goes_when_its_backup_is_over_and_no_sooner(shop, monkeypatch):
    """After 29 days it is there, after 31 it is not; then undo says so."""
    plan = shop.plan()
    shop.bench.approve(plan)
    assert shop.bench.run("apply", plan["plan_id"]).exit == 0
    later = datetime.now(UTC) + timedelta(days=31)
    with shop.bench.engine(clock=lambda: later) as engine, monkeypatch.context() as patch:
        patch.setattr("fullcount.runtime.connectors.files.letting_go.kept_for_a_time", _gone_stale)
        removed = engine.remove_expired_backups()
    assert shop.kept() == 3, "a quarantine that fails stands in nobody's way, and is told"
    assert "Stale file handle" in removed.troubles[0]
    for days, kept in ((29, 3), (31, 0)):
        later = datetime.now(UTC) + timedelta(days=days)
        with shop.bench.engine(clock=lambda later=later: later) as engine:
            engine.remove_expired_backups()
        assert shop.kept() == kept
    undone = shop.bench.run("undo", plan["plan_id"])
    assert undone.exit not in (0, 5), undone.said
    assert set(shop.there()) == {"attached.png", "new.png"}


@pytest.mark.slow
@pytest.mark.requirement("R28")
def test_the_restore_of_one_file_can_be_rehearsed(shop):
    """The first of the canary is brought back, is the very file that it was, and goes again before the rest does.

    Not under a rule that asks when it came here, because that is now, once it was brought back.
    """
    rule = shop.bench.root / FILE
    text = rule.read_text()
    text = text[: text.index("  # tried with")] + "}\n"
    text = text.replace("concurrency 4", "canary 1 then wait 1s\n    rehearse restore")
    rule.write_text(text)
    assert "FC583" in shop.bench.run("check", FILE).said
    rule.write_text(text.replace("and u.changed < now - untouched\n", ""))
    plan = shop.plan()
    shop.bench.approve(plan)
    applied = shop.bench.run("apply", plan["plan_id"])
    assert applied.exit == 0, applied.said
    with contextlib.closing(sqlite3.connect(shop.bench.state)) as db:
        kinds = [kind for (kind,) in db.execute("SELECT kind FROM acts ORDER BY intent_at, kind")]
    assert kinds.count("rehearse_undo") == kinds.count("rehearse_again") == 1
    assert shop.kept() == 3
    shop.bench.undone(plan)
    assert len(shop.there()) == 5

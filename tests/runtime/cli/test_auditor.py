"""Whoever may read the store, and no more, can look at everything and verify it, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.support.workspaces import PROJECT, WORKFLOW, Bench, Ended, environment

FILE = f"workflows/{WORKFLOW}.fcw"
AUDITOR = 54_321
READING = (
    ("verify",),
    ("verify", "--json"),
    ("runs",),
    ("runs", "--json"),
    ("show", "PLAN"),
    ("show", "PLAN", "--json"),
    ("show", "PLAN", "--csv"),
    ("show", "PLAN", "--undecided"),
    ("why", "PLAN", "a01"),
    ("why-not", "PLAN", "a04"),
    ("eval", FILE, "--on", "PLAN"),
    ("diff", FILE, FILE, "--on", "PLAN"),
    ("halt",),
)


class Room:
    """A workspace that belongs to somebody else: everything in it may be read, nothing written."""

    def __init__(self, bench: Bench, place: Path, plan: str) -> None:
        self.warm, self.place, self.plan = place.with_name(f"{place.name}.warm"), place, plan
        for copy in (self.warm, self.place):
            shutil.copytree(bench.root, copy)
        self.permit(0o555, 0o444)

    @property
    def state(self) -> Path:
        return self.place / ".fullcount" / "state.db"

    def permit(self, folders: int, files: int) -> None:
        for path in (self.place, *sorted(self.place.rglob("*"))):
            path.chmod(folders if path.is_dir() else files)

    def run(self, *arguments: str) -> Ended:
        """Run one command as the auditor."""
        return self.run_all(arguments)[0]

    def run_all(self, *commands: tuple[str, ...]) -> list[Ended]:
        """Run commands as the auditor, in one process."""
        given = json.dumps([[self.plan if each == "PLAN" else each for each in command] for command in commands])
        done = subprocess.run(
            [sys.executable, "-m", "tests.support.auditor", str(self.warm), str(self.place), str(AUDITOR), given],
            cwd=PROJECT,
            env={**os.environ, **environment()},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return [Ended(*each) for each in json.loads(done.stdout)]

    def everything(self) -> dict[str, bytes]:
        return {
            str(path.relative_to(self.place)): path.read_bytes() for path in self.place.rglob("*") if path.is_file()
        }


@pytest.fixture(scope="module")
def recorded():
    """A workspace in which a plan was made, approved and applied. The auditor can reach the folder."""
    folder = Path(tempfile.mkdtemp(prefix="fullcount-audit-"))
    folder.chmod(0o755)
    bench = Bench(folder / "owner")
    plan = bench.approved()
    assert bench.run("apply", plan["plan_id"]).exit == 0
    yield bench, plan["plan_id"], folder
    for path in folder.rglob("*"):
        if path.is_dir():
            path.chmod(0o755)
    shutil.rmtree(folder)


@pytest.fixture
def room(recorded, request):
    bench, plan, folder = recorded
    return Room(bench, folder / request.node.name, plan)


def test_a_store_that_may_not_be_read_is_said_to_be_closed(room):
    """The reason and who can open it; no traceback, and no store of one's own beside it."""
    for part in (room.state, room.state.parent):
        before = part.stat().st_mode
        part.chmod(0o000)
        ended = room.run("verify")
        part.chmod(before)
        assert (ended.exit, "FC730" in ended.said, "Traceback" in ended.said) == (1, True, False), ended.said
        assert "may not read" in ended.words or "Permission denied" in ended.words


def test_stored_rows_that_may_not_be_read_are_not_verified(room):
    """What could not be looked at does not count as looked at; leaving it out has to be said."""
    snapshots = room.place / ".fullcount" / "snapshots"
    snapshots.chmod(0o000)
    ended, without = room.run("verify"), room.run("verify", "--no-snapshots")
    snapshots.chmod(0o555)
    assert (ended.exit, "VERIFIED" in ended.said, "--no-snapshots" in ended.said) == (1, False, True), ended.said
    assert without.exit == 0, without.said


def test_a_reader_can_not_write(room):
    """A verb that writes says that the store can't be written to, and nothing has changed."""
    before = room.everything()
    for ended in room.run_all(("plan", FILE), ("approve", "PLAN", "--revoke", "x"), ("halt", "stop")):
        assert (ended.exit, "FC730" in ended.said) == (1, True), ended.said
    assert room.everything() == before


@pytest.mark.requirement("R34")
def test_a_reader_can_look_at_everything_and_leaves_nothing_behind(room):
    """Another user, read-only files in a read-only folder: each verb that only reads does its work."""
    before = room.everything()
    for arguments, ended in zip(READING, room.run_all(*READING), strict=True):
        assert ended.exit == 0, (arguments, ended.said)
    assert room.everything() == before


def test_a_reader_who_could_write_to_the_folder_leaves_nothing_behind(room):
    """Files that another user makes beside the database would keep its owner from writing."""
    room.state.parent.chmod(0o777)
    before = room.everything()
    assert room.run("verify").exit == 0
    assert room.everything() == before


def test_what_a_running_service_wrote_is_seen(room):
    """While a writer has the store open, its newest entries stand in the log beside the file: they are read too."""
    room.permit(0o755, 0o644)
    with contextlib.closing(sqlite3.connect(room.state)) as writer, writer:
        writer.execute("PRAGMA wal_autocheckpoint=0")
        writer.execute("INSERT INTO controls VALUES ('halt', 'pager', 1, 'x', 1)")
        writer.commit()
        room.permit(0o555, 0o444)
        ended = room.run("halt")
        found = room.run("verify")
        room.permit(0o755, 0o644)
    assert (ended.exit, "pager" in ended.said) == (0, True), ended.said
    assert (found.exit, "DOES NOT VERIFY" in found.said) == (1, True), found.said


def test_a_log_without_its_index_is_left_to_the_owner(room):
    """A copy of a store that was in use: whoever made the index anew would be its owner, so another user does not."""
    room.permit(0o755, 0o644)
    with contextlib.closing(sqlite3.connect(room.state)) as writer:
        writer.execute("INSERT INTO controls VALUES ('halt', 'pager', 1, 'x', 1)")
        writer.commit()
        log = room.state.with_name("state.db-wal").read_bytes()
    room.state.with_name("state.db-wal").write_bytes(log)
    room.permit(0o777, 0o644)
    before = room.everything()
    ended = room.run("verify")
    if os.getuid() == 0:
        assert (ended.exit, "FC730" in ended.said) == (1, True), ended.said
        assert room.everything() == before


def test_without_a_store_nothing_is_verified_and_none_is_made(bench):
    """A record that is not there does not hold; and that nothing has run is no error for who asks what ran."""
    ended, ran, show = bench.run("verify"), bench.run("runs"), bench.run("show", "01ZZZ")
    assert (ended.exit, "FC732" in ended.said) == (1, True), ended.said
    assert (ran.exit, "no store yet" in ran.words) == (0, True), ran.said
    nothing: dict[str, list[object]] = {key: [] for key in ("runs", "plans", "slots", "steps", "notices", "warnings")}
    assert bench.run("runs", "--json").json == nothing
    assert (bench.run("halt").exit, show.exit) == (0, 1), show.said
    assert not bench.state.parent.exists()

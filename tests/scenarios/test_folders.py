"""Clean-ups of folders that took what people had put there, or the first folder that they met."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from tests.support.workspaces import Bench

FILE = "workflows/tidy_jobs.fcw"
SETTINGS = """\
[workspace]
name = "jobs"

[roles]
ops = ["uid:{uid}"]

[sources.share]
connector  = "files"
root       = "{share}/jobs"
quarantine = "{share}/quarantine"

[sources.share.resources.jobs]
kind     = "folder"
patterns = ["*"]
depth    = 1
delete   = "quarantine"
"""
RULE = """\
workflow tidy_jobs {{
  describe "Delete folders of jobs that are over."
  owner    "platform"

  inventory jobs from share.jobs {{
    key         path
    incarnation incarnation
    fields      {{ path: text, incarnation: text, version: text, size: size, entries: int, newest: timestamp }}
  }}
  verify jobs {{ complete, fresh within 1h }}

  propose tidy from jobs as j {{
    where {where}
    limit 10
  }}
  approve tidy {{ 1 of role "ops", expires after 1d }}
  act tidy with share.delete(path: j.path) {{
    undo share.put_back(path: j.path, version: j.version)
    {cascades}
  }}
}}
"""


class Jobs:
    """Folders of jobs, of which the rule takes those that it is given."""

    def __init__(self, folder, where, cascades=""):
        self.root = folder / "share" / "jobs"
        self.root.mkdir(parents=True)
        (folder / "share" / "quarantine").mkdir(mode=0o700)
        rule = RULE.format(where=where, cascades=cascades)
        self.bench = Bench.of(folder / "workspace", SETTINGS, rule, share=folder / "share")

    def put(self, path):
        """Put a file into a folder, long ago."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(path)
        for each in (place, *place.parents):
            if each.is_relative_to(self.root):
                os.utime(each, (1_000_000_000, 1_000_000_000))

    def there(self):
        """Return every file and folder."""
        return {str(path.relative_to(self.root)) for path in self.root.rglob("*")}

    def plan(self, exits=5):
        """Make a plan."""
        return self.bench.plan(file=FILE, exits=exits)

    def apply(self, plan):
        """Approve and apply it."""
        self.bench.approve(plan)
        return self.bench.run("apply", plan["plan_id"])


@pytest.mark.requirement("J04")
def test_j04_a_folder_goes_only_with_what_was_seen_in_it(tmp_path):
    """Duplicates of known folders were taken for empty, and what people had put there went with them."""
    jobs = Jobs(tmp_path, "j.newest < now - 1d")
    jobs.put("over/result/data")
    for number in range(4):
        (jobs.root / f"running-{number}").mkdir()
    plan = jobs.plan(exits=0)["plan"]
    assert plan["rows"] == []
    assert "cascades within limit" in str(plan["undecided"])
    rule = jobs.bench.root / FILE
    rule.write_text(RULE.format(where="j.newest < now - 1d", cascades="cascades within limit"))
    plan = jobs.plan()
    assert plan["plan"]["rows"][0]["closure"]["counts"] == {"takes files in it": 1, "takes folders in it": 1}
    jobs.put("over/result/letter to keep")  # long ago by its own date, and after the plan
    before = jobs.there()
    assert "changed" in jobs.apply(plan).said
    assert jobs.there() == before
    plan = jobs.plan()
    assert jobs.apply(plan).exit == 0
    assert jobs.there() == {f"running-{number}" for number in range(4)}
    jobs.bench.undone(plan)
    assert jobs.there() == before


@pytest.mark.requirement("J05")
def test_j05_the_folder_that_was_meant_goes_and_no_other_in_its_place(tmp_path):
    """The first folder by its name was removed, which was somebody else's: an act names one folder, by what it is."""
    jobs = Jobs(tmp_path, 'j.path == "b"')
    for name in ("a", "b", ".first"):
        (jobs.root / name).mkdir()
    plan = jobs.plan()
    assert [row["key"] for row in plan["plan"]["rows"]] == [["b"]]
    (jobs.root / "b").rename(jobs.root / "moved away")
    shutil.copytree(jobs.root / "a", jobs.root / "b")
    assert "recreated" in jobs.apply(plan).said
    assert jobs.there() == {"a", "b", ".first", "moved away"}
    plan = jobs.plan()
    assert jobs.apply(plan).exit == 0
    assert jobs.there() == {"a", ".first", "moved away"}


@pytest.fixture
def other(tmp_path):
    """A folder of our own, on another device if there is one."""
    with tempfile.TemporaryDirectory(dir="/tmp" if tmp_path.is_relative_to("/dev/shm") else "/dev/shm") as folder:
        yield Path(folder)


@pytest.mark.requirement("J04", "R9")
@pytest.mark.parametrize("how", ["is not there", "is a link", "may be written to by others", "on another device"])
def test_j04_a_plan_that_could_not_be_applied_for_its_quarantine_is_not_made(tmp_path, other, how):
    """Nobody is asked to approve it, in the words of the apply; and nothing that has no credentials is told of any."""
    jobs = Jobs(tmp_path, 'j.path == "b"')
    (jobs.root / "b").mkdir()
    quarantine = tmp_path / "share" / "quarantine"
    if how == "may be written to by others":
        quarantine.chmod(0o777)
    else:
        quarantine.rmdir()
    if how == "is a link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        quarantine.symlink_to(tmp_path / "elsewhere")
    elif how == "on another device":
        settings = jobs.bench.root / "fullcount.toml"
        settings.write_text(settings.read_text().replace(str(quarantine), str(other)))
        if other.stat().st_dev == jobs.root.stat().st_dev:
            pytest.skip("there is no other device here")
    ended = jobs.bench.run("plan", FILE)
    assert (ended.exit, "quarantine folder" in ended.words) == (3, True)
    assert "REFUSED " in ended.words
    assert "fullcount.toml [sources.share]" in ended.words
    assert "credentials" not in ended.words
    assert (jobs.root / "b").is_dir()
    assert how == "on another device" or not quarantine.is_dir() or list(quarantine.iterdir()) == []


def test_a_root_that_is_not_there_is_no_matter_of_what_its_reader_may_see(tmp_path):
    """It was unmounted or renamed: what to do about it is told."""
    jobs = Jobs(tmp_path, 'j.path == "b"')
    jobs.root.rmdir()
    ended = jobs.bench.run("plan", FILE)
    assert (ended.exit, "see that it is there, mounted where it has to be" in ended.words) == (3, True)


def test_a_quarantine_that_went_after_the_plan_is_no_matter_of_credentials(tmp_path):
    """The apply says what is wrong and where it is configured; then the same plan goes on."""
    jobs = Jobs(tmp_path, 'j.path == "b"')
    (jobs.root / "b").mkdir()
    plan = jobs.plan()
    quarantine = tmp_path / "share" / "quarantine"
    quarantine.chmod(0o777)
    ended = jobs.apply(plan)
    assert ended.exit == 1
    assert "credentials" not in ended.words
    assert "fullcount.toml [sources.share]" in ended.words
    quarantine.chmod(0o700)
    assert jobs.bench.run("apply", plan["plan_id"]).exit == 0


def test_the_plan_of_an_undo_tells_what_is_not_in_quarantine_any_more(tmp_path):
    """What is gone or was changed there is not promised: each says so, and the others can be taken back."""
    jobs = Jobs(tmp_path, 'j.path != "c"')
    for name in ("a", "b", "c"):
        (jobs.root / name).mkdir()
    plan = jobs.plan()
    assert jobs.apply(plan).exit == 0
    kept = sorted((tmp_path / "share" / "quarantine" / "kept").glob("*/*/object"), key=str)
    (kept[0] / "by hand").write_text("x")
    undo = jobs.bench.run("undo", plan["plan_id"], "--json").json["plan"]
    assert (len(undo["rows"]), len(undo["undecided"])) == (1, 1)
    assert "what lies in the quarantine folder was changed there" in str(undo["undecided"])
    shutil.rmtree(kept[1])
    ended = jobs.bench.run("undo", plan["plan_id"], "--json")
    assert "does not lie in the quarantine folder any more" in ended.said

"""Walking real folders: whatever hides, moves or misleads is told, and nothing outside of the root is looked at."""

from __future__ import annotations

import json
import os
import resource as limits
import subprocess
import sys
import tempfile
import tracemalloc
from pathlib import Path
from unittest.mock import patch

import pytest
from tests.support.share import FILES, FOLDERS, Share, codes, state
from tests.support.workspaces import environment

from fullcount.compiler.values import FieldState
from fullcount.runtime.connectors.base import Existence, Question, SourceError
from fullcount.runtime.connectors.files import CONNECTOR, folders, root
from fullcount.runtime.evidence.codes import Reason, WarningCode

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="changing the user needs root")
NOBODY = 65_534


@pytest.fixture
def share(tmp_path):
    """A root with two folders and three files."""
    made = Share(tmp_path)
    for path in ("a/1.log", "a/2.log", "b/3.txt"):
        made.put(path)
    return made


WALKS = """
import asyncio, json, os, sys
from pathlib import Path
folder, uid = Path(sys.argv[1]), int(sys.argv[2])
import fullcount.runtime.collect.loop, fullcount.runtime.connectors.files.reader, pyarrow.parquet
from tests.support.share import Share, codes
share = Share(folder)
os.setgroups([]); os.setresgid(uid, uid, uid); os.setresuid(uid, uid, uid)
envelope, rows = asyncio.run(share.collect())
asked = [asyncio.run(share.read(path)) for path in sys.argv[3:]]
print(json.dumps([codes(envelope), sorted(rows), [each.existence for each in asked]]))
"""


def walked_by_nobody(share, folder, *paths):
    """Return what a user without rights sees: reasons, paths, and single looks."""
    folder.chmod(0o755)
    (folder / "snapshots").mkdir(exist_ok=True)
    (folder / "snapshots").chmod(0o777)
    command = [sys.executable, "-c", WALKS, str(folder), str(NOBODY), *paths]
    ended = subprocess.run(
        command, env={**os.environ, **environment()}, capture_output=True, text=True, check=False, cwd=folder
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


@AS_ROOT
@pytest.mark.slow
@pytest.mark.requirement("R2", "R36")
def test_a_folder_that_its_reader_may_not_enter_hides_nothing_without_a_word():
    """Mode 000, and a folder whose names can be listed and not looked at; a single look into it says `unknown`."""
    with tempfile.TemporaryDirectory() as named:  # one that others may pass through
        folder = Path(named)
        share = Share(folder)
        for path in ("a/1.log", "b/3.txt"):
            share.put(path)
        (share.root / "b").chmod(0)
        (share.root / "a").chmod(0o744)
        found = walked_by_nobody(share, folder, "b/3.txt", "a/1.log", "none")
        assert found == [["VISIBILITY_RESTRICTED"], [], ["unknown", "unknown", "gone"]]


@pytest.mark.requirement("R2", "R36")
@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (13, Reason.VISIBILITY_RESTRICTED),
        (2, Reason.SNAPSHOT_CHANGED),
        (5, Reason.SOURCE_UNAVAILABLE),
        (116, Reason.SOURCE_UNAVAILABLE),
        (24, Reason.CLIENT_LIMIT_REACHED),
    ],
)
async def test_a_folder_that_can_not_be_entered_is_told_by_what_the_system_says(share, error, reason):
    """No right, gone meanwhile, a failing disk, a server that forgot it, too many open files."""
    real = folders.open_folder

    def open_folder(above, name, flags):
        if name == "b":
            raise OSError(error, "no")
        return real(above, name, flags)

    with patch.object(folders, "open_folder", open_folder):
        envelope, rows = await share.collect()
    assert (codes(envelope), set(rows)) == ([reason], {"a/1.log", "a/2.log"})
    assert envelope.work.end_marker == "every_folder_listed"


@pytest.mark.requirement("R36")
async def test_a_list_that_breaks_off_in_a_folder_is_not_the_whole_folder(share):
    """The system fails at the second name."""
    real = os.scandir

    class Breaking:
        def __init__(self, names):
            self.names, self.left = names, 1

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.names.close()

        def __iter__(self):
            return self

        def __next__(self):
            if self.left == 0:
                raise OSError(5, "I/O error")
            self.left -= 1
            return next(self.names)

    with patch.object(folders, "scandir", lambda fd: Breaking(real(fd))):
        envelope, _ = await share.collect()
    assert codes(envelope) == [Reason.SOURCE_UNAVAILABLE]


@pytest.mark.requirement("R36")
async def test_links_are_never_followed_and_never_passed_over(share, tmp_path):
    """A link to a folder outside, a loop, one to a file: not complete, unless they are left out by the settings."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.log").write_text("not ours")
    (share.root / "a" / "loop").symlink_to(share.root)
    (share.root / "out").symlink_to(tmp_path / "outside")
    (share.root / "3.txt").symlink_to(share.root / "b" / "3.txt")
    envelope, rows = await share.collect()
    assert (codes(envelope), set(rows)) == ([Reason.SCOPE_NOT_COVERED], {"a/1.log", "a/2.log", "b/3.txt"})
    for path in ("out/secret.log", "3.txt", "a/loop"):
        assert (await share.read(path)).existence is Existence.UNKNOWN
    share.again({**FILES, "links": "left_out"})
    envelope, rows = await share.collect()
    assert (envelope.complete, len(rows)) == (True, 3)
    assert (await share.read("out/secret.log")).existence is Existence.GONE


async def test_a_link_that_no_pattern_could_find_stands_in_nobodys_way(share):
    """It can't be an object, nor lead to one."""
    (share.root / "current").symlink_to("b")
    share.again({**FILES, "patterns": ["a/*.log"]})
    envelope, rows = await share.collect()
    assert (envelope.complete, set(rows)) == (True, {"a/1.log", "a/2.log"})


@pytest.mark.requirement("R40")
async def test_a_name_that_is_no_text_is_told_and_what_is_below_it_too(share):
    """It can't be named by a rule, and so not acted on; the list says that it lacks something."""
    (share.root / os.fsdecode(b"\xff")).mkdir()
    (share.root / os.fsdecode(b"\xff") / "x.log").write_text("x")
    envelope, rows = await share.collect()
    (reason,) = envelope.completeness.reasons
    assert (reason.code, len(rows)) == (Reason.MALFORMED_RESPONSE, 3)
    assert "\\xff" in reason.detail
    share.again({**FILES, "patterns": ["a/*"]})
    assert (await share.collect())[0].complete  # nothing of that name was asked for


@pytest.mark.requirement("R36", "R37")
@pytest.mark.parametrize(
    "what", ["a file comes", "a file goes", "the folder is another one", "the root is another one"]
)
async def test_a_folder_that_changes_while_it_is_walked_is_of_no_single_state(share, tmp_path, what):
    """Whatever changes between two looks at a folder."""
    changes = {
        "a file comes": lambda: share.put("a/new.log"),
        "a file goes": lambda: (share.root / "a/2.log").unlink(),
        "the folder is another one": lambda: ((share.root / "b").rename(tmp_path / "old"), share.put("b/3.txt")),
        "the root is another one": lambda: (share.root.rename(tmp_path / "old"), share.put("a/1.log")),
    }
    place = {"the folder is another one": "root", "the root is another one": "b"}.get(what, "a")
    real, done = folders.Listing.entries, []

    def entries(listing):
        yield from real(listing) if done or not listing.path.endswith(place) else changed(listing)

    def changed(listing):
        found = list(real(listing))
        last = listing.looks.pop()
        done.append(changes[what]())
        listing.looks.append(folders.Look("stat", last.path, facts=listing._facts()))
        yield from found

    with patch.object(folders.Listing, "entries", entries):
        envelope, _ = await share.collect()
    assert done
    assert codes(envelope) == [Reason.SNAPSHOT_CHANGED]


@pytest.mark.requirement("R15", "R37")
async def test_a_list_counts_only_once_two_of_them_are_equal(share):
    """A file that changes between two passes: they are compared, and a third one decides."""
    reader = await CONNECTOR.open_reader("share", share.config)
    real, passes = reader.scan, []

    def scan(question):
        passes.append(question)
        if len(passes) == 2:
            share.put("b/3.txt", "changed")
        return real(question)

    with patch.object(reader, "scan", scan):
        envelope, _ = await share.collect(reader=reader)
    assert (envelope.complete, str(envelope.scope.consistency), len(passes)) == (True, "interval", 3)


@pytest.mark.requirement("R36")
async def test_an_empty_folder_where_a_mount_should_be_is_no_empty_list(tmp_path):
    """Nothing is mounted there, or it is another folder than the one with the marker: for lists and single looks."""
    share = Share(tmp_path, must_be_mount=True)
    with pytest.raises(SourceError, match="nothing is mounted"):
        await share.collect()
    share.again(FILES, must_be_mount=False, marker=".this-is-it")
    with pytest.raises(SourceError, match=r"has no file `\.this-is-it`"):
        await share.read("a")
    share.put(".this-is-it")
    assert (await share.collect())[0].complete
    reader = await CONNECTOR.open_reader("share", share.config)
    (share.root / ".this-is-it").unlink()
    envelope, _ = await share.collect(reader=reader)  # it went while the source was open
    assert codes(envelope) == [Reason.SOURCE_UNAVAILABLE]


def ended(*command):
    """Run a command and return how it ended."""
    return subprocess.run(command, capture_output=True, check=False).returncode


@AS_ROOT
@pytest.mark.requirement("R36")
async def test_what_is_mounted_below_the_root_is_not_of_it(tmp_path):
    """A file system in a folder makes the list incomplete, unless the settings say that it belongs to it."""
    share = Share(tmp_path)
    share.put("own.txt")
    (share.root / "mounted").mkdir()
    place = str(share.root / "mounted")
    if ended("mount", "-t", "tmpfs", "none", place) != 0:
        pytest.skip("nothing can be mounted here")
    try:
        share.put("mounted/other.txt")
        envelope, rows = await share.collect()
        assert (codes(envelope), set(rows)) == ([Reason.SCOPE_NOT_COVERED], {"own.txt"})
        assert (await share.read("mounted/other.txt")).existence is Existence.UNKNOWN
        share.again(FILES, cross_devices=True)
        envelope, rows = await share.collect()
        assert (envelope.complete, set(rows)) == (True, {"own.txt", "mounted/other.txt"})
        mounted = Share.__new__(Share)
        mounted.root, mounted.quarantine, mounted._settings = share.root / "mounted", share.quarantine, {}
        mounted._snapshots = tmp_path / "snapshots"
        mounted.again({**FILES, "delete": None}, must_be_mount=True)
        assert (await mounted.collect())[0].complete
        mounted.again(FILES)
        with pytest.raises(SourceError, match="another device"):
            await CONNECTOR.open_actor("share", mounted.config)
    finally:
        assert ended("umount", place) == 0


async def test_hard_links_are_told_of_before_anything_is_acted_on(share):
    """One file with two names: the warning blocks, also where one of them lies outside of what is listed."""
    os.link(share.root / "a/1.log", share.root.parent / "elsewhere")
    envelope, rows = await share.collect()
    assert (envelope.complete, rows["a/1.log"]["links"]) == (True, 2)
    (warning,) = [each for each in envelope.warnings if each.code is WarningCode.SHARED_IDENTITY]
    assert warning.blocking
    assert "a/1.log" in warning.detail


async def test_what_is_known_of_a_file_is_what_the_system_says(share):
    """Name, size, times, rights, owner, and marks that move with every change."""
    place = share.put("a/archive.tar.gz", "12345", days=40)
    place.chmod(0o640)
    (share.root / "plain").write_text("")
    _, rows = await share.collect()
    row = rows["a/archive.tar.gz"]
    assert (row["name"], row["folder"], row["extension"], row["size"]) == ("archive.tar.gz", "a", "gz", 5)
    assert (row["mode"], row["links"]) == ("0640", 1)
    assert (row["changed"] - row["modified"]).days == 39 or (row["changed"] - row["modified"]).days == 40
    assert (rows["plain"]["folder"], state(rows["plain"], "extension")) == ("", FieldState.ABSENT)
    before = (await share.read("a/archive.tar.gz")).cells
    os.utime(place, (1, 1))
    after = (await share.read("a/archive.tar.gz")).cells
    assert before["incarnation"] == after["incarnation"]
    assert before["version"] != after["version"]


@pytest.mark.parametrize(("flag", "known"), [(root.os.ST_NOATIME, False), (root.os.ST_RELATIME, True), (0, True)])
async def test_when_a_file_was_read_is_known_only_as_far_as_the_mount_keeps_it(share, flag, known):
    """Not at all with `noatime`; with `relatime` there is a warning that blocks."""

    class Says:
        f_flag, f_fsid = flag, 1

    with patch.object(os, "fstatvfs", lambda fd: Says):
        envelope, rows = await share.collect()
    expected = FieldState.PRESENT if known else FieldState.SOURCE_FAILED
    assert state(rows["a/1.log"], "accessed") is expected
    lags = WarningCode.USAGE_DATA_LAG in [each.code for each in envelope.warnings]
    assert lags is (flag == os.ST_RELATIME)


async def test_depth_and_what_is_left_out_bound_the_walk(share):
    """What lies deeper is not of the resource; what is left out is not even entered."""
    share.put("top.txt")
    share.put("lost+found/x")
    share.again({**FILES, "depth": 1})
    assert set((await share.collect())[1]) == {"top.txt"}
    assert (await share.read("a/1.log")).existence is Existence.GONE
    share.again({**FILES, "left_out": ["lost+found", "a/2.*"]})
    with patch.object(folders, "open_folder", wraps=folders.open_folder) as entered:
        assert set((await share.collect())[1]) == {"top.txt", "a/1.log", "b/3.txt"}
    assert "lost+found" not in {call.args[1] for call in entered.call_args_list}


async def test_our_own_limit_is_a_reason(share):
    """Never an end."""
    share.again(FILES, max_entries=3)
    envelope, rows = await share.collect()
    assert (codes(envelope), envelope.work.end_marker) == ([Reason.CLIENT_LIMIT_REACHED], None)
    assert len(rows) < 3


async def test_a_folder_as_one_object_is_everything_in_it(tmp_path):
    """Its version moves with any change in it, and what can't be seen makes it unknown, never smaller."""
    share = Share(tmp_path, resource=FOLDERS)
    share.put("job-1/in/data", "12345", days=3)
    share.put("job-1/log", "1")
    (share.root / "job-1/link").symlink_to("/etc")
    share.put("job-2/x")
    share.put("a file")
    envelope, rows = await share.collect()
    assert (envelope.complete, set(rows)) == (True, {"job-1", "job-2"})
    assert (rows["job-1"]["size"], rows["job-1"]["entries"]) == (6, 4)
    share.put("job-1/in/data", "54321")
    assert (await share.collect())[1]["job-1"]["version"] != rows["job-1"]["version"]
    reader = await CONNECTOR.open_reader("share", share.config)
    (along,) = await reader.closures(share.resource, "delete", [("job-1",)])
    assert along.counts == {"takes files in it": 2, "takes folders in it": 1, "takes other things in it": 1}
    await reader.close()
    real = folders.open_folder

    def open_folder(above, name, flags):
        if name == "in":
            raise PermissionError(13, "no")
        return real(above, name, flags)

    with patch.object(folders, "open_folder", open_folder):
        envelope, rows = await share.collect()
        assert codes(envelope) == [Reason.VISIBILITY_RESTRICTED]
        assert state(rows["job-1"], "size") is FieldState.SOURCE_FAILED
        assert (await share.read("job-1")).existence is Existence.UNKNOWN


@pytest.mark.parametrize("patterns", [["*", "a/*"], ["**"]])
async def test_a_look_finds_no_folder_that_a_list_can_not_contain(tmp_path, patterns):
    """What lies in a folder that is an object is a part of it, whoever asks: list and look-up never disagree."""
    share = Share(tmp_path, resource=FOLDERS | {"patterns": patterns, "depth": "all"})
    share.put("a/b/1.txt")
    envelope, rows = await share.collect()
    assert (envelope.completeness.complete, set(rows)) == (True, {"a"})
    assert (await share.read("a")).existence is Existence.FOUND
    assert (await share.read("a/b")).existence is not Existence.FOUND


async def test_several_objects_are_looked_at_by_one_question(share):
    """What is not there is left out, and nothing is concluded from that."""
    reader = await CONNECTOR.open_reader("share", share.config)
    found = await reader.read_many(share.resource, [("a/1.log",), ("none",), ("../x",)], ("path", "size"))
    assert {key: cells["size"].value for key, cells in found.items()} == {("a/1.log",): 7}
    (share.root / "link").symlink_to("a")
    values = ["a/1.log", "none", "link/1.log"]
    matches = await reader.lookup_many(share.resource, "path", values, ("path",))
    assert [(matches[each].complete, len(matches[each].rows)) for each in values] == [(True, 1), (True, 0), (False, 0)]
    await reader.close()


async def test_the_identity_tells_one_folder_from_another(tmp_path):
    """A plan made on one mount is not applied to what is there now: host, file system, folder, path and user."""
    share = Share(tmp_path)
    reader = await CONNECTOR.open_reader("share", share.config)
    first = await reader.identity()
    share.root.rename(tmp_path / "old")
    share.root.mkdir()
    second = await reader.identity()
    await reader.close()
    assert {name for name in first if first[name] != second[name]} == {"target_id_folder"}
    assert {"target_host", "target_root", "target_id_filesystem", "user", "uid"} <= set(first)


@pytest.mark.slow
async def test_ten_thousand_files_cost_no_more_memory_than_a_page_of_them(tmp_path):
    """A walk in pages of 100 holds a page and the names of the folders on its way."""
    share = Share(tmp_path)
    for folder in range(100):
        (share.root / f"d{folder:03}").mkdir()
        for number in range(100):
            (share.root / f"d{folder:03}" / f"f{number:03}").touch()
    reader = await CONNECTOR.open_reader("share", share.config)
    question = Question("objects", share.resource, ("path", "size", "version"), None, 0, page_rows=100)
    async with reader.scan(question) as scan:
        page, rows = await scan.fetch(None), 0
        tracemalloc.start()
        while page.cursor is not None:
            rows += page.rows
            page = await scan.fetch(page.cursor)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    await reader.close()
    assert (rows + page.rows, page.end) == (10_000, "every_folder_listed")
    assert peak < 1_000_000


def open_files():
    """Return where the open files of this process lie."""
    return [str(each.readlink()) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]


async def test_no_more_files_are_open_than_the_way_down_has_folders(tmp_path):
    """Thirty folders deep, with few files allowed: the walk comes to its end, and leaves none open."""
    share = Share(tmp_path)
    share.put("/".join(["d"] * 30) + "/f")
    assert (await share.collect())[0].complete
    before = open_files()
    assert [each for each in before if each.startswith(str(share.root))] == []
    soft, hard = limits.getrlimit(limits.RLIMIT_NOFILE)
    limits.setrlimit(limits.RLIMIT_NOFILE, (len(before) + 20, hard))
    try:
        reader = await CONNECTOR.open_reader("share", share.config)
        question = Question("objects", share.resource, ("path",), None, 0)
        async with reader.scan(question) as scan:
            page = await scan.fetch(None)
    finally:
        limits.setrlimit(limits.RLIMIT_NOFILE, (soft, hard))
    await reader.close()
    assert [reason.code for reason in page.reasons] == [Reason.CLIENT_LIMIT_REACHED]

"""Acts on real files: only the very object that was seen is moved, nothing is overwritten, a crash loses nothing."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import pickle
import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from unittest.mock import patch

import pytest
from tests.support.share import FILES, FOLDERS, Share
from tests.support.workspaces import environment

from fullcount.runtime.connectors.base import ErrorClass, Existence, Outcome, SourceError
from fullcount.runtime.connectors.files import CONNECTOR, disk, looking_in
from fullcount.runtime.connectors.files.objects import Mark
from fullcount.runtime.connectors.files.quarantine import About, Purpose
from fullcount.runtime.connectors.files.worker import within
from fullcount.runtime.evidence.codes import ActReason


@pytest.fixture
def share(tmp_path):
    """A root with two folders and three files."""
    made = Share(tmp_path)
    for path in ("a/1.log", "a/2.log", "b/3.txt"):
        made.put(path, path)
    return made


def at_the_move(do):
    """Within its block, do something in the last instant before an object is moved away."""
    real, left = disk.rename, [do]

    def rename(*places):
        while left:
            left.pop()()
        return real(*places)

    return patch.object(disk, "rename", rename)


@pytest.mark.requirement("R36", "R40")
@pytest.mark.parametrize("by", ["another file", "a link", "a folder", "its own content changed"])
async def test_what_takes_the_place_of_an_object_in_the_last_instant_is_put_back(share, tmp_path, by):
    """Between the comparison and the move: the wrong one is found out where it was moved to, and is back as it was."""
    call, place = await share.call("a/1.log"), share.root / "a/1.log"
    (tmp_path / "secret").write_text("secret")

    def swap():
        if by == "its own content changed":
            place.write_text("new content")
            return
        place.rename(tmp_path / "old")
        if by == "another file":
            place.write_text("another")
        elif by == "a link":
            place.symlink_to(tmp_path / "secret")
        else:
            place.mkdir()

    with at_the_move(swap):
        result = await share.perform(call)
    assert (result.outcome, result.reason) == (Outcome.CHANGED, ActReason.PRECONDITION_FAILED)
    assert share.kept() == []
    assert {
        "another file": lambda: place.read_text() == "another",
        "a link": lambda: place.readlink() == tmp_path / "secret",
        "a folder": place.is_dir,
        "its own content changed": lambda: place.read_text() == "new content",
    }[by]()
    assert (tmp_path / "secret").read_text() == "secret"
    assert await share.took_effect(call) is False


@pytest.mark.requirement("R36")
async def test_nothing_is_put_back_over_what_came_meanwhile(share, tmp_path):
    """The wrong one was moved and its place is taken again: it stays where it is, is told of, and goes back later."""
    call, place = await share.call("a/1.log"), share.root / "a/1.log"
    real = disk.rename

    def rename(*places):
        place.rename(tmp_path / "old")
        place.write_text("wrong")
        real(*places)
        place.write_text("newest")

    with patch.object(disk, "rename", rename):
        result = await share.perform(call)
    assert result.outcome is Outcome.CHANGED
    assert "pending" in result.detail
    assert place.read_text() == "newest"
    (left,) = share.kept()
    assert left.read_text() == "wrong"
    assert await share.took_effect(call) is None
    place.unlink()
    assert await share.took_effect(call) is False  # opened for acting once more: it was put back
    assert (place.read_text(), share.kept()) == ("wrong", [])


@pytest.mark.requirement("R36")
async def test_a_folder_on_the_way_that_became_a_link_leads_nowhere(share, tmp_path):
    """Whoever may write in the root can't have a file moved that lies elsewhere."""
    call = await share.call("a/1.log")
    (share.root / "a").rename(tmp_path / "a")
    (share.root / "a").symlink_to(tmp_path / "a")
    result = await share.perform(call)
    assert (result.outcome, result.reason) == (Outcome.CHANGED, ActReason.PRECONDITION_FAILED)
    assert (tmp_path / "a/1.log").read_text() == "a/1.log"


@pytest.mark.parametrize("path", ["../quarantine/lock", "none/x", "a", "/etc/passwd", "b/3.txt"])
async def test_what_is_no_object_of_the_resource_is_refused(share, path):
    """Whatever a call says: a path that leads out, a folder, something that no pattern finds."""
    share.again({**FILES, "patterns": ["a/*"]})
    call = await share.call("a/1.log")
    result = await share.perform(replace(call, key=(path,), arguments={"path": path}))
    assert result.outcome in {Outcome.REFUSED, Outcome.CHANGED, Outcome.ALREADY_GONE}
    other = await share.perform(replace(call, arguments={"path": "a/2.log"}))
    assert other.outcome is Outcome.REFUSED
    assert len(share.contents()) == 3


@pytest.mark.requirement("R29", "R30")
async def test_what_was_deleted_is_done_once_and_comes_back_as_it_was(share):
    """The very inode, by the version that was seen; a repeat of either finds that it is done."""
    call = await share.call("a/1.log")
    before = (share.root / "a/1.log").stat()
    assert await share.took_effect(call) is False
    assert (await share.perform(call)).outcome is Outcome.DONE
    assert (await share.perform(call)).outcome is Outcome.DONE
    assert await share.took_effect(call) is True
    assert (await share.read("a/1.log")).existence is Existence.GONE
    version = call.expected["version"].value
    back = replace(call, operation="put_back", arguments={"path": "a/1.log", "version": version}, expected={})
    assert await share.took_effect(back) is False
    other = replace(back, arguments={"path": "a/1.log", "version": "1.2.3.4"})
    assert (await share.perform(other)).outcome is Outcome.REFUSED
    assert (await share.perform(back)).outcome is Outcome.DONE
    assert (await share.perform(back)).outcome is Outcome.DONE
    assert await share.took_effect(back) is True
    after = (share.root / "a/1.log").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert (share.contents(), share.kept()) == ({path: path for path in ("a/1.log", "a/2.log", "b/3.txt")}, [])
    assert await share.took_effect(call) is False


@pytest.mark.requirement("R36")
@pytest.mark.parametrize("by", ["renameat2", "link"])
async def test_nothing_is_brought_back_over_what_stands_there(share, by):
    """Not even in the last instant, and also where the file system knows no rename that does not replace."""
    call = await share.call("a/1.log")
    await share.perform(call)
    back = replace(call, operation="put_back", expected={})
    back = replace(back, arguments={"path": "a/1.log", "version": call.expected["version"].value})
    with patch.object(disk, "_renameat2", disk._renameat2 if by == "renameat2" else lambda *_: errno.EINVAL):
        share.put("a/1.log", "new")
        assert (await share.perform(back)).outcome is Outcome.CHANGED
        (share.root / "a/1.log").unlink()
        real = disk.rename_to_free

        def late(*places):
            share.put("a/1.log", "newer")
            return real(*places)

        with patch.object(disk, "rename_to_free", late):
            assert (await share.perform(back)).outcome is Outcome.CHANGED
        assert share.contents()["a/1.log"] == "newer"
        (share.root / "a/1.log").unlink()
        assert (await share.perform(back)).outcome is Outcome.DONE
    assert share.contents()["a/1.log"] == "a/1.log"
    assert (share.root / "a/1.log").stat().st_nlink == 1


async def test_a_second_name_that_was_left_by_a_crash_is_removed(share):
    """Brought back by a link, and ended before the first name went: the file is there, and in quarantine no more."""
    call = await share.call("a/1.log")
    await share.perform(call)
    (kept,) = share.kept()
    os.link(kept, share.root / "a/1.log")
    given = {"path": "a/1.log", "version": call.expected["version"].value}
    back = replace(call, operation="put_back", arguments=given, expected={})
    assert (await share.perform(back)).outcome is Outcome.DONE
    assert (share.kept(), (share.root / "a/1.log").stat().st_nlink) == ([], 1)


async def test_what_was_changed_in_the_quarantine_is_not_brought_back(share):
    """It is not what was deleted any more; nor is anything where its folder is gone."""
    call = await share.call("a/1.log")
    await share.perform(call)
    given = {"path": "a/1.log", "version": call.expected["version"].value}
    back = replace(call, operation="put_back", arguments=given, expected={})
    (share.root / "a").rename(share.root / "elsewhere")
    assert (await share.perform(back)).outcome is Outcome.REFUSED
    (share.root / "elsewhere").rename(share.root / "a")
    share.kept()[0].write_text("changed by hand")
    assert (await share.perform(back)).outcome is Outcome.REFUSED


@pytest.mark.requirement("R28", "R39")
async def test_whether_an_object_lies_in_quarantine_as_it_was_is_told_by_looking(share):
    """By the version and by the backup: it is there, was changed there, is gone; and nothing is written by that."""
    call = await share.call("a/1.log")
    backup = await share.backed_up(call)
    shutil.rmtree(share.quarantine / "kept")
    before = sorted(share.quarantine.rglob("*"))
    assert CONNECTOR.not_kept("share", share.config, [backup.content]) == [looking_in.GONE]
    assert sorted(share.quarantine.rglob("*")) == before
    await share.perform(replace(call, backup=backup))
    given = {"path": "a/1.log", "version": call.expected["version"].value}
    ways = (
        replace(call, operation="put_back", arguments=given, expected={}),
        replace(call, operation="restore", backup=backup, expected={}),
    )
    reader = await CONNECTOR.open_reader("share", share.config)

    async def told():
        return {await reader.why_not_kept(way) for way in ways} | set(
            CONNECTOR.not_kept("share", share.config, [backup.content])
        )

    assert await told() == {None}
    assert await reader.why_not_kept(replace(ways[0], operation="move_back")) is None
    (kept,) = share.kept()
    kept.write_text("changed by hand")
    assert await told() == {looking_in.CHANGED}
    kept.unlink()
    assert await told() == {looking_in.GONE}
    share.quarantine.rename(share.quarantine.with_name("elsewhere"))
    with pytest.raises(SourceError, match="can't be looked into"):
        CONNECTOR.not_kept("share", share.config, [backup.content])
    await reader.close()


@pytest.mark.requirement("R28")
async def test_a_backup_is_the_object_itself_and_names_what_it_was(share):
    """An object that changed since is not deleted; the one that was comes back by its backup alone."""
    call = await share.call("a/1.log")
    backup = await share.backed_up(call)
    assert backup.content["path"] == "a/1.log"
    other = replace(backup, content={**backup.content, "mode": "0"})
    assert (await share.perform(replace(call, backup=other))).outcome is Outcome.CHANGED
    assert (await share.perform(replace(call, backup=backup))).outcome is Outcome.DONE
    restore = replace(call, operation="restore", backup=backup, expected={})
    assert (await share.perform(replace(restore, backup=replace(backup, content=None)))).outcome is Outcome.REFUSED
    assert await share.took_effect(restore) is False
    assert (await share.perform(restore)).outcome is Outcome.DONE
    assert await share.took_effect(restore) is True
    assert await share.backed_up(call) == backup


async def test_only_what_is_kept_for_a_time_and_is_over_by_the_record_is_let_go(share):
    """What lies there until it is taken back stays, and what the record does not name as well."""
    for number, path in enumerate(("a/1.log", "a/2.log", "b/3.txt")):
        call = await share.call(path, key=f"act-{number}")
        await share.perform(call if number == 0 else replace(call, backup=await share.backed_up(call)))
    everything = frozenset({"act-0", "act-1", "another"})
    assert CONNECTOR.let_go("share", share.config, frozenset) == 0
    assert len(share.kept()) == 3
    assert CONNECTOR.let_go("share", share.config, lambda: everything) == 1
    assert sorted(path.read_text() for path in share.kept()) == ["a/1.log", "b/3.txt"]


async def test_what_is_deleted_for_good_passes_through_the_quarantine(share, tmp_path):
    """So that what took its place in the last instant can be put back; then nothing is left of it anywhere."""
    share.again({**FILES, "delete": "for_good"})
    call, place = await share.call("a/1.log"), share.root / "a/1.log"
    with at_the_move(lambda: (place.rename(tmp_path / "old"), place.write_text("another"))):
        assert (await share.perform(call)).outcome is Outcome.CHANGED
    assert place.read_text() == "another"
    call = await share.call("a/1.log")
    assert (await share.perform(call)).outcome is Outcome.DONE
    assert (share.kept(), "a/1.log" in share.contents()) == ([], False)
    assert await share.took_effect(call) is True


async def test_what_is_moved_lies_in_the_archive_under_its_path_and_comes_back(share, tmp_path):
    """Never over what lies there."""
    (tmp_path / "archive").mkdir()
    share.again({**FILES, "delete": None, "move": True}, archive=str(tmp_path / "archive"))
    call = await share.call("a/1.log", "move")
    assert await share.took_effect(call) is False
    (tmp_path / "archive/a").mkdir()
    (tmp_path / "archive/a/1.log").write_text("older")
    assert (await share.perform(call)).outcome is Outcome.CHANGED
    assert (share.contents()["a/1.log"], (tmp_path / "archive/a/1.log").read_text()) == ("a/1.log", "older")
    (tmp_path / "archive/a/1.log").unlink()
    call = await share.call("a/1.log", "move")
    assert (await share.perform(call)).outcome is Outcome.DONE
    assert (tmp_path / "archive/a/1.log").read_text() == "a/1.log"
    assert await share.took_effect(call) is True
    given = {"path": "a/1.log", "version": call.expected["version"].value}
    back = replace(call, operation="move_back", arguments=given, expected={})
    assert (await share.perform(back)).outcome is Outcome.DONE
    assert await share.took_effect(back) is True
    assert share.contents()["a/1.log"] == "a/1.log"


@pytest.mark.requirement("R36")
async def test_a_folder_goes_whole_only_with_what_was_counted_and_comes_back_whole(tmp_path):
    """More in it than the plan counted, or anything changed deep in it, and it is left alone."""
    share = Share(tmp_path, resource=FOLDERS)
    share.put("job/in/data", "1")
    share.put("job/log", "2")
    call = await share.call("job")
    refused = await share.perform(call)
    assert (refused.outcome, refused.reason) == (Outcome.REFUSED, ActReason.COLLATERAL_CHANGE)
    counted = replace(call, closure={"takes files in it": 2, "takes folders in it": 1})
    share.put("job/in/data", "3")
    assert (await share.perform(counted)).outcome is Outcome.CHANGED
    counted = replace(await share.call("job"), closure=counted.closure)
    with at_the_move(lambda: share.put("job/in/data", "late")):
        assert (await share.perform(counted)).outcome is Outcome.CHANGED
    assert share.contents()["job/in/data"] == "late"
    counted = replace(await share.call("job"), closure=counted.closure)
    assert (await share.perform(counted)).outcome is Outcome.DONE
    assert share.contents() == {}
    given = {"path": "job", "version": counted.expected["version"].value}
    back = replace(counted, operation="put_back", arguments=given, expected={})
    assert (await share.perform(back)).outcome is Outcome.DONE
    assert share.contents() == {"job/in/data": "late", "job/log": "2"}


@pytest.mark.parametrize(
    "case", ["others may write", "is a link", "is not there", "lies in what is listed", "is no folder"]
)
async def test_a_quarantine_that_can_not_keep_what_is_put_there_opens_nothing(share, tmp_path, case):
    """Looked at when the source is opened for acting, before anything is moved; a plan is told so in the same words."""
    assert await unfit(share) is None
    assert list(share.quarantine.iterdir()) == []
    there = share.quarantine
    if case == "others may write":
        there.chmod(0o777)
    else:
        there.rmdir()
    if case == "is a link":
        there.symlink_to(tmp_path)
    elif case == "is no folder":
        there.write_text("")
    elif case == "lies in what is listed":
        (share.root / "q").mkdir(mode=0o700)
        linked = tmp_path / "linked"
        linked.symlink_to(share.root)
        share.again(FILES, quarantine=str(linked / "q"))
    with pytest.raises(SourceError) as refused:
        await CONNECTOR.open_actor("share", share.config)
    assert "quarantine" in refused.value.reason.detail
    assert await unfit(share) == refused.value.reason


async def unfit(share):
    """Return what a plan is told of the quarantine folder."""
    reader = await CONNECTOR.open_reader("share", share.config)
    try:
        return await reader.unfit(share.resource, "delete")
    finally:
        await reader.close()


@pytest.mark.parametrize(("error", "outcome"), [(13, Outcome.FAILED), (5, Outcome.UNKNOWN), (18, Outcome.CHANGED)])
async def test_what_the_system_says_of_a_move_is_told_as_what_it_is(share, error, outcome):
    """Refused and nothing was done; a failing disk, of which nobody knows; another mount after all."""

    def rename(*places):
        raise OSError(error, "no")

    call = await share.call("a/1.log")
    with patch.object(disk, "rename", rename):
        assert (await share.perform(call)).outcome is outcome
    assert (share.root / "a/1.log").exists()
    assert (await share.perform(call)).outcome is Outcome.DONE


def full(nth, steps):
    """Within its block, the disk is full from the nth call of these steps on."""
    left = [nth]

    def failing(real):
        def step(*given):
            left[0] -= 1
            if left[0] < 0:
                raise OSError(errno.ENOSPC, "no space left")
            return real(*given)

        return step

    return patch.multiple(disk, **{name: failing(getattr(disk, name)) for name in steps})


@pytest.mark.requirement("R29")
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("step", ["make_folder", "write", "half of write", "settle", "rename"])
async def test_a_full_disk_leaves_no_claim_and_the_act_can_be_done_later(share, step, error):
    """Whatever step of the claim fails: nothing was done, which is known, told and can be gone on with."""
    call, real = await share.call("a/1.log"), disk.write
    await open_and_close(share)

    def half(above, name, data):
        real(above, name, b"")
        raise OSError(error, "no space left")

    def fails(*given):
        raise OSError(error, "no space left")

    name = step.removeprefix("half of ")
    with patch.object(disk, name, half if step.startswith("half") else fails):
        for _ in range(2):
            actor = await CONNECTOR.open_actor("share", share.config)
            result = await actor.perform(call)
            await actor.close()
            assert (result.outcome, result.trouble, result.later) == (Outcome.FAILED, ErrorClass.TRANSIENT, True)
            assert "free some" in result.detail
            assert list((share.quarantine / "pending").iterdir()) == []
    assert (share.root / "a/1.log").exists()
    assert await share.took_effect(call) is False
    assert (await share.perform(call)).outcome is Outcome.DONE


@pytest.mark.requirement("R29", "R32")
@pytest.mark.parametrize("steps", range(1, 9))
async def test_a_disk_that_is_full_from_any_step_on_is_told_as_what_it_is(share, steps):
    """Before the move nothing was done; behind it nobody says so, and the next look finds out."""
    call = await share.call("a/1.log")
    writing = ("make_folder", "write", "settle", "rename")
    actor = await CONNECTOR.open_actor("share", share.config)
    with full(steps - 1, writing):
        result = await actor.perform(call)
    await actor.close()
    moved = not (share.root / "a/1.log").exists()
    assert result.outcome in ({Outcome.UNKNOWN, Outcome.DONE} if moved else {Outcome.FAILED})
    assert result.later is not moved
    assert await share.took_effect(call) is moved
    assert (await share.perform(call)).outcome is Outcome.DONE
    assert len(share.kept()) == 1


@pytest.mark.requirement("R32")
async def test_a_half_made_claim_of_a_dead_process_is_nobodys_and_one_of_a_live_one_is_respected(share):
    """It is met by a process that was open all along: with nobody at work it is settled; else nothing is done."""
    call = await share.call("a/1.log")
    actor = await CONNECTOR.open_actor("share", share.config)
    about = About("act-1", str(share.root.resolve()), "a/1.log", Mark("", 0, 0), Purpose.KEEP)
    half = share.quarantine / "pending" / about.name
    half.mkdir()
    (half / "about.json").write_text("")
    try:
        with (share.quarantine / "lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)
            result = await actor.perform(call)
            assert (result.outcome, result.later) == (Outcome.FAILED, True)
            assert "another process is acting on it" in result.detail
            assert (share.root / "a/1.log").exists()
        assert (await actor.perform(call)).outcome is Outcome.DONE
    finally:
        await actor.close()
    assert list((share.quarantine / "pending").iterdir()) == []


@pytest.mark.requirement("R32")
async def test_what_another_process_is_about_to_do_is_not_settled_under_its_hands(share):
    """A source that is opened for acting meanwhile leaves the entry alone; once nobody acts, it is settled."""
    call, others = await share.call("a/1.log"), []

    def another():
        loop = threading.Thread(target=lambda: others.append(asyncio.run(open_and_close(share))))
        loop.start()
        loop.join()

    with at_the_move(another):
        assert (await share.perform(call)).outcome is Outcome.DONE
    assert (others, len(share.kept())) == ([True], 1)


async def open_and_close(share):
    """Open the source for acting, as another process would; return whether an act was under way."""
    actor = await CONNECTOR.open_actor("share", share.config)
    await actor.close()
    return len(list((share.quarantine / "pending").iterdir())) == 1


def test_a_mount_that_does_not_answer_is_not_asked_again_until_it_does():
    """Nobody waits for longer than is said, and no second call is left behind."""
    go_on, asked = threading.Event(), []

    def hangs():
        asked.append(1)
        go_on.wait(20)

    assert within(0.05, "/srv/q", hangs) is None
    assert within(0.05, "/srv/q", hangs) is None
    assert within(5, "/srv/another", lambda: 3) == 3
    assert asked == [1]
    go_on.set()
    with pytest.raises(OSError, match="broken"):
        within(5, "/srv/third", broken)


def broken():
    """Fail as a disk does."""
    raise OSError(5, "broken")


KILLED = """
import asyncio, os, pickle, signal, sys
from pathlib import Path
from tests.support.share import Share
from fullcount.runtime.connectors.files import disk

resource, archive = pickle.loads(bytes.fromhex(sys.argv[2]))
steps = ("rename", "rename_to_free", "make_folder", "write", "settle", "unlink", "remove_folder")
share = Share(Path(sys.argv[1]), resource=resource, **archive)
for number, line in enumerate(sys.stdin):
    call = pickle.loads(bytes.fromhex(line))
    child = os.fork()
    if child == 0:
        left = [number]
        for name in steps:
            def step(*given, real=getattr(disk, name)):
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                left[0] -= 1
                return real(*given)
            setattr(disk, name, step)
        asyncio.run(share.perform(call))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    print(int(os.WIFSIGNALED(status)), flush=True)
"""
"""For each call that is handed to it: a child that is killed right before its nth step, one later each time."""


@pytest.fixture
def killing(tmp_path):
    """Start it on a share."""
    started = []

    def start(*settings):
        given = [sys.executable, "-c", KILLED, str(tmp_path), pickle.dumps(settings).hex()]
        environ = {**os.environ, **environment()}
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(given, env=environ, stdin=pipe, stdout=pipe, text=True))
        return started[-1]

    yield start
    for process in started:
        process.communicate(timeout=20)


@pytest.mark.slow
@pytest.mark.requirement("R29", "R32")
@pytest.mark.parametrize("how", ["quarantine", "for_good", "move"])
async def test_a_process_that_is_killed_at_any_step_loses_no_file(tmp_path, killing, how):
    """Before each call that changes something: the file is in one place, whole, and the next look tells where."""
    archive = {"archive": str(tmp_path / "archive")} if how == "move" else {}
    (tmp_path / "archive").mkdir()
    resource = {"delete": None, "move": True} if how == "move" else {"delete": how}
    share = Share(tmp_path, resource=resource, **archive)
    place = share.put("a/1.log", "content")
    process, killed, effects = killing(resource, archive), True, []
    while killed:
        place.exists() or share.put("a/1.log", "content")
        call = await share.call("a/1.log", "move" if how == "move" else "delete", key=f"act-{len(effects)}")
        process.stdin.write(pickle.dumps(call).hex() + "\n")
        process.stdin.flush()
        killed = process.stdout.readline() == "1\n"
        copies = [path for path in tmp_path.rglob("*") if path.is_file() and path.read_text() == "content"]
        effects.append(await share.took_effect(call))
        assert effects[-1] is not None
        assert effects[-1] is not place.exists(), "the file is where it was, or the act took effect"
        assert len(copies) == 1 or (how == "for_good" and effects[-1]), copies
        for path in (*share.kept(), *(tmp_path / "archive").rglob("*.log")):
            path.unlink()
    assert effects[:3] == [False, False, False]
    assert effects[-1] is True
    assert list((share.quarantine / "pending").iterdir()) == []

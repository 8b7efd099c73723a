"""The root folder: opened by its path for each question, and never left.

Guarantees: what is mounted there and the marker are looked at anew each time, so that nothing is read of, or done in,
the empty folder below a mount that went away; every folder below is opened name by name from the one above it, and a
link is never followed. No name of a path that somebody else may write is ever handed to the system as a whole.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from socket import gethostname

from fullcount.runtime.collect.ways import usual_way
from fullcount.runtime.connectors.base import TARGET_OBJECTS, SourceError
from fullcount.runtime.connectors.files.config import FilesConfig
from fullcount.runtime.connectors.files.patterns import Parts, parts_of
from fullcount.runtime.connectors.files.replies import Look, judge_walk
from fullcount.runtime.connectors.judged import Judged
from fullcount.runtime.connectors.local_user import local_user
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness
from fullcount.runtime.text import shown_bytes

LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""To list a folder, or to make what was done in it durable."""
PASS = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""To pass through a folder, which asks for less of a right."""


def named(error: OSError) -> str:
    """Return the name of an error of the system: `EACCES`."""
    return errno.errorcode.get(error.errno or 0, f"errno {error.errno}")


def shown(*names: str) -> str:
    """Return a path for a message, also one of bytes that are no text."""
    return "/".join(shown_bytes(os.fsencode(name)) for name in names if name != "")


def reasons_of(judged: Judged) -> tuple[Incompleteness, ...]:
    """Return what a judgement says is missing."""
    found = []
    for code, detail in zip(judged.reasons, judged.details, strict=True):
        if isinstance(code, Reason):
            found.append(Incompleteness(code=code, detail=detail.removeprefix(f"{code}: ")))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Root:
    """The root while it is open. `look` is what was seen of it, `device` and `inode` tell it from another one."""

    fd: int
    path: Path
    device: int
    inode: int
    look: Look

    @contextmanager
    def folder(self, parts: Parts, flags: int = PASS) -> Iterator[int]:
        """Open a folder below the root, name by name. Raises `OSError`; `ELOOP` for a link on the way."""
        fd = os.dup(self.fd)
        try:
            for name in parts:
                step = open_folder(fd, name, PASS)
                os.close(fd)
                fd = step
            if flags != PASS:
                listed = os.open(".", flags, dir_fd=fd)
                os.close(fd)
                fd = listed
            yield fd
        finally:
            os.close(fd)

    def is_still_there(self) -> bool:
        """Whether the path still leads to this folder. Raises `OSError`."""
        now = self.path.lstat()
        return (now.st_dev, now.st_ino) == (self.device, self.inode)


def open_folder(above: int, name: str, flags: int) -> int:
    """Open one folder in another. Raises `OSError`: `ELOOP` for a link, whatever the system calls that."""
    try:
        return os.open(name, flags, dir_fd=above)
    except NotADirectoryError:
        if stat.S_ISLNK(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from None
        raise


@contextmanager
def opened(config: FilesConfig) -> Iterator[Root]:
    """Open the root. Raises `SourceError` when it is not there, nothing is mounted there, or its marker is missing."""
    path = str(config.root)
    with _as_source_errors(path):
        fd = os.open(config.root, LIST)
    try:
        with _as_source_errors(path):
            root = _looked_at(fd, config)
        judged = judge_walk([root.look])
        if len(judged.reasons) > 0:
            raise refused(judged)
        yield root
    finally:
        os.close(fd)


@contextmanager
def looking(config: FilesConfig) -> Iterator[Root]:
    """Open the root to look at it, see `opened`; then what the system says of it is a `SourceError`, too."""
    with opened(config) as root, _as_source_errors(str(config.root)):
        yield root


@contextmanager
def _as_source_errors(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise refused(judge_walk([Look("open", path, error=named(error))])) from None


def _looked_at(fd: int, config: FilesConfig) -> Root:
    seen, facts, expected = os.fstat(fd), {}, {}
    facts["st_dev"] = seen.st_dev
    if config.must_be_mount:
        facts["is_mount"] = _is_mount(fd, seen)
        expected["mountpoint"] = True
    look = Look("stat", str(config.root), facts=facts, expected=expected)
    if config.marker is not None:
        has = _has_marker(Root(fd, config.root, seen.st_dev, seen.st_ino, look), config.marker)
        look = Look(
            "stat", str(config.root), facts={**facts, "marker": has}, expected={**expected, "marker": config.marker}
        )
    return Root(fd, config.root, seen.st_dev, seen.st_ino, look)


def _is_mount(fd: int, seen: os.stat_result) -> bool:
    """Whether something is mounted here, also a part of the same device: by the numbers that Linux gives to mounts."""
    above = os.open("..", PASS, dir_fd=fd)
    try:
        around = os.fstat(above)
        if (around.st_dev, around.st_ino) == (seen.st_dev, seen.st_ino):
            return True  # the root of everything
        numbers = _mount(fd), _mount(above)
        return around.st_dev != seen.st_dev if None in numbers else numbers[0] != numbers[1]
    finally:
        os.close(above)


def _mount(fd: int) -> str | None:
    with suppress(OSError):
        for line in Path(f"/proc/self/fdinfo/{fd}").read_text(encoding="ascii").splitlines():
            if line.startswith("mnt_id:"):
                return line
    return None


def _has_marker(root: Root, marker: str) -> bool:
    parts = parts_of(marker) or ()
    try:
        with root.folder(parts[:-1]) as above:
            return stat.S_ISREG(os.stat(parts[-1], dir_fd=above, follow_symlinks=False).st_mode)
    except OSError as error:
        if error.errno in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}:
            return False
        raise refused(judge_walk([root.look, Look("stat", f"{root.path}/{marker}", error=named(error))])) from None


def refused(judged: Judged) -> SourceError:
    """Return the error of a judgement with a reason."""
    reason = reasons_of(judged)[0]
    return SourceError(reason, continuation=usual_way(reason))


def identity(root: Root, resources: Iterable[str]) -> dict[str, str]:
    """Return which folder of which file system this is, on which machine, and who looks at it.

    Whichever resource lists it, what is at a path below the root is one object.
    """
    said = os.fstatvfs(root.fd)
    filesystem = f"{said.f_fsid:x}" if said.f_fsid != 0 else f"{os.major(root.device)}:{os.minor(root.device)}"
    return {
        "target_kind": "files",
        "target_host": gethostname(),
        "target_root": os.path.realpath(root.path),
        "target_id_filesystem": filesystem,
        "target_id_folder": str(root.inode),
        "user": local_user(),
        "uid": str(os.geteuid()),
        **{f"{TARGET_OBJECTS}{name}": "path" for name in resources},
    }

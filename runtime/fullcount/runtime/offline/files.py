"""Reading the files of a bundle: only regular files that lie in the folder themselves, and no more than can be judged.

A folder that somebody else hands over may hold anything. A pipe or a device would keep its reader waiting for ever, a
link would have something read that is no part of the folder, and a file without an end fills the memory. Nothing here
opens what is not a regular file, and nothing reads past what it was allowed.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

MOST_BYTES: Final = 1 << 30
"""Of one file that is read whole."""
MOST_OF_THE_JOURNAL: Final = 1 << 36
"""It is read line by line."""
MOST_OF_A_LINE: Final = 1 << 26
_CHUNK: Final = 1 << 20
_NO_FILES: Final = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class NoFile(OSError):  # noqa: N818 - a state of the file
    """It is not a file that is read here; the message says what it is."""

    def __str__(self) -> str:
        return str(self.args[0])


def files_below(folder: Path) -> dict[str, Path]:
    """Return everything below a folder that is no folder itself, by its path from there. Raises `OSError`.

    Links are not followed: a link to a folder is one of the things that are no folder.
    """
    found: dict[str, Path] = {}
    todo = [folder]
    while todo:
        with os.scandir(todo.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    todo.append(Path(entry.path))
                else:
                    found[Path(entry.path).relative_to(folder).as_posix()] = Path(entry.path)
    return dict(sorted(found.items()))


def open_own(path: Path) -> BinaryIO:
    """Open a regular file that is no link. Raises `NoFile` and other `OSError`s, and never waits."""
    _check_regular(path.lstat().st_mode)
    return _opened(path, getattr(os, "O_NOFOLLOW", 0))


def read_own(path: Path) -> bytes:
    """Return what such a file holds. Raises as `open_own`, and `NoFile` if that is too much."""
    with open_own(path) as file:
        return _read(file)


def read_given(path: Path) -> bytes:
    """Return what a file holds that the one who checks named, by a link if they like. Raises as `read_own`."""
    _check_regular(path.stat().st_mode)
    with _opened(path, 0) as file:
        return _read(file)


def digest_of_own(path: Path) -> str:
    """Return the SHA-256 of such a file without holding it whole: `sha256:…`. Raises as `read_own`."""
    digest = hashlib.sha256()
    with open_own(path) as file:
        _check_size(os.fstat(file.fileno()).st_size, MOST_OF_THE_JOURNAL)
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return f"sha256:{digest.hexdigest()}"


def lines_of(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a file, each with its end; one that is too long comes in parts."""
    while line := file.readline(MOST_OF_A_LINE):
        yield line


def _opened(path: Path, follow: int) -> BinaryIO:
    handle = os.open(path, os.O_RDONLY | follow | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    try:
        _check_regular(os.fstat(handle).st_mode)  # what was looked at may have been exchanged
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def _check_regular(mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise NoFile(next((f"it is {what}" for is_one, what in _NO_FILES if is_one(mode)), "it is no regular file"))


def _read(file: BinaryIO) -> bytes:
    _check_size(os.fstat(file.fileno()).st_size, MOST_BYTES)
    data = file.read(MOST_BYTES + 1)
    _check_size(len(data), MOST_BYTES)  # it may have grown meanwhile, and some say that they hold nothing
    return data


def _check_size(size: int, most: int) -> None:
    if size > most:
        raise NoFile(f"it holds more than the {most} bytes that are read")

"""The only calls that change anything on a disk, each durable once it has returned where that is asked for.

Guarantees: nothing here overwrites. `os.rename` puts one file in the place of another without a word, and the standard
library has no other rename; so what goes to a place that others can write to goes by Linux's `renameat2` with
`RENAME_NOREPLACE`, which the C library offers. Where the file system does not know that (NFS), a file gets a second
name by `os.link`, which never replaces anything, and then loses its first one; for a folder there is no second way.
"""

from __future__ import annotations

import ctypes
import errno
import os
from typing import Any

_NOREPLACE = 1
_NOT_HERE = frozenset({errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP})
_OURS = 0o600
_FOLDER = 0o700

_libc: Any = ctypes.CDLL(None, use_errno=True)


def rename(from_fd: int, name: str, to_fd: int, to: str) -> None:
    """Move something to a place where only we put anything. Raises `OSError`."""
    os.rename(name, to, src_dir_fd=from_fd, dst_dir_fd=to_fd)


def rename_to_free(from_fd: int, name: str, to_fd: int, to: str) -> None:
    """Move something to a place where nothing is. Raises `FileExistsError` if something is, `OSError`."""
    failed = _renameat2(from_fd, name, to_fd, to)
    if failed == 0:
        return
    if failed not in _NOT_HERE:
        raise OSError(failed, os.strerror(failed), to)
    os.link(name, to, src_dir_fd=from_fd, dst_dir_fd=to_fd, follow_symlinks=False)
    os.unlink(name, dir_fd=from_fd)


def _renameat2(from_fd: int, name: str, to_fd: int, to: str) -> int:
    call = getattr(_libc, "renameat2", None)
    if call is None:
        return errno.ENOSYS
    ctypes.set_errno(0)
    failed: int = call(from_fd, os.fsencode(name), to_fd, os.fsencode(to), ctypes.c_uint(_NOREPLACE))
    return ctypes.get_errno() if failed != 0 else 0


def make_folder(above: int, name: str) -> None:
    """Make a folder for its owner alone. Raises `FileExistsError`, `OSError`."""
    os.mkdir(name, _FOLDER, dir_fd=above)


def write(above: int, name: str, data: bytes) -> None:
    """Make a new file, on the disk when this returns. Raises `FileExistsError`, `OSError`."""
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, _OURS, dir_fd=above)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def settle(*folders: int) -> None:
    """Return once what was made, moved and removed in these folders is on the disk. Raises `OSError`."""
    for fd in folders:
        os.fsync(fd)


def unlink(above: int, name: str) -> None:
    """Remove a file. Raises `OSError`."""
    os.unlink(name, dir_fd=above)


def remove_folder(above: int, name: str) -> None:
    """Remove an empty folder. Raises `OSError`."""
    os.rmdir(name, dir_fd=above)

"""What the system itself notes of a folder: every name that goes from it and comes to it, whoever does it.

The notes are in the kernel, in the order of what happened, and no kill of the process that does it takes one away.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections import Counter
from pathlib import Path

_WENT, _CAME, _LOST = 0x40 | 0x200, 0x80 | 0x100, 0x4000
_HEAD = struct.Struct("iIII")


class Watch:
    """An inotify watch on one folder; without a folder it sees nothing."""

    def __init__(self, folder: Path | None = None) -> None:
        self._went: Counter[str] = Counter()
        self._came: Counter[str] = Counter()
        self._fd: int | None = None
        if folder is not None:
            libc = ctypes.CDLL(None, use_errno=True)
            self._fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
            added = libc.inotify_add_watch(self._fd, os.fsencode(folder), _WENT | _CAME)
            assert self._fd >= 0
            assert added >= 0, os.strerror(ctypes.get_errno())

    def names(self) -> tuple[Counter[str], Counter[str]]:
        """Return how often each name went, and came, since the watch began."""
        while self._fd is not None:
            try:
                data = os.read(self._fd, 1 << 16)
            except BlockingIOError:
                break
            at = 0
            while at < len(data):
                _, what, _, length = _HEAD.unpack_from(data, at)
                name = data[at + _HEAD.size : at + _HEAD.size + length].rstrip(b"\0").decode()
                at += _HEAD.size + length
                assert not what & _LOST, "more happened than the system could note"
                (self._went if what & _WENT else self._came)[name] += 1
        return Counter(self._went), Counter(self._came)

    def close(self) -> None:
        """Stop watching."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

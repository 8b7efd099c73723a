"""A folder with everything in it, as one object: how much it is, and a digest that differs when anything in it does.

Guarantees: the digest is of every entry's path, inode, size, times, owner and rights, in whatever order they are
listed; what could not be looked at makes the whole unknown, never smaller. Links in it are looked at as links. What is
mounted in it is not of it, and makes it unknown: to move the folder would take that along.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fullcount.runtime.connectors.files.folders import Entry, Listing, Troubles, walk
from fullcount.runtime.connectors.files.patterns import Parts

_MODULUS = 1 << 256
_LONG_AGO = -(1 << 63)


@dataclass(frozen=True, slots=True)
class Tree:
    """Everything in a folder. `newest_ns`: when anything in it was modified last; `shared`: a file with other names."""

    digest: str
    size: int
    files: int
    folders: int
    others: int
    newest_ns: int
    shared: str | None


@dataclass(slots=True)
class _Sum:
    digest: int = 0
    size: int = 0
    files: int = 0
    folders: int = 0
    others: int = 0
    newest_ns: int = _LONG_AGO
    shared: str | None = None

    def take(self, entry: Entry, inside: Parts) -> None:
        seen = entry.stat
        self.folders += entry.is_folder
        self.files += entry.is_file
        self.others += not entry.is_folder and not entry.is_file
        self.newest_ns = max(self.newest_ns, seen.st_mtime_ns)
        if entry.is_file:
            self.size += seen.st_size
            if seen.st_nlink > 1 and self.shared is None:
                self.shared = "/".join((*inside, entry.name))
        size = 0 if entry.is_folder else seen.st_size
        marks = (seen.st_mode, seen.st_ino, size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_uid, seen.st_gid)
        text = os.fsencode("/".join((*inside, entry.name))) + b"\0" + ".".join(map(str, marks)).encode()
        # added up, so that no order and no memory is needed
        self.digest = (self.digest + int.from_bytes(hashlib.sha256(text).digest(), "big")) % _MODULUS


def tree_of(fd: int, path: str, troubles: Troubles, count: Callable[[], None]) -> Tree | None:
    """Look at everything below an open folder; None, and noted in `troubles`, if not all of it could be seen.

    `count` is called for each entry, and may raise to stop.
    """
    own = Troubles(troubles.root, os.fstat(fd).st_dev)
    total = _Sum()

    def visit(listing: Listing, inside: Parts) -> Iterator[None]:
        for entry in listing.entries():
            count()
            if own.elsewhere(entry.stat.st_dev, listing.at(entry.name)):
                continue
            total.take(entry, inside)
            if entry.is_folder:
                listing.into.append((entry.name, entry.stat.st_ino))
        yield from ()

    for _ in walk(fd, path, own, visit):
        pass
    if len(own.reasons) > 0:
        for code, reason in own.reasons.items():
            troubles.reasons.setdefault(code, reason)
        return None
    return Tree(
        f"{total.digest:064x}", total.size, total.files, total.folders, total.others, total.newest_ns, total.shared
    )

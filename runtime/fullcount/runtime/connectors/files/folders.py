"""Folders, listed one after the other: every entry with a look at it, and what the looks amount to.

Guarantees: nothing that the system says is dropped. A folder that can't be listed to its end, an entry that went or
may not be looked at, and a folder that changed while it was listed end up as looks, of which `judge_walk` says what
they mean. Entries are handed on as they come, so that a folder of a million files costs no more memory than one of
ten. Folders are entered from the one above them, which stays open meanwhile: whatever is renamed, the walk stays where
it began.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from os import scandir
from typing import TypeVar

from fullcount.runtime.connectors.files.patterns import Parts
from fullcount.runtime.connectors.files.replies import Look, judge_walk
from fullcount.runtime.connectors.files.root import LIST, named, open_folder, reasons_of, shown
from fullcount.runtime.evidence.codes import Reason, WarningCode
from fullcount.runtime.evidence.envelope import Incompleteness

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder. `name` may hold bytes that are no text, the way the system's own functions have it."""

    name: str
    stat: os.stat_result

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return stat.S_ISDIR(self.stat.st_mode)

    @property
    def is_file(self) -> bool:
        """Whether it is a file proper: no link, no pipe, no device."""
        return stat.S_ISREG(self.stat.st_mode)

    @property
    def is_link(self) -> bool:
        """Whether it is a link, which is never followed."""
        return stat.S_ISLNK(self.stat.st_mode)

    @property
    def text(self) -> str | None:
        """The name as text; None if its bytes are none."""
        try:
            return os.fsencode(self.name).decode()
        except UnicodeDecodeError:
            return None


@dataclass(slots=True)
class Listing:
    """An open folder and the looks at it and what is in it. `path` is for messages."""

    fd: int
    path: str
    looks: list[Look] = field(default_factory=list)
    into: list[tuple[str, int]] = field(default_factory=list)
    """The folders in it that are to be entered, each with its inode."""
    _said: set[str] = field(default_factory=set)

    def entries(self) -> Iterator[Entry]:
        """List the folder. What goes wrong becomes a look."""
        self.looks.append(Look("scandir", self.path, entries=(), facts=self._facts()))
        try:
            with scandir(self.fd) as names:
                for found in names:
                    entry = self._looked_at(found.name)
                    if entry is not None:
                        yield entry
        except OSError as error:
            self.failed("scandir", error)
        # what is mounted here was judged when it was entered
        facts = {name: value for name, value in self._facts().items() if name != "st_dev"}
        self.looks.append(Look("stat", self.path, facts=facts))

    def _looked_at(self, name: str) -> Entry | None:
        try:
            return Entry(name, os.stat(name, dir_fd=self.fd, follow_symlinks=False))
        except OSError as error:
            self.failed("stat", error, name)
            return None

    def failed(self, operation: str, error: OSError, name: str = "") -> None:
        """Note an error of the system, each kind once: there may be one for each of a million entries."""
        self.note(Look(operation, self.at(name), error=named(error)))

    def note(self, look: Look) -> None:
        """Note a look that says something is wrong, each kind once."""
        kind = look.error or look.operation
        if kind not in self._said:
            self._said.add(kind)
            self.looks.append(look)

    def at(self, name: str) -> str:
        """Return the path of an entry, for a message."""
        return self.path if name == "" else f"{self.path}/{shown(name)}"

    def _facts(self) -> dict[str, int]:
        try:
            seen = os.fstat(self.fd)
        except OSError as error:
            self.failed("fstat", error)
            return {}
        return {"st_dev": seen.st_dev, "ino": seen.st_ino, "mtime_ns": seen.st_mtime_ns, "ctime_ns": seen.st_ctime_ns}


@dataclass(slots=True)
class Troubles:
    """What stands against the completeness of a walk: each reason once, with the place where it was first met.

    `root` is the look at the root; `device` that on which everything has to lie, None: on any.
    """

    root: Look
    device: int | None
    reasons: dict[Reason, Incompleteness] = field(default_factory=dict)
    shared: str | None = None
    """A file that has other names."""

    def judge(self, *looks: Look) -> None:
        """Take what the looks at one folder amount to."""
        judged = judge_walk([self.root, *looks])
        for reason in reasons_of(judged):
            self.reasons.setdefault(reason.code, reason)
        if WarningCode.SHARED_IDENTITY in judged.warnings and self.shared is None:
            self.shared = looks[-1].path

    def elsewhere(self, device: int, path: str) -> bool:
        """Whether something lies on a device of its own that does not belong here; that is noted."""
        if self.device is None or device == self.device:
            return False
        self.judge(Look("stat", path, facts={"st_dev": device}))
        return True


Visit = Callable[[Listing, Parts], Iterator[T]]
"""Goes through the entries of one folder, and notes in `Listing.into` which folders are to be entered from there."""


def walk(fd: int, path: str, troubles: Troubles, visit: Visit[T]) -> Iterator[T]:
    """Visit a folder, and every one below it that a visit names. `path` is for messages. Raises what a visit raises."""
    stack: list[tuple[Listing, Parts]] = []
    try:
        top = os.open(".", LIST, dir_fd=fd)
    except OSError as error:
        troubles.judge(Look("scandir", path, error=named(error)))
        return
    try:
        stack.append((Listing(top, path), ()))
        yield from visit(*stack[-1])
        troubles.judge(*stack[-1][0].looks)
        while len(stack) > 0:
            listing, inside = stack[-1]
            if len(listing.into) == 0:
                os.close(stack.pop()[0].fd)
                continue
            name, inode = listing.into.pop()
            below = _entered(listing, name, inode, troubles)
            if below is not None:
                stack.append((below, (*inside, name)))
                yield from visit(*stack[-1])
                troubles.judge(*below.looks)
    finally:
        for listing, _ in stack:
            os.close(listing.fd)


def _entered(above: Listing, name: str, inode: int, troubles: Troubles) -> Listing | None:
    """Open a folder that was listed; None if that is not possible, or it lies elsewhere: then that is noted."""
    path = above.at(name)
    try:
        fd = open_folder(above.fd, name, LIST)
    except OSError as error:
        troubles.judge(Look("scandir", path, error=named(error)))
        return None
    listing = Listing(fd, path, [Look("stat", path, facts={"ino": inode})])
    try:
        elsewhere = troubles.elsewhere(os.fstat(fd).st_dev, path)  # it may be mounted only now that it was entered
    except OSError as error:
        troubles.judge(Look("fstat", path, error=named(error)))
        elsewhere = True
    if elsewhere:
        os.close(fd)
        return None
    return listing

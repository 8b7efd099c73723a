"""All objects of one resource, as they are met: by folders, without following a link, without holding what was passed.

Guarantees: whatever could be an object, or lead to one, and could not be looked at, is told as a reason; nothing else
is. Folders in which no pattern can find anything are not entered, so that what nobody asked for stands in nobody's
way.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from fullcount.runtime.connectors.files.config import FilesConfig, FilesResource, Kind
from fullcount.runtime.connectors.files.folders import Entry, Listing, Troubles, walk
from fullcount.runtime.connectors.files.objects import OF_THE_TREE, Found
from fullcount.runtime.connectors.files.patterns import Parts, Patterns
from fullcount.runtime.connectors.files.replies import Look
from fullcount.runtime.connectors.files.root import LIST, Root, named, open_folder
from fullcount.runtime.connectors.files.tree import Tree, tree_of


class EnoughError(Exception):
    """The cap of our own on what one list looks at is reached."""


class StoppedError(Exception):
    """Nobody waits for this walk any more."""


@dataclass(slots=True)
class Walking:
    """One walk for one question. `fields` are those that are asked for; `stopped` ends it between two entries."""

    root: Root
    config: FilesConfig
    resource: FilesResource
    fields: Collection[str]
    keeps_access: bool
    troubles: Troubles
    stopped: bool = False
    looked_at: int = 0
    _patterns: Patterns = field(init=False)
    _left_out: Patterns = field(init=False)

    def __post_init__(self) -> None:
        self._patterns, self._left_out = Patterns.of(self.resource.patterns), Patterns.of(self.resource.left_out)

    def objects(self) -> Iterator[Found]:
        """Yield every object. Raises `EnoughError`, `StoppedError`."""
        yield from walk(self.root.fd, str(self.root.path), self.troubles, self._visit)
        try:
            moved = not self.root.is_still_there()
        except OSError as error:
            self.troubles.judge(Look("lstat", str(self.root.path), error=named(error)))
        else:
            if moved:
                before, now = {"ino": self.root.inode}, {"ino": -1}
                path = str(self.root.path)
                self.troubles.judge(Look("stat", path, facts=before), Look("stat", path, facts=now))

    def _count(self) -> None:
        if self.stopped:
            raise StoppedError
        if self.config.max_entries is not None and self.looked_at >= self.config.max_entries:
            raise EnoughError
        self.looked_at += 1

    def _visit(self, listing: Listing, inside: Parts) -> Iterator[Found]:
        here, out = self._patterns.start, self._left_out.start
        for name in inside:
            here, out = self._patterns.step(here, name), self._left_out.step(out, name)
        deeper = self.resource.depth == "all" or len(inside) + 1 < self.resource.depth
        for entry in listing.entries():
            self._count()
            if self._left_out.ends(self._left_out.step(out, entry.name)):
                continue
            states = self._patterns.step(here, entry.name)
            wanted, leads_on = self._patterns.ends(states), deeper and self._patterns.leads_on(states)
            if not self._may_matter(entry, wanted=wanted, leads_on=leads_on):
                continue
            if entry.text is None:
                listing.note(Look("stat", listing.at(entry.name), error="EILSEQ"))
            elif entry.is_link:
                if self.resource.links == "refused":
                    listing.note(Look("open", listing.at(entry.name), error="ELOOP"))
            elif self.troubles.elsewhere(entry.stat.st_dev, listing.at(entry.name)):
                continue
            elif entry.is_folder and self.resource.kind is Kind.FOLDER and wanted:
                yield from self._folder(listing, entry, inside)
            elif entry.is_folder:
                listing.into.append((entry.name, entry.stat.st_ino))
            else:
                self._note_shared(listing, entry)
                yield Found((*inside, entry.name), entry.stat, keeps_access=self.keeps_access)

    def _may_matter(self, entry: Entry, *, wanted: bool, leads_on: bool) -> bool:
        """Whether an entry is an object, could be one, or could lead to one."""
        if entry.is_link:
            return wanted or leads_on
        if entry.is_folder:
            return leads_on or (wanted and self.resource.kind is Kind.FOLDER)
        return entry.is_file and wanted and self.resource.kind is Kind.FILE

    def _note_shared(self, listing: Listing, entry: Entry) -> None:
        if entry.stat.st_nlink > 1 and self.troubles.shared is None:
            facts = {"ino": entry.stat.st_ino, "nlink": entry.stat.st_nlink, "type": "file"}
            self.troubles.judge(Look("stat", listing.at(entry.name), entries=(facts,)))

    def _folder(self, listing: Listing, entry: Entry, inside: Parts) -> Iterator[Found]:
        """Yield a folder that is an object; with everything in it, where that is asked for."""
        parts = (*inside, entry.name)
        if OF_THE_TREE.isdisjoint(self.fields):
            yield Found(parts, entry.stat, keeps_access=self.keeps_access)
            return
        try:
            fd = open_folder(listing.fd, entry.name, LIST)
        except OSError as error:
            listing.failed("scandir", error, entry.name)
            return
        try:
            tree = tree_of(fd, listing.at(entry.name), self.troubles, self._count)
            seen = os.fstat(fd)
        except OSError as error:
            listing.failed("fstat", error, entry.name)
            return
        finally:
            os.close(fd)
        yield Found(parts, seen, tree, keeps_access=self.keeps_access)
        if tree is not None and tree.shared is not None and self.troubles.shared is None:
            path = f"{listing.at(entry.name)}/{tree.shared}"
            self.troubles.judge(Look("stat", path, entries=({"nlink": 2, "type": "file"},)))


def found_at(root: Root, parts: Parts, kind: Kind, troubles: Troubles, *, keeps_access: bool) -> Found | Entry:
    """Look at one path: the object, or what else stands there. Raises `OSError`.

    Of a folder everything in it is looked at; what stands against that is in `troubles`.
    """
    with root.folder(parts[:-1]) as above:
        entry = Entry(parts[-1], os.stat(parts[-1], dir_fd=above, follow_symlinks=False))
        if kind is Kind.FILE:
            return Found(parts, entry.stat, keeps_access=keeps_access) if entry.is_file else entry
        if not entry.is_folder:
            return entry
        return folder_at(above, parts, troubles, f"{root.path}/{'/'.join(parts)}")


def folder_at(above: int, parts: Parts, troubles: Troubles, path: str, name: str | None = None) -> Found:
    """Look at a folder with everything in it, in an open one; `name`: what it is called there. Raises `OSError`."""
    fd = open_folder(above, parts[-1] if name is None else name, LIST)
    try:
        tree: Tree | None = tree_of(fd, path, troubles, lambda: None)
        return Found(parts, os.fstat(fd), tree)
    finally:
        os.close(fd)

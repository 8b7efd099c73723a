"""The fields of a file or a folder, and the marks by which it is known again. Pure but for the names of users.

`incarnation` is device and inode: the same name with another one is another object. `version` is everything that moves
when somebody changes the object, to the nanosecond: `mtime.ctime.size.inode`, and for a folder a digest of everything
in it. `ctime` also moves when an object is renamed, by us too, so `Mark` is what is left of a version without it: by
that an object is known again after it was moved.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from fullcount.compiler.types import INT, SIZE, TEXT, TIMESTAMP, FieldType
from fullcount.compiler.values import FieldState
from fullcount.runtime.connectors.files.config import Kind
from fullcount.runtime.connectors.files.patterns import Parts
from fullcount.runtime.connectors.files.tree import Tree

_COMMON = {
    "path": FieldType(TEXT),
    "name": FieldType(TEXT),
    "folder": FieldType(TEXT),
    "size": FieldType(SIZE),
    "modified": FieldType(TIMESTAMP),
    "changed": FieldType(TIMESTAMP),
    "mode": FieldType(TEXT),
    "owner": FieldType(TEXT),
    "group": FieldType(TEXT),
    "incarnation": FieldType(TEXT),
    "version": FieldType(TEXT),
}
FIELDS = {
    Kind.FILE: {
        **_COMMON,
        "extension": FieldType(TEXT, optional=True),
        "accessed": FieldType(TIMESTAMP),
        "links": FieldType(INT),
    },
    Kind.FOLDER: {**_COMMON, "entries": FieldType(INT), "newest": FieldType(TIMESTAMP)},
}
"""`folder`: the path of the folder that it lies in, empty in the root. `changed`: when its name, owner, rights or
content changed last, which nobody can set; `modified` anybody can, and a copy may bring it along. `size` and `entries`
of a folder are of everything in it; `newest`: when it or anything in it was modified last."""

OF_THE_TREE = frozenset({"size", "entries", "newest", "version"})
"""What of a folder is known only once everything in it was looked at."""

Raw = tuple[Any, FieldState | None]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Mark:
    """By what an object is known again, wherever it was moved to on its device."""

    incarnation: str
    modified_ns: int
    size: int
    tree: str = ""

    def is_of(self, version: str, incarnation: str | None = None) -> bool:
        """Whether an object of this version, and incarnation, is the same."""
        modified, _, size, inode, *tree = (*version.split("."), "", "", "", "")
        same = (modified, size, tree[0]) == (str(self.modified_ns), str(self.size), self.tree)
        same = same and inode == self.incarnation.partition(":")[2]
        return same and (incarnation is None or incarnation == self.incarnation)

    def document(self) -> dict[str, str]:
        """Return it as JSON: as texts, since a count of nanoseconds is more than a number of JSON is sure to hold."""
        return {
            "incarnation": self.incarnation,
            "modified_ns": str(self.modified_ns),
            "size": str(self.size),
            "tree": self.tree,
        }

    @classmethod
    def read(cls, document: object) -> Mark:
        """Return what `document` wrote. Raises ValueError."""
        try:
            match document:
                case {"incarnation": str(of), "modified_ns": str(modified), "size": str(size), "tree": str(tree)}:
                    return cls(of, int(modified), int(size), tree)
        except ValueError:
            pass
        msg = "it is not a mark of a file"
        raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class Found:
    """An object as one look saw it. `tree`: everything in a folder; None where that was not asked, or is not known."""

    parts: Parts
    stat: os.stat_result
    tree: Tree | None = None
    keeps_access: bool = True
    """Whether the file system records when a file is read."""

    @property
    def mark(self) -> Mark:
        """By what it is known again."""
        incarnation = f"{self.stat.st_dev}:{self.stat.st_ino}"
        digest = "" if self.tree is None else self.tree.digest
        return Mark(incarnation, self.stat.st_mtime_ns, self._size, digest)

    @property
    def _size(self) -> int:
        """Of a folder itself it says nothing, and differs from one file system to the next."""
        return 0 if stat.S_ISDIR(self.stat.st_mode) else self.stat.st_size

    @property
    def version(self) -> str:
        """What moves with every change."""
        mark, changed = self.mark, self.stat.st_ctime_ns
        version = f"{mark.modified_ns}.{changed}.{mark.size}.{self.stat.st_ino}"
        return version if self.tree is None else f"{version}.{self.tree.digest}"

    def raw(self, field: str) -> Raw:
        """Return the natural value of a field, and its state where the value does not tell it."""
        if field in OF_THE_TREE and stat.S_ISDIR(self.stat.st_mode):
            return self._of_the_tree(field)
        match field:
            case "path" | "name" | "folder" | "extension":
                return _named(self.parts, field), None
            case "size" | "links":
                return self.stat.st_size if field == "size" else self.stat.st_nlink, None
            case "modified":
                return instant(self.stat.st_mtime_ns)
            case "changed":
                return instant(self.stat.st_ctime_ns)
            case "accessed":
                return instant(self.stat.st_atime_ns) if self.keeps_access else (None, FieldState.SOURCE_FAILED)
            case "mode":
                return f"{stat.S_IMODE(self.stat.st_mode):04o}", None
            case "owner":
                return _user(self.stat.st_uid), None
            case "group":
                return _group(self.stat.st_gid), None
            case "incarnation":
                return self.mark.incarnation, None
            case _:
                return self.version, None

    def _of_the_tree(self, field: str) -> Raw:
        if self.tree is None:
            return None, FieldState.SOURCE_FAILED
        match field:
            case "size":
                return self.tree.size, None
            case "entries":
                return self.tree.files + self.tree.folders + self.tree.others, None
            case "newest":
                return instant(max(self.tree.newest_ns, self.stat.st_mtime_ns))
            case _:
                return self.version, None


def _named(parts: Parts, field: str) -> str | None:
    match field:
        case "path":
            return "/".join(parts)
        case "name":
            return parts[-1]
        case "folder":
            return "/".join(parts[:-1])
        case _:
            stem, _, extension = parts[-1].rpartition(".")
            return extension if stem != "" and extension != "" else None


def instant(nanoseconds: int) -> Raw:
    """Return an instant of a file system, cut to microseconds; one beyond the calendar is not known."""
    try:
        return _EPOCH + timedelta(microseconds=nanoseconds // 1000), None
    except OverflowError:
        return None, FieldState.INDETERMINATE


@lru_cache(maxsize=4096)
def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid:{uid}"


@lru_cache(maxsize=4096)
def _group(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return f"gid:{gid}"

"""Where snapshots live: Parquet files named by the digest of their bytes.

Guarantees: a file under its digest is whole (written beside, flushed to the disk, then renamed), is never changed, and
is checked against its digest before it is read for the first time by a process, and again if it changed on the disk.
The same rows give the same bytes. What a killed process left behind is never mistaken for a snapshot.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from fullcount.compiler.types import FieldType, Scalar
from fullcount.runtime.collect.writer import SnapshotWriter
from fullcount.runtime.errors import FullcountError
from fullcount.runtime.exit_codes import Exit

_ALGORITHM = "sha256"
_INCOMING = ".incoming"
_IN_USE = "in-use"
_QUITE_NEW = 60.0
"""Seconds in which a folder may have been made and not yet been claimed."""
_HEX = frozenset("0123456789abcdef")


class SnapshotMissing(FullcountError):  # noqa: N818 - a state of the evidence
    """No snapshot of this digest is stored here."""

    exit = Exit.REFUSED_BY_EVIDENCE

    def __init__(self, message: str) -> None:
        super().__init__("FC749", message, help="plan again: the evidence is read anew")


class SnapshotCorrupt(FullcountError):  # noqa: N818 - a state of the evidence
    """The stored bytes do not have the digest that they are named by."""

    exit = Exit.REFUSED_BY_EVIDENCE

    def __init__(self, message: str) -> None:
        super().__init__(
            "FC749", message, help="find out who writes there, then plan again: nothing rests on this file"
        )


class SnapshotUnreadable(FullcountError):  # noqa: N818 - a state of the evidence
    """The snapshot may be there, but this user may not look at it, so nothing can be said of it."""

    def __init__(self, message: str) -> None:
        super().__init__(
            "FC749",
            message,
            help="ask its owner for the right to read it; `fullcount verify --no-snapshots` leaves the stored rows out",
        )


class SnapshotStore:
    """Content-addressed Parquet files under one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._checked: dict[str, tuple[int, int, int]] = {}

    def path(self, digest: str) -> Path:
        """Return the file of `sha256:…`, checked. Raises `SnapshotMissing`, `SnapshotCorrupt`, `SnapshotUnreadable`."""
        path = self._place(digest)
        try:
            return self._checked_path(digest, path)
        except OSError as error:
            msg = f"snapshot `{path}` can't be read: {error.strerror}"
            raise SnapshotUnreadable(msg) from error

    def _checked_path(self, digest: str, path: Path) -> Path:
        try:
            stat = path.stat()
        except FileNotFoundError:
            msg = f"snapshot `{digest}` is not stored under `{self.root}`"
            raise SnapshotMissing(msg) from None
        seen = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
        if self._checked.get(digest) != seen:
            if digest_of(path) != digest:
                msg = f"snapshot `{path}` was changed after it was written: its bytes do not have the digest `{digest}`"
                raise SnapshotCorrupt(msg)
            self._checked[digest] = seen
        return path

    def writer(self, fields: Mapping[str, FieldType], key: tuple[str, ...]) -> SnapshotWriter:
        """Begin a snapshot. Use it in a `with` block: left without `finish`, nothing stays behind.

        Raises `ValueError` for a key field that has no order.
        """
        for name in key:
            if not isinstance(fields[name].type, Scalar):
                msg = f"`{name}` is a {fields[name].type} and can't be part of a key"
                raise ValueError(msg)
        folder, in_use = self._claimed()
        return SnapshotWriter(folder, fields, key, self._keep, in_use)

    @contextmanager
    def passing(self) -> Iterator[SnapshotStore]:
        """Open a store for snapshots that are only needed until others are made of them; it is cleared away then."""
        folder, in_use = self._claimed()
        try:
            yield SnapshotStore(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            in_use.close()

    def _claimed(self) -> tuple[Path, BinaryIO]:
        """Make a folder for files that do not last, and what shows that somebody is at work in it."""
        incoming = self.root / _INCOMING
        incoming.mkdir(parents=True, exist_ok=True)
        _sweep(incoming)
        folder = Path(tempfile.mkdtemp(dir=incoming))
        # held as long as it is worked in: whoever can take it knows that nobody lives there any more
        in_use = (folder / _IN_USE).open("wb")
        fcntl.flock(in_use, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return folder, in_use

    def _keep(self, written: Path) -> str:
        """Give a finished file its lasting name; return its digest."""
        with written.open("rb") as file:
            os.fsync(file.fileno())
        digest = digest_of(written)
        place = self._place(digest)
        place.parent.mkdir(parents=True, exist_ok=True)
        written.replace(place)
        for folder in (place.parent, place.parent.parent):
            _flush_folder(folder)
        return digest

    def _place(self, digest: str) -> Path:
        algorithm, _, hexadecimal = digest.partition(":")
        if algorithm != _ALGORITHM or len(hexadecimal) != 64 or not set(hexadecimal) <= _HEX:
            msg = f"`{digest}` is not the digest of a snapshot"
            raise SnapshotMissing(msg)
        return self.root / hexadecimal[:2] / f"{hexadecimal}.parquet"


def digest_of(path: Path) -> str:
    """Return `sha256:…` of a file's bytes."""
    with path.open("rb") as file:
        return f"{_ALGORITHM}:{hashlib.file_digest(file, _ALGORITHM).hexdigest()}"


def _sweep(incoming: Path) -> None:
    """Clear away what killed writers left: folders that are not quite new and that nobody holds."""
    for folder in incoming.iterdir():
        try:
            if time.time() - folder.stat().st_mtime < _QUITE_NEW:
                continue
            with (folder / _IN_USE).open("rb") as in_use:
                fcntl.flock(in_use, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
        except (FileNotFoundError, BlockingIOError):
            continue  # gone meanwhile, or in use


def _flush_folder(folder: Path) -> None:
    """Make a rename last."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

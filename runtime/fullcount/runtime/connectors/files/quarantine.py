"""The quarantine folder: where what is acted on goes first, and where what was deleted lies until it is taken back.

    pending/KEY/        an act under way: what it is about, and the object once it was moved
    kept/PLACE/KEY/     the same, once the object was looked at again and is the one that was meant
    lock                held by whoever acts; alone by whoever finds out what a process left behind that was killed

Guarantees: what an act is about is on the disk before anything is moved; an entry is kept only if its object is the
very one that was meant; what is not is put back where it came from, never over anything. What is kept is removed only
where the record names the act, and its time is over. Names come from digests: no path of an object is a path in here.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.connectors.files import disk
from fullcount.runtime.connectors.files.config import FilesConfig, lists
from fullcount.runtime.connectors.files.folders import Troubles
from fullcount.runtime.connectors.files.objects import Found, Mark
from fullcount.runtime.connectors.files.patterns import parts_of
from fullcount.runtime.connectors.files.replies import in_words
from fullcount.runtime.connectors.files.root import LIST, Root, named, open_folder
from fullcount.runtime.connectors.files.walk import folder_at
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness

OBJECT, ABOUT = "object", "about.json"
_PENDING, _KEPT, _LOCK = "pending", "kept", "lock"
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


class Purpose(StrEnum):
    """What an object was moved here for."""

    KEEP = "keep"
    REMOVE = "remove"
    MOVE = "move"


@dataclass(frozen=True, slots=True)
class About:
    """What an act is about. `kept`: for how long its object is kept, in microseconds; None: until it is taken back."""

    key: str
    root: str
    path: str
    mark: Mark
    purpose: Purpose
    kept: int | None = None

    @property
    def name(self) -> str:
        """The name of the entry: the same for the same act."""
        return _digest(self.root, self.path, self.key)

    @property
    def place(self) -> str:
        """The name of the folder of all entries of this path."""
        return _digest(self.root, self.path)

    def written(self) -> bytes:
        """Return it as it is stored."""
        return json.dumps({**asdict(self), "mark": self.mark.document()}, sort_keys=True).encode()

    @classmethod
    def read(cls, data: bytes) -> About:
        """Return what is stored. Raises ValueError."""
        try:
            given: dict[str, Any] = json.loads(data)
            return cls(**{**given, "mark": Mark.read(given["mark"]), "purpose": Purpose(given["purpose"])})
        except (KeyError, TypeError) as error:
            raise ValueError(str(error)) from None


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]


@dataclass(frozen=True, slots=True)
class Entry:
    """An open entry. `above` is the folder that it lies in."""

    fd: int
    above: int
    name: str
    about: About

    def found(self, root: Root) -> Found | None:
        """Look at the object; None: there is none. Raises `OSError`."""
        parts = parts_of(self.about.path) or (OBJECT,)
        try:
            seen = os.stat(OBJECT, dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return None
        if not stat.S_ISDIR(seen.st_mode):
            return Found(parts, seen)
        return folder_at(self.fd, parts, Troubles(root.look, root.device), OBJECT, OBJECT)

    def drop(self) -> None:
        """Remove the entry, whose object is elsewhere. Raises `OSError`, also if it is not: that must stay."""
        if _is_there(self.fd, OBJECT):
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), self.name)
        with suppress(FileNotFoundError):
            disk.unlink(self.fd, ABOUT)
        disk.remove_folder(self.above, self.name)
        disk.settle(self.above)


@dataclass(frozen=True, slots=True)
class Quarantine:
    """The open folder, of one root."""

    fd: int
    pending: int
    kept: int
    root: Root
    root_path: str

    # -- one act --------------------------------------------------------------------------------------------------

    @contextmanager
    def begun(self, about: About) -> Iterator[Entry]:
        """Write down what is to be done, before it is. Raises `FileExistsError` if it is under way, `OSError`."""
        disk.make_folder(self.pending, about.name)
        try:
            fd = self._written(about)
        except OSError:
            self._drop_unwritten(about.name)  # it is ours, and nothing was moved for it
            raise
        try:
            yield Entry(fd, self.pending, about.name, about)
        finally:
            os.close(fd)

    def _written(self, about: About) -> int:
        """Return the open folder of an entry, once it says on the disk what it is about. Raises `OSError`."""
        with ExitStack() as unfinished:
            fd = os.open(about.name, LIST, dir_fd=self.pending)
            unfinished.callback(os.close, fd)
            disk.write(fd, ABOUT, about.written())
            disk.settle(fd, self.pending)
            unfinished.pop_all()
        return fd

    def keep(self, entry: Entry) -> None:
        """Let an entry lie here from now on. Raises `OSError`."""
        with suppress(FileExistsError):
            disk.make_folder(self.kept, entry.about.place)
        place = os.open(entry.about.place, LIST, dir_fd=self.kept)
        try:
            disk.rename(entry.above, entry.name, place, entry.name)
            disk.settle(place, self.kept, entry.above)
        finally:
            os.close(place)

    def is_pending(self, about: About) -> bool:
        """Whether an act is under way, or was left in the middle. Raises `OSError`."""
        return _is_there(self.pending, about.name)

    def is_kept(self, about: About) -> bool:
        """Whether the object of an act lies here. Raises `OSError`."""
        return _is_there(self.kept, about.place, about.name, OBJECT)

    @contextmanager
    def kept_of(self, path: str, is_meant: Callable[[Mark], bool]) -> Iterator[Entry | None]:
        """Open the entry of an object of this path that is meant, if there is one. Raises `OSError`."""
        with kept_entry(self.kept, self.root_path, path, is_meant) as entry:
            yield entry

    def entries_kept(self) -> Iterator[Entry]:
        """Open one entry of this root after the other. Raises `OSError`."""
        for place in names_in(self.kept):
            above = open_folder(self.kept, place, LIST)
            try:
                for name in names_in(above):
                    with _opened(above, name) as entry:
                        if entry is not None and entry.about.root == self.root_path:
                            yield entry
                empty = len(names_in(above)) == 0
            finally:
                os.close(above)
            if empty:
                with suppress(OSError):  # somebody put something in it meanwhile
                    disk.remove_folder(self.kept, place)

    # -- what was left behind ---------------------------------------------------------------------------------------

    def settle_pending(self) -> None:
        """Find out what became of acts that were left in the middle; others must not be under way. Raises `OSError`.

        What was meant is kept; everything else is put back where it came from, if nothing is there by now.
        """
        for name in names_in(self.pending):
            with _opened(self.pending, name) as entry:
                if entry is None:
                    self._drop_unwritten(name)
                elif entry.about.root == self.root_path:
                    self._settle(entry)

    def _settle(self, entry: Entry) -> None:
        found = entry.found(self.root)
        if found is None:
            entry.drop()
        elif entry.about.purpose is Purpose.KEEP and found.mark == entry.about.mark:
            self.keep(entry)
        else:
            self.put_back(entry)

    def put_back(self, entry: Entry) -> bool:
        """Move an object back where it came from; return whether it could be. Raises `OSError`."""
        parts = parts_of(entry.about.path) or ()
        try:
            with self.root.folder(parts[:-1], LIST) as above:
                disk.rename_to_free(entry.fd, OBJECT, above, parts[-1])
                disk.settle(above, entry.fd)
        except (FileExistsError, FileNotFoundError, NotADirectoryError):
            return False  # it stays here, where nothing happens to it
        entry.drop()
        return True

    def _drop_unwritten(self, name: str) -> None:
        """Remove an entry that never came to say what it is about; nothing was moved for it."""
        with suppress(OSError):
            fd = open_folder(self.pending, name, LIST)
            try:
                if not _is_there(fd, OBJECT):
                    with suppress(FileNotFoundError):
                        disk.unlink(fd, ABOUT)
                    disk.remove_folder(self.pending, name)
            finally:
                os.close(fd)


@contextmanager
def kept_entry(kept: int, root_path: str, path: str, is_meant: Callable[[Mark], bool]) -> Iterator[Entry | None]:
    """Open the entry of an object of this path that is meant, if one is kept. Raises `OSError`."""
    try:
        above = os.open(_digest(root_path, path), LIST, dir_fd=kept)
    except FileNotFoundError:
        yield None
        return
    try:
        for name in names_in(above):
            with _opened(above, name) as entry:
                if entry is not None and is_meant(entry.about.mark) and _is_there(entry.fd, OBJECT):
                    yield entry
                    return
        yield None
    finally:
        os.close(above)


@contextmanager
def kept_folder(config: FilesConfig) -> Iterator[int | None]:
    """Open the folder of what is kept, making nothing; None: nothing was ever kept. Raises `OSError`, `SourceError`."""
    if config.quarantine is None:
        raise _unusable(_NONE)
    fd = _open(config.quarantine)
    try:
        if not _is_there(fd, _KEPT):
            yield None
            return
        kept = open_folder(fd, _KEPT, LIST)
        try:
            yield kept
        finally:
            os.close(kept)
    finally:
        os.close(fd)


def names_in(fd: int) -> list[str]:
    """Return what an open folder has, in order. Raises `OSError`."""
    with os.scandir(fd) as found:
        return sorted(each.name for each in found)


def _is_there(fd: int, *names: str) -> bool:
    try:
        os.stat("/".join(names), dir_fd=fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


@contextmanager
def _opened(above: int, name: str) -> Iterator[Entry | None]:
    """Open an entry; None for what is none, or does not say what it is about. Raises `OSError`."""
    try:
        fd = open_folder(above, name, LIST)
    except (FileNotFoundError, NotADirectoryError):
        yield None
        return
    try:
        try:
            file = os.open(ABOUT, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
            with os.fdopen(file, "rb") as stored:
                about: About | None = About.read(stored.read())
        except (FileNotFoundError, ValueError):
            about = None
        yield None if about is None else Entry(fd, above, name, about)
    finally:
        os.close(fd)


@contextmanager
def entered(config: FilesConfig, root: Root, *, alone: bool = False) -> Iterator[Quarantine | None]:
    """Open the quarantine folder, made ready; `alone`: only if nobody acts, else None. Raises `SourceError`."""
    path = config.quarantine
    if path is None:
        raise _unusable(_NONE)
    try:
        fd = _open(path)
    except OSError as error:
        raise _not_opened(path, error) from None
    fds = [fd]
    try:
        _check(config, root, path, fd)
        try:
            _made_ready(fd, fds)
        except OSError as error:
            raise _unusable(
                f"nothing can be put into the quarantine folder `{path}`: {in_words(named(error))}"
            ) from None
        if _locked(fds[-1], alone=alone):
            yield Quarantine(fd, fds[1], fds[2], root, os.path.realpath(root.path))
        else:
            yield None
    finally:
        for each in fds:
            os.close(each)


def look_at_place(config: FilesConfig, root: Root) -> None:
    """Look at the quarantine folder as far as a reader can, making nothing. Raises `SourceError` if it is not fit.

    Whoever acts may be another user, so a folder that is closed to this one, or another's own, says nothing.
    """
    path = config.quarantine
    if path is None:
        raise _unusable(_NONE)
    try:
        fd = _open(path)
    except PermissionError:
        return
    except OSError as error:
        raise _not_opened(path, error) from None
    try:
        if os.fstat(fd).st_uid == os.geteuid():
            _check(config, root, path, fd)
            if not os.access(path, os.W_OK | os.X_OK, effective_ids=True):
                raise _unusable(f"nothing can be put into the quarantine folder `{path}`: it may not be written to")
        elif os.fstat(fd).st_mode & _OTHERS_MAY_WRITE:
            raise _others_may_write(path)
        else:
            _check_places(config, root, path)
    finally:
        os.close(fd)


_NONE = "there is no `quarantine` folder, and nothing is acted on without one"


def _open(path: Path) -> int:
    """Open a folder that is no link. Raises `OSError`, `ELOOP` for a link."""
    try:
        return os.open(path, LIST)
    except NotADirectoryError:
        if path.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from None
        raise


def _not_opened(path: Path, error: OSError) -> SourceError:
    return _unusable(f"the quarantine folder `{path}` can't be opened: {in_words(named(error))}")


def _others_may_write(path: Path) -> SourceError:
    return _unusable(f"others own the quarantine folder `{path}` or may write to it: what lies there must stay")


def _made_ready(fd: int, fds: list[int]) -> None:
    for name in (_PENDING, _KEPT):
        if not _is_there(fd, name):  # asked first: a full disk need not be able to make what is there
            with suppress(FileExistsError):
                disk.make_folder(fd, name)
                disk.settle(fd)
        fds.append(open_folder(fd, name, LIST))
    fds.append(os.open(_LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=fd))


def _locked(fd: int, *, alone: bool) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB if alone else fcntl.LOCK_SH)
    except BlockingIOError:
        return False
    return True


def _check(config: FilesConfig, root: Root, path: Path, fd: int) -> None:
    """Raise `SourceError` unless the folder is ours alone, on the device of the root, and outside of what is listed."""
    seen = os.fstat(fd)
    if seen.st_uid != os.geteuid() or seen.st_mode & _OTHERS_MAY_WRITE:
        raise _others_may_write(path)
    _check_places(config, root, path)


def _check_places(config: FilesConfig, root: Root, path: Path) -> None:
    """Raise `SourceError` unless everything that is moved to is on the device of the root, and outside of its lists."""
    real = Path(os.path.realpath(root.path))
    places = {"quarantine": path} if config.archive is None else {"quarantine": path, "archive": config.archive}
    for name, place in places.items():
        try:
            device = place.stat().st_dev
        except OSError as error:
            raise _unusable(f"the {name} folder `{place}` can't be looked at: {in_words(named(error))}") from None
        if device != root.device:
            detail = (
                f"the {name} folder `{place}` is on another device than `{root.path}`, so nothing can be moved there"
            )
            raise _unusable(detail)
        listed = lists(config, real, Path(os.path.realpath(place)))
        if listed is not None:
            raise _unusable(f"the {name} folder `{place}` lies in what `{listed}` lists")


def _unusable(detail: str) -> SourceError:
    return SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE, detail=detail))


def remove(entry: Entry) -> None:
    """Remove an object for good, with everything in it. Raises `OSError`."""
    try:
        seen = os.stat(OBJECT, dir_fd=entry.fd, follow_symlinks=False)
    except FileNotFoundError:
        return
    if stat.S_ISDIR(seen.st_mode):
        shutil.rmtree(OBJECT, dir_fd=entry.fd)
    else:
        disk.unlink(entry.fd, OBJECT)
    disk.settle(entry.fd)

"""One act on one object, and what every possible end of it means.

Guarantees: the object is moved to the quarantine folder first, looked at there, and only then is the act done; what
had taken its place since it was compared is put back, never over anything. Up to the move every failure leaves
everything as it was; behind it nobody knows, says so, and the next look finds out. Runs in the thread of its worker.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from fullcount.compiler.values import Cell
from fullcount.runtime.collect.coerce import coerce_cell
from fullcount.runtime.connectors.base import ActCall, ActResult, ErrorClass, Outcome
from fullcount.runtime.connectors.files import disk
from fullcount.runtime.connectors.files.config import Delete, FilesConfig, FilesResource
from fullcount.runtime.connectors.files.folders import Entry as Seen
from fullcount.runtime.connectors.files.folders import Troubles
from fullcount.runtime.connectors.files.looking_in import CHANGED, GONE
from fullcount.runtime.connectors.files.objects import FIELDS, Found, Mark
from fullcount.runtime.connectors.files.patterns import Parts, parts_of
from fullcount.runtime.connectors.files.quarantine import OBJECT, About, Entry, Purpose, Quarantine, remove
from fullcount.runtime.connectors.files.reader import goes_along, keeps_access, troubles_of
from fullcount.runtime.connectors.files.replies import FULL, Look, in_words, judge_write
from fullcount.runtime.connectors.files.root import LIST, Root, named
from fullcount.runtime.connectors.files.walk import found_at
from fullcount.runtime.connectors.sql.precondition import difference
from fullcount.runtime.evidence.codes import ActReason, Reason

_PURPOSES = {Delete.QUARANTINE: Purpose.KEEP, Delete.FOR_GOOD: Purpose.REMOVE}


class GiveUpError(Exception):
    """The act ends here, with nothing done."""

    def __init__(self, outcome: Outcome, detail: str = "", reason: ActReason | None = None) -> None:
        super().__init__(detail)
        self.result = ActResult(outcome, reason, detail)


class UnderWayError(Exception):
    """There is an entry of this very act already: another process is at it, or was ended while it was."""


def changed(detail: str) -> GiveUpError:
    """Return the end of an act on something that is not as it was seen."""
    return GiveUpError(Outcome.CHANGED, detail, ActReason.PRECONDITION_FAILED)


@dataclass(frozen=True, slots=True)
class Act:
    """One call, ready to run."""

    config: FilesConfig
    root: Root
    quarantine: Quarantine
    call: ActCall

    @property
    def settings(self) -> FilesResource:
        """What the configuration says of the resource."""
        return self.config.resources[self.call.resource.name]

    @property
    def path(self) -> str:
        """The path of the object."""
        return "/".join(self.parts)

    @property
    def parts(self) -> Parts:
        """The names of its path. Raises `GiveUpError` for what is no object of the resource."""
        key = self.call.key[0] if len(self.call.key) == 1 else None
        parts = parts_of(key) if isinstance(key, str) else None
        if parts is None or self.call.arguments.get("path", key) != key or not self.settings.holds(parts):
            raise GiveUpError(Outcome.REFUSED, "the call does not name an object of this resource")
        return parts

    def about(self, mark: Mark) -> About:
        """Return what this act is about."""
        purpose = Purpose.MOVE if self.call.operation == "move" else _PURPOSES[self.settings.delete or Delete.FOR_GOOD]
        kept = None if self.call.backup is None else self.call.backup.kept
        root, key = self.quarantine.root_path, self.call.idempotency_key
        return About(key, root, self.path, mark, purpose, kept)

    # -- away -------------------------------------------------------------------------------------------------------

    def away(self) -> ActResult:
        """Delete or move the object."""
        try:
            with self._failing("lstat"):
                found = self._as_expected()
                about = self.about(found.mark)
            return self._moved(about)
        except GiveUpError as given_up:
            return given_up.result

    def _as_expected(self) -> Found:
        """Return the object, if it is what was seen. Raises `GiveUpError`, `OSError`."""
        call = self.call
        if self.quarantine.is_kept(self.about(Mark("", 0, 0))):
            raise GiveUpError(Outcome.DONE, "it lies in the quarantine folder, under the key of this act")
        found = self._now()
        if found is None:
            raise GiveUpError(Outcome.ALREADY_GONE)
        types = FIELDS[self.settings.kind]
        now: dict[str, Cell] = {
            name: coerce_cell(types[name], *found.raw(name)) for name in {*call.expected, "path"} if name in types
        }
        other = difference(call, now)
        if other is not None:
            outcome = Outcome.CHANGED if other.verifiable else Outcome.REFUSED
            raise GiveUpError(outcome, other.detail, ActReason.PRECONDITION_FAILED)
        if call.backup is not None and whole(found) != call.backup.content:
            raise changed("it changed since its backup was taken")
        for what, number in goes_along(found).items():
            planned = 0 if call.closure is None else call.closure.get(what, 0)
            if number > planned:
                detail = f"more goes with it than was approved: {what}: {number}, and {planned} in the plan"
                outcome = Outcome.REFUSED if call.closure is None else Outcome.CHANGED
                raise GiveUpError(outcome, detail, ActReason.COLLATERAL_CHANGE)
        return found

    def _now(self) -> Found | None:
        """Look at what stands under the path. Raises `GiveUpError` for what is no such object, `OSError`."""
        found, troubles = None, troubles_of(self.root, self.config)
        with suppress(FileNotFoundError):
            found = found_at(self.root, self.parts, self.settings.kind, troubles, keeps_access=keeps_access(self.root))
        if isinstance(found, Seen):
            raise changed("something else stands under its path: a link, or something of another kind")
        if len(troubles.reasons) > 0:
            why = ", ".join(reason.detail for reason in troubles.reasons.values())
            raise GiveUpError(Outcome.REFUSED, f"not all of it can be looked at: {why}", ActReason.PRECONDITION_FAILED)
        return found

    def _moved(self, about: About) -> ActResult:
        """Move the object to the quarantine folder, and do there what is to be done."""
        with (
            self._failing("open"),
            self.root.folder(self.parts[:-1], LIST) as above,
            self._begun(about) as entry,
        ):
            self._take(entry, above)
            try:
                disk.settle(entry.fd, above)
                return self._finished(entry)
            except OSError as error:
                detail = f"it was moved to the quarantine folder, and then: {in_words(named(error))}"
                return ActResult(Outcome.UNKNOWN, ActReason.OUTCOME_UNKNOWN, detail)
        raise AssertionError

    @contextmanager
    def _begun(self, about: About) -> Iterator[Entry]:
        with ExitStack() as begun:
            try:
                entry = begun.enter_context(self.quarantine.begun(about))
            except FileExistsError:
                raise UnderWayError from None
            except OSError as error:
                raise self._judged("claim", error) from None
            yield entry

    def _take(self, entry: Entry, above: int) -> None:
        """Move the object, as the last thing before which nothing is done. Raises `GiveUpError`."""
        try:
            disk.rename(above, self.parts[-1], entry.fd, OBJECT)
        except FileNotFoundError:
            entry.drop()
            raise GiveUpError(Outcome.ALREADY_GONE) from None
        except OSError as error:
            given_up = self._judged("rename", error, began=True)
            if given_up.result.outcome is not Outcome.UNKNOWN:  # else the entry says what it was about
                entry.drop()
            raise given_up from None

    def _finished(self, entry: Entry) -> ActResult:
        """See that it is the object that was meant, and finish; else put it back. Raises `OSError`."""
        found = entry.found(self.root)
        if found is None or found.mark != entry.about.mark:
            return self._returned(entry, "another one had taken its place in the last instant")
        if entry.about.purpose is Purpose.KEEP:
            self.quarantine.keep(entry)
            return ActResult(Outcome.DONE, before={"quarantine": f"{entry.about.place}/{entry.about.name}"})
        if entry.about.purpose is Purpose.REMOVE:
            remove(entry)
            entry.drop()
            return ActResult(Outcome.DONE)
        try:
            with archived(self.config, self.parts[:-1], make=True) as there:
                disk.rename_to_free(entry.fd, OBJECT, there, self.parts[-1])
                disk.settle(there, entry.fd)
        except (FileExistsError, NotADirectoryError):
            return self._returned(entry, "something stands in its place in the archive")
        entry.drop()
        return ActResult(Outcome.DONE)

    def _returned(self, entry: Entry, why: str) -> ActResult:
        if self.quarantine.put_back(entry):
            return ActResult(Outcome.CHANGED, ActReason.PRECONDITION_FAILED, f"{why}; that was put back")
        detail = (
            f"{why}, and its own place was taken by then: it lies in `{self.config.quarantine}/pending/{entry.name}`"
        )
        return ActResult(Outcome.CHANGED, ActReason.PRECONDITION_FAILED, detail)

    # -- back -------------------------------------------------------------------------------------------------------

    def back(self, is_meant: Callable[[Mark], bool]) -> ActResult:
        """Bring the object back from the quarantine folder, or from the archive."""
        try:
            with self._failing("open"):
                return self._back(is_meant)
        except GiveUpError as given_up:
            return given_up.result
        raise AssertionError

    def _back(self, is_meant: Callable[[Mark], bool]) -> ActResult:
        try:
            folder = self.root.folder(self.parts[:-1], LIST)
            with folder as above:
                now = self.stands_there()
                if now is not None and not is_meant(now):
                    raise changed("something stands under its path again")
                if self.call.operation == "move_back":
                    return self._from_archive(above, is_meant, there=now is not None)
                return self._from_quarantine(above, is_meant, there=now is not None)
        except (FileNotFoundError, NotADirectoryError):
            raise GiveUpError(Outcome.REFUSED, "the folder that it lay in is not there any more") from None

    def stands_there(self) -> Mark | None:
        """Return the mark of what stands under the path; None: nothing does. Raises `OSError`."""
        troubles = Troubles(self.root.look, self.root.device)
        try:
            found = found_at(self.root, self.parts, self.settings.kind, troubles, keeps_access=True)
        except FileNotFoundError:
            return None
        return found.mark if isinstance(found, Found) else Mark("", 0, 0)

    def _from_quarantine(self, above: int, is_meant: Callable[[Mark], bool], *, there: bool) -> ActResult:
        with self.quarantine.kept_of(self.path, is_meant) as entry:
            found = None if entry is None else entry.found(self.root)
            if there:
                # a file that got its second name, and did not lose its first one, before its process was ended
                if entry is not None and found is not None and found.mark == self.stands_there():
                    disk.unlink(entry.fd, OBJECT)
                    entry.drop()
                return ActResult(Outcome.DONE, None, "it is there")
            if entry is None or found is None:
                raise GiveUpError(Outcome.REFUSED, GONE)
            if not is_meant(found.mark):
                raise GiveUpError(Outcome.REFUSED, CHANGED)
            self._return_to(above, entry.fd, OBJECT)
            with suppress(OSError):  # it is back; an empty entry is in nobody's way
                entry.drop()
        return ActResult(Outcome.DONE)

    def _from_archive(self, above: int, is_meant: Callable[[Mark], bool], *, there: bool) -> ActResult:
        if there:
            return ActResult(Outcome.DONE, None, "it is there")
        with archived(self.config, self.parts[:-1]) as archive:
            mark = in_archive(self, archive)
            if mark is None or not is_meant(mark):
                raise GiveUpError(Outcome.REFUSED, "it does not lie in the archive any more, or was changed there")
            self._return_to(above, archive, self.parts[-1])
        return ActResult(Outcome.DONE)

    def _return_to(self, above: int, fd: int, name: str) -> None:
        try:
            disk.rename_to_free(fd, name, above, self.parts[-1])
        except FileExistsError:
            raise changed("something stands under its path again") from None
        except OSError as error:
            raise self._judged("rename", error, began=True) from None
        disk.settle(above, fd)

    # -- what errors mean -------------------------------------------------------------------------------------------

    @contextmanager
    def _failing(self, operation: str) -> Iterator[None]:
        """Turn an error of the system, met before anything was moved, into the end of the act."""
        try:
            yield
        except OSError as error:
            raise self._judged(operation, error) from None

    @staticmethod
    def later(detail: str) -> GiveUpError:
        """Return the end of an act of which it is known that nothing was done, and that can be done later."""
        given_up = GiveUpError(Outcome.FAILED, detail)
        given_up.result = ActResult(Outcome.FAILED, None, detail, trouble=ErrorClass.TRANSIENT, later=True)
        return given_up

    def _judged(self, operation: str, error: OSError, *, began: bool = False) -> GiveUpError:
        if named(error) in FULL:
            where = f"`{self.config.quarantine}`" if operation == "claim" else f"the disk of `{self.root.path}`"
            return self.later(f"nothing was done: {where}: {in_words(named(error))}")
        judged = judge_write([Look(operation, f"{self.root.path}/{self.path}", error=named(error)), _LAST])
        detail = "; ".join(judged.details) or f"`{self.path}`: {named(error)}"
        given_up = GiveUpError(Outcome.FAILED, f"nothing was done: {detail}")
        if ActReason.PRECONDITION_FAILED in judged.reasons:
            given_up = changed(detail)
        elif began and ActReason.OUTCOME_UNKNOWN in judged.reasons:
            given_up = GiveUpError(Outcome.UNKNOWN, detail, ActReason.OUTCOME_UNKNOWN)
        elif Reason.VISIBILITY_RESTRICTED in judged.reasons:
            given_up.result = ActResult(
                Outcome.FAILED, None, f"nothing was done: {detail}", trouble=ErrorClass.PERMANENT
            )
        else:
            given_up.result = ActResult(
                Outcome.FAILED, None, f"nothing was done: {detail}", trouble=ErrorClass.TRANSIENT
            )
        return given_up


_LAST = Look("", "")
"""What follows a look that failed: that it was not the last one makes an object that is gone a changed one."""


@contextmanager
def archived(config: FilesConfig, parts: Parts, *, make: bool = False) -> Iterator[int]:
    """Open a folder of the archive, made if it is not there. Raises `OSError`."""
    if config.archive is None:
        msg = "there is no archive"
        raise FileNotFoundError(msg)
    fd = os.open(config.archive, LIST)
    try:
        for name in parts:
            if make:
                with suppress(FileExistsError):
                    disk.make_folder(fd, name)
                    disk.settle(fd)
            below = os.open(name, LIST, dir_fd=fd)
            os.close(fd)
            fd = below
        yield fd
    finally:
        os.close(fd)


def in_archive(act: Act, fd: int) -> Mark | None:
    """Return the mark of what lies in an open folder of the archive under the object's name. Raises `OSError`."""
    here = Root(fd, act.root.path, act.root.device, act.root.inode, act.root.look)
    troubles = Troubles(act.root.look, act.root.device)
    try:
        found = found_at(here, act.parts[-1:], act.settings.kind, troubles, keeps_access=True)
    except FileNotFoundError:
        return None
    return found.mark if isinstance(found, Found) else None


def whole(found: Found) -> dict[str, Any]:
    """Return the object as a backup names it: what is kept is the object itself, and this is what it was."""
    seen = found.stat
    rights = {"mode": f"{seen.st_mode:o}", "uid": seen.st_uid, "gid": seen.st_gid}
    return {"path": "/".join(found.parts), "mark": found.mark.document(), **rights}

"""Backups before acts: the whole object is stored, on the disk and under its digest, before anything is meant.

Guarantees: what is to be acted on with a backup is acted on only if the backup was stored; the intent names its digest,
and the connector writes only if the object still is what was stored, to the last field. An object that can't be read
whole, or stored, is left alone (FC788). Nothing here writes at a source.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from fullcount.compiler.program import Backup
from fullcount.runtime.act.actors import Actors
from fullcount.runtime.act.calls import CallsOf, backup_of
from fullcount.runtime.backups.files import BackupFailed, BackupFiles, BackupLost
from fullcount.runtime.connectors.base import ActCall, Outcome, SourceError, StoredBackup, TakesBackups
from fullcount.runtime.evidence.refusal import Finding
from fullcount.runtime.store.views import LedgerEntry, OutcomeEntry

if TYPE_CHECKING:
    from fullcount.runtime.act.group import Due, Item

NOT_STORED = "FC788"
"""The reason of an object that was left alone because no backup of it could be taken."""
LOST = "FC789"
"""The reason of an object that can't be restored: its backup is gone, changed, or out of its time."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BackingUp:
    """Takes the backups of one run. `kept`: of which steps, and for how long; None: the one operation of an act."""

    files: BackupFiles
    kept: Mapping[str | None, Backup]
    calls: CallsOf
    actors: Actors

    async def take(self, due: Sequence[Due]) -> tuple[list[Due], list[tuple[Item, OutcomeEntry]], Finding | None]:
        """Store every object that is due: those that are stored, the others with why not, and what stops the run.

        What is due to a step that keeps no backup passes as it is. Of the others it is for the caller to find out
        whether an earlier call did it after all.
        """
        taken = await asyncio.gather(*map(self._taken, due), return_exceptions=True)
        stored: list[Due] = []
        left: list[tuple[Item, OutcomeEntry]] = []
        stops: Finding | None = None
        for each, found in zip(due, taken, strict=True):
            if isinstance(found, OutcomeEntry):
                left.append((each.item, found))
            elif isinstance(found, BackupFailed):
                stops = Finding(code=found.code, message=found.message, ways_on=(found.help,))
            elif isinstance(found, BaseException):
                raise found
            else:
                stored.append(replace(each, backup=found))
        return stored, left, stops

    async def _taken(self, due: Due) -> StoredBackup | OutcomeEntry | None:
        row = due.item.row
        kept = self.kept.get(row.step_label)
        if kept is None:
            return None
        actor = self.actors.of(row)
        call = self.calls.of(row).call(due.item.planned, due.arguments, due.expected, "")
        try:
            content = await actor.back_up(call) if isinstance(actor, TakesBackups) else None
        except SourceError as error:
            return _left(row.key, f"the whole object could not be read: {error.reason.detail or error.reason.code}")
        if content is None:
            if isinstance(actor, TakesBackups):
                return OutcomeEntry(row.key, Outcome.ALREADY_GONE, "gone", "it went before its backup was taken")
            return _left(row.key, "its source can't hand out a whole object")
        sha256 = await asyncio.to_thread(self.files.put, content)
        before = None if due.item.intent is None else backup_of(due.item.intent.parameters)
        if due.item.intent is not None and (before is None or before.sha256 != sha256):
            detail = "the object was changed after an act on it was meant and before it was made"
            return OutcomeEntry(row.key, Outcome.CHANGED, None, detail)
        return StoredBackup(sha256, kept.kept, content)


def _left(key: tuple[Any, ...], why: str) -> OutcomeEntry:
    return OutcomeEntry(key, Outcome.REFUSED, NOT_STORED, f"no backup could be taken of it: {why}")


def with_content(call: ActCall, files: BackupFiles) -> ActCall:
    """Return a recorded call with what its backup holds; as it is if that is lost: then nothing can be told."""
    if call.backup is None or not call.resource.operations[call.operation].restores:
        return call
    try:
        return replace(call, backup=replace(call.backup, content=files.get(call.backup.sha256)))
    except BackupLost:
        return call


@dataclass(frozen=True, slots=True)
class Unrestorable:
    """Why an object can't be restored. `for_good`: no later try can change that."""

    detail: str
    for_good: bool


def restorable(entry: LedgerEntry, files: BackupFiles, now: datetime) -> StoredBackup | Unrestorable:
    """Return the backup that an act took, whole, or why the object can't be restored from it."""
    backup = backup_of(entry.parameters)
    if backup is None or entry.intent_at is None:
        return Unrestorable("the record of the act names no backup", for_good=True)
    until = kept_until(entry.intent_at, backup.kept)
    if now >= until:
        said = f"its backup was kept until {until:%Y-%m-%d %H:%M} UTC, and is no longer used"
        return Unrestorable(said, for_good=True)
    try:
        return replace(backup, content=files.get(backup.sha256))
    except BackupLost as lost:
        return Unrestorable(f"{lost.message} ({LOST})", for_good=False)  # the folder may be put back


def past_restoring(acts: Iterable[LedgerEntry], now: datetime) -> bool:
    """Whether of all that was done only backups could bring something back, and the time of each of them is over."""
    done = [each for each in acts if each.outcome is Outcome.DONE and each.intent_at is not None]
    return len(done) > 0 and all(_is_over(each, now) for each in done)


def _is_over(entry: LedgerEntry, now: datetime) -> bool:
    backup = backup_of(entry.parameters)
    return backup is not None and entry.intent_at is not None and now >= kept_until(entry.intent_at, backup.kept)


def kept_until(intent_at: datetime, kept: int) -> datetime:
    """Return until when a backup of an act is kept."""
    try:
        return intent_at + timedelta(microseconds=kept)
    except OverflowError:
        return datetime.max.replace(tzinfo=intent_at.tzinfo)


def without_backup(parameters: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return recorded parameters but for the backup, which is taken anew when an act is gone on with."""
    return None if parameters is None else {name: value for name, value in parameters.items() if name != "backup"}

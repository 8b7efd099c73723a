"""Whether an object that was restored is what it was before the act: field by field, and as its backup holds it.

Left out is what a restore can't bring back: the version, which a source moves on with every write, unless the restore
itself sets it (the commit of a branch); and what the source says that it sets of itself. What can't be read is never
the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from fullcount.compiler.program import Inventory
from fullcount.compiler.values import Cell, FieldState, Row
from fullcount.runtime.act.actors import Actors
from fullcount.runtime.act.calls import Calls, CallsOf, backup_of
from fullcount.runtime.act.earlier import took_effect
from fullcount.runtime.act.group import Item
from fullcount.runtime.act.recheck import Planned, as_asked
from fullcount.runtime.backups.files import BackupFiles, BackupLost
from fullcount.runtime.connectors.base import Existence, SourceReader, TakesBackups
from fullcount.runtime.store.views import LedgerEntry

_NOT_GIVEN: Final = Cell(FieldState.NOT_REQUESTED, None)
_KNOWN: Final = (FieldState.PRESENT, FieldState.ABSENT)


@dataclass(frozen=True, slots=True)
class Unlike:
    """Why an object is not what it was; nothing: it is. `unknown`: that could not be told."""

    why: str | None = None
    unknown: bool = False


async def unlike_before(
    reader: SourceReader, restore: Calls, given: Collection[str], base: Inventory, planned: Planned, before: Row
) -> Unlike:
    """Compare an object with what the record of the act says that it was. Raises `SourceError`.

    `restore` is what brought it back, and `given` the arguments that it was given.
    """
    left_out = restore.operation.sets_anew | ({base.version} - set(given))
    names = tuple(name for name in before if name not in left_out)
    reading = await reader.read(restore.base, planned.key, names)
    match reading.existence:
        case Existence.UNKNOWN:
            return Unlike("the source does not tell whether the object is there", unknown=True)
        case Existence.GONE:
            return Unlike("it is not there")
        case _:
            pass
    live = as_asked({name: reading.cells.get(name, _NOT_GIVEN) for name in names}, base)
    unknown = [name for name in names if live[name] != before[name] and live[name].state not in _KNOWN]
    if len(unknown) > 0:
        return Unlike(f"{_listed(unknown)} can't be read", unknown=True)
    differing = [name for name in names if live[name] != before[name]]
    return Unlike(f"{_listed(differing)} differs") if len(differing) > 0 else Unlike()


async def unlike_backup(restore: LedgerEntry, item: Item, calls: CallsOf, actors: Actors, files: BackupFiles) -> Unlike:
    """Compare an object, whole, with the backup that it was restored from. Raises `SourceError`."""
    actor, kept = actors.of(item.row), backup_of(restore.parameters)
    if kept is None or restore.parameters is None or not isinstance(actor, TakesBackups):
        return Unlike("its source can't hand out a whole object", unknown=True)
    now = await actor.back_up(calls.of(item.row).recorded(item.planned, restore.parameters, ""))
    if now is None:
        return Unlike("it is not there")
    # the source knows what it sets of itself, which no restore can bring back
    if await took_effect(restore, item.row, item.planned, calls, actors, files) is True:
        return Unlike()
    try:
        before = files.get(kept.sha256)
    except BackupLost as lost:
        return Unlike(lost.message, unknown=True)
    return Unlike(f"{_listed(sorted(_differing(before, now)))} differs from its backup")


def _differing(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the members that differ, of the object itself where it stands within."""
    for name in {*before, *now}:
        one, other = before.get(name), now.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            yield from (each for each in {*one, *other} if one.get(each) != other.get(each))
        elif one != other:
            yield name


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "something"

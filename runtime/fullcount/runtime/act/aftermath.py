"""Whether an object is still as an act left it: the same incarnation, the fields that the act set with that value, the
others as they were before it, and a version that nobody else moved on.

After a deletion, nothing stands under its key. Undoing asks this before it takes anything back, and a canary before the
rest of a plan goes on. What can't be told is never taken for "as it was left".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from fullcount.compiler.program import Inventory
from fullcount.compiler.values import Cell, FieldState, Row, Value, present
from fullcount.runtime.act.calls import Calls
from fullcount.runtime.act.recheck import Planned, as_asked, fields_to_read
from fullcount.runtime.connectors.base import Existence, SourceError, SourceReader
from fullcount.runtime.store.views import LedgerEntry


class Aftereffect(StrEnum):
    """What became of an object since the act."""

    AS_LEFT = "as_left"
    GONE = "gone"
    CHANGED = "changed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Aftermath:
    """What became of it, in words, and what was read of it; nothing was after a deletion."""

    left: Aftereffect
    detail: str = ""
    live: Row = field(default_factory=dict)


_NOT_GIVEN = Cell(FieldState.NOT_REQUESTED, None)


async def aftermath(
    reader: SourceReader, acted: Calls, base: Inventory, planned: Planned, entry: LedgerEntry
) -> Aftermath:
    """Read the object and compare. `acted` makes the calls of the act, `entry` is what the ledger holds of it."""
    if entry.parameters is None:
        return Aftermath(Aftereffect.UNKNOWN, "the record of the act does not say what was done")
    before = acted.expected(entry.parameters)
    call = acted.recorded(planned, entry.parameters, "")
    written = acted.written(call.arguments)
    wanted = tuple(dict.fromkeys((*fields_to_read(base), *written)))
    try:
        reading = await reader.read(acted.base, planned.key, wanted)
    except SourceError as error:
        return Aftermath(Aftereffect.UNKNOWN, f"the object could not be read: {error.reason.code}")
    deleted = acted.deletes
    match reading.existence:
        case Existence.UNKNOWN:
            return Aftermath(Aftereffect.UNKNOWN, "the source does not tell whether the object is there")
        case Existence.GONE if not deleted:
            return Aftermath(Aftereffect.GONE, "the object is no longer there")
        case Existence.FOUND if deleted:
            return Aftermath(Aftereffect.CHANGED, "an object stands under its key again")
        case _:
            pass
    if deleted:
        return Aftermath(Aftereffect.AS_LEFT)
    live = as_asked({name: reading.cells.get(name, _NOT_GIVEN) for name in wanted}, base)
    untold = acted.operation.name if acted.sets_more else None
    return _compared(base, before, written, live, moves=1 if acted.own else 0, untold=untold)


def _compared(
    base: Inventory, before: Row, written: Mapping[str, Value], live: Row, *, moves: int, untold: str | None
) -> Aftermath:
    """`moves`: by how many steps the act alone may have moved the version on.

    `untold`: the operation, where nobody says which other fields it sets, so that what differs may be its own doing.
    """
    name = base.incarnation
    if name is not None:
        if live[name].state is not FieldState.PRESENT or name not in before:
            return Aftermath(
                Aftereffect.UNKNOWN, f"`{name}` is not known, so this may be another object under the same key"
            )
        if live[name] != before[name]:
            return Aftermath(Aftereffect.CHANGED, f"another object under the same key: `{name}` differs")
    for name, value in written.items():
        if live[name].state not in (FieldState.PRESENT, FieldState.ABSENT):
            return Aftermath(Aftereffect.UNKNOWN, f"`{name}` is not known: {live[name].state}")
        if live[name] != present(value):
            return Aftermath(Aftereffect.CHANGED, f"`{name}` was changed after the act")
    version = base.version
    for name in (n for n in before if n not in written and n != version and n in live):
        if live[name].state not in (FieldState.PRESENT, FieldState.ABSENT):
            return Aftermath(Aftereffect.UNKNOWN, f"`{name}` is not known: {live[name].state}")
        if live[name] != before[name]:
            return _moved(f"`{name}` was changed after the act", untold)
    if version is not None and version in before and not _as_far(before[version], live.get(version), moves):
        return _moved(f"`{version}` moved on: somebody wrote to the object after the act", untold)
    return Aftermath(Aftereffect.AS_LEFT, live=live)


def _moved(detail: str, untold: str | None) -> Aftermath:
    if untold is None:
        return Aftermath(Aftereffect.CHANGED, detail)
    say = f"or by it: nobody says which fields `{untold}` sets, which `sets` of the operation in fullcount.toml could"
    return Aftermath(Aftereffect.UNKNOWN, f"{detail}, {say}")


def _as_far(before: Cell, live: Cell | None, moves: int) -> bool:
    """Whether a version is where the act alone would have left it: moved by so many at most, where it counts steps."""
    if moves == 0:
        return live == before
    if live is None or not isinstance(before.value, int) or not isinstance(live.value, int):
        return True  # not a counter: the fields themselves were compared
    return live.value - before.value in (0, moves)

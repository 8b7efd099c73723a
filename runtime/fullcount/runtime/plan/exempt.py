"""Exemption lists as they bear on one plan: which entries hold today, which have ended, which match nothing.

An entry protects through the day it expires (UTC). One that has ended, matches no object or can't be a key of this
inventory is never dropped in silence: it becomes a note of the plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from fullcount.compiler import program
from fullcount.compiler.types import Kind, Scalar, Type
from fullcount.compiler.values import Value
from fullcount.runtime.plan.cells import NotOfTypeError, from_json
from fullcount.runtime.plan.errors import PlanError
from fullcount.runtime.workspace.exemptions import Exemption

_NAMED = 5


@dataclass(frozen=True, slots=True)
class Holding:
    """An entry that holds, with the canonical key that it protects."""

    list_name: str
    entry: Exemption
    key: tuple[Value, ...]

    @property
    def reason(self) -> str:
        """Why its object is kept."""
        return f"exempted by list `{self.list_name}` until {self.entry.expires.isoformat()}"


@dataclass(frozen=True, slots=True)
class Exemptions:
    """The entries that hold, in order of the lists, and notes on those that do not."""

    holding: tuple[Holding, ...]
    notes: tuple[str, ...]


def exemptions_of(
    workflow: program.Workflow,
    proposal: program.Proposal,
    lists: Mapping[str, Sequence[Exemption]],
    today: date,
) -> Exemptions:
    """Sort the entries of the lists that the proposal names. Raises `PlanError` for a list that was not handed over."""
    inventory = workflow.inventories[proposal.inventory]
    types = [inventory.fields[name].type for name in inventory.key]
    holding: list[Holding] = []
    notes: list[str] = []
    for name in dict.fromkeys(e.list_name for e in proposal.excepts if e.list_name is not None):
        if name not in lists:
            raise PlanError("FC913", f"the exemption list `{name}` was not read: it can't be taken as empty")
        ended: list[Exemption] = []
        foreign: list[Exemption] = []
        for entry in lists[name]:
            if entry.workflow is not None and entry.workflow != workflow.name:
                continue
            key = _as_key(entry.key, types)
            if not entry.holds_on(today):
                ended.append(entry)
            elif key is None:
                foreign.append(entry)
            else:
                holding.append(Holding(name, entry, key))
        notes += _note(name, ended, "ended and protects no longer", ends=True)
        notes += _note(name, foreign, f"can't be a key of `{inventory.name}`")
    return Exemptions(tuple(holding), tuple(notes))


def unused_notes(unused: Iterable[Holding]) -> list[str]:
    """Return notes on entries whose key no object of the inventory has."""
    by_list: dict[str, list[Exemption]] = {}
    for held in unused:
        by_list.setdefault(held.list_name, []).append(held.entry)
    return [
        note for name, entries in by_list.items() for note in _note(name, entries, "matches no object that was read")
    ]


def _note(name: str, entries: Sequence[Exemption], what: str, *, ends: bool = False) -> list[str]:
    if len(entries) == 0:
        return []
    named = [f"`{_key(entry)}`" + (f" ({entry.expires.isoformat()})" if ends else "") for entry in entries[:_NAMED]]
    if len(entries) > _NAMED:
        named.append(f"and {len(entries) - _NAMED} more")
    number = "1 entry" if len(entries) == 1 else f"{len(entries)} entries"
    what = what if len(entries) == 1 else what.replace("matches no", "match no").replace("protects no", "protect no")
    return [f"list `{name}`: {number} {what}: {', '.join(named)}"]


def _key(entry: Exemption) -> str:
    return " / ".join(map(str, entry.key))


def _as_key(parts: Sequence[str | int], types: Sequence[Type]) -> tuple[Value, ...] | None:
    """Read a written key by the types of the inventory's key; `42` and `"42"` are the same, so that either protects."""
    if len(parts) != len(types):
        return None
    try:
        return tuple(_as_value(part, of) for part, of in zip(parts, types, strict=True))
    except NotOfTypeError:
        return None


def _as_value(part: str | int, of: Type) -> Value:
    match of, part:
        case Scalar(kind=Kind.TEXT | Kind.DECIMAL), int():
            return from_json(str(part), of)
        case Scalar(kind=Kind.INT | Kind.SIZE), str():
            try:
                return int(part)
            except ValueError as error:
                raise NotOfTypeError(of, part) from error
        case Scalar(kind=Kind.BOOL), str() if part in {"true", "false"}:
            return part == "true"
        case _:
            return from_json(part, of)

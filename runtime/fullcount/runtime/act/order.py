"""In which order the objects of a plan go: those that refer to others before these, and each only if they went.

Guarantees: two objects of which one has to go first are never acted on at the same time, and the other one is acted on
only when the first is gone. Objects that don't refer to each other stay in the order of the plan, those of steps that
are rehearsed before the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fullcount.runtime import format as fmt
from fullcount.runtime.act.group import Item, Left
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.plan.document import PlanRow
from fullcount.runtime.store.views import LedgerEntry, OutcomeEntry

NOT_BEFORE = "FC797"
"""The reason of an object that stays because one that had to go before it did not go."""

_GONE = frozenset({Outcome.DONE, Outcome.ALREADY_GONE})


def waves(items: Sequence[Item]) -> list[list[Item]]:
    """Return the objects in waves, each of which has to be over before the next begins; one wave, usually."""
    by_key = {item.row.key: item for item in items}
    depths: dict[tuple[Any, ...], int] = {}
    for key in by_key:
        _depth(key, by_key, depths)
    found: list[list[Item]] = [[] for _ in range(max(depths.values(), default=0) + 1)]
    for item in items:
        found[depths[item.row.key]].append(item)
    return [wave for wave in found if len(wave) > 0]


def _depth(start: tuple[Any, ...], items: Mapping[tuple[Any, ...], Item], depths: dict[tuple[Any, ...], int]) -> None:
    """Work out how many have to go before an object, one after another. A plan has no circles."""
    open_ = [start]
    while len(open_) > 0:
        key = open_[-1]
        before = [child for child in first_of(items[key].row) if child in items]
        waiting = [child for child in before if child not in depths]
        if len(waiting) > 0 and len(open_) <= len(items):
            open_ += waiting
            continue
        open_.pop()
        depths[key] = max((depths.get(child, 0) + 1 for child in before), default=0)


def rehearsed_first(items: Sequence[Item], rehearsed: Sequence[str | None]) -> list[Item]:
    """Return the objects with those first whose step is rehearsed, of several steps in turn: the canary begins there.

    So a canary has one of each such step to be restored, even where most of a plan is at other steps.
    """
    turns = {step: [item for item in items if item.row.step_label == step] for step in rehearsed}
    most = max((len(each) for each in turns.values()), default=0)
    first = [each[number] for number in range(most) for each in turns.values() if number < len(each)]
    return [*first, *(item for item in items if item.row.step_label not in turns)]


def first_of(row: PlanRow) -> tuple[tuple[Any, ...], ...]:
    """Return the objects that have to go before one."""
    return () if row.closure is None else row.closure.first


def still_there(row: PlanRow, ledger: Sequence[LedgerEntry]) -> Left | None:
    """Return why an object has to stay: one that refers to it did not go; None if all did."""
    outcomes = {entry.object_key: entry.outcome for entry in ledger}
    for key in first_of(row):
        if outcomes.get(key) not in _GONE:
            detail = f"`{fmt.key(key, 40)}` refers to it, has to go first, and did not go"
            return Left(OutcomeEntry(row.key, Outcome.REFUSED, NOT_BEFORE, detail))
    return None

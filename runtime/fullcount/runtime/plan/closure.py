"""What goes with the objects of a plan, and in which order they have to go.

Guarantees: an object whose deletion takes others along stays a candidate only if the workflow lets them go, and counts
them against its limit; no object of the plan's own kind goes along that the rule did not select itself; objects that
refer to each other in a circle are not acted on at all. What leaves the plan this way is undecided, with the reason.
Pure: what goes along was looked up before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from fullcount.runtime import format as fmt
from fullcount.runtime.plan.caps import caps_for, written_percent
from fullcount.runtime.plan.digest import sealed
from fullcount.runtime.plan.document import ClosureDoc, PlanDocument, PlanRow, UndecidedRow

Key = tuple[Any, ...]


class Along:
    """What goes with one object, its keys in JSON as in a plan. See `ClosureFound`."""

    def __init__(self, counts: Mapping[str, int], own: Sequence[Key], first: Sequence[Key]) -> None:
        self.counts, self.own, self.first = dict(counts), tuple(own), tuple(first)


def with_closures(
    document: PlanDocument,
    found: Mapping[Key, Along],
    *,
    cascading: frozenset[str | None],
    previous: PlanDocument | None,
) -> PlanDocument:
    """Return the plan with what goes along. `found` is of the rows that delete.

    `cascading`: the steps with which the workflow lets it go; None: the one operation of an act.
    """
    if all(len(each.counts) + len(each.own) + len(each.first) == 0 for each in found.values()):
        return document
    rows = {row.key: row for row in document.rows}
    out: dict[Key, str] = {}
    for key, each in found.items():
        if len(each.counts) > 0 and rows[key].step_label not in cascading:
            out[key] = _not_allowed(each, rows[key].step_label)
    _leave_what_takes_others(rows, found, out)
    _leave_circles(rows, found, out)
    _leave_what_takes_others(rows, found, out)
    kept = tuple(_with_closure(row, found, out) for row in document.rows if row.key not in out)
    undecided = [UndecidedRow(key=key, missing=(why,), step=rows[key].step_label) for key, why in out.items()]
    return _sealed(document, kept, undecided, previous)


def _not_allowed(along: Along, step: str | None) -> str:
    who = "the act" if step is None else f"step `{step}`"
    return f"what goes with it ({_counted(along.counts)}): {who} does not say `cascades within limit`"


def _leave_what_takes_others(rows: Mapping[Key, PlanRow], found: Mapping[Key, Along], out: dict[Key, str]) -> None:
    """Leave out each object that takes another one of its kind along that is not deleted itself, and so on up.

    Another step than the deletion may be due to that one: then it was to be warned, and not to go.
    """
    again = True
    while again:
        again = False
        for key, along in found.items():
            other = next((each for each in along.own if each not in found or each in out), None)
            if key in rows and key not in out and other is not None:
                does = "which this plan does not delete" if other in rows else "on which this plan does not act"
                out[key] = f"takes along `{fmt.key(other, 40)}`, {does}"
                again = True


def _leave_circles(rows: Mapping[Key, PlanRow], found: Mapping[Key, Along], out: dict[Key, str]) -> None:
    """Leave out objects of which none can go first."""
    left = {
        key: {child for child in along.first if child in found and child not in out and child != key}
        for key, along in found.items()
        if key in rows and key not in out
    }
    while True:
        free = [key for key, children in left.items() if not children & left.keys()]
        if len(free) == 0:
            break
        for key in free:
            del left[key]
    for key in left:
        out[key] = "it and others of this plan refer to each other in a circle, so that none can go first"


def _with_closure(row: PlanRow, found: Mapping[Key, Along], out: Mapping[Key, str]) -> PlanRow:
    along = found.get(row.key)
    if along is None:
        return row
    first = tuple(sorted((key for key in along.first if key in found and key not in out and key != row.key), key=repr))
    if len(along.counts) == 0 and len(first) == 0:
        return row
    notes = row.notes
    if len(along.counts) > 0:
        notes += (f"takes along {fmt.count(sum(along.counts.values()))}: {_counted(along.counts)}",)
    if len(first) > 0:
        notes += (f"after {', '.join(fmt.key(key, 40) for key in first[:3])}{' and others' if len(first) > 3 else ''}",)
    return row.model_copy(update={"closure": ClosureDoc(counts=along.counts, first=first), "notes": notes})


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{what} {fmt.count(number)}" for what, number in sorted(counts.items()))


def _sealed(
    document: PlanDocument, rows: tuple[PlanRow, ...], undecided: list[UndecidedRow], previous: PlanDocument | None
) -> PlanDocument:
    sums = document.sums
    update: dict[str, Any] = {
        "rows": rows,
        "undecided": tuple(sorted((*document.undecided, *undecided), key=lambda row: tuple(map(str, row.key)))),
        "sums": sums.model_copy(update={"candidates": len(rows), "undecided": sums.undecided + len(undecided)}),
    }
    if document.since is not None and previous is not None:
        before, after = {row.key for row in previous.rows}, {row.key for row in rows}
        update["since"] = document.since.model_copy(update={"new": len(after - before), "gone": len(before - after)})
    made = document.model_copy(update=update)
    total: Counter[str] = Counter()
    for row in rows:
        total.update({} if row.closure is None else row.closure.counts)
    caps = document.caps
    update = {"caps": caps_for(caps.count, written_percent(caps), sums.inventory, made.taken)}
    if len(total) > 0:
        note = f"{fmt.count(total.total())} go along and count against the limit: {_counted(total)}"
        update["notes"] = (*document.notes, note)
    return sealed(made.model_copy(update=update))

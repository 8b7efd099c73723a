"""Which step of a graduated act is due for which object, tonight.

Guarantees: a selected object gets the first step, or the one that follows the last step done to it, and that only once
its time has passed; one whose clock ran for another incarnation, or that had stopped to qualify in between, starts
again from the first step; one that is proven to qualify no longer is released, also after its last step unless that
deleted it; what is unknown of an object changes nothing of its clock. Where objects have no incarnation, a clock is
bound to the version of its object instead, and each change begins it anew. `place` decides for one object and is pure;
`graduate` asks it for all.

It must never read the store: where each object stands is handed in, with the instant of the store's time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from fullcount.compiler import program
from fullcount.compiler.program import RELEASE
from fullcount.compiler.types import FieldType
from fullcount.compiler.values import Row, Value
from fullcount.runtime.plan.cells import from_json, to_json
from fullcount.runtime.plan.document import ClockBegan, ClockEnded, ClocksDoc, StepDoc, StepsDoc, WaitingRow
from fullcount.runtime.plan.evaluate import FINISHED, RELEASED, Evaluation, waits_for

_MICROSECOND: Final = timedelta(microseconds=1)

SELECTED: Final = "candidate"
LET_GO: Final = frozenset({"rule", "listed", "excepted", "floor"})
"""Classes of objects that are proven not to be selected, and that may be acted on to release them."""
PROTECTED: Final = "protected"
AWAY: Final = "outside"
UNREAD: Final = "unread"
"""The class of an object that was not read, where not all were: it may be there."""

NOT_SELECTED: Final = "no longer qualifies"
RECREATED: Final = "another object stands under its key"
CHANGED: Final = "it was changed since, and starts again"
AGAIN: Final = "it had stopped to qualify, and starts again"
NO_SUCH_STEP: Final = "its last step is no longer part of the act"
KEPT_BY_PROTECTION: Final = "protected by the workspace"
NOT_READ: Final = "no longer read: it is gone, or out of scope"
COMPLETE: Final = "no longer qualifies, after its last step"


@dataclass(frozen=True, slots=True)
class Clock:
    """Where an object stands: `step` was done last, at `since`; None: first selected then. `lapsed`: not since then.

    `incarnation` is its version where the resource has no incarnation.
    """

    key: tuple[Any, ...]
    incarnation: str
    step: str | None
    since: datetime
    lapsed: bool = False


@dataclass(frozen=True, slots=True)
class Clocks:
    """Every running clock of a graduated act, and the instant of the store's time that all of them are held against."""

    at: datetime
    running: tuple[Clock, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """What follows for one object. `due`: this step; `waiting`: that step later; neither: it is left as it is.

    `begins`: its clock starts at the plan; `lapses`: it no longer qualifies; `ends`: its clock ends, and why.
    """

    due: StepDoc | None = None
    waiting: StepDoc | None = None
    finished: bool = False
    begins: bool = False
    lapses: bool = False
    ends: str | None = None
    unknown: bool = False


def place(
    act: program.Act,
    verdict: str,
    incarnation: str | None,
    clock: Clock | None,
    at: datetime,
    *,
    by_version: bool = False,
) -> Place:
    """Return what follows for one object.

    `verdict` is its class (`plan/evaluate.py`), `outside` for one that was not read and `unread` where it may yet be
    there; `incarnation` None: not known. `by_version`: it is the version that stands for it.
    """
    if verdict == SELECTED:
        return _selected(act, incarnation, clock, at, CHANGED if by_version else RECREATED)
    if clock is None:
        return Place()
    if verdict == AWAY:
        return Place(ends=NOT_READ)
    if incarnation is None or verdict not in LET_GO | {PROTECTED}:
        return Place()  # unknown is never "no longer"
    if clock.incarnation != incarnation and not by_version:
        return Place(ends=RECREATED)  # with another version it is the same object, and a change is why it is let go
    if verdict == PROTECTED:
        return Place(ends=KEPT_BY_PROTECTION)
    return _let_go(act, clock)


def _selected(act: program.Act, incarnation: str | None, clock: Clock | None, at: datetime, when_another: str) -> Place:
    if incarnation is None:
        return Place(unknown=True)
    labels = [step.label for step in act.steps]
    why = None
    if clock is not None:
        if clock.incarnation != incarnation:
            why = when_another
        elif clock.lapsed:
            why = AGAIN
        elif clock.step is not None and clock.step not in labels:
            why = NO_SUCH_STEP
        else:
            return _next(act, clock, at)
    first = act.steps[0]
    if first.after > 0:
        return Place(waiting=StepDoc(label=first.label, since=at, due=_later(at, first.after)), begins=True)
    return Place(due=StepDoc(label=first.label), ends=why)


def _next(act: program.Act, clock: Clock, at: datetime) -> Place:
    labels = [step.label for step in act.steps]
    number = 0 if clock.step is None else labels.index(clock.step) + 1
    if number == len(labels):
        return Place(finished=True)
    step = act.steps[number]
    due = _later(clock.since, step.after)
    doc = StepDoc(label=step.label, before=clock.step, since=clock.since, due=due)
    return Place(due=doc) if at >= due else Place(waiting=doc)


def _let_go(act: program.Act, clock: Clock) -> Place:
    if clock.step is None:
        return Place(ends=NOT_SELECTED)
    last = act.steps[-1]
    if act.release is None or (clock.step == last.label and last.call.deletes):
        return Place(ends=COMPLETE if clock.step == last.label else NOT_SELECTED)
    return Place(due=StepDoc(label=RELEASE, before=clock.step, since=clock.since), lapses=not clock.lapsed)


def _later(at: datetime, microseconds: int) -> datetime:
    return at + microseconds * _MICROSECOND


# -- for all objects --------------------------------------------------------------------------------------------------

Key = tuple[Value, ...]


@dataclass(slots=True)
class Graduated:
    """What is due for whom. `unknown`: selected objects whose incarnation is not known, with its state in words."""

    at: datetime
    due: dict[Key, StepDoc] = field(default_factory=dict)
    unknown: dict[Key, str] = field(default_factory=dict)
    selected: int = 0
    finished: int = 0
    waiting: list[WaitingRow] = field(default_factory=list)
    began: list[ClockBegan] = field(default_factory=list)
    lapsed: list[tuple[Any, ...]] = field(default_factory=list)
    ended: list[ClockEnded] = field(default_factory=list)

    def steps_doc(self) -> StepsDoc:
        """Return the part of the plan that says what is not done tonight."""
        return StepsDoc(selected=self.selected, waiting=tuple(self.waiting), finished=self.finished)

    def clocks_doc(self) -> ClocksDoc:
        """Return what the store is to keep of it."""
        return ClocksDoc(at=self.at, began=tuple(self.began), lapsed=tuple(self.lapsed), ended=tuple(self.ended))


def graduate(evaluation: Evaluation, inventory: program.Inventory, act: program.Act, clocks: Clocks) -> Graduated:
    """Decide for every object what is due, and put the others aside in the evaluation."""
    found = Graduated(clocks.at)
    types = [inventory.fields[name].type for name in inventory.key]
    by_version = inventory.incarnation is None
    running = {tuple(from_json(p, t) for p, t in zip(c.key, types, strict=True)): c for c in clocks.running}
    aside: dict[str, list[Key]] = {}
    for key, verdict, cells in _objects(evaluation, list(running)):
        incarnation = mark(inventory.clock_mark, evaluation.fields, cells)
        clock = running.get(key)
        written = tuple(to_json(part, of) for part, of in zip(key, types, strict=True))
        placed = place(act, verdict, incarnation, clock, clocks.at, by_version=by_version)
        if verdict == SELECTED:
            found.selected += 1
        if placed.unknown:
            state = cells[str(inventory.clock_mark)].state.value.replace("_", " ")
            found.unknown[key] = f"{'version' if by_version else 'incarnation'} {inventory.clock_mark}: {state}"
        if placed.due is not None:
            found.due[key] = placed.due
            if by_version:
                runs_for = clock.incarnation if clock is not None and placed.due.label == RELEASE else incarnation
                found.due[key] = placed.due.model_copy(update={"mark": runs_for})
            if placed.due.label == RELEASE:
                aside.setdefault(RELEASED, []).append(key)
        if placed.waiting is not None:
            found.waiting.append(WaitingRow(key=written, step=placed.waiting))
            aside.setdefault(waits_for(placed.waiting.label), []).append(key)
        if placed.finished:
            found.finished += 1
            aside.setdefault(FINISHED, []).append(key)
        if placed.begins:
            found.began.append(ClockBegan(key=written, incarnation=str(incarnation)))
        if placed.lapses:
            found.lapsed.append(written)
        if placed.ends is not None:
            found.ended.append(ClockEnded(key=written, because=placed.ends))
    evaluation.put_aside(aside)
    return found


def _objects(evaluation: Evaluation, keys: Sequence[Key]) -> Iterator[tuple[Key, str, Row]]:
    """Yield each selected object, and each other one whose clock runs, with its class and what was read of it."""
    selected = set()
    for item in evaluation.candidates():
        selected.add(item.key)
        yield item.key, SELECTED, item.cells
    rest = [key for key in keys if key not in selected]
    classed = evaluation.classes_of(rest)
    for key in rest:
        verdict, cells = classed.get(key, (AWAY if evaluation.complete else UNREAD, {}))
        yield key, verdict, cells


def mark(name: str | None, fields: Mapping[str, FieldType], cells: Row) -> str | None:
    """Return a version or incarnation as text; None if the resource has none or it is not known."""
    if name is None or name not in cells:
        return None
    cell = cells[name]
    return None if cell.value is None else str(to_json(cell.value, fields[name].type))

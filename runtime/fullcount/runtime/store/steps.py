"""The clocks of graduated acts: which step was done to an object last, and when, by the store's time.

Guarantees: an object stands in one place at a time; it moves on only with the recorded outcome of the very step that
follows, and back only with an undo or the restore of a rehearsal; no intent of a step is recorded before its clock, nor
when the object stands elsewhere than its plan says; an object that no longer qualified never goes on where it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Row, bindparam, func, select
from sqlalchemy.orm import Session

from fullcount.compiler.program import RELEASE
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.journal.entry import canonical_text, parse_canonical
from fullcount.runtime.journal.payloads import StepBegan, StepEnded, StepMoved, StepsMoved, StepsSeen
from fullcount.runtime.plan.document import PlanDocument, PlanRow
from fullcount.runtime.store import tables
from fullcount.runtime.store.instants import from_micros, said, to_micros
from fullcount.runtime.store.transaction import Transaction
from fullcount.runtime.store.views import ActKind, StepCount, StepRow, StepStanding

OPEN, LAPSED, ENDED = (standing.value for standing in StepStanding)

RELEASED: Final = "released"
GONE: Final = "gone"
TAKEN_BACK: Final = "taken back"


PlanObjectRow = Row[Any]
"""A row of `plan_objects`, columns by name."""

_OBJECTS: Final = select(tables.PlanObject.__table__).where(
    tables.PlanObject.plan_id == bindparam("plan"), tables.PlanObject.object_key.in_(bindparam("keys", expanding=True))
)


def listed(row: PlanRow) -> dict[str, Any]:
    """Return the columns of a plan's object that say which step is due; nothing where the act has no steps."""
    step = row.step
    if step is None:
        return {}
    return {
        "step": step.label,
        "incarnation": row.incarnation if step.mark is None else step.mark,
        "before_step": step.before,
        "since_at": None if step.since is None else to_micros(step.since),
        "due_at": None if step.due is None else to_micros(step.due),
    }


def running(session: Session, workflow: str, proposal: str) -> tuple[StepRow, ...]:
    """Return every clock of a proposal that has not ended, by key."""
    columns = tables.StepState
    query = select(columns).where(columns.workflow == workflow, columns.proposal == proposal, columns.state != ENDED)
    return tuple(_row(row) for row in session.scalars(query.order_by(columns.object_key)))


def counts(session: Session, workflow: str | None) -> tuple[StepCount, ...]:
    """Return how many objects stand at which step."""
    columns = tables.StepState
    place = (columns.workflow, columns.proposal, columns.step, columns.state)
    query = select(*place, func.count(), func.min(columns.since_at)).where(columns.state != ENDED)
    if workflow is not None:
        query = query.where(columns.workflow == workflow)
    found = session.execute(
        query.group_by(*place).order_by(columns.workflow, columns.proposal, func.min(columns.since_at))
    )
    return tuple(StepCount(w, p, step, StepStanding(state), n, from_micros(at)) for w, p, step, state, n, at in found)


# -- what a plan found ------------------------------------------------------------------------------------------------


def seen(tx: Transaction, document: PlanDocument) -> None:
    """Keep what a plan found: clocks that begin, lapse and end. What moved since it looked is left as it is."""
    clocks = document.clocks
    if clocks is None:
        return
    at = to_micros(clocks.at)
    known = {
        row.object_key: row
        for row in tx.session.scalars(
            select(tables.StepState).where(
                tables.StepState.workflow == document.workflow, tables.StepState.proposal == document.proposal
            )
        )
    }

    def unmoved(key: tuple[Any, ...]) -> bool:
        row = known.get(canonical_text(list(key)))
        return row is None or row.changed_at <= at

    began = tuple(StepBegan(key=each.key, incarnation=each.incarnation) for each in clocks.began if unmoved(each.key))
    lapsed = tuple(key for key in clocks.lapsed if unmoved(key))
    ended = tuple(StepEnded(key=each.key, because=each.because) for each in clocks.ended if unmoved(each.key))
    if len(began) + len(lapsed) + len(ended) == 0:
        return
    for end in ended:
        _existing(known, end.key).state = ENDED
        _existing(known, end.key).ended_because = end.because
    for key in lapsed:
        _existing(known, key).state = LAPSED
    for begin in began:
        values = {"state": OPEN, "step": None, "since_at": at, "incarnation": begin.incarnation, "ended_because": None}
        _put(tx, document, canonical_text(list(begin.key)), known, values)
    for key in (*(each.key for each in began), *lapsed, *(each.key for each in ended)):
        _existing(known, key).changed_at = tx.now
    tx.session.flush()
    tx.record(
        StepsSeen(
            plan_id=document.plan_id,
            workflow=document.workflow,
            proposal=document.proposal,
            at=at,
            began=began,
            lapsed=lapsed,
            ended=ended,
        ),
        run_id=document.run_id,
    )


def _existing(known: Mapping[str, tables.StepState], key: tuple[Any, ...]) -> tables.StepState:
    return known[canonical_text(list(key))]


def _put(
    tx: Transaction,
    place: PlanDocument | tables.Plan,
    object_key: str,
    known: dict[str, tables.StepState],
    values: Mapping[str, Any],
) -> None:
    row = known.get(object_key)
    if row is None:
        row = tables.StepState(workflow=place.workflow, proposal=place.proposal, object_key=object_key)
        known[object_key] = row
        tx.session.add(row)
    for name, value in {**values, "plan_id": place.plan_id, "changed_at": tx.now}.items():
        setattr(row, name, value)


# -- before an act ----------------------------------------------------------------------------------------------------


def in_the_way(
    session: Session, plan: tables.Plan, rows: Iterable[PlanObjectRow], kind: ActKind, now: int
) -> dict[str, str]:
    """Return why the step of listed objects may not be taken now (or taken back), for each for which that is so."""
    due = [row for row in rows if row.step is not None]
    if len(due) == 0:
        return {}
    stands = _states(session, plan, [row.object_key for row in due])
    found = {}
    for row in due:
        state = stands.get(row.object_key)
        why = _in_the_way(row, state, kind, now)
        if why is not None:
            found[row.object_key] = why
    return found


def _in_the_way(row: PlanObjectRow, state: tables.StepState | None, kind: ActKind, now: int) -> str | None:
    match kind:
        case ActKind.ACT:
            return _not_due(row, state, now)
        case ActKind.UNDO | ActKind.REHEARSE_UNDO:
            return _not_last(row, state)
        case ActKind.REHEARSE_AGAIN:
            return _not_put_back(row, state)


def _not_due(row: PlanObjectRow, state: tables.StepState | None, now: int) -> str | None:
    if state is not None and state.state == ENDED:
        state = None
    if row.due_at is not None and now < row.due_at:
        return f"step `{row.step}` is due from {said(row.due_at)} on"
    if row.since_at is None:
        return None if state is None else _elsewhere(row, state)
    if state is None:
        return f"its clock ended since the plan, so step `{row.step}` is not due"
    stands = (state.step, state.since_at, state.incarnation) == (row.before_step, row.since_at, row.incarnation)
    if not stands:
        return _elsewhere(row, state)
    if state.state == LAPSED and row.step != RELEASE:
        return f"it no longer qualified since the plan, so step `{row.step}` is not due"
    return None


def _not_last(row: PlanObjectRow, state: tables.StepState | None) -> str | None:
    if state is None or state.plan_id != row.plan_id or state.step != row.step or state.state == ENDED:
        return f"step `{row.step}` is not the last one that was done to it"
    return None


def _not_put_back(row: PlanObjectRow, state: tables.StepState | None) -> str | None:
    """Return why an object does not stand where the restore of a rehearsal put it, or no longer qualifies."""
    if state is None or (state.plan_id, state.step) != (row.plan_id, row.before_step) or state.state == LAPSED:
        return f"it does not stand where its rehearsal put it, so step `{row.step}` is not due again"
    if state.state == ENDED and state.ended_because != TAKEN_BACK:
        return f"its clock ended since it was restored, so step `{row.step}` is not due again"
    return None


def _elsewhere(row: PlanObjectRow, state: tables.StepState) -> str:
    at = "has no step done" if state.step is None else f"had step `{state.step}`"
    return f"it {at} at {said(state.since_at)}, which the plan did not know, so step `{row.step}` is not due"


# -- after an act -----------------------------------------------------------------------------------------------------


def moved(tx: Transaction, plan: tables.Plan, run_id: str, kind: ActKind, ends: Mapping[str, str]) -> None:
    """Move the objects whose acts came to an end: `ends` are outcomes by object key."""
    rows = {key: row for key, row in objects(tx.session, plan.plan_id, list(ends)).items() if row.step is not None}
    if len(rows) == 0:
        return
    known = _states(tx.session, plan, list(rows))
    moves: list[StepMoved] = []
    for key, row in rows.items():
        state = known.get(key)
        stands = state is not None and state.state != ENDED
        place = _place(row, Outcome(ends[key]), kind, stands=stands)
        if place is None:
            continue
        step, ended = place
        incarnation = row.incarnation or ""
        values = {"incarnation": incarnation, "step": step, "since_at": tx.now, "ended_because": ended}
        standing = standing_after(ended, None if state is None else state.state)
        _put(tx, plan, key, known, {**values, "state": standing})
        moves.append(StepMoved(key=tuple(parse_canonical(key)), incarnation=incarnation, step=step, ended=ended))
    if moves:
        tx.session.flush()
        tx.record(StepsMoved(plan_id=plan.plan_id, kind=kind.value, moved=tuple(moves)), run_id=run_id)


def _place(
    row: PlanObjectRow, outcome: Outcome, kind: ActKind, *, stands: bool
) -> tuple[str | None, str | None] | None:
    """Return where an object stands after an act, as the step that is done and why its clock ended; None: as before."""
    match kind, outcome:
        case ActKind.ACT, Outcome.DONE if row.step == RELEASE:
            return row.before_step, RELEASED
        case ActKind.ACT | ActKind.REHEARSE_AGAIN, Outcome.DONE:
            return row.step, None
        case ActKind.ACT | ActKind.REHEARSE_AGAIN, Outcome.ALREADY_GONE if stands:
            return row.before_step, GONE
        case ActKind.UNDO | ActKind.REHEARSE_UNDO, Outcome.DONE:
            return row.before_step, TAKEN_BACK if row.before_step is None else None
        case _:
            return None


def standing_after(ended: str | None, before: str | None) -> str:
    """Return how a clock stands after an act: one that had lapsed is still to be released."""
    if ended is not None:
        return ENDED
    return LAPSED if before == LAPSED else OPEN


def objects(session: Session, plan_id: str, keys: Sequence[str]) -> dict[str, PlanObjectRow]:
    """Return the objects among these that a plan lists, by key, each with the step that is due."""
    found = session.execute(_OBJECTS, {"plan": plan_id, "keys": list(keys)})
    return {row.object_key: row for row in found}


def _states(session: Session, plan: tables.Plan, keys: Sequence[str]) -> dict[str, tables.StepState]:
    query = select(tables.StepState).where(
        tables.StepState.workflow == plan.workflow,
        tables.StepState.proposal == plan.proposal,
        tables.StepState.object_key.in_(keys),
    )
    return {row.object_key: row for row in session.scalars(query)}


def _row(row: tables.StepState) -> StepRow:
    return StepRow(
        object_key=tuple(parse_canonical(row.object_key)),
        incarnation=row.incarnation,
        standing=StepStanding(row.state),
        step=row.step,
        since=from_micros(row.since_at),
        plan_id=row.plan_id,
        ended_because=row.ended_because,
    )

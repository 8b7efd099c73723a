"""What was done and not taken back: by a run, or to an object, whichever plan did it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.journal.entry import canonical_text, parse_canonical
from fullcount.runtime.offline.rehearsals import counts_as
from fullcount.runtime.store import rehearsals, tables, undone
from fullcount.runtime.store.views import ActKind


@dataclass(frozen=True, slots=True)
class DoneAct:
    """One object that a plan acted on. `undone`: it was taken back since."""

    plan_id: str
    workflow: str
    object_key: tuple[Any, ...]
    undone: bool


def of_run(session: Session, run_id: str) -> tuple[DoneAct, ...]:
    """Return what a run did: the objects whose acts it meant."""
    return _done(session, tables.Act.intent_run_id == run_id)


def of_plan(session: Session, plan_id: str) -> tuple[DoneAct, ...]:
    """Return what a plan did."""
    return _done(session, tables.Act.plan_id == plan_id)


def of_object(session: Session, keys: Sequence[Sequence[Any]]) -> tuple[DoneAct, ...]:
    """Return what was done to the object that one of these keys is of, the latest plan first."""
    return _done(session, tables.Act.object_key.in_([canonical_text(list(key)) for key in keys]))


def _done(session: Session, condition: Any) -> tuple[DoneAct, ...]:
    act, plan = tables.Act, tables.Plan
    query = (
        select(act.plan_id, plan.workflow, act.object_key)
        .join(plan, plan.plan_id == act.plan_id)
        .where(condition, act.kind == ActKind.ACT.value, act.outcome == Outcome.DONE.value)
        .order_by(plan.position.desc(), act.object_key)
    )
    found = session.execute(query).all()
    ids = sorted({row.plan_id for row in found})
    ends = rehearsals.ends_of(session, ids)
    done = {key for key, each in ends.items() if counts_as(each) == Outcome.DONE.value}
    taken_back = undone.done_of(session, ids)
    return tuple(
        DoneAct(
            row.plan_id,
            row.workflow,
            tuple(parse_canonical(row.object_key)),
            (row.plan_id, row.object_key) in taken_back,
        )
        for row in found
        if (row.plan_id, row.object_key) not in ends or (row.plan_id, row.object_key) in done
    )

"""Slots: each planned instant of a schedule is one row, so that it is run once, however many services look at it."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import insert, or_, select, update
from sqlalchemy.orm import Session

from fullcount.runtime.journal.payloads import SlotFinished, SlotTaken
from fullcount.runtime.store import tables
from fullcount.runtime.store.errors import StoreError
from fullcount.runtime.store.instants import from_micros, to_micros
from fullcount.runtime.store.transaction import Transaction, new_id
from fullcount.runtime.store.views import SlotRow

CLAIMED, FINISHED, SKIPPED = "claimed", "finished", "skipped"


def claim(
    tx: Transaction, workflow: str, planned_at: datetime, holder: str, *, local_day: str | None, skipped: str | None
) -> str | None:
    """Take a slot and return its id; None when it, or its local day, was taken before.

    `skipped`: why the slot is not run; it is then recorded as such, so that a missed night shows.
    """
    planned = to_micros(planned_at)
    taken = tables.Slot.planned_at == planned
    if local_day is not None:
        taken = or_(taken, tables.Slot.local_day == local_day)
    if tx.session.scalar(select(tables.Slot.slot_id).where(tables.Slot.workflow == workflow, taken).limit(1)):
        return None
    slot_id = new_id()
    state = CLAIMED if skipped is None else SKIPPED
    slot = SlotTaken(
        slot_id=slot_id,
        workflow=workflow,
        planned_at=planned,
        local_day=local_day,
        state=state,
        holder=holder,
        detail=skipped or "",
    )
    tx.session.execute(
        insert(tables.Slot).values(
            **slot.model_dump(), claimed_at=tx.now, finished_at=None if skipped is None else tx.now
        )
    )
    tx.record(slot)
    return slot_id


def finish(tx: Transaction, slot_id: str, detail: str) -> None:
    """Record that the run of a slot has ended. Raises `StoreError` when the slot is not being run."""
    slot = tx.session.get(tables.Slot, slot_id)
    if slot is None or slot.state != CLAIMED:
        raise StoreError("FC734", f"the slot `{slot_id}` is not being run")
    tx.session.execute(
        update(tables.Slot)
        .where(tables.Slot.slot_id == slot_id)
        .values(state=FINISHED, finished_at=tx.now, detail=detail)
    )
    tx.record(SlotFinished(slot_id=slot_id, detail=detail))


def recent(session: Session, workflow: str | None, limit: int) -> tuple[SlotRow, ...]:
    """Return the latest planned instants, newest first."""
    query = select(tables.Slot).order_by(tables.Slot.planned_at.desc()).limit(limit)
    if workflow is not None:
        query = query.where(tables.Slot.workflow == workflow)
    return tuple(
        SlotRow(
            slot_id=slot.slot_id,
            workflow=slot.workflow,
            planned_at=from_micros(slot.planned_at),
            local_day=slot.local_day,
            state=slot.state,
            holder=slot.holder,
            claimed_at=from_micros(slot.claimed_at),
            finished_at=None if slot.finished_at is None else from_micros(slot.finished_at),
            detail=slot.detail,
        )
        for slot in session.scalars(query)
    )

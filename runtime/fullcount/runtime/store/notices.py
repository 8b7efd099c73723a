"""Notices: kept in the transaction that ends their run, and sent from there, each at most once.

Guarantees: one notice for each run, event and target; nobody sends one that another is sending; one whose sender died
before it said what came of it ends as `unknown` and is never sent again; an end is final.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from sqlalchemy import insert, or_, select
from sqlalchemy.orm import Session

from fullcount.runtime.events import Notice
from fullcount.runtime.journal.entry import canonical_text, parse_canonical
from fullcount.runtime.journal.payloads import NoticeMoved, NoticeQueued
from fullcount.runtime.plan.digest import sha256_text
from fullcount.runtime.store import runs, tables
from fullcount.runtime.store.errors import StoreError
from fullcount.runtime.store.instants import from_micros
from fullcount.runtime.store.transaction import Transaction, new_id
from fullcount.runtime.store.views import NoticeRow, NoticeState

SENDER_DIES: Final = timedelta(minutes=5)
"""How long a notice may be on its way before whoever sends it is taken for dead."""
BACK_OFF: Final = tuple(timedelta(minutes=m) for m in (1, 5, 15, 60))
"""How long to wait before the second, third, … try; after the last one it has failed."""
_DETAIL: Final = 500
_MICROSECOND: Final = timedelta(microseconds=1)


def queue(tx: Transaction, run_id: str, workflow: str, notices: Sequence[Notice]) -> None:
    """Keep what is to be told of a run that ends in this transaction."""
    for notice in notices:
        body = canonical_text(dict(notice.body))
        queued = NoticeQueued(
            notice_id=new_id(),
            workflow=workflow,
            event=notice.event,
            target=notice.target,
            title=notice.title,
            sha256=sha256_text(body.encode()),
        )
        tx.session.execute(
            insert(tables.Notice).values(
                **queued.model_dump(),
                run_id=run_id,
                body=body,
                state=NoticeState.PENDING.value,
                attempts=0,
                next_at=tx.now,
                detail="",
                queued_at=tx.now,
                changed_at=tx.now,
            )
        )
        tx.record(queued, run_id=run_id)


def take(tx: Transaction) -> NoticeRow | None:
    """Take the oldest notice that is due, to be sent by the caller alone; None when there is none."""
    columns = tables.Notice
    lost = select(columns).where(columns.state == NoticeState.SENDING.value, columns.next_at <= tx.now)
    for row in tx.session.scalars(lost.order_by(columns.notice_id)):
        _move(tx, row, NoticeState.UNKNOWN, None, "whoever sent it ended before saying what came of it")
    due = select(columns).where(columns.state == NoticeState.PENDING.value, columns.next_at <= tx.now)
    row_or_none = tx.session.scalars(due.order_by(columns.notice_id).limit(1)).first()
    if row_or_none is None:
        return None
    row_or_none.attempts += 1
    _move(tx, row_or_none, NoticeState.SENDING, tx.now + SENDER_DIES // _MICROSECOND, row_or_none.detail)
    return _row(row_or_none)


def ended(tx: Transaction, notice_id: str, state: NoticeState, detail: str) -> NoticeRow:
    """Record what came of a notice that was taken. `failed`: it is tried again, as often as it may be."""
    row = tx.session.get(tables.Notice, notice_id)
    if row is None or row.state != NoticeState.SENDING.value:
        raise StoreError("FC733", f"the notice `{notice_id}` is not being sent")
    next_at = None
    if state is NoticeState.FAILED and row.attempts <= len(BACK_OFF):
        state, next_at = NoticeState.PENDING, tx.now + BACK_OFF[row.attempts - 1] // _MICROSECOND
    _move(tx, row, state, next_at, detail[:_DETAIL])
    return _row(row)


def of_run(session: Session, run_id: str) -> tuple[NoticeRow, ...]:
    """Return the notices of a run."""
    query = select(tables.Notice).where(tables.Notice.run_id == run_id).order_by(tables.Notice.notice_id)
    return tuple(_row(row) for row in session.scalars(query))


def of_runs(session: Session, limit: int, workflow: str | None) -> tuple[NoticeRow, ...]:
    """Return the notices of the latest runs, oldest first."""
    latest = [row.run_id for row in runs.recent(session, limit, workflow)]
    query = select(tables.Notice).where(tables.Notice.run_id.in_(latest)).order_by(tables.Notice.notice_id)
    return tuple(_row(row) for row in session.scalars(query))


def is_due(session: Session, now: int) -> bool:
    """Whether a notice is to be sent, or its sender taken for dead."""
    columns = tables.Notice
    open_ = or_(columns.state == NoticeState.PENDING.value, columns.state == NoticeState.SENDING.value)
    return session.scalars(select(columns.notice_id).where(open_, columns.next_at <= now).limit(1)).first() is not None


def _move(tx: Transaction, row: tables.Notice, state: NoticeState, next_at: int | None, detail: str) -> None:
    row.state, row.next_at, row.detail, row.changed_at = state.value, next_at, detail, tx.now
    tx.session.flush()
    moved = NoticeMoved(
        notice_id=row.notice_id, state=state.value, attempts=row.attempts, next_at=next_at, detail=detail
    )
    tx.record(moved, run_id=row.run_id)


def _row(row: tables.Notice) -> NoticeRow:
    return NoticeRow(
        notice_id=row.notice_id,
        run_id=row.run_id,
        workflow=row.workflow,
        event=row.event,
        target=row.target,
        title=row.title,
        body=parse_canonical(row.body),
        state=NoticeState(row.state),
        attempts=row.attempts,
        next_at=None if row.next_at is None else from_micros(row.next_at),
        detail=row.detail,
        queued_at=from_micros(row.queued_at),
    )

"""Warnings in the store: of each inventory and code when it was first seen, and how many readings in a row had it."""

from __future__ import annotations

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from fullcount.runtime.journal.payloads import EnvelopeKept
from fullcount.runtime.journal.replay_warnings import rows_after
from fullcount.runtime.store import tables
from fullcount.runtime.store.instants import from_micros
from fullcount.runtime.store.transaction import Transaction
from fullcount.runtime.store.views import WarningRow


def take(tx: Transaction, said: EnvelopeKept) -> None:
    """Take a reading into account that is kept in this transaction."""
    table = tables.SeenWarning
    ours = (table.workflow == said.workflow, table.inventory == said.inventory)
    before = {
        row.code: {column.key: getattr(row, column.key) for column in table.__table__.columns}
        for row in tx.session.scalars(select(table).where(*ours))
    }
    for code, row in rows_after(before, said, tx.now).items():
        if code not in before:
            tx.session.execute(insert(table).values(**row))
        elif row != before[code]:
            tx.session.execute(update(table).where(*ours, table.code == code).values(**row))


def find(session: Session, workflow: str | None, inventory: str | None = None) -> tuple[WarningRow, ...]:
    """Return the warnings that the last readings came with, those that came most often first."""
    table = tables.SeenWarning
    query = select(table).where(table.runs > 0).order_by(table.runs.desc(), table.workflow, table.inventory, table.code)
    if workflow is not None:
        query = query.where(table.workflow == workflow)
    if inventory is not None:
        query = query.where(table.inventory == inventory)
    return tuple(
        WarningRow(
            workflow=row.workflow,
            inventory=row.inventory,
            resource=row.resource,
            code=row.code,
            owner=row.owner,
            first_seen=from_micros(row.first_seen_at),
            since=from_micros(row.since_at),
            last_seen=from_micros(row.last_seen_at),
            runs=row.runs,
        )
        for row in session.scalars(query.execution_options(populate_existing=True))
    )

"""Appending to the journal, inside the transaction of the change that is recorded.

Guarantees: no gap, no fork. The head's row is locked for the whole transaction (SQLite: the transaction began as a
writer), so the next `seq` and `prev` can't be taken twice. Nothing here can change or remove an entry.
"""

from __future__ import annotations

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from fullcount.runtime.journal.entry import Head, canonical_text, entry_hash
from fullcount.runtime.journal.payloads import Payload
from fullcount.runtime.store.tables import JournalEntry, JournalHead


def locked_head(session: Session) -> Head:
    """Return the head and hold it until the transaction ends."""
    row = session.execute(select(JournalHead.seq, JournalHead.hash).with_for_update()).one()
    return Head(seq=row.seq, hash=row.hash)


def read_head(session: Session) -> Head:
    """Return the head without holding it."""
    row = session.execute(select(JournalHead.seq, JournalHead.hash)).one()
    return Head(seq=row.seq, hash=row.hash)


def append(session: Session, head: Head, payload: Payload, *, at: int, run_id: str | None) -> Head:
    """Write the entry after `head`, which this transaction holds, and return the new head."""
    data, kind = payload.model_dump(mode="json"), payload.KIND
    seq = head.seq + 1
    digest = entry_hash(seq=seq, at=at, kind=kind, run_id=run_id, payload=data, prev=head.hash)
    session.execute(
        insert(JournalEntry).values(
            seq=seq, at=at, kind=kind, run_id=run_id, payload=canonical_text(data), prev=head.hash, hash=digest
        )
    )
    session.execute(update(JournalHead).where(JournalHead.id == 1).values(seq=seq, hash=digest))
    return Head(seq=seq, hash=digest)

"""Appending to the journal, inside the transaction of the change that is recorded.

Guarantees: no gap, no fork. The head's row is locked for the whole transaction (SQLite: the transaction began as a
writer), so the next `seq` and `prev` can't be taken twice. Nothing here can change or remove an entry.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.orm import Session

from fullcount.runtime.journal.entry import Head, canonical_text, entry_hash
from fullcount.runtime.journal.payloads import Payload
from fullcount.runtime.store.errors import StoreUnavailable
from fullcount.runtime.store.tables import JournalEntry, JournalHead

_HEAD: Final = select(JournalHead.seq, JournalHead.hash).where(JournalHead.id == 1)

_LOCKED: Final = _HEAD.with_for_update()
_ENTRY: Final = insert(JournalEntry.__table__)  # type: ignore[arg-type]
_MOVE: Final = (
    update(JournalHead.__table__)  # type: ignore[arg-type]
    .where(JournalHead.id == 1)
    .values(seq=bindparam("to"), hash=bindparam("stands_for"))
)


def locked_head(session: Session) -> Head:
    """Return the head and hold it until the transaction ends. Raises `StoreUnavailable` when there is none."""
    row = session.execute(_LOCKED).one_or_none()
    if row is None:
        raise StoreUnavailable(
            "FC740", "the journal has no head, so nothing can be recorded", help="look at it: `fullcount verify`"
        )
    return Head(seq=row.seq, hash=row.hash)


def read_head(session: Session) -> Head | None:
    """Return the head without holding it; None only when somebody removed it."""
    row = session.execute(_HEAD).one_or_none()
    return None if row is None else Head(seq=row.seq, hash=row.hash)


def append(session: Session, head: Head, payload: Payload, *, at: int, run_id: str | None) -> Head:
    """Write the entry after `head`, which this transaction holds, and return the new head."""
    text, kind = canonical_text(payload), payload.KIND
    seq = head.seq + 1
    digest = entry_hash(seq=seq, at=at, kind=kind, run_id=run_id, payload=text, prev=head.hash)
    entry = {"seq": seq, "at": at, "kind": kind, "run_id": run_id, "payload": text, "prev": head.hash, "hash": digest}
    connection = session.connection()
    connection.execute(_ENTRY, entry)
    connection.execute(_MOVE, {"to": seq, "stands_for": digest})
    return Head(seq=seq, hash=digest)

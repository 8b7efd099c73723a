"""A writing transaction: the session, the instant that holds for all of it, and the only way into the journal.

Every change of state goes through one of these, so that change and journal entry are committed together or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session
from ulid import ULID

from fullcount.runtime.journal.append import append
from fullcount.runtime.journal.entry import Head
from fullcount.runtime.journal.payloads import Payload


@dataclass(slots=True)
class Transaction:
    """`now` is the store's time in microseconds; `head` moves with each entry."""

    session: Session
    now: int
    head: Head

    def record(self, payload: Payload, *, run_id: str | None = None) -> int:
        """Append a journal entry and return its number."""
        self.head = append(self.session, self.head, payload, at=self.now, run_id=run_id)
        return self.head.seq


def new_id() -> str:
    """Return a fresh identifier (ULID: sorts by time of making)."""
    return str(ULID())

"""The kill switch: while it is on, no intent is recorded, so that nothing is acted upon, anywhere."""

from __future__ import annotations

from sqlalchemy import delete, insert
from sqlalchemy.orm import Session

from fullcount.runtime.approve.identity import Person
from fullcount.runtime.journal.payloads import HaltLifted, HaltSet
from fullcount.runtime.store import tables
from fullcount.runtime.store.errors import Halted
from fullcount.runtime.store.runs import who
from fullcount.runtime.store.transaction import Transaction

_HALT = "halt"


def halt(tx: Transaction, reason: str, by: Person) -> None:
    """Stop all acting. Halting twice keeps the first reason in force and records the second."""
    if tx.session.get(tables.Control, _HALT) is None:
        tx.session.execute(
            insert(tables.Control).values(name=_HALT, reason=reason, by_uid=by.uid, by_name=by.name, set_at=tx.now)
        )
    tx.record(HaltSet(reason=reason, by=who(by)))


def resume(tx: Transaction, by: Person) -> None:
    """Allow acting again."""
    tx.session.execute(delete(tables.Control).where(tables.Control.name == _HALT))
    tx.record(HaltLifted(by=who(by)))


def halted(session: Session) -> str | None:
    """Return why acting is halted, with by whom; None when it is not."""
    control = session.get(tables.Control, _HALT)
    return None if control is None else f"{control.reason} ({control.by_name})"


def check(session: Session) -> None:
    """Raise `Halted` while the switch is on."""
    reason = halted(session)
    if reason is not None:
        raise Halted(
            "FC722", f"all acting is halted: {reason}", help="look into the cause before acting is allowed again"
        )

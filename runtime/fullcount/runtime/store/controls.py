"""What stops acting: the kill switch for everything, and the pause of one workflow.

Guarantees: while the switch is on, no intent is recorded, so that nothing is acted upon, anywhere, and nothing is taken
back; while a workflow is paused, no intent to act is recorded for it, and taking back is still possible. A workflow is
paused by its name, so that a plan made meanwhile is held as well.
"""

from __future__ import annotations

from sqlalchemy import delete, insert
from sqlalchemy.orm import Session

from fullcount.runtime.approve.identity import Person
from fullcount.runtime.journal.expected import pause_control
from fullcount.runtime.journal.payloads import HaltLifted, HaltSet, PauseLifted, PauseSet
from fullcount.runtime.store import tables
from fullcount.runtime.store.errors import Halted
from fullcount.runtime.store.runs import who
from fullcount.runtime.store.transaction import Transaction
from fullcount.runtime.typed import argument

_HALT = "halt"


def halt(tx: Transaction, reason: str, by: Person) -> None:
    """Stop all acting. Halting twice keeps the first reason in force and records the second."""
    _set(tx, _HALT, reason, by)
    tx.record(HaltSet(reason=reason, by=who(by)))


def resume(tx: Transaction, by: Person) -> None:
    """Allow acting again."""
    _lift(tx, _HALT)
    tx.record(HaltLifted(by=who(by)))


def pause(tx: Transaction, workflow: str, reason: str, by: Person) -> None:
    """Let nothing further be acted on for a workflow. The first reason stays in force, as for the switch."""
    _set(tx, pause_control(workflow), reason, by)
    tx.record(PauseSet(workflow=workflow, reason=reason, by=who(by)))


def unpause(tx: Transaction, workflow: str, by: Person) -> None:
    """Allow a workflow to act again."""
    _lift(tx, pause_control(workflow))
    tx.record(PauseLifted(workflow=workflow, by=who(by)))


def halted(session: Session) -> str | None:
    """Return why acting is halted, with by whom; None when it is not."""
    return _reason(session, _HALT)


def paused(session: Session, workflow: str) -> str | None:
    """Return why a workflow is paused, with by whom; None when it is not."""
    return _reason(session, pause_control(workflow))


def check(session: Session) -> None:
    """Raise `Halted` while the switch is on."""
    reason = halted(session)
    if reason is not None:
        raise Halted(
            "FC722", f"all acting is halted: {reason}", help="look into the cause before acting is allowed again"
        )


def check_workflow(session: Session, workflow: str) -> None:
    """Raise `Halted` while the workflow is paused."""
    reason = paused(session, workflow)
    if reason is not None:
        raise Halted(
            "FC785",
            f"the workflow `{workflow}` is paused: {reason}",
            help=f"when its cause is gone   fullcount pause {argument(workflow)} --release",
        )


def _set(tx: Transaction, name: str, reason: str, by: Person) -> None:
    if tx.session.get(tables.Control, name) is None:
        tx.session.execute(
            insert(tables.Control).values(name=name, reason=reason, by_uid=by.uid, by_name=by.name, set_at=tx.now)
        )


def _lift(tx: Transaction, name: str) -> None:
    tx.session.execute(delete(tables.Control).where(tables.Control.name == name))


def _reason(session: Session, name: str) -> str | None:
    control = session.get(tables.Control, name)
    return None if control is None else f"{control.reason} ({control.by_name})"

"""Runs: one row per try to plan, apply or undo, begun before anything else and finished whatever happens."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import insert, or_, select, update
from sqlalchemy.orm import Session

from fullcount.runtime.approve.identity import Person
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.journal.entry import canonical_text, parse_canonical
from fullcount.runtime.journal.payloads import RunBegan, RunFinished, Who
from fullcount.runtime.store import tables
from fullcount.runtime.store.errors import StoreError
from fullcount.runtime.store.instants import from_micros
from fullcount.runtime.store.transaction import Transaction, new_id
from fullcount.runtime.store.views import Paused, RunKind, RunRow

RUNNING = "running"
SETTLED = "settled"
"""A run that acted on nothing, and found out what came of acts of an earlier one."""
PAUSED = "paused"
"""A run that only time is needed for; its summary says from when on: `resumes_at`."""


def begin(tx: Transaction, workflow: str, kind: RunKind, by: Person, plan_id: str | None, slot_id: str | None) -> str:
    """Record that a run begins, and return its id."""
    run_id = new_id()
    tx.session.execute(
        insert(tables.Run).values(
            run_id=run_id,
            workflow=workflow,
            kind=kind.value,
            by_uid=by.uid,
            by_name=by.name,
            plan_id=plan_id,
            slot_id=slot_id,
            started_at=tx.now,
            state=RUNNING,
        )
    )
    began = RunBegan(run_id=run_id, workflow=workflow, kind=kind.value, by=who(by), plan_id=plan_id, slot_id=slot_id)
    tx.record(began, run_id=run_id)
    return run_id


def finish(tx: Transaction, run_id: str, state: str, ended: Exit, summary: Mapping[str, Any]) -> None:
    """Record how a run ended. Raises `StoreError` when it is unknown or has ended before."""
    running(tx.session, run_id)
    if state == RUNNING:
        raise StoreError("FC733", f"a run can't end as `{RUNNING}`")
    tx.session.execute(
        update(tables.Run)
        .where(tables.Run.run_id == run_id)
        .values(state=state, exit=int(ended), summary=canonical_text(dict(summary)), finished_at=tx.now)
    )
    tx.record(RunFinished(state=state, exit=int(ended), summary=dict(summary)), run_id=run_id)


def finish_settling(tx: Transaction, run_id: str, plan_id: str, settled: int) -> None:
    """Record the end of a run that only found out what came of acts: a plan that was paused stays so."""
    summary: dict[str, Any] = {"settled": settled}
    before = [run for run in of_plan(tx.session, plan_id, "") if run.run_id != run_id and run.kind is RunKind.APPLY]
    if len(before) > 0 and before[-1].state == PAUSED and before[-1].summary is not None:
        finish(tx, run_id, PAUSED, Exit.DONE, {**summary, "resumes_at": before[-1].summary["resumes_at"]})
    else:
        finish(tx, run_id, SETTLED, Exit.DONE, summary)


def running(session: Session, run_id: str) -> tables.Run:
    """Return a run that has not ended. Raises `StoreError`."""
    run = session.get(tables.Run, run_id)
    if run is None:
        raise StoreError("FC733", f"there is no run `{run_id}` in this store", help="see `fullcount runs`")
    if run.state != RUNNING:
        raise StoreError("FC733", f"the run `{run_id}` has ended as `{run.state}`", help="begin a new run")
    return run


def recent(session: Session, limit: int, workflow: str | None) -> tuple[RunRow, ...]:
    """Return the latest runs, newest first."""
    query = select(tables.Run).order_by(tables.Run.started_at.desc(), tables.Run.run_id.desc()).limit(limit)
    if workflow is not None:
        query = query.where(tables.Run.workflow == workflow)
    return tuple(_row(run) for run in session.scalars(query))


def of_plan(session: Session, plan_id: str, made_by: str) -> tuple[RunRow, ...]:
    """Return the run that made a plan, and those that applied or undid it, in the order in which they began."""
    query = select(tables.Run).where(or_(tables.Run.plan_id == plan_id, tables.Run.run_id == made_by))
    return tuple(_row(run) for run in session.scalars(query.order_by(tables.Run.started_at, tables.Run.run_id)))


def paused(session: Session, plan_id: str | None) -> tuple[Paused, ...]:
    """Return the plans that are neither superseded nor applied, and whose latest apply ended as paused."""
    plans = select(tables.Plan.plan_id, tables.Plan.proposal).where(
        tables.Plan.superseded_by.is_(None), tables.Plan.state != "applied"
    )
    if plan_id is not None:
        plans = plans.where(tables.Plan.plan_id == plan_id)
    proposals = {row.plan_id: row.proposal for row in session.execute(plans)}
    of_these = plans.with_only_columns(tables.Plan.plan_id)
    applies = select(tables.Run).where(tables.Run.kind == RunKind.APPLY.value, tables.Run.plan_id.in_(of_these))
    newest = applies.order_by(tables.Run.started_at.desc(), tables.Run.run_id.desc())
    found: dict[str, tables.Run] = {}
    for run in session.scalars(newest):
        if run.plan_id is not None:
            found.setdefault(run.plan_id, run)
    return tuple(
        Paused(
            plan_id=plan,
            workflow=run.workflow,
            proposal=proposals[plan],
            run_id=run.run_id,
            resumes_at=datetime.fromisoformat(parse_canonical(run.summary)["resumes_at"]),
        )
        for plan, run in found.items()
        if run.state == PAUSED and run.summary is not None
    )


def find(session: Session, run_id: str) -> RunRow | None:
    """Return the one run whose id begins so; None when there is none, or more than one."""
    wanted = run_id.strip().upper().removesuffix("…")
    if wanted == "" or not wanted.isalnum():
        return None
    found = session.scalars(select(tables.Run).where(tables.Run.run_id.startswith(wanted)).limit(2)).all()
    return _row(found[0]) if len(found) == 1 else None


def who(person: Person) -> Who:
    """Return a person as journal entries name them."""
    return Who(uid=person.uid, name=person.name)


def _row(run: tables.Run) -> RunRow:
    return RunRow(
        run_id=run.run_id,
        workflow=run.workflow,
        kind=RunKind(run.kind),
        by=Person(uid=run.by_uid, name=run.by_name),
        plan_id=run.plan_id,
        slot_id=run.slot_id,
        started_at=from_micros(run.started_at),
        finished_at=None if run.finished_at is None else from_micros(run.finished_at),
        state=run.state,
        exit=run.exit,
        summary=None if run.summary is None else parse_canonical(run.summary),
    )

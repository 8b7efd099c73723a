"""Canaries: what was done first under a plan, until when the rest waits for it, and that it was found to hold.

The wait is a record, not a process: a run that ends or dies in it is gone on with by any later one.
"""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from fullcount.runtime.journal.entry import canonical_text, read_canonical
from fullcount.runtime.journal.payloads import CanaryPassed, CanaryWaits
from fullcount.runtime.store import applying, tables
from fullcount.runtime.store.errors import LedgerRefused
from fullcount.runtime.store.instants import from_micros, said
from fullcount.runtime.store.transaction import Transaction
from fullcount.runtime.store.views import ActKind, CanaryRow, Fence

_MICROSECOND = timedelta(microseconds=1)


def find(session: Session, plan_id: str) -> CanaryRow | None:
    """Return the canary of a plan (its full id); None while its wait has not begun."""
    row = session.get(tables.Canary, plan_id, populate_existing=True)
    if row is None:
        return None
    return CanaryRow(
        plan_id=row.plan_id,
        object_keys=tuple(tuple(key) for key in read_canonical(row.objects)),
        waits_from=from_micros(row.waits_from),
        waits_until=from_micros(row.waits_until),
        passed_at=None if row.passed_at is None else from_micros(row.passed_at),
    )


def begin_wait(tx: Transaction, plan_id: str, run_id: str, fence: Fence, wait: timedelta) -> CanaryRow:
    """Record that the objects acted on so far are the canary, and that the rest waits from now on.

    Beginning again changes nothing. Raises `FenceLost`, `LedgerRefused`.
    """
    plan = applying.require_ready(tx, plan_id, run_id, fence, ActKind.ACT, halt_stops=False)
    known = find(tx.session, plan.plan_id)
    if known is not None:
        return known
    meant = tx.session.scalars(
        select(tables.Act.object_key)
        .where(
            tables.Act.plan_id == plan.plan_id,
            tables.Act.kind == ActKind.ACT.value,
            tables.Act.intent_at.is_not(None),
        )
        .order_by(tables.Act.intent_at, tables.Act.act_id)
    ).all()
    if len(meant) == 0 or wait <= timedelta(0):
        raise LedgerRefused("FC728", "there is no canary to wait for: nothing was acted on, or no time is to pass")
    keys = tuple(tuple(read_canonical(key)) for key in meant)
    until = tx.now + wait // _MICROSECOND
    tx.session.execute(
        insert(tables.Canary).values(
            plan_id=plan.plan_id,
            objects=canonical_text([list(key) for key in keys]),
            waits_from=tx.now,
            waits_until=until,
        )
    )
    tx.record(CanaryWaits(plan_id=plan.plan_id, keys=keys, until=until), run_id=run_id)
    return _known(tx, plan.plan_id)


def passed(tx: Transaction, plan_id: str, run_id: str, fence: Fence, counted: int | None = None) -> CanaryRow:
    """Record that the canary was looked at after its wait and holds. Raises `FenceLost`, `LedgerRefused`.

    `counted`: how many there were of what the workflow has counted; None: it has nothing counted.
    """
    plan = applying.require_ready(tx, plan_id, run_id, fence, ActKind.ACT, halt_stops=False)
    known = find(tx.session, plan.plan_id)
    if known is None:
        raise LedgerRefused("FC728", f"the plan `{plan.plan_id}` has no canary that waits")
    if known.passed_at is not None:
        return known
    row = tx.session.get(tables.Canary, plan.plan_id)
    if row is None or tx.now < row.waits_until:
        until = "" if row is None else f" until {said(row.waits_until)}"
        raise LedgerRefused("FC728", f"the canary of the plan `{plan.plan_id}` waits{until}")
    tx.session.execute(update(tables.Canary).where(tables.Canary.plan_id == plan.plan_id).values(passed_at=tx.now))
    tx.record(CanaryPassed(plan_id=plan.plan_id, counted=counted), run_id=run_id)
    return _known(tx, plan.plan_id)


def _known(tx: Transaction, plan_id: str) -> CanaryRow:
    found = find(tx.session, plan_id)
    if found is None:
        raise LedgerRefused("FC728", f"the canary of the plan `{plan_id}` was not kept")
    return found

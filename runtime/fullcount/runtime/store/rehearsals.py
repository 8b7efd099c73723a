"""Rehearsals in the ledger: which object of a plan was restored and acted on again, and what it counts as by now.

Guarantees: one object of a plan at most is rehearsed, of a graduated act one at each step; only one that the plan did,
only while its canary waits to pass; it is acted on again only after it was restored; and it counts once, as what its
last act came to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.offline.rehearsals import ACT, AGAIN, RESTORE, Ends, counts_as, last_kind
from fullcount.runtime.store import tables
from fullcount.runtime.store.errors import LedgerRefused
from fullcount.runtime.store.ledger_rows import named, to_entry
from fullcount.runtime.store.views import ActKind, LedgerEntry


def ends_of(session: Session, plan_ids: Iterable[str]) -> dict[tuple[str, str], Ends]:
    """Return the outcomes, by kind, of every object of these plans with which a restore was rehearsed."""
    act = tables.Act
    rehearsed = select(act.plan_id, act.object_key).where(act.plan_id.in_(list(plan_ids)), act.kind == RESTORE)
    found: dict[tuple[str, str], Ends] = {}
    for plan_id, key in session.execute(rehearsed).all():
        query = select(act.kind, act.outcome).where(act.plan_id == plan_id, act.object_key == key)
        found[plan_id, key] = {row.kind: row.outcome for row in session.execute(query)}
    return found


def restored(session: Session, plan_id: str) -> frozenset[str]:
    """Return the objects that a plan acted on and that no longer count as done, since a rehearsal restored them."""
    ends = ends_of(session, [plan_id])
    return frozenset(key for (_, key), each in ends.items() if counts_as(each) != Outcome.DONE.value)


def last_acts(session: Session, plan_id: str, acts: Sequence[LedgerEntry]) -> tuple[LedgerEntry, ...]:
    """Return what objects count by: their acts, and of one with which a restore was rehearsed its last one, if any."""
    kinds = {key: last_kind(ends) for (_, key), ends in ends_of(session, [plan_id]).items()}
    act = tables.Act
    query = select(act).where(act.plan_id == plan_id, act.kind.in_((RESTORE, AGAIN)))
    others = {(each.object_key, each.kind): each for each in session.scalars(query)}
    known = {to_entry(each).object_key: key for (key, _), each in others.items()}
    found = []
    for entry in acts:
        key = known.get(entry.object_key)
        kind = ActKind.ACT.value if key is None else kinds.get(key, ActKind.ACT.value)
        if key is None or kind == ActKind.ACT.value:
            found.append(entry)
        elif (key, kind) in others:
            found.append(to_entry(others[key, kind]))
    return tuple(found)


def check_may_restore(session: Session, plan: tables.Plan, keys: Sequence[str]) -> None:
    """Raise `LedgerRefused` unless the restore of just this object may be rehearsed; that it was done is known."""
    canary = session.get(tables.Canary, plan.plan_id, populate_existing=True)
    if canary is None or canary.passed_at is not None:
        raise LedgerRefused("FC728", f"the plan `{plan.plan_id}` has no canary that waits, so nothing is rehearsed")
    act = tables.Act
    begun = {key for _, key in ends_of(session, [plan.plan_id])} | set(keys)
    query = select(act.step).where(act.plan_id == plan.plan_id, act.kind == ACT, act.object_key.in_(begun))
    if len(set(session.scalars(query))) < len(begun):
        said = f"a restore is rehearsed with one object of the plan `{plan.plan_id}` alone, or with one at each step"
        raise LedgerRefused("FC728", said)


def check_restored(session: Session, plan: tables.Plan, keys: Sequence[str]) -> None:
    """Raise `LedgerRefused` for an object that was not restored by a rehearsal."""
    ends: Mapping[tuple[str, str], Ends] = ends_of(session, [plan.plan_id])
    for key in keys:
        if ends.get((plan.plan_id, key), {}).get(RESTORE) != Outcome.DONE.value:
            raise LedgerRefused("FC728", f"{named(key)} was not restored, so it is not acted on again")

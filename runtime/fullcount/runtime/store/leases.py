"""Leases with fencing tokens: one run at a time is at work on a thing, and one that was overtaken can't write.

Guarantees: tokens of a name only ever grow; time is the store's, never a worker's. A lease that ran out may be claimed
by another, and from that instant the older token is refused, however late its holder wakes up.
"""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import insert, update
from sqlalchemy.orm import Session

from fullcount.runtime.journal.payloads import LeaseClaimed, LeaseReleased
from fullcount.runtime.store import tables
from fullcount.runtime.store.errors import FenceLost, LeaseHeld
from fullcount.runtime.store.instants import from_micros, said
from fullcount.runtime.store.transaction import Transaction
from fullcount.runtime.store.views import Fence

_MICROSECOND = timedelta(microseconds=1)


def plan_lease(plan_id: str, part: str = "") -> str:
    """Return the name of the lease for acting on a plan, or on a part (shard) of it."""
    return f"plan/{plan_id}/{part}" if part else f"plan/{plan_id}"


def covers(fence: Fence, plan_id: str) -> bool:
    """Whether the fence is for this plan or a part of it."""
    return fence.name == plan_lease(plan_id) or fence.name.startswith(f"{plan_lease(plan_id)}/")


def claim(tx: Transaction, name: str, holder: str, ttl: timedelta) -> Fence:
    """Take the lease, with a token above all earlier ones. Raises `LeaseHeld` while another holds it."""
    micros = _lifetime(ttl)
    lease = tx.session.get(tables.Lease, name)
    if lease is not None and lease.expires_at > tx.now and lease.holder != holder:
        left = timedelta(microseconds=lease.expires_at - tx.now)
        raise LeaseHeld(name, lease.holder, from_micros(lease.expires_at), left)
    expires_at = tx.now + micros
    if lease is None:
        token = 1
        tx.session.execute(insert(tables.Lease).values(name=name, holder=holder, token=token, expires_at=expires_at))
    else:
        token = lease.token + 1
        _set(tx, name, holder=holder, token=token, expires_at=expires_at)
    tx.record(LeaseClaimed(name=name, holder=holder, token=token, expires_at=expires_at))
    return Fence(name=name, holder=holder, token=token, expires_at=from_micros(expires_at))


def latest(session: Session, name: str) -> Fence | None:
    """Return the last claim of a lease, in force or not; None: it was never claimed."""
    lease = session.get(tables.Lease, name)
    if lease is None:
        return None
    return Fence(name=name, holder=lease.holder, token=lease.token, expires_at=from_micros(lease.expires_at))


def renew(tx: Transaction, fence: Fence, ttl: timedelta) -> Fence:
    """Move the end of a lease that is still held. Not journalled: it changes a deadline and nothing else."""
    micros = _lifetime(ttl)
    check(tx.session, fence, tx.now)
    expires_at = tx.now + micros
    _set(tx, fence.name, expires_at=expires_at)
    return Fence(name=fence.name, holder=fence.holder, token=fence.token, expires_at=from_micros(expires_at))


def release(tx: Transaction, fence: Fence) -> None:
    """Give the lease back. Nothing happens when it is no longer held: another's lease is not touched."""
    lease = tx.session.get(tables.Lease, fence.name)
    if lease is None or lease.token != fence.token or lease.expires_at <= tx.now:
        return
    _set(tx, fence.name, expires_at=tx.now)
    tx.record(LeaseReleased(name=fence.name, holder=fence.holder, token=fence.token))


def check(session: Session, fence: Fence, now: int) -> None:
    """Raise `FenceLost` unless this very claim is still in force."""
    lease = session.get(tables.Lease, fence.name, populate_existing=True)
    if lease is None or lease.token != fence.token or lease.holder != fence.holder:
        other = "nobody" if lease is None else f"`{lease.holder}`"
        raise FenceLost(
            "FC721",
            f"the lease on `{fence.name}` was taken over by {other}, so this run must not write any more",
            help="nothing is lost: the run that took over goes on where this one stopped",
        )
    if lease.expires_at <= now:
        raise FenceLost(
            "FC721",
            f"the lease on `{fence.name}` ran out at {said(lease.expires_at)}, so this run must not write any more",
            help="run the same command again: it goes on where this run stopped",
        )


def _set(tx: Transaction, name: str, **values: object) -> None:
    tx.session.execute(update(tables.Lease).where(tables.Lease.name == name).values(**values))


def _lifetime(ttl: timedelta) -> int:
    micros = ttl // _MICROSECOND
    if micros <= 0:
        msg = "a lease must live for some time"
        raise ValueError(msg)
    return micros

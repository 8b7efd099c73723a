"""Applying a plan, an undo as well: when it may begin, what must hold while it lasts, and when it is over.

Guarantees: it begins only with a valid approval, which it uses up, and it is over only once every object of the plan
has a final outcome; until then it can be gone on with, by whoever holds the lease.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.journal.payloads import ApplyBegan, ApplyEnded
from fullcount.runtime.offline.rehearsals import counts_as
from fullcount.runtime.store import controls, leases, plans, rehearsals, rounds, runs, tables
from fullcount.runtime.store.errors import FenceLost, LedgerRefused, PlanRefused, StoreError
from fullcount.runtime.store.transaction import Transaction
from fullcount.runtime.store.views import ActKind, Fence, RunKind

ACTING: Final = frozenset({ActKind.ACT, ActKind.UNDO, ActKind.REHEARSE_AGAIN})
"""What needs an approval that is valid now; the restore that is rehearsed rests on the one that it was done under."""


def begin_apply(tx: Transaction, plan_id: str, run_id: str, fence: Fence) -> None:
    """Begin, or go on with, applying a plan: its approval is used up by it. Raises the error of what is in the way."""
    plan = require_ready(tx, plan_id, run_id, fence)
    plans.check_usable(plan)
    round_ = rounds.require_valid(tx.session, plan, tx.now)
    values: dict[str, Any] = {"state": plans.APPLYING}
    if plan.state == plans.OPEN:
        values["applying_at"] = tx.now
    tx.session.execute(update(tables.Plan).where(tables.Plan.plan_id == plan.plan_id).values(**values))
    rounds.use_up(tx, round_.round_id, plan.plan_id)
    began = ApplyBegan(plan_id=plan.plan_id, round_id=round_.round_id, digest=plan.digest, fence=fence.token)
    tx.record(began, run_id=run_id)


def check_may_act(session: Session, plan_id: str, fence: Fence, now: int) -> None:
    """Raise whatever forbids acting on this plan now."""
    plan = plans.get(session, plan_id)
    controls.check(session)
    if plan.undoes is None:
        controls.check_workflow(session, plan.workflow)
    require_fence(session, plan, fence, now)
    plans.check_usable(plan)
    rounds.require_valid(session, plan, now)


def finish_apply(tx: Transaction, plan_id: str, run_id: str, fence: Fence) -> dict[Outcome, int]:
    """Record where the apply stands; the plan is used up once every object has a final outcome. Return the counts."""
    plan = require_ready(tx, plan_id, run_id, fence, halt_stops=False)
    if plan.state != plans.APPLYING:
        raise PlanRefused("FC712", f"the plan `{plan.plan_id}` is not being applied")
    found = counts(tx.session, plan_id)
    applied = found[Outcome.NOT_STARTED] == 0 and found[Outcome.UNKNOWN] == 0
    if applied:
        tx.session.execute(
            update(tables.Plan)
            .where(tables.Plan.plan_id == plan.plan_id)
            .values(state=plans.APPLIED, applied_at=tx.now)
        )
    ended = ApplyEnded(
        plan_id=plan.plan_id, counts={name.value: number for name, number in found.items()}, applied=applied
    )
    tx.record(ended, run_id=run_id)
    return found


def counts(session: Session, plan_id: str) -> dict[Outcome, int]:
    """Return how many of the plan's objects ended how; an open intent is unknown, the rest is not started."""
    plan = plans.get(session, plan_id)
    found = dict.fromkeys(Outcome, 0)
    query = (
        select(tables.Act.outcome, func.count())
        .where(tables.Act.plan_id == plan.plan_id, tables.Act.kind == kind_of(plan).value)
        .group_by(tables.Act.outcome)
    )
    for outcome, number in session.execute(query):
        found[Outcome.UNKNOWN if outcome is None else Outcome(outcome)] += number
    for ends in rehearsals.ends_of(session, [plan.plan_id]).values():
        act, last = Outcome(ends[ActKind.ACT.value] or Outcome.UNKNOWN), Outcome(counts_as(ends))
        found[act] -= 1
        found[last] += 0 if last is Outcome.NOT_STARTED else 1  # it is what is left over below
    found[Outcome.NOT_STARTED] = plan.candidates - sum(found.values())
    if found[Outcome.NOT_STARTED] < 0:
        raise StoreError("FC741", f"the ledger holds more objects for the plan `{plan.plan_id}` than it selects")
    return found


# -- what must hold ---------------------------------------------------------------------------------------------------


def kind_of(plan: tables.Plan) -> ActKind:
    """Return the kind of act that the objects of a plan count by."""
    return ActKind.ACT if plan.undoes is None else ActKind.UNDO


def require_ready(
    tx: Transaction, plan_id: str, run_id: str, fence: Fence, kind: ActKind | None = None, *, halt_stops: bool = True
) -> tables.Plan:
    """Return the plan, if this run may write for it now. Raises `FenceLost`, `Halted`, `LedgerRefused`.

    `kind` None: what the plan is for.
    """
    plan = plans.get(tx.session, plan_id)
    kind = kind_of(plan) if kind is None else kind
    if (kind is ActKind.UNDO) is (plan.undoes is None):
        raise LedgerRefused(
            "FC733",
            f"nothing is taken back under the plan `{plan.plan_id}`, which is no undo"
            if plan.undoes is None
            else f"the plan `{plan.plan_id}` is an undo, and nothing is done under it",
            help="what was done is taken back by a plan of its own: `fullcount undo`",
        )
    require_run(runs.running(tx.session, run_id), plan, kind)
    require_fence(tx.session, plan, fence, tx.now)
    if halt_stops:
        controls.check(tx.session)
        if kind is not ActKind.UNDO:
            controls.check_workflow(tx.session, plan.workflow)
    return plan


def acted_plan_id(plan: tables.Plan) -> str:
    """Return the plan under whose lease this one is applied, as `PlanDocument.acted_plan_id` says it."""
    return plan.plan_id if plan.undoes is None else plan.undoes


def require_fence(session: Session, plan: tables.Plan, fence: Fence, now: int) -> None:
    """Raise `FenceLost` unless the lease is in force and is for this plan; of an undo, for the plan that it undoes."""
    if not leases.covers(fence, acted_plan_id(plan)):
        raise FenceLost("FC721", f"the lease on `{fence.name}` does not allow acting on the plan `{plan.plan_id}`")
    leases.check(session, fence, now)


def require_run(run: tables.Run, plan: tables.Plan, kind: ActKind) -> None:
    """Raise `LedgerRefused` unless the run is of the right kind and for this plan."""
    wanted = RunKind.UNDO if kind is ActKind.UNDO else RunKind.APPLY
    if run.kind != wanted.value or run.plan_id != plan.plan_id:
        raise LedgerRefused(
            "FC733", f"the run `{run.run_id}` is not one that may {wanted.value} the plan `{plan.plan_id}`"
        )

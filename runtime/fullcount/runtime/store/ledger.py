"""The ledger of acts: one row per object, plan and kind, written before the call and completed after it.

Guarantees: no intent without a valid approval, a plan being applied, a lease in force and the kill switch off, all seen
in the transaction that records it (R24); one idempotency key per object (R29); the same act asked again returns what is
stored, and with other parameters is an error (R30); nothing is meant for an object while an act of another plan on it
has no known outcome (`elsewhere`); a final outcome never changes, and only `unknown` may become final.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import bindparam, insert, or_, select, update
from sqlalchemy.orm import Session

from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.journal.entry import canonical_text
from fullcount.runtime.plan.digest import sha256_text
from fullcount.runtime.store import applying, elsewhere, plans, rehearsals, rounds, runs, steps, tables, undone
from fullcount.runtime.store.errors import IdempotencyMismatch, LedgerRefused, PlanRefused, StoreError
from fullcount.runtime.store.instants import to_span
from fullcount.runtime.store.ledger_rows import (
    StoredAct,
    again_payload,
    entry_of,
    idempotency_key,
    intents_payload,
    named,
    outcome_values,
    outcomes_payload,
    seal,
    stored_acts,
    to_entry,
)
from fullcount.runtime.store.transaction import Transaction, new_id
from fullcount.runtime.store.views import ActKind, Fence, Intent, LedgerEntry, OutcomeEntry

MAX_BATCH = 50
"""How many intents or outcomes one transaction takes."""

_ENDED = ("outcome", "reason", "detail", "before", "outcome_run_id", "outcome_at")
_MEANT: Final = insert(tables.Act.__table__)  # type: ignore[arg-type]
_END: Final = (
    update(tables.Act.__table__)  # type: ignore[arg-type]
    .where(tables.Act.act_id == bindparam("b_act"))
    .values({name: bindparam(name) for name in _ENDED})
)
_AGAIN: Final = (
    update(tables.Act.__table__)  # type: ignore[arg-type]
    .where(tables.Act.act_id == bindparam("b_act"))
    .values(again_at=bindparam("again_at"))
)
_OPEN: Final = (None, Outcome.UNKNOWN.value)

WITHOUT_CALL = frozenset({Outcome.ALREADY_GONE, Outcome.CHANGED, Outcome.REFUSED})
"""Outcomes that an object can have without anything having been meant for it: it was left alone at the recheck."""


def record_intents(
    tx: Transaction, plan_id: str, run_id: str, fence: Fence, intents: Sequence[Intent], kind: ActKind
) -> tuple[LedgerEntry, ...]:
    """Record what is about to be done, all or nothing, and return the entries in the order asked.

    Raises `FenceLost`, `Halted`, `PlanStale`, `PlanRefused`, `ApprovalMissing`, `ApprovalRefused`,
    `IdempotencyMismatch`, `ActedElsewhere` and `LedgerRefused`.
    """
    keys = _batch([intent.object_key for intent in intents])
    plan = applying.require_ready(tx, plan_id, run_id, fence, kind)
    stored = stored_acts(tx.session, plan.plan_id, keys, kind)
    listed = _listed(tx.session, plan.plan_id, keys)
    round_of = _rounds_for(tx, plan, keys, kind)
    new = [listed[key] for key in keys if key not in stored]
    for key, why in steps.in_the_way(tx.session, *_standing(tx.session, plan, new), kind, tx.now).items():
        raise LedgerRefused("FC729", f"{named(key)}: {why}", help="plan again: the new plan has the step that is due")
    read = {key: tx.now - to_span(intent.read_ago) for key, intent in zip(keys, intents, strict=True)}
    elsewhere.require_none(tx.session, plan, read)
    rows: list[dict[str, Any]] = []
    seals: dict[str, str] = {}
    again: list[tuple[StoredAct, str]] = []
    for key, intent in zip(keys, intents, strict=True):
        parameters = canonical_text(dict(intent.parameters))
        sha256 = sha256_text(parameters.encode())
        known = stored.get(key)
        if known is not None:
            _same_or_refused(known, intent, sha256)
            if known.intent_at is not None and known.outcome in _OPEN:
                round_id = round_of[key].round_id if key in round_of else known.round_id
                again.append((known, round_id))
            continue
        round_ = round_of[key]
        act_key = idempotency_key(_key(round_), intent.object_key, intent.operation, kind, listed[key].step)
        seals[key] = seal(_key(round_), act_key, sha256)
        rows.append(
            {
                "act_id": new_id(),
                "plan_id": plan.plan_id,
                "object_key": key,
                "kind": kind.value,
                "step": listed[key].step,
                "operation": intent.operation,
                "parameters": parameters,
                "parameters_sha256": sha256,
                "idempotency_key": act_key,
                "round_id": round_.round_id,
                "intent_run_id": run_id,
                "intent_at": tx.now,
            }
        )
    if rows:
        tx.session.connection().execute(_MEANT, rows)
        tx.record(intents_payload(plan.plan_id, kind, fence, rows, seals), run_id=run_id)
    if again:
        # a call of it may be made once more, so that it counts from now on how long one may still arrive
        moved = [{"b_act": act.act_id, "again_at": _last_meant(act, tx.now)} for act, _ in again]
        tx.session.connection().execute(_AGAIN, moved)
        tx.record(again_payload(plan.plan_id, kind, fence, again), run_id=run_id)
    fresh = {row["object_key"]: row for row in rows}
    return tuple(entry_of(fresh[key], fresh=True) if key in fresh else to_entry(stored[key]) for key in keys)


def record_outcomes(
    tx: Transaction, plan_id: str, run_id: str, fence: Fence, outcomes: Sequence[OutcomeEntry], kind: ActKind
) -> tuple[LedgerEntry, ...]:
    """Record what came of objects, all or nothing. The same outcome again changes nothing.

    An outcome of a recorded intent is taken even when the lease was lost: what happened, happened. An outcome without
    an intent is a decision of this run, and needs the lease. Raises `LedgerRefused`, `FenceLost`, `PlanRefused`.
    """
    keys = _batch([item.object_key for item in outcomes])
    plan = plans.get(tx.session, plan_id)
    run = runs.running(tx.session, run_id)
    applying.require_run(run, plan, kind)
    stored = stored_acts(tx.session, plan.plan_id, keys, kind)
    changed: dict[str, dict[str, Any]] = {}
    fresh: list[dict[str, Any]] = []
    for key, item in zip(keys, outcomes, strict=True):
        known = stored.get(key)
        values = outcome_values(tx, run_id, item)
        if known is None:
            _check_without_call(tx, plan, fence, item, kind)
            fresh.append({"act_id": new_id(), "plan_id": plan.plan_id, "object_key": key, "kind": kind.value} | values)
        elif _changes(known, item):
            changed[key] = {"b_act": known.act_id} | values
    if fresh:
        left_alone = [row["object_key"] for row in fresh]
        _listed(tx.session, plan.plan_id, left_alone)
        if kind is ActKind.UNDO:
            undone.check_may_be(tx.session, plan, left_alone, left_alone=True)
        elif kind is not ActKind.ACT:
            _done(tx, plan, left_alone, kind)
        tx.session.connection().execute(_MEANT, fresh)
    if changed:
        tx.session.connection().execute(_END, list(changed.values()))
    written = [(row["act_id"], row["object_key"], row) for row in fresh]
    written += [(row["b_act"], key, row) for key, row in changed.items()]
    if written:
        tx.record(outcomes_payload(plan.plan_id, kind, written), run_id=run_id)
        steps.moved(tx, plan, run_id, kind, {key: row["outcome"] for _, key, row in written})
    new = {key: row for _, key, row in written}
    return tuple(entry_of({**(stored[key]._asdict() if key in stored else {}), **new.get(key, {})}) for key in keys)


def entries(session: Session, plan_id: str, kind: ActKind) -> tuple[LedgerEntry, ...]:
    """Return everything that the ledger holds of a plan, oldest intents first."""
    query = select(tables.Act).where(tables.Act.plan_id == plan_id, tables.Act.kind == kind.value)
    return tuple(to_entry(act) for act in session.scalars(query.order_by(tables.Act.intent_at, tables.Act.act_id)))


def runs_of(session: Session, act_ids: Sequence[str]) -> tuple[str, ...]:
    """Return the runs that meant these acts, in the order in which they began."""
    found: dict[str, None] = {}
    for at in range(0, len(act_ids), MAX_BATCH):
        query = select(tables.Act.intent_run_id).where(tables.Act.act_id.in_(act_ids[at : at + MAX_BATCH]))
        found |= dict.fromkeys(str(run_id) for run_id in session.scalars(query.distinct()) if run_id is not None)
    return tuple(sorted(found))


def open_intents(session: Session, plan_id: str, kind: ActKind) -> tuple[LedgerEntry, ...]:
    """Return the intents without a final outcome: to be resolved by reading, or by the same key (R32)."""
    query = (
        select(tables.Act)
        .where(
            tables.Act.plan_id == plan_id,
            tables.Act.kind == kind.value,
            tables.Act.intent_at.is_not(None),
            or_(tables.Act.outcome.is_(None), tables.Act.outcome == Outcome.UNKNOWN.value),
        )
        .order_by(tables.Act.intent_at, tables.Act.act_id)
    )
    return tuple(to_entry(act) for act in session.scalars(query))


# -- what must hold ---------------------------------------------------------------------------------------------------


def _rounds_for(
    tx: Transaction, plan: tables.Plan, keys: Sequence[str], kind: ActKind
) -> Mapping[str, tables.ApprovalRound]:
    """Return the approval that carries each act, or raise what is in the way."""
    if kind is ActKind.UNDO:
        undone.check_may_be(tx.session, plan, keys)
    done = {} if kind in _BY_ITS_OWN else _done(tx, plan, keys, kind)
    if kind in applying.ACTING:
        plans.check_usable(plan)
        if plan.state != plans.APPLYING:
            raise PlanRefused("FC712", f"the plan `{plan.plan_id}` is not being applied")
        round_ = rounds.require_valid(tx.session, plan, tx.now)
        if round_.used_by != plan.plan_id:
            # given after the apply began: until it is bound to this plan, an identical plan could use it as well
            raise PlanRefused(
                "FC712",
                f"the plan `{plan.plan_id}` was approved anew, and this run began under the approval before",
                help=f"begin again: `fullcount apply {plan.plan_id}`",
            )
        return dict.fromkeys(keys, round_)
    found = {key: tx.session.get(tables.ApprovalRound, act.round_id) for key, act in done.items()}
    return {key: round_ for key, round_ in found.items() if round_ is not None}


_BY_ITS_OWN: Final = frozenset({ActKind.ACT, ActKind.UNDO})
"""What a plan is approved for; a rehearsal belongs to an act."""


def _standing(
    session: Session, plan: tables.Plan, new: Sequence[steps.PlanObjectRow]
) -> tuple[tables.Plan, Sequence[steps.PlanObjectRow]]:
    """Return the plan whose steps say where objects stand, and how it lists them: of an undo the one that it undoes."""
    if plan.undoes is None:
        return plan, new
    acted = steps.objects(session, plan.undoes, [row.object_key for row in new])
    return plans.get(session, plan.undoes), list(acted.values())


def _done(tx: Transaction, plan: tables.Plan, keys: Sequence[str], kind: ActKind) -> dict[str, StoredAct]:
    """Return the acts a rehearsal can restore, or do again. Raises `LedgerRefused` for an object that it can't."""
    done = {
        act.object_key: act
        for act in stored_acts(tx.session, plan.plan_id, keys, ActKind.ACT).values()
        if act.outcome == Outcome.DONE.value and act.round_id is not None
    }
    for key in keys:
        if key not in done:
            raise LedgerRefused(
                "FC727",
                f"{named(key)} was not acted upon by the plan `{plan.plan_id}`, so there is nothing to restore",
            )
    if kind is ActKind.REHEARSE_UNDO:
        rehearsals.check_may_restore(tx.session, plan, keys)
    if kind is ActKind.REHEARSE_AGAIN:
        rehearsals.check_restored(tx.session, plan, keys)
    return done


def _listed(session: Session, plan_id: str, keys: Sequence[str]) -> dict[str, steps.PlanObjectRow]:
    """Return these objects as the plan lists them. Raises `LedgerRefused` for one that it does not name."""
    listed = steps.objects(session, plan_id, keys)
    missing = set(keys) - set(listed)
    if missing:
        raise LedgerRefused("FC723", f"the plan `{plan_id}` does not name {named(min(missing))}")
    return listed


def _same_or_refused(known: StoredAct, intent: Intent, sha256: str) -> None:
    if known.intent_at is None:
        return  # it has its outcome already: the caller is told, and must not act
    if known.operation != intent.operation or known.parameters_sha256 != sha256:
        raise IdempotencyMismatch(
            "FC724",
            f"{named(known.object_key)} has an act under this approval already, with other parameters"
            " (IDEMPOTENCY_MISMATCH)",
            help="a different act needs a new plan and a new approval",
        )


def _last_meant(act: StoredAct, now: int) -> int:
    """Return when an act that is meant now was meant last; no earlier than before, whatever the clock says."""
    return int(max(now, act.intent_at, act.again_at or 0))


def _check_without_call(tx: Transaction, plan: tables.Plan, fence: Fence, item: OutcomeEntry, kind: ActKind) -> None:
    if item.outcome not in WITHOUT_CALL:
        raise LedgerRefused(
            "FC726", f"`{item.outcome.value}` can't be the outcome of an object for which nothing was meant"
        )
    if plan.state != plans.APPLYING:
        raise PlanRefused("FC712", f"the plan `{plan.plan_id}` is not being applied")
    applying.require_fence(tx.session, plan, fence, tx.now)


def _changes(known: StoredAct, item: OutcomeEntry) -> bool:
    """Whether the outcome adds to what is known. Raises `LedgerRefused` when it contradicts a final one."""
    if item.outcome is Outcome.NOT_STARTED:
        raise LedgerRefused("FC726", "an object whose act was meant has been started")
    if known.outcome is None:
        return True
    if item.outcome is Outcome.UNKNOWN:
        return False  # knowing less than what is stored changes nothing
    if known.outcome == Outcome.UNKNOWN.value:
        return True
    if known.outcome == item.outcome.value:
        return False
    raise LedgerRefused(
        "FC725",
        f"{named(known.object_key)} ended as `{known.outcome}` and can't end as `{item.outcome.value}` as well",
        help="see what happened to it in the journal: `fullcount verify`",
    )


def _batch(object_keys: Sequence[Sequence[Any]]) -> list[str]:
    keys = [canonical_text(list(key)) for key in object_keys]
    if not 1 <= len(keys) <= MAX_BATCH:
        msg = f"between 1 and {MAX_BATCH} objects at a time, not {len(keys)}"
        raise ValueError(msg)
    if len(set(keys)) != len(keys):
        raise LedgerRefused("FC725", "the same object is named twice in one step")
    return keys


def _key(round_: tables.ApprovalRound) -> bytes:
    if round_.key is None:
        raise StoreError("FC707", f"the approval `{round_.round_id}` has no key")
    return round_.key

"""The ledger of acts: one row per object, plan and kind, written before the call and completed after it.

Guarantees: no intent without a valid approval, a plan being applied, a lease in force and the kill switch off, all seen
in the transaction that records it (R24); one idempotency key per object (R29); the same act asked again returns what is
stored, and with other parameters is an error (R30); a final outcome never changes, and only `unknown` may become final.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, func, insert, or_, select, update
from sqlalchemy.orm import Session

from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.journal.entry import canonical_text, read_canonical
from fullcount.runtime.plan.digest import canonical_bytes, sha256_text
from fullcount.runtime.store import controls, leases, plans, rounds, runs, tables
from fullcount.runtime.store.errors import FenceLost, IdempotencyMismatch, LedgerRefused, PlanRefused, StoreError
from fullcount.runtime.store.instants import from_micros
from fullcount.runtime.store.transaction import Transaction, new_id
from fullcount.runtime.store.views import ActKind, Fence, Intent, LedgerEntry, OutcomeEntry, RunKind

MAX_BATCH = 50
"""How many intents or outcomes one transaction takes."""

WITHOUT_CALL = frozenset({Outcome.ALREADY_GONE, Outcome.CHANGED, Outcome.REFUSED})
"""Outcomes that an object can have without anything having been meant for it: it was left alone at the recheck."""

_DETAIL_LENGTH = 4_000


def idempotency_key(approval_key: bytes, object_key: Sequence[Any], operation: str, kind: ActKind) -> str:
    """Return the key that every retry of this act carries: HMAC of the approval's key over object and operation."""
    parts: list[Any] = [list(object_key), operation]
    if kind is ActKind.UNDO:
        parts.append(kind.value)
    return hmac.new(approval_key, canonical_bytes(parts), hashlib.sha256).hexdigest()


def begin_apply(tx: Transaction, plan_id: str, run_id: str, fence: Fence) -> None:
    """Begin, or go on with, applying a plan: its approval is used up by it. Raises the error of what is in the way."""
    plan = _ready(tx, plan_id, run_id, fence, ActKind.ACT)
    plans.check_usable(plan)
    round_ = rounds.require_valid(tx.session, plan, tx.now)
    values: dict[str, Any] = {"state": plans.APPLYING}
    if plan.state == plans.OPEN:
        values["applying_at"] = tx.now
    tx.session.execute(update(tables.Plan).where(tables.Plan.plan_id == plan.plan_id).values(**values))
    rounds.use_up(tx, round_.round_id, plan.plan_id)
    facts = {"plan_id": plan.plan_id, "round_id": round_.round_id, "digest": plan.digest, "fence": fence.token}
    tx.record("apply_began", facts, run_id=run_id)


def check_may_act(session: Session, plan_id: str, fence: Fence, now: int) -> None:
    """Raise whatever forbids acting on this plan now."""
    plan = plans.find(session, plan_id)
    controls.check(session)
    _check_fence(session, plan, fence, now)
    plans.check_usable(plan)
    rounds.require_valid(session, plan, now)


def finish_apply(tx: Transaction, plan_id: str, run_id: str, fence: Fence) -> dict[Outcome, int]:
    """Record where the apply stands; the plan is used up once every object has a final outcome. Return the counts."""
    plan = _ready(tx, plan_id, run_id, fence, ActKind.ACT, halt_stops=False)
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
    tx.record(
        "apply_ended",
        {"plan_id": plan.plan_id, "counts": {name.value: n for name, n in found.items()}, "applied": applied},
        run_id=run_id,
    )
    return found


def record_intents(
    tx: Transaction, plan_id: str, run_id: str, fence: Fence, intents: Sequence[Intent], kind: ActKind
) -> tuple[LedgerEntry, ...]:
    """Record what is about to be done, all or nothing, and return the entries in the order asked.

    Raises `FenceLost`, `Halted`, `PlanStale`, `PlanRefused`, `ApprovalMissing`, `ApprovalRefused`,
    `IdempotencyMismatch` and `LedgerRefused`.
    """
    keys = _batch([intent.object_key for intent in intents])
    plan = _ready(tx, plan_id, run_id, fence, kind)
    stored = _stored(tx.session, plan.plan_id, keys, kind)
    round_of = _rounds_for(tx, plan, keys, kind)
    rows: list[dict[str, Any]] = []
    for key, intent in zip(keys, intents, strict=True):
        parameters = canonical_text(dict(intent.parameters))
        sha256 = sha256_text(parameters.encode())
        known = stored.get(key)
        if known is not None:
            _same_or_refused(known, intent, sha256)
            continue
        round_ = round_of[key]
        rows.append(
            {
                "act_id": new_id(),
                "plan_id": plan.plan_id,
                "object_key": key,
                "kind": kind.value,
                "operation": intent.operation,
                "parameters": parameters,
                "parameters_sha256": sha256,
                "idempotency_key": idempotency_key(_key(round_), intent.object_key, intent.operation, kind),
                "round_id": round_.round_id,
                "intent_run_id": run_id,
                "intent_at": tx.now,
            }
        )
    fresh = frozenset(row["object_key"] for row in rows)
    if rows:
        tx.session.execute(insert(tables.Act), rows)
        tx.record("intents", _intents_payload(plan.plan_id, kind, fence, rows), run_id=run_id)
        stored = _stored(tx.session, plan.plan_id, keys, kind)
    return tuple(_entry(stored[key], fresh=key in fresh) for key in keys)


def record_outcomes(
    tx: Transaction, plan_id: str, run_id: str, fence: Fence, outcomes: Sequence[OutcomeEntry], kind: ActKind
) -> tuple[LedgerEntry, ...]:
    """Record what came of objects, all or nothing. The same outcome again changes nothing.

    An outcome of a recorded intent is taken even when the lease was lost: what happened, happened. An outcome without
    an intent is a decision of this run, and needs the lease. Raises `LedgerRefused`, `FenceLost`, `PlanRefused`.
    """
    keys = _batch([item.object_key for item in outcomes])
    plan = plans.find(tx.session, plan_id)
    run = runs.running(tx.session, run_id)
    _right_run(run, plan, kind)
    stored = _stored(tx.session, plan.plan_id, keys, kind)
    changed: list[dict[str, Any]] = []
    fresh: list[dict[str, Any]] = []
    for key, item in zip(keys, outcomes, strict=True):
        known = stored.get(key)
        values = _outcome_values(tx, run_id, item)
        if known is None:
            _check_without_call(tx, plan, fence, item)
            fresh.append({"act_id": new_id(), "plan_id": plan.plan_id, "object_key": key, "kind": kind.value} | values)
        elif _changes(known, item):
            changed.append({"b_act": known.act_id} | values)
    if fresh:
        _require_objects(tx.session, plan.plan_id, [row["object_key"] for row in fresh])
        tx.session.execute(insert(tables.Act), fresh)
    if changed:
        names = ("outcome", "reason", "detail", "before", "outcome_run_id", "outcome_at")
        tx.session.connection().execute(
            update(tables.Act.__table__)  # type: ignore[arg-type]
            .where(tables.Act.act_id == bindparam("b_act"))
            .values({name: bindparam(name) for name in names}),
            changed,
        )
        tx.session.expire_all()
    if fresh or changed:
        done = {known.act_id: known.object_key for known in stored.values()}
        written = [(row["object_key"], row) for row in fresh] + [(done[row["b_act"]], row) for row in changed]
        tx.record("outcomes", _outcomes_payload(plan.plan_id, kind, written), run_id=run_id)
    stored = _stored(tx.session, plan.plan_id, keys, kind)
    return tuple(_entry(stored[key]) for key in keys)


def entries(session: Session, plan_id: str, kind: ActKind) -> tuple[LedgerEntry, ...]:
    """Return everything that the ledger holds of a plan, oldest intents first."""
    query = select(tables.Act).where(tables.Act.plan_id == plan_id, tables.Act.kind == kind.value)
    return tuple(_entry(act) for act in session.scalars(query.order_by(tables.Act.intent_at, tables.Act.act_id)))


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
    return tuple(_entry(act) for act in session.scalars(query))


def counts(session: Session, plan_id: str) -> dict[Outcome, int]:
    """Return how many of the plan's objects ended how; an open intent is unknown, the rest is not started."""
    plan = plans.find(session, plan_id)
    found = dict.fromkeys(Outcome, 0)
    query = (
        select(tables.Act.outcome, func.count())
        .where(tables.Act.plan_id == plan.plan_id, tables.Act.kind == ActKind.ACT.value)
        .group_by(tables.Act.outcome)
    )
    for outcome, number in session.execute(query):
        found[Outcome.UNKNOWN if outcome is None else Outcome(outcome)] += number
    found[Outcome.NOT_STARTED] = plan.candidates - sum(found.values())
    if found[Outcome.NOT_STARTED] < 0:
        raise StoreError("FC741", f"the ledger holds more objects for the plan `{plan.plan_id}` than it selects")
    return found


# -- what must hold ---------------------------------------------------------------------------------------------------


def _ready(
    tx: Transaction, plan_id: str, run_id: str, fence: Fence, kind: ActKind, *, halt_stops: bool = True
) -> tables.Plan:
    plan = plans.find(tx.session, plan_id)
    _right_run(runs.running(tx.session, run_id), plan, kind)
    _check_fence(tx.session, plan, fence, tx.now)
    if halt_stops:
        controls.check(tx.session)
    return plan


def _check_fence(session: Session, plan: tables.Plan, fence: Fence, now: int) -> None:
    if not leases.covers(fence, plan.plan_id):
        raise FenceLost("FC721", f"the lease on `{fence.name}` does not allow acting on the plan `{plan.plan_id}`")
    leases.check(session, fence, now)


def _right_run(run: tables.Run, plan: tables.Plan, kind: ActKind) -> None:
    wanted = RunKind.APPLY if kind is ActKind.ACT else RunKind.UNDO
    if run.kind != wanted.value or run.plan_id != plan.plan_id:
        raise LedgerRefused(
            "FC733", f"the run `{run.run_id}` is not one that may {wanted.value} the plan `{plan.plan_id}`"
        )


def _rounds_for(
    tx: Transaction, plan: tables.Plan, keys: Sequence[str], kind: ActKind
) -> Mapping[str, tables.ApprovalRound]:
    """Return the approval that carries each act, or raise what is in the way."""
    _require_objects(tx.session, plan.plan_id, keys)
    if kind is ActKind.ACT:
        plans.check_usable(plan)
        if plan.state != plans.APPLYING:
            raise PlanRefused("FC712", f"the plan `{plan.plan_id}` is not being applied")
        return dict.fromkeys(keys, rounds.require_valid(tx.session, plan, tx.now))
    done = {
        act.object_key: act
        for act in _stored(tx.session, plan.plan_id, keys, ActKind.ACT).values()
        if act.outcome == Outcome.DONE.value and act.round_id is not None
    }
    for key in keys:
        if key not in done:
            raise LedgerRefused(
                "FC727",
                f"{_named(key)} was not acted upon by the plan `{plan.plan_id}`, so there is nothing to undo",
            )
    found = {key: tx.session.get(tables.ApprovalRound, act.round_id) for key, act in done.items()}
    return {key: round_ for key, round_ in found.items() if round_ is not None}


def _require_objects(session: Session, plan_id: str, keys: Sequence[str]) -> None:
    query = select(tables.PlanObject.object_key).where(
        tables.PlanObject.plan_id == plan_id, tables.PlanObject.object_key.in_(keys)
    )
    missing = set(keys) - set(session.scalars(query))
    if missing:
        raise LedgerRefused("FC723", f"the plan `{plan_id}` does not name {_named(min(missing))}")


def _same_or_refused(known: tables.Act, intent: Intent, sha256: str) -> None:
    if known.intent_at is None:
        return  # it has its outcome already: the caller is told, and must not act
    if known.operation != intent.operation or known.parameters_sha256 != sha256:
        raise IdempotencyMismatch(
            "FC724",
            f"{_named(known.object_key)} has an act under this approval already, with other parameters"
            " (IDEMPOTENCY_MISMATCH)",
            help="a different act needs a new plan and a new approval",
        )


def _check_without_call(tx: Transaction, plan: tables.Plan, fence: Fence, item: OutcomeEntry) -> None:
    if item.outcome not in WITHOUT_CALL:
        raise LedgerRefused(
            "FC726", f"`{item.outcome.value}` can't be the outcome of an object for which nothing was meant"
        )
    if plan.state != plans.APPLYING and plan.state != plans.APPLIED:
        raise PlanRefused("FC712", f"the plan `{plan.plan_id}` is not being applied")
    _check_fence(tx.session, plan, fence, tx.now)


def _changes(known: tables.Act, item: OutcomeEntry) -> bool:
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
        f"{_named(known.object_key)} ended as `{known.outcome}` and can't end as `{item.outcome.value}` as well",
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


# -- rows -------------------------------------------------------------------------------------------------------------


def _stored(session: Session, plan_id: str, keys: Sequence[str], kind: ActKind) -> dict[str, tables.Act]:
    query = select(tables.Act).where(
        tables.Act.plan_id == plan_id, tables.Act.kind == kind.value, tables.Act.object_key.in_(keys)
    )
    return {act.object_key: act for act in session.scalars(query)}


def _outcome_values(tx: Transaction, run_id: str, item: OutcomeEntry) -> dict[str, Any]:
    return {
        "outcome": item.outcome.value,
        "reason": item.reason,
        "detail": _storable(item.detail),
        "before": canonical_text(dict(item.before)),
        "outcome_run_id": run_id,
        "outcome_at": tx.now,
    }


def _storable(text: str) -> str:
    """Return text that any database can keep: a message must never prevent an outcome from being recorded."""
    cut = text if len(text) <= _DETAIL_LENGTH else text[:_DETAIL_LENGTH] + "…"
    return cut.replace("\x00", "\\x00").encode("utf-8", "backslashreplace").decode()


def _intents_payload(plan_id: str, kind: ActKind, fence: Fence, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {
        "plan_id": plan_id,
        "kind": kind.value,
        "fence": fence.token,
        "acts": [
            {
                "act_id": row["act_id"],
                "key": read_canonical(row["object_key"]),
                "operation": row["operation"],
                "parameters": read_canonical(row["parameters"]),
                "idempotency_key": row["idempotency_key"],
                "round_id": row["round_id"],
            }
            for row in rows
        ],
    }


def _outcomes_payload(plan_id: str, kind: ActKind, written: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    return {
        "plan_id": plan_id,
        "kind": kind.value,
        "outcomes": [
            {
                "key": read_canonical(key),
                "outcome": row["outcome"],
                "reason": row["reason"],
                "detail": row["detail"],
                "before_sha256": sha256_text(row["before"].encode()),
            }
            for key, row in written
        ],
    }


def _entry(act: tables.Act, *, fresh: bool = False) -> LedgerEntry:
    return LedgerEntry(
        act_id=act.act_id,
        plan_id=act.plan_id,
        object_key=tuple(read_canonical(act.object_key)),
        kind=ActKind(act.kind),
        operation=act.operation,
        parameters=None if act.parameters is None else read_canonical(act.parameters),
        idempotency_key=act.idempotency_key,
        intent_at=None if act.intent_at is None else from_micros(act.intent_at),
        outcome=None if act.outcome is None else Outcome(act.outcome),
        reason=act.reason,
        detail=act.detail or "",
        before={} if act.before is None else read_canonical(act.before),
        outcome_at=None if act.outcome_at is None else from_micros(act.outcome_at),
        fresh=fresh,
    )


def _named(key: str) -> str:
    return f"the object `{', '.join(str(part) for part in read_canonical(key))}`"

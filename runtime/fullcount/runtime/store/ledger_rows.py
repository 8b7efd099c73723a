"""Rows of the ledger: how an act is kept, found, journalled and handed out. Decides nothing."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Row, bindparam, select
from sqlalchemy.orm import Session

from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.journal.entry import canonical_text, parse_canonical
from fullcount.runtime.journal.payloads import ActAgain, IntentMeant, Intents, MeantAgain, Outcomes, OutcomeSeen
from fullcount.runtime.plan.digest import canonical_bytes, sha256_text
from fullcount.runtime.store import tables
from fullcount.runtime.store.instants import from_micros
from fullcount.runtime.store.transaction import Transaction
from fullcount.runtime.store.views import ActKind, Fence, LedgerEntry, OutcomeEntry

_DETAIL_LENGTH = 4_000
_COLUMNS: Final = tuple(tables.Act.__table__.columns.keys())


def idempotency_key(
    approval_key: bytes, object_key: Sequence[Any], operation: str, kind: ActKind, step: str | None = None
) -> str:
    """Return the key that every retry of this act carries: HMAC of the approval's key over object, operation, step."""
    parts: list[Any] = [list(object_key), operation]
    if kind is not ActKind.ACT:
        parts.append(kind.value)
    if step is not None:
        parts.append({"step": step})
    return hmac.new(approval_key, canonical_bytes(parts), hashlib.sha256).hexdigest()


SEEN: Final = "expected"
"""The part of a call's parameters that says how the object was seen right before: every field that was read."""

StoredAct = Row[Any]
"""A row of `acts`, columns by name."""

_STORED: Final = select(tables.Act.__table__).where(
    tables.Act.plan_id == bindparam("plan"),
    tables.Act.kind == bindparam("kind"),
    tables.Act.object_key.in_(bindparam("keys", expanding=True)),
)


def seal(approval_key: bytes, act_key: str, parameters_sha256: str) -> str:
    """Return what binds the journal to parameters that it does not show, to be checked by who has the store."""
    said = canonical_bytes({"parameters": parameters_sha256, "act": act_key})
    return hmac.new(approval_key, said, hashlib.sha256).hexdigest()


def journaled(parameters: str) -> dict[str, Any]:
    """Return what the journal shows of stored parameters: the arguments, not what was seen of the object."""
    return {name: part for name, part in parse_canonical(parameters).items() if name != SEEN}


def stored_acts(session: Session, plan_id: str, keys: Sequence[str], kind: ActKind) -> dict[str, StoredAct]:
    """Return what the ledger holds for these objects, by key."""
    found = session.execute(_STORED, {"plan": plan_id, "kind": kind.value, "keys": list(keys)})
    return {act.object_key: act for act in found}


def outcome_values(tx: Transaction, run_id: str, item: OutcomeEntry) -> dict[str, Any]:
    """Return the columns of an outcome."""
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


def intents_payload(
    plan_id: str, kind: ActKind, fence: Fence, rows: Sequence[Mapping[str, Any]], seals: Mapping[str, str]
) -> Intents:
    """Return the journal entry of new intents: every call with its arguments (R34). `seals` are by object."""
    return Intents(
        plan_id=plan_id,
        kind=kind.value,
        fence=fence.token,
        acts=tuple(
            IntentMeant(
                act_id=row["act_id"],
                key=tuple(parse_canonical(row["object_key"])),
                operation=row["operation"],
                parameters=journaled(row["parameters"]),
                idempotency_key=row["idempotency_key"],
                round_id=row["round_id"],
                step=row["step"],
                sealed=seals[row["object_key"]],
            )
            for row in rows
        ),
    )


def again_payload(plan_id: str, kind: ActKind, fence: Fence, acts: Sequence[tuple[StoredAct, str]]) -> MeantAgain:
    """Return the journal entry of acts that are gone on with, each with the approval that it rests on now."""
    return MeantAgain(
        plan_id=plan_id,
        kind=kind.value,
        fence=fence.token,
        acts=tuple(
            ActAgain(act_id=act.act_id, key=tuple(parse_canonical(act.object_key)), round_id=round_id)
            for act, round_id in acts
        ),
    )


def outcomes_payload(plan_id: str, kind: ActKind, written: Sequence[tuple[str, str, Mapping[str, Any]]]) -> Outcomes:
    """Return the journal entry of outcomes: `(act id, key, columns)`; what an undo needs is there as a hash."""
    return Outcomes(
        plan_id=plan_id,
        kind=kind.value,
        outcomes=tuple(
            OutcomeSeen(
                act_id=act_id,
                key=tuple(parse_canonical(key)),
                outcome=row["outcome"],
                reason=row["reason"],
                detail=row["detail"],
                before_sha256=sha256_text(row["before"].encode()),
            )
            for act_id, key, row in written
        ),
    )


def to_entry(act: tables.Act | StoredAct) -> LedgerEntry:
    """Return a row as it is handed out."""
    return entry_of({name: getattr(act, name) for name in _COLUMNS})


def entry_of(act: Mapping[str, Any], *, fresh: bool = False) -> LedgerEntry:
    """Return columns as they are handed out; one that is missing is null. `fresh`: they were written just now."""
    parameters, before = act.get("parameters"), act.get("before")
    intent_at, outcome, outcome_at = act.get("intent_at"), act.get("outcome"), act.get("outcome_at")
    again_at = act.get("again_at")
    return LedgerEntry(
        act_id=act["act_id"],
        plan_id=act["plan_id"],
        object_key=tuple(parse_canonical(act["object_key"])),
        kind=ActKind(act["kind"]),
        operation=act.get("operation"),
        parameters=None if parameters is None else parse_canonical(parameters),
        idempotency_key=act.get("idempotency_key"),
        intent_at=None if intent_at is None else from_micros(intent_at),
        outcome=None if outcome is None else Outcome(outcome),
        reason=act.get("reason"),
        detail=act.get("detail") or "",
        before={} if before is None else parse_canonical(before),
        outcome_at=None if outcome_at is None else from_micros(outcome_at),
        fresh=fresh,
        step=act.get("step"),
        again_at=None if again_at is None else from_micros(again_at),
    )


def named(key: str) -> str:
    """Return an object's key for messages."""
    return f"the object `{', '.join(str(part) for part in parse_canonical(key))}`"

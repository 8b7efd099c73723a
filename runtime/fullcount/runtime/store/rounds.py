"""Approval rounds: one try to reach the quorum for one digest, and the key that is minted when it is reached.

Guarantees: the key (32 random bytes) is made in the same transaction as the vote that completes the quorum, never
changes, and never leaves the store; a new round has a new key (R29); an approval that one plan used up carries no
other. A key is kept as long as the store is, so that an act that ended as unknown can be resolved with it at any later
time (R31).
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from sqlalchemy import ColumnElement, bindparam, exists, insert, or_, select, update
from sqlalchemy.orm import Session

from fullcount.runtime.approve.identity import Person
from fullcount.runtime.approve.signing import Signed
from fullcount.runtime.journal.payloads import (
    ApprovalComplete,
    ApprovalOpened,
    ApprovalRevoked,
    Approved,
    ApprovedAutomatically,
    AutomaticRule,
    QuorumRule,
    SeatTaken,
)
from fullcount.runtime.offline.votes import SIGNED_WITHIN
from fullcount.runtime.plan.digest import sha256_text
from fullcount.runtime.store import tables
from fullcount.runtime.store.errors import ApprovalMissing, ApprovalRefused
from fullcount.runtime.store.instants import from_micros, said
from fullcount.runtime.store.runs import who
from fullcount.runtime.store.transaction import Transaction, new_id
from fullcount.runtime.store.views import Round, RoundState, Vote

OPEN, COMPLETE, REVOKED, VOIDED = "open", "complete", "revoked", "voided"
KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class Tally:
    """Whether the people who voted reach the quorum, and who took which seat."""

    reached: bool
    seats: tuple[SeatTaken, ...]


class Voters(Protocol):
    """What the store needs to know of who may approve: the rule, and when it is met."""

    @property
    def rule(self) -> tuple[QuorumRule, ...]:
        """The quorums."""
        ...

    @property
    def signed(self) -> bool:
        """Whether only signed votes count."""
        ...

    def stands(self, vote: Vote, digest: str) -> bool:
        """Whether a vote over a digest counts, as far as signatures go."""
        ...

    def tally(self, uids: frozenset[int]) -> Tally:
        """Return whether these people reach the quorum."""
        ...


_CURRENT: Final = (
    select(tables.ApprovalRound)
    .where(
        tables.ApprovalRound.workflow == bindparam("of"),
        tables.ApprovalRound.proposal == bindparam("which"),
        tables.ApprovalRound.digest == bindparam("sum"),
        tables.ApprovalRound.state.in_((OPEN, COMPLETE)),
        or_(tables.ApprovalRound.used_by.is_(None), tables.ApprovalRound.used_by == bindparam("plan")),
    )
    .order_by(tables.ApprovalRound.position.desc())
    .limit(1)
)
_VOTES: Final = (
    select(tables.ApprovalVote)
    .where(tables.ApprovalVote.round_id == bindparam("round"))
    .order_by(tables.ApprovalVote.at, tables.ApprovalVote.uid)
)


def current_round(session: Session, plan: tables.Plan) -> tables.ApprovalRound | None:
    """Return the newest round that still speaks for this plan, expired or not."""
    found: tables.ApprovalRound | None = session.scalar(
        _CURRENT,
        {"of": plan.workflow, "which": plan.proposal, "sum": plan.digest, "plan": plan.plan_id},
        execution_options={"populate_existing": True},
    )
    return found


def vote(
    tx: Transaction,
    plan: tables.Plan,
    person: Person,
    lifetime: int,
    voters: Voters,
    signed: Signed | None,
    until: int | None = None,
) -> None:
    """Count one person's yes; `lifetime` in microseconds, and not beyond `until`. Raises `ApprovalRefused`.

    `voters` decide over the uids of all votes that count now. Whether the plan may be approved at all was checked, and
    whether the signature is one of this person over this plan.
    """
    expires_at = tx.now + lifetime if until is None else min(tx.now + lifetime, until)
    if expires_at <= tx.now:
        raise ApprovalRefused("FC706", "an approval that lives for no time can't carry an act")
    if signed is not None:
        _fresh(tx, signed)
    round_ = current_round(tx.session, plan)
    if round_ is not None:
        given = [_view(found, tx.now) for found in votes(tx.session, round_.round_id)]
        if round_.state != COMPLETE and any(not each.lapsed and not voters.stands(each, plan.digest) for each in given):
            round_ = None  # what was said before no longer counts, as signatures are asked for now
    if round_ is not None and round_.state == COMPLETE:
        agreed = frozenset(each.person.uid for each in given if not each.lapsed and voters.stands(each, plan.digest))
        if round_.expires_at is not None and round_.expires_at > tx.now and voters.tally(agreed).reached:
            raise ApprovalRefused(
                "FC716",
                f"the plan `{plan.plan_id}` has all its approvals, until {said(round_.expires_at)}",
                help=f"nothing more is needed: `fullcount apply {plan.plan_id}`",
            )
        # it ran out, or somebody who was counted may no longer approve: what is said now begins a new round and key
        round_ = None
    round_id = _opened(tx, plan, voters.rule, signed=voters.signed) if round_ is None else round_.round_id
    live = {found.uid: found for found in votes(tx.session, round_id) if found.expires_at > tx.now}
    if person.uid in live:
        raise ApprovalRefused(
            "FC703",
            f"{person.name} approved this plan already, at {said(live[person.uid].at)}; one person counts once",
            help="someone else must approve it too",
        )
    tx.session.execute(
        insert(tables.ApprovalVote).values(
            round_id=round_id,
            plan_id=plan.plan_id,
            digest=plan.digest,
            uid=person.uid,
            name=person.name,
            at=tx.now,
            expires_at=expires_at,
            signed_at=None if signed is None else signed.signed_at,
            signature=None if signed is None else signed.signature,
        )
    )
    tx.record(
        Approved(
            round_id=round_id,
            plan_id=plan.plan_id,
            digest=plan.digest,
            by=who(person),
            expires_at=expires_at,
            signed_at=None if signed is None else signed.signed_at,
            signature=None if signed is None else signed.signature,
        )
    )
    result = voters.tally(frozenset((*live, person.uid)))
    if result.reached:
        lapse = {**{uid: found.expires_at for uid, found in live.items()}, person.uid: expires_at}
        _complete(tx, plan, round_id, result.seats, min(lapse[seat.uid] for seat in result.seats))


def _fresh(tx: Transaction, signed: Signed) -> None:
    """Refuse a signature that was made long ago, is dated to come, or was given before."""
    if not tx.now - SIGNED_WITHIN <= signed.signed_at <= tx.now:
        raise ApprovalRefused(
            "FC782",
            f"the signature is dated {said(signed.signed_at)}, and it is {said(tx.now)}: one is given as it is made",
            help="sign and approve in one go: `fullcount approve PLAN --digest … --sign KEY`",
        )
    used = select(tables.ApprovalVote.plan_id).where(tables.ApprovalVote.signature == signed.signature).limit(1)
    if tx.session.scalar(used) is not None:
        raise ApprovalRefused(
            "FC782",
            "this signature was given before, and each is for one yes",
            help="sign anew: `fullcount approve PLAN --digest … --sign KEY`",
        )


def approve_automatically(
    tx: Transaction,
    plan: tables.Plan,
    lifetime: int,
    quorums: tuple[QuorumRule, ...],
    rule: AutomaticRule,
    *,
    allowed: int,
    population: int,
) -> bool:
    """Complete a round by the workflow's own rule; return False, and do nothing, where people have decided before.

    A person who has begun to approve this digest, or has taken its approval back, is never overruled by a rule.
    """
    if lifetime <= 0:
        raise ApprovalRefused("FC706", "an approval that lives for no time can't carry an act")
    round_ = current_round(tx.session, plan)
    expired = round_ is not None and round_.expires_at is not None and round_.expires_at <= tx.now
    if (round_ is not None and not expired) or _taken_back(tx.session, plan):
        return False
    round_id = _opened(tx, plan, quorums, signed=False)
    key = secrets.token_bytes(KEY_BYTES)
    decided = ApprovedAutomatically(
        round_id=round_id,
        plan_id=plan.plan_id,
        digest=plan.digest,
        rule=rule,
        allowed=allowed,
        candidates=plan.candidates,
        population=population,
        key_sha256=sha256_text(key),
        expires_at=tx.now + lifetime,
    )
    _completed(tx, round_id, key, decided.expires_at)
    tx.record(decided)
    return True


def revoke_automatic(tx: Transaction, by: Person, reason: str) -> None:
    """Take back every approval that a rule gave and that could still carry an act: a person said stop."""
    because = f"{by.name}: {reason}"
    voteless = ~exists().where(tables.ApprovalVote.round_id == tables.ApprovalRound.round_id)
    query = (
        select(tables.ApprovalRound)
        .where(tables.ApprovalRound.state == COMPLETE, voteless)
        .order_by(tables.ApprovalRound.position)
    )
    for round_ in tx.session.scalars(query).all():
        plan_id = round_.plan_id if round_.used_by is None else round_.used_by
        applied = select(tables.Plan.state).where(tables.Plan.plan_id == plan_id)
        if tx.session.scalar(applied) == "applied":
            continue  # it has carried all that it ever will
        _end(tx, round_.round_id, REVOKED, because)
        tx.record(
            ApprovalRevoked(
                round_id=round_.round_id, plan_id=plan_id, digest=round_.digest, by=who(by), because=because
            )
        )


def _taken_back(session: Session, plan: tables.Plan) -> bool:
    query = select(tables.ApprovalRound.round_id).where(*_of(plan), tables.ApprovalRound.state == REVOKED).limit(1)
    return session.scalar(query) is not None


def revoke(tx: Transaction, plan: tables.Plan, by: Person, reason: str) -> None:
    """Take the approval of a plan back; what was not done yet will not be. Raises `ApprovalRefused`."""
    round_ = current_round(tx.session, plan)
    if round_ is None:
        raise ApprovalRefused("FC709", f"the plan `{plan.plan_id}` has no approval that could be taken back")
    because = f"{by.name}: {reason}"
    _end(tx, round_.round_id, REVOKED, because)
    tx.record(
        ApprovalRevoked(round_id=round_.round_id, plan_id=plan.plan_id, digest=plan.digest, by=who(by), because=because)
    )


def void_others(
    tx: Transaction, workflow: str, proposal: str, digest: str, plan_id: str, of: Sequence[str] | None = None
) -> list[str]:
    """End every unused round of a proposal that was for another digest; return their ids, oldest first.

    `of`: only those of these plans, which an undo replaces; None: those of every plan that is no undo.
    """
    acting = select(tables.Plan.plan_id).where(
        tables.Plan.workflow == workflow, tables.Plan.proposal == proposal, tables.Plan.undoes.is_(None)
    )
    rounds = tx.session.scalars(
        select(tables.ApprovalRound.round_id)
        .where(
            tables.ApprovalRound.workflow == workflow,
            tables.ApprovalRound.proposal == proposal,
            tables.ApprovalRound.digest != digest,
            tables.ApprovalRound.plan_id.in_(acting if of is None else of),
            tables.ApprovalRound.state.in_((OPEN, COMPLETE)),
            tables.ApprovalRound.used_by.is_(None),
        )
        .order_by(tables.ApprovalRound.position)
    ).all()
    for round_id in rounds:
        _end(tx, round_id, VOIDED, voided_because(plan_id))
    return list(rounds)


def voided_because(plan_id: str) -> str:
    """Return why an approval became void, in words."""
    return f"the plan {plan_id} has another digest"


def require_valid(session: Session, plan: tables.Plan, now: int) -> tables.ApprovalRound:
    """Return the round that carries the plan's acts. Raises `ApprovalMissing`, `ApprovalRefused`."""
    round_ = current_round(session, plan)
    show = f"`fullcount approve {plan.plan_id}`"
    if round_ is None:
        ended = taken_back(session, plan)
        if ended is not None:
            raise ApprovalRefused(
                "FC709",
                f"the approval of the plan `{plan.plan_id}` was taken back: {ended}",
                help=f"it must be approved anew: {show}",
            )
        raise ApprovalMissing("FC707", f"nobody has approved the plan `{plan.plan_id}`", help=f"approve it: {show}")
    if round_.state != COMPLETE or round_.expires_at is None or round_.key is None:
        raise ApprovalMissing(
            "FC707", f"the plan `{plan.plan_id}` does not have all its approvals yet", help=f"see who can: {show}"
        )
    if round_.expires_at <= now:
        raise ApprovalRefused(
            "FC708",
            f"the approval of the plan `{plan.plan_id}` ran out at {said(round_.expires_at)}",
            help=f"it must be approved anew: {show}",
        )
    return round_


def taken_back(session: Session, plan: tables.Plan) -> str | None:
    """Return who took the last approval of a plan back, why and when, or what made it void; None: nothing did."""
    ended = _last_ended(session, plan)
    if ended is None:
        return None
    at = "" if ended.ended_at is None else f", at {said(ended.ended_at)}"
    return f"{ended.ended_because}{at}"


def use_up(tx: Transaction, round_id: str, plan_id: str) -> None:
    """Bind an approval to the one plan whose apply uses it."""
    tx.session.execute(
        update(tables.ApprovalRound).where(tables.ApprovalRound.round_id == round_id).values(used_by=plan_id)
    )


def votes(session: Session, round_id: str) -> tuple[tables.ApprovalVote, ...]:
    """Return the votes of a round in the order they were given."""
    return tuple(session.scalars(_VOTES, {"round": round_id}))


def view(session: Session, plan: tables.Plan, now: int) -> Round:
    """Return what people may know of a plan's approval."""
    round_ = current_round(session, plan) or _last_ended(session, plan)
    if round_ is None:
        return Round(round_id=None, state=RoundState.NONE)
    state = RoundState(round_.state)
    if round_.state == COMPLETE and round_.expires_at is not None and round_.expires_at <= now:
        state = RoundState.EXPIRED
    return Round(
        round_id=round_.round_id,
        state=state,
        votes=tuple(_view(found, now) for found in votes(session, round_.round_id)),
        completed_at=None if round_.completed_at is None else from_micros(round_.completed_at),
        expires_at=None if round_.expires_at is None else from_micros(round_.expires_at),
        ended_because=round_.ended_because,
        ended_at=None if round_.ended_at is None else from_micros(round_.ended_at),
    )


def given_votes(session: Session, round_id: str, now: int) -> tuple[Vote, ...]:
    """Return the votes of a round as they are handed out, in the order they were given."""
    return tuple(_view(found, now) for found in votes(session, round_id))


def _view(found: tables.ApprovalVote, now: int) -> Vote:
    unsigned = found.signature is None or found.signed_at is None
    return Vote(
        person=Person(uid=found.uid, name=found.name),
        plan_id=found.plan_id,
        at=from_micros(found.at),
        expires_at=from_micros(found.expires_at),
        lapsed=found.expires_at <= now,
        signed=None if unsigned else Signed(str(found.signature), int(found.signed_at or 0)),
    )


def _of(plan: tables.Plan) -> tuple[ColumnElement[bool], ...]:
    return (
        tables.ApprovalRound.workflow == plan.workflow,
        tables.ApprovalRound.proposal == plan.proposal,
        tables.ApprovalRound.digest == plan.digest,
    )


def _last_ended(session: Session, plan: tables.Plan) -> tables.ApprovalRound | None:
    return session.scalar(
        select(tables.ApprovalRound)
        .where(
            *_of(plan),
            tables.ApprovalRound.state.in_((REVOKED, VOIDED)),
            or_(tables.ApprovalRound.used_by.is_(None), tables.ApprovalRound.used_by == plan.plan_id),
        )
        .order_by(tables.ApprovalRound.position.desc())
        .limit(1)
    )


def _opened(tx: Transaction, plan: tables.Plan, rule: tuple[QuorumRule, ...], *, signed: bool) -> str:
    round_id = new_id()
    opened = ApprovalOpened(round_id=round_id, plan_id=plan.plan_id, digest=plan.digest, rule=rule, signed=signed)
    position = tx.record(opened)
    tx.session.execute(
        insert(tables.ApprovalRound).values(
            round_id=round_id,
            plan_id=plan.plan_id,
            digest=plan.digest,
            workflow=plan.workflow,
            proposal=plan.proposal,
            state=OPEN,
            position=position,
            opened_at=tx.now,
        )
    )
    return round_id


def _complete(tx: Transaction, plan: tables.Plan, round_id: str, seats: tuple[SeatTaken, ...], expires_at: int) -> None:
    key = secrets.token_bytes(KEY_BYTES)
    _completed(tx, round_id, key, expires_at)
    tx.record(
        ApprovalComplete(
            round_id=round_id,
            plan_id=plan.plan_id,
            digest=plan.digest,
            seats=seats,
            key_sha256=sha256_text(key),
            expires_at=expires_at,
        )
    )


def _completed(tx: Transaction, round_id: str, key: bytes, expires_at: int) -> None:
    tx.session.execute(
        update(tables.ApprovalRound)
        .where(tables.ApprovalRound.round_id == round_id)
        .values(state=COMPLETE, completed_at=tx.now, expires_at=expires_at, key=key, key_sha256=sha256_text(key))
    )


def _end(tx: Transaction, round_id: str, state: str, because: str) -> None:
    tx.session.execute(
        update(tables.ApprovalRound)
        .where(tables.ApprovalRound.round_id == round_id)
        .values(state=state, ended_at=tx.now, ended_because=because)
    )

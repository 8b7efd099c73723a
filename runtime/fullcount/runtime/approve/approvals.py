"""Giving an approval, and telling how far one has come.

Guarantees: a yes counts only over the digest that the approver saw, from a person whom the system vouches for, who
holds a role that the workflow names, and who is not its author where that is barred; and the decision is made inside
the store's transaction, so that two approvers at once can't both be the last. The approval's key is never shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from fullcount.compiler.document import workflow_from_document
from fullcount.compiler.program import Approval
from fullcount.runtime.approve.automatic import automatic_rule, why_asked
from fullcount.runtime.approve.electorate import Electorate, resolve
from fullcount.runtime.approve.identity import Person, name_of
from fullcount.runtime.approve.signing import UNSIGNED, Signed, Signing
from fullcount.runtime.store.errors import ApprovalRefused
from fullcount.runtime.store.plans import makers
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.views import LedgerEntry, Round, RoundState, StoredPlan, Vote


@dataclass(frozen=True, slots=True)
class QuorumStatus:
    """How far one quorum has come. `eligible` are the people who may still fill it."""

    role: str
    needed: int
    have: int
    not_by_author: bool
    eligible: tuple[Person, ...]


@dataclass(frozen=True, slots=True)
class Automatically:
    """A decision by rule: its conditions in words, and what they were held against."""

    words: str
    candidates: int
    population: int
    reversible: bool


@dataclass(frozen=True, slots=True)
class ApprovalStatus:
    """How far the approval of a plan has come. `approved` is the one field that decisions read."""

    plan_id: str
    digest: str
    approved: bool
    state: RoundState
    quorums: tuple[QuorumStatus, ...]
    votes: tuple[Vote, ...]
    expires_at: datetime | None
    """When the approval, or the first of the votes so far, runs out."""
    ended_because: str | None = None
    """Who took it back and why, or what made it void."""
    ended_at: datetime | None = None
    automatic: Automatically | None = None
    """The workflow's own rule, where it approved the plan and nobody was asked."""
    asked_because: str | None = None
    """Why the workflow's own rule does not approve the plan, where it has one."""
    broken: str | None = None
    """Why an approval that was complete no longer holds: somebody who was counted may no longer approve."""
    unsigned: str | None = None
    """Why an approval that was complete no longer holds: a signature that it rests on is missing or holds no more."""
    unreachable: str | None = None
    """Why it can't be completed as the roles are now, whoever agrees."""

    @property
    def missing(self) -> int:
        """How many people must still agree."""
        return 0 if self.approved else sum(quorum.needed - quorum.have for quorum in self.quorums)


def give(
    store: Store,
    plan: StoredPlan,
    approval: Approval,
    roles: Mapping[str, Sequence[str]],
    person: Person,
    *,
    digest: str | None = None,
    signing: Signing = UNSIGNED,
    signed: Signed | None = None,
) -> ApprovalStatus:
    """Count this person's yes over the plan that they saw, and return how far the approval has come.

    `signing` is what the workspace asks for of signatures, `signed` the one that was given.

    `digest`: what the approver said they decide over, when they said it; it must be the plan's. Raises
    `ApprovalRefused`, `PlanRefused`, `PlanStale`, `PlanNotFound`.
    """
    document = plan.document
    electorate = _electorate(plan, approval, roles, signing)
    electorate.check(person)
    why = signing.why_not(document.plan_id, document.digest, person, signed)
    if why is not None:
        raise ApprovalRefused(
            "FC781" if signed is None else "FC782",
            f"{why}; nothing was approved",
            help=f"sign it with an Ed25519 key of `allowed_signers`: `fullcount approve {document.plan_id} "
            "--digest … --sign ~/.ssh/id_ed25519`",
        )
    round_ = store.record_vote(
        document.plan_id,
        document.digest if digest is None else digest,
        person,
        timedelta(microseconds=approval.expires),
        electorate,
        signed,
        _until(store, plan),
    )
    return _status(plan, electorate, round_)


def strike(
    store: Store,
    plan: StoredPlan,
    approval: Approval,
    roles: Mapping[str, Sequence[str]],
    person: Person,
    keys: Sequence[tuple[Any, ...]],
    because: str | None = None,
) -> StoredPlan:
    """Strike rows from a plan and return the plan that takes its place, with nobody's approval yet.

    Whoever has a role that may approve can do it, also an author: it only takes away from what they proposed. Raises
    `ApprovalRefused`, `NotListed`, `PlanRefused`, `PlanStale`, `PlanNotFound`.
    """
    _electorate(plan, approval, roles).check_member(person)
    return store.strike_plan(plan.document.plan_id, keys, person, because)


def settle(
    store: Store,
    plan: StoredPlan,
    approval: Approval,
    roles: Mapping[str, Sequence[str]],
    person: Person,
    keys: Sequence[tuple[Any, ...]],
    *,
    took_effect: bool,
    because: str,
) -> tuple[LedgerEntry, ...]:
    """Record what a person says came of acts of which nobody knows whether they took effect.

    Whoever has a role that may approve can do it. Raises `ApprovalRefused`, `NothingToSettle`, `LeaseHeld`.
    """
    _electorate(plan, approval, roles).check_member(person)
    return store.settle(plan.document.plan_id, keys, took_effect=took_effect, by=person, because=because)


def decide(
    store: Store,
    plan: StoredPlan,
    approval: Approval,
    roles: Mapping[str, Sequence[str]],
    *,
    allowed: int,
    signing: Signing = UNSIGNED,
) -> ApprovalStatus:
    """Approve the plan by its workflow's own rule if that holds, and return how far the approval has come.

    `allowed` is the workspace's policy as it is now. Raises `ApprovalRefused`, `PlanRefused`, `PlanStale`.
    """
    rule, document = approval.automatic, plan.document
    electorate = _electorate(plan, approval, roles, signing)
    if rule is not None and why_asked(document, rule, allowed) is None:
        journaled = automatic_rule(workflow_from_document(document.program), document.proposal)
        if journaled is not None:
            store.approve_automatically(
                document.plan_id,
                document.digest,
                timedelta(microseconds=approval.expires),
                electorate.rule,
                journaled,
                allowed=allowed,
                population=document.sums.inventory,
            )
    return status(store, plan, approval, roles, allowed=allowed, signing=signing)


def status(
    store: Store,
    plan: StoredPlan,
    approval: Approval,
    roles: Mapping[str, Sequence[str]],
    *,
    allowed: int = 0,
    signing: Signing = UNSIGNED,
) -> ApprovalStatus:
    """Return how far the approval of a plan has come. Raises `ApprovalRefused` when a role can't be resolved.

    What the workflow's own rule approved counts only as long as the workspace's policy, `allowed`, has room for it.
    """
    electorate = _electorate(plan, approval, roles, signing)
    found = _status(plan, electorate, store.approval_round(plan.document.plan_id), allowed)
    rule = approval.automatic
    if rule is None:
        return found
    if found.approved and found.automatic is not None:
        return replace(found, automatic=replace(found.automatic, words=rule.text))
    return found if found.approved else replace(found, asked_because=why_asked(plan.document, rule, allowed))


def _until(store: Store, plan: StoredPlan) -> datetime | None:
    """Return until when a yes may live at most: that of an undo as long as the undo. Raises `ApprovalRefused` after."""
    undo = plan.document.undo
    if undo is None:
        return None
    if store.now() >= undo.valid_until:
        raise ApprovalRefused(
            "FC801",
            f"the undo `{plan.document.plan_id}` could be approved until {undo.valid_until:%Y-%m-%d %H:%M} UTC",
            help=f"the objects may have changed since: look again with `fullcount undo {undo.plan_id}`",
        )
    return undo.valid_until


def _electorate(
    plan: StoredPlan, approval: Approval, roles: Mapping[str, Sequence[str]], signing: Signing = UNSIGNED
) -> Electorate:
    return resolve(approval.quorums, roles, makers(plan.document), signing)


def _status(plan: StoredPlan, electorate: Electorate, round_: Round, allowed: int = 0) -> ApprovalStatus:
    given = tuple(vote for vote in round_.votes if not vote.lapsed)
    live = tuple(vote for vote in given if electorate.stands(vote, plan.document.digest))
    complete = round_.state is RoundState.COMPLETE
    broken = electorate.no_longer([vote.person for vote in live]) if complete and not round_.automatic else None
    unsigned = electorate.unsigned(given, plan.document.digest)
    if unsigned is not None and broken is not None:
        broken = unsigned
    by_rule = round_.automatic
    approved = complete and broken is None and (not by_rule or plan.document.sums.candidates <= allowed)
    speaks = approved or round_.state is RoundState.OPEN
    uids = frozenset(vote.person.uid for vote in live) if speaks else frozenset[int]()
    filled = electorate.fill(uids)
    sums, act = plan.document.sums, plan.document.act
    expires_at = None if broken is not None else round_.expires_at
    if round_.state is RoundState.OPEN and live:
        expires_at = min(vote.expires_at for vote in live)
    return ApprovalStatus(
        plan_id=plan.document.plan_id,
        digest=plan.document.digest,
        approved=approved,
        state=round_.state,
        quorums=tuple(
            QuorumStatus(
                role=seat.quorum.role,
                needed=seat.quorum.count,
                have=seat.quorum.count
                if approved and not round_.automatic
                else sum(1 for place in filled if place[0] == index),
                not_by_author=seat.quorum.not_by_author,
                eligible=tuple(Person(uid=uid, name=name_of(uid)) for uid in sorted(seat.eligible - uids)),
            )
            for index, seat in enumerate(electorate.seats)
        ),
        votes=round_.votes,
        expires_at=expires_at,
        ended_because=round_.ended_because,
        ended_at=round_.ended_at,
        automatic=Automatically("", sums.candidates, sums.inventory, act is not None and act["reversible"] is True)
        if round_.automatic
        else None,
        broken=broken,
        unsigned=None if broken is None else unsigned,
        unreachable=None if approved else electorate.unreachable(uids),
    )

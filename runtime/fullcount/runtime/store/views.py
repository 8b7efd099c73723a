"""What the store hands out: frozen values, instants with an offset, never rows of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from fullcount.runtime.approve.identity import Person
from fullcount.runtime.approve.signing import Signed
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.plan.document import CertificateDoc, PlanDocument


class RunKind(StrEnum):
    """What a run is for."""

    PLAN = "plan"
    APPLY = "apply"
    UNDO = "undo"


class PlanState(StrEnum):
    """Where a plan stands."""

    WAITING = "waiting"
    APPROVED = "approved"
    APPLYING = "applying"
    """An apply has begun and not every object has its outcome yet: it can be gone on with."""
    APPLIED = "applied"
    SUPERSEDED = "superseded"
    OVER_CAP = "over_cap"
    EXPIRED = "expired"
    """It was approved, and the approval ran out."""


class ActKind(StrEnum):
    """Doing and undoing are two acts on one object, each with its own key and outcome.

    So are the restore of an object of the canary that is rehearsed, and acting on it again after that.
    """

    ACT = "act"
    UNDO = "undo"
    REHEARSE_UNDO = "rehearse_undo"
    REHEARSE_AGAIN = "rehearse_again"


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run."""

    run_id: str
    workflow: str
    kind: RunKind
    by: Person
    plan_id: str | None
    slot_id: str | None
    started_at: datetime
    finished_at: datetime | None
    state: str
    exit: int | None
    summary: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class StoredCertificate:
    """A certificate with the instant that its freshness counts from."""

    document: CertificateDoc
    observed_at: datetime


@dataclass(frozen=True, slots=True)
class StoredPlan:
    """A plan that fits its hash, its schema and its digest. `sha256` is over the whole document."""

    document: PlanDocument
    state: PlanState
    sha256: str
    saved_at: datetime
    superseded_by: str | None = None


@dataclass(frozen=True, slots=True)
class PlanBrief:
    """A plan for lists: without its document, which can be large."""

    plan_id: str
    workflow: str
    proposal: str
    digest: str
    candidates: int
    state: PlanState
    saved_at: datetime
    superseded_by: str | None
    undoes: str | None = None
    """The plan that it takes back; None: it is no undo."""


@dataclass(frozen=True, slots=True)
class Vote:
    """One person's yes to a plan, and until when it counts. `signed`: its signature, which may or may not hold."""

    person: Person
    plan_id: str
    at: datetime
    expires_at: datetime
    lapsed: bool
    signed: Signed | None = None


class RoundState(StrEnum):
    """How far an approval has come."""

    NONE = "none"
    OPEN = "open"
    COMPLETE = "complete"
    EXPIRED = "expired"
    REVOKED = "revoked"
    VOIDED = "voided"
    """A plan with another digest took the place of the approved one."""


@dataclass(frozen=True, slots=True)
class Round:
    """The approval that a plan has, if any. The key itself never leaves the store."""

    round_id: str | None
    state: RoundState
    votes: tuple[Vote, ...] = ()
    completed_at: datetime | None = None
    expires_at: datetime | None = None
    ended_because: str | None = None
    ended_at: datetime | None = None

    @property
    def automatic(self) -> bool:
        """Whether it was completed by the workflow's own rule: nobody has voted in it."""
        return self.completed_at is not None and len(self.votes) == 0


@dataclass(frozen=True, slots=True)
class Fence:
    """The right to write as long as nobody claimed the lease later: `token` only ever grows."""

    name: str
    holder: str
    token: int
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Intent:
    """What is about to be done to one object. `object_key` is the key of the plan's row.

    `read_ago`: how long ago the object was read, on the ground of which this is meant.
    """

    object_key: tuple[Any, ...]
    operation: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    read_ago: timedelta = timedelta(0)


@dataclass(frozen=True, slots=True)
class OutcomeEntry:
    """What came of one object. `before` holds what an undo needs, as JSON values."""

    object_key: tuple[Any, ...]
    outcome: Outcome
    reason: str | None = None
    detail: str = ""
    before: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """What the ledger holds for one object.

    `fresh` is True only in the answer of the call that recorded the intent: whoever gets an entry that is not fresh
    must not call the target, but go by `outcome` (None or `unknown`: resolve it by reading, or by the same key).
    """

    act_id: str
    plan_id: str
    object_key: tuple[Any, ...]
    kind: ActKind
    operation: str | None
    parameters: Mapping[str, Any] | None
    idempotency_key: str | None
    intent_at: datetime | None
    outcome: Outcome | None
    reason: str | None
    detail: str
    before: Mapping[str, Any]
    outcome_at: datetime | None
    fresh: bool = False
    step: str | None = None
    again_at: datetime | None = None

    @property
    def last_meant_at(self) -> datetime | None:
        """When it was meant for the last time: from then on counts how long a call of it may still arrive.

        How long a target knows its key counts from the first time, `intent_at`.
        """
        return self.intent_at if self.again_at is None else self.again_at

    @property
    def open(self) -> bool:
        """Whether nobody knows yet what came of it."""
        return self.outcome in (None, Outcome.UNKNOWN)


@dataclass(frozen=True, slots=True)
class CanaryRow:
    """The first objects of a plan, until when the rest waits, and when they were found to hold."""

    plan_id: str
    object_keys: tuple[tuple[Any, ...], ...]
    waits_from: datetime
    waits_until: datetime
    passed_at: datetime | None


class StepStanding(StrEnum):
    """Where an object stands in a graduated act."""

    OPEN = "open"
    LAPSED = "lapsed"
    """It no longer qualified, and was not released yet."""
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class StepRow:
    """The clock of one object in a graduated act.

    `step` was done last, at `since`; None: it was first selected then, and waits for the first step.
    """

    object_key: tuple[Any, ...]
    incarnation: str
    standing: StepStanding
    step: str | None
    since: datetime
    plan_id: str
    ended_because: str | None = None


@dataclass(frozen=True, slots=True)
class StepCount:
    """How many objects of a proposal stand at a step, and since when the first of them does."""

    workflow: str
    proposal: str
    step: str | None
    standing: StepStanding
    objects: int
    first_since: datetime


@dataclass(frozen=True, slots=True)
class WarningRow:
    """A warning that the last reading of an inventory came with: since when, and how many in a row.

    `first_seen` is when it came for the first time ever, `since` when the row of readings began.
    """

    workflow: str
    inventory: str
    resource: str
    code: str
    owner: str
    first_seen: datetime
    since: datetime
    last_seen: datetime
    runs: int


class NoticeState(StrEnum):
    """What came of a notice."""

    PENDING = "pending"
    SENDING = "sending"
    DELIVERED = "delivered"
    FAILED = "failed"
    """It was surely not taken, and is not tried again."""
    UNKNOWN = "unknown"
    """The answer was lost: it may have been taken, so it is not sent a second time."""


@dataclass(frozen=True, slots=True)
class NoticeRow:
    """What somebody is told of the end of a run, and what came of it."""

    notice_id: str
    run_id: str
    workflow: str
    event: str
    target: str
    title: str
    body: Mapping[str, Any]
    state: NoticeState
    attempts: int
    next_at: datetime | None
    detail: str
    queued_at: datetime


@dataclass(frozen=True, slots=True)
class Paused:
    """A plan whose apply is paused, and from when on it can be gone on with. `run_id`: the run that paused."""

    plan_id: str
    workflow: str
    proposal: str
    run_id: str
    resumes_at: datetime


@dataclass(frozen=True, slots=True)
class SlotRow:
    """A planned instant of a schedule and what became of it."""

    slot_id: str
    workflow: str
    planned_at: datetime
    local_day: str | None
    state: str
    holder: str
    claimed_at: datetime
    finished_at: datetime | None
    detail: str

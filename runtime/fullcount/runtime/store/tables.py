"""The tables. They are projections of the journal: `journal.verify` recomputes them from it and compares.

Instants are integers, microseconds since the epoch in UTC (columns `…_at`). JSON is canonical text, so that a hash can
be taken over what is stored. Every change of a table here needs a migration; a test compares the two.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}

ULID = String(26)
NAME = String(255)
HASH = String(71)
"""`sha256:` and 64 hexadecimal digits."""


class Base(DeclarativeBase):
    """The declarative base, with named constraints so that migrations can name them."""

    metadata = MetaData(naming_convention=NAMING)


def _one_of(column: str, *values: str) -> CheckConstraint:
    return CheckConstraint(f"{column} IN ({', '.join(repr(value) for value in values)})", name=column)


class JournalEntry(Base):
    """One link of the hash chain. Triggers refuse update, delete, and any `seq` but the next."""

    __tablename__ = "journal"

    seq: Mapped[int] = mapped_column(
        BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False
    )
    at: Mapped[int] = mapped_column(BigInteger)
    kind: Mapped[str] = mapped_column(String(64))
    run_id: Mapped[str | None] = mapped_column(ULID)
    payload: Mapped[str] = mapped_column(Text)
    prev: Mapped[str] = mapped_column(HASH)
    hash: Mapped[str] = mapped_column(HASH)


class JournalHead(Base):
    """The last link, kept apart so that a cut tail shows. Locking its one row makes writers take turns."""

    __tablename__ = "journal_head"
    __table_args__ = (CheckConstraint("id = 1", name="one_row"),)

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    seq: Mapped[int] = mapped_column(BigInteger)
    hash: Mapped[str] = mapped_column(HASH)


class Run(Base):
    """One run of a workflow: making a plan, applying it, or undoing it."""

    __tablename__ = "runs"
    __table_args__ = (_one_of("kind", "plan", "apply", "undo"), Index(None, "workflow"))

    run_id: Mapped[str] = mapped_column(ULID, primary_key=True)
    workflow: Mapped[str] = mapped_column(NAME)
    kind: Mapped[str] = mapped_column(String(16))
    by_uid: Mapped[int] = mapped_column(BigInteger)
    by_name: Mapped[str] = mapped_column(NAME)
    plan_id: Mapped[str | None] = mapped_column(ULID)
    slot_id: Mapped[str | None] = mapped_column(ULID)
    started_at: Mapped[int] = mapped_column(BigInteger)
    finished_at: Mapped[int | None] = mapped_column(BigInteger)
    state: Mapped[str] = mapped_column(String(32))
    exit: Mapped[int | None] = mapped_column(Integer)
    summary: Mapped[str | None] = mapped_column(Text)


class Evidence(Base):
    """An envelope as it was received."""

    __tablename__ = "envelopes"
    __table_args__ = (Index(None, "workflow", "inventory"),)

    envelope_id: Mapped[str] = mapped_column(ULID, primary_key=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.run_id"))
    workflow: Mapped[str] = mapped_column(NAME)
    inventory: Mapped[str] = mapped_column(NAME)
    complete: Mapped[bool] = mapped_column(Boolean)
    rows: Mapped[int] = mapped_column(BigInteger)
    snapshot_digest: Mapped[str | None] = mapped_column(HASH)
    document: Mapped[str] = mapped_column(Text)
    sha256: Mapped[str] = mapped_column(HASH)
    recorded_at: Mapped[int] = mapped_column(BigInteger)


class SeenWarning(Base):
    """A warning of an inventory: when it was first seen, and how many readings in a row had it, 0 when it is over."""

    __tablename__ = "seen_warnings"

    workflow: Mapped[str] = mapped_column(NAME, primary_key=True)
    inventory: Mapped[str] = mapped_column(NAME, primary_key=True)
    code: Mapped[str] = mapped_column(String(64), primary_key=True)
    resource: Mapped[str] = mapped_column(Text)
    """`hr.employees`"""
    owner: Mapped[str] = mapped_column(Text)
    """Of the workflow, as it was said at the last reading."""
    first_seen_at: Mapped[int] = mapped_column(BigInteger)
    since_at: Mapped[int] = mapped_column(BigInteger)
    """When the row of readings began."""
    last_seen_at: Mapped[int] = mapped_column(BigInteger)
    runs: Mapped[int] = mapped_column(Integer)


class Certificate(Base):
    """That the claims of a `verify` held for a snapshot."""

    __tablename__ = "certificates"
    __table_args__ = (Index(None, "workflow", "inventory"),)

    certificate_id: Mapped[str] = mapped_column(ULID, primary_key=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.run_id"))
    workflow: Mapped[str] = mapped_column(NAME)
    inventory: Mapped[str] = mapped_column(NAME)
    rows: Mapped[int] = mapped_column(BigInteger)
    snapshot_digest: Mapped[str] = mapped_column(HASH)
    observed_at: Mapped[int] = mapped_column(BigInteger)
    series: Mapped[str | None] = mapped_column(HASH)
    """The fingerprint of the question, with whose other readings it is compared; None: it says nothing of what is
    usual, being partial or far below the others."""
    document: Mapped[str] = mapped_column(Text)
    sha256: Mapped[str] = mapped_column(HASH)
    recorded_at: Mapped[int] = mapped_column(BigInteger)


class Plan(Base):
    """A plan. `state` is what happened to it; whether it is approved stands in its approval round."""

    __tablename__ = "plans"
    __table_args__ = (
        _one_of("state", "open", "applying", "applied"),
        Index(None, "workflow", "proposal"),
        Index(None, "undoes"),
    )

    plan_id: Mapped[str] = mapped_column(ULID, primary_key=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.run_id"))
    workflow: Mapped[str] = mapped_column(NAME)
    proposal: Mapped[str] = mapped_column(NAME)
    digest: Mapped[str] = mapped_column(HASH)
    candidates: Mapped[int] = mapped_column(BigInteger)
    over_cap: Mapped[bool] = mapped_column(Boolean)
    document: Mapped[str] = mapped_column(Text, deferred=True)
    """Can be megabytes, and most look at a plan's state only: read when it is asked for."""
    sha256: Mapped[str] = mapped_column(HASH)
    saved_at: Mapped[int] = mapped_column(BigInteger)
    position: Mapped[int] = mapped_column(BigInteger, unique=True)
    """The journal entry that recorded it: the order of plans, whatever a clock says."""
    state: Mapped[str] = mapped_column(String(16))
    superseded_by: Mapped[str | None] = mapped_column(ULID)
    undoes: Mapped[str | None] = mapped_column(ULID)
    """The plan whose acts it takes back; None: it is no undo."""
    applying_at: Mapped[int | None] = mapped_column(BigInteger)
    applied_at: Mapped[int | None] = mapped_column(BigInteger)


class PlanObject(Base):
    """An object that a plan lists. The ledger refers to it: no act on an object that the plan does not name."""

    __tablename__ = "plan_objects"

    plan_id: Mapped[str] = mapped_column(ForeignKey("plans.plan_id"), primary_key=True)
    object_key: Mapped[str] = mapped_column(Text, primary_key=True)
    """Canonical JSON of the key's parts."""
    step: Mapped[str | None] = mapped_column(NAME)
    """In a graduated act: the step that is due, or `release`. Triggers refuse to change this and what follows."""
    incarnation: Mapped[str | None] = mapped_column(Text)
    before_step: Mapped[str | None] = mapped_column(NAME)
    """The step that was done last; None: none was."""
    since_at: Mapped[int | None] = mapped_column(BigInteger)
    """When that was, or when the object was first selected; None: no clock runs for it."""
    due_at: Mapped[int | None] = mapped_column(BigInteger)


class StepState(Base):
    """Where an object stands in a graduated act. Its next life overwrites an ended one; the journal has them all."""

    __tablename__ = "step_states"
    __table_args__ = (_one_of("state", "open", "lapsed", "ended"),)

    workflow: Mapped[str] = mapped_column(NAME, primary_key=True)
    proposal: Mapped[str] = mapped_column(NAME, primary_key=True)
    object_key: Mapped[str] = mapped_column(Text, primary_key=True)
    incarnation: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(String(16))
    """`lapsed`: it no longer qualified, and was not released yet."""
    step: Mapped[str | None] = mapped_column(NAME)
    """The step that was done last; None: it was selected, and waits for the first."""
    since_at: Mapped[int] = mapped_column(BigInteger)
    """When that was, by the store's time: the clock of the next step."""
    plan_id: Mapped[str] = mapped_column(ForeignKey("plans.plan_id"))
    """The plan under which it came to stand there."""
    changed_at: Mapped[int] = mapped_column(BigInteger)
    ended_because: Mapped[str | None] = mapped_column(Text)


class ApprovalRound(Base):
    """One try to reach the quorum for a digest. Its key is minted when it is reached; a new round has a new key."""

    __tablename__ = "approval_rounds"
    __table_args__ = (
        _one_of("state", "open", "complete", "revoked", "voided"),
        Index(None, "workflow", "proposal", "digest"),
    )

    round_id: Mapped[str] = mapped_column(ULID, primary_key=True)
    workflow: Mapped[str] = mapped_column(NAME)
    proposal: Mapped[str] = mapped_column(NAME)
    digest: Mapped[str] = mapped_column(HASH)
    plan_id: Mapped[str] = mapped_column(ForeignKey("plans.plan_id"))
    """The plan that stood when the round was opened; re-made equal plans share the round."""
    state: Mapped[str] = mapped_column(String(16))
    position: Mapped[int] = mapped_column(BigInteger, unique=True)
    opened_at: Mapped[int] = mapped_column(BigInteger)
    completed_at: Mapped[int | None] = mapped_column(BigInteger)
    expires_at: Mapped[int | None] = mapped_column(BigInteger)
    key: Mapped[bytes | None] = mapped_column(LargeBinary(32))
    key_sha256: Mapped[str | None] = mapped_column(HASH)
    used_by: Mapped[str | None] = mapped_column(ForeignKey("plans.plan_id"))
    """The one plan whose apply used the approval up."""
    ended_at: Mapped[int | None] = mapped_column(BigInteger)
    ended_because: Mapped[str | None] = mapped_column(Text)


class ApprovalVote(Base):
    """One person's yes."""

    __tablename__ = "approval_votes"

    round_id: Mapped[str] = mapped_column(ForeignKey("approval_rounds.round_id"), primary_key=True)
    plan_id: Mapped[str] = mapped_column(ForeignKey("plans.plan_id"))
    digest: Mapped[str] = mapped_column(HASH)
    uid: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    name: Mapped[str] = mapped_column(NAME)
    at: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    expires_at: Mapped[int] = mapped_column(BigInteger)
    signed_at: Mapped[int | None] = mapped_column(BigInteger)
    """The instant that the signed statement names; None, with `signature`: it is not signed."""
    signature: Mapped[str | None] = mapped_column(Text)


class Act(Base):
    """What was meant for one object and what came of it. Triggers refuse to change an intent or a final outcome."""

    __tablename__ = "acts"
    __table_args__ = (
        ForeignKeyConstraint(["plan_id", "object_key"], ["plan_objects.plan_id", "plan_objects.object_key"]),
        UniqueConstraint("plan_id", "object_key", "kind"),
        UniqueConstraint("idempotency_key"),
        Index(
            "ix_acts_object_key",
            "object_key",
            sqlite_where=text("intent_at IS NOT NULL"),
            postgresql_where=text("intent_at IS NOT NULL"),
        ),
        _one_of("kind", "act", "undo", "rehearse_undo", "rehearse_again"),
        _one_of("outcome", "done", "already_gone", "changed", "refused", "failed", "unknown"),
    )

    act_id: Mapped[str] = mapped_column(ULID, primary_key=True)
    plan_id: Mapped[str] = mapped_column(ForeignKey("plans.plan_id"))
    object_key: Mapped[str] = mapped_column(Text)
    kind: Mapped[str] = mapped_column(String(16))
    step: Mapped[str | None] = mapped_column(NAME)
    operation: Mapped[str | None] = mapped_column(NAME)
    parameters: Mapped[str | None] = mapped_column(Text)
    parameters_sha256: Mapped[str | None] = mapped_column(HASH)
    idempotency_key: Mapped[str | None] = mapped_column(String(64))
    round_id: Mapped[str | None] = mapped_column(ForeignKey("approval_rounds.round_id"))
    intent_run_id: Mapped[str | None] = mapped_column(ForeignKey("runs.run_id"))
    intent_at: Mapped[int | None] = mapped_column(BigInteger)
    """None: the object was left alone before anything was meant for it (changed, gone, refused at the recheck)."""
    again_at: Mapped[int | None] = mapped_column(BigInteger)
    """When it was last meant again, to be gone on with under the same key; None: it was meant once."""
    outcome: Mapped[str | None] = mapped_column(String(16))
    reason: Mapped[str | None] = mapped_column(String(64))
    detail: Mapped[str | None] = mapped_column(Text)
    before: Mapped[str | None] = mapped_column(Text)
    outcome_run_id: Mapped[str | None] = mapped_column(ForeignKey("runs.run_id"))
    outcome_at: Mapped[int | None] = mapped_column(BigInteger)


class Canary(Base):
    """The first objects of a plan, acted on before the rest. Triggers refuse to change anything but that it passed."""

    __tablename__ = "canaries"

    plan_id: Mapped[str] = mapped_column(ForeignKey("plans.plan_id"), primary_key=True)
    objects: Mapped[str] = mapped_column(Text)
    """Canonical JSON of the keys for which an act was meant."""
    waits_from: Mapped[int] = mapped_column(BigInteger)
    waits_until: Mapped[int] = mapped_column(BigInteger)
    passed_at: Mapped[int | None] = mapped_column(BigInteger)


class Notice(Base):
    """What somebody is told of the end of a run, kept with it. Triggers refuse to change all but what came of it."""

    __tablename__ = "notices"
    __table_args__ = (
        UniqueConstraint("run_id", "event", "target"),
        _one_of("state", "pending", "sending", "delivered", "failed", "unknown"),
        Index(None, "state"),
    )

    notice_id: Mapped[str] = mapped_column(ULID, primary_key=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.run_id"))
    workflow: Mapped[str] = mapped_column(NAME)
    event: Mapped[str] = mapped_column(String(16))
    target: Mapped[str] = mapped_column(NAME)
    title: Mapped[str] = mapped_column(Text)
    body: Mapped[str] = mapped_column(Text)
    sha256: Mapped[str] = mapped_column(HASH)
    state: Mapped[str] = mapped_column(String(16))
    attempts: Mapped[int] = mapped_column(Integer)
    next_at: Mapped[int | None] = mapped_column(BigInteger)
    """When it is tried (again); while it is being sent, from when on whoever sends it is taken for dead."""
    detail: Mapped[str] = mapped_column(Text)
    queued_at: Mapped[int] = mapped_column(BigInteger)
    changed_at: Mapped[int] = mapped_column(BigInteger)


class Lease(Base):
    """Who is at work on what. The row stays for ever, so that the token only ever grows."""

    __tablename__ = "leases"

    name: Mapped[str] = mapped_column(NAME, primary_key=True)
    holder: Mapped[str] = mapped_column(NAME)
    token: Mapped[int] = mapped_column(BigInteger)
    expires_at: Mapped[int] = mapped_column(BigInteger)


class Slot(Base):
    """A planned instant of a schedule: one row, whoever claims it."""

    __tablename__ = "slots"
    __table_args__ = (
        UniqueConstraint("workflow", "planned_at"),
        UniqueConstraint("workflow", "local_day"),
        _one_of("state", "claimed", "finished", "skipped"),
    )

    slot_id: Mapped[str] = mapped_column(ULID, primary_key=True)
    workflow: Mapped[str] = mapped_column(NAME)
    planned_at: Mapped[int] = mapped_column(BigInteger)
    local_day: Mapped[str | None] = mapped_column(String(10))
    """Set for daily schedules, so that each local day has exactly one slot."""
    state: Mapped[str] = mapped_column(String(16))
    holder: Mapped[str] = mapped_column(NAME)
    claimed_at: Mapped[int] = mapped_column(BigInteger)
    finished_at: Mapped[int | None] = mapped_column(BigInteger)
    detail: Mapped[str] = mapped_column(Text)


class Control(Base):
    """Switches. The row `halt` exists exactly while acting is halted, and one `pause/…` for each paused workflow."""

    __tablename__ = "controls"

    name: Mapped[str] = mapped_column(String(32), primary_key=True)
    reason: Mapped[str] = mapped_column(Text)
    by_uid: Mapped[int] = mapped_column(BigInteger)
    by_name: Mapped[str] = mapped_column(NAME)
    set_at: Mapped[int] = mapped_column(BigInteger)

"""The first tables: journal, runs, evidence, plans, approvals, the ledger of acts, leases, slots and controls."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from alembic import op

from fullcount.runtime.store.migrations.guards import guard

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_FINAL: Final = "OLD.outcome IS NOT NULL AND OLD.outcome <> 'unknown'"
_INTENT: Final = (
    "act_id",
    "plan_id",
    "object_key",
    "kind",
    "operation",
    "parameters",
    "parameters_sha256",
    "idempotency_key",
    "round_id",
    "intent_run_id",
    "intent_at",
)
_PLAN: Final = (
    "plan_id",
    "run_id",
    "workflow",
    "proposal",
    "digest",
    "candidates",
    "over_cap",
    "document",
    "sha256",
    "saved_at",
    "position",
)

_GUARDS: Final[tuple[tuple[str, str, str, str], ...]] = (
    # name, table, event, when it is refused
    ("journal_no_update", "journal", "UPDATE", "TRUE"),
    ("journal_no_delete", "journal", "DELETE", "TRUE"),
    ("journal_no_gap", "journal", "INSERT", "NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM journal)"),
    ("journal_head_no_delete", "journal_head", "DELETE", "TRUE"),
    ("journal_head_forward", "journal_head", "UPDATE", "NEW.seq <> OLD.seq + 1"),
    ("plans_no_delete", "plans", "DELETE", "TRUE"),
    ("plan_objects_no_update", "plan_objects", "UPDATE", "TRUE"),
    ("plan_objects_no_delete", "plan_objects", "DELETE", "TRUE"),
    ("acts_no_delete", "acts", "DELETE", "TRUE"),
    ("acts_no_second_outcome", "acts", "UPDATE", _FINAL),
    ("approval_votes_no_update", "approval_votes", "UPDATE", "TRUE"),
    ("approval_votes_no_delete", "approval_votes", "DELETE", "TRUE"),
    ("approval_rounds_no_delete", "approval_rounds", "DELETE", "TRUE"),
    (
        "approval_rounds_one_key",
        "approval_rounds",
        "UPDATE",
        "OLD.key IS NOT NULL AND NEW.key IS DISTINCT FROM OLD.key",
    ),
)


def upgrade() -> None:
    """Make the tables, the journal's head, and the guards."""
    _journal()
    _runs_and_evidence()
    _plans_and_approvals()
    _ledger()
    _coordination()
    head = sa.table("journal_head", sa.column("id"), sa.column("seq"), sa.column("hash"))
    op.bulk_insert(head, [{"id": 1, "seq": 0, "hash": "sha256:" + "0" * 64}])
    for name, table, event, refused in _GUARDS:
        guard(name, table, event, when=refused)
    guard("plans_no_change", "plans", "UPDATE", columns=_PLAN)
    guard("acts_no_new_intent", "acts", "UPDATE", columns=_INTENT)


def _journal() -> None:
    op.create_table(
        "journal",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("run_id", sa.String(length=26), nullable=True),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("prev", sa.String(length=71), nullable=False),
        sa.Column("hash", sa.String(length=71), nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_journal"),
    )
    op.create_table(
        "journal_head",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.String(length=71), nullable=False),
        sa.CheckConstraint("id = 1", name="ck_journal_head_one_row"),
        sa.PrimaryKeyConstraint("id", name="pk_journal_head"),
    )


def _runs_and_evidence() -> None:
    op.create_table(
        "runs",
        sa.Column("run_id", sa.String(length=26), nullable=False),
        sa.Column("workflow", sa.String(length=255), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("by_uid", sa.BigInteger(), nullable=False),
        sa.Column("by_name", sa.String(length=255), nullable=False),
        sa.Column("plan_id", sa.String(length=26), nullable=True),
        sa.Column("slot_id", sa.String(length=26), nullable=True),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.String(length=32), nullable=False),
        sa.Column("exit", sa.Integer(), nullable=True),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.CheckConstraint("kind IN ('plan', 'apply', 'undo')", name="ck_runs_kind"),
        sa.PrimaryKeyConstraint("run_id", name="pk_runs"),
    )
    op.create_index("ix_runs_workflow", "runs", ["workflow"], unique=False)
    op.create_table(
        "certificates",
        sa.Column("certificate_id", sa.String(length=26), nullable=False),
        sa.Column("run_id", sa.String(length=26), nullable=False),
        sa.Column("workflow", sa.String(length=255), nullable=False),
        sa.Column("inventory", sa.String(length=255), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("snapshot_digest", sa.String(length=71), nullable=False),
        sa.Column("observed_at", sa.BigInteger(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("sha256", sa.String(length=71), nullable=False),
        sa.Column("recorded_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.run_id"], name="fk_certificates_run_id"),
        sa.PrimaryKeyConstraint("certificate_id", name="pk_certificates"),
    )
    op.create_index("ix_certificates_workflow_inventory", "certificates", ["workflow", "inventory"], unique=False)
    op.create_table(
        "envelopes",
        sa.Column("envelope_id", sa.String(length=26), nullable=False),
        sa.Column("run_id", sa.String(length=26), nullable=False),
        sa.Column("workflow", sa.String(length=255), nullable=False),
        sa.Column("inventory", sa.String(length=255), nullable=False),
        sa.Column("complete", sa.Boolean(), nullable=False),
        sa.Column("rows", sa.BigInteger(), nullable=False),
        sa.Column("snapshot_digest", sa.String(length=71), nullable=True),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("sha256", sa.String(length=71), nullable=False),
        sa.Column("recorded_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.run_id"], name="fk_envelopes_run_id"),
        sa.PrimaryKeyConstraint("envelope_id", name="pk_envelopes"),
    )
    op.create_index("ix_envelopes_workflow_inventory", "envelopes", ["workflow", "inventory"], unique=False)


def _plans_and_approvals() -> None:
    op.create_table(
        "plans",
        sa.Column("plan_id", sa.String(length=26), nullable=False),
        sa.Column("run_id", sa.String(length=26), nullable=False),
        sa.Column("workflow", sa.String(length=255), nullable=False),
        sa.Column("proposal", sa.String(length=255), nullable=False),
        sa.Column("digest", sa.String(length=71), nullable=False),
        sa.Column("candidates", sa.BigInteger(), nullable=False),
        sa.Column("over_cap", sa.Boolean(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("sha256", sa.String(length=71), nullable=False),
        sa.Column("saved_at", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("superseded_by", sa.String(length=26), nullable=True),
        sa.Column("applying_at", sa.BigInteger(), nullable=True),
        sa.Column("applied_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("state IN ('open', 'applying', 'applied')", name="ck_plans_state"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.run_id"], name="fk_plans_run_id"),
        sa.PrimaryKeyConstraint("plan_id", name="pk_plans"),
        sa.UniqueConstraint("position", name="uq_plans_position"),
    )
    op.create_index("ix_plans_workflow_proposal", "plans", ["workflow", "proposal"], unique=False)
    op.create_table(
        "approval_rounds",
        sa.Column("round_id", sa.String(length=26), nullable=False),
        sa.Column("workflow", sa.String(length=255), nullable=False),
        sa.Column("proposal", sa.String(length=255), nullable=False),
        sa.Column("digest", sa.String(length=71), nullable=False),
        sa.Column("plan_id", sa.String(length=26), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("opened_at", sa.BigInteger(), nullable=False),
        sa.Column("completed_at", sa.BigInteger(), nullable=True),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("key", sa.LargeBinary(length=32), nullable=True),
        sa.Column("key_sha256", sa.String(length=71), nullable=True),
        sa.Column("used_by", sa.String(length=26), nullable=True),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column("ended_because", sa.Text(), nullable=True),
        sa.CheckConstraint("state IN ('open', 'complete', 'revoked', 'voided')", name="ck_approval_rounds_state"),
        sa.ForeignKeyConstraint(["plan_id"], ["plans.plan_id"], name="fk_approval_rounds_plan_id"),
        sa.ForeignKeyConstraint(["used_by"], ["plans.plan_id"], name="fk_approval_rounds_used_by"),
        sa.PrimaryKeyConstraint("round_id", name="pk_approval_rounds"),
        sa.UniqueConstraint("position", name="uq_approval_rounds_position"),
    )
    op.create_index(
        "ix_approval_rounds_workflow_proposal_digest",
        "approval_rounds",
        ["workflow", "proposal", "digest"],
        unique=False,
    )
    op.create_table(
        "plan_objects",
        sa.Column("plan_id", sa.String(length=26), nullable=False),
        sa.Column("object_key", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["plan_id"], ["plans.plan_id"], name="fk_plan_objects_plan_id"),
        sa.PrimaryKeyConstraint("plan_id", "object_key", name="pk_plan_objects"),
    )
    op.create_table(
        "approval_votes",
        sa.Column("round_id", sa.String(length=26), nullable=False),
        sa.Column("plan_id", sa.String(length=26), nullable=False),
        sa.Column("digest", sa.String(length=71), nullable=False),
        sa.Column("uid", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["plan_id"], ["plans.plan_id"], name="fk_approval_votes_plan_id"),
        sa.ForeignKeyConstraint(["round_id"], ["approval_rounds.round_id"], name="fk_approval_votes_round_id"),
        sa.PrimaryKeyConstraint("round_id", "uid", "at", name="pk_approval_votes"),
    )


def _ledger() -> None:
    op.create_table(
        "acts",
        sa.Column("act_id", sa.String(length=26), nullable=False),
        sa.Column("plan_id", sa.String(length=26), nullable=False),
        sa.Column("object_key", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("operation", sa.String(length=255), nullable=True),
        sa.Column("parameters", sa.Text(), nullable=True),
        sa.Column("parameters_sha256", sa.String(length=71), nullable=True),
        sa.Column("idempotency_key", sa.String(length=64), nullable=True),
        sa.Column("round_id", sa.String(length=26), nullable=True),
        sa.Column("intent_run_id", sa.String(length=26), nullable=True),
        sa.Column("intent_at", sa.BigInteger(), nullable=True),
        sa.Column("outcome", sa.String(length=16), nullable=True),
        sa.Column("reason", sa.String(length=64), nullable=True),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.Column("before", sa.Text(), nullable=True),
        sa.Column("outcome_run_id", sa.String(length=26), nullable=True),
        sa.Column("outcome_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("kind IN ('act', 'undo')", name="ck_acts_kind"),
        sa.CheckConstraint(
            "outcome IN ('done', 'already_gone', 'changed', 'refused', 'failed', 'unknown')", name="ck_acts_outcome"
        ),
        sa.ForeignKeyConstraint(["intent_run_id"], ["runs.run_id"], name="fk_acts_intent_run_id"),
        sa.ForeignKeyConstraint(["outcome_run_id"], ["runs.run_id"], name="fk_acts_outcome_run_id"),
        sa.ForeignKeyConstraint(
            ["plan_id", "object_key"],
            ["plan_objects.plan_id", "plan_objects.object_key"],
            name="fk_acts_plan_id_object_key",
        ),
        sa.ForeignKeyConstraint(["plan_id"], ["plans.plan_id"], name="fk_acts_plan_id"),
        sa.ForeignKeyConstraint(["round_id"], ["approval_rounds.round_id"], name="fk_acts_round_id"),
        sa.PrimaryKeyConstraint("act_id", name="pk_acts"),
        sa.UniqueConstraint("idempotency_key", name="uq_acts_idempotency_key"),
        sa.UniqueConstraint("plan_id", "object_key", "kind", name="uq_acts_plan_id_object_key_kind"),
    )


def _coordination() -> None:
    op.create_table(
        "controls",
        sa.Column("name", sa.String(length=32), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("by_uid", sa.BigInteger(), nullable=False),
        sa.Column("by_name", sa.String(length=255), nullable=False),
        sa.Column("set_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_controls"),
    )
    op.create_table(
        "leases",
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("holder", sa.String(length=255), nullable=False),
        sa.Column("token", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_leases"),
    )
    op.create_table(
        "slots",
        sa.Column("slot_id", sa.String(length=26), nullable=False),
        sa.Column("workflow", sa.String(length=255), nullable=False),
        sa.Column("planned_at", sa.BigInteger(), nullable=False),
        sa.Column("local_day", sa.String(length=10), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("holder", sa.String(length=255), nullable=False),
        sa.Column("claimed_at", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.CheckConstraint("state IN ('claimed', 'finished', 'skipped')", name="ck_slots_state"),
        sa.PrimaryKeyConstraint("slot_id", name="pk_slots"),
        sa.UniqueConstraint("workflow", "local_day", name="uq_slots_workflow_local_day"),
        sa.UniqueConstraint("workflow", "planned_at", name="uq_slots_workflow_planned_at"),
    )

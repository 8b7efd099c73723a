"""Rehearsals: an act may also be the restore of one object of a canary, or the act on it once more.

SQLite can't change what a column may hold, so that the table is made anew there, with every row and every guard.
"""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from alembic import op

from fullcount.runtime.store.migrations.guards import guard

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_KINDS: Final = "kind IN ('act', 'undo', 'rehearse_undo', 'rehearse_again')"
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
_COLUMNS: Final = (*_INTENT, "step", "outcome", "reason", "detail", "before", "outcome_run_id", "outcome_at")


def upgrade() -> None:
    """Let the two kinds in."""
    if op.get_bind().dialect.name == "sqlite":
        _made_anew()
        return
    op.drop_constraint("ck_acts_kind", "acts", type_="check")
    op.alter_column("acts", "kind", existing_type=sa.String(length=8), type_=sa.String(length=16))
    op.create_check_constraint("ck_acts_kind", "acts", _KINDS)


def _made_anew() -> None:
    op.rename_table("acts", "acts_before")
    op.create_table(
        "acts",
        sa.Column("act_id", sa.String(length=26), nullable=False),
        sa.Column("plan_id", sa.String(length=26), nullable=False),
        sa.Column("object_key", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
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
        sa.Column("step", sa.String(length=255), nullable=True),
        sa.CheckConstraint(_KINDS, name="ck_acts_kind"),
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
    columns = ", ".join(_COLUMNS)
    op.execute(f"INSERT INTO acts ({columns}) SELECT {columns} FROM acts_before")  # noqa: S608 - our own words
    op.drop_table("acts_before")
    guard("acts_no_delete", "acts", "DELETE")
    guard("acts_no_second_outcome", "acts", "UPDATE", when=_FINAL)
    guard("acts_no_new_intent", "acts", "UPDATE", columns=_INTENT)
    guard("acts_no_step_change", "acts", "UPDATE", columns=("step",))

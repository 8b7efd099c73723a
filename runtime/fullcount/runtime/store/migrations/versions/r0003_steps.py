"""Graduated acts: where each object stands, which step of it a plan lists, and which step an act was."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from alembic import op

from fullcount.runtime.store.migrations.guards import guard

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_LISTED: Final = ("step", "incarnation", "before_step", "since_at", "due_at")


def upgrade() -> None:
    """Make the table, and add the columns."""
    op.create_table(
        "step_states",
        sa.Column("workflow", sa.String(length=255), nullable=False),
        sa.Column("proposal", sa.String(length=255), nullable=False),
        sa.Column("object_key", sa.Text(), nullable=False),
        sa.Column("incarnation", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("step", sa.String(length=255), nullable=True),
        sa.Column("since_at", sa.BigInteger(), nullable=False),
        sa.Column("plan_id", sa.String(length=26), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_because", sa.Text(), nullable=True),
        sa.CheckConstraint("state IN ('open', 'lapsed', 'ended')", name="ck_step_states_state"),
        sa.ForeignKeyConstraint(["plan_id"], ["plans.plan_id"], name="fk_step_states_plan_id"),
        sa.PrimaryKeyConstraint("workflow", "proposal", "object_key", name="pk_step_states"),
    )
    op.add_column("plan_objects", sa.Column("step", sa.String(length=255), nullable=True))
    op.add_column("plan_objects", sa.Column("incarnation", sa.Text(), nullable=True))
    op.add_column("plan_objects", sa.Column("before_step", sa.String(length=255), nullable=True))
    op.add_column("plan_objects", sa.Column("since_at", sa.BigInteger(), nullable=True))
    op.add_column("plan_objects", sa.Column("due_at", sa.BigInteger(), nullable=True))
    op.add_column("acts", sa.Column("step", sa.String(length=255), nullable=True))
    guard("step_states_no_delete", "step_states", "DELETE")
    guard("plan_objects_no_step_change", "plan_objects", "UPDATE", columns=_LISTED)
    guard("acts_no_step_change", "acts", "UPDATE", columns=("step",))

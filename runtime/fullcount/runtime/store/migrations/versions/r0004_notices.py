"""Notices: who is told of which run, kept with its end, and what came of it."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from alembic import op

from fullcount.runtime.store.migrations.guards import guard

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_FIXED: Final = ("notice_id", "run_id", "workflow", "event", "target", "title", "body", "sha256", "queued_at")


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "notices",
        sa.Column("notice_id", sa.String(length=26), nullable=False),
        sa.Column("run_id", sa.String(length=26), nullable=False),
        sa.Column("workflow", sa.String(length=255), nullable=False),
        sa.Column("event", sa.String(length=16), nullable=False),
        sa.Column("target", sa.String(length=255), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("sha256", sa.String(length=71), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.BigInteger(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("queued_at", sa.BigInteger(), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "state IN ('pending', 'sending', 'delivered', 'failed', 'unknown')", name="ck_notices_state"
        ),
        sa.ForeignKeyConstraint(["run_id"], ["runs.run_id"], name="fk_notices_run_id"),
        sa.PrimaryKeyConstraint("notice_id", name="pk_notices"),
        sa.UniqueConstraint("run_id", "event", "target", name="uq_notices_run_id_event_target"),
    )
    op.create_index("ix_notices_state", "notices", ["state"])
    guard("notices_no_delete", "notices", "DELETE")
    guard("notices_no_change", "notices", "UPDATE", columns=_FIXED)
    guard("notices_no_second_end", "notices", "UPDATE", when="OLD.state IN ('delivered', 'failed', 'unknown')")

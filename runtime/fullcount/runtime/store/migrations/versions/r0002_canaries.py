"""Canaries: the first objects of a plan, their wait, and that they passed."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa
from alembic import op

from fullcount.runtime.store.migrations.guards import guard

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_FIXED: Final = ("plan_id", "objects", "waits_from", "waits_until")


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "canaries",
        sa.Column("plan_id", sa.String(length=26), nullable=False),
        sa.Column("objects", sa.Text(), nullable=False),
        sa.Column("waits_from", sa.BigInteger(), nullable=False),
        sa.Column("waits_until", sa.BigInteger(), nullable=False),
        sa.Column("passed_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["plan_id"], ["plans.plan_id"], name="fk_canaries_plan_id"),
        sa.PrimaryKeyConstraint("plan_id", name="pk_canaries"),
    )
    guard("canaries_no_delete", "canaries", "DELETE")
    guard("canaries_no_change", "canaries", "UPDATE", columns=_FIXED)
    guard("canaries_no_second_pass", "canaries", "UPDATE", when="OLD.passed_at IS NOT NULL")

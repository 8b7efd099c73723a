"""Warnings: when each was first seen of an inventory, and how many readings in a row had it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from fullcount.runtime.store.migrations.guards import guard

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table. It begins empty: what was read before did not say its warnings in the journal."""
    op.create_table(
        "seen_warnings",
        sa.Column("workflow", sa.String(length=255), nullable=False),
        sa.Column("inventory", sa.String(length=255), nullable=False),
        sa.Column("code", sa.String(length=64), nullable=False),
        sa.Column("resource", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("first_seen_at", sa.BigInteger(), nullable=False),
        sa.Column("since_at", sa.BigInteger(), nullable=False),
        sa.Column("last_seen_at", sa.BigInteger(), nullable=False),
        sa.Column("runs", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("workflow", "inventory", "code", name="pk_seen_warnings"),
    )
    guard("seen_warnings_no_delete", "seen_warnings", "DELETE")
    guard("seen_warnings_no_other_beginning", "seen_warnings", "UPDATE", columns=("first_seen_at",))

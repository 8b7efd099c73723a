"""Undos are plans: a plan may say which other one it takes back. Those of older versions are none.

What an older version took back at once, under the approval of the act, stays in the ledger as it was recorded.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from fullcount.runtime.store.migrations.guards import guard

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("plans", sa.Column("undoes", sa.String(length=26), nullable=True))
    op.create_index("ix_plans_undoes", "plans", ["undoes"], unique=False)
    guard("plans_no_other_undo", "plans", "UPDATE", columns=("undoes",))

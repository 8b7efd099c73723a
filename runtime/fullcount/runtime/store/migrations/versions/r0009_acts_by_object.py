"""Acts by object: those that were meant are found by their object, whichever plan they are of."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the index. Most objects of most plans have no such act, and are not in it."""
    meant = sa.text("intent_at IS NOT NULL")
    op.create_index("ix_acts_object_key", "acts", ["object_key"], sqlite_where=meant, postgresql_where=meant)

"""Signatures of approvals: kept with the vote. Votes of before have none."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; the triggers of the table refuse to change them, as all of a vote."""
    op.add_column("approval_votes", sa.Column("signed_at", sa.BigInteger(), nullable=True))
    op.add_column("approval_votes", sa.Column("signature", sa.Text(), nullable=True))

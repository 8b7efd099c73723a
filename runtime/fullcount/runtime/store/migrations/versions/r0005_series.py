"""The series that a certified reading is counted in, so that a collapse is seen against what is usual."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from fullcount.runtime.store.migrations.guards import guard

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column. What was certified before is in no series: nobody noted which question it answered."""
    op.add_column("certificates", sa.Column("series", sa.String(length=71), nullable=True))
    guard("certificates_no_series_change", "certificates", "UPDATE", columns=("series",))

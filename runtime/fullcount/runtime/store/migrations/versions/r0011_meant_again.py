"""When an act was last meant: an intent that was left open may be gone on with, and its call be made once more.

Of acts of older versions only the first intent is known.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from fullcount.runtime.store.migrations.guards import guard

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_NEVER = (
    "NEW.again_at IS DISTINCT FROM OLD.again_at AND (OLD.intent_at IS NULL OR NEW.again_at IS NULL"
    " OR NEW.again_at < COALESCE(OLD.again_at, OLD.intent_at)"
    " OR (OLD.outcome IS NOT NULL AND OLD.outcome <> 'unknown'))"
)


def upgrade() -> None:
    """Add the column: it only moves on, and only while nobody knows what came of the act."""
    op.add_column("acts", sa.Column("again_at", sa.BigInteger(), nullable=True))
    guard("acts_no_other_again", "acts", "UPDATE", when=_NEVER)

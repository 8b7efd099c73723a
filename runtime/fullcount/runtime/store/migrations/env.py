"""What Alembic runs: on the connection and in the transaction that `store.migrate` holds, never on its own."""

from __future__ import annotations

from alembic import context

from fullcount.runtime.store.tables import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    transactional_ddl=True,
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()

"""Tables of SQLite and PostgreSQL databases: the declaration; what talks to a database is imported when it is opened.

**What it guarantees.** A read happens in one transaction that sees one state of the database (`pinned`): REPEATABLE
READ, READ ONLY on PostgreSQL; one deferred read transaction on SQLite. In that same state the rows are counted with
the same filter, and paged by key. The end marker, `keyset_end`, is the database's answer to a request for one row
more than the page holds: inside the pinned state there is no row with a greater key. The state lives as long as the
scan's connection; a lost connection or a cursor of another scan ends the read (R13, R14).

**Visibility.** It vouches for base tables only: on PostgreSQL row-level security is looked for and switched off, so
that the database refuses what it would otherwise hide. Views and foreign or virtual tables may hide rows without a
word: declare them with `view = true`; the compiler then asks for a canary.

**Partitions.** With `partitions = ["region"]` and `{region}` in `url`, a source is one database for each value: an
inventory names the values (`across`), each is a scan of its own, and the rows have the value as a field.

**Acting.** `update` of the columns named `writable` and, with `deletable = true`, `delete`: one row by key, in one
short transaction, conditional on the version column or else on every field that was read. A write that would reach
further is refused (`COLLATERAL_CHANGE`): rows that refer to this one and would go or change with it; triggers and rules
that run at the write, unless `known_triggers` names them, which the plan then announces.
"""

from __future__ import annotations

from fullcount.runtime.connectors.sql.declaration import SqlConnector

CONNECTOR = SqlConnector()

__all__ = ["CONNECTOR"]

"""PostgreSQL's catalogue: what refers to a table, and which triggers and rules run at a write to it.

A trigger may stand on the table, on one of its partitions, or on a table that inherits from it: a write to the one is a
write to the other. Moving a row to another partition deletes and inserts it there.
"""

from __future__ import annotations

from sqlalchemy import Connection, text

from fullcount.compiler.catalog import Effect
from fullcount.runtime.connectors.sql.described import Described
from fullcount.runtime.connectors.sql.reach import Dependent, Reach, Trigger

_REACH = text("""
    WITH RECURSIVE ours AS (
        SELECT c.oid, c.relkind = 'p' AS parted FROM pg_catalog.pg_class c WHERE c.oid = pg_catalog.to_regclass(:name)
      UNION
        SELECT i.inhrelid, ours.parted FROM pg_catalog.pg_inherits i JOIN ours ON i.inhparent = ours.oid
    )
    SELECT 'trigger' AS what, NULL AS schema, t.tgname::text AS name, NULL::text[] AS theirs, NULL::text[] AS ours,
           bool_or(t.tgtype::int & CASE WHEN o.parted THEN 28 ELSE 16 END <> 0) AS at_update,
           bool_or(t.tgtype::int & 8 <> 0) AS at_delete,
           bool_or(t.tgtype::int & 4 <> 0) AS at_insert, FALSE AS cascades
    FROM ours o JOIN pg_catalog.pg_trigger t ON t.tgrelid = o.oid
    WHERE NOT t.tgisinternal AND t.tgenabled <> 'D'
    GROUP BY t.tgname
  UNION ALL
    SELECT 'rule', NULL, r.rulename::text, NULL, NULL, r.ev_type = '2', r.ev_type = '4', r.ev_type = '3', FALSE
    FROM pg_catalog.pg_rewrite r
    WHERE r.ev_class = pg_catalog.to_regclass(:name) AND r.ev_type IN ('2', '3', '4') AND r.ev_enabled <> 'D'
  UNION ALL
    SELECT 'reference', n.nspname::text, c.relname::text,
           ARRAY(SELECT a.attname::text FROM unnest(f.conkey) WITH ORDINALITY k(n, at)
                 JOIN pg_catalog.pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.n ORDER BY k.at),
           ARRAY(SELECT a.attname::text FROM unnest(f.confkey) WITH ORDINALITY k(n, at)
                 JOIN pg_catalog.pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = k.n ORDER BY k.at),
           f.confupdtype IN ('c', 'n', 'd'), f.confdeltype IN ('c', 'n', 'd'), FALSE,
           f.confdeltype = 'c'
    FROM pg_catalog.pg_constraint f
    JOIN pg_catalog.pg_class c ON c.oid = f.conrelid
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE f.contype = 'f' AND f.confrelid IN (SELECT oid FROM ours)
    ORDER BY 1, 2, 3
""")
"""Bits of `tgtype`: 4 insert, 8 delete, 16 update. Rules name the statement by a digit: 2 update, 3 insert,
4 delete."""


def reach_of(connection: Connection, described: Described) -> Reach:
    """See `reach.Reaches.of`."""
    quote = connection.dialect.identifier_preparer.quote_identifier
    found = connection.execute(_REACH, {"name": f"{quote(described.schema)}.{quote(described.name)}"}).all()
    dependents, triggers = [], []
    for row in found:
        at = frozenset(
            effect
            for effect, runs in (
                (Effect.UPDATE, row.at_update),
                (Effect.DELETE, row.at_delete),
                (Effect.CREATE, row.at_insert),
            )
            if runs
        )
        if row.what == "reference":
            pairs = tuple(zip(row.theirs, row.ours, strict=True))
            dependents.append(Dependent(row.schema, row.name, pairs, at, row.cascades))
        else:
            triggers.append(Trigger(row.what, row.name, at))
    return Reach(tuple(dependents), tuple(triggers))

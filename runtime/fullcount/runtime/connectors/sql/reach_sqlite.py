"""SQLite's schema: what refers to a table, and which triggers run at a write to it."""

from __future__ import annotations

import re

from sqlalchemy import Connection, text

from fullcount.compiler.catalog import Effect
from fullcount.runtime.connectors.sql.described import Described
from fullcount.runtime.connectors.sql.reach import Dependent, Reach, Trigger

_TRIGGERS = text("""
    SELECT name, sql FROM main.sqlite_schema WHERE type = 'trigger' AND tbl_name = :name COLLATE NOCASE ORDER BY name
""")
_REFERENCES = text("""
    SELECT s.name AS child, f.id, f."from" AS theirs, f."to" AS ours, f.on_delete, f.on_update
    FROM main.sqlite_schema s, pragma_foreign_key_list(s.name, 'main') f
    WHERE s.type = 'table' AND f."table" = :name COLLATE NOCASE
    ORDER BY s.name, f.id, f.seq
""")
_PRIMARY = text("SELECT name FROM pragma_table_xinfo(:name, 'main') WHERE pk > 0 ORDER BY pk")

_HARMLESS = frozenset({"NO ACTION", "RESTRICT"})
"""What leaves the referring rows as they are: the database refuses the write instead."""

_SPACE = r"(?:\s|--[^\n]*\n|/\*.*?\*/)"
_NAME = r"""(?:"(?:[^"]|"")*"|\[[^\]]*\]|`(?:[^`]|``)*`|'(?:[^']|'')*'|[\w$]+)"""
_EVENT = re.compile(
    rf"CREATE{_SPACE}+TRIGGER{_SPACE}+{_NAME}(?:{_SPACE}*\.{_SPACE}*{_NAME})?"
    rf"(?:{_SPACE}+(?:BEFORE|AFTER|INSTEAD{_SPACE}+OF))?{_SPACE}+(DELETE|INSERT|UPDATE)\b",
    re.IGNORECASE | re.DOTALL,
)
_EFFECTS = {"DELETE": Effect.DELETE, "INSERT": Effect.CREATE, "UPDATE": Effect.UPDATE}


def reach_of(connection: Connection, described: Described) -> Reach:
    """See `reach.Reaches.of`."""
    triggers = connection.execute(_TRIGGERS, {"name": described.name}).all()
    return Reach(
        dependents=_dependents(connection, described.name),
        triggers=tuple(Trigger("trigger", row.name, runs_at(row.sql)) for row in triggers),
    )


def runs_at(definition: str) -> frozenset[Effect]:
    """Return which writes a trigger runs at, from its definition; every one when that can't be told."""
    found = _EVENT.match(definition)
    return frozenset(Effect) if found is None else frozenset({_EFFECTS[found[1].upper()]})


def _dependents(connection: Connection, table: str) -> tuple[Dependent, ...]:
    primary = list(connection.execute(_PRIMARY, {"name": table}).scalars())
    grouped: dict[tuple[str, int], list[tuple[str, str]]] = {}
    at: dict[tuple[str, int], frozenset[Effect]] = {}
    cascades: dict[tuple[str, int], bool] = {}
    for row in connection.execute(_REFERENCES, {"name": table}):
        pairs = grouped.setdefault((row.child, row.id), [])
        actions = {Effect.DELETE: row.on_delete, Effect.UPDATE: row.on_update}
        cascades[row.child, row.id] = row.on_delete == "CASCADE"
        at[row.child, row.id] = frozenset(effect for effect, action in actions.items() if action not in _HARMLESS)
        named = row.ours if row.ours is not None else next(iter(primary[len(pairs) :]), None)
        if named is not None:
            # a reference to a primary key that is not there cascades nowhere: SQLite refuses the write
            pairs.append((row.theirs, named))
    return tuple(
        Dependent("main", child, tuple(pairs), at[child, number], cascades[child, number])
        for (child, number), pairs in grouped.items()
        if len(pairs) > 0
    )

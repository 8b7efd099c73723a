"""Triggers that refuse an event on a table: what was written as a record stays as it was written."""

from __future__ import annotations

from collections.abc import Sequence

from alembic import op


def guard(name: str, table: str, event: str, *, when: str = "TRUE", columns: Sequence[str] = ()) -> None:
    """Make a trigger that refuses an event: always, `when` a condition holds, or when one of `columns` would change."""
    refused = " OR ".join(f"NEW.{column} IS DISTINCT FROM OLD.{column}" for column in columns) or when
    message = f"{table} is a record: {name.removeprefix(table + '_').replace('_', ' ')}"
    if op.get_bind().dialect.name == "sqlite":
        condition = refused.replace("IS DISTINCT FROM", "IS NOT")
        op.execute(
            f"CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH ROW WHEN {condition}"
            f" BEGIN SELECT RAISE(ABORT, '{message}'); END"
        )
        return
    result = "OLD" if event == "DELETE" else "NEW"
    op.execute(
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $guard$ BEGIN"
        f" IF {refused} THEN RAISE EXCEPTION '{message}'; END IF; RETURN {result}; END $guard$"
    )
    op.execute(f"CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()")
    if event == "DELETE":
        op.execute(
            f"CREATE FUNCTION {name}_all() RETURNS trigger LANGUAGE plpgsql AS $guard$ BEGIN"
            f" RAISE EXCEPTION '{message}'; END $guard$"
        )
        op.execute(
            f"CREATE TRIGGER {name}_all BEFORE TRUNCATE ON {table} FOR EACH STATEMENT EXECUTE FUNCTION {name}_all()"
        )

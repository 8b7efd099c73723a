"""What a write to one row reaches besides it: rows that refer to it, triggers, rules. Nobody approved those.

It is looked up in the state of the database in which the write happens, at each write: a trigger or a reference that
was made after the plan counts as much as one that was there before. Which trigger changes what can't be told from
outside, so each one stands against the write unless the configuration names it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, select
from sqlalchemy import column as sql_column
from sqlalchemy import table as sql_table
from sqlalchemy.types import NullType

from fullcount.compiler.catalog import Effect, Operation
from fullcount.runtime.connectors.base import Collateral
from fullcount.runtime.connectors.sql.config import SqlResource
from fullcount.runtime.connectors.sql.database import Database
from fullcount.runtime.connectors.sql.described import Described


@dataclass(frozen=True, slots=True)
class Dependent:
    """Rows of another table that go, change, or lose their reference with the row they refer to.

    `at`: when it is deleted, when the referred columns are updated; empty: the database refuses the write instead.
    `cascades`: at a deletion they go as well, else they are changed.
    """

    schema: str
    table: str
    columns: tuple[tuple[str, str], ...]
    """Pairs of its column and ours."""
    at: frozenset[Effect]
    cascades: bool = False

    @property
    def place(self) -> str:
        """Its full name, for people."""
        return f"{self.schema}.{self.table}"


@dataclass(frozen=True, slots=True)
class Trigger:
    """A trigger or a rule of the table that is not switched off. `at`: which writes it runs at."""

    what: str
    """`trigger` or `rule`."""
    name: str
    at: frozenset[Effect]


@dataclass(frozen=True, slots=True)
class Reach:
    """See the module."""

    dependents: tuple[Dependent, ...] = ()
    triggers: tuple[Trigger, ...] = ()

    def triggers_at(self, effect: Effect) -> Iterator[Trigger]:
        """Return the triggers and rules that run at a write of this kind."""
        return (trigger for trigger in self.triggers if effect in trigger.at)


@dataclass(slots=True)
class Reaches:
    """Looks up the reach of tables. SQLite counts the changes of its schema, so that one look serves until the next."""

    database: Database
    _known: dict[str, tuple[int, Reach]] = field(default_factory=dict)

    def of(self, connection: Connection, described: Described) -> Reach:
        """Return what a write to the table reaches by now; inside a transaction. Raises `DBAPIError`."""
        if self.database.is_postgres:
            from fullcount.runtime.connectors.sql.reach_postgres import reach_of

            return reach_of(connection, described)
        from fullcount.runtime.connectors.sql.reach_sqlite import reach_of

        version = connection.exec_driver_sql("PRAGMA main.schema_version").scalar_one()
        known = self._known.get(described.name)
        if known is None or known[0] != version:
            known = self._known[described.name] = version, reach_of(connection, described)
        return known[1]


def collateral(reach: Reach, described: Described, operation: Operation, settings: SqlResource) -> Collateral:
    """Return which triggers and rules the operation sets off, those apart that the configuration names."""
    running = list(reach.triggers_at(operation.effect))
    unknown = [trigger for trigger in running if trigger.name not in settings.known_triggers]
    names = dict.fromkeys((*settings.known_triggers, *(trigger.name for trigger in unknown)))
    return Collateral(
        unknown=tuple(_phrase(trigger, described, operation) for trigger in unknown),
        known=tuple(_phrase(trigger, described, operation) for trigger in running if trigger not in unknown),
        way_on="look at what it changes; if that is meant, name it in the resource's configuration:"
        f" `known_triggers = {json.dumps(list(names), ensure_ascii=False)}`",
    )


def _phrase(trigger: Trigger, described: Described, operation: Operation) -> str:
    return f"the {trigger.what} `{trigger.name}` on {described.place} runs at each {operation.effect.value}"


def goes_with(
    connection: Connection,
    reach: Reach,
    described: Described,
    condition: ColumnElement[bool],
    effect: Effect,
    written: Collection[str],
) -> str | None:
    """Return the first table with rows that the write would reach too, or None. Raises `DBAPIError`."""
    for dependent in reach.dependents:
        ours = [our for _, our in dependent.columns]
        if effect not in dependent.at or (effect is Effect.UPDATE and not set(ours) & set(written)):
            continue
        referred = [sql_column(name, NullType()) for name in ours]
        values = connection.execute(select(*referred).select_from(described.table).where(condition)).one()
        # a reference with a part that has no value refers to nothing
        if all(value is not None for value in values) and _refers(connection, dependent, values):
            return dependent.place
    return None


def _refers(connection: Connection, dependent: Dependent, values: Any) -> bool:
    columns = [sql_column(theirs, NullType()) for theirs, _ in dependent.columns]
    table = sql_table(dependent.table, *columns, schema=dependent.schema)
    tests = [column == bindparam(None, value, type_=NullType()) for column, value in zip(table.c, values, strict=True)]
    return connection.execute(select(1).select_from(table).where(*tests).limit(1)).first() is not None

"""What else goes, or is changed, when a row is deleted: followed along the real foreign keys, to its end.

Guarantees: every row that a cascade would delete and every row that would lose a reference is counted once, in one
state of the database; a trigger or a rule along the way that nobody vouched for, or more than `MOST` rows, makes the
answer unknown, never smaller. Rows of the table itself are named by their keys: they are objects like the one deleted.
Runs in the thread of its lane, inside a transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Connection, Select, bindparam, literal_column, select, text
from sqlalchemy import column as sql_column
from sqlalchemy import table as sql_table
from sqlalchemy.types import NullType

from fullcount.compiler.catalog import Effect
from fullcount.compiler.values import Value
from fullcount.runtime.connectors.base import ClosureFound
from fullcount.runtime.connectors.sql.described import Described
from fullcount.runtime.connectors.sql.reach import Dependent, Reach, Reaches
from fullcount.runtime.connectors.sql.rows import Rows

MOST: Final = 10_000
"""The most rows that one deletion may take along and still be counted."""

_SHAPE: Final = text("SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = :name COLLATE NOCASE")
_COLUMNS: Final = text("SELECT name, pk FROM pragma_table_xinfo(:name, 'main') ORDER BY pk")
_ROW_NAMES: Final = ("rowid", "oid", "_rowid_")

_Row = tuple[tuple[Any, ...], Mapping[str, Any]]
"""What a row is known by, and the columns that others refer to."""


class UncountedError(Exception):
    """What goes along can't be told; says why."""


@dataclass(slots=True)
class Following:
    """Follows the references to one row after another of a table. `vouched`: triggers that may run."""

    connection: Connection
    reaches: Reaches
    rows: Rows
    vouched: frozenset[str]
    is_postgres: bool
    _identities: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _known: dict[str, Reach] = field(default_factory=dict)

    def closure(self, key: tuple[Value, ...]) -> ClosureFound:
        """Return what goes with the row of a key. Raises `DBAPIError`, and `SourceError` for an impossible key."""
        try:
            return self._followed(key)
        except UncountedError as error:
            return ClosureFound(unknown=str(error))

    def _followed(self, key: tuple[Value, ...]) -> ClosureFound:
        table = self.rows.described
        start = self._select(table, self.rows.with_key(key))
        seen: dict[str, dict[tuple[Any, ...], Mapping[str, Any]]] = {table.place: dict(start)}
        changed: dict[str, dict[tuple[Any, ...], Mapping[str, Any]]] = {}
        referring: dict[tuple[Any, ...], Mapping[str, Any]] = {}
        queue = [(table, row) for row in start]
        while len(queue) > 0:
            place, (_, values) = queue.pop()
            for dependent in self._reach(place).dependents:
                child = self._described(dependent)
                own = child.place == table.place
                takes = Effect.DELETE in dependent.at
                if not takes and not own:
                    continue  # the database refuses the deletion instead, as long as such rows are there
                found = self._referring(dependent, child, values)
                if own and place.place == table.place:
                    referring |= found
                if not takes or len(found) == 0:
                    continue
                self._vouched_for(child, dependent)
                into = seen if dependent.cascades else changed
                known = into.setdefault(child.place, {})
                fresh = {name: row for name, row in found.items() if name not in known}
                known |= fresh
                if dependent.cascades:
                    queue += [(child, row) for row in fresh.items()]
                if sum(map(len, seen.values())) + sum(map(len, changed.values())) > MOST:
                    raise UncountedError(f"more than {MOST:,} rows would go along")
        return self._counted(dict(start), seen, changed, referring)

    def _counted(
        self,
        start: Mapping[tuple[Any, ...], Any],
        seen: Mapping[str, Mapping[tuple[Any, ...], Mapping[str, Any]]],
        changed: Mapping[str, Mapping[tuple[Any, ...], Mapping[str, Any]]],
        referring: Mapping[tuple[Any, ...], Mapping[str, Any]],
    ) -> ClosureFound:
        own_place = self.rows.described.place
        counts: dict[str, int] = {}
        for place, rows in seen.items():
            if place != own_place and len(rows) > 0:
                counts[f"deletes {place}"] = len(rows)
        for place, rows in changed.items():
            only = [name for name in rows if name not in seen.get(place, {})]
            if place != own_place and len(only) > 0:
                counts[f"changes {place}"] = len(only)
        own = {**seen.get(own_place, {}), **changed.get(own_place, {})}
        return ClosureFound(
            counts=dict(sorted(counts.items())),
            own=self._keys({name: row for name, row in own.items() if name not in start}),
            first=self._keys({name: row for name, row in referring.items() if name not in start}),
        )

    def _keys(self, rows: Mapping[tuple[Any, ...], Mapping[str, Any]]) -> tuple[tuple[Value, ...], ...]:
        """Return the keys of rows of the table itself, as they are everywhere else."""
        names = self.rows.resource.key
        found = []
        for row in rows.values():
            cells = self.rows.cells(names, {name: row[name] for name in names})
            key = tuple(cells[name].value for name in names)
            if any(part is None for part in key):
                raise UncountedError(f"a row of {self.rows.described.place} that refers to it has no key")
            found.append(tuple(part for part in key if part is not None))
        return tuple(sorted(found, key=repr))

    def _vouched_for(self, child: Described, dependent: Dependent) -> None:
        """Raise `UncountedError` if deleting or changing rows of a table sets off what nobody has vouched for."""
        effect = Effect.DELETE if dependent.cascades else Effect.UPDATE
        reach = self._reach(child)
        for trigger in reach.triggers_at(effect):
            if trigger.name not in self.vouched:
                raise UncountedError(
                    f"the {trigger.what} `{trigger.name}` on {child.place} runs at each {effect.value}"
                )
        if dependent.cascades:
            return
        ours = {theirs for theirs, _ in dependent.columns}
        for other in reach.dependents:
            if Effect.UPDATE in other.at and ours & {our for _, our in other.columns}:
                raise UncountedError(f"what changes in {child.place} changes further rows, of {other.place}")

    def _reach(self, of: Described) -> Reach:
        if of.place not in self._known:
            self._known[of.place] = self.reaches.of(self.connection, of)
        return self._known[of.place]

    # -- reading ------------------------------------------------------------------------------------------------------

    def _referring(self, dependent: Dependent, child: Described, values: Mapping[str, Any]) -> dict[Any, Any]:
        given = [(theirs, values[ours]) for theirs, ours in dependent.columns]
        if any(value is None for _, value in given):
            return {}  # a reference with a part that has no value refers to nothing
        tests = [sql_column(name, NullType()) == bindparam(None, value, type_=NullType()) for name, value in given]
        return dict(self._select(child, *tests))

    def _select(self, of: Described, *tests: Any) -> list[_Row]:
        """Return rows with what they are known by, and every column that a reference to their table needs."""
        wanted = {our for each in self._reach(of).dependents for _, our in each.columns}
        if of.place == self.rows.described.place:
            wanted |= set(self.rows.resource.key)
        names, identity = sorted(wanted), self._identity(of)
        columns: Sequence[Any] = [
            *(literal_column(each) for each in identity),
            *(sql_column(name, NullType()) for name in names),
        ]
        own = of.place == self.rows.described.place
        # the test of a key names the very object that describes the table; two of them would be two tables
        place = self.rows.described.table if own else sql_table(of.name, schema=of.schema)
        query: Select[Any] = select(*columns).select_from(place).where(*tests).limit(MOST + 1)
        found = self.connection.execute(query).all()
        if len(found) > MOST:
            raise UncountedError(f"more than {MOST:,} rows of {of.place} would go along")
        known_by = len(identity)
        return [(tuple(row[:known_by]), dict(zip(names, row[known_by:], strict=True))) for row in found]

    def _identity(self, of: Described) -> tuple[str, ...]:
        """Return the expressions that tell one row of a table from every other, within this transaction."""
        if self.is_postgres:
            return ("tableoid::text", "ctid::text")
        if of.place not in self._identities:
            quote = self.connection.dialect.identifier_preparer.quote_identifier
            columns = self.connection.execute(_COLUMNS, {"name": of.name}).all()
            if self.connection.execute(_SHAPE, {"name": of.name}).scalar() == 1:
                self._identities[of.place] = tuple(quote(row.name) for row in columns if row.pk > 0)
            else:
                taken = {row.name.lower() for row in columns}
                free = next((name for name in _ROW_NAMES if name not in taken), None)
                if free is None:
                    raise UncountedError(f"the rows of {of.place} can't be told apart")
                self._identities[of.place] = (free,)
        return self._identities[of.place]

    def _described(self, dependent: Dependent) -> Described:
        """Return the table of a dependent; the very table that is acted on, where it refers to itself."""
        own = self.rows.described
        same = dependent.place == own.place
        if same or (not self.is_postgres and dependent.place.lower() == own.place.lower()):
            return own
        return Described(dependent.schema, dependent.table, "table", {}, key_is_unique=False)

"""The rule over the snapshots: every object of the base inventory becomes a candidate, kept, or undecided.

One statement decides all objects (`select_statement`); here its truths and the exemption lists are turned into one
class for each object, in SQL and in one place (`_CLASSES`), so that an object can't be in two. An object whose rule
is false is kept as such, whatever else would keep it. Nothing that is unknown ever becomes a candidate.
"""

# ruff: noqa: S608 - names and values enter statements through `sql_text` alone

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import duckdb

from fullcount.compiler import ir, program
from fullcount.compiler.lower import sql_text
from fullcount.compiler.lower.sql import (
    EXCEPTED,
    FLOOR,
    IN_SCOPE,
    PROTECTED,
    RULE,
    SELECTED,
    Relation,
    select_statement,
)
from fullcount.compiler.lower.sql_pick import FIRST_OPEN, FIRST_PASSED, PICKED, with_picks
from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.values import Row, Value
from fullcount.runtime.plan import tables
from fullcount.runtime.plan.document import WAITS, FloorDoc, PickDoc
from fullcount.runtime.plan.errors import PlanError, SumsError
from fullcount.runtime.plan.exempt import Holding
from fullcount.runtime.plan.floors import floor_doc
from fullcount.runtime.plan.missing import Explainer
from fullcount.runtime.plan.phrase import phrase
from fullcount.runtime.plan.spelling import spelled_columns, spelled_key

LISTED: Final = 50_000
_SPLIT: Final = (
    "if so many are not meant, find out why they are selected; if they are, narrow the `scope` and clean up a part at a"
    " time: by team, by region, by age"
)
"""How many candidates, or undecided objects, a plan lists at most; with more, none is built."""
EXAMPLES: Final = 3
_INSERTED: Final = 500
"""How many keys one statement inserts."""

_CLASSES: Final = f"""CASE
  WHEN d."{IN_SCOPE}" = FALSE THEN 'outside'
  WHEN d."{RULE}" = FALSE THEN 'rule'
  WHEN d."{PROTECTED}" = TRUE THEN 'protected'
  WHEN d."$entry" IS NOT NULL THEN 'listed'
  WHEN d."{EXCEPTED}" = TRUE THEN 'excepted'
  WHEN d."{FLOOR}" = TRUE THEN 'floor'
  WHEN d."{IN_SCOPE}" IS NULL OR d."{RULE}" IS NULL THEN 'undecided'
  WHEN d."{PROTECTED}" IS NULL THEN 'perhaps protected'
  WHEN d."{EXCEPTED}" IS NULL THEN 'perhaps excepted'
  WHEN d."{FLOOR}" IS NULL THEN 'perhaps floor'
  WHEN d."{PICKED}" = FALSE THEN 'passed over'
  WHEN d."{PICKED}" IS NULL THEN 'unranked'
  ELSE 'candidate' END"""

_SELECTED: Final = f'("$entry" IS NULL AND {SELECTED})'
"""Whether an object is selected before any pick: true, false or unknown."""

_OPEN: Final = "('undecided', 'unranked')"
"""The classes of objects that could not be decided."""

Key = tuple[Value, ...]

RELEASED: Final = "released"
"""The class of objects of a graduated act that are not selected, and are acted on to let them go."""
FINISHED: Final = "finished"
_WAITS: Final = "waits for "


def waits_for(step: str) -> str:
    """Return the class of selected objects of a graduated act whose next step is not due yet."""
    return f"{_WAITS}{step}"


@dataclass(frozen=True, slots=True)
class Candidate:
    """An object that the rule selects, with everything that was read of it."""

    key: Key
    cells: Row


@dataclass(frozen=True, slots=True)
class Undecided:
    """An object for which the rule could not be decided, and what is missing."""

    key: Key
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """Objects that stay for one reason."""

    reason: str
    count: int
    examples: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Counts:
    """How many rows were read, and how many objects in scope are of which class; `population` is not added up."""

    read: int
    population: int
    candidates: int
    kept: int
    undecided: int

    @property
    def hold(self) -> bool:
        """Whether no object was lost or counted twice."""
        return self.population == self.candidates + self.kept + self.undecided


def protected_by(protection: program.Protection) -> str:
    """Return why an object is kept that a protection is about."""
    return f"protected by `{protection.name}`: {protection.because}"


def passed_over(pick: program.Pick) -> str:
    """Return why an object is kept that a pick passes over."""
    return f"not among `{pick.text}`"


def perhaps_protected_by(protection: program.Protection) -> str:
    """Return why an object is kept of which it is not known whether a protection is about it."""
    return f"kept because protection `{protection.name}` could not be ruled out: {protection.because}"


class Evaluation:
    """One rule over one set of snapshots in one session; the objects stay in DuckDB until they are asked for."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        workflow: program.Workflow,
        proposal: program.Proposal,
        relations: Mapping[str, Relation],
        bindings: Bindings,
        holding: tuple[Holding, ...] = (),
    ) -> None:
        """Raises `PlanError` (FC911) when keys do not tell objects apart."""
        self._connection = connection
        self._workflow = workflow
        self._proposal = proposal
        self._relations = relations
        self._bindings = bindings
        self._holding = holding
        self._inventory = workflow.inventories[proposal.inventory]
        self.fields = tables.fields_of(connection, self._inventory, relations[self._inventory.name])
        """What was read of each object: the declared fields and the version."""
        self.complete = relations[self._inventory.name].complete
        """Whether every object was read: of one that was not, nothing is known otherwise."""
        self._names = [sql_text.identifier(name) for name in self._inventory.key]
        self._one_row_each()
        self._exempt_table()
        connection.execute(f"CREATE TEMP TABLE verdicts AS {self._verdicts(proposal, bindings)}")

    # -- what the session holds ---------------------------------------------------------------------------------------

    def _one_row_each(self) -> None:
        """Refuse a snapshot in which a key is missing or stands twice: a plan speaks of objects by their key."""
        keys = tables.key_columns("t", self._inventory)
        missing = " OR ".join(f"{key} IS NULL" for key in keys)
        rows, distinct, without = tables.one(
            self._connection,
            f"SELECT count(*), count(DISTINCT row({', '.join(keys)})), count(*) FILTER ({missing})"
            f" FROM {self._relations[self._inventory.name].sql} AS t",
        )
        if without > 0 or rows != distinct:
            raise PlanError(
                "FC911",
                f"`{self._inventory.name}` has {rows} rows with {distinct} different keys, and {without} without one",
                help="name the fields that tell one object from another in its `key` clause",
            )

    def _key_columns(self) -> str:
        return ", ".join(
            f"{name} {sql_text.sql_type(self._inventory.fields[field].type)}"
            for name, field in zip(self._names, self._inventory.key, strict=True)
        )

    def _key_table(self, name: str, keys: Sequence[Key]) -> None:
        self._connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} ({self._key_columns()})")
        types = [self._inventory.fields[field].type for field in self._inventory.key]
        for at in range(0, len(keys), _INSERTED):
            rows = ", ".join(
                "(" + ", ".join(sql_text.literal(part, of) for part, of in zip(key, types, strict=True)) + ")"
                for key in keys[at : at + _INSERTED]
            )
            self._connection.execute(f"INSERT INTO {name} VALUES {rows}")

    def _exempt_table(self) -> None:
        self._connection.execute(f'CREATE TEMP TABLE exempt ("$entry" INTEGER, {self._key_columns()})')
        types = [self._inventory.fields[field].type for field in self._inventory.key]
        seen: set[Key] = set()
        for number, held in enumerate(self._holding):
            key = spelled_key(self._inventory, held.key)
            if key in seen:
                continue
            seen.add(key)
            values = ", ".join(sql_text.literal(part, of) for part, of in zip(key, types, strict=True))
            self._connection.execute(f"INSERT INTO exempt VALUES ({number}, {values})")

    def _verdicts(self, proposal: program.Proposal, bindings: Bindings) -> str:
        """Return a SELECT of key, `$class` and `$entry` for each object."""
        truths = select_statement(self._workflow, proposal, self._relations, bindings)
        join = self._listed_as("d")
        listed = f'SELECT d.*, x."$entry" FROM ({truths}) AS d LEFT JOIN exempt AS x ON {join}'
        complete = self._relations[self._inventory.name].complete
        decided = with_picks(listed, proposal.picks, _SELECTED, self._names, complete=complete)
        keys = ", ".join(f"d.{name}" for name in self._names)
        return (
            f'SELECT {keys}, {_CLASSES} AS "$class", d."$entry", d."{FIRST_PASSED}", d."{FIRST_OPEN}"'
            f" FROM ({decided}) AS d"
        )

    def _listed_as(self, alias: str) -> str:
        """Return the condition that an entry `x` is about a row: their keys are one, as the inventory spells them."""
        columns = spelled_columns(self._inventory, alias)
        return " AND ".join(f"{column} = x.{name}" for column, name in zip(columns, self._names, strict=True))

    # -- answers ------------------------------------------------------------------------------------------------------

    def counts(self) -> Counts:
        """Count the classes, and the population apart from them. Raises `SumsError` if these do not fit."""
        (read,) = tables.one(self._connection, f"SELECT count(*) FROM {self._relations[self._inventory.name].sql}")
        by_class: dict[str, int] = dict(
            self._connection.execute('SELECT "$class", count(*) FROM verdicts GROUP BY ALL').fetchall()
        )
        outside = by_class.pop("outside", 0)
        candidates = by_class.pop("candidate", 0) + by_class.pop(RELEASED, 0)
        undecided = by_class.pop("undecided", 0) + by_class.pop("unranked", 0)
        found = Counts(read, read - outside, candidates, sum(by_class.values()), undecided)
        if not found.hold:
            raise SumsError(
                f"{found.population} objects of `{self._inventory.name}` are not {found.candidates} candidates"
                f" + {found.kept} kept + {found.undecided} undecided"
            )
        return found

    def count_with(self, where: ir.Expr, bindings: Bindings) -> int:
        """Count the candidates of another rule over the same objects and exemptions."""
        verdicts = self._verdicts(replace(self._proposal, where=where), bindings)
        count, *_ = tables.one(
            self._connection, f"""SELECT count(*) FILTER ("$class" = 'candidate') FROM ({verdicts})"""
        )
        return int(count)

    def newcomers(self, where: ir.Expr, bindings: Bindings, limit: int) -> list[Candidate]:
        """Return up to `limit` objects that this rule keeps and another would select, by key."""
        verdicts = self._verdicts(replace(self._proposal, where=where), bindings)
        kept_here = " AND ".join(f"h.{name} = v.{name}" for name in self._names)
        chosen = (
            f"SELECT v.* FROM ({verdicts}) AS v JOIN verdicts AS h ON {kept_here}"
            f""" WHERE v."$class" = 'candidate' AND h."$class" = 'rule' ORDER BY ALL LIMIT {limit}"""
        )
        return list(self._objects(f"({chosen})", "TRUE"))

    def candidates(self) -> list[Candidate]:
        """Return every candidate. Raises `PlanError` (FC912) when there are too many to list."""
        self._listable("('candidate')", "are selected", _SPLIT)
        return list(self._objects("verdicts", "v.\"$class\" = 'candidate'"))

    def released(self) -> list[Candidate]:
        """Return the objects that are acted on to let them go."""
        return list(self._objects("verdicts", f"v.\"$class\" = '{RELEASED}'"))

    def classes_of(self, keys: Sequence[Key]) -> dict[Key, tuple[str, Row]]:
        """Return the class of each of these objects that was read, with what was read of it."""
        if len(keys) == 0:
            return {}
        self._key_table("asked", keys)
        joined = " AND ".join(f"v.{name} = k.{name}" for name in self._names)
        chosen = f"(SELECT v.* FROM verdicts AS v JOIN asked AS k ON {joined})"
        names = ", ".join(self._names)
        found = self._connection.execute(f'SELECT {names}, "$class" FROM {chosen}').fetchall()
        width = len(self._names)
        types = [self._inventory.fields[field].type for field in self._inventory.key]
        by_key = {
            tuple(tables.canonical(part, of) for part, of in zip(row[:width], types, strict=True)): row[width]
            for row in found
        }
        return {item.key: (by_key[item.key], item.cells) for item in list(self._objects(chosen, "TRUE"))}

    def put_aside(self, classes: Mapping[str, Sequence[Key]]) -> None:
        """Give objects another class than the rule alone gives them: what is not due is kept, what is let go is not."""
        for name, keys in classes.items():
            self._key_table("asked", keys)
            joined = " AND ".join(f"verdicts.{column} = k.{column}" for column in self._names)
            self._connection.execute(
                f'UPDATE verdicts SET "$class" = {sql_text.text(name)} FROM asked AS k WHERE {joined}'
            )

    def undecided(self) -> list[Undecided]:
        """Return every undecided object with what is missing. Raises `PlanError` (FC912) when there are too many."""
        self._listable(_OPEN, "could not be decided", "give the reading account the fields that the rule needs")
        if tables.one(self._connection, f'SELECT count(*) FROM verdicts WHERE "$class" IN {_OPEN}') == (0,):
            return []
        self._connection.execute(
            f"CREATE OR REPLACE TEMP TABLE open_keys AS SELECT {', '.join(self._names)} FROM verdicts"
            " WHERE \"$class\" = 'undecided'"
        )
        explainer = Explainer(
            self._connection, self._workflow, self._proposal, self._relations, self._bindings, "open_keys"
        )
        found = []
        for item in list(self._objects("verdicts", "v.\"$class\" = 'undecided'")):
            missing: set[str] = set()
            for expr, row in ((self._inventory.scope, ir.SELF), (self._proposal.where, self._proposal.row)):
                if expr is not None:
                    missing.update(explainer.missing(expr, row, item.key, item.cells))
            found.append(Undecided(item.key, tuple(sorted(missing))))
        return [*found, *self._unranked()]

    def _unranked(self) -> Iterator[Undecided]:
        """Yield the objects of which it could not be told whether a pick takes them."""
        for number, pick in enumerate(self._proposal.picks):
            where = f'v."$class" = \'unranked\' AND v."{FIRST_OPEN}" = {number}'
            for item in self._objects("verdicts", where):
                yield Undecided(item.key, (f"its place by `{pick.text}` depends on what is not known",))

    def kept(self) -> list[Kept]:
        """Return the kept objects, grouped by the reason; the rule's own first."""
        groups = [self._group("not matched by the rule", "\"$class\" = 'rule'")]
        groups += self._protected()
        groups += [
            self._group(reason, f'"$class" = \'listed\' AND "$entry" IN ({", ".join(map(str, numbers))})')
            for reason, numbers in self._entries_by_reason().items()
        ]
        groups += self._excepted()
        groups += self._kept_by_floor()
        groups += [
            self._group(passed_over(pick), f'"$class" = \'passed over\' AND "{FIRST_PASSED}" = {number}')
            for number, pick in enumerate(self._proposal.picks)
        ]
        groups += self._not_due()
        return [group for group in groups if group.count > 0]

    def floors(self) -> tuple[FloorDoc, ...]:
        """Return the groups of each floor."""
        relation = self._relations[self._inventory.name]
        return tuple(
            floor_doc(self._connection, self._workflow, self._proposal, keep, relation, self._bindings)
            for keep in self._proposal.keeps
        )

    def picks(self) -> tuple[PickDoc, ...]:
        """Return how each pick came out."""
        return tuple(
            PickDoc(
                clause=pick.text,
                passed_over=self._count(f'"$class" = \'passed over\' AND "{FIRST_PASSED}" = {number}'),
                unranked=self._count(f'"$class" = \'unranked\' AND "{FIRST_OPEN}" = {number}'),
            )
            for number, pick in enumerate(self._proposal.picks)
        )

    def _count(self, where: str) -> int:
        (count,) = tables.one(self._connection, f"SELECT count(*) FROM verdicts WHERE {where}")
        return int(count)

    def unused(self) -> list[Holding]:
        """Return the exemptions whose key no object has, every one of them if several have the same key."""
        join = self._listed_as("v")
        found = self._connection.execute(
            f'SELECT "$entry" FROM exempt AS x WHERE NOT EXISTS (SELECT 1 FROM verdicts AS v WHERE {join}) ORDER BY ALL'
        ).fetchall()
        # the table has the first entry of each key alone
        nobody = {spelled_key(self._inventory, self._holding[number].key) for (number,) in found}
        return [held for held in self._holding if spelled_key(self._inventory, held.key) in nobody]

    def _not_due(self) -> list[Kept]:
        found = self._connection.execute(
            f'SELECT DISTINCT "$class" FROM verdicts WHERE starts_with("$class", \'{_WAITS}\') ORDER BY ALL'
        ).fetchall()
        waiting = [
            self._group(f"{WAITS}`{name.removeprefix(_WAITS)}`", f'"$class" = {sql_text.text(name)}')
            for (name,) in found
        ]
        return [*waiting, self._group("selected, every step is done", f"\"$class\" = '{FINISHED}'")]

    # -- parts --------------------------------------------------------------------------------------------------------

    def _objects(self, verdicts: str, where: str) -> Iterator[Candidate]:
        fields = self.fields
        keys = ", ".join(f"v.{name}" for name in self._names)
        statement = (
            f"SELECT {keys}, {', '.join(tables.field_columns('t', fields))}"
            f" FROM {verdicts} AS v JOIN {self._relations[self._inventory.name].sql} AS t"
            f" ON {tables.same_key('t', 'v', self._inventory)} WHERE {where} ORDER BY {keys}"
        )
        width = len(self._names)
        for values in tables.batches(self._connection, statement):
            yield Candidate(tuple(values[:width]), tables.row_of(fields, values[width:]))

    def _listable(self, classes: str, what: str, way_on: str) -> None:
        count, *_ = tables.one(self._connection, f'SELECT count(*) FROM verdicts WHERE "$class" IN {classes}')
        if count > LISTED:
            message = (
                f"{count:,} objects of `{self._inventory.name}` {what}, and a plan lists {LISTED:,} at most: each with"
                " all that was read of it, in memory and on the reviewer's screen"
            )
            raise PlanError("FC912", message, help=way_on)

    def _group(self, reason: str, where: str) -> Kept:
        count, *_ = tables.one(self._connection, f"SELECT count(*) FROM verdicts WHERE {where}")
        keys = ", ".join(self._names)
        examples: list[tuple[Any, ...]] = self._connection.execute(
            f"SELECT {keys} FROM verdicts WHERE {where} ORDER BY {keys} LIMIT {EXAMPLES}"
        ).fetchall()
        return Kept(reason, count, tuple(examples))

    def _entries_by_reason(self) -> dict[str, list[int]]:
        entries: dict[str, list[int]] = {}
        for number, held in enumerate(self._holding):
            entries.setdefault(held.reason, []).append(number)
        return entries

    def _protected(self) -> list[Kept]:
        protections = self._proposal.protections
        return self._first_of(
            "protected",
            PROTECTED,
            [replace(self._bare, protections=(protection,)) for protection in protections],
            [protected_by(protection) for protection in protections],
            [perhaps_protected_by(protection) for protection in protections],
        )

    def _excepted(self) -> list[Kept]:
        conditions = self._proposal.exemptions
        return self._first_of(
            "excepted",
            EXCEPTED,
            [replace(self._bare, excepts=(program.Exemption(None, condition),)) for condition in conditions],
            [f"excepted: `{phrase(condition)}`" for condition in conditions],
            [f"kept because `{phrase(condition)}` could not be ruled out" for condition in conditions],
        )

    def _kept_by_floor(self) -> list[Kept]:
        keeps = self._proposal.keeps
        return self._first_of(
            "floor",
            FLOOR,
            [replace(self._bare, keeps=(keep,)) for keep in keeps],
            [f"stays by `{keep.text}`" for keep in keeps],
            [f"kept because its place by `{keep.text}` is not known" for keep in keeps],
        )

    @property
    def _bare(self) -> program.Proposal:
        """The proposal without anything that keeps an object."""
        return replace(self._proposal, where=ir.TRUE, excepts=(), protections=(), keeps=(), picks=())

    def _first_of(
        self,
        of_class: str,
        truth: str,
        alone: Sequence[program.Proposal],
        sure: Sequence[str],
        perhaps: Sequence[str],
    ) -> list[Kept]:
        """Group by what keeps: the first of several that surely does, then the first that is not ruled out.

        `alone` are proposals with one of them each, `truth` the column that says whether it keeps.
        """
        if len(alone) == 0:
            return []
        if len(alone) == 1:
            return [
                self._group(sure[0], f"\"$class\" = '{of_class}'"),
                self._group(perhaps[0], f"\"$class\" = 'perhaps {of_class}'"),
            ]
        keys = ", ".join(self._names)
        parts = [select_statement(self._workflow, each, self._relations, self._bindings) for each in alone]
        numbered = " UNION ALL ".join(
            f'SELECT {keys}, {number} AS n, "{truth}" AS e FROM ({part})' for number, part in enumerate(parts)
        )
        self._connection.execute(
            f"CREATE OR REPLACE TEMP TABLE conditions AS SELECT {keys}, min(n) FILTER (e) AS sure,"
            f" min(n) FILTER (e IS NULL) AS perhaps FROM ({numbered}) GROUP BY {keys}"
        )
        groups = []
        for name, column, reasons in ((of_class, "sure", sure), (f"perhaps {of_class}", "perhaps", perhaps)):
            for number, reason in enumerate(reasons):
                chosen = f"SELECT {keys} FROM conditions WHERE {column} = {number}"
                groups.append(self._group(reason, f"\"$class\" = '{name}' AND ({keys}) IN ({chosen})"))
        return groups

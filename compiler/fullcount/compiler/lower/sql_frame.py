"""The skeleton of a statement: relations, common table expressions, and one frame for each row in scope.

A frame is a row variable with its place in a FROM clause. An expression that needs a sub-query more than once *hoists*
it: the sub-query becomes a column of the frame's row and is computed once.
"""

# ruff: noqa: S608 - this module exists to build SQL; names and values enter it through `sql_text` alone

from __future__ import annotations

from collections.abc import Mapping

from fullcount.compiler.lower.world import Bindings
from fullcount.dsl.dataclass import dataclass, field


@dataclass(frozen=True, slots=True)
class Relation:
    """A snapshot as a FROM item (`read_parquet('…')`), and whether it holds every row of its inventory."""

    sql: str
    complete: bool


@dataclass(slots=True)
class Statement:
    """What a statement collects while its expressions are lowered."""

    relations: Mapping[str, Relation]
    bindings: Bindings
    _ctes: list[str] = field(default_factory=list)
    _names: int = 0

    def relation(self, inventory: str) -> Relation:
        """Return the snapshot of an inventory; without one there is nothing to conclude from. Raises ValueError."""
        if inventory not in self.relations:
            raise ValueError(f"the rule looks into `{inventory}`, of which no snapshot was given")
        return self.relations[inventory]

    def frame(self, inventory: str, source: str | None = None) -> Frame:
        """Open a frame over the rows of an inventory, or over some of them in a common table."""
        return Frame(self, self._name("t"), self.relation(inventory).sql if source is None else source)

    def common(self, select: str) -> str:
        """Add a common table expression and return its name. It must not depend on an outer row."""
        name = self._name("c")
        self._ctes.append(f"{name} AS MATERIALIZED ({select})")
        return name

    def with_clause(self) -> str:
        """Return `WITH …`, or nothing."""
        return f"WITH {', '.join(self._ctes)} " if self._ctes else ""

    def _name(self, prefix: str) -> str:
        self._names += 1
        return f"{prefix}{self._names}"

    def variable(self) -> str:
        """Return the name of a variable that stands for the items of a list."""
        return self._name("v")

    def hoisted_name(self) -> str:
        """Return a column name that no field can have."""
        return f'"{self._name("$h")}"'


@dataclass(slots=True)
class Frame:
    """One row in scope: `alias` names it in SQL."""

    statement: Statement
    alias: str
    source: str
    _hoisted: list[str] = field(default_factory=list)

    def hoist(self, sql: str) -> str:
        """Compute an expression once for each row and return the column that holds it. It may use earlier ones."""
        name = self.statement.hoisted_name()
        self._hoisted.append(f"{sql} AS {name}")
        return f"{self.alias}.{name}"

    def from_item(self) -> str:
        """Return the FROM item. To be called when all expressions over the row have been lowered."""
        item = f"{self.source} AS {self.alias}"
        for column in self._hoisted:
            item = f"(SELECT {self.alias}.*, {column} FROM {item}) AS {self.alias}"
        return item


NEVER = "FALSE"


@dataclass(frozen=True, slots=True)
class Known:
    """A value: `value` is NULL unless known; `absent` is never NULL."""

    value: str
    absent: str = NEVER


@dataclass(frozen=True, slots=True)
class Range:
    """An interval: a bound is NULL where there is none; `present` and `absent` are never NULL, and not both true."""

    low: str
    high: str
    present: str
    absent: str

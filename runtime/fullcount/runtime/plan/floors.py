"""What a floor (`keep at least N per … newest by …`) comes to: its groups with their sizes, and its borders for an act.

A group's **border** is the place of its N-th object that stays: whatever comes strictly after it has N others of its
group before it. The plan's own objects do not count towards it, so that the border holds also when all of them are
gone. Both are worked out over the stored snapshot by the statement that decided the plan, never estimated.
"""

# ruff: noqa: S608 - names and values enter statements through `sql_text` alone

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import duckdb
import pyarrow as pa

from fullcount.compiler import program
from fullcount.compiler.lower import sql_text
from fullcount.compiler.lower.sql import GROUP, IN_SCOPE, PLACE, Relation, places_statement
from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.types import BOOL, Type
from fullcount.compiler.values import Value
from fullcount.runtime.plan import tables
from fullcount.runtime.plan.cells import to_json
from fullcount.runtime.plan.document import FloorDoc, FloorGroup

LISTED: Final = 100
"""How many groups a plan lists for each floor: those that lose objects first, then those that keep some by it."""

Borders = Mapping[Value, Value]
"""By group: the place of the last object that stays. A group without one keeps all its objects."""

ALL: Final = True
"""The group of every object where a floor has no `per`."""


def floor_doc(
    connection: duckdb.DuckDBPyConnection,
    workflow: program.Workflow,
    proposal: program.Proposal,
    keep: program.Keep,
    relation: Relation,
    bindings: Bindings,
) -> FloorDoc:
    """Return the groups of a floor. The session holds the `verdicts` of the plan."""
    inventory = workflow.inventories[proposal.inventory]
    names = [sql_text.identifier(name) for name in inventory.key]
    same = " AND ".join(f"p.{name} = v.{name}" for name in names)
    places = places_statement(workflow, proposal, keep, relation, bindings)
    connection.execute(
        f'CREATE OR REPLACE TEMP TABLE floor_groups AS SELECT p."{GROUP}" AS g, count(*) AS size,'
        f""" count(*) FILTER (WHERE v."$class" = 'candidate') AS taken,"""
        f""" count(*) FILTER (WHERE v."$class" = 'floor') AS held"""
        f' FROM ({places}) AS p JOIN verdicts AS v ON {same} WHERE p."{IN_SCOPE}" AND p."{GROUP}" IS NOT NULL'
        f' AND p."{PLACE}" IS NOT NULL GROUP BY ALL'
    )
    groups, small = tables.one(
        connection, f"SELECT count(*), count(*) FILTER (WHERE size <= {keep.count}) FROM floor_groups"
    )
    (unplaced,) = tables.one(
        connection,
        f'SELECT count(*) FROM ({places}) AS p WHERE p."{IN_SCOPE}" IS NOT FALSE'
        f' AND (p."{GROUP}" IS NULL OR p."{PLACE}" IS NULL OR p."{IN_SCOPE}" IS NULL)',
    )
    listed = connection.execute(
        f"SELECT g, size, taken, held FROM floor_groups ORDER BY taken DESC, held DESC, g LIMIT {LISTED}"
    ).fetchall()
    of = _group_type(keep)
    return FloorDoc(
        clause=keep.text,
        groups=groups,
        small=small,
        unplaced=unplaced,
        listed=tuple(
            FloorGroup(
                group=None if keep.per is None else to_json(tables.canonical(group, of), of),
                size=size,
                candidates=taken,
                kept=held,
            )
            for group, size, taken, held in listed
        ),
    )


def borders(
    connection: duckdb.DuckDBPyConnection,
    workflow: program.Workflow,
    proposal: program.Proposal,
    keep: program.Keep,
    relation: Relation,
    bindings: Bindings,
    without: Sequence[Sequence[Value]],
) -> Borders:
    """Return the border of each group that has one, over the objects of the snapshot that are not in `without`."""
    inventory = workflow.inventories[proposal.inventory]
    names = [sql_text.identifier(name) for name in inventory.key]
    columns: dict[str, Any] = {
        f"k{number}": pa.array([key[number] for key in without]) for number in range(len(inventory.key))
    }
    connection.register("planned_objects", pa.table(columns))
    same = " AND ".join(f"x.k{number} = p.{name}" for number, name in enumerate(names))
    direction = "DESC" if keep.order == "newest" else "ASC"
    found = connection.execute(
        f'SELECT g, "{PLACE}" FROM (SELECT p."{GROUP}" AS g, p."{PLACE}", row_number() OVER'
        f' (PARTITION BY p."{GROUP}" ORDER BY p."{PLACE}" {direction}) AS n'
        f" FROM ({places_statement(workflow, proposal, keep, relation, bindings)}) AS p"
        f' WHERE p."{IN_SCOPE}" AND p."{GROUP}" IS NOT NULL AND p."{PLACE}" IS NOT NULL'
        + (f" AND NOT EXISTS (SELECT 1 FROM planned_objects AS x WHERE {same})" if len(without) > 0 else "")
        + f") WHERE n = {keep.count}"
    ).fetchall()
    connection.unregister("planned_objects")
    of = _group_type(keep)
    return {tables.canonical(group, of): tables.canonical(place, keep.by.type) for group, place in found}


def _group_type(keep: program.Keep) -> Type:
    return BOOL if keep.per is None else keep.per.type

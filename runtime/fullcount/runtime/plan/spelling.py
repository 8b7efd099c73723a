"""Keys by their normal spelling (`key … normalized by …`): what is one object, and two objects that would be one.

The rules of the language have their spelling in their expressions already. This is about everything else that knows an
object by its key: exemption lists, and the guarantee that no two objects of an inventory are one key.
"""

# ruff: noqa: S608 - names and values enter statements through `sql_text` alone

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import duckdb

from fullcount.compiler import program
from fullcount.compiler.lower import sql_text
from fullcount.compiler.lower.spelling import spelled, spelled_sql
from fullcount.compiler.lower.sql_frame import Relation
from fullcount.compiler.values import Value
from fullcount.runtime import format as fmt
from fullcount.runtime.evidence.refusal import Finding
from fullcount.runtime.evidence.wording import inventory_way

_SHOWN = 3

Key = tuple[Value, ...]


def spelled_key(inventory: program.Inventory, key: Sequence[Value]) -> Key:
    """Return a key with its texts as the rules of the inventory spell them."""
    return tuple(
        spelled(part, inventory.normalized[name]) if isinstance(part, str) and name in inventory.normalized else part
        for name, part in zip(inventory.key, key, strict=True)
    )


def spelled_columns(inventory: program.Inventory, alias: str) -> list[str]:
    """Return SQL for the key, in a table whose columns are called like its fields, as the rules spell it."""
    columns = ((name, f"{alias}.{sql_text.identifier(name)}") for name in inventory.key)
    return [spelled_sql(column, inventory.normalized.get(name, ())) for name, column in columns]


def one_key_twice(
    connection: duckdb.DuckDBPyConnection,
    workflow: program.Workflow,
    relations: Mapping[str, Relation],
) -> Iterator[Finding]:
    """Yield a finding for each inventory with objects whose keys are one once they are spelled alike."""
    for name, relation in relations.items():
        inventory = workflow.inventories[name]
        if len(inventory.normalized) == 0:
            continue
        plain = [sql_text.column("t", part, inventory.fields[part].type) for part in inventory.key]
        rules = [inventory.normalized.get(part, ()) for part in inventory.key]
        alike = [spelled_sql(column, own) for column, own in zip(plain, rules, strict=True)]
        found = connection.execute(
            f"SELECT list(k ORDER BY k) AS k FROM (SELECT row({', '.join(plain)}) AS k, row({', '.join(alike)}) AS n"
            f" FROM {relation.sql} AS t) GROUP BY n HAVING count(*) > 1 ORDER BY k LIMIT {_SHOWN}"
        ).fetchall()
        if len(found) > 0:
            yield _finding(inventory, [[tuple(key) for key in keys] for (keys,) in found])


def _finding(inventory: program.Inventory, groups: Sequence[Sequence[Key]]) -> Finding:
    shown = "; ".join(" and ".join(f"`{fmt.key(key)}`" for key in keys[:_SHOWN]) for keys in groups)
    rules = ", ".join(dict.fromkeys(rule for rules in inventory.normalized.values() for rule in rules))
    message = f"`{inventory.name}` has different objects that are one key once they are normalized: {shown}"
    way = f"find out whether they are one object; if not, leave out the rule that joins them ({rules})"
    return Finding(
        code="FC793",
        message=message,
        inventory=inventory.name,
        detail=message,
        ways_on=(inventory_way(way, inventory),),
    )

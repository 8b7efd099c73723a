"""Looking up what goes with the objects of a plan, at the sources that they are deleted from. Reads only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fullcount.compiler import program
from fullcount.compiler.catalog import Closure, Resource
from fullcount.runtime import format as fmt
from fullcount.runtime.connectors.base import ClosureFound
from fullcount.runtime.evidence.refusal import Finding
from fullcount.runtime.plan.cells import from_json, to_json
from fullcount.runtime.plan.closure import Along, Key
from fullcount.runtime.plan.document import PlanDocument, PlanRow
from fullcount.runtime.readers import Readers

UNKNOWN = "FC784"
"""What goes with an object can't be told, so that it must not be deleted."""


async def closures(
    document: PlanDocument,
    act: program.Act,
    inventory: program.Inventory,
    resources: Mapping[str, Mapping[str, Resource]],
    readers: Readers,
) -> dict[Key, Along] | Finding:
    """Return what goes with each row that deletes; or why that can't be told. Raises `SourceError`."""
    found: dict[Key, Along] = {}
    for step, call in act.calls.items():
        resource = resources[call.source][call.resource]
        rows = [row for row in document.rows if row.step_label == step]
        if not call.deletes or len(rows) == 0:
            continue
        if resource.operations[call.operation].closure is Closure.NONE:
            continue  # the source declares that nothing goes along
        keys = [_values(row, inventory, resource) for row in rows]
        for row, each in zip(rows, await readers.closures(call.source, resource, call.operation, keys), strict=True):
            if each.unknown is not None:
                return _unknown(row, call, each.unknown)
            found[row.key] = _along(each, inventory, resource)
    return found


def _values(row: PlanRow, inventory: program.Inventory, resource: Resource) -> tuple[Any, ...]:
    return tuple(from_json(part, resource.fields[name].type) for name, part in zip(inventory.key, row.key, strict=True))


def _along(found: ClosureFound, inventory: program.Inventory, resource: Resource) -> Along:
    def key(values: tuple[Any, ...]) -> Key:
        parts = zip(inventory.key, values, strict=True)
        return tuple(to_json(part, resource.fields[name].type) for name, part in parts)

    return Along(found.counts, [key(each) for each in found.own], [key(each) for each in found.first])


def _unknown(row: PlanRow, call: program.OperationCall, why: str) -> Finding:
    return Finding(
        code=UNKNOWN,
        message=f"what goes with `{fmt.key(row.key, 40)}` when `{call.operation}` deletes it can't be told: {why}",
        ways_on=(
            "delete what refers to these objects first, by a workflow of its own",
            "or look at what runs there; if that is meant, name it in `known_triggers` of the resource",
        ),
    )

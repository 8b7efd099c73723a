"""The call for one object: its arguments worked out from the object as it is now, and what the ledger keeps of it.

An argument without a known value, or a key argument that names another object than the row's, is a finding (FC766) and
the connector is not called. What the ledger keeps is enough to make the very same call again, so that a call whose
answer was lost can be resolved, and an act be taken back, without asking the rule again.

A call that makes something new (`OperationCall.own` is False) is handed neither the object's key nor a precondition,
and sets no field of the object; the ledger keeps how the object was all the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fullcount.compiler.catalog import Effect, Operation, Resource
from fullcount.compiler.lower.closure import compile_value
from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.program import Inventory, OperationCall
from fullcount.compiler.types import Type
from fullcount.compiler.values import Cell, FieldState, Row, Value, present
from fullcount.runtime.act.live import LiveWorld
from fullcount.runtime.act.recheck import Planned
from fullcount.runtime.connectors.base import ActCall, StoredBackup
from fullcount.runtime.connectors.effects import fields_set
from fullcount.runtime.evidence.refusal import Finding
from fullcount.runtime.plan.cells import cell_from_doc, from_json, to_json
from fullcount.runtime.plan.document import PlanRow


def planned_row(row: PlanRow, inventory: Inventory, resource: Resource) -> Planned:
    """Return a row of a plan in canonical values. Raises `NotOfTypeError` when it is not of the resource's types."""
    key = tuple(from_json(part, resource.fields[name].type) for name, part in zip(inventory.key, row.key, strict=True))
    cells = {name: cell_from_doc(doc, resource.fields[name].type) for name, doc in row.fields.items()}
    return Planned(key, cells)


class CallsOf:
    """The makers of calls of an act, by the step that a row of its plan lists; None for an act with one operation."""

    def __init__(self, by_step: Mapping[str | None, Calls]) -> None:
        self._by_step = by_step

    def has(self, row: PlanRow) -> bool:
        """Whether there is a call for what the row lists."""
        return row.step_label in self._by_step

    def of(self, row: PlanRow) -> Calls:
        """Return the maker for a row. Raises KeyError for a step that the act does not have."""
        return self._by_step[row.step_label]


def backup_of(parameters: Mapping[str, Any] | None) -> StoredBackup | None:
    """Return the backup that a recorded call names, without its content; None if it names none."""
    kept = None if parameters is None else parameters.get("backup")
    return None if kept is None else StoredBackup(kept["sha256"], kept["kept"], None)


class Calls:
    """Makes the calls of one operation for one object after another."""

    def __init__(
        self,
        call: OperationCall,
        row: str,
        inventory: Inventory,
        resources: Mapping[tuple[str, str], Resource],
        bindings: Bindings,
    ) -> None:
        """Raises KeyError for a resource or an operation that is not configured."""
        self._resource = resources[call.source, call.resource]
        self.operation: Operation = self._resource.operations[call.operation]
        self.name = f"{call.source}.{call.resource}.{call.operation}"
        self.base = resources[inventory.source, inventory.resource]
        """The resource of the object, which is read before and after the call."""
        self.own = call.own
        self.deletes = call.own and self.operation.effect is Effect.DELETE
        self._inventory = inventory
        self._row = row
        self._arguments = {name: compile_value(value, bindings) for name, value in call.arguments.items()}

    def arguments(self, planned: Planned, cells: Row) -> dict[str, Value] | Finding:
        """Return the arguments for the object, or why there is no call that fits it."""
        found: dict[str, Value] = {}
        for name, value in self._arguments.items():
            cell = value({self._row: cells}, LiveWorld())
            if cell.value is None:
                return Finding(
                    code="FC766", message=f"the argument `{name}` has no known value for this object: {cell.state}"
                )
            found[name] = cell.value
        keys = dict(zip(self._inventory.key, planned.key, strict=True))
        for name, parameter in self.operation.parameters.items():
            if parameter.key is not None and found.get(name) != keys[parameter.key]:
                return Finding(code="FC766", message=f"the argument `{name}` names another object than the planned one")
        return found

    def call(self, planned: Planned, arguments: Mapping[str, Value], expected: Row, idempotency_key: str) -> ActCall:
        """Return the call; `expected` is its precondition."""
        return ActCall(
            resource=self._resource,
            operation=self.operation.name,
            key=planned.key if self.own else (),
            arguments=arguments,
            expected=expected if self.own else {},
            idempotency_key=idempotency_key,
        )

    def parameters(self, call: ActCall, seen: Row) -> dict[str, Any]:
        """Return what the ledger keeps of a call, as JSON: enough to make the very same call again.

        Of a backup that is its digest, and for how long it is kept (microseconds).

        `seen`: the object as it was right before, whether the call is conditional on it or not.

        A cell that was seen is a list of its one value, or the name of its state: kept short, there is one for each
        field of each object.
        """
        arguments = {name: to_json(value, self._parameter_type(name)) for name, value in call.arguments.items()}
        expected = {
            name: cell.state.value if cell.value is None else [to_json(cell.value, self._field_type(name))]
            for name, cell in seen.items()
        }
        kept: dict[str, Any] = {"arguments": arguments, "expected": expected}
        if call.backup is not None:
            kept["backup"] = {"sha256": call.backup.sha256, "kept": call.backup.kept}
        if call.closure is not None:
            kept["closure"] = dict(call.closure)
        return kept

    def recorded(self, planned: Planned, parameters: Mapping[str, Any], idempotency_key: str) -> ActCall:
        """Return the call that `parameters` was made from, but for the content of a backup. Raises `NotOfTypeError`."""
        arguments = {
            name: from_json(value, self._parameter_type(name)) for name, value in parameters["arguments"].items()
        }
        call = self.call(planned, arguments, self.expected(parameters), idempotency_key)
        return replace(call, backup=backup_of(parameters), closure=parameters.get("closure"))

    def expected(self, parameters: Mapping[str, Any]) -> dict[str, Cell]:
        """Return the cells that a recorded call was conditional on: the object as it was right before the act."""
        return {
            name: Cell(FieldState(kept), None) if isinstance(kept, str) else self._seen(name, kept)
            for name, kept in parameters["expected"].items()
        }

    def _seen(self, name: str, kept: Sequence[Any]) -> Cell:
        (value,) = kept
        return present(from_json(value, self._field_type(name)))

    def written(self, arguments: Mapping[str, Value]) -> dict[str, Value]:
        """Return the fields of the object that the operation sets, with the values it sets them to."""
        return fields_set(self._resource, self.operation, arguments).fields if self.own else {}

    @property
    def sets_more(self) -> bool:
        """Whether the operation may set fields of the object that nobody named."""
        return self.own and fields_set(self._resource, self.operation, {}).more

    def _parameter_type(self, name: str) -> Type:
        return self.operation.parameters[name].type.type

    def _field_type(self, name: str) -> Type:
        return self.base.fields[name].type

"""Exemption lists that stand in a source: `[exemptions.vip]` names a resource and what its fields mean.

    [exemptions.vip]
    source   = "cmdb"
    resource = "exceptions"
    key      = ["account"]
    owner    = "owner"
    reason   = "reason"
    expires  = "until"

Guarantees: what is checked here needs no I/O, and an entry is made only of values that are known: a row without an
owner, a reason or an end is an error of the whole list, never an entry less.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from fullcount.compiler import program
from fullcount.compiler.catalog import Resource, StaticCatalog
from fullcount.compiler.everything import everything_of
from fullcount.compiler.types import DATE, INT, TEXT, TIMESTAMP, FieldType, Type
from fullcount.compiler.values import Cell, FieldState
from fullcount.runtime.workspace.errors import WorkspaceError, did_you_mean
from fullcount.runtime.workspace.exemptions import Exemption

_Word = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class ExemptionTable(BaseModel):
    """Where a list stands, and which fields of it are the parts of a key, the owner, the reason and the last day."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: _Word
    resource: _Word
    key: Annotated[tuple[_Word, ...], Field(min_length=1)]
    owner: _Word
    reason: _Word
    expires: _Word
    workflow: _Word | None = None
    """The field that names the workflow which an entry is for; None: each is for every workflow."""

    @property
    def place(self) -> str:
        """How the table is spoken of."""
        return f"{self.source}.{self.resource}"


def check_table(path: Path, name: str, table: ExemptionTable, catalog: StaticCatalog) -> None:
    """Raise `WorkspaceError` FC604 for a list that its source can't be."""

    def refuse(setting: str, what: str, way: str = "") -> WorkspaceError:
        return WorkspaceError("FC604", f"{path.name}: `exemptions.{name}.{setting}`: {what}", help=way)

    if table.source not in catalog.sources():
        raise refuse("source", f"there is no source `{table.source}`", did_you_mean(table.source, catalog.sources()))
    resources = catalog.resources(table.source)
    resource = resources.get(table.resource)
    if resource is None:
        what = f"`{table.source}` has no resource `{table.resource}`"
        raise refuse("resource", what, did_you_mean(table.resource, resources))
    if len(resource.partitions) > 0:
        raise refuse("resource", f"`{table.place}` is split, and a list is read whole")
    wanted: list[tuple[str, str, tuple[Type, ...]]] = [("key", field, (TEXT, INT)) for field in table.key]
    wanted += [("owner", table.owner, (TEXT,)), ("reason", table.reason, (TEXT,))]
    wanted.append(("expires", table.expires, (DATE, TIMESTAMP)))
    if table.workflow is not None:
        wanted.append(("workflow", table.workflow, (TEXT,)))
    for setting, field, types in wanted:
        declared = resource.fields.get(field)
        if declared is None:
            raise refuse(setting, f"`{table.place}` has no field `{field}`", did_you_mean(field, resource.fields))
        if declared.type not in types:
            named = " or ".join(f"`{of}`" for of in types)
            raise refuse(setting, f"`{field}` of `{table.place}` is `{declared}`, and this is {named}")


def question_of(name: str, table: ExemptionTable, resource: Resource) -> program.Inventory:
    """Return what to ask the source: every row, with the fields that an entry is made of."""
    named = (*resource.key, *table.key, table.owner, table.reason, table.expires)
    fields: dict[str, FieldType] = {field: resource.fields[field] for field in named}
    if table.workflow is not None:
        fields[table.workflow] = resource.fields[table.workflow]
    return replace(everything_of(resource), name=name, fields=fields, incarnation=None, version=None)


class FaultyEntryError(Exception):
    """A row that is no entry. The text says why."""


def entry_of(table: ExemptionTable, row: Mapping[str, Cell], types: Mapping[str, FieldType]) -> Exemption:
    """Return the entry that a row is. Raises `FaultyEntryError`."""
    key: list[str | int] = []
    for field in table.key:
        part = _known(row, field)
        if not isinstance(part, str | int) or part == "":
            raise FaultyEntryError(f"a row has an empty `{field}`")
        key.append(part)
    workflow = None
    if table.workflow is not None and row[table.workflow].state is not FieldState.ABSENT:
        workflow = _text(row, table.workflow)
    return Exemption(
        tuple(key),
        workflow,
        _text(row, table.owner),
        _text(row, table.reason),
        _day(_known(row, table.expires), types[table.expires].type),
    )


def _known(row: Mapping[str, Cell], field: str) -> Any:
    cell = row[field]
    if cell.state is not FieldState.PRESENT:
        raise FaultyEntryError(f"a row has no known `{field}` ({cell.state})")
    return cell.value


def _text(row: Mapping[str, Cell], field: str) -> str:
    text = str(_known(row, field))
    if text.strip() == "":
        raise FaultyEntryError(f"a row has an empty `{field}`")
    return text


def _day(value: int, of: Type) -> date:
    """Return the last day on which an entry holds; of an instant, the whole day in which it lies (UTC)."""
    if of == DATE:
        return date(1970, 1, 1) + timedelta(days=value)
    ends = _EPOCH + timedelta(microseconds=value)
    return ends.date()

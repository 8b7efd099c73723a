"""The sources of a test: they list, read, look up and count what is in its world, and act on it.

They answer as a connector of the declared guarantees would that sees exactly what the test gives: the end is said where
the test says that the answer is complete, and the reason where it says that it is not. Nothing is decided here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from typing import Any

from pydantic import BaseModel, ConfigDict

from fullcount.compiler.catalog import Catalog, Effect, Resource, Visibility
from fullcount.compiler.types import Kind, ListOf, MapOf, RecordOf, Scalar, Type
from fullcount.compiler.values import Cell, FieldState, Value, present
from fullcount.runtime.connectors.base import (
    ActCall,
    ActResult,
    ClosureFound,
    Existence,
    Matches,
    Outcome,
    Page,
    Question,
    Reading,
    Scan,
    ScanInfo,
    SourceError,
    Total,
)
from fullcount.runtime.connectors.effects import fields_set
from fullcount.runtime.evidence.codes import ActReason, Reason
from fullcount.runtime.evidence.envelope import Incompleteness, Notice
from fullcount.runtime.plan.cells import cell_from_doc, cell_to_doc
from fullcount.runtime.plan.document import CellDoc
from fullcount.runtime.trials.world import World

END = "the last object that the test gives"
GIVEN = "the test says so"
_NOT_GIVEN = Cell(FieldState.NOT_REQUESTED, None)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class TrialSource:
    """Reader and actor of one source of a test."""

    def __init__(self, world: World, name: str) -> None:
        self._world = world
        self._name = name
        self._performed: dict[str, ActResult] = {}

    async def identity(self) -> Mapping[str, str]:
        """See `SourceReader.identity`."""
        return {"target.system": f"test:{self._name}"}

    @asynccontextmanager
    async def scan(self, question: Question) -> AsyncIterator[Scan]:
        """See `SourceReader.scan`."""
        failed = self._world.listing(question.inventory).failed
        if failed is not None:
            raise SourceError(Incompleteness(code=failed, detail=GIVEN))
        unnamed = [name for name in question.partition if name not in question.resource.fields]
        if len(unnamed) > 0:
            detail = f"an object of a test does not say in which `{unnamed[0]}` it is: it has no such field"
            raise SourceError(Incompleteness(code=Reason.SCOPE_NOT_COVERED, detail=detail))
        yield TrialScan(self._world, question)

    async def read(self, resource: Resource, key: tuple[Value, ...], fields: Sequence[str]) -> Reading:
        """See `SourceReader.read`."""
        row = self._objects(resource).get(key)
        if row is None:
            return Reading(Existence.GONE)
        return Reading(Existence.FOUND, {name: row.get(name, _NOT_GIVEN) for name in fields})

    async def lookup(self, resource: Resource, field: str, value: Value, fields: Sequence[str]) -> Matches:
        """See `SourceReader.lookup`."""
        found = [
            {name: row.get(name, _NOT_GIVEN) for name in fields}
            for row in self._objects(resource).values()
            if (cell := row.get(field, _NOT_GIVEN)).value is None or cell.value == value
        ]
        return Matches(tuple(found), complete=True)

    async def count(self, resource: Resource) -> int:
        """See `SourceReader.count`."""
        there = self._world.count((self._name, resource.name))
        if there is None:
            detail = f"the test does not say how many there are: `given count {self._name}.{resource.name} = 0`"
            raise SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE, detail=detail))
        return there

    async def perform(self, call: ActCall) -> ActResult:
        """See `SourceActor.perform`. An update sets the fields that its declaration says.

        What makes something new of which the source gives the key leaves the world as it is.
        """
        if call.idempotency_key in self._performed:
            return self._performed[call.idempotency_key]
        if len(call.key) == 0:
            self._performed[call.idempotency_key] = ActResult(Outcome.DONE)
            return self._performed[call.idempotency_key]
        place = (self._name, call.resource.name)
        there = self._world.objects.setdefault(place, {})
        row = there.get(call.key)
        operation = call.resource.operations[call.operation]
        effect = operation.effect
        if operation.restores:
            return self._restore(call, there)
        if call.backup is not None and row is not None and call.backup.content != _whole(call.resource, row):
            return ActResult(Outcome.CHANGED, ActReason.PRECONDITION_FAILED, "it changed since its backup was taken")
        if row is None and effect is not Effect.CREATE:
            return ActResult(Outcome.ALREADY_GONE)
        if row is not None and any(row.get(name, _NOT_GIVEN) != cell for name, cell in call.expected.items()):
            return ActResult(Outcome.CHANGED, ActReason.PRECONDITION_FAILED, "it changed since it was read")
        set_ = fields_set(call.resource, operation, call.arguments)
        written = {name: present(value) for name, value in set_.fields.items()}
        if effect is Effect.DELETE:
            del there[call.key]
        elif row is None:
            there[call.key] = {**dict(zip(call.resource.key, map(present, call.key), strict=True)), **written}
        else:
            self._world.change(place, call.key, written)
        result = ActResult(Outcome.DONE)
        self._performed[call.idempotency_key] = result
        return result

    def _restore(self, call: ActCall, there: dict[tuple[Value, ...], dict[str, Cell]]) -> ActResult:
        if call.key in there:
            return ActResult(Outcome.CHANGED, ActReason.PRECONDITION_FAILED, "an object stands under its key again")
        if call.backup is None or call.backup.content is None:
            return ActResult(Outcome.REFUSED, None, "what its backup holds is not known")
        there[call.key] = {
            name: cell_from_doc(CellDoc.model_validate(doc), call.resource.fields[name].type)
            for name, doc in call.backup.content.items()
        }
        self._performed[call.idempotency_key] = ActResult(Outcome.DONE)
        return ActResult(Outcome.DONE)

    async def closures(
        self, resource: Resource, operation: str, keys: Sequence[tuple[Value, ...]]
    ) -> Sequence[ClosureFound]:
        """See `ForeseesClosure.closures`: in the world of a test nothing refers to anything."""
        return [ClosureFound() for _ in keys]

    async def back_up(self, call: ActCall) -> Mapping[str, Any] | None:
        """See `TakesBackups.back_up`."""
        row = self._objects(call.resource).get(call.key)
        return None if row is None else _whole(call.resource, row)

    async def took_effect(self, call: ActCall) -> bool | None:
        """See `SourceActor.took_effect`."""
        return call.idempotency_key in self._performed

    async def close(self) -> None:
        """See `SourceReader.close`."""

    def _objects(self, resource: Resource) -> Mapping[tuple[Value, ...], Mapping[str, Cell]]:
        return self._world.objects.get((self._name, resource.name), {})


def _whole(resource: Resource, row: Mapping[str, Cell]) -> dict[str, Any]:
    """Return an object as JSON, whole."""
    return {name: cell_to_doc(cell, resource.fields[name].type).model_dump(mode="json") for name, cell in row.items()}


class TrialScan:
    """The answer that a test gives for one inventory, in pages."""

    def __init__(self, world: World, question: Question) -> None:
        self._listing = world.listing(question.inventory)
        part = {name: present(value) for name, value in question.partition.items()}
        self._rows = [
            row
            for row in world.listed(question.inventory)
            if all(row.get(name, _NOT_GIVEN) == cell for name, cell in part.items())
        ]
        self._question = question
        resource = question.resource
        self.info = ScanInfo(
            consistency=resource.consistency,
            visibility="all" if resource.visibility is Visibility.VOUCHED else "unknown",
            warnings=tuple(Notice(code=code, detail=GIVEN) for code in self._listing.warnings),
            as_of=world.clock() - timedelta(microseconds=self._listing.stale),
        )

    async def fetch(self, cursor: str | None) -> Page:
        """See `Scan.fetch`."""
        begin = 0 if cursor is None else int(cursor)
        rows = self._rows[begin : begin + self._question.page_rows]
        more = begin + len(rows) < len(self._rows)
        reasons = () if more else tuple(Incompleteness(code=code, detail=GIVEN) for code in self._listing.reasons)
        complete = len(self._listing.reasons) == 0
        columns: dict[str, list[Any]] = {}
        states: dict[str, list[FieldState | None]] = {}
        for name in self._question.fields:
            of = self._question.resource.fields[name].type
            cells = [row.get(name, _NOT_GIVEN) for row in rows]
            columns[name] = [None if cell.value is None else natural(of, cell.value) for cell in cells]
            states[name] = [cell.state for cell in cells]
        return Page(
            columns,
            len(rows),
            states=states,
            cursor=str(begin + len(rows)) if more else None,
            end=END if complete and not more else None,
            total=Total(len(self._rows), exact=True) if complete else None,
            reasons=reasons,
        )


def natural(of: Type, value: Any) -> Any:
    """Return a canonical value as a connector gives it."""
    match of:
        case Scalar(kind=Kind.TIMESTAMP):
            return _EPOCH + timedelta(microseconds=value)
        case Scalar(kind=Kind.DATE):
            return date(1970, 1, 1) + timedelta(days=value)
        case Scalar(kind=Kind.DURATION):
            return timedelta(microseconds=value)
        case ListOf(item=item):
            return [natural(item, part) for part in value]
        case MapOf(value=inner):
            return {key: natural(inner, part) for key, part in value.items()}
        case RecordOf(parts=parts):
            return {part.name: natural(part.type.type, value[part.name]) for part in parts if part.name in value}
        case _:
            return value


class NoSettings(BaseModel):
    """A source of a test has nothing to configure."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class TrialConnector:
    """Hands out the sources of a test under the names of the workspace's, with what these declare."""

    def __init__(self, world: World, catalog: Catalog) -> None:
        self._catalog = catalog
        self._sources = {name: TrialSource(world, name) for name in catalog.sources()}

    @property
    def name(self) -> str:
        """See `Connector.name`."""
        return "test"

    @property
    def version(self) -> str:
        """See `Connector.version`."""
        return "1"

    @property
    def config_model(self) -> type[BaseModel]:
        """See `Connector.config_model`."""
        return NoSettings

    def resources(self, source: str, config: BaseModel) -> Mapping[str, Resource]:
        """See `Connector.resources`."""
        return self._catalog.resources(source)

    async def open_reader(self, source: str, config: BaseModel) -> TrialSource:
        """See `Connector.open_reader`."""
        return self._sources[source]

    async def open_actor(self, source: str, config: BaseModel) -> TrialSource:
        """See `Connector.open_actor`."""
        return self._sources[source]

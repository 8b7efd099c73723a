"""A scriptable source in memory: reader and actor over live objects, with pages, faults and a clock.

    resource = fake_resource("accounts", "id: text, owner: text?, version: int", version="version",
                             operations=(update_operation("lock", locked="bool"), delete_operation()))
    accounts = FakeTable(resource, [{"id": "a", "owner": None, "version": 1}], page_rows=2)
    source = FakeSource(accounts)
    inventory = fake_inventory(resource)                      # the matching program.Inventory

* Objects are dicts of natural values; a `FieldState` in place of a value gives the cell that state. Tests change the
  world through `accounts.put(...)`, `accounts.remove(...)`, `accounts.change(key, owner="x")` at any time.
* A scan pages through the objects by key (`page_rows` a page), over a copy made when it opens (`pinned=True`) or over
  the live objects. `table.script = [...]` replaces that: each fetch takes the next entry, a `Page`, an exception to
  raise, or a function that returns a page. `rows_page(...)` builds a `Page` from dicts.
* Faults: `source.on("fetch", at=2, do=error)`: at the second call of a method an exception is raised, a value is
  returned instead of the real answer, or a function without arguments is called first (and its result, unless None,
  returned). `at=None`: at every call. Methods: identity open fetch read lookup count perform took_effect.
  `source.lose_answer(at=1, took_effect=True)`: the answer of an act is lost after it took effect (or before).
* `source.calls` lists (method, detail) in order; `source.effects` each write that really happened, as
  (operation, key): what the target system saw.
* `FakeClock` is the clock, the monotonic clock and the sleep; sleeping takes no time and moves it on.
* `FakeConnector({"hr": source})` serves these sources to a workspace.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import BaseModel

from fullcount.compiler import ir, program
from fullcount.compiler.catalog import Closure, Effect, Idempotency, Operation, Parameter, Resource, Visibility
from fullcount.compiler.claims import Consistency
from fullcount.compiler.types import SCALARS, FieldType, ListOf, MapOf, Type
from fullcount.compiler.values import Cell, FieldState, Value
from fullcount.runtime.collect.coerce import coerce_cell
from fullcount.runtime.connectors.base import (
    ActCall,
    ActResult,
    Existence,
    Matches,
    Outcome,
    Page,
    Question,
    Reading,
    ScanInfo,
    Total,
)
from fullcount.runtime.evidence.codes import ActReason
from fullcount.runtime.plan.cells import cell_from_doc, cell_to_doc
from fullcount.runtime.plan.document import CellDoc
from fullcount.runtime.trials.source import natural

NOW = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Raw = dict[str, Any]


class FakeClock:
    """Calling it gives the wall clock; `monotonic` seconds and `sleep` move together with it."""

    def __init__(self, start: datetime = NOW) -> None:
        self.start = start
        self.seconds = 0.0
        self.slept: list[float] = []

    def __call__(self) -> datetime:
        """Return the wall clock."""
        return self.start + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        """Return seconds since the start."""
        return self.seconds

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.seconds += seconds

    async def sleep(self, seconds: float) -> None:
        """Let time pass at once, and note it."""
        self.slept.append(seconds)
        self.seconds += seconds


# --- declarations -----------------------------------------------------------------------------------------------------


def parse_type(text: str) -> Type:
    """Return the type written as in the language: `text`, `list<int>`, `map<text>`."""
    text = text.strip()
    for prefix, make in (("list<", ListOf), ("map<", MapOf)):
        if text.startswith(prefix):
            return make(parse_type(text[len(prefix) : -1]))
    return SCALARS[text]


def parse_fields(text: str) -> dict[str, FieldType]:
    """Return the fields written as in the language: `id: text, owner: text?`."""
    fields = {}
    for entry in text.split(","):
        name, _, written = entry.strip().partition(":")
        written = written.strip()
        fields[name.strip()] = FieldType(parse_type(written.removesuffix("?")), optional=written.endswith("?"))
    return fields


def update_operation(name: str = "update", *, undoes: Iterable[str] = ("update",), **parameters: str) -> Operation:
    """Return an operation that sets the fields named like its parameters; `id` is bound to the key."""
    declared = {"id": Parameter(FieldType(SCALARS["text"]), key="id")}
    declared |= {n: Parameter(parse_fields(f"{n}: {t}")[n]) for n, t in parameters.items()}
    return Operation(name, declared, Effect.UPDATE, Idempotency.PRECONDITION, reversible=True, undoes=frozenset(undoes))


def delete_operation(name: str = "delete") -> Operation:
    """Return an operation that removes the object."""
    declared = {"id": Parameter(FieldType(SCALARS["text"]), key="id")}
    return Operation(
        name, declared, Effect.DELETE, Idempotency.PRECONDITION, reversible=False, closure=Closure.NONE, backup=True
    )


def restore_operation(name: str = "restore") -> Operation:
    """Return an operation that puts a deleted object back from its backup."""
    declared = {"id": Parameter(FieldType(SCALARS["text"]), key="id")}
    undoes = frozenset({"delete"})
    return Operation(name, declared, Effect.CREATE, Idempotency.NATURAL, reversible=False, undoes=undoes, restores=True)


def message_operation(name: str = "send") -> Operation:
    """Return an operation that makes something new."""
    declared = {each: Parameter(FieldType(SCALARS["text"])) for each in ("to", "about")}
    return Operation(name, declared, Effect.CREATE, Idempotency.NONE, reversible=False)


def fake_resource(
    name: str = "accounts",
    fields: str = "id: text, owner: text?",
    *,
    key: tuple[str, ...] = ("id",),
    source: str = "fake",
    consistency: Consistency = Consistency.PINNED,
    visibility: Visibility = Visibility.VOUCHED,
    incarnation: str | None = None,
    version: str | None = None,
    lookup_fields: Iterable[str] = (),
    operations: Iterable[Operation] = (),
    counted: bool = True,
) -> Resource:
    """Return a declared resource; `fields` as in the language."""
    return Resource(
        source=source,
        name=name,
        fields=parse_fields(fields),
        key=key,
        consistency=consistency,
        visibility=visibility,
        incarnation=incarnation,
        version=version,
        lookup_fields=frozenset(lookup_fields),
        operations={operation.name: operation for operation in operations},
        counted=counted,
    )


def fake_inventory(resource: Resource, **changes: Any) -> program.Inventory:
    """Return the inventory that reads every field of `resource`; `changes` replace attributes."""
    attributes: dict[str, Any] = {
        "name": resource.name,
        "source": resource.source,
        "resource": resource.name,
        "key": resource.key,
        "incarnation": resource.incarnation,
        "version": resource.version,
        "fields": dict(resource.fields),
        "scope": None,
        "deadline": None,
        "expects": (),
        "consistency": resource.consistency,
        "lookup_fields": resource.lookup_fields,
    }
    return program.Inventory(**(attributes | changes))


def self_field(inventory: program.Inventory | Resource, name: str) -> ir.Field:
    """Return the expression of a field in an inventory's own `scope` or `expect`."""
    declared = inventory.fields[name]
    return ir.Field(ir.SELF, inventory.name, name, declared.type, declared.optional)


def equals(inventory: program.Inventory | Resource, name: str, value: Value) -> ir.Expr:
    """Return `name == value` over an inventory's own row."""
    left = self_field(inventory, name)
    return ir.Compare("==", left, ir.Const(value, left.type))


def rows_page(
    fields: Iterable[str] | Mapping[str, Any],
    rows: Sequence[Raw],
    *,
    cursor: str | None = None,
    end: str | None = None,
    **rest: Any,
) -> Page:
    """Return a page of these rows; a missing field is absent, a `FieldState` as a value is the state of its cell."""
    columns: dict[str, list[Any]] = {}
    states: dict[str, list[FieldState | None]] = {}
    for name in fields:
        values = [row.get(name) for row in rows]
        given = [value if isinstance(value, FieldState) else None for value in values]
        if any(state is not None for state in given):
            states[name] = given
        columns[name] = [None if isinstance(value, FieldState) else value for value in values]
    return Page(columns, len(rows), states=states, cursor=cursor, end=end, **rest)


# --- the source -------------------------------------------------------------------------------------------------------


@dataclass
class FakeTable:
    """One resource and its live objects. Every attribute may be changed by a test at any time."""

    resource: Resource
    rows: Iterable[Raw] = ()
    page_rows: int = 1_000
    pinned: bool = True
    visibility: str = "all"
    consistency: Consistency | None = None
    """None: what the resource declares."""
    scope_pushed_down: bool = False
    snapshot_token: str | None = None
    as_of: datetime | None = None
    end: str | None = "last page"
    total: str | Total | None = "exact"
    """`exact`, `estimated`, a fixed `Total`, or None: the source gives no total."""
    warnings: tuple[Any, ...] = ()
    reasons: tuple[Any, ...] = ()
    script: list[Any] | None = None
    counted: int | None = None
    """What `count` says; None: the number of live objects."""
    objects: dict[tuple[Any, ...], Raw] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.put(*self.rows)

    def key_of(self, row: Raw) -> tuple[Any, ...]:
        """Return the key of an object."""
        return tuple(row[name] for name in self.resource.key)

    def put(self, *rows: Raw) -> None:
        """Add or replace objects."""
        for row in rows:
            self.objects[self.key_of(row)] = dict(row)

    def remove(self, *key: Any) -> None:
        """Remove the object with this key."""
        del self.objects[key]

    def change(self, *key: Any, **values: Any) -> None:
        """Change fields of the object with this key, its version included if the resource has one."""
        row = self.objects[key]
        row.update(values)
        version = self.resource.version
        if version is not None and version not in values:
            row[version] = row[version] + 1 if isinstance(row[version], int) else f"{row[version]}+"

    def cells(self, row: Raw, fields: Iterable[str]) -> dict[str, Cell]:
        """Return the canonical cells of an object."""
        return {name: _cell(self.resource.fields[name], row.get(name)) for name in fields}


def _cell(declared: FieldType, raw: Any) -> Cell:
    return coerce_cell(declared, None, raw) if isinstance(raw, FieldState) else coerce_cell(declared, raw)


@dataclass
class _Fault:
    method: str
    at: int | None
    do: Any


class FakeSource:
    """Reader and actor over `FakeTable`s; see the module's text."""

    def __init__(self, *tables: FakeTable, name: str = "fake", user: str = "reader") -> None:
        self.name = name
        self.tables = {table.resource.name: table for table in tables}
        self.facts = {"target.system": f"fake://{name}", "user": user}
        self.calls: list[tuple[str, Any]] = []
        self.effects: list[tuple[str, tuple[Value, ...]]] = []
        self.performed: dict[str, tuple[ActCall, ActResult]] = {}
        self.open_scans = 0
        self.closed = False
        self._faults: list[_Fault] = []
        self._lost: dict[int, bool] = {}

    def on(self, method: str, *, do: Any, at: int | None = 1) -> None:
        """Arrange what happens at the `at`-th call of `method` (None: at every call)."""
        self._faults.append(_Fault(method, at, do))

    def lose_answer(self, *, at: int = 1, took_effect: bool) -> None:
        """Let the answer of the `at`-th act be lost."""
        self._lost[at] = took_effect

    def count_of(self, method: str) -> int:
        """Return how often a method was called."""
        return sum(1 for called, _ in self.calls if called == method)

    def _called(self, method: str, detail: Any) -> Any:
        """Note the call and play its faults; a result other than None stands in for the real answer."""
        self.calls.append((method, detail))
        number = self.count_of(method)
        answer = None
        for fault in [f for f in self._faults if f.method == method and f.at in (None, number)]:
            answer = _play(fault.do)
        return answer

    async def identity(self) -> Mapping[str, str]:
        """See `SourceReader.identity`."""
        return self._called("identity", None) or self.facts

    @asynccontextmanager
    async def scan(self, question: Question) -> Any:
        """See `SourceReader.scan`."""
        self._called("open", question)
        self.open_scans += 1
        try:
            yield FakeScan(self, self.tables[question.resource.name], question)
        finally:
            self.open_scans -= 1

    async def read(self, resource: Resource, key: tuple[Value, ...], fields: Sequence[str]) -> Reading:
        """See `SourceReader.read`."""
        if (answer := self._called("read", (resource.name, key))) is not None:
            return answer
        table = self.tables[resource.name]
        row = table.objects.get(key)
        return Reading(Existence.GONE) if row is None else Reading(Existence.FOUND, table.cells(row, fields))

    async def lookup(self, resource: Resource, field: str, value: Value, fields: Sequence[str]) -> Matches:
        """See `SourceReader.lookup`."""
        if (answer := self._called("lookup", (resource.name, field, value))) is not None:
            return answer
        table = self.tables[resource.name]
        found = []
        for row in table.objects.values():
            cell = table.cells(row, (field,))[field]
            if cell.value is None or cell.value == value:
                found.append(table.cells(row, fields))
        return Matches(tuple(found), complete=True)

    async def count(self, resource: Resource) -> int:
        """See `SourceReader.count`."""
        if (answer := self._called("count", resource.name)) is not None:
            return answer
        table = self.tables[resource.name]
        return len(table.objects) if table.counted is None else table.counted

    async def close(self) -> None:
        """See `SourceReader.close`."""
        self.closed = True

    async def perform(self, call: ActCall) -> ActResult:
        """See `SourceActor.perform`."""
        if (answer := self._called("perform", (call.operation, call.key))) is not None:
            return answer
        lost = self._lost.get(self.count_of("perform"))
        if lost is False:
            return ActResult(Outcome.UNKNOWN, ActReason.OUTCOME_UNKNOWN, "no answer")
        result = self._perform(call)
        if lost is True:
            return ActResult(Outcome.UNKNOWN, ActReason.OUTCOME_UNKNOWN, "no answer")
        return result

    def _perform(self, call: ActCall) -> ActResult:
        if call.idempotency_key in self.performed:
            earlier, result = self.performed[call.idempotency_key]
            same = (earlier.operation, earlier.key, earlier.arguments) == (call.operation, call.key, call.arguments)
            return result if same else ActResult(Outcome.FAILED, ActReason.IDEMPOTENCY_MISMATCH)
        table = self.tables[call.resource.name]
        operation = call.resource.operations[call.operation]
        if len(call.key) == 0:  # something new, to which the source gives a key
            assert (operation.effect, dict(call.expected)) == (Effect.CREATE, {})
            self.effects.append((call.operation, tuple(call.arguments[name] for name in sorted(call.arguments))))
            self.performed[call.idempotency_key] = (call, ActResult(Outcome.DONE))
            return ActResult(Outcome.DONE)
        row = table.objects.get(call.key)
        if call.backup is not None and not operation.restores and call.backup.content != self._whole(call):
            return ActResult(Outcome.CHANGED, ActReason.PRECONDITION_FAILED, "it changed since its backup was taken")
        if operation.effect is Effect.CREATE:
            if row is not None:
                return ActResult(Outcome.CHANGED, ActReason.PRECONDITION_FAILED, "it exists")
        elif row is None:
            return ActResult(Outcome.ALREADY_GONE)
        elif table.cells(row, call.expected) != dict(call.expected):
            return ActResult(Outcome.CHANGED, ActReason.PRECONDITION_FAILED, "it changed since it was read")
        before = {} if row is None else {name: str(value) for name, value in row.items()}
        self._take_effect(table, operation, call)
        result = ActResult(Outcome.DONE, before=before)
        self.performed[call.idempotency_key] = (call, result)
        return result

    def _take_effect(self, table: FakeTable, operation: Operation, call: ActCall) -> None:
        fields = table.resource.fields
        given = {n: natural(fields[n].type, v) for n, v in call.arguments.items() if n in fields}
        if operation.restores:
            assert call.backup is not None
            assert call.backup.content is not None
            cells = {
                n: cell_from_doc(CellDoc.model_validate(d), fields[n].type) for n, d in call.backup.content.items()
            }
            table.put({n: None if c.value is None else natural(fields[n].type, c.value) for n, c in cells.items()})
        elif operation.effect is Effect.DELETE:
            table.remove(*call.key)
        elif operation.effect is Effect.CREATE:
            table.put(given)
        else:
            table.change(*call.key, **{n: v for n, v in given.items() if n not in table.resource.key})
        self.effects.append((call.operation, call.key))

    async def back_up(self, call: ActCall) -> dict[str, Any] | None:
        """See `TakesBackups.back_up`."""
        if (answer := self._called("back_up", (call.operation, call.key))) is not None:
            return answer
        return self._whole(call)

    def _whole(self, call: ActCall) -> dict[str, Any] | None:
        table = self.tables[call.resource.name]
        row = table.objects.get(call.key)
        if row is None:
            return None
        cells = table.cells(row, tuple(table.resource.fields))
        types = table.resource.fields
        return {n: cell_to_doc(cell, types[n].type).model_dump(mode="json") for n, cell in cells.items()}

    async def took_effect(self, call: ActCall) -> bool | None:
        """See `SourceActor.took_effect`."""
        if (answer := self._called("took_effect", (call.operation, call.key))) is not None:
            return answer
        return call.idempotency_key in self.performed


def _play(do: Any) -> Any:
    if isinstance(do, BaseException):
        raise do
    return do() if callable(do) else do


class FakeScan:
    """An open read: pages by key over a copy or over the live objects, or the table's script."""

    def __init__(self, source: FakeSource, table: FakeTable, question: Question) -> None:
        self._source, self._table, self._question = source, table, question
        self._copy = copy.deepcopy(table.objects) if table.pinned else None
        self._cursors: dict[str, tuple[Any, ...]] = {}
        self.info = ScanInfo(
            consistency=table.resource.consistency if table.consistency is None else table.consistency,
            visibility=table.visibility,
            scope_pushed_down=table.scope_pushed_down,
            snapshot_token=table.snapshot_token,
            as_of=table.as_of,
            reasons=table.reasons,
            warnings=table.warnings,
        )

    async def fetch(self, cursor: str | None) -> Page:
        """See `Scan.fetch`."""
        if (answer := self._source._called("fetch", cursor)) is not None:
            return answer
        if self._table.script is not None:
            return _play(self._table.script.pop(0))
        objects = self._table.objects if self._copy is None else self._copy
        after = [key for key in sorted(objects) if cursor is None or key > self._cursors[cursor]]
        taken = after[: self._table.page_rows]
        more = len(after) > len(taken)
        if more:
            self._cursors[repr(taken[-1])] = taken[-1]
        return rows_page(
            self._question.fields,
            [objects[key] for key in taken],
            cursor=repr(taken[-1]) if more else None,
            end=None if more else self._table.end,
            total=self._total(len(objects)),
        )

    def _total(self, number: int) -> Total | None:
        given = self._table.total
        if given is None or isinstance(given, Total):
            return given
        return Total(number, exact=given == "exact")


class NoConfig(BaseModel):
    """A fake source needs no configuration."""


class FakeConnector:
    """A connector that hands out prepared `FakeSource`s by their source name."""

    name = "fake"
    version = "1"
    config_model = NoConfig

    def __init__(self, sources: Mapping[str, FakeSource]) -> None:
        self.sources = sources

    def resources(self, source: str, config: BaseModel) -> Mapping[str, Resource]:
        """See `Connector.resources`."""
        return {name: table.resource for name, table in self.sources[source].tables.items()}

    async def open_reader(self, source: str, config: BaseModel) -> FakeSource:
        """See `Connector.open_reader`."""
        return self.sources[source]

    async def open_actor(self, source: str, config: BaseModel) -> FakeSource:
        """See `Connector.open_actor`."""
        return self.sources[source]

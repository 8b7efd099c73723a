"""Which name stands for what: every name of a file with the declaration that it means.

The tree is walked by its fields, so that a new clause is looked into without being known here: what it calls
`inventory`, `proposal`, `record` or `row` means the same in it as everywhere. Only what binds names is spelt out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

from fullcount.dsl import tree, trial_tree
from fullcount.dsl.dataclass import dataclass, field
from fullcount.dsl.source import Span


class Kind(StrEnum):
    """What a name can stand for."""

    WORKFLOW = "workflow"
    INVENTORY = "inventory"
    PARAM = "parameter"
    PROPOSAL = "proposal"
    PROTECTION = "protection"
    ROW = "row"
    ITEM = "item"
    FIELD = "field"
    RECORD = "record"
    DEFINITION = "definition"
    ARGUMENT = "argument"
    """A parameter of a definition, in the definition."""
    FILE = "file"
    """An imported file."""
    SOURCE = "source"
    """A resource or an operation of a source, declared in `fullcount.toml`."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A declaration. `place` is its name there (the whole file for an import); None for what is declared elsewhere.

    `node` is what declares it; `resource` is the dotted name of what a row or a field belongs to, as far as known.
    """

    kind: Kind
    name: str
    place: Span | None
    node: Any = field(default=None, compare=False)
    inventory: tree.InventoryDecl | None = field(default=None, compare=False)
    resource: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A name where it stands."""

    span: Span
    symbol: Symbol

    @property
    def declares(self) -> bool:
        """Whether this is the declaration itself."""
        return self.span == self.symbol.place


@dataclass(frozen=True, slots=True)
class Shared:
    """The records and definitions that a file may use, its own and those of what it imports; and its imports."""

    records: Mapping[str, Symbol] = field(default_factory=dict)
    definitions: Mapping[str, Symbol] = field(default_factory=dict)
    files: Mapping[str, Symbol] = field(default_factory=dict)
    """By path, as the import writes it."""


def shared_by(files: Sequence[tree.File]) -> Shared:
    """Return what these files declare for all workflows; of two declarations with one name the first."""
    records: dict[str, Symbol] = {}
    definitions: dict[str, Symbol] = {}
    for file in files:
        for record in file.records:
            records.setdefault(record.name.text, Symbol(Kind.RECORD, record.name.text, record.name.span, record))
        for made in file.definitions:
            definitions.setdefault(made.name.text, Symbol(Kind.DEFINITION, made.name.text, made.name.span, made))
    return Shared(records, definitions)


def occurrences(file: tree.File, shared: Shared) -> list[Occurrence]:
    """Return every name of a file that stands for something, in the order of the text."""
    walker = _Walker(shared, [])
    walker.visit(file, _Scope())
    return sorted(walker.found, key=lambda each: (each.span, each.symbol.kind))


def at(found: Sequence[Occurrence], offset: int) -> Occurrence | None:
    """Return the name at an offset, or right before it; the shortest where several reach there."""
    here = [each for each in found if each.span.start <= offset <= each.span.end]
    return min(here, key=lambda each: (each.span.end == offset, each.span.end - each.span.start), default=None)


def parts_of(node: Any) -> Iterator[Any]:
    """Yield the nodes that a node consists of, in the order of its fields."""
    for name in type(node).__match_args__:
        value = getattr(node, name)
        for part in value if isinstance(value, tuple) else (value,):
            if hasattr(type(part), "__match_args__") and not isinstance(part, Span):
                yield part


@dataclass(frozen=True, slots=True)
class _Scope:
    """The names that can be used where one stands. `bare` is the inventory whose fields need no row."""

    inventories: Mapping[str, Symbol] = field(default_factory=dict)
    params: Mapping[str, Symbol] = field(default_factory=dict)
    proposals: Mapping[str, Symbol] = field(default_factory=dict)
    values: Mapping[str, Symbol] = field(default_factory=dict)
    """Rows, items and arguments, the innermost of each name."""
    bare: Symbol | None = None

    def binding(self, symbol: Symbol) -> _Scope:
        return replace(self, values={**self.values, symbol.name: symbol})


@dataclass(slots=True)
class _Walker:
    shared: Shared
    found: list[Occurrence]

    def visit(self, node: Any, scope: _Scope) -> None:
        match node:
            case tree.Import():
                self._use(self.shared.files.get(node.path), node.path_span)
            case tree.Workflow():
                self._workflow(node, scope)
            case tree.InventoryDecl():
                self._inventory(node, scope)
            case tree.ProtectDecl():
                self._protection(node, scope)
            case tree.Quantified() | tree.AggregateExpr() | tree.ProposeDecl():
                self._over_rows(node, scope)
            case tree.ListTest():
                self._list_test(node, scope)
            case tree.Definition():
                self._definition(node)
            case tree.RecordDecl():
                self._record(node, scope)
            case tree.Reference():
                self._reference(node, scope)
            case tree.Call():
                self._use(self.shared.definitions.get(node.function.text), node.function.span)
                self._inside(node, scope)
            case tree.Dotted():
                self._use(Symbol(Kind.SOURCE, node.text, None, node), node.span)
            case _:
                self._inside(node, self._by_role(node, scope))

    def _inside(self, node: Any, scope: _Scope) -> None:
        for part in parts_of(node):
            self.visit(part, scope)

    def _by_role(self, node: Any, scope: _Scope) -> _Scope:
        """Read the names of a node that are called by what they stand for, and see the row of its proposal inside."""
        inventory, proposal, record = (_name(node, role) for role in ("inventory", "proposal", "record"))
        if isinstance(node, trial_tree.GivenParam):
            self._use(scope.params.get(node.name.text), node.name.span)
        if inventory is not None:
            self._use(scope.inventories.get(inventory.text), inventory.span)
        if record is not None:
            self._use(self.shared.records.get(record.text), record.span)
        if proposal is None:
            return scope
        meant = scope.proposals.get(proposal.text)
        self._use(meant, proposal.span)
        return scope if meant is None else scope.binding(self._row(meant.node, scope))

    def _workflow(self, node: tree.Workflow, scope: _Scope) -> None:
        self._declare(Symbol(Kind.WORKFLOW, node.name.text, node.name.span, node))
        inventories: dict[str, Symbol] = {}
        params: dict[str, Symbol] = {}
        proposals: dict[str, Symbol] = {}
        for inventory in node.inventories:
            symbol = Symbol(
                Kind.INVENTORY, inventory.name.text, inventory.name.span, inventory, inventory, inventory.resource.text
            )
            inventories.setdefault(symbol.name, symbol)
            self._declare(symbol)
        for param in node.params:
            symbol = Symbol(Kind.PARAM, param.name.text, param.name.span, param)
            params.setdefault(symbol.name, symbol)
            self._declare(symbol)
        for proposal in node.proposals:
            symbol = Symbol(Kind.PROPOSAL, proposal.name.text, proposal.name.span, proposal)
            proposals.setdefault(symbol.name, symbol)
            self._declare(symbol)
        self._inside(node, replace(scope, inventories=inventories, params=params, proposals=proposals))

    def _protection(self, node: tree.ProtectDecl, scope: _Scope) -> None:
        self._declare(Symbol(Kind.PROTECTION, node.name.text, node.name.span, node))
        row = Symbol(Kind.ROW, node.row.text, node.row.span, node, None, node.resource.text)
        self._declare(row)
        self._inside(node, scope.binding(row))

    def _definition(self, node: tree.Definition) -> None:
        self._declare(Symbol(Kind.DEFINITION, node.name.text, node.name.span, node))
        given = [Symbol(Kind.ARGUMENT, each.name.text, each.name.span, each) for each in node.parameters]
        for each in given:
            self._declare(each)
        self.visit(node.body, _Scope(values={each.name: each for each in given}))

    def _record(self, node: tree.RecordDecl, scope: _Scope) -> None:
        self._declare(Symbol(Kind.RECORD, node.name.text, node.name.span, node))
        for entry in node.fields:
            if isinstance(entry, tree.FieldDecl):
                self._declare(Symbol(Kind.FIELD, entry.name.text, entry.name.span, entry))
        self._inside(node, scope)

    def _list_test(self, node: tree.ListTest, scope: _Scope) -> None:
        self.visit(node.collection, scope)
        item = Symbol(Kind.ITEM, node.item.text, node.item.span, node)
        self._declare(item)
        self.visit(node.where, scope.binding(item))

    def _inventory(self, node: tree.InventoryDecl, scope: _Scope) -> None:
        own = Symbol(Kind.INVENTORY, node.name.text, node.name.span, node, node, node.resource.text)
        for name in (*node.key, *([] if node.incarnation is None else [node.incarnation])):
            self._use(self._field(own, name.text), name.span)
        for each in node.fields:
            if isinstance(each, tree.FieldDecl):
                self._use(self._field(own, each.name.text), each.name.span)
        self._inside(node, replace(scope, bare=own))

    def _over_rows(self, node: tree.Quantified | tree.AggregateExpr | tree.ProposeDecl, scope: _Scope) -> None:
        self._use(scope.inventories.get(node.inventory.text), node.inventory.span)
        row = self._row(node, scope)
        self._declare(row)
        self._inside(node, scope.binding(row))

    def _row(self, node: tree.Quantified | tree.AggregateExpr | tree.ProposeDecl, scope: _Scope) -> Symbol:
        over = scope.inventories.get(node.inventory.text)
        resource = "" if over is None else over.resource
        inventory = None if over is None else over.inventory
        return Symbol(Kind.ROW, node.row.text, node.row.span, node, inventory, resource)

    def _reference(self, node: tree.Reference, scope: _Scope) -> None:
        head = node.parts[0]
        value = scope.values.get(head.text) or scope.params.get(head.text)
        if value is not None:
            self._use(value, head.span)
        elif scope.bare is not None and len(node.parts) == 1:
            self._use(self._field(scope.bare, head.text), head.span)
        if value is not None and value.kind is Kind.ROW and len(node.parts) > 1:
            self._use(self._field(value, node.parts[1].text), node.parts[1].span)

    def _field(self, of: Symbol, name: str) -> Symbol:
        """Return a field of an inventory or a row: as `fields` declares it, itself or by a record, else as named."""
        for entry in () if of.inventory is None else of.inventory.fields:
            if isinstance(entry, tree.FieldDecl):
                if entry.name.text == name:
                    return Symbol(Kind.FIELD, name, entry.name.span, entry, of.inventory, of.resource)
                continue
            spread = self._record_field(entry.record.text, name, frozenset())
            if spread is not None:
                return Symbol(Kind.FIELD, name, spread.name.span, spread, of.inventory, of.resource)
        return Symbol(Kind.FIELD, name, None, None, of.inventory, of.resource)

    def _record_field(self, record: str, name: str, seen: frozenset[str]) -> tree.FieldDecl | None:
        declared = self.shared.records.get(record)
        if declared is None or record in seen:
            return None
        for entry in declared.node.fields:
            found = (
                (entry if entry.name.text == name else None)
                if isinstance(entry, tree.FieldDecl)
                else self._record_field(entry.record.text, name, seen | {record})
            )
            if found is not None:
                return found
        return None

    def _declare(self, symbol: Symbol) -> None:
        if symbol.place is not None:
            self.found.append(Occurrence(symbol.place, symbol))

    def _use(self, symbol: Symbol | None, span: Span) -> None:
        if symbol is not None:
            self.found.append(Occurrence(span, symbol))


def _name(node: Any, role: str) -> tree.Name | None:
    value = getattr(node, role, None)
    return value if isinstance(value, tree.Name) else None

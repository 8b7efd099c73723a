"""What can be written at a place: words of the language as the grammar has them, names as they are declared.

The grammar says which words can come and whether a name can; which names are meant follows from the words before. A
clause that is not known here still gets its keywords and, where a value is read, everything that a value can be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Final

from fullcount.compiler.catalog import Catalog, Operation, Resource
from fullcount.compiler.editor.cursor import BINDERS, Bound, Cursor, cursor_at
from fullcount.compiler.editor.view import View
from fullcount.compiler.functions import FUNCTIONS
from fullcount.compiler.types import SCALARS
from fullcount.dsl import tree
from fullcount.dsl.codes import CODES
from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.diagnostics import Severity
from fullcount.dsl.keywords import EXAMPLES, LIST_QUANTIFIERS, word


class Sort(StrEnum):
    """What is proposed."""

    KEYWORD = "keyword"
    FIELD = "field"
    INVENTORY = "inventory"
    PROPOSAL = "proposal"
    PARAM = "parameter"
    ROW = "row"
    FUNCTION = "function"
    DEFINITION = "definition"
    RECORD = "record"
    TYPE = "type"
    SOURCE = "source"
    RESOURCE = "resource"
    OPERATION = "operation"
    ARGUMENT = "argument"
    LIST = "list"
    ROLE = "role"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that can be written. `detail` says what it is in a few words, `about` more, where there is more."""

    label: str
    sort: Sort
    detail: str = ""
    about: str = ""
    insert: str = ""
    """What to write, where that is not the label."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What can be written, and where the word begins that it replaces."""

    start: int
    items: tuple[Item, ...]


#: Terminals of which at least one can come wherever a value is read.
_VALUE: Final = frozenset({"NUMBER", "STRING"})
#: Words behind which an inventory is named, and those behind which a proposal is, at the start of a clause.
_BEFORE_INVENTORIES: Final = frozenset({"verify", "given", "defaults", "change", "recreate", "remove", "add"})
_BEFORE_PROPOSALS: Final = frozenset({"approve", "act"})
_CONSTANTS: Final = ("now", "never", "unknown", "true", "false")
_CONTAINERS: Final = ("list", "map", "record")


def complete(view: View, offset: int, catalog: Catalog) -> Completion:
    """Return what can be written at an offset of a text."""
    cursor = cursor_at(view.source.text, offset)
    if cursor.quoted is not None:
        return _quoted(cursor, offset, catalog)
    found = {item.label: item for item in _Proposer(view, cursor, offset, catalog).items()}
    return Completion(cursor.start, tuple(found.values()))


def _quoted(cursor: Cursor, offset: int, catalog: Catalog) -> Completion:
    inside = cursor.quoted or ""
    if inside.startswith("#"):
        head, _, typed = inside.rpartition(" ")
        if head.startswith("#") and head.lstrip("# ").split(" ")[0] == "allow" and "because" not in head:
            codes = [
                Item(code, Sort.CODE, entry.title, entry.explanation, f"{code}: because ")
                for code, entry in CODES.items()
                if entry.severity is Severity.WARNING
            ]
            return Completion(offset - len(typed), tuple(codes))
        return Completion(offset, ())
    if cursor.before == "role":
        return Completion(offset - len(inside) + 1, tuple(Item(role, Sort.ROLE, "a role") for role in catalog.roles()))
    return Completion(offset, ())


@dataclass(frozen=True, slots=True)
class _Proposer:
    view: View
    cursor: Cursor
    offset: int
    catalog: Catalog

    def items(self) -> Iterator[Item]:
        cursor = self.cursor
        names = "NAME" in cursor.following
        reads_value = not _VALUE.isdisjoint(cursor.following)
        if cursor.before == ".":
            yield from self._members(_path_before_dot(cursor.clause))
            return
        if cursor.before in BINDERS and (reads_value or not names):
            yield from self._collections(cursor.before)
        if cursor.clause in {("given", "param"), ("given", "list")}:  # keywords only once a name and `=` follow
            yield from self._params() if cursor.before == "param" else self._lists()
        if names:
            yield from self._values() if reads_value else self._names()
        for terminal in sorted(cursor.following):
            written = word(terminal)
            if written is not None:
                yield Item(written, Sort.KEYWORD, EXAMPLES.get(written, ""))

    # -- names by their place ------------------------------------------------------------------------------------------

    def _names(self) -> Iterator[Item]:
        """Propose names where only a name can stand."""
        cursor = self.cursor
        head, before = cursor.clause[0] if cursor.clause else "", cursor.before
        block = cursor.blocks[-1] if cursor.blocks else ""
        if before == ":" or before == "<":
            yield from self._types()
        elif before == "..." or (before == "fields" and head == "fields"):
            yield from (Item(name, Sort.RECORD, "a record") for name in self.view.shared.records)
        elif block == "fields" and before in {"", ","}:
            yield from self._undeclared_fields()
        elif cursor.in_call and before in {"(", ","}:
            yield from self._arguments()
        elif head in {"key", "incarnation"}:
            yield from self._fields(self._own_inventory())
        elif before == "in":
            yield from self._lists()
        elif before in {"from", "with"} or (head == "undo" and len(cursor.clause) == 1):
            if head not in {"inventory", "protect", "act", "undo"}:
                yield from self._inventories()
            yield from (Item(name, Sort.SOURCE, "a source") for name in self.catalog.sources())
        elif head == "canary":
            yield from (Item(name, Sort.SOURCE, "a source") for name in self.catalog.sources())
        elif before in _BEFORE_INVENTORIES:
            yield from self._inventories()
        elif (before in _BEFORE_PROPOSALS and len(cursor.clause) == 1) or (head == "test" and before == "of"):
            yield from self._proposals()

    def _members(self, path: tuple[str, ...]) -> Iterator[Item]:
        """Propose what can stand behind a path and a dot."""
        rows = {each.name: each for each in self._bound()}
        if len(path) == 1 and path[0] in rows:
            yield from self._fields_of(rows[path[0]])
        elif len(path) == 1 and path[0] in self.catalog.sources():
            acts = self.cursor.clause[0] in {"act", "undo"} if self.cursor.clause else False
            for name, resource in self.catalog.resources(path[0]).items():
                if acts:
                    yield from (_operation(each, resource) for each in resource.operations.values())
                else:
                    yield Item(name, Sort.RESOURCE, _about(resource))

    def _values(self) -> Iterator[Item]:
        """Propose everything that a value can be."""
        bound = self._bound()
        for each in bound:
            yield Item(each.name, Sort.ROW, f"an item of {each.over}" if each.is_item else f"a row of {each.over}")
        if self.cursor.blocks[-1:] == ("inventory",):
            yield from self._fields(self._own_inventory())
        yield from self._params()
        for name, symbol in self.view.shared.definitions.items():
            yield Item(name, Sort.DEFINITION, _signature(symbol.node), insert=f"{name}(")
        for name, function in FUNCTIONS.items():
            given = ", ".join(map(str, function.parameters))
            yield Item(name, Sort.FUNCTION, f"{name}({given}) -> {function.result}", insert=f"{name}(")
        yield from (Item(each, Sort.KEYWORD) for each in _CONSTANTS)

    def _collections(self, binder: str) -> Iterator[Item]:
        """Propose what a quantifier or an aggregate can run over."""
        if binder not in LIST_QUANTIFIERS:
            yield from self._inventories()
            return
        for each in self._bound():
            for item in self._fields_of(each):
                if item.detail.startswith("list<"):
                    yield Item(f"{each.name}.{item.label}", Sort.FIELD, item.detail)

    # -- what is declared ----------------------------------------------------------------------------------------------

    def _workflow(self) -> tree.Workflow | None:
        """Return the workflow around the cursor."""
        if self.view.file is None:
            return None
        around = [each for each in self.view.file.workflows if each.span.start <= self.offset]
        return around[-1] if around and "workflow" in self.cursor.blocks else None

    def _inventories(self) -> Iterator[Item]:
        workflow = self._workflow()
        for each in () if workflow is None else workflow.inventories:
            yield Item(each.name.text, Sort.INVENTORY, f"an inventory of {each.resource.text}")

    def _params(self) -> Iterator[Item]:
        workflow = self._workflow()
        for param in () if workflow is None else workflow.params:
            yield Item(param.name.text, Sort.PARAM, f"{self.view.source.slice(param.type.span)}, a parameter")

    def _lists(self) -> Iterator[Item]:
        yield from (Item(name, Sort.LIST, "a list of exemptions") for name in self.catalog.exemption_lists())

    def _proposals(self) -> Iterator[Item]:
        workflow = self._workflow()
        for each in () if workflow is None else workflow.proposals:
            yield Item(each.name.text, Sort.PROPOSAL, f"a proposal over {each.inventory.text}")

    def _bound(self) -> list[Bound]:
        """Return the rows and items in scope, that of the proposal around a clause of an act among them."""
        heads = [self.cursor.clause, *reversed(self.cursor.heads)]
        for words in heads:
            if len(words) >= 2 and words[0] == "act":
                workflow = self._workflow()
                for each in () if workflow is None else workflow.proposals:
                    if each.name.text == words[1]:
                        return [Bound(each.row.text, each.inventory.text, is_item=False), *self.cursor.bound]
        return list(self.cursor.bound)

    def _own_inventory(self) -> str:
        """Return the name of the inventory whose clauses the cursor is among, as its head has it."""
        head = next((words for words in reversed(self.cursor.heads) if words[:1] == ("inventory",)), ())
        return head[1] if len(head) > 1 else ""

    def _resource(self, dotted: str) -> Resource | None:
        source, _, name = dotted.partition(".")
        return self.catalog.resources(source).get(name)

    def _fields_of(self, row: Bound) -> Iterator[Item]:
        if row.is_item:
            return
        if "." in row.over:
            resource = self._resource(row.over)
            for name, field in ({} if resource is None else resource.fields).items():
                yield Item(name, Sort.FIELD, str(field))
        else:
            yield from self._fields(row.over)

    def _fields(self, inventory: str) -> Iterator[Item]:
        """Propose the declared fields of an inventory; where none can be read yet, those of its resource."""
        workflow = self._workflow()
        declared = [each for each in (() if workflow is None else workflow.inventories) if each.name.text == inventory]
        own = {} if not declared else dict(self._written(declared[0].fields, frozenset()))
        if own:
            yield from (Item(name, Sort.FIELD, of_type) for name, of_type in own.items())
            return
        resource = self._resource(declared[0].resource.text if declared else self._resource_in_head())
        for name, field in ({} if resource is None else resource.fields).items():
            yield Item(name, Sort.FIELD, str(field))

    def _written(
        self, entries: Iterable[tree.FieldDecl | tree.FieldSpread], seen: frozenset[str]
    ) -> Iterator[tuple[str, str]]:
        """Yield the fields of a clause with their types as written, those of spread records in their places."""
        for entry in entries:
            if isinstance(entry, tree.FieldDecl):
                yield entry.name.text, self._text_of_type(entry.type)
                continue
            record = self.view.shared.records.get(entry.record.text)
            if record is not None and entry.record.text not in seen:
                yield from self._written(record.node.fields, seen | {entry.record.text})

    def _text_of_type(self, written: tree.TypeName) -> str:
        given = f"<{', '.join(map(self._text_of_type, written.arguments))}>" if written.arguments else ""
        return f"{written.name}{given}{'?' if written.optional else ''}"

    def _resource_in_head(self) -> str:
        head = next((words for words in reversed(self.cursor.heads) if words[:1] == ("inventory",)), ())
        return "".join(head[head.index("from") + 1 : -1]) if "from" in head else ""

    def _undeclared_fields(self) -> Iterator[Item]:
        """Propose the fields of the resource that the clause does not declare yet, with their types."""
        resource = self._resource(self._resource_in_head())
        workflow = self._workflow()
        own = self._own_inventory()
        there = {
            name
            for each in (() if workflow is None else workflow.inventories)
            if each.name.text == own
            for name, _ in self._written(each.fields, frozenset())
        }
        for name, field in ({} if resource is None else resource.fields).items():
            if name not in there:
                yield Item(name, Sort.FIELD, str(field), insert=f"{name}: {field}")

    def _arguments(self) -> Iterator[Item]:
        """Propose the parameters of the operation whose arguments are being written."""
        source, _, name = ".".join(self.cursor.in_call).partition(".")
        for resource in self.catalog.resources(source).values():
            operation = resource.operations.get(name)
            for parameter, each in ({} if operation is None else operation.parameters).items():
                need = "required" if each.required else "may be left out"
                yield Item(parameter, Sort.ARGUMENT, f"{each.type}, {need}", insert=f"{parameter}: ")

    def _types(self) -> Iterator[Item]:
        yield from (Item(name, Sort.TYPE) for name in (*SCALARS, *_CONTAINERS))


def _path_before_dot(clause: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of the path that the clause ends in, before its last dot."""
    path: list[str] = []
    at = len(clause) - 2
    while at >= 0:
        path.insert(0, clause[at])
        if at == 0 or clause[at - 1] != ".":
            break
        at -= 2
    return tuple(path)


def _operation(operation: Operation, resource: Resource) -> Item:
    undone = "can be taken back" if operation.reversible else "can't be taken back"
    given = ", ".join(name for name, each in operation.parameters.items() if each.required)
    return Item(
        operation.name,
        Sort.OPERATION,
        f"{operation.effect} of {resource.name}, {undone}",
        f"needs {given}" if given else "",
        f"{operation.name}(",
    )


def _about(resource: Resource) -> str:
    return f"{len(resource.fields)} fields, snapshot {resource.consistency}"


def _signature(definition: tree.Definition) -> str:
    given = ", ".join(f"{each.name.text}: {each.type.name}" for each in definition.parameters)
    return f"{definition.name.text}({given})"

"""The names that workflows share: records and definitions, of a file and of everything it imports, in one namespace.

Two declarations of one name are refused with both places, whichever files they stand in. What a name stands for is
checked once, where it is declared; a declaration that failed is remembered as failed, and its uses are not reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from fullcount.compiler.catalog import Catalog
from fullcount.compiler.functions import FUNCTIONS
from fullcount.compiler.imports import Files
from fullcount.compiler.report import AtUse, did_you_mean, error
from fullcount.compiler.typenames import field_type
from fullcount.compiler.types import FieldType
from fullcount.dsl import tree, walk
from fullcount.dsl.dataclass import dataclass, field
from fullcount.dsl.diagnostics import Diagnostics, Label
from fullcount.dsl.expressions import MAX_DEPTH
from fullcount.dsl.source import Source, Span

MAX_SIZE: Final = 5_000
"""How many parts a definition may have once the definitions it uses are written out."""


@dataclass(slots=True)
class Record:
    """A record with its fields, those of the records it spreads included. None: it failed."""

    decl: tree.RecordDecl
    fields: tuple[RecordField, ...] | None = None


@dataclass(frozen=True, slots=True)
class RecordField:
    """A field of a record. `type` is None if it failed."""

    decl: tree.FieldDecl
    type: FieldType | None


@dataclass(slots=True)
class Definition:
    """A definition with the types of its parameters, None for one that failed.

    `failed`: it was reported, and so its uses are not. It is so until it was measured, as members of circles never are.

    `looks`: it, or a definition it uses, looks into an inventory, which only a workflow has.
    `depth`, `size`: what it comes to when the definitions it uses are written out.
    """

    decl: tree.Definition
    source: Source
    comments: tuple[tree.Comment, ...]
    parameters: dict[str, FieldType | None] = field(default_factory=dict)
    failed: bool = True
    looks: bool = False
    depth: int = 0
    size: int = 0

    @property
    def name(self) -> str:
        """The name under which expressions use it."""
        return self.decl.name.text


@dataclass(slots=True)
class Library:
    """Every shared name. `whole`: no file is missing, so that a name which is not here does not exist.

    `refused` are the names of declarations that were reported, so that their uses are not.
    """

    records: dict[str, Record] = field(default_factory=dict)
    definitions: dict[str, Definition] = field(default_factory=dict)
    whole: bool = True
    refused: set[str] = field(default_factory=set)
    order: list[str] = field(default_factory=list)
    """The definitions, each after those that it uses; without the members of circles."""

    def definition(self, expr: tree.Expr) -> Definition | None:
        """Return the definition that an expression calls, or None if it calls none."""
        return self.definitions.get(expr.function.text) if isinstance(expr, tree.Call) else None

    def aggregate(self, expr: tree.Expr) -> tree.AggregateExpr | None:
        """Return the aggregate that an expression is, itself or behind definitions, or None."""
        seen: set[str] = set()
        while (definition := self.definition(expr)) is not None and definition.name not in seen:
            seen.add(definition.name)
            expr = definition.decl.body
        return expr if isinstance(expr, tree.AggregateExpr) else None

    def in_order(self) -> Iterator[Definition]:
        """Yield the definitions, each after those that it uses; without the members of circles."""
        return (self.definitions[name] for name in self.order)

    def used_by(self, expr: tree.Expr) -> tuple[Definition, ...]:
        """Return the definitions that an expression uses, directly or through another, each once."""
        found: dict[str, Definition] = {}
        pending = [expr]
        while pending:
            for node in walk.nodes(pending.pop(0)):
                definition = self.definition(node)
                if definition is not None and definition.name not in found:
                    found[definition.name] = definition
                    pending.append(definition.decl.body)
        return tuple(found.values())

    def fields(self, entries: Sequence[tree.FieldDecl | tree.FieldSpread], sink: Diagnostics) -> list[Placed] | None:
        """Return declared fields with those of spread records in their place; None if a record is not known."""
        placed: list[Placed] = []
        known = True
        for entry in entries:
            if isinstance(entry, tree.FieldDecl):
                placed.append(Placed(RecordField(entry, None), None))
                continue
            record = self.records.get(entry.record.text)
            if record is None:
                self._unknown_record(entry.record, sink)
            if record is None or record.fields is None:
                known = False
            else:
                placed.extend(Placed(each, entry) for each in record.fields)
        return placed if known else None

    def surely_lacks(self, name: str) -> bool:
        """Whether no file declares a name; not so if a file is missing, or if the name was refused."""
        return self.whole and name not in self.refused

    def _unknown_record(self, name: tree.Name, sink: Diagnostics) -> None:
        if not self.surely_lacks(name.text):
            return
        error(
            sink,
            "FC143",
            f"there is no record `{name.text}`",
            name.span,
            help=did_you_mean(name.text, self.records, "records"),
        )


@dataclass(frozen=True, slots=True)
class Placed:
    """A field in an inventory or record: written there, or brought by a spread."""

    field: RecordField
    spread: tree.FieldSpread | None

    def sink(self, sink: Diagnostics) -> Diagnostics:
        """Return where findings about the field go: they are told at the spread that brought it."""
        if self.spread is None:
            return sink
        record = self.spread.record.text
        return AtUse(sink, self.spread.span, f"brings `{self.field.decl.name.text}`", f"declared in record `{record}`")


def read_library(files: Files, catalog: Catalog, sink: Diagnostics) -> Library:
    """Collect and check the shared names of a compilation."""
    library = Library(whole=files.whole)
    places: dict[str, tree.Name] = {}
    for name, file in files.parsed.items():
        for record in file.records:
            if _is_new(record.name, places, sink):
                library.records[record.name.text] = Record(record)
            else:
                library.refused.add(record.name.text)
        for definition in file.definitions:
            if _is_new(definition.name, places, sink) and _is_free(definition.name, sink):
                made = Definition(definition, files.sources[name], file.comments)
                library.definitions[definition.name.text] = made
            else:
                library.refused.add(definition.name.text)
    spreads = {name: _spread_by(record) for name, record in library.records.items()}
    for name in _in_order(spreads, "records", places, sink):
        _resolve(library.records[name], library, catalog, sink)
    for made in library.definitions.values():
        _read_parameters(made, catalog, sink)
    calls = {name: {each.name for each in _calls(made, library)} for name, made in library.definitions.items()}
    library.order = list(_in_order(calls, "definitions", places, sink))
    for name in library.order:
        _measure(library.definitions[name], library, sink)
    return library


def _is_new(name: tree.Name, places: dict[str, tree.Name], sink: Diagnostics) -> bool:
    first = places.setdefault(name.text, name)
    if first is name:
        return True
    error(
        sink,
        "FC101",
        f"`{name.text}` is declared twice",
        name.span,
        note="declared again here",
        labels=(Label(first.span, "first declared here"),),
        why="records and definitions of all imported files share one namespace, and neither may hide the other",
        help="give one of them another name",
    )
    return False


def _is_free(name: tree.Name, sink: Diagnostics) -> bool:
    if name.text not in FUNCTIONS:
        return True
    error(
        sink,
        "FC146",
        f"`{name.text}` is a function of the language",
        name.span,
        why="a rule that calls it must mean the same wherever it stands",
        help="give the definition another name",
    )
    return False


def _in_order(
    uses: dict[str, set[str]], what: str, places: Mapping[str, tree.Name], sink: Diagnostics
) -> Iterator[str]:
    """Yield the names so that each comes after those that it uses; members of circles are reported and left out."""
    if len(uses) == 0:
        return
    from graphlib import CycleError, TopologicalSorter

    left_out: set[str] = set()
    while True:
        try:
            order = tuple(TopologicalSorter(uses).static_order())
        except CycleError as found:
            circle: list[str] = found.args[1][:0:-1]
            _circle(circle, what, places[circle[0]], sink)
            left_out.update(circle)
            uses = {name: set() if name in circle else used for name, used in uses.items()}
            continue
        yield from (name for name in order if name in uses and name not in left_out)
        return


def _circle(names: list[str], what: str, place: tree.Name, sink: Diagnostics) -> None:
    shown = " -> ".join(f"`{name}`" for name in (*names, names[0]))
    error(
        sink,
        "FC147" if what == "records" else "FC144",
        f"these {what} use each other in a circle: {shown}" if len(names) > 1 else f"`{names[0]}` uses itself",
        place.span,
        why="what it stands for would have no end",
        help="write out one of them",
    )


# ---------------------------------------------------------------------------------------------- records


def _spread_by(record: Record) -> set[str]:
    return {entry.record.text for entry in record.decl.fields if isinstance(entry, tree.FieldSpread)}


def _resolve(record: Record, library: Library, catalog: Catalog, sink: Diagnostics) -> None:
    """Fill in the fields of a record whose spread records are filled in already; it stays failed if one of them is."""
    placed = library.fields(record.decl.fields, sink)
    if placed is None:
        return
    fields: list[RecordField] = []
    first: dict[str, Placed] = {}
    for each in placed:
        decl = each.field.decl
        if first.setdefault(decl.name.text.lower(), each) is not each:
            field_twice(each, first[decl.name.text.lower()], sink)
            continue
        written = RecordField(decl, field_type(decl.type, catalog, sink)) if each.spread is None else each.field
        fields.append(written)
    record.fields = tuple(fields)


def field_twice(again: Placed, first: Placed, sink: Diagnostics) -> None:
    """Report a field that is said twice; each is shown where it was brought in."""
    name, other = again.field.decl.name, first.field.decl.name
    same = name.text == other.text
    error(
        sink,
        "FC101",
        f"field `{name.text}` is declared twice"
        if same
        else f"fields `{other.text}` and `{name.text}` differ in upper and lower case only",
        name.span if again.spread is None else again.spread.span,
        labels=(Label((other if first.spread is None else first.spread).span, "first declared here"),),
        help="remove one of them" if same else "remove one of them: a snapshot can't hold both",
    )


# ---------------------------------------------------------------------------------------------- definitions


def _read_parameters(definition: Definition, catalog: Catalog, sink: Diagnostics) -> None:
    first: dict[str, tree.Name] = {}
    for parameter in definition.decl.parameters:
        name = parameter.name
        if first.setdefault(name.text, name) is not name:
            error(
                sink,
                "FC101",
                f"parameter `{name.text}` is declared twice",
                name.span,
                labels=(Label(first[name.text].span, "first declared here"),),
                help="give one of them another name",
            )
            definition.parameters[name.text] = None
            continue
        definition.parameters[name.text] = field_type(parameter.type, catalog, sink)


def _measure(definition: Definition, library: Library, sink: Diagnostics) -> None:
    """Work out what a definition comes to when it is written out, after those that it uses."""
    called = tuple(_calls(definition, library))
    definition.failed = None in definition.parameters.values() or any(other.failed for other in called)
    definition.looks = any(other.looks for other in called) or any(
        isinstance(node, tree.Quantified | tree.AggregateExpr) for node in walk.nodes(definition.decl.body)
    )
    if definition.failed:
        return
    definition.depth, definition.size = _written_out(definition.decl.body, library)
    if definition.depth > MAX_DEPTH or definition.size > MAX_SIZE:
        definition.failed = True
        too_large(definition.decl.name.span, definition.name, sink)


def too_large(place: Span, name: str, sink: Diagnostics) -> None:
    """Report a definition, or a use of one, that is more than anyone can review once it is written out."""
    error(
        sink,
        "FC145",
        f"`{name}` is too large once the definitions it uses are written out",
        place,
        why=f"a rule may be {MAX_DEPTH} levels deep, and a definition may come to {MAX_SIZE:,} parts",
        help="use fewer definitions of definitions",
    )


def _calls(definition: Definition, library: Library) -> Iterator[Definition]:
    for node in walk.nodes(definition.decl.body):
        called = library.definition(node)
        if called is not None:
            yield called


def _written_out(expr: tree.Expr, library: Library) -> tuple[int, int]:
    """Return the depth and the size of an expression with the definitions it uses in place of their calls."""
    inner = [_written_out(part, library) for part in walk.parts(expr)]
    depth = 1 + max((d for d, _ in inner), default=0)
    size = 1 + sum(s for _, s in inner)
    called = library.definition(expr)
    return (depth, size) if called is None else (depth + called.depth, size + called.size)

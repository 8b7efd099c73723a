"""Protections: what no workflow of the workspace may take, whatever its rule says.

A `protect` names a resource and a condition. It is joined to every proposal over that resource, and from then on is
part of the program: an object may only be taken if each condition is *proven false* for it, so that what is not known
of an object protects it. There is nothing that a workflow can say against it.

The fields that a protection reads are read with the object even if the workflow does not declare them. A protection
looks at the object alone: no other inventory can make it unknown for everybody, or be left out. It may use the
definitions of its file and of what that imports; what these say is part of it, and is read anew with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from fullcount.compiler import ir, program
from fullcount.compiler.catalog import Catalog, Resource, StaticCatalog
from fullcount.compiler.check_library import check_definitions
from fullcount.compiler.environment import Context, Env, Place
from fullcount.compiler.expressions import Checker
from fullcount.compiler.ids import with_ids
from fullcount.compiler.imports import Loader, gather
from fullcount.compiler.library import Library, read_library
from fullcount.compiler.list_files import gather_lists
from fullcount.compiler.names import BoundInventory, Names, unique
from fullcount.compiler.polarity import Polarity
from fullcount.compiler.report import error
from fullcount.compiler.resources import find_resource
from fullcount.compiler.types import FieldType
from fullcount.compiler.walk import mentions_row, nodes, rename_row
from fullcount.dsl import tree
from fullcount.dsl.dataclass import dataclass, field
from fullcount.dsl.diagnostics import Diagnostics
from fullcount.dsl.source import Source


@dataclass(frozen=True, slots=True)
class Shared:
    """The names that the protections of a file may use, and the texts in which they stand."""

    library: Library
    sources: Mapping[str, Source]


@dataclass(frozen=True, slots=True)
class Declared:
    """A protection that checked, with the resource that it is about."""

    decl: tree.ProtectDecl
    resource: Resource
    fields: Mapping[str, FieldType]
    source: Source
    shared: Shared


@dataclass(frozen=True, slots=True)
class Protections:
    """Every protection of a workspace. With an error among `diagnostics` none of them can be relied on."""

    declared: tuple[Declared, ...] = ()
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    sources: Mapping[str, Source] = field(default_factory=dict)
    """The texts by name, those that the files import among them."""
    files: frozenset[str] = frozenset()
    """The files that are read for every workflow."""


def shared_names(source: Source, file: tree.File, loader: Loader, catalog: Catalog, sink: Diagnostics) -> Shared:
    """Read what the protections of a file may use: its definitions, and those of what it imports."""
    files = gather(source, file, loader, sink)
    library = read_library(files, catalog, sink)
    # a definition may look into a list file, and is no use to a protection then (FC161)
    check_definitions(library, catalog, files.sources, gather_lists(files, loader, sink), sink)
    for imported, at in files.pairs():
        if at.name != source.name:
            refuse_strays(imported, sink)
    return Shared(library, files.sources)


def check_protections(
    files: Sequence[tuple[tree.File, Source]], catalog: Catalog, sink: Diagnostics, shared: Mapping[str, Shared]
) -> Protections:
    """Check the protections of these files; names are unique among all of them. `shared` is by the name of the file."""
    source_of = {id(decl): source for file, source in files for decl in file.protects}
    declared = []
    for decl in unique([decl for file, _ in files for decl in file.protects], "protection", sink):
        source = source_of[id(decl)]
        resource = find_resource(decl.resource, catalog, sink)
        if resource is None:
            continue
        made = Declared(decl, resource, with_ids(resource.fields, resource, catalog), source, shared[source.name])
        if _condition(made, decl.resource.text, sink) is not None:
            declared.append(made)
    sources = {name: text for _, source in files for name, text in shared[source.name].sources.items()}
    return Protections(tuple(declared), sink, sources, frozenset(source.name for _, source in files))


def refuse_strays(file: tree.File, sink: Diagnostics) -> None:
    """Report protections in a file that is not among those which are read for every workflow."""
    for decl in file.protects:
        error(
            sink,
            "FC616",
            f"protection `{decl.name.text}` stands in a file that only its own workflows are compiled from",
            decl.head_span,
            why="whoever reads it believes that no workflow can take these objects, and every other one could",
            help="move it to `protect.fcw`, or into the folder `protect`, beside `fullcount.toml`",
        )


def protect_workflow(workflow: program.Workflow, protections: Protections) -> program.Workflow:
    """Return the workflow with every protection joined to the proposals over its resource. Joining twice is once.

    Raises ValueError if the protections hold an error: then nobody can say what is protected.
    """
    if protections.diagnostics.has_errors:
        raise ValueError("these protections have mistakes")
    inventories = dict(workflow.inventories)
    proposals = []
    for proposal in workflow.proposals:
        base = inventories[proposal.inventory]
        bound = protections_of(protections, base, proposal)
        joined = tuple(dict.fromkeys((*proposal.protections, *bound)))
        inventories[base.name] = replace(base, fields={**base.fields, **_lacking(base, bound, protections)})
        proposals.append(replace(proposal, protections=joined))
    return replace(workflow, inventories=inventories, proposals=tuple(proposals))


def protections_of(
    protections: Protections, base: program.Inventory, proposal: program.Proposal
) -> tuple[program.Protection, ...]:
    """Return the protections of the base's resource as conditions over the proposal's row, in order of name."""
    found = []
    for declared in sorted(_about(protections, base), key=lambda each: each.decl.name.text):
        decl = declared.decl
        condition = _condition(declared, base.name, Diagnostics())
        if condition is None:
            raise ValueError(f"the protection `{decl.name.text}` checked before, and does not now")
        condition = rename_row(condition, decl.row.text, proposal.row)
        found.append(program.Protection(decl.name.text, condition, decl.because, decl.span))
    return tuple(found)


def _about(protections: Protections, base: program.Inventory) -> Iterable[Declared]:
    wanted = (base.source, base.resource)
    return (each for each in protections.declared if (each.resource.source, each.resource.name) == wanted)


def _lacking(
    base: program.Inventory, bound: Sequence[program.Protection], protections: Protections
) -> dict[str, FieldType]:
    """Return the fields that the protections read and the workflow did not ask for."""
    resource = next((each.resource for each in _about(protections, base)), None)
    if resource is None:
        return {}
    read = {node.name for each in bound for node in nodes(each.condition) if isinstance(node, ir.Field)}
    return {name: resource.fields[name] for name in sorted(read - set(base.fields))}


def _condition(declared: Declared, inventory: str, sink: Diagnostics) -> ir.Expr | None:
    """Check the condition over all fields of the resource, as those of an inventory of this name."""
    decl, shared = declared.decl, declared.shared
    named = tree.InventoryDecl(
        tree.Name(inventory, decl.resource.span), decl.resource, (), None, (), None, None, (), decl.span, decl.head_span
    )
    row = decl.row.text
    bound = BoundInventory(named, declared.resource, declared.fields, frozenset())
    names = Names(None, StaticCatalog({}), shared.library)
    checker = Checker(Context(names, declared.source, sink, shared.sources))
    if isinstance(decl.where, tree.All):
        return ir.Const(True, ir.TRUE.type, span=decl.where.span)
    # what is not proven false protects: the condition stands as if negated
    condition = checker.condition(decl.where, Env(Place.PROTECT, rows={row: bound}, polarity=Polarity.NEGATIVE))
    if condition is not None and not mentions_row(condition, row):
        error(
            sink,
            "FC217",
            f"this never looks at `{row}`",
            decl.where.span,
            why="a condition that forgets the object it is about protects all of them or none",
            help=f"name a field of `{row}`, or write `where (all)` if no object of the resource may ever be taken",
        )
        return None
    return condition

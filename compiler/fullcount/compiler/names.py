"""What the names of one workflow stand for: inventories bound to declared resources, parameters, proposals.

The phase guarantees that every later phase finds a name at most once. A declaration that failed is remembered as
failed, so that its uses are not reported a second time; it never becomes part of a program.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from fullcount.compiler import ir
from fullcount.compiler.catalog import Catalog, Resource
from fullcount.compiler.inventories import bind_resource, check_identity, declared_fields
from fullcount.compiler.library import Library
from fullcount.compiler.report import error, near
from fullcount.compiler.spellings import key_rules
from fullcount.compiler.typenames import scalar_type
from fullcount.compiler.types import FieldType, IdOf, Type
from fullcount.dsl import tree, trial_tree
from fullcount.dsl.dataclass import dataclass, field
from fullcount.dsl.diagnostics import Diagnostics, Label


@dataclass(slots=True)
class BoundInventory:
    """An inventory with what it is bound to. `scope` and `expects` are filled in when types are checked.

    `failed` names the declared fields that did not check, so that a use of one is not reported again. `normal` are the
    rules by which the fields of the key are spelled.
    """

    decl: tree.InventoryDecl
    resource: Resource
    fields: Mapping[str, FieldType]
    failed: frozenset[str]
    normal: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    scope: ir.Expr | None = None
    expects: tuple[ir.Expr, ...] = ()

    @property
    def name(self) -> str:
        """The name under which rules use it."""
        return self.decl.name.text


@dataclass(frozen=True, slots=True)
class BoundParam:
    """A parameter with its type."""

    decl: tree.ParamDecl
    type: Type
    names: IdOf | None = None


@dataclass(slots=True)
class Names:
    """Every name of one workflow. A None is a declaration that failed and was reported."""

    own: tree.Workflow | None
    """The workflow; None where a definition is checked by itself."""
    catalog: Catalog
    library: Library
    inventories: dict[str, BoundInventory | None] = field(default_factory=dict)
    params: dict[str, BoundParam | None] = field(default_factory=dict)
    proposals: dict[str, tree.ProposeDecl] = field(default_factory=dict)
    used_params: set[str] = field(default_factory=set)
    used_inventories: set[str] = field(default_factory=set)

    @property
    def workflow(self) -> tree.Workflow:
        """The workflow. Raises ValueError where there is none."""
        if self.own is None:
            raise ValueError("a definition by itself has no workflow")
        return self.own

    def inventory(self, name: tree.Name, sink: Diagnostics) -> BoundInventory | None:
        """Return the inventory called `name`; an unknown one is reported, a failed one is not."""
        self.used_inventories.add(name.text)
        if name.text in self.inventories:
            return self.inventories[name.text]
        error(
            sink,
            "FC108",
            f"there is no inventory `{name.text}` in this workflow",
            name.span,
            **near(name.text, name.span, self.inventories, "inventories"),
        )
        return None


def resolve_names(workflow: tree.Workflow, catalog: Catalog, library: Library, sink: Diagnostics) -> Names:
    """Bind the inventories, parameters and proposals of a workflow; report what is unknown, wrong or said twice."""
    names = Names(workflow, catalog, library)
    for param in unique(workflow.params, "parameter", sink):
        bound = scalar_type(param.type, catalog, sink)
        names.params[param.name.text] = None if bound is None else BoundParam(param, bound.type, bound.names)
    for inventory in unique(workflow.inventories, "inventory", sink):
        names.inventories[inventory.name.text] = _bind(inventory, names, sink)
    for proposal in unique(workflow.proposals, "proposal", sink):
        names.proposals[proposal.name.text] = proposal
    return names


def _bind(decl: tree.InventoryDecl, names: Names, sink: Diagnostics) -> BoundInventory | None:
    resource = bind_resource(decl, names.catalog, sink)
    placed = names.library.fields(decl.fields, sink)
    if resource is None or placed is None:
        return None
    fields, failed = declared_fields(placed, resource, names.catalog, sink)
    check_identity(decl, resource, fields, failed, sink)
    return BoundInventory(decl, resource, fields, failed, key_rules(decl, fields, sink))


Named = TypeVar(
    "Named", tree.ParamDecl, tree.InventoryDecl, tree.ProposeDecl, tree.ProtectDecl, tree.Workflow, trial_tree.Trial
)


def unique(declarations: Iterable[Named], what: str, sink: Diagnostics) -> list[Named]:
    """Return the first declaration of each name; report the others."""
    first: dict[str, Named] = {}
    for declaration in declarations:
        name = declaration.name
        if name.text in first:
            said_twice(what, name, first[name.text].name, sink)
        else:
            first[name.text] = declaration
    return list(first.values())


def said_in_two_files(name: tree.Name, first: tree.Name, sink: Diagnostics) -> None:
    """Report a workflow whose name another file has as well."""
    error(
        sink,
        "FC101",
        f"workflow `{name.text}` is declared in `{first.span.source}` as well",
        name.span,
        note="declared again here",
        labels=(Label(first.span, "first declared here"),),
        why="plans and schedules are kept by the name, so that a plan of one would take the place of the other's",
        help="give one of them another name",
    )


def said_twice(what: str, name: tree.Name, first: tree.Name, sink: Diagnostics) -> None:
    """Report a second declaration of the same thing."""
    error(
        sink,
        "FC101",
        f"{what} `{name.text}` is declared twice",
        name.span,
        note="declared again here",
        labels=(Label(first.span, "first declared here"),),
        why="with two declarations nobody can say which one an act would follow",
        help="remove one of them, or give it another name",
    )

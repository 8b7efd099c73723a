"""An inventory against the resource that its source declares: existence, field types, key and incarnation.

What a workflow says of a field is never believed over what the connector declares of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fullcount.compiler.catalog import Catalog, Resource
from fullcount.compiler.ids import named_by
from fullcount.compiler.library import Placed, field_twice
from fullcount.compiler.report import Advice, error, near
from fullcount.compiler.resources import find_resource
from fullcount.compiler.typenames import field_type
from fullcount.compiler.types import FieldType, fits
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostics, Edit, Fix, Label
from fullcount.dsl.source import Span


def bind_resource(decl: tree.InventoryDecl, catalog: Catalog, sink: Diagnostics) -> Resource | None:
    """Return the declared resource that an inventory reads, or None with a finding."""
    return find_resource(decl.resource, catalog, sink)


def declared_fields(
    placed: Sequence[Placed], resource: Resource, catalog: Catalog, sink: Diagnostics
) -> tuple[dict[str, FieldType], frozenset[str]]:
    """Return the declared fields that check, and the names of those that were reported."""
    good: dict[str, FieldType] = {}
    failed: set[str] = set()
    first: dict[str, Placed] = {}
    for each in placed:
        name = each.field.decl.name.text
        if first.setdefault(name.lower(), each) is not each:
            field_twice(each, first[name.lower()], sink)
            continue
        checked = _field(each, resource, catalog, each.sink(sink))
        if checked is None:
            failed.add(name)
        else:
            good[name] = checked
    return good, frozenset(failed)


def _field(placed: Placed, resource: Resource, catalog: Catalog, sink: Diagnostics) -> FieldType | None:
    declared = placed.field.decl
    name = declared.name.text
    full = f"{resource.source}.{resource.name}"
    if name not in resource.fields:
        error(
            sink,
            "FC104",
            f"`{full}` has no field `{name}`",
            declared.name.span,
            **near(name, declared.name.span, resource.fields, "fields"),
        )
        return None
    said = field_type(declared.type, catalog, sink) if placed.spread is None else placed.field.type
    if said is None:
        return None
    actual = resource.fields[name]
    if not fits(said.type, actual.type):
        error(
            sink,
            "FC105",
            f"field `{name}` is declared `{said}`, but `{full}` gives it as `{actual}`",
            declared.type.span,
            why="nothing is converted on the way: a rule would compare values of another kind than the source has",
            help=f"write `{name}: {actual}`",
        )
        return None
    if actual.optional and not said.optional:
        error(
            sink,
            "FC105",
            f"field `{name}` is declared as always there, but `{full}` gives it as `{actual}`",
            declared.type.span,
            why="rules could then not say what an absent value means",
            help=f"write `{name}: {actual}`",
        )
        return None
    return replace(said, names=named_by(name, said, resource, catalog, declared.type.span, sink))


def check_identity(
    decl: tree.InventoryDecl,
    resource: Resource,
    fields: Mapping[str, FieldType],
    failed: frozenset[str],
    sink: Diagnostics,
) -> None:
    """Report a key or incarnation that is not what the resource identifies its objects by."""
    for name in (*decl.key, *((decl.incarnation,) if decl.incarnation is not None else ())):
        if name.text not in fields and name.text not in failed:
            error(
                sink,
                "FC110",
                f"`{name.text}` is not among the declared fields of `{decl.name.text}`",
                name.span,
                **missing_field(name, decl, resource, fields),
            )
    key = ", ".join(resource.key)
    if {name.text for name in decl.key} != set(resource.key) or len(decl.key) != len(resource.key):
        error(
            sink,
            "FC106",
            f"`{resource.source}.{resource.name}` identifies its objects by `{key}`",
            decl.key[0].span.to(decl.key[-1].span) if len(decl.key) > 0 else decl.head_span,
            note="not the key of this resource",
            why="by another field two objects could be taken for one, and the wrong one acted on",
            help=f"write `key {key}`",
        )
    for name in decl.key:
        if name.text in fields and fields[name.text].optional:
            error(
                sink,
                "FC106",
                f"key field `{name.text}` is declared as possibly absent",
                name.span,
                help=f"declare it as `{name.text}: {fields[name.text].type}`",
            )
    if decl.incarnation is not None:
        _incarnation(decl.incarnation, resource, fields, sink)


def _incarnation(name: tree.Name, resource: Resource, fields: Mapping[str, FieldType], sink: Diagnostics) -> None:
    declared = resource.incarnation
    if declared is not None and name.text != declared:
        error(
            sink,
            "FC107",
            f"`{resource.source}.{resource.name}` tells a recreated object by `{declared}`, not by `{name.text}`",
            name.span,
            why="an object made anew under the same key would pass for the one that was approved",
            help=f"write `incarnation {declared}`",
        )
    elif name.text in fields and fields[name.text].optional:
        error(
            sink,
            "FC107",
            f"incarnation field `{name.text}` may be absent",
            name.span,
            why="two objects without it could not be told apart",
            help="use a field that every object has",
        )


def check_recreation(decl: tree.InventoryDecl, resource: Resource, act: tree.ActDecl, sink: Diagnostics) -> None:
    """Report an act on objects whose recreation the source could show, but the inventory does not ask for."""
    if resource.incarnation is None or decl.incarnation is not None:
        return
    error(
        sink,
        "FC107",
        f"`{decl.name.text}` is acted on without saying what tells a recreated object",
        decl.name.span,
        labels=(Label(act.proposal.span, "acted on here"),),
        why="an object made anew under the same key would pass for the one that was approved",
        help=f"add to the inventory:  incarnation {resource.incarnation}",
    )


def missing_field(
    name: tree.Name, decl: tree.InventoryDecl, resource: Resource, fields: Mapping[str, FieldType]
) -> Advice:
    """Return what to do about a field that is used and not declared: declare it, or another one was meant."""
    if name.text not in resource.fields:
        return near(name.text, name.span, fields, "declared fields")
    added = f"{name.text}: {resource.fields[name.text]}"
    title = f"add `{added}` to the fields of `{decl.name.text}`"
    ends = decl.fields[-1].span
    fix = Fix(title, (Edit(Span(ends.source, ends.end, ends.end), f", {added}"),), safe=True)
    return Advice(help=title, fix=fix)

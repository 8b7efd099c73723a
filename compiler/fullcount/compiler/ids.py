"""Ids of different kinds: which objects the values of a field name, and that those of different ones never meet.

A key field names its own objects. Another field names those of a resource if the workspace says so (`[ids]`, or the
connector) or the inventory does (`owner: id of hr.employees`). Where nothing is known of one side, nothing is said: a
plain `text` stays comparable with everything. Nothing here looks at data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fullcount.compiler.catalog import Catalog, Resource
from fullcount.compiler.report import error
from fullcount.compiler.types import FieldType, IdOf
from fullcount.dsl.diagnostics import Diagnostics, Label
from fullcount.dsl.source import Span

if TYPE_CHECKING:
    from fullcount.compiler.environment import Context, Typed


def key_field(path: Sequence[str], catalog: Catalog) -> tuple[Resource, str] | None:
    """Return the resource and the key field at `source.resource`, or at `source.resource.field`; None if it is none.

    A resource with several key fields is only found by one of them.
    """
    if len(path) < 2:
        return None
    resources = catalog.resources(path[0])
    whole = resources.get(".".join(path[1:]))
    if whole is not None:
        return (whole, whole.key[0]) if len(whole.key) == 1 else None
    owner = resources.get(".".join(path[1:-1]))
    return None if owner is None or path[-1] not in owner.key else (owner, path[-1])


def known_ids(resource: Resource, catalog: Catalog) -> dict[str, IdOf]:
    """Return which objects the fields of a resource name, as far as the workspace knows."""
    found = {name: IdOf(path_of(resource, name), f"the key of `{full(resource)}`") for name in resource.key}
    for name, path in resource.ids.items():
        said = f"`{full(resource)}.{name}` is declared as an id of `{path}`"
        found[name] = IdOf(target(path, catalog), said)
    return found


def target(path: str, catalog: Catalog) -> str:
    """Return the key field that a declared path leads to in the end: keys that are declared the same are one."""
    seen: list[str] = []
    while path not in seen:
        seen.append(path)
        found = key_field(path.split("."), catalog)
        if found is None:
            return path
        resource, name = found
        following = resource.ids.get(name)
        if following is None:
            return path_of(resource, name)
        path = following
    return min(seen[seen.index(path) :])  # a circle is one kind, whichever of them is asked


def full(resource: Resource) -> str:
    """Return `source.resource`."""
    return f"{resource.source}.{resource.name}"


def path_of(resource: Resource, name: str) -> str:
    """Return `source.resource.field`."""
    return f"{full(resource)}.{name}"


def named_by(
    name: str, said: FieldType, resource: Resource, catalog: Catalog, span: Span, sink: Diagnostics
) -> IdOf | None:
    """Return which objects a declared field names: what the workflow says, unless the workspace says something else."""
    known = known_ids(resource, catalog).get(name)
    if said.names is None:
        return known
    declared = resource.ids.get(name)
    if declared is None or known is None or known.key == said.names.key:
        return said.names
    error(
        sink,
        "FC241",
        f"field `{name}` is declared as an id of `{said.names.resource}`, but {known.said}",
        span,
        why="one of the two is wrong, and a rule that believes the wrong one finds nobody",
        help=f"write `{name}: id of {known.resource}`, or change `[ids]` in fullcount.toml",
    )
    return known


def may_meet(context: Context, left: Typed, right: Typed, span: Span, user: str) -> bool:
    """Whether two values may be compared: they name the same objects, or it is not known of one of them."""
    one, other = left.names, right.names
    if one is None or other is None or one.key == other.key:
        return True
    labels = tuple(
        Label(each.span, f"declared as an id of `{each.resource}`") for each in (one, other) if each.span is not None
    )
    error(
        context.sink,
        "FC240",
        f"{user} an id of `{one.resource}` with an id of `{other.resource}`",
        span,
        note=f"`{one.key}` and `{other.key}`",
        labels=labels,
        why=f"{one.said}, and {other.said}: where no id of the one is one of the other, this is false for every object",
        help=_fix(one, other, context.names.catalog),
    )
    return False


def _fix(one: IdOf, other: IdOf, catalog: Catalog) -> str:
    if _whole(other, catalog) is None and _whole(one, catalog) is not None:
        one, other = other, one  # a part of a key names objects of another resource, and never the other way round
    field, path = one.key.rpartition(".")[2], _whole(other, catalog) or other.key
    return (
        f"compare it with a field that holds ids of `{one.resource}`; if both really name the same objects, say so"
        f" where the field is declared, as `{field}: id of {path}`, or for all workflows in fullcount.toml,"
        f' as `[ids]` `"{one.key}" = "{path}"`'
    )


def _whole(named: IdOf, catalog: Catalog) -> str | None:
    """Return the resource that a key names by itself; None if it is a part of a key of several fields."""
    return None if key_field(named.resource.split("."), catalog) is None else named.resource


def with_ids(fields: Mapping[str, FieldType], resource: Resource, catalog: Catalog) -> dict[str, FieldType]:
    """Return the fields of a resource with what the workspace knows of the objects that they name."""
    known = known_ids(resource, catalog)
    return {name: replace(declared, names=known.get(name)) for name, declared in fields.items()}

"""`[ids]` of `fullcount.toml`: which fields hold ids of what, for every workflow of the workspace.

    [ids]
    "directory.accounts.owner" = "hr.employees"

Each line is checked against what the connectors declare; one that is wrong is an error, since a rule would then compare
what can never be equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fullcount.compiler.catalog import Resource, StaticCatalog
from fullcount.compiler.ids import key_field
from fullcount.compiler.types import ListOf, MapOf
from fullcount.runtime.workspace.errors import WorkspaceError, did_you_mean

ByPath = dict[tuple[str, str], dict[str, str]]


def with_ids(catalog: StaticCatalog, declared: Mapping[str, str], file_name: str) -> StaticCatalog:
    """Return the catalogue with the declared ids joined to its resources. Raises `WorkspaceError` FC617."""
    found: ByPath = {}
    for path, of in declared.items():
        resource, name = _field(path, catalog, file_name)
        found.setdefault((resource.source, resource.name), {})[name] = _of(path, resource, name, of, catalog, file_name)
    joined = {
        source: {
            name: replace(resource, ids={**resource.ids, **found.get((source, name), {})})
            for name, resource in resources.items()
        }
        for source, resources in catalog.by_source.items()
    }
    return replace(catalog, by_source=joined)


def _field(path: str, catalog: StaticCatalog, file_name: str) -> tuple[Resource, str]:
    source, _, rest = path.partition(".")
    resource_name, _, name = rest.rpartition(".")
    resource = catalog.resources(source).get(resource_name)
    if resource is None:
        known = [f"{each}.{one}" for each in catalog.sources() for one in catalog.resources(each)]
        message = f"{file_name}: `ids`: `{path}` is not a field of a resource"
        raise WorkspaceError("FC617", message, help=did_you_mean(f"{source}.{resource_name}", known))
    if name not in resource.fields:
        message = f"{file_name}: `ids`: `{source}.{resource_name}` has no field `{name}`"
        raise WorkspaceError("FC617", message, help=did_you_mean(name, resource.fields))
    return resource, name


def _of(path: str, resource: Resource, name: str, of: str, catalog: StaticCatalog, file_name: str) -> str:
    found = key_field(of.split("."), catalog)
    if found is None:
        keyed = [f"{each}.{one}" for each in catalog.sources() for one in catalog.resources(each)]
        message = f'{file_name}: `ids."{path}"`: `{of}` is neither a resource with one key field nor a key field'
        raise WorkspaceError("FC617", message, help=did_you_mean(of, keyed))
    target, key = found
    held = resource.fields[name].type
    if isinstance(held, ListOf | MapOf):
        held = held.item if isinstance(held, ListOf) else held.value
    if held != target.fields[key].type:
        message = f'{file_name}: `ids."{path}"` holds `{held}`, and the key of `{of}` is `{target.fields[key].type}`'
        raise WorkspaceError("FC617", message, help="nothing is converted on the way: give both the same type")
    if (target.source, target.name, key) == (resource.source, resource.name, name):
        message = f'{file_name}: `ids."{path}"` is an id of itself'
        raise WorkspaceError("FC617", message, help="remove the line: a key names its own objects anyway")
    return of

"""The question for everything of a resource: every object, every field, no scope. What is narrower says so itself."""

from __future__ import annotations

from fullcount.compiler.catalog import Resource
from fullcount.compiler.program import Inventory


def everything_of(resource: Resource) -> Inventory:
    """Return it, as an inventory with the name of the resource."""
    return Inventory(
        name=resource.name,
        source=resource.source,
        resource=resource.name,
        key=resource.key,
        incarnation=resource.incarnation,
        version=resource.version,
        fields=resource.fields,
        scope=None,
        deadline=None,
        expects=(),
        consistency=resource.consistency,
        lookup_fields=resource.lookup_fields,
    )

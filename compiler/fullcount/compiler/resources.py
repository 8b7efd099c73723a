"""Paths to what sources declare: `hr.employees`, and what is said where there is nothing at the end of one.

A resource that is to be counted must be declared as one that its source counts independently of any listing.
"""

from __future__ import annotations

from fullcount.compiler.catalog import Catalog, Resource
from fullcount.compiler.report import error, near
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostics


def find_resource(path: tree.Dotted, catalog: Catalog, sink: Diagnostics) -> Resource | None:
    """Return the resource at `source.resource`, or None with a finding. The source is the first part of the path."""
    source, rest = path.parts[0], path.parts[1:]
    if source.text not in catalog.sources():
        error(
            sink,
            "FC102",
            f"there is no source `{source.text}` in this workspace",
            source.span,
            **near(source.text, source.span, catalog.sources(), "sources"),
        )
        return None
    resources = catalog.resources(source.text)
    wanted = ".".join(part.text for part in rest)
    if wanted in resources:
        return resources[wanted]
    span = rest[0].span.to(rest[-1].span) if len(rest) > 0 else source.span
    message = (
        f"source `{source.text}` has no resource `{wanted}`"
        if len(rest) > 0
        else f"`{source.text}` names a source, not one of its resources"
    )
    advice = near(wanted, span, resources, "resources")
    if len(rest) == 0:
        advice["fix"] = None  # the source is right; what is missing comes after it
    error(sink, "FC103", message, span, **advice)
    return None


def find_counted(path: tree.Dotted, catalog: Catalog, sink: Diagnostics, why: str, otherwise: str) -> Resource | None:
    """Return the resource at a path if its source counts it; None, reported with `why`, if it does not.

    `otherwise` is what can be done where nothing of that source is counted.
    """
    resource = find_resource(path, catalog, sink)
    if resource is None or resource.counted:
        return resource
    counted = [f"{resource.source}.{name}" for name, r in catalog.resources(resource.source).items() if r.counted]
    error(
        sink,
        "FC121",
        f"`{path.text}` gives no independent count",
        path.span,
        why=why,
        help="counts are given by " + ", ".join(f"`{name}`" for name in counted)
        if len(counted) > 0
        else f"`{resource.source}` has no resource that gives one; {otherwise}",
    )
    return None

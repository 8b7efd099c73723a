"""Which fields of objects may be written down (`[record.fields]` in `fullcount.toml`): an allow-list for each resource.

A resource without an entry has no secrets: every field that a workflow asks for may be in its plans. An entry that
names what the resource does not have, or leaves out what tells its objects apart, is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from fullcount.compiler.catalog import StaticCatalog
from fullcount.runtime.workspace.errors import WorkspaceError, did_you_mean


class Record(BaseModel):
    """`[record]`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fields: dict[str, list[str]] = {}
    """By `source.resource`: the fields whose values may be in plans, reports and exports."""


def recorded_fields(path: Path, record: Record, catalog: StaticCatalog) -> Mapping[tuple[str, str], frozenset[str]]:
    """Return the allow-lists by source and resource. Raises `WorkspaceError` FC604."""
    found: dict[tuple[str, str], frozenset[str]] = {}
    for name, allowed in record.fields.items():
        source, _, resource = name.partition(".")
        declared = catalog.resources(source).get(resource) if source in catalog.sources() else None
        place = f"{path.name}: `record.fields.{name}`"
        if declared is None:
            known = [f"{s}.{r}" for s in catalog.sources() for r in catalog.resources(s)]
            raise WorkspaceError("FC604", f"{place} is about no resource that is there", help=did_you_mean(name, known))
        for field in allowed:
            if field not in declared.fields:
                help_text = did_you_mean(field, declared.fields)
                raise WorkspaceError("FC604", f"{place} names `{field}`, which it does not have", help=help_text)
        missing = {*declared.key, declared.incarnation, declared.version} - {None} - set(allowed)
        if len(missing) > 0:
            names = ", ".join(f"`{each}`" for each in sorted(map(str, missing)))
            raise WorkspaceError(
                "FC604",
                f"{place} leaves out {names}, which tell its objects and their versions apart",
                help="name them as well: without them nothing in the record could be held against the source",
            )
        found[source, resource] = frozenset(allowed)
    return found

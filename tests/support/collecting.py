"""Real sources read by `collect`, for what the outermost envelope says of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fullcount.compiler import ir, program
from fullcount.compiler.catalog import Resource
from fullcount.compiler.everything import everything_of
from fullcount.compiler.lower.world import Bindings
from fullcount.runtime.collect.loop import Budget, collect
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.evidence.envelope import Envelope


def inventory_of(resource: Resource, scope: ir.Expr | None = None) -> program.Inventory:
    """Return the question for every field of a resource."""
    return replace(everything_of(resource), scope=scope)


async def collect_all(source: Any, folder: Path, scope: ir.Expr | None = None) -> Envelope:
    """Collect everything of a source of `tests.support.sql` or `tests.support.repository`."""
    return await collect(
        await source.reader(),
        inventory_of(source.resource, scope),
        source.resource,
        bindings=Bindings({}, 0),
        snapshots=SnapshotStore(folder),
        budget=Budget(),
        clock=lambda: datetime.now(UTC),
    )

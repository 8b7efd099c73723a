"""An HTTP source under test: its configuration, and a read of it through the real collecting loop."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.support.collecting import inventory_of

from fullcount.compiler.lower.world import Bindings
from fullcount.runtime.collect.loop import Budget, collect
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.connectors.http import CONNECTOR
from fullcount.runtime.connectors.http.config import HttpConfig
from fullcount.runtime.evidence.envelope import Envelope

FIELDS = {"id": "text", "owner": "text?", "n": "int"}
FAMILIES = {
    "cursor": ("generic_http", {}),
    "link": ("github_rest", {}),
    "keyset": ("stripe", {}),
    "scim": ("scim", {}),
    "k8s": (
        "kubernetes",
        {
            "fields": {
                "id": {"type": "text", "at": "metadata/uid"},
                "owner": {"type": "text?", "at": "spec/owner"},
                "n": {"type": "int", "at": "spec/n"},
            }
        },
    ),
    "graphql": ("relay", {"method": "POST", "body": {"query": "…", "variables": {}}}),
}
"""For each family of the test server: the dialect that reads it, and what its resource says besides."""


def things(count: int) -> list[dict[str, Any]]:
    """Return objects; every fifth has no owner."""
    return [{"id": f"t{n:04}", "owner": None if n % 5 == 0 else f"p{n % 3}", "n": n} for n in range(count)]


def config(api: Any, family: str, resource: dict[str, Any] | None = None, **settings: Any) -> HttpConfig:
    """Return the configuration of a source with one resource, `things`."""
    dialect, besides = FAMILIES.get(family, ("generic_http", {}))
    whole = {"list": f"/{family}", "key": ["id"], "fields": FIELDS, **besides, **(resource or {})}
    given = {"dialect": dialect, "base_url": api.url, "resources": {"things": whole}, **settings}
    return HttpConfig.model_validate(given)


async def read_all(settings: HttpConfig, folder: Path, budget: Budget | None = None, **changes: Any) -> Envelope:
    """Collect everything of the resource `things`."""
    resource = CONNECTOR.resources("api", settings)["things"]
    reader = await CONNECTOR.open_reader("api", settings)
    try:
        return await collect(
            reader,
            inventory_of(resource, **changes),
            resource,
            bindings=Bindings({}, 0),
            snapshots=SnapshotStore(folder),
            budget=budget or Budget(sleep=_at_once),
            clock=lambda: datetime.now(UTC),
        )
    finally:
        await reader.close()


async def _at_once(seconds: float) -> None:
    """Wait for nothing."""

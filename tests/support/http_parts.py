"""One HTTP server whose objects lie in regions, each a listing of its own, however a request names its region.

    with Regions({"eu": things(4), "us": things(4)}) as cloud:
        cloud.regions["eu"].objects          # the world of one region
        cloud.faults.append(fault)           # asked before any of them

The region stands in the first step of the path, in the query, in a header or in the body, whichever is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.support.collecting import inventory_of
from tests.support.fake_source import equals
from tests.support.http_api import Answer, Api, Asked

from fullcount.compiler import program
from fullcount.compiler.lower.world import Bindings
from fullcount.runtime.collect.across import collect_across
from fullcount.runtime.collect.budget import Budget
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.connectors.http import CONNECTOR
from fullcount.runtime.connectors.http.config import HttpConfig
from fullcount.runtime.evidence.envelope import Envelope


class Regions(Api):
    """See the module's text."""

    def __init__(self, regions: Mapping[str, list[dict[str, Any]]]) -> None:
        super().__init__([])
        self.regions = {name: Api(things) for name, things in regions.items()}

    def answer(self, asked: Asked) -> Answer:
        """Answer by the region that is named."""
        self.requests.append(asked)
        for fault in self.faults:
            if (answer := fault(asked)) is not None:
                return answer
        first, _, rest = asked.path.strip("/").partition("/")
        named, path = (first, f"/{rest}") if first in self.regions else (_beside(asked), asked.path)
        if named not in self.regions:
            return Answer(404, {"error": "no such region"})
        return self.regions[named].answer(replace(asked, path=path))


def _beside(asked: Asked) -> str:
    sent = asked.body.get("region") if isinstance(asked.body, dict) else None
    return asked.query.get("region") or asked.headers.get("x-region") or sent or ""


async def read_parts(
    settings: HttpConfig,
    folder: Path,
    parts: Sequence[Mapping[str, str]],
    budget: Budget | None = None,
    canary: str | None = None,
) -> Envelope:
    """Collect the resource `things` in parts; `canary`: the id of an object that is expected."""
    resource = CONNECTOR.resources("cloud", settings)["things"]
    reader = await CONNECTOR.open_reader("cloud", settings)
    values = {name: tuple(dict.fromkeys(part[name] for part in parts)) for name in resource.partitions}
    across = tuple(program.Across(name, each, None, None) for name, each in values.items())
    expects = () if canary is None else (equals(resource, "id", canary),)
    try:
        return await collect_across(
            reader,
            replace(inventory_of(resource), across=across, expects=expects),
            resource,
            parts,
            bindings=Bindings({}, 0),
            snapshots=SnapshotStore(folder),
            budget=budget or Budget(retries=0),
            clock=lambda: datetime.now(UTC),
        )
    finally:
        await reader.close()

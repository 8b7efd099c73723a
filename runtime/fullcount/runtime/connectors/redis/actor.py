"""The acting side of a Redis source: it refuses every write, because no operation is declared. It sends none."""

from __future__ import annotations

from collections.abc import Mapping

from fullcount.runtime.connectors.base import ActCall, ActResult, Outcome
from fullcount.runtime.connectors.redis.reader import RedisReader


class RedisActor:
    """See `SourceActor`."""

    def __init__(self, reader: RedisReader) -> None:
        self._reader = reader

    async def identity(self) -> Mapping[str, str]:
        """See `SourceActor.identity`."""
        return await self._reader.identity()

    async def perform(self, call: ActCall) -> ActResult:
        """See `SourceActor.perform`: nothing is sent."""
        return ActResult(Outcome.REFUSED, None, f"`{call.resource.name}` has no operation `{call.operation}`")

    async def took_effect(self, call: ActCall) -> bool | None:
        """See `SourceActor.took_effect`: nothing was sent."""
        return False

    async def close(self) -> None:
        """See `SourceActor.close`."""
        await self._reader.close()

"""A Redis source under test: its configuration, and reads of it through the real collecting loop."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow.parquet as pq
from tests.support.collecting import inventory_of

from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.values import STATE_ORDER, STATE_SUFFIX
from fullcount.runtime.collect.loop import Budget, collect
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.connectors.redis import CONNECTOR
from fullcount.runtime.connectors.redis.declaration import RedisConfig


class Source:
    """A source with one resource, `keys`."""

    def __init__(self, port, *, match="*", **settings):
        given = {"host": "127.0.0.1", "port": port, "resources": {"keys": {"match": match}}, **settings}
        self.config = RedisConfig.model_validate(given)
        self.resource = CONNECTOR.resources("cache", self.config)["keys"]

    async def collect(self, folder, reader=None):
        """Read everything and return the envelope with the rows by their keys."""
        own = reader is None
        reader = await CONNECTOR.open_reader("cache", self.config) if reader is None else reader
        try:
            envelope = await collect(
                reader,
                inventory_of(self.resource),
                self.resource,
                bindings=Bindings({}, 0),
                snapshots=SnapshotStore(folder),
                budget=Budget(sleep=at_once),
                clock=lambda: datetime.now(UTC),
            )
        finally:
            if own:
                await reader.close()
        if envelope.snapshot_digest is None:
            return envelope, {}
        stored = pq.read_table(SnapshotStore(folder).path(envelope.snapshot_digest)).to_pylist()
        return envelope, {row["key"]: row for row in stored}

    async def read(self, key):
        """Read one key live."""
        reader = await CONNECTOR.open_reader("cache", self.config)
        try:
            return await reader.read(self.resource, (key,), tuple(self.resource.fields))
        finally:
            await reader.close()


async def at_once(seconds):
    """Wait for nothing."""


def codes(envelope):
    """Return why an answer is not complete."""
    return [reason.code for reason in envelope.completeness.reasons]


def state(row, field):
    """Return what is known of a field."""
    return STATE_ORDER[row[field + STATE_SUFFIX]]

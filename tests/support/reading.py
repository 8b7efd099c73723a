"""Reading a fake source with `collect`, and looking at what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from tests.support.fake_source import FakeClock, FakeSource, fake_inventory

from fullcount.compiler import program
from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.values import STATE_ORDER, STATE_SUFFIX, FieldState
from fullcount.runtime.collect.loop import Budget, collect
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.evidence.codes import Reason, WarningCode
from fullcount.runtime.evidence.envelope import Envelope

NO_PARAMS = Bindings({}, 0)


class Reading:
    """A snapshot folder, a clock and the envelope of the last read."""

    def __init__(self, folder: Path, clock: FakeClock | None = None) -> None:
        self.store = SnapshotStore(folder)
        self.clock = FakeClock() if clock is None else clock

    async def read(
        self,
        source: FakeSource,
        inventory: program.Inventory | None = None,
        *,
        bindings: Bindings = NO_PARAMS,
        progress: Any = None,
        **budget: Any,
    ) -> Envelope:
        """Read an inventory (None: everything of the source's first table); `budget` as of `Budget`."""
        table = next(iter(source.tables.values())) if inventory is None else source.tables[inventory.resource]
        asked = fake_inventory(table.resource) if inventory is None else inventory
        return await collect(
            source,
            asked,
            table.resource,
            bindings=bindings,
            snapshots=self.store,
            budget=Budget(sleep=self.clock.sleep, monotonic=self.clock.monotonic, **budget),
            clock=self.clock,
            progress=progress,
        )

    def rows(self, envelope: Envelope) -> list[dict[str, Any]]:
        """Return the stored rows: a value, or the state where there is none."""
        assert envelope.snapshot_digest is not None
        rows = []
        for stored in pq.read_table(self.store.path(envelope.snapshot_digest)).to_pylist():
            names = [name for name in stored if not name.endswith(STATE_SUFFIX)]
            rows.append({name: _shown(stored, name) for name in names})
        return rows

    def keys(self, envelope: Envelope) -> list[Any]:
        """Return the `id` of each stored row."""
        return [row["id"] for row in self.rows(envelope)]

    def files(self) -> list[Path]:
        """Return every file in the snapshot folder, unfinished ones included."""
        return sorted(path for path in self.store.root.rglob("*") if path.is_file())


def _shown(stored: Mapping[str, Any], name: str) -> Any:
    state = STATE_ORDER[stored[name + STATE_SUFFIX]]
    return stored[name] if state is FieldState.PRESENT else state


def reasons(envelope: Envelope) -> list[Reason]:
    """Return the codes of the reasons."""
    return [reason.code for reason in envelope.completeness.reasons]


def warnings(envelope: Envelope) -> list[WarningCode]:
    """Return the codes of the warnings."""
    return [notice.code for notice in envelope.warnings]

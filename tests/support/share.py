"""A folder of files under test: made, read through the real collecting loop, and acted on as an apply would."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from tests.support.collecting import inventory_of

from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.values import STATE_ORDER, STATE_SUFFIX
from fullcount.runtime.collect.loop import Budget, collect
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.connectors.base import ActCall, ActResult, Reading, StoredBackup
from fullcount.runtime.connectors.files import CONNECTOR
from fullcount.runtime.connectors.files.config import FilesConfig

FILES = {"kind": "file", "patterns": ["**"], "depth": "all", "delete": "quarantine"}
FOLDERS = {"kind": "folder", "patterns": ["*"], "depth": 1, "delete": "quarantine"}


class Share:
    """A root with a quarantine folder beside it, and one resource, `files` or `folders`."""

    def __init__(self, folder: Path, *, resource: dict[str, Any] | None = None, **settings: Any) -> None:
        self.root, self.quarantine, self._snapshots = folder / "root", folder / "quarantine", folder / "snapshots"
        self.root.mkdir(exist_ok=True)
        self.quarantine.mkdir(mode=0o700, exist_ok=True)
        self._settings = settings
        self.again({**FILES, **(resource or {})})

    def again(self, resource: dict[str, Any], **settings: Any) -> None:
        """Look at the same root with other settings."""
        self._settings = {**self._settings, **settings}
        places = {"root": str(self.root), "quarantine": str(self.quarantine)}
        given = {**places, **self._settings, "resources": {"objects": resource}}
        self.config = FilesConfig.model_validate(given)
        self.resource = CONNECTOR.resources("share", self.config)["objects"]

    def put(self, path: str, content: str = "content", *, days: float = 0) -> Path:
        """Make a file, so many days old."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)
        if days:
            then = datetime.now(UTC).timestamp() - days * 86_400
            os.utime(place, (then, then))
        return place

    def contents(self) -> dict[str, str]:
        """Return what is in the root, by path."""
        return {str(path.relative_to(self.root)): path.read_text() for path in self.root.rglob("*") if path.is_file()}

    async def collect(self, *, budget: Budget | None = None, reader: Any = None) -> tuple[Any, dict[str, Any]]:
        """Read everything, and return the envelope with the rows by their paths."""
        own = await CONNECTOR.open_reader("share", self.config) if reader is None else reader
        try:
            envelope = await collect(
                own,
                inventory_of(self.resource),
                self.resource,
                bindings=Bindings({}, 0),
                snapshots=SnapshotStore(self._snapshots),
                budget=Budget(retries=0) if budget is None else budget,
                clock=lambda: datetime.now(UTC),
            )
        finally:
            await own.close()
        if envelope.snapshot_digest is None:
            return envelope, {}
        stored = pq.read_table(SnapshotStore(self._snapshots).path(envelope.snapshot_digest)).to_pylist()
        return envelope, {row["path"]: row for row in stored}

    async def read(self, path: str) -> Reading:
        """Look at one object."""
        reader = await CONNECTOR.open_reader("share", self.config)
        try:
            return await reader.read(self.resource, (path,), tuple(self.resource.fields))
        finally:
            await reader.close()

    async def call(self, path: str, operation: str = "delete", key: str = "act-1", **more: Any) -> ActCall:
        """Return the call on an object as it is now."""
        seen = await self.read(path)
        given = {"arguments": {"path": path}, **more}
        return ActCall(self.resource, operation, (path,), expected=seen.cells, idempotency_key=key, **given)

    async def backed_up(self, call: ActCall, kept: int = 86_400_000_000) -> StoredBackup:
        """Return the backup of an object, as an apply takes it."""
        actor = await CONNECTOR.open_actor("share", self.config)
        content = await actor.back_up(call)
        await actor.close()
        return StoredBackup("sha256:0", kept, content)

    async def perform(self, call: ActCall) -> ActResult:
        """Make a call."""
        actor = await CONNECTOR.open_actor("share", self.config)
        try:
            return await actor.perform(call)
        finally:
            await actor.close()

    async def took_effect(self, call: ActCall) -> bool | None:
        """Ask whether a call took effect."""
        actor = await CONNECTOR.open_actor("share", self.config)
        try:
            return await actor.took_effect(call)
        finally:
            await actor.close()

    def kept(self) -> list[Path]:
        """Return the objects that lie in the quarantine folder, also such as are not settled."""
        return sorted(self.quarantine.rglob("object"))


def codes(envelope: Any) -> list[str]:
    """Return why an answer is not complete."""
    return [str(reason.code) for reason in envelope.completeness.reasons]


def state(row: dict[str, Any], field: str) -> Any:
    """Return what is known of a field."""
    return STATE_ORDER[row[field + STATE_SUFFIX]]

"""Exemption lists of a workspace, wherever they stand: files are read at once, tables through their source's reader.

Guarantees: a list is read anew each time it is asked for, and by the same code when a plan is made and before each act.
What is not on a list may be taken, so that reading a table is held to what every conclusion from absence is held to:
complete, in one snapshot, nothing hidden, of now, without a warning that blocks. Anything less, or an entry of which
something is unknown, is an error (FC609), never a shorter list: an exemption that is silently lost is a deletion.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

from fullcount.compiler.claims import Complete, Fresh, Snapshot, Visible
from fullcount.compiler.lower.world import Bindings
from fullcount.runtime.act.snapshot_rows import SnapshotRows
from fullcount.runtime.collect.budget import Budget
from fullcount.runtime.collect.loop import collect
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.connectors.base import SourceReader
from fullcount.runtime.evidence.envelope import Envelope
from fullcount.runtime.evidence.judge import Held, Measured, blocking, judge
from fullcount.runtime.evidence.refusal import Finding
from fullcount.runtime.store.instants import to_micros
from fullcount.runtime.workspace import Workspace
from fullcount.runtime.workspace.errors import WorkspaceError
from fullcount.runtime.workspace.exemption_tables import ExemptionTable, FaultyEntryError, entry_of, question_of
from fullcount.runtime.workspace.exemptions import Exemption

DEMANDED: Final = (Complete(), Snapshot(), Visible(), Fresh(3_600_000_000))
"""What a reading of a table must show: an answer of more than an hour ago may lack what was exempted since."""
PATIENCE = 60.0
"""How long reading a list may take, in seconds."""


class ExemptionLists:
    """The lists of one workspace, for one run."""

    def __init__(
        self, workspace: Workspace, reader: Callable[[str], SourceReader], clock: Callable[[], datetime]
    ) -> None:
        self._workspace, self._reader, self._clock = workspace, reader, clock

    def in_source(self, name: str) -> bool:
        """Whether a list stands in a source, so that reading it takes a question."""
        return self._workspace.exemption_table(name) is not None

    def origin(self, name: str) -> str:
        """Return where a list stands, as people know it: `exemptions.toml`, `cmdb.exceptions`."""
        table = self._workspace.exemption_table(name)
        return self._workspace.exemption_file(name) if table is None else table.place

    async def read(self, name: str) -> tuple[Exemption, ...]:
        """Read a list anew. Raises `WorkspaceError` FC609 for one that can't be relied on."""
        table = self._workspace.exemption_table(name)
        return self._workspace.exemptions(name) if table is None else await self._from_source(name, table)

    async def _from_source(self, name: str, table: ExemptionTable) -> tuple[Exemption, ...]:
        resource = self._workspace.catalog().resources(table.source)[table.resource]
        asked = question_of(name, table, resource)
        with SnapshotStore(self._workspace.snapshot_dir).passing() as passing:
            envelope = await collect(
                self._reader(table.source),
                asked,
                resource,
                bindings=Bindings({}, to_micros(self._clock())),
                snapshots=passing,
                budget=Budget(deadline=PATIENCE, retries=1),
                clock=self._clock,
            )
            digest = envelope.snapshot_digest
            if not envelope.complete or digest is None:
                why = "; ".join(f"{reason.code}: {reason.detail}" for reason in envelope.completeness.reasons)
                raise _unreliable(name, table, f"was not read to its end ({why})")
            rows = SnapshotRows(
                lambda: passing.path(digest), {n: field.type for n, field in asked.fields.items()}, complete=True
            )
            try:
                entries = tuple(entry_of(table, row, asked.fields) for row in rows.related(()).rows)
            except FaultyEntryError as fault:
                raise _unreliable(name, table, str(fault)) from None
        found = against(envelope, frozenset(asked.fields), self._clock())
        if found is not None:
            raise _unreliable(name, table, found.message + (f" ({found.detail})" if found.detail else ""))
        return entries


def against(envelope: Envelope, used: frozenset[str], at: datetime) -> Finding | None:
    """Return the first thing that keeps a reading from showing what is not on the list; None: nothing does."""
    for claim in DEMANDED:
        result = judge(claim, Measured(envelope, at))
        if not isinstance(result, Held):
            return result[0]
    return next(iter(blocking(envelope, used, frozenset())), None)


def _unreliable(name: str, table: ExemptionTable, why: str) -> WorkspaceError:
    message = f"the exemption list `{name}` ({table.place}) can't be relied on: {why}"
    return WorkspaceError("FC609", message, help="an exemption that is lost without a word is an act that nobody meant")

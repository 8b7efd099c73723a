"""Reading a source that is split: one scan for each part, some at the same time, and one envelope for the whole.

Guarantees: the whole is complete only if every part is; what a part found against itself stands in the envelope with
the part's name (R18), and how many canaries were seen in it: a reader's rights can be lost in one part alone. A key
that two parts have names two objects or one that moved: either way the rows can't be told apart, and the read is not
complete. The parts are read at instants of their own, so they never make one snapshot.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from fullcount.compiler import program
from fullcount.compiler.catalog import Resource
from fullcount.compiler.claims import Consistency
from fullcount.compiler.lower.world import Bindings
from fullcount.runtime.collect.budget import Budget, Progress
from fullcount.runtime.collect.conclude import unseen_canaries
from fullcount.runtime.collect.intake import Intake, fields_to_read
from fullcount.runtime.collect.loop import Part, collect, deadline_of
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.collect.ways import Account
from fullcount.runtime.collect.writer import Written
from fullcount.runtime.connectors.base import SourceReader
from fullcount.runtime.evidence.codes import Reason, WarningCode
from fullcount.runtime.evidence.envelope import (
    Completeness,
    Envelope,
    FieldSummary,
    Incompleteness,
    Notice,
    PartRead,
    Scope,
    Status,
    Work,
    part_name,
)
from fullcount.runtime.format import counted

_WEAKEST_FIRST = (Consistency.UNSTABLE, Consistency.INTERVAL, Consistency.PINNED)


async def collect_across(
    reader: SourceReader,
    inventory: program.Inventory,
    resource: Resource,
    parts: Sequence[Mapping[str, str]],
    *,
    bindings: Bindings,
    snapshots: SnapshotStore,
    budget: Budget,
    clock: Callable[[], datetime],
    progress: Callable[[Progress], None] | None = None,
) -> Envelope:
    """Read every part to its end and return the envelope of the whole. Raises what `collect` raises.

    `parts` are distinct and at least one.
    """
    if len(parts) == 0:
        msg = "an inventory that is read in parts has at least one"
        raise ValueError(msg)
    begun, since = clock(), budget.monotonic()
    gauge = _Gauge(inventory.name, budget, since, progress)
    with snapshots.passing() as passing:
        gate = asyncio.Semaphore(max(1, budget.parts_at_once))

        async def read(number: int) -> Envelope:
            async with gate:
                return await collect(
                    reader,
                    inventory,
                    resource,
                    bindings=bindings,
                    snapshots=passing,
                    budget=budget,
                    clock=clock,
                    progress=gauge.of(number),
                    part=Part(parts[number], since),
                )

        envelopes = await _all(read, len(parts))
        whole = _Whole(inventory, parts, envelopes, begun, deadline_of(budget, inventory))
        if all(envelope.snapshot_digest is None for envelope in envelopes):
            whole.finished_at, whole.seconds = clock(), budget.monotonic() - since
            return whole.envelope(None)
        with Intake(inventory, fields_to_read(inventory, resource), bindings, snapshots) as intake:
            for envelope in envelopes:
                if envelope.snapshot_digest is not None:
                    for table in _groups(passing, envelope.snapshot_digest):
                        await intake.take(table, table.num_rows)
            written = await intake.finish()
            whole.judge(intake, written)
    whole.finished_at, whole.seconds = clock(), budget.monotonic() - since
    return whole.envelope(written)


async def _all(read: Callable[[int], Coroutine[Any, Any, Envelope]], count: int) -> list[Envelope]:
    """Run the reads, and stop the others when one raises: an error of our own is not an answer of a part."""
    tasks: list[asyncio.Task[Envelope]] = []
    try:
        async with asyncio.TaskGroup() as group:
            tasks += [group.create_task(read(number)) for number in range(count)]
    except BaseExceptionGroup as raised:
        raise raised.exceptions[0] from None
    return [task.result() for task in tasks]


def _groups(passing: SnapshotStore, digest: str) -> Iterator[pa.Table]:
    """Yield the rows of a part, a row group at a time."""
    with pq.ParquetFile(passing.path(digest)) as file:
        for number in range(file.num_row_groups):
            yield file.read_row_group(number)


@dataclass(slots=True)
class _Gauge:
    """How far all the parts have come together."""

    inventory: str
    budget: Budget
    since: float
    report: Callable[[Progress], None] | None
    _last: dict[int, Progress] = field(default_factory=dict)

    def of(self, number: int) -> Callable[[Progress], None] | None:
        """Return what a part reports to."""
        report = self.report
        if report is None:
            return None

        def told(progress: Progress) -> None:
            self._last[number] = progress
            pages, rows = sum(p.pages for p in self._last.values()), sum(p.rows for p in self._last.values())
            # what the parts that have not begun hold is not known
            report(Progress(self.inventory, pages, rows, None, self.budget.monotonic() - self.since))

        return told


@dataclass(slots=True)
class _Whole:
    """The parts, put together."""

    inventory: program.Inventory
    parts: Sequence[Mapping[str, str]]
    envelopes: Sequence[Envelope]
    started_at: datetime
    deadline: float | None
    account: Account = field(default_factory=Account)
    unseen: int = 0
    finished_at: datetime | None = None
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.unseen = len(self.inventory.expects)
        for values, envelope in zip(self.parts, self.envelopes, strict=True):
            way = envelope.completeness.continuation
            for reason in envelope.completeness.reasons:
                self.account.reason(reason.model_copy(update={"part": _place(values, reason.part)}), way)
        for values, envelope in zip(self.parts, self.envelopes, strict=True):
            for notice in envelope.warnings:
                common = all(notice in other.warnings for other in self.envelopes)
                detail = notice.detail if common else f"{part_name(values)}: {notice.detail}"
                self.account.warn(notice.model_copy(update={"detail": detail}))

    def judge(self, intake: Intake, written: Written) -> None:
        """Note what only shows when the parts are seen together."""
        twice = written.duplicates.contradicting + written.duplicates.identical
        if twice > 0:
            examples = ", ".join(f"`{key}`" for key in written.duplicates.examples)
            self.account.reason(
                Incompleteness(
                    code=Reason.MALFORMED_RESPONSE,
                    detail=f"{counted(twice, 'key')} found in more than one part"
                    + (f", such as {examples}" if examples != "" else "")
                    + ": which object is meant can't be told",
                    data={"keys_in_several_parts": twice},
                )
            )
        if not self.account.warned(WarningCode.NO_SNAPSHOT):
            detail = f"{counted(len(self.parts), 'part')} read one by one, not at one instant"
            self.account.warn(Notice(code=WarningCode.NO_SNAPSHOT, detail=detail))
        self.unseen = len(intake.unseen)
        if all(envelope.work.end_marker is not None for envelope in self.envelopes):
            for reason in unseen_canaries(intake):
                self.account.reason(reason)

    def envelope(self, written: Written | None) -> Envelope:
        """Return the envelope of the whole."""
        complete = len(self.account.reasons) == 0
        status = Status.COMPLETE if complete else Status.FAILED if written is None else Status.PARTIAL
        return Envelope(
            inventory=self.inventory.name,
            status=status,
            completeness=Completeness(
                complete=complete, reasons=self.account.reasons, continuation=self.account.continuation
            ),
            warnings=self.account.warnings,
            scope=self._scope(),
            work=self._work(written),
            fields={} if written is None else self._fields(written),
            snapshot_digest=None if written is None else written.digest,
        )

    def _scope(self) -> Scope:
        scopes = [envelope.scope for envelope in self.envelopes]
        seen = {scope.visibility for scope in scopes}
        answered = [scope.consistency for e, scope in zip(self.envelopes, scopes, strict=True) if _answered(e)]
        weakest = min((Consistency.INTERVAL, *answered), key=_WEAKEST_FIRST.index)
        return scopes[0].model_copy(
            update={
                "filter_pushed_down": all(scope.filter_pushed_down for scope in scopes),
                "identity": next((scope.identity for scope in scopes if len(scope.identity) > 0), {}),
                "visibility": "restricted" if "restricted" in seen else "all" if seen == {"all"} else "unknown",
                "consistency": weakest if len(answered) > 0 else Consistency.UNSTABLE,
                "snapshot_token": None,
                # as old as the oldest of them: a part may speak of an instant before it was read
                "started_at": min((self.started_at, *(scope.started_at for scope in scopes))),
                "finished_at": self.started_at if self.finished_at is None else self.finished_at,
                "parts": tuple(
                    PartRead(
                        values=dict(values),
                        status=envelope.status,
                        rows=envelope.work.rows,
                        end_marker=envelope.work.end_marker,
                        reasons=tuple(dict.fromkeys(reason.code for reason in envelope.completeness.reasons)),
                        vouched=envelope.scope.visibility == "all",
                        canaries_seen=envelope.work.canaries_seen,
                    )
                    for values, envelope in zip(self.parts, self.envelopes, strict=True)
                ),
            }
        )

    def _work(self, written: Written | None) -> Work:
        works = [envelope.work for envelope in self.envelopes]
        markers = [work.end_marker for work in works]
        total = sum(work.total or 0 for work in works) if all(work.total is not None for work in works) else None
        expected = len(self.inventory.expects)
        return Work(
            pages=sum(work.pages for work in works),
            rows=0 if written is None else written.rows,
            rows_read=sum(work.rows_read for work in works),
            distinct_keys=0 if written is None else written.rows,
            retries=sum(work.retries for work in works),
            seconds=self.seconds,
            deadline_seconds=self.deadline,
            end_marker=_end(markers),
            total=total,
            total_exact=total is not None and all(work.total_exact for work in works),
            canaries_expected=expected,
            canaries_seen=expected - self.unseen,
        )

    def _fields(self, written: Written) -> dict[str, FieldSummary]:
        read = [envelope.fields for envelope in self.envelopes]
        return {
            name: FieldSummary(
                states=dict(states),
                refused=sum(fields[name].refused for fields in read if name in fields),
                refusal=next((fields[name].refusal for fields in read if name in fields and fields[name].refusal), ""),
            )
            for name, states in written.states.items()
        }


def _place(values: Mapping[str, str], within: str | None) -> str:
    """Return the name of a part, and of the place within it that a reason is about."""
    return part_name(values) if within is None else f"{part_name(values)}, {within}"


def _answered(envelope: Envelope) -> bool:
    return envelope.status is not Status.FAILED


def _end(markers: Sequence[str | None]) -> str | None:
    """Return the sign of the end of all parts, None if one of them did not give it."""
    seen = [marker for marker in markers if marker is not None]
    if len(seen) < len(markers):
        return None
    return f"{' and '.join(dict.fromkeys(seen))} in {counted(len(seen), 'part')}"

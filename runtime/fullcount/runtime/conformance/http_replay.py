"""Replaying what was recorded of an HTTP API: the real client, scan, loop and verdict over a recording.

Nothing is judged here: a reading case goes through `collect` into an envelope, an acting one through the rules by which
the connector judges its own writes.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import httpx

from fullcount.compiler.catalog import Resource, Visibility
from fullcount.compiler.claims import Consistency
from fullcount.compiler.everything import everything_of
from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.types import TEXT, FieldType
from fullcount.compiler.values import FieldState, Value
from fullcount.runtime.collect.budget import Budget
from fullcount.runtime.collect.loop import collect
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.conformance.case import Case, Step
from fullcount.runtime.conformance.recorded import leaves_a_page_out, recorded, reply_to, shows_two_states
from fullcount.runtime.conformance.recording import Recording, host_of_api, request_of
from fullcount.runtime.conformance.verdict import KNOWN, Verdict, worst
from fullcount.runtime.connectors.base import Matches, Outcome, Question, Reading, Scan
from fullcount.runtime.connectors.http.client import HttpClient
from fullcount.runtime.connectors.http.exchange import Exchange, Request
from fullcount.runtime.connectors.http.fields import Place
from fullcount.runtime.connectors.http.forms import Dialect
from fullcount.runtime.connectors.http.outcome import Written, judge_write
from fullcount.runtime.connectors.http.scan import Listing, open_scan, operation_for
from fullcount.runtime.evidence.codes import ActReason, Reason, WarningCode, Way
from fullcount.runtime.evidence.envelope import Envelope, Status

KEY = "$key"
_READING = frozenset({"GET", "HEAD", "OPTIONS"})


async def read_case(case: Case, dialect: Dialect) -> Verdict:
    """Return what the connector and the collecting loop make of a recorded read."""
    envelope = await read_steps(case.exchange, dialect, case.fields, case.limits)
    verdict = verdict_of(envelope, case.fields)
    if verdict.complete and shows_two_states(case.exchange, dialect):
        found = frozenset({Reason.SNAPSHOT_CHANGED})
        return replace(verdict, reasons=found, continuation=Way.RESTART, details=("the pages belong to two states",))
    if verdict.complete and await leaves_a_page_out(case.exchange, dialect):
        found, detail = frozenset({Reason.MORE_PAGES_AVAILABLE}), "a cursor that was given was not followed"
        return replace(verdict, reasons=found, continuation=Way.NEXT_CURSOR, details=(detail,))
    return verdict


def verdict_of(envelope: Envelope, fields: Sequence[str]) -> Verdict:
    """Return an envelope's verdict; a field of a read that failed is one that the source failed to give."""
    way = envelope.completeness.continuation
    states: dict[str, FieldState] = {}
    for name in fields:
        known = envelope.fields.get(name)
        if known is not None and len(known.states) > 0:
            states[name] = worst(known.states)
        else:
            states[name] = FieldState.ABSENT if envelope.status is Status.COMPLETE else FieldState.SOURCE_FAILED
    warnings = {notice.code for notice in envelope.warnings}
    if len(envelope.completeness.reasons) == 0 and not set(states.values()) <= KNOWN:
        warnings.add(WarningCode.PARTIAL_FIELD_SET)  # a case speaks of the list as a whole, an envelope of each row
    return Verdict(
        reasons=frozenset(reason.code for reason in envelope.completeness.reasons),
        continuation=None if way is None else way.way,
        warnings=frozenset(warnings),
        field_states=states,
        details=tuple(reason.detail for reason in envelope.completeness.reasons),
    )


async def read_steps(
    steps: Sequence[Step], dialect: Dialect, fields: Sequence[str], limits: Mapping[str, int]
) -> Envelope:
    """Collect a recording and return its envelope."""
    found = await recorded(steps, dialect)
    asked = {KEY: Place(at=found.key, as_json=True), **{name: Place(as_json=True) for name in fields}}
    listing = Listing(found.starts, asked, found.probes, details=found.details)
    recording = Recording(found.pages, found.aside)
    resource = Resource(
        source="recorded",
        name=dialect.name,
        fields={name: FieldType(TEXT, optional=name != KEY) for name in asked},
        key=(KEY,),
        consistency=Consistency.INTERVAL,
        visibility=Visibility.UNKNOWN,
    )
    client = HttpClient(recording, f"https://{host_of_api(dialect)}", dialect.headers)
    reader = _RecordedReader(dialect, client, listing, recording)
    with tempfile.TemporaryDirectory(prefix="fullcount-replay-") as folder:
        return await collect(
            reader,
            everything_of(resource),
            resource,
            bindings=Bindings({}, 0),
            snapshots=SnapshotStore(Path(folder)),
            budget=Budget(sleep=_no_wait, max_pages=limits.get("max_pages"), max_rows=limits.get("max_rows")),
            clock=lambda: datetime.now(UTC),
        )


async def _no_wait(seconds: float) -> None:
    """Wait for nothing: what was recorded does not come sooner by waiting."""


class _RecordedReader:
    """A reader over a recording: each scan begins it anew. See `SourceReader`."""

    def __init__(self, dialect: Dialect, client: HttpClient, listing: Listing, recording: Recording) -> None:
        self._dialect, self._client, self._listing, self._recording = dialect, client, listing, recording

    async def identity(self) -> Mapping[str, str]:
        """See `SourceReader.identity`."""
        return {"target_kind": "recorded", "target_dialect": self._dialect.name}

    @asynccontextmanager
    async def scan(self, question: Question) -> AsyncIterator[Scan]:
        """See `SourceReader.scan`."""
        self._recording.rewind()
        async with open_scan(self._dialect, self._client, self._listing) as scan:
            yield scan

    async def read(self, resource: Resource, key: tuple[Value, ...], fields: Sequence[str]) -> Reading:
        """Not recorded."""
        raise NotImplementedError

    async def lookup(self, resource: Resource, field: str, value: Value, fields: Sequence[str]) -> Matches:
        """Not recorded."""
        raise NotImplementedError

    async def count(self, resource: Resource) -> int:
        """Not recorded."""
        raise NotImplementedError

    async def close(self) -> None:
        """Nothing is held open."""


async def act_case(case: Case, dialect: Dialect) -> Verdict:
    """Return what the connector makes of a recorded write: of the last one, and of what was read after it."""
    written: Written | None = None
    acted: Request | None = None
    for step in case.exchange:
        request = request_of(step)
        operation = operation_for(dialect, request)
        if _only_reads(request):
            written = _after_reading(written, step, acted)
            continue
        exchange = Exchange(request, await reply_to(step, operation.xml_lists), host=host_of_api(dialect))
        written, acted = judge_write(operation, exchange), request
    if written is None:
        return await read_case(case, dialect)  # a look before the act is a read, and proves no more than one
    reason, warning = written.reason, written.warning
    return Verdict(
        reasons=frozenset() if reason is None else frozenset({reason}),
        continuation=written.way if reason is not None else None,
        warnings=frozenset() if warning is None else frozenset({warning}),
        details=(written.detail,),
    )


def _only_reads(request: Request) -> bool:
    named = request.operation
    return request.method in _READING or (named is not None and named.startswith(("Get", "List", "Describe", "Head")))


def _after_reading(written: Written | None, step: Step, acted: Request | None) -> Written | None:
    """An unknown outcome is settled by reading that the object is gone, a delete unsettled by reading it there."""
    gone = step.response.status in {404, 410}
    if written is not None and written.reason is ActReason.OUTCOME_UNKNOWN and gone:
        return Written(Outcome.DONE, detail="the object is gone")
    deleted = acted is not None and acted.method == "DELETE" and acted.path == request_of(step).path
    if written is not None and written.reason is None and deleted and step.response.status == httpx.codes.OK:
        return Written(Outcome.UNKNOWN, ActReason.OUTCOME_PENDING, Way.RETRY_AFTER, detail="the object is still there")
    return written

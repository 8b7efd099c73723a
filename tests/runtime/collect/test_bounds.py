"""Limits, deadlines, retries and interruptions of a read: each is told, none is hidden."""

from __future__ import annotations

import asyncio

import pytest
from tests.support.fake_source import FakeSource, FakeTable, fake_inventory, fake_resource, rows_page
from tests.support.reading import Reading, reasons

from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.evidence.codes import Reason, Way
from fullcount.runtime.evidence.envelope import Continuation, Incompleteness, Status

ROWS = [{"id": f"{n:02}", "owner": None} for n in range(10)]
BUSY = Incompleteness(code=Reason.RATE_LIMITED, detail="slow down")


@pytest.fixture
def reading(tmp_path):
    """Return a snapshot folder with a clock."""
    return Reading(tmp_path)


@pytest.fixture
def source():
    """Return a source of ten rows, three on a page."""
    return FakeSource(FakeTable(fake_resource(), ROWS, page_rows=3))


@pytest.mark.requirement("R12")
@pytest.mark.parametrize(
    ("limit", "pages", "rows"), [({"max_rows": 4}, 2, 6), ({"max_rows": 6}, 2, 6), ({"max_pages": 1}, 1, 3)]
)
async def test_our_own_limit_makes_the_answer_partial_and_names_the_cursor_to_go_on(
    reading, source, limit, pages, rows
):
    """A limit of ours is a client-side reason, and what was read before it stays."""
    envelope = await reading.read(source, **limit)
    assert reasons(envelope) == [Reason.CLIENT_LIMIT_REACHED, Reason.MORE_PAGES_AVAILABLE]
    assert envelope.status is Status.PARTIAL
    assert (envelope.work.pages, envelope.work.rows) == (pages, rows)
    way = envelope.completeness.continuation
    assert way is not None
    assert (way.way, way.preserves_snapshot) == (Way.NEXT_CURSOR, False)
    assert way.cursor == f"('{rows - 1:02}',)"


@pytest.mark.requirement("R12")
@pytest.mark.parametrize("limit", ["max_rows", "max_pages"])
async def test_a_limit_of_zero_means_nothing_and_not_unlimited(reading, source, limit):
    """Zero is a limit: no page is asked for, and the answer is no success."""
    envelope = await reading.read(source, **{limit: 0})
    assert envelope.status is Status.FAILED
    assert reasons(envelope) == [Reason.CLIENT_LIMIT_REACHED]
    assert source.count_of("fetch") == 0


async def test_a_limit_that_is_reached_on_the_last_page_cut_nothing_off(reading, source):
    """The end marker was seen: a limit that was just met left nothing out."""
    envelope = await reading.read(source, max_rows=10, max_pages=4)
    assert envelope.complete


@pytest.mark.requirement("R16")
@pytest.mark.parametrize("where", ["budget", "inventory"])
async def test_a_deadline_ends_the_read_and_says_what_was_done_until_then(reading, source, where):
    """The deadline is an input, wherever it is stated, and an outcome with the work done."""
    source.on("fetch", at=None, do=lambda: reading.clock.advance(4))
    inventory = fake_inventory(
        source.tables["accounts"].resource, deadline=10_000_000 if where == "inventory" else None
    )
    envelope = await reading.read(source, inventory, deadline=10 if where == "budget" else 600)
    assert reasons(envelope) == [Reason.TIME_BUDGET_EXCEEDED]
    data = envelope.completeness.reasons[0].data
    assert data == {"deadline_seconds": 10, "seconds": 12, "pages": 3, "rows": 9}
    assert (envelope.work.deadline_seconds, envelope.work.seconds) == (10, 12)
    assert envelope.work.rows == 9
    assert envelope.completeness.continuation is not None
    assert envelope.completeness.continuation.way is Way.RETRY_WITH_DEADLINE


@pytest.mark.requirement("R16")
async def test_a_source_that_hangs_is_left_at_the_deadline(reading, source, monkeypatch):
    """A call that never answers does not outlive the deadline, and the pages before it stay."""

    async def forever(_cursor):
        await asyncio.sleep(3600)

    def hang():
        monkeypatch.setattr("tests.support.fake_source.FakeScan.fetch", lambda _self, cursor: forever(cursor))

    source.on("fetch", at=1, do=hang)
    envelope = await reading.read(source, deadline=0.05)
    assert reasons(envelope) == [Reason.TIME_BUDGET_EXCEEDED]
    assert envelope.work.rows == 3
    assert source.open_scans == 0


@pytest.mark.requirement("R16", "R12")
async def test_a_deadline_of_zero_asks_nothing(reading, source):
    """Zero seconds are no time at all, and never "no deadline"."""
    envelope = await reading.read(source, deadline=0)
    assert envelope.status is Status.FAILED
    assert reasons(envelope) == [Reason.TIME_BUDGET_EXCEEDED]
    assert source.count_of("fetch") == 0


@pytest.mark.requirement("R17")
async def test_a_call_that_may_be_repeated_is_repeated_within_the_budget(reading, source):
    """A throttled page is asked for again with the same cursor, after the time that the source states."""
    way = Continuation(way=Way.RETRY_AFTER, preserves_snapshot=True, after_seconds=7)
    source.on("fetch", at=2, do=SourceError(BUSY, retryable=True, continuation=way))
    source.on("fetch", at=3, do=SourceError(BUSY, retryable=True))
    envelope = await reading.read(source)
    assert envelope.complete
    assert envelope.work.retries == 2
    assert reading.clock.slept == [7, 1.0]
    fetched = [detail for method, detail in source.calls if method == "fetch"]
    assert fetched[1] == fetched[2] == fetched[3]
    assert reading.keys(envelope) == [row["id"] for row in ROWS]


@pytest.mark.requirement("R17")
async def test_retries_end_with_the_budget_and_report_what_was_read_and_spent(reading, source):
    """When the retries are used up the answer is partial, with the state of the budget."""
    source.on("fetch", at=None, do=lambda: _busy_after(source, 1))
    envelope = await reading.read(source, retries=2, deadline=100)
    assert reasons(envelope) == [Reason.RATE_LIMITED]
    data = envelope.completeness.reasons[0].data
    assert (data["pages"], data["rows"], data["retries"], data["seconds_left"]) == (1, 3, 2, 98.5)
    assert source.count_of("fetch") == 1 + 1 + 2


def _busy_after(source, good):
    if source.count_of("fetch") > good:
        raise SourceError(BUSY, retryable=True)


async def test_an_error_that_may_not_be_repeated_is_not_repeated(reading, source):
    """Only what the connector calls repeatable is asked twice."""
    source.on("fetch", at=2, do=SourceError(BUSY, retryable=False))
    envelope = await reading.read(source)
    assert envelope.work.retries == 0
    assert source.count_of("fetch") == 2


@pytest.mark.requirement("R17")
async def test_a_wait_longer_than_the_time_left_is_not_begun(reading, source):
    """The reason stays that of the source, and the way on states its waiting time."""
    way = Continuation(way=Way.RETRY_AFTER, preserves_snapshot=False, after_seconds=3600)
    error = SourceError(Incompleteness(code=Reason.QUOTA_EXHAUSTED), retryable=True, continuation=way)
    source.on("fetch", at=2, do=error)
    envelope = await reading.read(source, deadline=60)
    assert reasons(envelope) == [Reason.QUOTA_EXHAUSTED]
    assert reading.clock.slept == []
    assert envelope.completeness.continuation == way


async def test_opening_is_retried_like_a_page(reading, source):
    """A scan that can't be opened at first is opened when the source lets us."""
    source.on("open", at=1, do=SourceError(BUSY, retryable=True))
    envelope = await reading.read(source)
    assert envelope.complete
    assert source.open_scans == 0


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, asyncio.CancelledError, SystemExit])
@pytest.mark.parametrize("at", [1, 3])
async def test_an_interruption_goes_through_and_leaves_no_half_snapshot(reading, source, interruption, at):
    """Nothing stands under the snapshot folder, and the scan is closed."""
    source.on("fetch", at=at, do=interruption())
    with pytest.raises(interruption):
        await reading.read(source)
    assert reading.files() == []
    assert source.open_scans == 0


async def test_cancelling_a_waiting_read_leaves_no_half_snapshot(reading, source, monkeypatch):
    """A task that is cancelled from outside ends as cancelled and clears up."""
    waiting = asyncio.Event()

    async def wait(_self, _cursor):
        waiting.set()
        await asyncio.sleep(3600)

    monkeypatch.setattr("tests.support.fake_source.FakeScan.fetch", wait)
    task = asyncio.create_task(reading.read(source))
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert reading.files() == []
    assert source.open_scans == 0


async def test_a_defect_is_raised_and_never_becomes_an_answer(reading, source):
    """Only what a source does is put into an envelope; a bug of ours is an error."""
    source.on("fetch", at=2, do=ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        await reading.read(source)
    assert reading.files() == []


async def test_progress_is_told_after_each_page(reading, source):
    """Pages, rows and the source's total, as they come."""
    told = []
    await reading.read(source, progress=told.append)
    assert [(p.pages, p.rows, p.total) for p in told] == [(1, 3, 10), (2, 6, 10), (3, 9, 10), (4, 10, 10)]


async def test_many_pages_are_written_while_they_are_read(reading, monkeypatch):
    """More rows than a chunk holds pass through the writing thread, and come out whole and in order."""
    monkeypatch.setattr("fullcount.runtime.collect.intake.GROUP_ROWS", 7)
    monkeypatch.setattr("fullcount.runtime.collect.writer.GROUP_ROWS", 5)
    rows = [{"id": f"{n:03}", "owner": None} for n in range(100)]
    pages = [rows_page(("id", "owner"), rows[n : n + 3], cursor=str(n)) for n in range(0, 99, 3)]
    pages.append(rows_page(("id", "owner"), rows[99:], end="e"))
    envelope = await reading.read(FakeSource(FakeTable(fake_resource(), script=pages)))
    assert envelope.complete
    assert reading.keys(envelope) == [row["id"] for row in rows]

"""Complete or partial, with items or empty: the four states, each reason in full and empty lists, and no way around."""

from __future__ import annotations

import pytest
from tests.support.fake_source import (
    FakeSource,
    FakeTable,
    equals,
    fake_inventory,
    fake_resource,
    rows_page,
)
from tests.support.reading import Reading, reasons, warnings

from fullcount.compiler.claims import Consistency
from fullcount.runtime.connectors.base import SourceError, Total
from fullcount.runtime.evidence.codes import Decision, Reason, WarningCode, Way
from fullcount.runtime.evidence.envelope import Continuation, Incompleteness, Status

FIELDS = ("id", "owner")
ITEMS = [{"id": "a", "owner": "x"}, {"id": "b", "owner": None}]
LISTS = pytest.mark.parametrize("rows", [ITEMS, []], ids=["with items", "empty"])
EACH_REASON = pytest.mark.parametrize("code", list(Reason))


@pytest.fixture
def reading(tmp_path):
    """Return a snapshot folder with a clock."""
    return Reading(tmp_path)


def scripted(*pages, **changes):
    """Return a source whose scan gives these pages, errors or calls one after another."""
    return FakeSource(FakeTable(fake_resource(), script=list(pages), **changes))


def page(rows, **rest):
    """Return a page of the resource."""
    return rows_page(FIELDS, rows, **rest)


# --- the four states --------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R1", "R2")
@LISTS
async def test_an_affirmative_end_with_nothing_against_it_is_complete(reading, rows):
    """Complete with items and complete and empty are answers; both name the end marker and the snapshot."""
    envelope = await reading.read(scripted(page(rows, end="last page", total=Total(len(rows), exact=True))))
    assert envelope.status is Status.COMPLETE
    assert envelope.complete
    assert envelope.empty == (len(rows) == 0)
    assert envelope.work.end_marker == "last page"
    assert (
        reading.rows(envelope)
        == [
            {"id": "a", "owner": "x"},
            {"id": "b", "owner": "absent"},
        ][: len(rows)]
    )
    assert envelope.decision() is Decision.ACT


@pytest.mark.requirement("R1", "R8")
@LISTS
async def test_a_read_cut_short_is_partial_with_items_or_partial_and_empty_and_keeps_what_it_read(reading, rows):
    """A partial answer has its own status, keeps its rows, and licenses nothing, also when it has none."""
    error = SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE, detail="shard 2 is down", part="shard 2"))
    envelope = await reading.read(scripted(page(rows, cursor="2"), error))
    assert envelope.status is Status.PARTIAL
    assert not envelope.complete
    assert envelope.empty == (len(rows) == 0)
    assert len(reading.rows(envelope)) == len(rows)
    assert envelope.completeness.reasons[0].part == "shard 2"
    assert envelope.decision() is not Decision.ACT


@pytest.mark.requirement("R1", "R11", "R36")
async def test_empty_first_page_with_more_pages_continues_the_search_and_never_licenses_cleanup(reading):
    """An empty page with a cursor is not the end: the read goes on, and cut there it licenses nothing."""
    envelope = await reading.read(scripted(page([], cursor="2"), page(ITEMS, end="last page")))
    assert envelope.complete
    assert reading.keys(envelope) == ["a", "b"]
    assert WarningCode.EMPTY_PAGE_WITH_CURSOR in warnings(envelope)

    cut = await reading.read(scripted(page([], cursor="2"), page(ITEMS, end="last page")), max_pages=1)
    assert cut.empty
    assert cut.status is Status.PARTIAL
    assert reasons(cut) == [Reason.CLIENT_LIMIT_REACHED, Reason.MORE_PAGES_AVAILABLE]
    assert cut.decision() is Decision.CONTINUE_SEARCH


@pytest.mark.requirement("R2", "R11")
@LISTS
async def test_no_end_marker_is_never_complete_whatever_the_count_says(reading, rows):
    """A page without cursor and without end marker proves nothing, even if an exact total agrees."""
    envelope = await reading.read(scripted(page(rows, total=Total(len(rows), exact=True))))
    assert reasons(envelope) == [Reason.COMPLETENESS_UNPROVABLE]
    assert envelope.status is Status.PARTIAL
    assert envelope.completeness.continuation is None
    assert envelope.decision() is Decision.REFUSE_OR_REQUEST_REVIEW


@pytest.mark.requirement("R2", "R11")
async def test_a_short_page_is_not_the_end(reading):
    """Fewer rows than asked for say nothing: the read follows the cursor to the end."""
    envelope = await reading.read(scripted(page(ITEMS[:1], cursor="2"), page(ITEMS[1:], cursor="3"), page([], end="e")))
    assert envelope.complete
    assert reading.keys(envelope) == ["a", "b"]
    assert envelope.work.pages == 3


@pytest.mark.requirement("R2")
async def test_an_end_marker_beside_a_cursor_is_a_contradiction_and_not_an_end(reading):
    """A source that says both "the end" and "there is more" is not believed in the first."""
    envelope = await reading.read(scripted(page(ITEMS, cursor="2", end="last page")))
    assert reasons(envelope) == [Reason.MALFORMED_RESPONSE]
    assert envelope.work.end_marker is None


# --- every reason -----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R3", "R4", "R35")
@EACH_REASON
@LISTS
async def test_each_reason_that_a_page_gives_makes_the_answer_partial_although_the_end_was_seen(reading, code, rows):
    """A successful exchange up to the end marker is not complete when the source itself says that something lacks."""
    found = Incompleteness(code=code, detail="the source says so")
    envelope = await reading.read(scripted(page(rows, end="last page", reasons=(found,))))
    assert envelope.status is Status.PARTIAL
    assert reasons(envelope) == [code]
    assert envelope.completeness.reasons[0].detail == "the source says so"
    assert len(reading.rows(envelope)) == len(rows)
    assert envelope.decision() is not Decision.ACT


@pytest.mark.requirement("R4", "R10", "R35")
@EACH_REASON
@LISTS
async def test_each_reason_that_stops_a_read_keeps_the_pages_before_it_and_says_how_far_it_came(reading, code, rows):
    """An error in the middle is a partial answer with its reason, the work done, and the rows so far."""
    error = SourceError(Incompleteness(code=code, data={"own": 1}))
    envelope = await reading.read(scripted(page(rows, cursor="2"), error))
    assert envelope.status is Status.PARTIAL
    assert reasons(envelope) == [code]
    data = envelope.completeness.reasons[0].data
    assert (data["pages"], data["rows"], data["own"]) == (1, len(rows), 1)
    assert len(reading.rows(envelope)) == len(rows)
    assert envelope.decision() is not Decision.ACT


@pytest.mark.requirement("R10", "R35")
@EACH_REASON
@pytest.mark.parametrize("method", ["identity", "open", "fetch"])
async def test_each_reason_before_the_first_page_is_a_failure_without_a_snapshot(reading, code, method):
    """Without any page there is no answer: status failed, no snapshot, nothing on the disk."""
    source = FakeSource(FakeTable(fake_resource(), ITEMS))
    source.on(method, do=SourceError(Incompleteness(code=code)))
    envelope = await reading.read(source)
    assert envelope.status is Status.FAILED
    assert envelope.snapshot_digest is None
    assert reasons(envelope) == [code]
    assert reading.files() == []
    assert source.open_scans == 0


@pytest.mark.requirement("R4")
async def test_a_reason_of_the_whole_scan_holds_to_the_end(reading):
    """What was known when the scan opened still stands when its end marker is seen."""
    found = Incompleteness(code=Reason.SCOPE_NOT_COVERED, part="eu-west-1")
    envelope = await reading.read(FakeSource(FakeTable(fake_resource(), ITEMS, reasons=(found,))))
    assert reasons(envelope) == [Reason.SCOPE_NOT_COVERED]


@pytest.mark.requirement("R4")
async def test_the_same_reason_on_every_page_is_said_once_and_different_parts_are_named_each(reading):
    """One entry for one cause: repeated ones are not piled up, and each part that did not answer is named."""
    one = Incompleteness(code=Reason.SOURCE_UNAVAILABLE, part="zone a")
    two = Incompleteness(code=Reason.SOURCE_UNAVAILABLE, part="zone b")
    pages = [page(ITEMS[:1], cursor="2", reasons=(one,)), page(ITEMS[1:], end="e", reasons=(one, two))]
    envelope = await reading.read(scripted(*pages))
    assert [reason.part for reason in envelope.completeness.reasons] == ["zone a", "zone b"]
    assert reading.keys(envelope) == ["a", "b"]


# --- what was read belongs together -----------------------------------------------------------------------------------


@pytest.mark.requirement("R3", "R15")
@LISTS
async def test_pages_of_unstable_order_are_never_complete(reading, rows):
    """Pages that shift under change can't be complete, end marker or not, and there is no way on to wait for."""
    envelope = await reading.read(scripted(page(rows, end="e"), consistency=Consistency.UNSTABLE))
    assert reasons(envelope) == [Reason.UNSTABLE_ORDER]
    assert WarningCode.NO_SNAPSHOT in warnings(envelope)
    assert envelope.completeness.continuation is None


async def test_pages_of_interval_order_are_complete_and_say_that_they_are_no_snapshot(reading):
    """The weaker guarantee is enough for completeness, and is said."""
    envelope = await reading.read(scripted(page(ITEMS, end="e"), consistency=Consistency.INTERVAL))
    assert envelope.complete
    assert WarningCode.NO_SNAPSHOT in warnings(envelope)
    assert envelope.scope.consistency is Consistency.INTERVAL


@pytest.mark.requirement("R15")
async def test_one_object_with_two_contents_means_that_the_snapshot_changed(reading):
    """The same key with different content on two pages is not one state of the collection."""
    pages = [page([{"id": "a", "owner": "x"}], cursor="2"), page([{"id": "a", "owner": "y"}], end="e")]
    envelope = await reading.read(scripted(*pages))
    assert reasons(envelope) == [Reason.SNAPSHOT_CHANGED]
    assert "`a`" in envelope.completeness.reasons[0].detail
    assert envelope.decision() is Decision.RESTART
    assert reading.rows(envelope) == [{"id": "a", "owner": "x"}]


async def test_an_identical_duplicate_is_counted_once_and_warned_of(reading):
    """A repeated row does not count twice, so that an exact total still agrees."""
    pages = [page(ITEMS, cursor="2"), page(ITEMS[1:], end="e", total=Total(2, exact=True))]
    envelope = await reading.read(scripted(*pages))
    assert envelope.complete
    assert (envelope.work.rows, envelope.work.distinct_keys, envelope.work.rows_read) == (2, 2, 3)
    assert WarningCode.DUPLICATE_ITEMS in warnings(envelope)


# --- totals -----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R2")
@LISTS
async def test_an_exact_total_that_differs_is_a_mismatch_although_the_end_was_seen(reading, rows):
    """A total can only take completeness away: more or fewer than counted is a reason."""
    for total in (len(rows) + 1, 7):
        envelope = await reading.read(scripted(page(rows, end="e", total=Total(total, exact=True))))
        assert reasons(envelope) == [Reason.COUNT_MISMATCH]
        assert envelope.completeness.reasons[0].data == {"collected": len(rows), "total": total}


async def test_totals_that_change_or_are_missing_or_estimated_are_warnings(reading):
    """A total that moves, is a guess, or is not there is said, and does not decide."""
    pages = [
        page(ITEMS[:1], cursor="2", total=Total(9, exact=True)),
        page(ITEMS[1:], end="e", total=Total(2, exact=True)),
    ]
    assert warnings(await reading.read(scripted(*pages))) == [WarningCode.TOTAL_CHANGED]
    estimated = await reading.read(scripted(page(ITEMS, end="e", total=Total(5_000, exact=False))))
    assert estimated.complete
    assert warnings(estimated) == [WarningCode.TOTAL_ESTIMATED]
    absent = await reading.read(scripted(page(ITEMS, end="e")))
    assert absent.complete
    assert warnings(absent) == [WarningCode.TOTAL_ABSENT]


async def test_a_total_of_zero_is_a_total(reading):
    """Zero is never "no total": an exact zero beside a row is a mismatch."""
    envelope = await reading.read(scripted(page(ITEMS, end="e", total=Total(0, exact=True))))
    assert reasons(envelope) == [Reason.COUNT_MISMATCH]


# --- cursors ----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R11")
@pytest.mark.parametrize("cursors", [["1", "1"], ["1", "2", "1"], ["", ""]])
@LISTS
async def test_a_cursor_given_before_is_a_loop_and_ends_the_read(reading, cursors, rows):
    """A cursor that comes again makes no progress; the read stops and says so."""
    envelope = await reading.read(scripted(*[page(rows, cursor=cursor) for cursor in cursors]))
    assert reasons(envelope) == [Reason.CURSOR_LOOP]
    assert envelope.work.pages == len(cursors)
    assert envelope.decision() is Decision.RESTART


@pytest.mark.requirement("R14", "R9")
async def test_an_expired_cursor_is_a_reason_and_never_a_silent_restart(reading):
    """The source is not asked again from the beginning, and the way on is to restart knowingly."""
    error = SourceError(Incompleteness(code=Reason.CURSOR_EXPIRED))
    source = scripted(page(ITEMS, cursor="2"), error, page(ITEMS, end="e"))
    envelope = await reading.read(source)
    assert reasons(envelope) == [Reason.CURSOR_EXPIRED]
    assert [detail for method, detail in source.calls if method == "fetch"] == [None, "2"]
    assert envelope.completeness.continuation is not None
    assert envelope.completeness.continuation.way is Way.RESTART
    assert not envelope.completeness.continuation.preserves_snapshot


# --- ways on ----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R9")
@EACH_REASON
async def test_a_continuation_never_has_a_cursor_that_the_source_did_not_give(reading, code):
    """The usual way on for a reason has no cursor; only a source can give one."""
    envelope = await reading.read(scripted(page(ITEMS, end="e", reasons=(Incompleteness(code=code),))))
    way = envelope.completeness.continuation
    assert way is None or (way.cursor is None and way.way is not Way.NEXT_CURSOR and way.hint != "")


@pytest.mark.requirement("R9")
async def test_what_the_source_says_of_going_on_is_passed_on(reading):
    """A stated waiting time and a given cursor reach the envelope unchanged."""
    way = Continuation(way=Way.RETRY_AFTER, preserves_snapshot=True, after_seconds=30, cursor="9")
    error = SourceError(Incompleteness(code=Reason.RATE_LIMITED), continuation=way)
    assert (await reading.read(scripted(page(ITEMS, cursor="2"), error))).completeness.continuation == way


@pytest.mark.requirement("R9")
async def test_of_several_reasons_the_one_without_a_way_decides(reading):
    """Waiting does not help where something is hidden: then no way on is named."""
    found = (Incompleteness(code=Reason.RATE_LIMITED), Incompleteness(code=Reason.VISIBILITY_RESTRICTED))
    envelope = await reading.read(scripted(page(ITEMS, end="e", reasons=found)))
    assert envelope.completeness.continuation is None
    assert envelope.decision() is Decision.REFUSE_OR_REQUEST_REVIEW


# --- visibility and canaries ------------------------------------------------------------------------------------------


@pytest.mark.requirement("R3", "R6")
@LISTS
async def test_a_restricted_reader_never_makes_a_complete_read(reading, rows):
    """What the source hides makes the answer partial, however successful the exchange was."""
    envelope = await reading.read(scripted(page(rows, end="e"), visibility="restricted"))
    assert reasons(envelope) == [Reason.VISIBILITY_RESTRICTED]
    assert envelope.scope.visibility == "restricted"


@pytest.mark.requirement("R3")
@LISTS
async def test_a_canary_that_is_not_seen_means_that_visibility_was_lost(reading, rows):
    """The canary's own text stands in the reason, with full and with empty lists."""
    resource = fake_resource()
    inventory = fake_inventory(resource, expects=(equals(resource, "id", "svc-canary"),))
    envelope = await reading.read(scripted(page(rows, end="e"), visibility="unknown"), inventory)
    assert reasons(envelope) == [Reason.VISIBILITY_RESTRICTED]
    assert 'id == "svc-canary"' in envelope.completeness.reasons[0].detail
    assert (envelope.work.canaries_expected, envelope.work.canaries_seen) == (1, 0)


async def test_a_canary_counts_as_seen_only_where_its_test_is_true(reading):
    """A row of which the canary's field is unknown is not the canary."""
    resource = fake_resource()
    inventory = fake_inventory(resource, expects=(equals(resource, "owner", "x"), equals(resource, "id", "b")))
    hidden = [{"id": "a", "owner": 5}, {"id": "b", "owner": None}]
    envelope = await reading.read(scripted(page(hidden, end="e")), inventory)
    assert (envelope.work.canaries_expected, envelope.work.canaries_seen) == (2, 1)
    assert 'owner == "x"' in envelope.completeness.reasons[0].detail


async def test_a_canary_on_a_page_that_was_not_read_is_not_called_hidden(reading):
    """A read cut short says why it was cut short, and nothing about what the rest would have shown."""
    resource = fake_resource()
    inventory = fake_inventory(resource, expects=(equals(resource, "id", "z"),))
    envelope = await reading.read(scripted(page(ITEMS, cursor="2")), inventory, max_pages=1)
    assert reasons(envelope) == [Reason.CLIENT_LIMIT_REACHED, Reason.MORE_PAGES_AVAILABLE]
    assert envelope.work.canaries_seen == 0

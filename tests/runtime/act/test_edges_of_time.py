"""The edges of time, to the second: windows where a clock is changed, freezes, approvals and evidence."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from tests.runtime.act.test_guard import ALLOWED, DIGEST, NOW
from tests.support.stores import THREE_DAYS, TTL, Office, lock

from fullcount.compiler.windows import is_open, parse_window
from fullcount.runtime.act.guard import ApprovalFacts, EvidenceAge, guard
from fullcount.runtime.act.opening import opening
from fullcount.runtime.store.errors import ApprovalRefused
from fullcount.runtime.workspace.freezes import Freeze

pytestmark = pytest.mark.requirement("R24", "R26")

SECOND = timedelta(seconds=1)

BERLIN, NEW_YORK, SYDNEY = "Europe/Berlin", "America/New_York", "Australia/Sydney"

# zone, window, then the instants (UTC) at which it opens and closes, in turn
FORWARD = [
    (BERLIN, "daily 02:30-04:00", "2026-03-29T01:00", "2026-03-29T02:00"),
    (BERLIN, "daily 00:30-02:30", "2026-03-28T23:30", "2026-03-29T01:00"),
    (BERLIN, "Sat 22:00-03:30", "2026-03-28T21:00", "2026-03-29T01:30"),
    (NEW_YORK, "daily 02:30-04:00", "2026-03-08T07:00", "2026-03-08T08:00"),
    (NEW_YORK, "daily 00:30-02:30", "2026-03-08T05:30", "2026-03-08T07:00"),
    (NEW_YORK, "Sat 22:00-03:30", "2026-03-08T03:00", "2026-03-08T07:30"),
    (SYDNEY, "daily 02:30-04:00", "2026-10-03T16:00", "2026-10-03T17:00"),
    (SYDNEY, "Sat 22:00-03:30", "2026-10-03T12:00", "2026-10-03T16:30"),
]
BACK = [
    (BERLIN, "daily 02:15-02:45", "2026-10-25T00:15", "2026-10-25T00:45", "2026-10-25T01:15", "2026-10-25T01:45"),
    (BERLIN, "daily 01:30-02:30", "2026-10-24T23:30", "2026-10-25T00:30", "2026-10-25T01:00", "2026-10-25T01:30"),
    (BERLIN, "Sat 22:00-02:30", "2026-10-24T20:00", "2026-10-25T00:30", "2026-10-25T01:00", "2026-10-25T01:30"),
    (NEW_YORK, "daily 01:15-01:45", "2026-11-01T05:15", "2026-11-01T05:45", "2026-11-01T06:15", "2026-11-01T06:45"),
    (NEW_YORK, "Sat 22:00-01:30", "2026-11-01T02:00", "2026-11-01T05:30", "2026-11-01T06:00", "2026-11-01T06:30"),
    (SYDNEY, "daily 02:15-02:45", "2026-04-04T15:15", "2026-04-04T15:45", "2026-04-04T16:15", "2026-04-04T16:45"),
    (SYDNEY, "Sat 22:00-02:30", "2026-04-04T11:00", "2026-04-04T15:30", "2026-04-04T16:00", "2026-04-04T16:30"),
]


def utc(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}+00:00")


@pytest.mark.parametrize(("zone", "text", "edges"), [(zone, text, edges) for zone, text, *edges in (*FORWARD, *BACK)])
def test_a_window_opens_and_closes_to_the_second_when_the_clock_is_changed(zone, text, edges):
    """Closed one second before it opens, open at that instant and one after; the other way round when it closes."""
    window = parse_window(text, zone)
    for number, edge in enumerate(map(utc, edges)):
        opens = number % 2 == 0
        around = [guard(_at(moment, windows=(window,))) for moment in (edge - SECOND, edge, edge + SECOND)]
        expected = ["FC774", None, None] if opens else [None, "FC774", "FC774"]
        assert [None if finding is None else finding.code for finding in around] == expected, edge
        if opens:
            assert opening((window,), (), edge - SECOND) == edge


@pytest.mark.parametrize(
    ("zone", "gap"),
    [(BERLIN, "2026-03-29T01:00"), (NEW_YORK, "2026-03-08T07:00"), (SYDNEY, "2026-10-03T16:00")],
)
def test_a_window_within_the_time_that_is_left_out_does_not_open_that_day(zone, gap):
    """The clock on the wall never shows it; the next day it does."""
    window = parse_window("daily 02:15-02:45", zone)
    instants = [utc(gap) + minutes * timedelta(minutes=1) for minutes in range(-60, 61)]
    assert not any(is_open(window, at) for at in (*instants, utc(gap) - SECOND, utc(gap) + SECOND))
    assert opening((window,), (), utc(gap)) == utc(gap) + timedelta(hours=23, minutes=15)


def _at(moment: datetime, **changes):
    approval = ApprovalFacts(DIGEST, moment + timedelta(days=1))
    return replace(ALLOWED, **{"at": moment, "evidence": (), "approval": approval} | changes)


HOUR = timedelta(hours=1)
EDGES = {
    "a freeze begins": ({"freezes": (Freeze(NOW, NOW + HOUR, "x"),)}, [None, "FC775", "FC775"]),
    "a freeze ends": ({"freezes": (Freeze(NOW - HOUR, NOW, "x"),)}, ["FC775", None, None]),
    "an approval expires": ({"approval": ApprovalFacts(DIGEST, NOW)}, [None, "FC708", "FC708"]),
    "evidence grows old": ({"evidence": (EvidenceAge("people", NOW - HOUR, HOUR),)}, [None, None, "FC761"]),
    "evidence is of now": ({"evidence": (EvidenceAge("people", NOW, HOUR),)}, ["FC761", None, None]),
}


@pytest.mark.parametrize("edge", EDGES)
def test_what_holds_for_a_time_ends_to_the_second(edge):
    """One second before, at the instant, one after."""
    changes, expected = EDGES[edge]
    found = [guard(_at(moment, **changes)) for moment in (NOW - SECOND, NOW, NOW + SECOND)]
    assert [None if finding is None else finding.code for finding in found] == expected


@pytest.mark.requirement("R39")
def test_the_ledger_takes_an_intent_until_the_second_before_its_approval_expires(tmp_path):
    """The store keeps the same edge as the guard, in the transaction of the intent itself."""
    with Office(tmp_path) as office:
        edge_of_the_ledger(office)


def edge_of_the_ledger(office):
    plan, run_id, _ = office.applying("a", "b")
    office.clock.forward(microseconds=THREE_DAYS, seconds=-1)
    plan_id = plan.document.plan_id
    fence = office.store.claim_plan(plan_id, run_id, TTL)
    assert office.store.record_intents(plan_id, run_id, fence, [lock("a")])[0].fresh
    office.clock.forward(seconds=1)
    with pytest.raises(ApprovalRefused) as found:
        office.store.record_intents(plan_id, run_id, fence, [lock("b")])
    assert found.value.code == "FC708"

"""Planned instants: which are due, which are caught up, and each local day once, whatever the clocks do."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.profiles import examples

from fullcount.compiler.program import Schedule
from fullcount.runtime.schedule.slots import BACKLOG, ON_TIME, SlotVerdict, due_slots, fires_daily

SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)
BERLIN = "Europe/Berlin"


def schedule(cron="0 2 * * *", *, every=None, zone="UTC", catch_up=None):
    micros = None if catch_up is None else catch_up // timedelta(microseconds=1)
    period = None if every is None else every // timedelta(microseconds=1)
    return Schedule(None if every else cron, period, zone, micros)


def at(*parts):
    return datetime(*parts, tzinfo=UTC)


def verdicts(slots):
    return [(slot.planned_at, slot.verdict) for slot in slots]


# -- what is not run ---------------------------------------------------------------------------------------------------


def test_slot_that_is_too_late_is_missed_and_says_how_late():
    """Without `catch up`, a slot that nobody picked up in time is not run, but it is shown."""
    (slot,) = due_slots(schedule(), at(2026, 11, 29, 2), at(2026, 11, 30, 2, 10))
    assert (slot.verdict, slot.planned_at) == (SlotVerdict.MISSED, at(2026, 11, 30, 2))
    assert "10 min late" in slot.reason


def test_slot_beyond_catch_up_is_missed():
    """`catch up within 4h` is a bound: a slot that is 4 h and one second late is missed."""
    rule = schedule(catch_up=4 * HOUR)
    late = at(2026, 11, 30, 6, 0, 1)
    assert due_slots(rule, at(2026, 11, 29, 2), late)[0].verdict is SlotVerdict.MISSED
    assert due_slots(rule, at(2026, 11, 29, 2), late - SECOND)[0].verdict is SlotVerdict.RUN


def test_of_several_missed_slots_only_the_latest_is_caught_up():
    """A clean-up that was down for three nights is not done three times."""
    slots = due_slots(schedule(catch_up=4 * HOUR), at(2026, 11, 27, 2), at(2026, 11, 30, 4))
    assert verdicts(slots) == [
        (at(2026, 11, 28, 2), SlotVerdict.MISSED),
        (at(2026, 11, 29, 2), SlotVerdict.MISSED),
        (at(2026, 11, 30, 2), SlotVerdict.RUN),
    ]
    assert "later slot" in slots[0].reason
    assert slots[2].reason == "caught up 120 min late"


def test_early_alarm_finds_nothing_due():
    """An alarm that rings a moment before the slot changes nothing (C03)."""
    assert due_slots(schedule(), at(2026, 11, 29, 2), at(2026, 11, 30, 2) - timedelta(microseconds=1)) == []


def test_doubled_alarm_finds_nothing_due_once_the_slot_is_known():
    """The latest known slot is the lower bound, so that a second alarm finds nothing (C04)."""
    now = at(2026, 11, 30, 2, 0, 5)
    (slot,) = due_slots(schedule(), at(2026, 11, 29, 2), now)
    assert due_slots(schedule(), slot.planned_at, now) == []


# -- what is run -------------------------------------------------------------------------------------------------------


def test_slots_are_planned_after_the_known_one_and_up_to_now():
    """Half open: the instant that is known is not due again, the present one is."""
    instant = at(2026, 11, 30, 2)
    assert verdicts(due_slots(schedule(), instant - SECOND, instant)) == [(instant, SlotVerdict.RUN)]
    assert due_slots(schedule(), instant, instant + SECOND) == []
    assert due_slots(schedule(), instant - SECOND, instant - SECOND) == []


def test_late_alarm_runs_the_slot_under_its_planned_instant():
    """A slot is known by when it was planned, never by when an alarm happened to ring."""
    (slot,) = due_slots(schedule(), at(2026, 11, 29, 2), at(2026, 11, 30, 2) + ON_TIME)
    assert (slot.planned_at, slot.verdict, slot.reason) == (at(2026, 11, 30, 2), SlotVerdict.RUN, "on time")


def test_long_pause_lists_the_latest_slots_only():
    """After a long pause not half a million rows are written; the newest ones are there."""
    now = at(2026, 11, 30)
    slots = due_slots(schedule(every=timedelta(minutes=10)), now - timedelta(days=60), now)
    assert len(slots) == BACKLOG
    assert slots[-1].planned_at == now


def test_period_counts_from_the_epoch_so_that_hosts_agree():
    """Two hosts that look at different instants name the same slots."""
    rule = schedule(every=timedelta(seconds=7))
    one = due_slots(rule, at(2026, 11, 30, 2, 0, 3), at(2026, 11, 30, 2, 0, 40))
    other = due_slots(rule, at(2026, 11, 30, 1, 59, 59), at(2026, 11, 30, 2, 0, 33))
    shared = {slot.planned_at for slot in one} & {slot.planned_at for slot in other}
    assert len(shared) == 4


# -- clocks that change ------------------------------------------------------------------------------------------------


def days_served(rule, start, until, step):
    """Look at regular instants as a service does, one row a slot and a local day once; return what was run by day."""
    zone = ZoneInfo(rule.timezone)
    since, now, runs, taken = start, start, {}, set()
    while now <= until:
        for slot in due_slots(rule, since, now):
            since = slot.planned_at
            if slot.local_day in taken:
                continue
            taken.add(slot.local_day)
            if slot.verdict is SlotVerdict.RUN:
                day = slot.planned_at.astimezone(zone).date()
                runs[day] = runs.get(day, 0) + 1
        now += step
    return runs


@pytest.mark.requirement("C01")
@pytest.mark.parametrize(
    ("cron", "start"),
    [
        ("30 2 * * *", date(2026, 3, 26)),  # 02:30 does not exist on the 29th
        ("30 2 * * *", date(2026, 10, 22)),  # 02:30 comes twice on the 25th
        ("0 2 * * *", date(2026, 3, 26)),
        ("0 3 * * *", date(2026, 10, 22)),
        ("59 2 * * *", date(2026, 10, 22)),
        ("0 0 * * *", date(2026, 10, 22)),
    ],
)
def test_each_local_day_runs_exactly_once_when_the_clocks_change(cron, start):
    """In the night of the gap and in the night of the overlap as in any other: once."""
    begin = datetime(start.year, start.month, start.day, 12, tzinfo=UTC)
    runs = days_served(schedule(cron, zone=BERLIN, catch_up=4 * HOUR), begin, begin + timedelta(days=6), HOUR / 4)
    assert runs == {start + timedelta(days=n): 1 for n in range(1, 7)}


@pytest.mark.requirement("C01")
@given(
    st.integers(0, 23),
    st.integers(0, 59),
    st.sampled_from(
        ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "America/Santiago"]
    ),
    st.integers(0, 364),
)
@examples(150)
def test_daily_schedule_runs_each_local_day_once_in_any_zone(hour, minute, zone, day):
    """Whatever the hour and the zone's rules are, no local day is left out and none is run twice."""
    rule = schedule(f"{minute} {hour} * * *", zone=zone, catch_up=6 * HOUR)
    here = ZoneInfo(zone)
    first = date(2026, 1, 1) + timedelta(days=day)
    # from local midnight on, so that the first day is whole
    begin = datetime(first.year, first.month, first.day, tzinfo=here).astimezone(UTC) - SECOND
    last = (begin + timedelta(days=5)).astimezone(here).date()
    runs = days_served(rule, begin, begin + timedelta(days=5), timedelta(minutes=30))
    assert set(runs.values()) <= {1}
    wanted = {first + timedelta(days=n) for n in range((last - first).days)}
    assert wanted <= set(runs)


def test_only_a_fixed_minute_and_hour_is_daily():
    """`local_day` binds schedules that fire once a day; hourly ones run each time."""
    assert fires_daily(schedule("30 2 * * *"))
    assert fires_daily(schedule("30 2 * * 1-5"))
    for cron in ("* 2 * * *", "30 * * * *", "0,30 2 * * *", "30 1-2 * * *", "*/5 2 * * *"):
        assert not fires_daily(schedule(cron))
    assert not fires_daily(schedule(every=timedelta(days=1)))


def test_hourly_schedule_runs_both_hours_of_the_overlap():
    """Only daily schedules are bound to a local day: an hourly one has 25 runs on that day."""
    start = datetime(2026, 10, 25, tzinfo=ZoneInfo(BERLIN)).astimezone(UTC)
    slots = due_slots(schedule("0 * * * *", zone=BERLIN), start - SECOND, start + timedelta(hours=25) - SECOND)
    assert len(slots) == 25
    assert {slot.local_day for slot in slots} == {None}


# -- in general --------------------------------------------------------------------------------------------------------

INSTANTS = st.integers(0, 2 * 365 * 86_400).map(lambda seconds: at(2026, 1, 1) + timedelta(seconds=seconds))
RULES = st.one_of(
    st.sampled_from(["0 2 * * *", "15,45 * * * *", "*/7 3 * * 1", "0 0 1 * *"]).flatmap(
        lambda cron: st.builds(
            schedule, st.just(cron), zone=st.sampled_from(["UTC", BERLIN]), catch_up=st.sampled_from([None, 4 * HOUR])
        )
    ),
    st.integers(600, 90_000).map(lambda seconds: schedule(every=timedelta(seconds=seconds))),
)


@given(RULES, INSTANTS, st.lists(st.integers(0, 86_400), min_size=1, max_size=8))
@examples(300)
def test_looking_often_or_seldom_finds_the_same_instants(rule, start, pauses):
    """However often an alarm rings, the planned instants are the same; only lateness differs."""
    since, now, found = start, start, []
    for pause in pauses:
        now += timedelta(seconds=pause)
        for slot in due_slots(rule, since, now):
            found.append(slot.planned_at)
            since = slot.planned_at
    at_once = due_slots(rule, start, now)
    assert found[-BACKLOG:] == [slot.planned_at for slot in at_once]
    assert all(start < slot.planned_at <= now for slot in at_once)
    assert found == sorted(set(found))


@given(RULES, INSTANTS, st.integers(0, 30 * 86_400))
@examples(300)
def test_at_most_the_latest_slot_runs(rule, start, seconds):
    """Whatever was slept through: at most one slot runs, it is the latest, and it is on time or within its bound."""
    now = start + timedelta(seconds=seconds)
    slots = due_slots(rule, start, now)
    for slot in [slot for slot in slots if slot.verdict is SlotVerdict.RUN]:
        assert slot is slots[-1]
        catch_up = timedelta(microseconds=rule.catch_up or 0)
        assert now - slot.planned_at <= max(ON_TIME, catch_up)
    assert all(slot.reason for slot in slots)

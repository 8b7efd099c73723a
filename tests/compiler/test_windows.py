"""Windows: what is refused, and when each is open, to the second, also where clocks are changed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.compiling import codes, only, underlined, with_rule, workflow

from fullcount.compiler.program import Window
from fullcount.compiler.windows import DAYS, is_open, next_opening, parse_window

PLAIN = with_rule("a.locked")
UNDO = "undo directory.update(id: a.id, locked: false)"
BERLIN = "Europe/Berlin"


def acting(clause: str) -> str:
    return PLAIN.replace(UNDO, f"{UNDO}\n    {clause}")


def utc(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}+00:00")


@pytest.mark.parametrize(
    ("clause", "code", "place"),
    [
        ('window "Mon 09:00-09:00"', "FC531", '"Mon 09:00-09:00"'),
        ('window "00:00-00:00"', "FC531", '"00:00-00:00"'),
        ('window ""', "FC532", '""'),
        ('window "Mon"', "FC532", '"Mon"'),
        ('window "Mon 9:00-16:00"', "FC532", '"Mon 9:00-16:00"'),
        ('window "Mon 09:00"', "FC532", '"Mon 09:00"'),
        ('window "Mon 09:00-25:00"', "FC532", '"Mon 09:00-25:00"'),
        ('window "Mon 24:00-09:00"', "FC532", '"Mon 24:00-09:00"'),
        ('window "Mon 09:60-16:00"', "FC532", '"Mon 09:60-16:00"'),
        ('window "Mon 09:00-24:01"', "FC532", '"Mon 09:00-24:01"'),
        ('window "Mo 09:00-16:00"', "FC532", '"Mo 09:00-16:00"'),
        ('window "Mon,, Tue 09:00-16:00"', "FC532", '"Mon,, Tue 09:00-16:00"'),
        ('window "Mon- 09:00-16:00"', "FC532", '"Mon- 09:00-16:00"'),
        ('window "Mon-Thu 09:00-16:00, Fri 09:00-12:00"', "FC532", '"Mon-Thu 09:00-16:00, Fri 09:00-12:00"'),
        ('window "Mon 09:00-16:00" timezone "Europe/Berln"', "FC506", '"Europe/Berln"'),
        ('window "Mon 09:00-16:00" window "mon 09:00-16:00"', "FC003", 'window "mon 09:00-16:00"'),
    ],
)
def test_a_window_that_never_opens_or_can_not_be_read_is_refused(clause, code, place):
    """Each at its own place; nothing is guessed."""
    text = acting(clause)
    assert (only(text).code, only(text).severity, underlined(text)) == (code, "error", place)


@pytest.mark.parametrize(
    ("text", "days", "start", "end"),
    [
        ("Mon-Thu 09:00-16:00", (0, 1, 2, 3), 540, 960),
        ("mon , FRI 09:00 - 16:30", (0, 4), 540, 990),
        ("Fri-Mon 00:00-24:00", (0, 4, 5, 6), 0, 1440),
        ("Sat 22:00-04:00", (5,), 1320, 240),
        ("daily 22:00-04:00", tuple(range(7)), 1320, 240),
        ("22:00-00:00", tuple(range(7)), 1320, 0),
    ],
)
def test_a_window_is_read_as(text, days, start, end):
    """Days and minutes; a range of days may go over the weekend, one of times over midnight."""
    assert parse_window(text, BERLIN) == Window(days, start, end, BERLIN, text)


def test_several_windows_are_kept_in_the_program_and_without_a_zone_they_are_in_utc():
    """The zone is part of the program, never that of the machine."""
    text = acting('window "Mon 09:00-16:00" timezone "Europe/Berlin" window "Fri 09:00-12:00"')
    assert codes(text) == []
    (act,) = workflow(text).acts
    assert [(window.text, window.timezone) for window in act.windows] == [
        ("Mon 09:00-16:00", BERLIN),
        ("Fri 09:00-12:00", "UTC"),
    ]
    assert workflow(PLAIN).acts[0].windows == ()


TABLE = [
    # an ordinary winter day in Berlin, one hour ahead: half-open, to the microsecond
    ("Mon-Thu 09:00-16:00", "2026-11-30T07:59:59.999999", False),
    ("Mon-Thu 09:00-16:00", "2026-11-30T08:00:00", True),
    ("Mon-Thu 09:00-16:00", "2026-11-30T14:59:59.999999", True),
    ("Mon-Thu 09:00-16:00", "2026-11-30T15:00:00", False),
    ("Mon-Thu 09:00-16:00", "2026-12-04T12:00:00", False),  # a Friday
    ("Mon-Thu 09:00-16:00", "2026-07-06T06:59:59", False),  # in summer, two hours ahead
    ("Mon-Thu 09:00-16:00", "2026-07-06T07:00:00", True),
    ("Mon-Thu 00:00-24:00", "2026-11-29T22:59:59", False),
    ("Mon-Thu 00:00-24:00", "2026-11-29T23:00:00", True),
    ("Mon-Thu 00:00-24:00", "2026-12-03T22:59:59", True),
    ("Mon-Thu 00:00-24:00", "2026-12-03T23:00:00", False),
    # over midnight: the morning belongs to the day before
    ("Fri 22:00-04:00", "2026-12-04T20:59:59", False),
    ("Fri 22:00-04:00", "2026-12-04T21:00:00", True),
    ("Fri 22:00-04:00", "2026-12-05T02:59:59", True),
    ("Fri 22:00-04:00", "2026-12-05T03:00:00", False),
    ("Fri 22:00-04:00", "2026-12-04T02:00:00", False),  # the morning before
    ("Fri 22:00-00:00", "2026-12-04T22:59:59", True),
    ("Fri 22:00-00:00", "2026-12-04T23:00:00", False),
    # 29 March 2026: 02:00 is followed by 03:00
    ("Sun 01:30-03:30", "2026-03-29T00:29:59", False),
    ("Sun 01:30-03:30", "2026-03-29T00:30:00", True),
    ("Sun 01:30-03:30", "2026-03-29T00:59:59", True),
    ("Sun 01:30-03:30", "2026-03-29T01:00:00", True),
    ("Sun 01:30-03:30", "2026-03-29T01:29:59", True),
    ("Sun 01:30-03:30", "2026-03-29T01:30:00", False),
    ("Sun 02:00-03:00", "2026-03-29T00:59:59", False),
    ("Sun 02:00-03:00", "2026-03-29T01:00:00", False),
    ("Sun 02:30-05:00", "2026-03-29T00:59:59", False),
    ("Sun 02:30-05:00", "2026-03-29T01:00:00", True),
    # 25 October 2026: 02:00 to 03:00 is shown twice
    ("Sun 02:00-02:30", "2026-10-24T23:59:59", False),
    ("Sun 02:00-02:30", "2026-10-25T00:00:00", True),
    ("Sun 02:00-02:30", "2026-10-25T00:29:59", True),
    ("Sun 02:00-02:30", "2026-10-25T00:30:00", False),
    ("Sun 02:00-02:30", "2026-10-25T00:59:59", False),
    ("Sun 02:00-02:30", "2026-10-25T01:00:00", True),
    ("Sun 02:00-02:30", "2026-10-25T01:29:59", True),
    ("Sun 02:00-02:30", "2026-10-25T01:30:00", False),
    ("Sat 22:00-04:00", "2026-10-25T02:59:59", True),
    ("Sat 22:00-04:00", "2026-10-25T03:00:00", False),
]


@pytest.mark.parametrize(("text", "at", "expected"), TABLE)
def test_a_window_is_open_while_the_clock_on_the_wall_shows_a_time_in_it(text, at, expected):
    """From its first time up to, and not at, its second one, on ordinary days and on those with a change."""
    assert is_open(parse_window(text, BERLIN), utc(at)) is expected


@pytest.mark.parametrize(
    ("text", "zone", "at", "expected"),
    [
        ("Mon-Thu 09:00-16:00", BERLIN, "2026-11-30T09:00:00", "2026-11-30T09:00:00"),
        ("Mon-Thu 09:00-16:00", BERLIN, "2026-11-30T15:00:00", "2026-12-01T08:00:00"),
        ("Mon-Thu 09:00-16:00", BERLIN, "2026-12-03T15:00:00", "2026-12-07T08:00:00"),
        ("Mon 09:00-16:00", BERLIN, "2026-03-23T15:00:00", "2026-03-30T07:00:00"),
        ("Sun 02:00-03:00", BERLIN, "2026-03-22T02:00:00", "2026-04-05T00:00:00"),  # left out on the 29th
        ("Sun 02:30-05:00", BERLIN, "2026-03-29T00:00:00", "2026-03-29T01:00:00"),
        ("Sun 02:00-02:30", BERLIN, "2026-10-25T00:30:00", "2026-10-25T01:00:00"),
        ("Sun 02:15-02:45", BERLIN, "2026-10-25T00:45:00", "2026-10-25T01:15:00"),
        ("Fri 22:00-04:00", BERLIN, "2026-12-04T12:00:00", "2026-12-04T21:00:00"),
        ("Sun 01:45-02:00", "Australia/Lord_Howe", "2026-04-04T15:00:00", "2026-04-04T15:15:00"),  # by half an hour
        ("daily 00:00-00:30", "Asia/Kathmandu", "2026-01-01T00:00:00", "2026-01-01T18:15:00"),
    ],
)
def test_the_next_opening_is_named_to_the_second(text, zone, at, expected):
    """Also across changes of the clock."""
    assert next_opening([parse_window(text, zone)], utc(at)) == utc(expected)


def test_of_several_windows_the_first_to_open_counts_and_without_any_it_is_always_open():
    """They are a choice, not a condition."""
    windows = [parse_window("Mon 09:00-16:00", BERLIN), parse_window("Sat 10:00-11:00", "UTC")]
    assert next_opening(windows, utc("2026-12-01T00:00:00")) == utc("2026-12-05T10:00:00")
    assert next_opening([], utc("2026-12-01T00:00:00")) == utc("2026-12-01T00:00:00")


ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Asia/Kathmandu", "UTC")
MINUTES = st.integers(0, 47).map(lambda half: half * 30)


@given(
    days=st.sets(st.sampled_from(DAYS), min_size=1),
    start=MINUTES,
    end=MINUTES,
    zone=st.sampled_from(ZONES),
    second=st.integers(0, 366 * 86_400),
    part=st.floats(0, 1, exclude_max=True),
)
def test_nothing_is_open_before_the_next_opening_and_it_is_open_then(days, start, end, zone, second, part):
    """Whatever the zone, the day and the window."""
    if start == end:
        return
    window = Window(tuple(sorted(DAYS.index(day) for day in days)), start, end, zone, "")
    at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=second)
    opens = next_opening([window], at)
    assert is_open(window, opens)
    assert opens == at or not is_open(window, opens - timedelta(seconds=1))
    between = at + (opens - at) * part
    assert between == opens or not is_open(window, between)

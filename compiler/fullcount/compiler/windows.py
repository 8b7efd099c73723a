"""Windows: when an act may happen, as a clock on a wall in the named zone shows it.

`"Mon-Thu 09:00-16:00"` is open while that clock shows one of these days and a time from 09:00 up to, and not at, 16:00.
`"Fri 22:00-04:00"` goes on after midnight and belongs to the day on which it began. Where a clock is set forward, the
times that it leaves out never come; where it is set back, those that it shows twice are open twice. This is the whole
definition, so that nobody has to work out an offset to know whether something may happen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta, tzinfo

from fullcount.compiler import program
from fullcount.compiler.report import error
from fullcount.compiler.schedule import DEFAULT_TIMEZONE, ScheduleError, zone_of
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostics, Label

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_DAY_MINUTES = 24 * 60
_LONGEST = timedelta(days=30)
"""A window opens at least once a week, save for one whose hour is left out when the clock is set forward."""

_TEXT = r"(?:(?P<days>[A-Za-z][A-Za-z, -]*)\s+)?(?P<start>[0-9]{2}:[0-9]{2})\s*-\s*(?P<end>[0-9]{2}:[0-9]{2})"


class WindowError(ValueError):
    """A window that can't be read. The message is for people."""


class NeverOpenError(WindowError):
    """A window that can be read and is never open."""


def parse_window(text: str, timezone: str) -> program.Window:
    """Return the window that a text stands for. Raises `WindowError`; the zone is not looked at."""
    match = re.fullmatch(_TEXT, text.strip())
    if match is None:
        raise WindowError("a window is days and two times")
    days = _days(match["days"])
    start, end = _minutes(match["start"], most=_DAY_MINUTES - 1), _minutes(match["end"], most=_DAY_MINUTES)
    if start == end:
        raise NeverOpenError(f"it opens and closes at {match['start']}")
    return program.Window(days, start, end, timezone, text)


def _days(text: str | None) -> tuple[int, ...]:
    if text is None or text.lower() == "daily":
        return tuple(range(len(DAYS)))
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = (piece.strip() for piece in part.partition("-"))
        begins = _day(first)
        length = (_day(last) - begins) % len(DAYS) if dash else 0
        found |= {(begins + offset) % len(DAYS) for offset in range(length + 1)}
    return tuple(sorted(found))


def _day(text: str) -> int:
    if text.title() not in DAYS:
        raise WindowError(f"`{text}` is not a day" if text else "a day is missing")
    return DAYS.index(text.title())


def _minutes(text: str, *, most: int) -> int:
    hour, minute = map(int, text.split(":"))
    found = hour * 60 + minute
    if minute > 59 or found > most:
        raise WindowError(f"`{text}` is not a time of the day")
    return found


def is_open(window: program.Window, at: datetime) -> bool:
    """Whether the window is open at an instant (aware)."""
    local = at.astimezone(zone_of(window.timezone))
    day, now = local.weekday(), local.time()
    start = _time(window.start)
    before_end = window.end == _DAY_MINUTES or now < _time(window.end)
    if window.start < window.end:
        return day in window.days and start <= now and before_end
    began_yesterday = (day - 1) % len(DAYS) in window.days
    return (day in window.days and now >= start) or (began_yesterday and before_end)


def next_opening(windows: Sequence[program.Window], at: datetime) -> datetime:
    """Return the first instant from `at` (aware) on at which one of the windows is open; `at` itself without any."""
    if len(windows) == 0 or any(is_open(window, at) for window in windows):
        return at
    moments = sorted({moment for window in windows for moment in _moments(window, at) if moment > at})
    return next(moment for moment in moments if any(is_open(window, moment) for window in windows))


def _moments(window: program.Window, at: datetime) -> Iterator[datetime]:
    """Yield every instant within the next days at which the window could open: its starts, and changes of the clock."""
    zone = zone_of(window.timezone)
    first = at.astimezone(zone).date()
    for days in range(-1, _LONGEST.days):
        for fold in (0, 1):
            start = datetime.combine(first + timedelta(days=days), _time(window.start), zone).replace(fold=fold)
            yield start.astimezone(UTC)
    yield from _changes(zone, at, at + _LONGEST)


def _changes(zone: tzinfo, start: datetime, end: datetime) -> Iterator[datetime]:
    """Yield the instants at which the offset of a zone changes, to the second."""
    step = timedelta(hours=1)
    before = start.astimezone(UTC).replace(microsecond=0)
    while before < end:
        after = before + step
        if before.astimezone(zone).utcoffset() != after.astimezone(zone).utcoffset():
            low, high = before, after
            while high - low > timedelta(seconds=1):
                middle = (low + (high - low) / 2).replace(microsecond=0)
                changed = middle.astimezone(zone).utcoffset() != low.astimezone(zone).utcoffset()
                low, high = (low, middle) if changed else (middle, high)
            yield high
        before = after


def _time(minutes: int) -> time:
    return time(minutes // 60 % 24, minutes % 60)


def check_windows(decls: Sequence[tree.WindowDecl], sink: Diagnostics) -> tuple[program.Window, ...] | None:
    """Check the windows of an act: readable, in a zone that there is, and each opening at some time."""
    made: list[program.Window] = []
    first: dict[program.Window, tree.WindowDecl] = {}
    failed = False
    for decl in decls:
        window = _checked(decl, sink)
        if window is None:
            failed = True
            continue
        same = replace(window, text="")
        if same in first:
            failed = True
            error(
                sink,
                "FC003",
                "this window is given twice",
                decl.span,
                labels=(Label(first[same].span, "first given here"),),
                help="remove one of them, or say the time that was meant",
            )
        first.setdefault(same, decl)
        made.append(window)
    return None if failed else tuple(made)


def _checked(decl: tree.WindowDecl, sink: Diagnostics) -> program.Window | None:
    timezone = DEFAULT_TIMEZONE if decl.timezone is None else decl.timezone
    try:
        zone_of(timezone)
        return parse_window(decl.text, timezone)
    except ScheduleError as problem:
        span = decl.text_span if decl.timezone_span is None else decl.timezone_span
        error(sink, "FC506", str(problem), span, help='write a name as `"Europe/Berlin"` or `"UTC"`')
    except NeverOpenError as problem:
        error(
            sink,
            "FC531",
            f"this window never opens: {problem}",
            decl.text_span,
            why="nothing that was approved would ever be done",
            help='for a whole day write `"Mon 00:00-24:00"`; to switch an act off, give its proposal `limit 0`',
        )
    except WindowError as problem:
        error(
            sink,
            "FC532",
            f"this window can't be read: {problem}",
            decl.text_span,
            why="a window that is read in another way than it was meant opens at another time",
            help='days and times, as `"Mon-Thu 09:00-16:00"`, `"Sat,Sun 22:00-04:00"` or `"daily 00:00-24:00"`',
        )
    return None

"""When a workflow runs: cron texts and periods, checked, and the instants they fire at.

Cron times are local to the schedule's time zone and right across changes of the clock (the library's business, not
ours). A period counts from the Unix epoch, so that two hosts agree on its slots without talking to each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice, takewhile

from fullcount.compiler.program import Schedule
from fullcount.compiler.report import error, warning
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Diagnostics
from fullcount.dsl.source import Span

DEFAULT_TIMEZONE = "UTC"
MAX_FIRES_A_DAY = 24
_SHOWN_FIRES = 5
_COUNTED_FIRES = 1441
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = datetime(9990, 1, 1, tzinfo=UTC)
_REFERENCE = datetime(2024, 1, 1, tzinfo=UTC)
"""Checks must not depend on the day they run: they look at the fires from this Monday on."""


class ScheduleError(ValueError):
    """A schedule that cannot be read. The message is for people; `part` is `cron` or `timezone`."""

    def __init__(self, message: str, part: str) -> None:
        super().__init__(message)
        self.part = part


def next_fires(schedule: Schedule, after: datetime, count: int) -> list[datetime]:
    """Return the next `count` fire times strictly after `after` (aware), in the schedule's time zone.

    Fewer are returned only if the schedule stops firing. Raises ScheduleError for a cron text or zone that is invalid.
    """
    if after.tzinfo is None:
        raise ValueError("`after` needs a time zone")
    return list(islice(fires(schedule, after), count))


def fires(schedule: Schedule, after: datetime) -> Iterator[datetime]:
    """Yield the fire times strictly after `after` (aware), in the schedule's time zone. Raises ScheduleError."""
    zone = zone_of(schedule.timezone)
    if schedule.cron is not None:
        yield from _cron_fires(schedule.cron, after.astimezone(zone))
    elif schedule.every is not None:
        period = timedelta(microseconds=schedule.every)
        if period <= timedelta(0):
            raise ScheduleError("a period must be longer than nothing", "cron")
        number = (after - _EPOCH) // period + 1
        while number * period <= _LATEST - _EPOCH:
            yield (_EPOCH + number * period).astimezone(zone)
            number += 1


def _cron_fires(cron: str, after: datetime) -> Iterator[datetime]:
    from cronsim import CronSim, CronSimError

    if len(cron.split()) != 5:
        raise ScheduleError("a cron text has five parts: minute, hour, day of month, month, day of week", "cron")
    try:
        yield from CronSim(cron, after)
    except CronSimError as problem:
        raise ScheduleError(str(problem).lower(), "cron") from problem


def zone_of(name: str) -> tzinfo:
    """Return a time zone by its name. Raises ScheduleError for one that does not exist."""
    if name == DEFAULT_TIMEZONE:
        return UTC
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, IsADirectoryError) as problem:
        raise ScheduleError(f"there is no time zone `{name}`", "timezone") from problem


def check_schedule(decl: tree.ScheduleClause, sink: Diagnostics) -> Schedule | None:
    """Check a `schedule` clause: a cron text and zone that can be read, at a pace that someone meant."""
    timezone = DEFAULT_TIMEZONE if decl.timezone is None else decl.timezone
    schedule = Schedule(decl.cron, decl.every, timezone, decl.catch_up)
    if (decl.every is not None and decl.every <= 0) or (decl.catch_up is not None and decl.catch_up <= 0):
        error(
            sink,
            "FC508",
            "a time of nothing in a schedule",
            decl.span,
            help="write `every 6h`" if decl.every is not None else "write `catch up within 4h`, or remove it",
        )
        return None
    try:
        first = next_fires(schedule, _REFERENCE - timedelta(seconds=1), 1)
        if len(first) == 0:
            raise ScheduleError("it never fires", "cron")
        until = first[0] + timedelta(days=1)
        following = takewhile(lambda fire: fire < until, fires(schedule, first[0] - timedelta(microseconds=1)))
        in_a_day = list(islice(following, _COUNTED_FIRES))
    except ScheduleError as problem:
        _unreadable(decl, problem, sink)
        return None
    if len(in_a_day) > MAX_FIRES_A_DAY:
        _too_often(decl, in_a_day, sink)
    return schedule


def _span(decl: tree.ScheduleClause, part: str) -> Span:
    if part == "timezone" and decl.timezone_span is not None:
        return decl.timezone_span
    return decl.cron_span


def _unreadable(decl: tree.ScheduleClause, problem: ScheduleError, sink: Diagnostics) -> None:
    if problem.part == "timezone":
        error(sink, "FC506", str(problem), _span(decl, "timezone"), help='write a name as `"Europe/Berlin"` or `"UTC"`')
        return
    error(
        sink,
        "FC505",
        f"this cron text can't be read: {problem}",
        _span(decl, "cron"),
        why="a schedule that is read in another way than it was meant runs at another time",
        help='minute, hour, day of month, month, day of week: `"0 2 * * *"` is every day at 02:00',
    )


def _too_often(decl: tree.ScheduleClause, fires: list[datetime], sink: Diagnostics) -> None:
    shown = ", ".join(fire.strftime("%H:%M" if fire.second == 0 else "%H:%M:%S") for fire in fires[:_SHOWN_FIRES])
    why, way = "each run reads every source in full", "write a longer period, as `every 6h` or `every 1d`"
    if decl.cron is not None:
        why += "; `*` in the first part means every minute"
        way = 'write `"0 1 * * *"` for once a day at 01:00'
    warning(
        sink,
        "FC507",
        f"this schedule fires {len(fires)} times a day: {shown}, …"
        if len(fires) < _COUNTED_FIRES
        else "this schedule fires more than once a minute",
        _span(decl, "cron"),
        why=why,
        help=way,
    )

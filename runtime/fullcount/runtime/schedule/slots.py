"""Planned instants: which slots of a schedule are due, which are caught up, which are only recorded as missed.

Pure: the clock and the last known slot are arguments. A slot is identified by its planned instant, never by the
instant at which an alarm happened to ring, so an early, late or doubled alarm changes nothing (scenarios C03, C04).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from fullcount.compiler.program import Schedule
from fullcount.compiler.schedule import fires
from fullcount.runtime.format import length


class SlotVerdict(StrEnum):
    """What becomes of a slot that is due."""

    RUN = "run"
    MISSED = "missed"
    """Its time passed while nothing was running, and it is not caught up; it is shown, not forgotten."""


@dataclass(frozen=True, slots=True)
class DueSlot:
    """One planned instant that has come.

    `local_day` is the day in the schedule's zone for schedules that fire once a day: such a day runs once, whatever
    the clocks do (scenario C01).
    """

    planned_at: datetime
    verdict: SlotVerdict
    reason: str
    local_day: str | None


ON_TIME = timedelta(seconds=90)
"""A slot that is picked up within this time is on time; an alarm clock is never exact."""

BACKLOG = 1_000
"""At most so many missed slots are listed one by one after a long pause; the latest ones."""


def due_slots(schedule: Schedule, since: datetime, now: datetime) -> list[DueSlot]:
    """Return the slots planned in `(since, now]`, the oldest first.

    Only the latest runs, on time or within `catch up within`: a nightly clean-up that was down for three nights is not
    done three times. All others are recorded as missed.
    """
    planned = list(_between(schedule, since, now))[-BACKLOG:]
    catch_up = timedelta(microseconds=schedule.catch_up) if schedule.catch_up is not None else timedelta(0)
    slots = []
    for index, instant in enumerate(planned):
        late = now - instant
        if index < len(planned) - 1:
            verdict, reason = SlotVerdict.MISSED, "a later slot is due as well"
        elif late <= ON_TIME:
            verdict, reason = SlotVerdict.RUN, "on time"
        elif late <= catch_up:
            verdict, reason = SlotVerdict.RUN, f"caught up {length(late)} late"
        else:
            verdict = SlotVerdict.MISSED
            reason = f"{length(late)} late, and it may be caught up within {length(catch_up)}"
        slots.append(DueSlot(instant, verdict, reason, _local_day(schedule, instant)))
    return slots


def _between(schedule: Schedule, since: datetime, now: datetime) -> Iterator[datetime]:
    for instant in fires(schedule, since):
        if instant > now:
            return
        yield instant


def fires_daily(schedule: Schedule) -> bool:
    """Whether a cron schedule has one fixed minute and one fixed hour, so that it fires at most once a day."""
    if schedule.cron is None:
        return False
    fields = schedule.cron.split()
    return len(fields) == 5 and fields[0].isdigit() and fields[1].isdigit()


def _local_day(schedule: Schedule, instant: datetime) -> str | None:
    if not fires_daily(schedule):
        return None
    return instant.astimezone(ZoneInfo(schedule.timezone)).date().isoformat()

"""Caps, pace, approval and schedule: zero means none, and nothing is unlimited for want of a word."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from tests.support.compiling import codes, only, underlined, with_rule, workflow

from fullcount.compiler.program import Approval, Limit, Quorum, Schedule, Stop
from fullcount.compiler.schedule import ScheduleError, next_fires

PLAIN = with_rule("a.locked")
UNDO = "undo directory.update(id: a.id, locked: false)"


def changed(old, new):
    assert old in PLAIN
    return PLAIN.replace(old, new)


def scheduled(clause):
    return with_rule("a.locked", params=f"schedule {clause}")


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("    limit 50, 5%\n", "", "FC501"),
        ("limit 50, 5%", "limit 101%", "FC503"),
        (UNDO, UNDO + " concurrency 0", "FC504"),
        (UNDO, UNDO + " rate 0 per second", "FC504"),
        (UNDO, UNDO + " stop after 0 failures", "FC504"),
        (UNDO, UNDO + " stop after 0%", "FC504"),
        (UNDO, UNDO + " stop after 200%", "FC503"),
        ("2 of role", "0 of role", "FC403"),
        (", expires after 3d", "", "FC404"),
        ("expires after 3d", "expires after 0d", "FC404"),
        ("not by author", 'not by author, 1 of role "iam-admin"', "FC407"),
    ],
)
def test_a_cap_a_pace_or_an_approval_of_nothing_is_refused(old, new, code):
    """A missing cap, and a zero that would have to mean something, are errors."""
    finding = only(changed(old, new))
    assert (finding.code, finding.severity) == (code, "error")


@pytest.mark.parametrize("limit", ["limit 0", "limit 0%", "limit 50, 0%", "limit 0, 5%"])
def test_a_limit_of_zero_means_none_and_is_said_so(limit):
    """`limit 0` compiles with a warning: it allows no act at all."""
    text = changed("limit 50, 5%", limit)
    assert (only(text).code, only(text).severity) == ("FC502", "warning")
    assert only(text).message == "this limit allows no act at all"
    assert underlined(text) == limit


def test_caps_pace_and_approval_are_kept_as_written():
    """The program holds what was said: percentages exactly, rates per second, one object at a time by default."""
    text = changed(UNDO, UNDO + " rate 30 per minute concurrency 4 stop after 3 failures or 1%")
    checked = workflow(text.replace("limit 50, 5%", "limit 50, 2.5%"))
    assert checked.proposals[0].limit == Limit(50, Decimal("2.5"))
    assert checked.approvals == (Approval("disable", (Quorum(2, "iam-admin", True),), 3 * 86_400_000_000),)
    (act,) = checked.acts
    assert (act.rate, act.concurrency, act.stop) == (Decimal("0.5"), 4, Stop(3, Decimal(1)))
    (plain,) = workflow(PLAIN).acts
    assert (plain.rate, plain.concurrency, plain.stop) == (None, 1, None)


@pytest.mark.parametrize(
    ("clause", "code", "place"),
    [
        ('cron "0 2 * *"', "FC505", '"0 2 * *"'),
        ('cron "0 0 2 * * *"', "FC505", '"0 0 2 * * *"'),
        ('cron "61 2 * * *"', "FC505", '"61 2 * * *"'),
        ('cron "0 2 30 2 *"', "FC505", '"0 2 30 2 *"'),
        ('cron "at two"', "FC505", '"at two"'),
        ('cron ""', "FC505", '""'),
        ('cron "0 2 * * *" timezone "Europe/Berln"', "FC506", '"Europe/Berln"'),
        ('cron "0 2 * * *" timezone "../etc/passwd"', "FC506", '"../etc/passwd"'),
        ('cron "0 2 * * *" timezone ""', "FC506", '""'),
        ("every 0h", "FC508", "schedule every 0h"),
        ('cron "0 2 * * *" catch up within 0h', "FC508", 'schedule cron "0 2 * * *" catch up within 0h'),
    ],
)
def test_a_schedule_that_cannot_be_read_is_refused(clause, code, place):
    """A cron text, zone or period that means nothing is an error at its own place."""
    text = scheduled(clause)
    assert (only(text).code, only(text).severity) == (code, "error")
    assert underlined(text) == place


@pytest.mark.parametrize(
    ("clause", "times"),
    [
        ('cron "* 1 * * *"', "60 times a day: 01:00, 01:01, 01:02, 01:03, 01:04"),
        ("every 30m", "48 times a day: 00:00, 00:30, 01:00, 01:30, 02:00"),
        ("every 1us", "more than once a minute"),
        ('cron "*/5 9-17 * * MON"', "108 times a day: 09:00, 09:05"),
    ],
)
def test_a_schedule_with_many_fires_is_warned_of_and_shows_them(clause, times):
    """Sixty fires an hour are mostly a slip: the warning shows the first five."""
    finding = only(scheduled(clause))
    assert (finding.code, finding.severity) == ("FC507", "warning")
    assert times in finding.message


@pytest.mark.parametrize("clause", ['cron "0 2 * * *" timezone "Europe/Berlin" catch up within 4h', "every 6h",
                                    'cron "0 * * * *"', 'cron "0 0 29 2 *" catch up within 1d',
                                    'cron "30 6 * * MON-FRI" catch up within 1h'])  # fmt: skip
def test_a_schedule_that_someone_meant_compiles(clause):
    """Daily, hourly and rare schedules have no finding."""
    assert codes(scheduled(clause)) == []


def test_a_schedule_without_a_time_zone_is_in_utc():
    """The zone is part of the program, never that of the machine."""
    assert workflow(scheduled("every 6h")).schedule == Schedule(None, 6 * 3_600_000_000, "UTC", None)


def test_cron_fires_once_a_local_day_across_changes_of_the_clock():
    """In a zone that jumps over 02:30 every local day has exactly one fire."""
    schedule = Schedule("30 2 * * *", None, "Europe/Berlin", None)
    fires = next_fires(schedule, datetime(2026, 1, 1, tzinfo=UTC), 365)
    assert [fire.date() for fire in fires] == [fires[0].date() + timedelta(days=n) for n in range(365)]
    assert all(fire.tzinfo == ZoneInfo("Europe/Berlin") for fire in fires)


def test_periods_count_from_the_epoch_whenever_they_are_asked():
    """Two hosts that ask at different moments name the same slots."""
    schedule = Schedule(None, 7 * 3_600_000_000, "UTC", None)
    start = datetime(2026, 1, 1, 3, 17, 5, tzinfo=UTC)
    fires = next_fires(schedule, start, 5)
    assert next_fires(schedule, fires[0], 4) == fires[1:]
    assert all(int(fire.timestamp()) % (7 * 3600) == 0 for fire in fires)
    assert start < fires[0] <= start + timedelta(hours=7)


def test_fires_are_asked_for_with_a_time_zone_and_a_readable_schedule():
    """A naive instant and an unreadable text are errors, not guesses."""
    with pytest.raises(ValueError, match="time zone"):
        next_fires(Schedule("0 2 * * *", None, "UTC", None), datetime(2026, 1, 1), 1)  # noqa: DTZ001
    with pytest.raises(ScheduleError, match="five parts"):
        next_fires(Schedule("0 2 * *", None, "UTC", None), datetime(2026, 1, 1, tzinfo=UTC), 1)


@pytest.mark.parametrize("period", ["5m", "1us"])
def test_a_short_period_is_warned_of_in_its_own_words(period):
    """A workflow that says `every` is told of its period, not of the parts of a cron text."""
    found = only(scheduled(f"every {period}"))
    assert "every" in found.help
    assert not {"*", '"'} & set(found.why + found.help)

"""Class C, and `time` of the policy engine: zones, changes of the clock, slots, windows, delays, missing dates."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from tests.runtime.schedule.test_slots import BERLIN, HOUR, SECOND, at, days_served, schedule
from tests.support.acting import DAY, Orphans
from tests.support.applying import Stage, figures
from tests.support.graduating import Nights, deleting, due, setting, waiting
from tests.support.stores import ANA, WORKFLOW, Office, lock

from fullcount.compiler.program import Step
from fullcount.compiler.schedule import next_fires
from fullcount.compiler.types import TIMESTAMP, FieldType
from fullcount.compiler.values import FieldState
from fullcount.compiler.windows import is_open, next_opening, parse_window
from fullcount.runtime.act.opening import opening
from fullcount.runtime.collect.coerce import coerce_cell
from fullcount.runtime.schedule.slots import SlotVerdict, due_slots
from fullcount.runtime.store.errors import FenceLost, LeaseHeld
from fullcount.runtime.workspace.freezes import Freeze

MINUTE = timedelta(minutes=1)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.fixture
def office(tmp_path):
    """A store, and the people around it."""
    with Office(tmp_path) as made:
        yield made


# -- schedules --------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("C01")
def test_c01_a_daily_job_runs_once_in_the_night_in_which_its_hour_comes_twice(office):
    """In autumn 02:00 came twice, the job ran twice, and met a restore; a local day is one row of the store."""
    begin = at(2026, 10, 24, 12)
    runs = days_served(schedule("0 2 * * *", zone=BERLIN), begin, begin + timedelta(days=2), MINUTE)
    assert runs == {date(2026, 10, 25): 1, date(2026, 10, 26): 1}
    one = office.store.claim_slot(WORKFLOW, at(2026, 10, 25, 0), "a", local_day="2026-10-25")
    other = office.store.claim_slot(WORKFLOW, at(2026, 10, 25, 1), "a", local_day="2026-10-25")
    assert (one is not None, other) == (True, None)


@pytest.mark.requirement("C02")
@pytest.mark.parametrize(
    ("day", "fire"),
    [
        (date(2026, 3, 29), "2026-03-29T03:00:00+02:00"),  # 02:30 does not exist: the next minute that does
        (date(2026, 10, 25), "2026-10-25T02:30:00+02:00"),  # 02:30 comes twice: the first
    ],
)
def test_c02_a_local_time_that_is_missing_or_comes_twice_fires_once(day, fire):
    """Libraries skipped the day, or ran it twice; there is one fire in each, and it is known which."""
    before = datetime(day.year, day.month, day.day, tzinfo=UTC) - 2 * HOUR
    first, second = next_fires(schedule("30 2 * * *", zone=BERLIN), before, 2)
    assert first.astimezone(UTC) == datetime.fromisoformat(fire)
    assert second.date() == day + timedelta(days=1)


@pytest.mark.requirement("C03")
def test_c03_an_alarm_that_rings_early_and_again_on_time_runs_one_slot():
    """It rang 8 seconds early and on the hour; a slot is known by its planned instant, and an early look finds none."""
    rule, hour = schedule("0 * * * *"), at(2026, 11, 30, 3)
    assert due_slots(rule, hour - HOUR, hour - 8 * SECOND) == []
    (slot,) = due_slots(rule, hour - HOUR, hour)
    assert (slot.planned_at, slot.verdict) == (hour, SlotVerdict.RUN)
    assert due_slots(rule, slot.planned_at, hour + SECOND) == []


@pytest.mark.requirement("C04")
def test_c04_two_schedulers_share_one_slot(office):
    """After a change of leaders both ran the slot; a slot is one row, and the second gets nothing."""
    night = at(2026, 12, 1, 2)
    assert office.store.claim_slot(WORKFLOW, night, "one") is not None
    assert office.store.claim_slot(WORKFLOW, night, "two") is None
    plan, run_id, _ = office.applying("a")
    with pytest.raises(LeaseHeld):
        office.store.claim_plan(plan.document.plan_id, f"{run_id}-two", MINUTE)


@pytest.mark.requirement("C05")
def test_c05_a_leader_that_lost_its_lease_can_write_no_intent(office):
    """The guard was in the memory of a process; here every write to the ledger carries the token of its lease."""
    plan, run_id, old = office.applying("a")
    plan_id = plan.document.plan_id
    office.clock.forward(hours=1)
    office.store.claim_plan(plan_id, office.store.begin_run(WORKFLOW, "apply", ANA, plan_id=plan_id), MINUTE)
    with pytest.raises(FenceLost):
        office.store.record_intents(plan_id, run_id, old, [lock("a")])
    assert list(office.store.ledger(plan_id)) == []


@pytest.mark.requirement("C06")
def test_c06_a_schedule_that_fires_each_minute_of_an_hour_says_so(night, bench):
    """`* 1 * * *` was described as daily at one; `check` counts the fires, warns, and prints the next five."""
    (told,) = night.checked(night.text("volumes", "where all", head='schedule cron "* 1 * * *"'))
    assert told.startswith("FC507 this schedule fires 60 times a day: 01:00, 01:01, 01:02")
    assert night.checked(night.text("volumes", "where all", head='schedule cron "0 1 * * *" catch up within 4h')) == []
    path = bench.rule(schedule='schedule cron "30 1 * * *" timezone "Europe/Berlin"')
    said = bench.run("check", path).out
    assert said.count(" 01:30 CE") == 5


# -- zones ------------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("C07")
@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ("where v.created < 2026-05-07T00:00:00", "FC015"),
        ("where v.created < 2026-05-07", "FC201"),
        ("where v.born is present and v.born < now", "FC201"),
        ("where v.born is present and v.born < v.created", "FC201"),
    ],
)
def test_c07_a_day_is_no_instant_until_someone_says_in_which_zone(night, rule, code):
    """Marked for the 7th in California, deleted on the 6th; dates and instants never meet without an offset."""
    assert night.codes("volumes", rule) == [code]
    assert night.codes("volumes", "where v.created < 2026-05-07T00:00:00-07:00") == []


@pytest.mark.requirement("c7n-46")
def test_c7n_46_the_end_of_a_local_day_is_that_instant_everywhere(night):
    """It was compared in UTC, seven hours early: one second before local midnight nothing is due."""
    rows = 'given volumes [{ id: "due", expires: 2026-05-07T00:00:00-07:00 }]'
    night.says(
        "volumes",
        "where v.expires is present and v.expires <= now",
        f"""test "evening before, local" {{ now 2026-05-07T06:59:59Z {rows} expect plan empty }}
        test "local midnight" {{ now 2026-05-07T07:00:00Z {rows} expect plan ["due"] }}""",
    )


@pytest.mark.requirement("c7n-45")
def test_c7n_45_instants_with_and_without_a_zone_do_not_meet(night):
    """State of a comparison leaked from one object to the next; here each is an instant of its own, or none at all."""
    of = FieldType(TIMESTAMP)
    pacific, zulu, bare = (
        coerce_cell(of, f"2026-05-07T{each}") for each in ("01:00:00-07:00", "08:00:00Z", "08:00:00")
    )
    assert pacific == zulu
    assert (bare.state, bare.value) == (FieldState.SOURCE_FAILED, None)
    rows = [
        '{ id: "p", created: 2026-05-07T01:00:00-07:00 }',
        '{ id: "z", created: 2026-05-07T08:00:01Z }',
        '{ id: "dark", created: failed }',
    ]
    for order in (rows, rows[::-1]):
        night.says(
            "volumes",
            "where v.created <= 2026-05-07T10:00:00+02:00",
            f'given volumes [{", ".join(order)}] expect plan ["p"] expect undecided ["dark"]',
        )


# -- boundaries and windows -------------------------------------------------------------------------------------------


@pytest.mark.requirement("C09")
def test_c09_notice_and_act_meet_at_one_instant_and_never_overlap(night):
    """A `<=` for a `<` mixed the days of notice with the day of the act; intervals are half-open, to the second."""
    for rule, selected in (
        ("where v.created >= now - 90d and v.created < now - 60d", '["first", "last"]'),
        ("where v.created < now - 90d", '["older"]'),
        ("where v.created >= now - 60d", '["end"]'),
    ):
        night.says(
            "volumes",
            rule,
            f"""given volumes [
              {{ id: "older", created: now - 90d - 1s }}, {{ id: "first", created: now - 90d }},
              {{ id: "last", created: now - 60d - 1s }}, {{ id: "end", created: now - 60d }},
            ] expect plan {selected}""",
        )


MORNING, EVENING = parse_window("Mon-Fri 09:00-12:00", BERLIN), parse_window("daily 22:00-02:00", BERLIN)
FREEZE = Freeze(utc("2026-12-01T21:30:00"), utc("2026-12-01T22:00:00"), "inventory")


@pytest.mark.requirement("C13")
@pytest.mark.parametrize(
    ("instant", "morning", "evening", "acts_from"),
    [
        ("2026-12-01T07:59:59", False, False, "2026-12-01T08:00:00"),
        ("2026-12-01T08:00:00", True, False, "2026-12-01T08:00:00"),
        ("2026-12-01T11:00:00", False, False, "2026-12-01T21:00:00"),
        ("2026-12-01T21:00:00", False, True, "2026-12-01T21:00:00"),
        ("2026-12-01T21:30:00", False, True, "2026-12-01T22:00:00"),  # frozen
        ("2026-12-02T00:59:59", False, True, "2026-12-02T00:59:59"),  # still the evening of the day before
        ("2026-12-02T01:00:00", False, False, "2026-12-02T08:00:00"),
        ("2026-12-05T09:00:00", False, False, "2026-12-05T21:00:00"),  # a Saturday
    ],
)
def test_c13_two_windows_and_a_freeze_are_open_exactly_when_their_clocks_say(instant, morning, evening, acts_from):
    """Two allowed windows cancelled each other, a denied one held outside of its hours: any window opens, any freeze
    closes, and it is known from when on."""
    moment = utc(instant)
    assert (is_open(MORNING, moment), is_open(EVENING, moment)) == (morning, evening)
    assert (next_opening([MORNING, EVENING], moment) == moment) is (morning or evening)
    assert opening([MORNING, EVENING], [FREEZE], moment) == utc(acts_from)


@pytest.mark.requirement("C13")
async def test_c13_a_window_is_asked_again_before_every_batch_and_the_rest_is_caught_up(tmp_path):
    """It was asked at the start only, and nothing went on after it: the rest waits for the next opening."""
    world = Orphans(windows=[parse_window("Mon-Thu 09:00-16:00", BERLIN)], concurrency=1, verify_age=7 * 24)
    world.clock.start = utc("2026-11-30T14:59:58")
    world.now_micros = int(world.clock.start.timestamp() * 1_000_000)
    for key in ("a1", "a2", "a3"):
        world.account_table.objects[key,]["last_login"] = world.clock.start - timedelta(days=200)
    stage = Stage(tmp_path, world)
    plan = await stage.approved()
    stage.source.on("perform", at=1, do=lambda: world.clock.advance(3))
    report = await stage.apply(plan)
    assert (report.stopped_by.code, figures(report)) == ("FC774", {"done": 1, "not_started": 2})
    world.clock.advance((report.resumes_at - world.clock()).total_seconds())
    assert figures(await stage.apply(plan)) == {"done": 3}


# -- delays -----------------------------------------------------------------------------------------------------------


def in_two(world: Orphans, after: timedelta) -> tuple[Step, ...]:
    """Warn, and delete so long after."""
    again = setting(world, locked=False)
    return Step("warn", again, again, 0), Step("delete", deleting(world), None, after // timedelta(microseconds=1))


@pytest.mark.requirement("c7n-47")
async def test_c7n_47_a_delay_shorter_than_a_day_is_kept_to_the_second(tmp_path):
    """0.02 days were stored as a date, and over one minute later."""
    world, after = Orphans(), timedelta(minutes=28, seconds=48)
    night = Nights(tmp_path, world, steps=in_two(world, after))
    await night.pass_()
    night.later(seconds=after.total_seconds() - 1)
    assert set(waiting(await night.plan()).values()) == {"delete"}
    night.later(seconds=1)
    assert set(due(await night.plan()).values()) == {"delete"}


@pytest.mark.requirement("c7n-48")
async def test_c7n_48_an_hour_of_grace_given_a_minute_before_the_hour_lasts_an_hour(tmp_path):
    """It was rounded down to the hour, so that one hour from 00:59 ended at 01:00."""
    world = Orphans()
    world.clock.start = world.clock.start.replace(hour=0, minute=59)
    night = Nights(tmp_path, world, steps=in_two(world, HOUR))
    await night.pass_()
    night.later(minutes=59, seconds=59)
    assert due(await night.plan()) == {}
    night.later(seconds=1)
    assert set(due(await night.plan()).values()) == {"delete"}


STEPS = """act tidy with steps {{
    warn:    cloud.volumes.warn(id: v.id) undo cloud.volumes.warn(id: v.id)
    delete:  cloud.volumes.delete(id: v.id){}
    release: cloud.volumes.warn(id: v.id)
  }}"""


@pytest.mark.requirement("c7n-49")
def test_c7n_49_a_delay_has_no_default_and_zero_is_none(night):
    """The manual said 4 days, the code 0, and an explicit 0 became 4: nothing is meant that is not written."""
    codes = {after: night.codes("volumes", "where all", act=STEPS.format(after)) for after in ("", " after 0d")}
    assert codes == {"": ["FC552"], " after 0d": ["FC552"]}
    step = night.workflow(night.text("volumes", "where all", act=STEPS.format(" after 4d"))).acts[0].steps[1]
    assert step.after == 4 * DAY


@pytest.mark.requirement("c7n-50")
async def test_c7n_50_each_step_is_done_once_and_not_every_day_after(tmp_path):
    """`Seven days before` meant seven or fewer: people were told each day, and the act was repeated."""
    world = Orphans()
    night = Nights(tmp_path, world, steps=in_two(world, timedelta(days=7)))
    seen = []
    for days in (1, 5, 1, 1, 1):
        await night.pass_()
        seen.append({operation for operation, _ in night.effects()})
        night.later(days=days)
    assert seen == [{"update"}, set(), set(), {"delete"}, set()]  # nights 0, 1, 6, 7, 8


@pytest.mark.requirement("c7n-53")
def test_c7n_53_a_date_that_is_missing_is_neither_false_nor_long_ago(night):
    """It crashed, and was then taken for 0: the rule says what absent means, and unread is undecided."""
    assert night.codes("volumes", "where v.last_used < now - 90d") == ["FC202"]
    assert night.codes("volumes", "where not (v.last_used >= now - 90d)") == ["FC202"]
    rows = 'given volumes [{ id: "old", last_used: now - 91d }, { id: "never" }, { id: "dark", last_used: failed }]'
    for rule, selected in (
        ("where v.last_used is present and v.last_used < now - 90d", '["old"]'),
        ("where v.last_used is absent or v.last_used < now - 90d", '["old", "never"]'),
        ("where (v.last_used else never) < now - 90d", '["old"]'),
    ):
        night.says("volumes", rule, f'{rows} expect plan {selected} expect undecided ["dark" because "last_used"]')

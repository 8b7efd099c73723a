"""Windows and freezes at the act: outside of them a run is paused, and gone on with, and nothing has failed."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from tests.runtime.act.test_guard import ALLOWED
from tests.support.acting import Orphans
from tests.support.applying import Stage, figures, row

from fullcount.compiler.windows import parse_window
from fullcount.runtime.act.guard import Purpose, ground, guard
from fullcount.runtime.act.opening import opening
from fullcount.runtime.evidence.refusal import Ground
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.workspace.errors import WorkspaceError
from fullcount.runtime.workspace.freezes import Freeze

pytestmark = pytest.mark.requirement("R24", "R26")

BERLIN = parse_window("Mon-Thu 09:00-16:00", "Europe/Berlin")


def utc(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}+00:00")


YEAR = Freeze(utc("2026-12-20T00:00:00"), utc("2027-01-04T00:00:00"), "end of the year")


def at(instant: str, **changes):
    """The finding of a guard that is asked at an instant, everything else allowed."""
    moment = utc(instant)
    given = replace(
        ALLOWED, at=moment, evidence=(), approval=replace(ALLOWED.approval, expires_at=moment + timedelta(1))
    )
    return guard(replace(given, **changes))


@pytest.mark.parametrize(
    ("instant", "code"),
    [
        ("2026-11-30T07:59:59", "FC774"),
        ("2026-11-30T08:00:00", None),
        ("2026-11-30T14:59:59.999999", None),
        ("2026-11-30T15:00:00", "FC774"),
        ("2026-03-26T14:59:59", None),  # the last winter Thursday
        ("2026-03-30T06:59:59", "FC774"),  # the first summer Monday
        ("2026-03-30T07:00:00", None),
        ("2026-10-22T13:59:59", None),
        ("2026-10-26T07:59:59", "FC774"),
        ("2026-10-26T08:00:00", None),
    ],
)
def test_the_guard_lets_acts_through_in_the_window_only_to_the_second(instant, code):
    """Half-open, and by the clock of the zone."""
    finding = at(instant, windows=(BERLIN,))
    assert (None if finding is None else finding.code) == code


@pytest.mark.parametrize(
    ("instant", "code"),
    [
        ("2026-12-19T23:59:59.999999", None),
        ("2026-12-20T00:00:00", "FC775"),
        ("2027-01-03T23:59:59", "FC775"),
        ("2027-01-04T00:00:00", None),
    ],
)
def test_the_guard_lets_nothing_through_in_a_freeze_to_the_second(instant, code):
    """Whatever the window says."""
    finding = at(instant, freezes=(YEAR,))
    assert (None if finding is None else finding.code) == code


def test_the_finding_names_when_it_opens_again_in_the_windows_own_zone():
    """Also when a freeze ends outside of the window, or begins right where another ends."""
    finding = at("2026-12-03T15:00:00", windows=(BERLIN,))
    assert finding.message == "outside of its window `Mon-Thu 09:00-16:00` Europe/Berlin"
    assert "from Mon 2026-12-07 09:00 CET (Europe/Berlin) on" in finding.ways_on[0]
    assert ground(finding) is Ground.POLICY
    next_ = Freeze(YEAR.end, YEAR.end + timedelta(days=1), "inventory")
    frozen = at("2026-12-24T12:00:00", windows=(BERLIN,), freezes=(YEAR, next_))
    assert frozen.message == "frozen until Mon 2027-01-04 01:00 CET (Europe/Berlin): end of the year"
    assert "from Tue 2027-01-05 09:00 CET (Europe/Berlin) on" in frozen.ways_on[0]


def test_the_opening_is_now_where_nothing_is_closed():
    """Without windows and freezes there is nothing to wait for."""
    assert opening((), (), YEAR.start) == YEAR.start
    assert opening((), (YEAR,), YEAR.start) == YEAR.end


def test_undoing_is_bound_neither_to_a_window_nor_to_a_freeze():
    """What went wrong can be taken back at any time."""
    until = datetime.fromisoformat("2027-01-01T00:00:00Z")
    undo = {"purpose": Purpose.UNDO, "undoes": "01", "valid_until": until}
    assert at("2026-12-24T22:00:00", windows=(BERLIN,), freezes=(YEAR,), **undo) is None


def closing_soon(seconds: float, **changes) -> Orphans:
    """A world whose clock is so many seconds before the window of its act closes."""
    world = Orphans(windows=[BERLIN], **changes)
    world.clock.start = utc("2026-11-30T15:00:00") - timedelta(seconds=seconds)
    world.now_micros = int(world.clock.start.timestamp() * 1_000_000)
    for number in range(1, 4):
        world.account_table.objects[f"a{number}",]["last_login"] = world.clock.start - timedelta(days=200)
    return world


async def test_outside_of_the_window_nothing_begins_and_the_plan_waits(tmp_path):
    """Exit 4, with the next opening; the approval is not used up."""
    stage = Stage(tmp_path, closing_soon(60))
    plan = await stage.approved()
    stage.world.clock.advance(60)
    report = await stage.apply(plan)
    assert (report.exit, report.stopped_by.code, figures(report)) == (
        Exit.REFUSED_BY_POLICY,
        "FC774",
        {"not_started": 3},
    )
    assert report.resumes_at == utc("2026-12-01T08:00:00")
    assert stage.source.effects == []
    (run,) = [r for r in stage.store.runs(10) if r.kind == "apply"]
    assert (run.state, run.summary["resumes_at"]) == ("paused", "2026-12-01T08:00:00+00:00")


async def test_a_window_that_closes_in_the_middle_pauses_and_the_next_apply_goes_on(tmp_path):
    """What was done stays done; nothing has failed and nothing is done twice."""
    stage = Stage(tmp_path, closing_soon(2.5, concurrency=1, verify_age=7 * 24))
    plan = await stage.approved()
    stage.source.on("perform", at=1, do=lambda: stage.world.clock.advance(3))
    report = await stage.apply(plan)
    assert (report.exit, figures(report)) == (Exit.REFUSED_BY_POLICY, {"done": 1, "not_started": 2})
    assert report.resumes_at is not None
    again = await stage.apply(plan)
    assert figures(again) == {"done": 1, "not_started": 2}
    stage.world.clock.seconds += (report.resumes_at - stage.world.clock()).total_seconds()
    assert figures(await stage.apply(plan)) == {"done": 3}
    assert len(stage.source.effects) == 3


async def test_an_act_that_was_meant_and_not_called_when_the_window_closed_is_done_later_under_its_key(tmp_path):
    """Its intent stays open and is resolved by reading: it took no effect, so it is gone on with."""
    stage = Stage(tmp_path, closing_soon(2.5, concurrency=3, verify_age=7 * 24))
    plan = await stage.approved()
    stage.source.on("perform", at=1, do=lambda: stage.world.clock.advance(3))
    report = await stage.apply(plan)
    assert figures(report) == {"done": 1, "unknown": 2}
    assert row(report, "a2").detail.startswith("meant and not called: outside of its window")
    keys = {e.object_key: e.idempotency_key for e in stage.store.ledger(plan.document.plan_id)}
    stage.world.clock.seconds += (report.resumes_at - stage.world.clock()).total_seconds()
    assert figures(await stage.apply(plan)) == {"done": 3}
    assert {e.object_key: e.idempotency_key for e in stage.store.ledger(plan.document.plan_id)} == keys
    assert len(stage.source.effects) == 3


async def test_a_freeze_that_is_added_while_an_apply_is_under_way_pauses_it(tmp_path):
    """Freezes are read again before each batch."""
    stage = Stage(tmp_path, Orphans(concurrency=1))
    plan = await stage.approved()
    now = stage.world.clock()

    def freeze() -> None:
        stage.freezes = (Freeze(now, now + timedelta(hours=2), "incident 7"),)

    stage.source.on("perform", at=1, do=freeze)
    report = await stage.apply(plan)
    assert (report.stopped_by.code, figures(report)) == ("FC775", {"done": 1, "not_started": 2})
    assert "incident 7" in report.stopped_by.message
    stage.freezes = ()
    assert figures(await stage.apply(plan)) == {"done": 3}


async def test_an_apply_stops_when_the_freezes_can_not_be_read(tmp_path):
    """Nobody can say that nothing is frozen."""
    stage = Stage(tmp_path)
    plan = await stage.approved()

    def broken():
        raise WorkspaceError("FC602", "`fullcount.toml` is not TOML")

    report = await stage.apply(plan, freezes=broken)
    assert (report.exit, report.stopped_by.code, report.resumes_at) == (Exit.ERROR, "FC602", None)
    assert stage.source.effects == []


async def test_an_undo_does_not_even_look_at_the_freezes(tmp_path):
    """A broken configuration must not keep anyone from taking back what was done."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    await stage.apply(plan)

    def broken():
        raise WorkspaceError("FC602", "`fullcount.toml` is not TOML")

    assert figures(await stage.undo(plan, freezes=broken)) == {"done": 3}

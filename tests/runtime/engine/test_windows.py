"""Windows and freezes of a real workspace: what the command line says, and that the plan can be gone on with."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from tests.support.workspaces import ACT, ORPHANS

from fullcount.compiler.windows import DAYS

pytestmark = pytest.mark.requirement("R24", "R33")

FREEZE = '\n[[freeze]]\nfrom = 2020-01-01T00:00:00Z\nto = {}\nreason = "{}"\n'


def freeze(bench, until="2999-01-01T00:00:00Z", reason="incident 7"):
    path = bench.root / "fullcount.toml"
    path.write_text(path.read_text("utf-8") + FREEZE.format(until, reason), encoding="utf-8")


def test_in_a_freeze_nothing_is_done_and_exit_is_4(bench):
    """The run is paused: it says until when, and that nothing failed; the approval is not used up."""
    bench.rule()
    planned = bench.approved()
    freeze(bench)
    before = bench.target()
    ended = bench.run("apply", planned["plan_id"])
    assert ended.exit == 4
    assert "PAUSED" in ended.said
    assert "stopped by frozen until Tue 2999-01-01 00:00 UTC: incident 7" in ended.words
    assert "goes on from Tue 2999-01-01 00:00 UTC on fullcount apply" in ended.words
    assert bench.target() == before
    assert "paused" in bench.run("runs").said
    assert bench.run("verify").exit == 0
    bench.configure()
    assert bench.run("apply", planned["plan_id"]).exit == 0
    assert bench.locked() == set(ORPHANS)


def test_outside_of_its_window_an_act_waits_and_says_when_it_opens(bench):
    """A window of the day after tomorrow; the plan shows it before anyone approves."""
    day = datetime.now(UTC) + timedelta(days=2)
    window = f"{DAYS[day.weekday()]} 00:00-24:00"
    bench.rule(act=ACT.replace("    stop", f'    window "{window}" timezone "UTC"\n    stop'))
    planned = bench.approved()
    assert f"window {window} UTC" in bench.run("show", planned["plan_id"]).words
    ended = bench.run("apply", planned["plan_id"], "--json")
    assert ended.exit == 4
    report = ended.json["report"]
    assert report["stopped_by"]["code"] == "FC774"
    assert report["resumes_at"] == day.replace(hour=0, minute=0, second=0, microsecond=0).isoformat()
    assert bench.locked() == set()


def test_a_broken_freeze_stops_everything(bench):
    """A configuration that can't be read is not one without a freeze."""
    bench.rule()
    planned = bench.approved()
    freeze(bench, until="2999-01-01")
    ended = bench.run("apply", planned["plan_id"])
    assert (ended.exit, "expected an instant with its offset" in ended.words) == (1, True)
    assert bench.locked() == set()


def test_what_was_done_can_be_taken_back_in_a_freeze(bench):
    """A freeze holds new acts back, not the way out of them."""
    bench.rule()
    planned = bench.approved()
    assert bench.run("apply", planned["plan_id"]).exit == 0
    freeze(bench)
    bench.undone(planned)
    assert bench.locked() == set()

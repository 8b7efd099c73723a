"""A canary on a real workspace: what the command line says while the rest waits, and after."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from tests.support.workspaces import ACT, ORPHANS

pytestmark = pytest.mark.requirement("R24", "R33")

WITH_CANARY = ACT.replace("    stop", "    canary 1 then wait 15m\n    stop")


def waiting(bench):
    bench.rule(act=WITH_CANARY)
    planned = bench.approved()
    return planned, bench.run("apply", planned["plan_id"], "--json")


def test_the_rest_waits_and_everyone_is_told_until_when(bench):
    """Exit 4; `show` says that it is paused, the plan had said it before, and the journal verifies."""
    planned, ended = waiting(bench)
    assert ended.exit == 4
    report = ended.json["report"]
    assert (report["counts"]["done"], report["counts"]["not_started"]) == (1, 2)
    assert len(bench.locked()) == 1
    until = datetime.fromisoformat(report["resumes_at"])
    assert timedelta(minutes=14) < until - datetime.now(UTC) <= timedelta(minutes=15)
    shown = bench.run("show", planned["plan_id"]).words
    assert f"PAUSED goes on from {until:%a %Y-%m-%d %H:%M} UTC on" in shown
    assert "canary first 1, then wait 15m; the rest follows if these still are as they were left" in shown
    assert bench.run("show", planned["plan_id"], "--json").json["resumes_at"] == report["resumes_at"]
    assert "PAUSED" in bench.run("apply", planned["plan_id"]).said
    assert len(bench.locked()) == 1
    assert bench.run("verify").exit == 0


def test_a_short_wait_is_sat_out(bench):
    """One command does it all."""
    bench.rule(act=WITH_CANARY.replace("15m", "1s"))
    planned = bench.approved()
    assert bench.run("apply", planned["plan_id"]).exit == 0
    assert bench.locked() == set(ORPHANS)
    assert bench.run("verify").exit == 0


def test_what_a_source_counts_after_the_canary_stops_the_rest(bench):
    """The plan had said so before, and the journal verifies."""
    bench.rule(act=WITH_CANARY.replace("15m", "1s then at most 1 of hr.headcount"))
    planned = bench.approved()
    assert (
        "canary first 1, then wait 1s, then at most 1 of hr.headcount; the rest"
        in bench.run("show", planned["plan_id"]).words
    )
    ended = bench.run("apply", planned["plan_id"], "--json")
    assert (ended.exit, ended.json["report"]["stopped_by"]["code"]) == (1, "FC777")
    assert "`hr.headcount` has" in ended.json["report"]["stopped_by"]["message"]
    assert len(bench.locked()) == 1
    assert bench.run("verify").exit == 0


def test_after_the_wait_the_rest_is_done_unless_the_canary_was_touched(bench):
    """An hour later, by the store's clock."""
    planned, _ = waiting(bench)
    (first,) = bench.locked()
    bench.sql("directory", "UPDATE accounts SET locked = 0, row_version = row_version + 1 WHERE id = ?", first)
    later = datetime.now(UTC) + timedelta(minutes=16)
    from fullcount.runtime.approve.identity import current_person

    with bench.engine(clock=lambda: later) as engine:
        end = asyncio.run(engine.apply(planned["plan_id"], current_person()))
        assert (int(end.exit), end.report.stopped_by.code) == (1, "FC777")
        bench.sql("directory", "UPDATE accounts SET locked = 1, row_version = row_version - 1 WHERE id = ?", first)
        end = asyncio.run(engine.apply(planned["plan_id"], current_person()))
        assert int(end.exit) == 0
    assert bench.locked() == set(ORPHANS)

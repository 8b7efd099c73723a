"""Acts and retries of the policy engine: each object once, and what failed is told as what it is."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta

import pytest
from tests.runtime.service.test_paused import WITH_CANARY, Clock, look, service_of
from tests.support.acting import Orphans
from tests.support.applying import Stage, figures, row
from tests.support.graduating import Nights, due
from tests.support.listening import web_server
from tests.support.stores import WORKFLOW, Office
from tests.support.workspaces import ACT, Bench

from fullcount.runtime.connectors.base import ActResult, Outcome, SourceError
from fullcount.runtime.evidence.codes import ActReason, Reason
from fullcount.runtime.evidence.envelope import Incompleteness
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.service.scheduled import ScheduledWorkflows

FAILED = ActResult(Outcome.FAILED, None, "it is in use")
CHAT = '\n[notify.chat]\nway = "webhook"\nurl = "{}"\n'
TELL = 'notify "chat" on waiting, done, stopped'
NO = "CREATE TRIGGER no BEFORE UPDATE ON accounts WHEN old.id = 'a02' BEGIN SELECT RAISE(ABORT, 'in use'); END"
DROPPED = "CREATE TRIGGER dropped BEFORE UPDATE ON accounts WHEN old.id = 'a03' BEGIN SELECT RAISE(IGNORE); END"


def told(web):
    """Return what the chat was told."""
    return [json.loads(body) for _, body in web.requests]


def told_by(bench, web, act=ACT):
    """Let the chat be told, and the target have triggers that are known."""
    file = bench.root / "fullcount.toml"
    known = 'deletable = true\nknown_triggers = ["no", "dropped"]'
    file.write_text(file.read_text("utf-8").replace("deletable = true", known) + CHAT.format(web.url), "utf-8")
    bench.rule(schedule=TELL, act=act)


@pytest.fixture(scope="module")
def half(tmp_path_factory):
    """An apply of which one object was done, one refused by the target, and one dropped by it without a word."""
    bench = Bench(tmp_path_factory.mktemp("half") / "bench")
    with web_server() as web:
        told_by(bench, web)
        for trigger in (NO, DROPPED):
            bench.sql("directory", trigger)
        planned = bench.approved()
        ended = bench.run("apply", planned["plan_id"], "--json")
        return bench, planned, ended, told(web)


# -- once -------------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("c7n-59")
async def test_c7n_59_a_run_that_is_started_again_after_an_error_does_nothing_a_second_time(tmp_path):
    """The platform ran the function again after one error, and there were 4,000 snapshots in place of 1,000."""
    stage = Stage(tmp_path, Orphans(accounts=6, concurrency=2))
    plan = await stage.approved()
    stage.source.on("perform", at=3, do=RuntimeError("out of memory"))
    with pytest.raises(RuntimeError):
        await stage.apply(plan)
    for _ in range(3):
        assert figures(await stage.apply(plan)) == {"done": 6}
    assert sorted(key for _, (key,) in stage.source.effects) == [f"a{n}" for n in range(1, 7)]
    with Office(tmp_path) as office:
        night = office.clock.later(hours=1)
        assert [office.store.claim_slot(WORKFLOW, night, "again") is not None for _ in range(3)] == [True, False, False]


@pytest.mark.requirement("c7n-61")
def test_c7n_61_what_is_told_is_told_once_however_often_it_is_delivered(bench):
    """A queue delivered again, and each notice was sent several times; one of which nobody knows is not sent again."""
    with web_server() as web:
        told_by(bench, web)
        planned = bench.approved()
        web.answers.append(None)  # it hangs up after it has heard all
        for _ in range(2):
            assert bench.run("apply", planned["plan_id"]).exit == Exit.DONE
        assert [each["event"] for each in told(web)] == ["waiting", "done"]
        assert len({headers["Idempotency-Key"] for headers, _ in web.requests}) == 2


# -- what failed ------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("c7n-64")
def test_c7n_64_what_is_reported_as_done_is_what_was_done(half):
    """The file of results listed snapshots whose delete had failed."""
    bench, _, ended, _ = half
    rows = {each["key"][0]: each["outcome"] for each in ended.json["report"]["rows"]}
    assert rows == {"a01": "done", "a02": "refused", "a03": "refused"}
    assert bench.locked() == {key for key, outcome in rows.items() if outcome == "done"}


@pytest.mark.requirement("c7n-65")
def test_c7n_65_an_error_of_the_target_is_in_the_exit_code_the_record_and_the_notice(half):
    """Errors were swallowed, and the monitor was green for weeks."""
    bench, planned, ended, notices = half
    assert ended.exit == Exit.REFUSED_BY_POLICY
    (line,) = [each for each in bench.run("runs").out.splitlines() if "  apply  " in each]
    assert f"exit {int(ended.exit)}" in line
    assert [each["event"] for each in notices] == ["waiting", "stopped"]
    again = bench.run("apply", planned["plan_id"])
    assert (again.exit, "a02: refused" in again.words) == (ended.exit, True)


@pytest.mark.requirement("c7n-67")
def test_c7n_67_who_is_told_of_a_failure_is_told_of_what_was_done_before_it(half):
    """Half were terminated, an error came, and nobody heard of the half that was gone."""
    *_, notices = half
    assert "1 done, 2 refused" in notices[-1]["title"]


@pytest.mark.requirement("c7n-68")
async def test_c7n_68_a_step_that_failed_is_not_followed_by_the_next(tmp_path):
    """The first action ended in a conflict, and the next one was run: a clock starts with a step that is done."""
    night = Nights(tmp_path)
    night.source.on("perform", at=1, do=ActResult(Outcome.CHANGED, ActReason.PRECONDITION_FAILED, "a conflict"))
    night.source.on("perform", at=2, do=FAILED)
    assert figures(await night.pass_()) == {"done": 1, "changed": 1, "failed": 1}
    ((_, warned),) = night.effects()
    night.later(days=14)
    assert due(await night.plan()) == {key: "lock" if key == warned else "warn" for key in ("a1", "a2", "a3")}


@pytest.mark.requirement("c7n-69")
async def test_c7n_69_an_object_that_can_not_be_done_keeps_none_of_the_others(tmp_path):
    """The first that could not be deleted stopped the rest."""
    stage = Stage(tmp_path, Orphans(accounts=8))
    plan = await stage.approved()
    stage.source.on("perform", at=1, do=FAILED)
    report = await stage.apply(plan)
    assert (figures(report), report.exit) == ({"done": 7, "failed": 1}, Exit.ERROR)
    assert len(stage.source.effects) == 7


@pytest.mark.requirement("c7n-70")
async def test_c7n_70_an_object_that_is_gone_fails_no_batch(tmp_path):
    """One id of 200 was gone, and all 200 failed."""
    stage = Stage(tmp_path, Orphans(accounts=60, concurrency=16, operation="delete"))
    plan = await stage.approved()
    stage.world.account_table.remove("a7")
    stage.source.on("perform", at=3, do=lambda: stage.world.account_table.remove("a33"))
    report = await stage.apply(plan)
    assert (figures(report), report.exit) == ({"done": 58, "already_gone": 2}, Exit.DONE)
    assert stage.world.account_table.objects == {}


@pytest.mark.requirement("c7n-71")
def test_c7n_71_what_the_target_leaves_out_without_a_word_is_not_done(half):
    """Members of clusters were left out, and the log said that 3 were done."""
    bench, planned, ended, _ = half
    (left,) = [each for each in ended.json["report"]["rows"] if each["key"] == ["a03"]]
    assert (left["outcome"], "suppressed the write" in left["detail"]) == ("refused", True)
    shown = bench.run("apply", planned["plan_id"]).words
    assert "1 done · 2 refused" in shown


@pytest.mark.requirement("c7n-72")
async def test_c7n_72_a_denied_account_is_no_success_and_uses_nothing_up(tmp_path):
    """The account was denied, and the exit code was 0."""
    stage = Stage(tmp_path)
    plan = await stage.approved()

    async def denied(source):
        raise SourceError(Incompleteness(code=Reason.VISIBILITY_RESTRICTED, detail="not allowed"))

    report = await stage.apply(plan, open_actor=denied)
    assert (figures(report), report.exit) == ({"not_started": 3}, Exit.ERROR)
    stage.source.on("perform", at=1, do=ActResult(Outcome.REFUSED, None, "not allowed"))
    partly = await stage.apply(plan)
    assert (figures(partly), partly.exit) == ({"done": 2, "refused": 1}, Exit.REFUSED_BY_POLICY)
    assert row(partly, "a1").detail == "not allowed"


@pytest.mark.requirement("c7n-73")
def test_c7n_73_a_rule_that_was_taken_out_acts_no_more(bench):
    """It was removed from the repository, and went on from where it had been deployed."""
    bench.rule(act=WITH_CANARY, schedule="schedule every 1h")
    planned = bench.approved()
    assert bench.run("apply", planned["plan_id"]).exit == Exit.REFUSED_BY_POLICY  # one is done, the rest waits
    (bench.root / "workflows" / "disable_orphans.fcw").unlink()
    clock = Clock()
    clock.now += timedelta(minutes=16)

    async def served(engine):
        assert ScheduledWorkflows(engine.workspace, bench.root / "workflows")() == ()
        await look(service_of(engine))

    with bench.engine(clock=clock) as engine:
        asyncio.run(served(engine))
        assert engine.store.slots(10) == ()
    assert bench.locked() == {"a01"}

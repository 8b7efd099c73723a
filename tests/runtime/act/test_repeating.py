"""What may be made again, and what never: keys and their life, operations that do more the second time, troubles."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.support.acting import Orphans
from tests.support.applying import BO, Stage, figures, row

from fullcount.compiler import program
from fullcount.compiler.catalog import LEAST_KEY_LIFE, Effect, Idempotency, Operation
from fullcount.compiler.claims import Fresh
from fullcount.runtime.act.context import StopSignal
from fullcount.runtime.act.repeating import may_repeat, retry_window, trouble_of, wait_before_again
from fullcount.runtime.act.stop import IN_A_ROW, InARow
from fullcount.runtime.connectors.base import ActResult, ErrorClass, Outcome
from fullcount.runtime.evidence.codes import ActReason
from fullcount.runtime.exit_codes import Exit

DAY = timedelta(days=1)
UNTOLD = ActResult(Outcome.UNKNOWN, ActReason.OUTCOME_UNKNOWN, "no answer")


def operation(idempotency: Idempotency = Idempotency.PRECONDITION, **changes) -> Operation:
    return Operation("trash", {}, Effect.UPDATE, idempotency, reversible=False, **changes)


# -- the rule ---------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R29", "R32", "R39")
@pytest.mark.parametrize(
    "never",
    [
        operation(Idempotency.NONE),
        operation(escalates=True),
        operation(Idempotency.NATURAL, escalates=True),
        operation(Idempotency.KEY),  # nobody says how long the target knows it again
    ],
)
def test_what_does_more_the_second_time_is_never_repeated(never):
    """Neither later nor at once, whatever the trouble was."""
    assert not may_repeat(never, timedelta(0))
    busy = ActResult(Outcome.FAILED, trouble=ErrorClass.THROTTLE)
    assert wait_before_again(never, busy, 0) is None


@pytest.mark.requirement("R31", "R39")
def test_a_key_is_relied_on_only_while_the_target_surely_knows_it():
    """The window is shorter than the life of the key; a call that seems to be of tomorrow has no known age."""
    keyed = operation(Idempotency.KEY, key_life=LEAST_KEY_LIFE)
    window = retry_window(LEAST_KEY_LIFE)
    assert window < timedelta(microseconds=LEAST_KEY_LIFE)
    ages = (-timedelta(seconds=1), timedelta(0), window - timedelta(seconds=1), window, window + timedelta(seconds=1))
    assert [may_repeat(keyed, age) for age in ages] == [False, True, True, False, False]
    assert may_repeat(operation(), 400 * DAY)


TROUBLES = {
    ErrorClass.THROTTLE: (ActResult(Outcome.FAILED, trouble=ErrorClass.THROTTLE), [0.5, 1.0, 2.0, None]),
    ErrorClass.TRANSIENT: (ActResult(Outcome.FAILED, trouble=ErrorClass.TRANSIENT), [0.5, 1.0, 2.0, None]),
    ErrorClass.CONFLICT: (ActResult(Outcome.CHANGED), [None]),
    ErrorClass.PERMANENT: (ActResult(Outcome.FAILED), [None]),
    ErrorClass.UNKNOWN: (UNTOLD, [None]),
}


@pytest.mark.requirement("R32")
@pytest.mark.parametrize("kind", ErrorClass)
def test_only_what_the_target_surely_did_not_do_is_tried_again_at_once_and_a_few_times(kind):
    """A failure of which nothing more is known is for good; what nobody knows is never tried again blindly."""
    result, waits = TROUBLES[kind]
    assert trouble_of(result) is kind
    assert [wait_before_again(operation(), result, tries) for tries in range(len(waits))] == waits


def test_the_wait_that_a_target_asks_for_is_kept_and_a_long_one_is_not_sat_out():
    """It waits at least as long as asked; for more than a minute, the object is left for another run."""
    asked = replace(TROUBLES[ErrorClass.THROTTLE][0], after=7.0)
    assert wait_before_again(operation(), asked, 0) == 7.0
    assert wait_before_again(operation(), replace(asked, after=61.0), 0) is None


# -- a target that puts away first and destroys the second time -------------------------------------------------------


class Bin:
    """The target: the first call puts the object away, the second one destroys it, whatever key it carries."""

    def __init__(self, stage: Stage) -> None:
        self.stage, self.late = stage, []
        self.answers = [UNTOLD]
        stage.source.perform = self.perform
        stage.source.took_effect = self.took_effect

    async def perform(self, call):
        self.stage.source.calls.append(("perform", call.key))
        self.late.append(call)
        if len(self.answers) > 0:
            return self.answers.pop(0)  # the answer was given up, and the call is still under way
        self.arrive()
        return ActResult(Outcome.DONE)

    def arrive(self) -> None:
        """Let everything arrive that is under way."""
        for call in self.late:
            found = self.stage.world.account_table.objects.get(call.key)
            if found is not None and found["locked"]:
                self.stage.world.account_table.remove(*call.key)
            elif found is not None:
                found["locked"] = True
        self.late.clear()

    async def took_effect(self, call):
        return self.stage.world.account_table.objects[call.key]["locked"]


def bin_of(tmp_path, **declared) -> tuple[Stage, Bin]:
    world = Orphans(accounts=1)
    update = replace(world.accounts.operations["update"], **declared)
    world.accounts = replace(world.accounts, operations={**world.accounts.operations, "update": update})
    world.account_table.resource = world.accounts
    stage = Stage(tmp_path, world)
    return stage, Bin(stage)


@pytest.mark.requirement("R29", "R32", "R36")
@pytest.mark.parametrize("declared", [{"escalates": True}, {"idempotency": Idempotency.NONE}])
async def test_an_operation_that_escalates_is_never_repeated_and_the_object_is_put_away_and_not_destroyed(
    tmp_path, declared
):
    """The call that was given up arrives after the target was read: once, and that was all."""
    stage, target = bin_of(tmp_path, **declared)
    plan = await stage.approved()
    assert figures(await stage.apply(plan)) == {"unknown": 1}
    assert figures(await stage.apply(plan)) == {"unknown": 1}
    target.arrive()
    assert stage.source.count_of("perform") == 1
    assert stage.world.account_table.objects["a1",]["locked"]
    assert figures(await stage.apply(plan)) == {"done": 1}


async def test_the_same_target_destroys_where_nobody_declared_it(tmp_path):
    """What the declaration is for: the call is repeated, both arrive, and nothing is left."""
    stage, _ = bin_of(tmp_path)
    plan = await stage.approved()
    assert figures(await stage.apply(plan)) == {"unknown": 1}
    assert figures(await stage.apply(plan)) == {"done": 1}
    assert stage.world.account_table.objects == {}


@pytest.mark.requirement("R31", "R32")
async def test_an_act_that_must_not_be_repeated_has_failed_once_its_call_can_arrive_no_more(tmp_path):
    """After a day without effect it counts as failed, so that the plan ends and a new one has the object."""
    stage, target = bin_of(tmp_path, escalates=True)
    plan = await stage.approved()
    await stage.apply(plan)
    target.late.clear()
    stage.world.clock.advance(DAY.total_seconds() - 1)
    assert figures(await stage.apply(plan)) == {"unknown": 1}
    stage.world.clock.advance(1)
    ended = await stage.apply(plan)
    assert (figures(ended), row(ended, "a1").reason) == ({"failed": 1}, "FC786")
    assert stage.source.count_of("perform") == 1


@pytest.mark.requirement("R31")
async def test_a_call_that_rests_on_its_key_is_repeated_under_it_within_its_life_and_not_after(tmp_path):
    """The same key, for as long as the target knows it."""
    stage, target = bin_of(tmp_path, idempotency=Idempotency.KEY, key_life=LEAST_KEY_LIFE)
    stage.world.workflow = _lasting(stage.world.workflow)
    plan = await stage.approved()
    target.answers = [UNTOLD, UNTOLD]
    await stage.apply(plan)
    target.late.clear()
    stage.world.clock.advance(60)
    assert figures(await stage.apply(plan)) == {"unknown": 1}
    assert stage.source.count_of("perform") == 2
    target.late.clear()
    stage.world.clock.advance(retry_window(LEAST_KEY_LIFE).total_seconds())
    assert figures(await stage.apply(plan)) == {"unknown": 1}
    assert stage.source.count_of("perform") == 2
    stage.world.clock.advance(DAY.total_seconds())
    assert row(await stage.apply(plan), "a1").reason == "FC786"


def _lasting(workflow: program.Workflow) -> program.Workflow:
    return replace(workflow, verifies={n: (*v[:-1], Fresh(90 * LEAST_KEY_LIFE)) for n, v in workflow.verifies.items()})


# -- troubles in a run ------------------------------------------------------------------------------------------------


def answering(stage: Stage, *results: ActResult) -> None:
    """Let the first calls be answered so, without any effect."""
    for nth, result in enumerate(results, 1):
        stage.source.on("perform", at=nth, do=result)


@pytest.mark.requirement("R29")
async def test_a_busy_target_is_asked_again_after_the_wait_and_under_the_same_key(tmp_path):
    """Two refusals for being too busy, then it is done; the guard is asked before each call."""
    stage = Stage(tmp_path, Orphans(accounts=1))
    plan = await stage.approved()
    busy = ActResult(Outcome.FAILED, trouble=ErrorClass.THROTTLE, after=3.0)
    answering(stage, busy, busy)
    assert figures(await stage.apply(plan)) == {"done": 1}
    assert stage.source.count_of("perform") == 3
    assert sum(stage.world.clock.slept) == 6.0


@pytest.mark.requirement("R24")
async def test_between_two_tries_the_guard_is_asked_anew(tmp_path):
    """Acting is halted while a run waits for a busy target: nothing is called any more."""
    stage = Stage(tmp_path, Orphans(accounts=1))
    plan = await stage.approved()
    busy = ActResult(Outcome.FAILED, trouble=ErrorClass.THROTTLE, after=3.0)
    stage.source.on("perform", at=1, do=lambda: stage.store.halt("stop", BO) or busy)
    report = await stage.apply(plan)
    assert (report.stopped_by.code, stage.source.count_of("perform")) == ("FC722", 1)
    assert stage.source.effects == []


async def test_a_run_that_is_asked_to_stop_does_not_sit_a_wait_out(tmp_path):
    """Neither that for a busy target nor that of a slow rate; what was called is recorded."""
    stage = Stage(tmp_path, Orphans(accounts=2, concurrency=1))
    plan = await stage.approved()
    stop = StopSignal()
    busy = ActResult(Outcome.FAILED, trouble=ErrorClass.THROTTLE, after=50.0)
    stage.source.on("perform", at=1, do=lambda: stop.request("stopped by SIGTERM") or busy)
    report = await stage.apply(plan, stop=stop)
    assert (report.stopped_by.code, figures(report)) == ("FC765", {"failed": 1, "not_started": 1})
    assert row(report, "a1").reason == "throttle"
    assert sum(stage.world.clock.slept) <= 1


@pytest.mark.requirement("R29", "R32")
async def test_an_act_that_can_be_done_later_stays_open_for_the_next_run_of_the_plan(tmp_path):
    """Nothing was done, and the target says that it passes (a full disk): no failure is recorded, and why is told."""
    stage = Stage(tmp_path, Orphans(accounts=1))
    plan = await stage.approved()
    stage.source.on(
        "perform", at=None, do=ActResult(Outcome.FAILED, None, "full", trouble=ErrorClass.TRANSIENT, later=True)
    )
    report = await stage.apply(plan)
    assert figures(report) == {"unknown": 1}
    assert row(report, "a1").detail == "nothing was done in this run: full; it is gone on with later"
    stage.source._faults.clear()
    assert figures(await stage.apply(plan)) == {"done": 1}


@pytest.mark.parametrize("kind", [ErrorClass.TRANSIENT, ErrorClass.PERMANENT, ErrorClass.UNKNOWN])
async def test_a_run_gives_up_when_the_same_trouble_comes_again_and_again(tmp_path, kind):
    """So many acts in a row, and the rest was not called; the next run goes on with it."""
    most = IN_A_ROW[kind]
    stage = Stage(tmp_path, Orphans(accounts=most + 2, concurrency=1))
    plan = await stage.approved()
    stage.source.on("perform", at=None, do=TROUBLES[kind][0])
    report = await stage.apply(plan)
    called = {detail for method, detail in stage.source.calls if method == "perform"}
    assert len(called) == most
    assert (report.stopped_by.code, report.exit) == ("FC787", Exit.ERROR)
    stage.source._faults.clear()
    after = await stage.apply(plan)
    assert after.counts[Outcome.DONE] == (most + 2 if kind is ErrorClass.UNKNOWN else 2)


def test_troubles_of_several_kinds_and_an_answer_between_them_begin_the_count_anew():
    """Only the same kind in a row tells of the target; a conflict tells of one object."""
    row_ = InARow()
    for _ in range(2):
        row_.saw(ErrorClass.TRANSIENT)
        row_.saw(ErrorClass.TRANSIENT)
        row_.saw(None)
    row_.saw(ErrorClass.TRANSIENT)
    row_.saw(ErrorClass.THROTTLE)
    assert row_.finding is None
    row_.saw(ErrorClass.THROTTLE)
    row_.saw(ErrorClass.CONFLICT)
    row_.saw(ErrorClass.THROTTLE)
    assert row_.finding is not None

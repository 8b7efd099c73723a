"""Applying: nothing without an approval, each object once and rechecked, every outcome told, nothing twice."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest
from sqlalchemy import update
from tests.support.acting import Orphans
from tests.support.applying import ANA, BO, Stage, figures, row

from fullcount.compiler import ir, program
from fullcount.compiler.catalog import Idempotency
from fullcount.compiler.types import TEXT
from fullcount.runtime.act.context import StopSignal
from fullcount.runtime.connectors.base import ActResult, Existence, Outcome, Reading, SourceError
from fullcount.runtime.evidence.codes import ActReason, Reason
from fullcount.runtime.evidence.envelope import Incompleteness
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.store import tables
from fullcount.runtime.store.views import PlanState
from fullcount.runtime.workspace.exemptions import Exemption


def locked(stage: Stage) -> set[str]:
    """Return the accounts that are locked in the target system: the end state."""
    return {key[0] for key, account in stage.world.account_table.objects.items() if account["locked"]}


# -- refused cases first ----------------------------------------------------------------------------------------------


@pytest.mark.requirement("R24", "R39")
async def test_a_plan_that_nobody_approved_is_not_applied(tmp_path):
    """Without an approval the connector is not even opened for acting."""
    stage = Stage(tmp_path)
    plan = await stage.plan()

    async def opened(source):
        raise AssertionError("opened for acting without an approval")

    report = await stage.apply(plan, open_actor=opened)
    assert report.exit is Exit.WAITING_FOR_APPROVAL
    assert figures(report) == {"not_started": 3}
    assert (stage.source.effects, locked(stage)) == ([], set())


@pytest.mark.requirement("R24", "R39")
async def test_half_a_quorum_is_no_approval(tmp_path):
    """One of two people is not two of two."""
    stage = Stage(tmp_path, Orphans(quorum=2))
    plan = stage.approve(await stage.plan())
    report = await stage.apply(plan)
    assert report.exit is Exit.WAITING_FOR_APPROVAL
    assert stage.source.effects == []
    report = await stage.apply(stage.approve(plan, BO))
    assert figures(report) == {"done": 3}


@pytest.mark.requirement("R24", "R39")
async def test_an_expired_approval_carries_no_act(tmp_path):
    """An approval that ran out is none."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    stage.world.clock.advance(4 * 86_400)
    report = await stage.apply(plan)
    assert report.exit is Exit.REFUSED_BY_POLICY
    assert report.stopped_by.code == "FC708"
    assert stage.source.effects == []


@pytest.mark.requirement("R24", "R39")
async def test_an_approver_who_left_the_role_stands_behind_nothing(tmp_path):
    """Their yes was counted; once they are no longer in the role it carries no act, and they are named."""
    stage = Stage(tmp_path, Orphans(quorum=2))
    plan = stage.approve(await stage.plan(), ANA, BO)
    for left in ({"iam-admin": ("uid:70002", "uid:70003")}, {"iam-admin": ()}, {}, {"iam-admin": ("no-such-user",)}):
        stage.roles = left
        report = await stage.apply(plan)
        assert (report.exit, report.stopped_by.code) == (Exit.REFUSED_BY_POLICY, "FC779")
        assert stage.source.effects == []
    stage.roles = {"iam-admin": ("uid:70002", "uid:70003")}
    report = await stage.apply(plan)
    assert "ana (uid:70001)" in report.stopped_by.message
    stage.roles = {"iam-admin": ("uid:70001", "uid:70002")}
    assert figures(await stage.apply(plan)) == {"done": 3}


@pytest.mark.requirement("R24", "R39")
async def test_an_approver_who_leaves_the_role_meanwhile_ends_the_apply(tmp_path):
    """Roles are read again between acts: what was done stays done, the rest is not started."""
    stage = Stage(tmp_path, Orphans(accounts=120))
    plan = await stage.approved()

    def left(progress):
        stage.roles = {"iam-admin": ("uid:70002",)}

    report = await stage.apply(plan, progress=left)
    assert (report.exit, report.stopped_by.code) == (Exit.REFUSED_BY_POLICY, "FC779")
    assert 0 < report.counts[Outcome.DONE] < 120
    assert report.counts[Outcome.DONE] == len(locked(stage))


@pytest.mark.requirement("R24", "R39")
async def test_an_approval_that_was_taken_back_carries_no_act(tmp_path):
    """What has not begun will not."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    stage.store.revoke_approval(plan.document.plan_id, BO, "second thoughts")
    report = await stage.apply(plan)
    assert report.exit is not Exit.DONE
    assert stage.source.effects == []


@pytest.mark.requirement("R24")
async def test_a_superseded_plan_is_stale_although_it_was_approved(tmp_path):
    """Only the newest plan can be applied."""
    stage = Stage(tmp_path)
    old = await stage.approved()
    stage.world.account_table.put(stage.world.account(9))
    await stage.plan()
    report = await stage.apply(old)
    assert report.exit is Exit.STALE
    assert report.stopped_by.code == "FC710"
    assert stage.source.effects == []


async def test_an_identical_newer_plan_keeps_the_approval(tmp_path):
    """Re-made without a change, with fresh evidence, the plan can be applied at once."""
    stage = Stage(tmp_path)
    await stage.approved()
    again = await stage.plan()
    assert again.state is PlanState.APPROVED
    assert figures(await stage.apply(again)) == {"done": 3}


@pytest.mark.requirement("R21", "R22")
async def test_evidence_that_is_too_old_licenses_nothing(tmp_path):
    """An hour after the accounts were read, `fresh within 1h` no longer holds: refused by evidence."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    stage.world.clock.advance(3_601)
    report = await stage.apply(plan)
    assert report.exit is Exit.REFUSED_BY_EVIDENCE
    assert report.stopped_by.code == "FC761"
    assert stage.source.effects == []


@pytest.mark.requirement("R24")
async def test_while_acting_is_halted_nothing_is_acted_on(tmp_path):
    """The kill switch holds for every plan, and clearing it lets the same plan go on."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    stage.store.halt("incident 17", BO)
    report = await stage.apply(plan)
    assert report.exit is Exit.REFUSED_BY_POLICY
    assert "incident 17" in report.stopped_by.message
    assert stage.source.effects == []
    stage.store.resume(BO)
    assert figures(await stage.apply(plan)) == {"done": 3}


@pytest.mark.requirement("R24")
@pytest.mark.parametrize(
    ("versions", "code"),
    [({"engine": "0.2.0", "fake": "1"}, "FC756"), ({"engine": "0.1.0", "fake": "2"}, "FC757"), ({}, "FC756")],
)
async def test_other_software_than_the_plans_does_not_act(tmp_path, versions, code):
    """What was approved is not necessarily what another version would do."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    report = await stage.apply(plan, versions=versions)
    assert (report.exit, report.stopped_by.code) == (Exit.REFUSED_BY_POLICY, code)
    assert stage.source.effects == []


@pytest.mark.requirement("R24", "R28")
async def test_another_target_system_is_not_acted_on(tmp_path):
    """Credentials for acting that lead elsewhere are noticed before the first act."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    stage.source.facts = {"target.system": "fake://staging", "user": "writer"}
    report = await stage.apply(plan)
    assert (report.exit, report.stopped_by.code) == (Exit.REFUSED_BY_POLICY, "FC758")
    assert stage.source.effects == []


async def test_the_reading_and_the_acting_user_may_differ(tmp_path):
    """Only the facts that name the target must be equal."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    stage.source.facts = stage.source.facts | {"user": "writer"}
    assert figures(await stage.apply(plan)) == {"done": 3}


@pytest.mark.parametrize("limit", [program.Limit(2, None), program.Limit(None, Decimal(50)), program.Limit(0, None)])
async def test_a_plan_over_its_cap_is_not_applied(tmp_path, limit):
    """A plan over its cap can't even be approved, and acts on nothing; `limit 0` means none."""
    stage = Stage(tmp_path, Orphans(limit=limit))
    plan = await stage.plan()
    report = await stage.apply(plan)
    assert (report.exit, report.stopped_by.code) == (Exit.REFUSED_BY_POLICY, "FC711")
    assert stage.source.effects == []


async def test_a_plan_without_an_act_has_nothing_to_apply(tmp_path):
    """A report is not a clean-up."""
    world = Orphans()
    world.workflow = replace(world.workflow, acts=())
    stage = Stage(tmp_path, world)
    report = await stage.apply(await stage.plan())
    assert (report.exit, report.stopped_by.code) == (Exit.USAGE, "FC772")


# -- each object for itself -------------------------------------------------------------------------------------------


@pytest.mark.requirement("R21", "R22", "R36", "R43")
async def test_every_object_is_rechecked_and_only_those_still_due_are_acted_on(tmp_path):
    """Used meanwhile, recreated, gone, owner back: each is left alone and said so; the others are done."""
    stage = Stage(tmp_path, Orphans(accounts=6))
    world = stage.world
    plan = await stage.approved()
    world.account_table.change("a1", last_login=world.clock.start)
    world.account_table.put(world.account(2, uuid="uuid-new"))
    world.account_table.remove("a3")
    world.people_table.put({"id": "gone-4", "active": True})
    report = await stage.apply(plan)
    assert figures(report) == {"done": 2, "changed": 3, "already_gone": 1}
    assert report.exit is Exit.DONE
    assert (row(report, "a1").reason, row(report, "a2").reason) == ("changed", "recreated")
    assert row(report, "a3").outcome is Outcome.ALREADY_GONE
    assert "`people`" in row(report, "a4").detail
    assert locked(stage) == {"a5", "a6"}


@pytest.mark.requirement("R22", "R36")
async def test_objects_that_became_due_after_the_plan_are_not_acted_on(tmp_path):
    """A stale list never licenses unrelated changes: only what the plan names is touched."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    stage.world.account_table.put(stage.world.account(9))
    await stage.apply(plan)
    assert locked(stage) == {"a1", "a2", "a3"}


@pytest.mark.requirement("R20", "R22")
async def test_an_object_that_can_not_be_decided_is_refused_and_the_exit_code_says_so(tmp_path):
    """Unknown is never taken for true; the run ends as refused by evidence."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    unknown = Reading(Existence.UNKNOWN, reasons=(Incompleteness(code=Reason.EXISTENCE_UNKNOWN),))
    stage.source.on("read", at=stage.source.count_of("read") + 2, do=unknown)
    report = await stage.apply(plan)
    assert figures(report) == {"done": 2, "refused": 1}
    assert report.exit is Exit.REFUSED_BY_EVIDENCE


async def test_an_object_exempted_since_the_plan_is_refused_with_the_reason(tmp_path):
    """Lists are read again at the act; expired entries and those of other workflows do not count."""
    world = Orphans(excepts=[program.Exemption("exemptions", None)])
    stage = Stage(tmp_path, world)
    plan = await stage.approved()
    soon, past = date(2027, 1, 1), date(2026, 1, 1)
    stage.lists["exemptions"] = (
        Exemption(("a1",), None, "ana", "audit", soon),
        Exemption(("a2",), "another_workflow", "ana", "audit", soon),
        Exemption(("a3",), None, "ana", "audit", past),
    )
    report = await stage.apply(plan)
    assert figures(report) == {"done": 2, "refused": 1}
    assert row(report, "a1").reason == "FC760"
    assert "audit (ana)" in row(report, "a1").detail
    assert report.exit is Exit.DONE
    assert locked(stage) == {"a2", "a3"}


async def test_the_live_cells_are_the_precondition_of_the_write(tmp_path):
    """A change between recheck and write is noticed by the source and reported as changed."""
    stage = Stage(tmp_path, Orphans(accounts=1))
    plan = await stage.approved()
    stage.world.account_table.change("a1", locked=False)  # version 2: still due
    stage.source.on("perform", do=lambda: stage.world.account_table.change("a1", locked=False))  # version 3, in between
    report = await stage.apply(plan)
    assert figures(report) == {"changed": 1}
    assert row(report, "a1").reason == ActReason.PRECONDITION_FAILED
    assert locked(stage) == set()


@pytest.mark.requirement("R28", "R40")
async def test_a_key_argument_that_names_another_object_is_refused(tmp_path):
    """An argument worked out from an object's data can't turn the act to another object."""
    world = Orphans()
    world.account_table.change("a1", owner="a2")
    owner = ir.Field("a", "accounts", "owner", TEXT, optional=True)
    call = replace(world.workflow.acts[0].call, arguments=world.workflow.acts[0].call.arguments | {"id": owner})
    world.workflow = replace(world.workflow, acts=(replace(world.workflow.acts[0], call=call),))
    stage = Stage(tmp_path, world)
    plan = await stage.approved()
    report = await stage.apply(plan)
    assert figures(report) == {"refused": 3}
    assert row(report, "a1").reason == "FC766"
    assert stage.source.count_of("perform") == 0


# -- idempotent acts --------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R29", "R30")
async def test_a_second_apply_does_nothing_and_repeats_the_figures(tmp_path):
    """Doing it twice equals doing it once."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    stage.world.account_table.remove("a3")
    first = await stage.apply(plan)
    calls, head = len(stage.source.calls), stage.store.head()
    second = await stage.apply(plan)
    assert (second.repeated, second.exit) == (True, Exit.DONE)
    assert second.counts == first.counts
    assert len(stage.source.calls) == calls
    assert stage.store.head() == head


@pytest.mark.requirement("R29")
async def test_each_act_carries_its_own_key_and_every_retry_the_same(tmp_path):
    """Keys differ by object, and come from the approval."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    await stage.apply(plan)
    entries = stage.store.ledger(plan.document.plan_id)
    keys = {entry.idempotency_key for entry in entries}
    assert len(keys) == 3
    assert keys == set(stage.source.performed)


@pytest.mark.requirement("R32")
@pytest.mark.parametrize("took_effect", [True, False])
async def test_a_lost_answer_is_unknown_and_resolved_by_reading_never_by_a_fresh_act(tmp_path, took_effect):
    """The next apply reads what became of it: done, or gone on with under the same key; changed once in any case."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    stage.source.lose_answer(at=2, took_effect=took_effect)
    first = await stage.apply(plan)
    assert figures(first) == {"done": 2, "unknown": 1}
    assert first.exit is Exit.ERROR
    assert stage.store.load_plan(plan.document.plan_id).state is PlanState.APPLYING
    keys = [e.idempotency_key for e in stage.store.open_intents(plan.document.plan_id)]
    second = await stage.apply(plan)
    assert figures(second) == {"done": 3}
    assert second.exit is Exit.DONE
    assert len(stage.source.effects) == 3
    assert set(keys) <= set(stage.source.performed)
    assert stage.source.count_of("perform") == (3 if took_effect else 4)


@pytest.mark.requirement("R32")
async def test_an_outcome_that_reading_can_not_tell_stays_unknown(tmp_path):
    """Not known is not tried again, however often the plan is applied."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    stage.source.lose_answer(at=1, took_effect=False)
    await stage.apply(plan)
    error = SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE))
    stage.source.on("took_effect", at=None, do=error)
    for _ in range(2):
        report = await stage.apply(plan)
        assert figures(report) == {"done": 2, "unknown": 1}
        assert report.exit is Exit.ERROR
    assert stage.source.count_of("perform") == 3


@pytest.mark.requirement("R29", "R32")
async def test_a_call_that_must_not_come_twice_is_not_made_again_though_nothing_of_it_is_to_be_seen(tmp_path):
    """A first call that is still on its way would be done twice, so its object stays unknown until it is seen."""
    stage = Stage(tmp_path)
    operations = stage.world.accounts.operations
    once = replace(operations["update"], idempotency=Idempotency.NONE)
    stage.world.accounts = replace(stage.world.accounts, operations={**operations, "update": once})
    plan = await stage.approved()
    stage.source.lose_answer(at=1, took_effect=False)
    await stage.apply(plan)
    for _ in range(2):
        assert figures(await stage.apply(plan)) == {"done": 2, "unknown": 1}
    assert stage.source.count_of("perform") == 3


@pytest.mark.requirement("R29", "R32")
async def test_a_call_that_the_target_accepted_for_later_is_not_made_again(tmp_path):
    """It counts as done as soon as it is seen, and until then it is awaited."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    stage.source.on("perform", at=1, do=ActResult(Outcome.UNKNOWN, ActReason.OUTCOME_PENDING))
    await stage.apply(plan)
    assert figures(await stage.apply(plan)) == {"done": 2, "unknown": 1}
    assert stage.source.count_of("perform") == 3
    stage.source.on("took_effect", at=None, do=True)
    assert figures(await stage.apply(plan)) == {"done": 3}
    assert stage.source.count_of("perform") == 3


@pytest.mark.requirement("R29", "R32")
@pytest.mark.parametrize(("came", "ends"), [(True, "done"), (False, "changed"), (None, "unknown")])
async def test_an_act_that_came_late_is_not_taken_for_somebody_elses_doing(tmp_path, came, ends):
    """An object with an open intent that is found changed is left as such only if that act surely did not do it."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    stage.source.lose_answer(at=1, took_effect=False)
    await stage.apply(plan)

    answers = iter((False, came))

    def read():
        answer = next(answers)
        stage.world.account_table.change("a1", owner="p1")
        if answer is None:
            raise SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE))
        return answer

    stage.source.on("took_effect", at=None, do=read)
    report = await stage.apply(plan)
    assert figures(report) == ({"done": 3} if ends == "done" else {"done": 2, ends: 1})
    assert stage.source.count_of("perform") == 3


@pytest.mark.requirement("R29", "R30", "R39")
async def test_the_same_key_with_other_parameters_is_never_called(tmp_path):
    """An object that changed between intent and retry is `changed`: the key stands for one call and no other."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    stage.source.lose_answer(at=1, took_effect=False)
    await stage.apply(plan)
    stage.world.account_table.change("a1", locked=False)
    report = await stage.apply(plan)
    assert figures(report) == {"done": 2, "changed": 1}
    assert row(report, "a1").reason == ActReason.IDEMPOTENCY_MISMATCH
    assert stage.source.count_of("perform") == 3


@pytest.mark.requirement("R32")
async def test_a_connector_that_raises_after_sending_leaves_the_outcome_unknown(tmp_path):
    """An error of the source during the write is no proof that nothing was written."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    stage.source.on("perform", at=1, do=SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE)))
    report = await stage.apply(plan)
    assert figures(report) == {"done": 2, "unknown": 1}


async def test_a_connector_that_breaks_its_contract_leaves_a_truthful_record(tmp_path):
    """An exception that no contract knows ends the run, with every other outcome recorded and its own left open."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    stage.source.on("perform", at=2, do=RuntimeError("bug"))
    with pytest.raises(RuntimeError, match="bug"):
        await stage.apply(plan)
    entries = {e.object_key: e.outcome for e in stage.store.ledger(plan.document.plan_id)}
    assert list(entries.values()).count(Outcome.DONE) == 2
    assert [e.outcome for e in stage.store.open_intents(plan.document.plan_id)] == [None]
    assert stage.store.runs(1)[0].exit == Exit.ERROR
    assert figures(await stage.apply(plan)) == {"done": 3}


@pytest.mark.requirement("R34")
async def test_intents_are_committed_before_the_call_and_outcomes_after_it(tmp_path):
    """At the moment of each call its intent is in the store, and its outcome is not."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    seen = []

    def look():
        seen.append([entry.outcome for entry in stage.store.ledger(plan.document.plan_id)])

    stage.source.on("perform", at=None, do=look)
    await stage.apply(plan)
    assert seen == [[None, None, None]] * 3
    entry = stage.store.ledger(plan.document.plan_id)[0]
    assert entry.operation == "fake.accounts.update"
    assert entry.parameters["arguments"] == {"id": entry.object_key[0], "locked": True}
    assert entry.parameters["expected"]["version"] == [1]


# -- stopping ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("stop", "failed"), [(program.Stop(3, None), 3), (program.Stop(None, Decimal(10)), 1)])
async def test_the_stop_rule_ends_the_run_and_the_rest_was_not_started(tmp_path, stop, failed):
    """After so many failures nothing further is acted on, also not by applying again."""
    stage = Stage(tmp_path, Orphans(accounts=10, stop=stop))
    plan = await stage.approved()
    stage.source.on("perform", at=None, do=ActResult(Outcome.FAILED, None, "no"))
    report = await stage.apply(plan)
    assert figures(report) == {"failed": failed, "not_started": 10 - failed}
    assert (report.exit, report.stopped_by.code) == (Exit.ERROR, "FC764")
    calls = stage.source.count_of("perform")
    again = await stage.apply(plan)
    assert again.counts == report.counts
    assert stage.source.count_of("perform") == calls


async def test_failures_that_do_not_reach_the_rule_do_not_stop_the_run(tmp_path):
    """Two failures of three allowed: every object is tried."""
    stage = Stage(tmp_path, Orphans(accounts=10, stop=program.Stop(3, None)))
    plan = await stage.approved()
    for at in (2, 5):
        stage.source.on("perform", at=at, do=ActResult(Outcome.FAILED, None, "no"))
    report = await stage.apply(plan)
    assert figures(report) == {"done": 8, "failed": 2}
    assert report.exit is Exit.ERROR


async def test_a_stop_signal_takes_up_nothing_new_and_the_plan_can_be_gone_on_with(tmp_path):
    """What is under way is finished, the rest is not started, and a second apply does the rest."""
    stage = Stage(tmp_path, Orphans(accounts=10, concurrency=2))
    plan = await stage.approved()
    signal = StopSignal()
    stage.source.on("perform", at=1, do=lambda: signal.request("maintenance"))
    report = await stage.apply(plan, stop=signal)
    assert figures(report) == {"done": 2, "not_started": 8}
    assert (report.exit, report.stopped_by.code) == (Exit.ERROR, "FC765")
    assert figures(await stage.apply(plan)) == {"done": 10}


async def test_a_cancelled_run_finishes_what_is_under_way_and_records_it(tmp_path):
    """A cancellation (Ctrl-C) ends the run in order: no intent is left open, and the run is recorded as ended."""
    stage = Stage(tmp_path, Orphans(accounts=10, concurrency=2))
    plan = await stage.approved()
    running = asyncio.ensure_future(stage.apply(plan))
    stage.source.on("perform", at=1, do=lambda: running.cancel() and None)
    with pytest.raises(asyncio.CancelledError):
        await running
    assert stage.store.open_intents(plan.document.plan_id) == ()
    assert stage.store.counts(plan.document.plan_id)[Outcome.DONE] == 2
    assert stage.store.runs(1)[0].state == "stopped"
    assert figures(await stage.apply(plan)) == {"done": 10}


@pytest.mark.requirement("R24")
async def test_a_halt_in_the_middle_stops_before_the_next_act(tmp_path):
    """A halt that comes while acts are under way forbids the next one, also one whose intent is committed."""
    stage = Stage(tmp_path, Orphans(accounts=10, concurrency=2))
    plan = await stage.approved()

    def halt():
        stage.store.halt("incident", BO)
        stage.world.clock.advance(1)

    stage.source.on("perform", at=1, do=halt)
    report = await stage.apply(plan)
    assert figures(report) == {"done": 1, "refused": 1, "not_started": 8}
    assert report.exit is Exit.REFUSED_BY_POLICY
    assert len(stage.source.effects) == 1


async def test_evidence_that_goes_stale_in_the_middle_stops_the_run(tmp_path):
    """The age of the evidence is asked before each act, not only at the start."""
    stage = Stage(tmp_path, Orphans(accounts=10, concurrency=1))
    plan = await stage.approved()
    stage.source.on("perform", at=3, do=lambda: stage.world.clock.advance(3_601))
    report = await stage.apply(plan, lease_time=timedelta(hours=9))
    assert report.exit is Exit.REFUSED_BY_EVIDENCE
    assert len(stage.source.effects) == 3
    assert report.counts[Outcome.DONE] == 3


async def test_a_plan_superseded_in_the_middle_stops_the_run(tmp_path):
    """A newer plan made meanwhile ends the older one's apply."""
    stage = Stage(tmp_path, Orphans(accounts=6, concurrency=1))
    plan = await stage.approved()

    def supersede():
        with stage.store.writing() as tx:
            tx.session.execute(update(tables.Plan).values(superseded_by="01JDZ8M3Q5W7X9Y1Z3A5B7C9D1"))
        stage.world.clock.advance(1)

    stage.source.on("perform", at=2, do=supersede)
    report = await stage.apply(plan)
    assert report.exit is Exit.STALE
    assert len(stage.source.effects) == 2


# -- one at a time ----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R29")
async def test_two_applies_of_one_plan_exclude_each_other(tmp_path):
    """The second one is told that another run is at work, and acts on nothing."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    second, tasks = [], []

    async def other():
        second.append(await stage.apply(plan))

    stage.source.on("perform", at=1, do=lambda: tasks.append(asyncio.ensure_future(other())) and None)
    first = await stage.apply(plan)
    await asyncio.gather(*tasks)
    assert figures(first) == {"done": 3}
    assert len(stage.source.effects) == 3
    assert second[0].exit in (Exit.REFUSED_BY_POLICY, Exit.DONE)


@pytest.mark.requirement("R29")
async def test_a_held_lease_refuses_a_second_apply(tmp_path):
    """While another run holds the lease nothing is acted on."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    stage.store.claim_plan(plan.document.plan_id, "other host", timedelta(seconds=30))
    report = await stage.apply(plan)
    assert (report.exit, report.stopped_by.code) == (Exit.REFUSED_BY_POLICY, "FC720")
    assert stage.source.effects == []


@pytest.mark.requirement("R29")
async def test_a_run_that_lost_its_lease_stops_and_the_next_one_goes_on(tmp_path):
    """A run that was away for too long is fenced off before its next act."""
    stage = Stage(tmp_path, Orphans(accounts=6, concurrency=1))
    plan = await stage.approved()

    def overtaken():
        stage.world.clock.advance(60)
        fence = stage.store.claim_plan(plan.document.plan_id, "other host", timedelta(seconds=1))
        stage.store.release(fence)

    stage.source.on("perform", at=2, do=overtaken)
    report = await stage.apply(plan)
    assert report.exit is Exit.STALE
    assert len(stage.source.effects) == 2
    assert figures(await stage.apply(plan)) == {"done": 6}
    assert len(stage.source.effects) == 6


# -- pace -------------------------------------------------------------------------------------------------------------


async def test_the_rate_is_never_exceeded(tmp_path):
    """Two acts a second: in no second do more than two start."""
    stage = Stage(tmp_path, Orphans(accounts=10, rate=Decimal(2), concurrency=4))
    plan = await stage.approved()
    at = []
    stage.source.on("perform", at=None, do=lambda: at.append(stage.world.clock.seconds) and None)
    report = await stage.apply(plan)
    assert figures(report) == {"done": 10}
    assert all(sum(1 for t in at if start <= t < start + 0.999) <= 2 for start in at)
    assert at[-1] - at[0] >= 4


async def test_no_more_calls_are_under_way_than_the_concurrency(tmp_path):
    """Concurrency bounds calls and rechecks alike."""
    stage = Stage(tmp_path, Orphans(accounts=12, concurrency=3))
    plan = await stage.approved()
    running, most = 0, 0
    real = type(stage.source).perform

    async def perform(call):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        running -= 1
        return await real(stage.source, call)

    stage.source.perform = perform
    assert figures(await stage.apply(plan)) == {"done": 12}
    assert most == 3


async def test_progress_is_told_after_each_group_and_ends_at_the_plan(tmp_path):
    """The last progress has every object."""
    stage = Stage(tmp_path, Orphans(accounts=9, concurrency=2))
    plan = await stage.approved()
    told = []
    await stage.apply(plan, progress=told.append)
    assert told[-1].finished == told[-1].planned == 9
    assert [p.finished for p in told] == sorted(p.finished for p in told)


@pytest.mark.requirement("R32", "R33")
async def test_an_outage_does_not_use_the_plan_up(tmp_path):
    """What could not be read was not decided: the same plan goes on when the source answers again."""
    stage = Stage(tmp_path)
    plan = await stage.approved()
    for call in (1, 2, 3):
        stage.source.on("read", at=call, do=SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE)))
    report = await stage.apply(plan)
    assert (figures(report), report.repeated) == ({"not_started": 3}, False)
    assert report.exit is not Exit.DONE
    assert locked(stage) == set()
    report = await stage.apply(plan)
    assert (report.exit, figures(report)) == (Exit.DONE, {"done": 3})

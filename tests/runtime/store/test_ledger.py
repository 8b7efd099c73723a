"""The ledger: no act without its evidence in the same transaction, one key and one outcome for each object."""

from __future__ import annotations

import pytest
from sqlalchemy import delete
from sqlalchemy.exc import IntegrityError
from tests.support.stores import ANA, BO, TTL, WORKFLOW, lock

from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.exit_codes import Exit
from fullcount.runtime.journal.verify import verify
from fullcount.runtime.store.errors import (
    ApprovalMissing,
    ApprovalRefused,
    FenceLost,
    Halted,
    IdempotencyMismatch,
    LedgerRefused,
    PlanRefused,
    PlanStale,
    StoreError,
)
from fullcount.runtime.store.tables import Control
from fullcount.runtime.store.views import ActKind, Intent, OutcomeEntry, PlanState


def done(key: str, outcome: Outcome = Outcome.DONE, **more: object) -> OutcomeEntry:
    return OutcomeEntry((key,), outcome, **more)


def refused_intent(office, plan, run_id, fence, error, *intents, **options):
    """Nothing is recorded, neither in the ledger nor in the journal."""
    head, plan_id = office.store.head(), plan.document.plan_id
    before = office.store.ledger(plan_id)
    with pytest.raises(error) as found:
        office.store.record_intents(plan_id, run_id, fence, list(intents) or [lock("a")], **options)
    assert office.store.ledger(plan_id) == before
    assert office.store.head() == head
    return found.value


# -- without an approval ----------------------------------------------------------------------------------------------


@pytest.mark.requirement("R24", "R39")
def test_an_apply_without_any_approval_waits_for_it(office):
    """Nobody approved: refused, with the exit code that says waiting."""
    plan = office.plan("a")
    run_id, fence = office.begin(plan)
    with pytest.raises(ApprovalMissing) as found:
        office.store.begin_apply(plan.document.plan_id, run_id, fence)
    assert (found.value.code, found.value.exit) == ("FC707", Exit.WAITING_FOR_APPROVAL)
    refused_intent(office, plan, run_id, fence, PlanRefused)


@pytest.mark.requirement("R24", "R39")
def test_an_apply_with_half_of_the_quorum_waits_for_the_other(office):
    """One of two is not an approval."""
    plan = office.plan("a")
    office.approve(plan, ANA)
    run_id, fence = office.begin(plan)
    with pytest.raises(ApprovalMissing):
        office.store.begin_apply(plan.document.plan_id, run_id, fence)


@pytest.mark.requirement("R24", "R39")
def test_an_approval_that_runs_out_stops_the_next_intent(office):
    """Expiry is seen in the transaction of the intent, also in the middle of an apply."""
    plan, run_id, fence = office.applying("a", "b")
    office.store.record_intents(plan.document.plan_id, run_id, fence, [lock("a")])
    office.clock.forward(days=3)
    fence = office.store.claim_plan(plan.document.plan_id, run_id, TTL)
    error = refused_intent(office, plan, run_id, fence, ApprovalRefused, lock("b"))
    assert error.code == "FC708"


@pytest.mark.requirement("R24")
def test_an_approval_that_is_taken_back_stops_the_next_intent(office):
    """Revoking works at once."""
    plan, run_id, fence = office.applying("a")
    office.store.revoke_approval(plan.document.plan_id, BO, "stop")
    assert refused_intent(office, plan, run_id, fence, ApprovalRefused).code == "FC709"


@pytest.mark.requirement("R24", "R29")
def test_an_approval_given_anew_carries_nothing_until_an_apply_begins_under_it(office):
    """Otherwise an identical plan could use the same approval a second time."""
    plan, run_id, fence = office.applying("a")
    plan_id = plan.document.plan_id
    office.store.revoke_approval(plan_id, BO, "wait")
    office.approve(plan)
    assert refused_intent(office, plan, run_id, fence, PlanRefused).code == "FC712"
    office.store.begin_apply(plan_id, run_id, fence)
    assert office.store.record_intents(plan_id, run_id, fence, [lock("a")])[0].fresh
    assert office.plan("a").state is PlanState.WAITING


@pytest.mark.requirement("R24")
def test_a_newer_plan_stops_the_next_intent_of_the_older(office):
    """Superseded in the middle of an apply: the rest is not begun."""
    plan, run_id, fence = office.applying("a")
    office.plan("b")
    assert refused_intent(office, plan, run_id, fence, PlanStale).code == "FC710"


def test_the_kill_switch_stops_the_next_intent_and_can_be_lifted(office):
    """While acting is halted nothing begins; outcomes of what began are still taken."""
    plan, run_id, fence = office.applying("a", "b")
    plan_id = plan.document.plan_id
    office.store.record_intents(plan_id, run_id, fence, [lock("a")])
    office.store.halt("smoke in the data centre", ANA)
    assert office.store.halted() == "smoke in the data centre (ana)"
    error = refused_intent(office, plan, run_id, fence, Halted, lock("b"))
    assert (error.code, error.exit) == ("FC722", Exit.REFUSED_BY_POLICY)
    office.store.record_outcomes(plan_id, run_id, fence, [done("a")])
    office.store.resume(BO)
    assert office.store.halted() is None
    assert office.store.record_intents(plan_id, run_id, fence, [lock("b")])[0].fresh


@pytest.mark.requirement("R24")
def test_a_pause_of_its_workflow_stops_the_next_intent_and_no_undo(office):
    """Other workflows go on, outcomes are still taken, what was done can be taken back, and the record verifies."""
    plan, run_id, fence = office.applying("a", "b")
    plan_id = plan.document.plan_id
    office.store.record_intents(plan_id, run_id, fence, [lock("a")])
    office.store.pause("another_workflow", "not this one", ANA)
    office.store.pause(WORKFLOW, "the directory moves", ANA)
    assert office.store.paused_because(WORKFLOW) == "the directory moves (ana)"
    error = refused_intent(office, plan, run_id, fence, Halted, lock("b"))
    assert (error.code, error.exit) == ("FC785", Exit.REFUSED_BY_POLICY)
    office.store.record_outcomes(plan_id, run_id, fence, [done("a")])
    office.store.release(fence)
    undo, undo_run, held = office.undoing(plan, "a")
    taken = office.store.record_intents(undo.document.plan_id, undo_run, held, [lock("a")], kind=ActKind.UNDO)
    assert taken[0].fresh
    office.store.release(held)
    office.store.unpause(WORKFLOW, BO)
    fence = office.store.claim_plan(plan_id, run_id, TTL)
    assert office.store.record_intents(plan_id, run_id, fence, [lock("b")])[0].fresh
    assert verify(office.store).problems == ()


def test_a_pause_that_was_lifted_past_the_store_does_not_verify(office):
    """Somebody removes the switch by hand: acts that are meant then are wrong by the record."""
    plan, run_id, fence = office.applying("a")
    office.store.pause(WORKFLOW, "wait", ANA)
    with office.store.writing() as tx:
        tx.session.execute(delete(Control))
    office.store.record_intents(plan.document.plan_id, run_id, fence, [lock("a")])
    said = {problem.what for problem in verify(office.store).problems}
    assert any("was paused" in what for what in said), said


# -- fences -----------------------------------------------------------------------------------------------------------


def test_a_run_that_was_overtaken_can_not_record_an_intent(office):
    """The older token is refused as soon as another run has claimed the lease."""
    plan, run_id, fence = office.applying("a")
    office.clock.forward(minutes=5)
    other = office.store.begin_run(WORKFLOW, "apply", BO, plan_id=plan.document.plan_id)
    newer = office.store.claim_plan(plan.document.plan_id, other, TTL)
    assert newer.token > fence.token
    error = refused_intent(office, plan, run_id, fence, FenceLost)
    assert (error.code, error.exit) == ("FC721", Exit.STALE)


def test_a_lease_that_ran_out_is_lost_even_if_nobody_took_it(office):
    """Time is the store's: a worker that slept can't go on."""
    plan, run_id, fence = office.applying("a")
    office.clock.forward(minutes=5)
    refused_intent(office, plan, run_id, fence, FenceLost)


def test_a_lease_on_something_else_does_not_allow_acting(office):
    """The fence must be for this plan."""
    plan, run_id, _ = office.applying("a")
    other = office.store.claim(f"plan/{plan.document.plan_id}x", run_id, TTL)
    refused_intent(office, plan, run_id, other, FenceLost)
    part = office.store.claim_plan(plan.document.plan_id, run_id, TTL, part="shard-1")
    assert office.store.record_intents(plan.document.plan_id, run_id, part, [lock("a")])[0].fresh


def test_an_outcome_is_taken_even_when_the_lease_was_lost(office):
    """What happened, happened; but a decision to leave an object alone needs the lease."""
    plan, run_id, fence = office.applying("a", "b")
    plan_id = plan.document.plan_id
    office.store.record_intents(plan_id, run_id, fence, [lock("a")])
    office.clock.forward(minutes=5)
    with pytest.raises(FenceLost):
        office.store.record_outcomes(plan_id, run_id, fence, [done("b", Outcome.CHANGED)])
    assert office.store.record_outcomes(plan_id, run_id, fence, [done("a")])[0].outcome is Outcome.DONE


# -- what may be meant ------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R21", "R24")
def test_an_object_that_the_plan_does_not_name_is_refused(office):
    """Neither an intent nor an outcome can be recorded for it, and the others of the step aren't either."""
    plan, run_id, fence = office.applying("a")
    assert refused_intent(office, plan, run_id, fence, LedgerRefused, lock("a"), lock("zzz")).code == "FC723"
    with pytest.raises(LedgerRefused, match="does not name"):
        office.store.record_outcomes(plan.document.plan_id, run_id, fence, [done("zzz", Outcome.CHANGED)])


def test_the_database_itself_refuses_an_act_outside_the_plan(office):
    """Held by a foreign key, not by the program's good will."""
    plan, _, _ = office.applying("a")
    with pytest.raises(IntegrityError), office.store.writing() as tx:
        tx.session.connection().exec_driver_sql(
            "INSERT INTO acts (act_id, plan_id, object_key, kind) VALUES ('x', ?, '[\"zzz\"]', 'act')",
            (plan.document.plan_id,),
        )


@pytest.mark.parametrize("kind", ["plan", "undo", "another plan's", "finished", "unknown"])
def test_only_a_running_apply_of_this_plan_may_record_its_acts(office, kind):
    """Every entry belongs to a run of the right kind."""
    plan, run_id, fence = office.applying("a")
    plan_id = plan.document.plan_id
    match kind:
        case "another plan's":
            run_id = office.store.begin_run(WORKFLOW, "apply", ANA, plan_id="01JDZ8M3Q5W7X9Y1Z3A5B7C9D1")
        case "finished":
            office.store.finish_run(run_id, "done", Exit.DONE, {})
        case "unknown":
            run_id = "01JDZ8M3Q5W7X9Y1Z3A5B7C9D1"
        case _:
            run_id = office.store.begin_run(WORKFLOW, kind, ANA, plan_id=plan_id)
    assert refused_intent(office, plan, run_id, fence, StoreError).code == "FC733"


def test_a_step_takes_between_one_and_fifty_objects_each_once(office):
    """No empty step, no endless one, no object twice."""
    keys = [f"k{number}" for number in range(51)]
    plan, run_id, fence = office.applying(*keys[:50])
    plan_id = plan.document.plan_id
    for wrong in ([], [lock(key) for key in keys]):
        with pytest.raises(ValueError, match="between 1 and 50"):
            office.store.record_intents(plan_id, run_id, fence, wrong)
    refused_intent(office, plan, run_id, fence, LedgerRefused, lock("k1"), lock("k1"))
    assert len(office.store.record_intents(plan_id, run_id, fence, [lock(key) for key in keys[:50]])) == 50


# -- idempotency ------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R30", "R39")
@pytest.mark.parametrize(
    "other",
    [lock("a", locked=False), lock("a", more=1), Intent(("a",), "directory.delete", {"id": "a", "locked": True})],
)
def test_the_same_key_with_other_parameters_is_an_error(office, other):
    """IDEMPOTENCY_MISMATCH, before and after the outcome, and nothing of the step is recorded."""
    plan, run_id, fence = office.applying("a", "b")
    plan_id = plan.document.plan_id
    office.store.record_intents(plan_id, run_id, fence, [lock("a")])
    error = refused_intent(office, plan, run_id, fence, IdempotencyMismatch, lock("b"), other)
    assert error.code == "FC724"
    assert "IDEMPOTENCY_MISMATCH" in error.message
    office.store.record_outcomes(plan_id, run_id, fence, [done("a")])
    refused_intent(office, plan, run_id, fence, IdempotencyMismatch, other)


@pytest.mark.requirement("R29", "R30")
def test_the_same_act_again_returns_what_is_stored(office):
    """Same key, same parameters: the stored entry, marked as not fresh, and nothing new in the journal."""
    plan, run_id, fence = office.applying("a")
    plan_id = plan.document.plan_id
    first = office.store.record_intents(plan_id, run_id, fence, [lock("a")])[0]
    office.store.record_outcomes(plan_id, run_id, fence, [done("a", before={"locked": False}, detail="ok")])
    head = office.store.head()
    again = office.store.record_intents(plan_id, run_id, fence, [lock("a")])[0]
    assert (first.fresh, again.fresh) == (True, False)
    assert again.idempotency_key == first.idempotency_key
    assert (again.outcome, again.before, again.detail) == (Outcome.DONE, {"locked": False}, "ok")
    assert office.store.head() == head


@pytest.mark.requirement("R29")
def test_every_object_operation_and_kind_has_its_own_key(office):
    """No two acts share a key, also not the act and its undo."""
    plan, run_id, fence = office.applying("a", "b")
    plan_id = plan.document.plan_id
    acts = office.store.record_intents(plan_id, run_id, fence, [lock("a"), lock("b")])
    office.store.record_outcomes(plan_id, run_id, fence, [done("a"), done("b")])
    office.store.release(fence)
    undone, undo_run, fence = office.undoing(plan, "a")
    undo = office.store.record_intents(undone.document.plan_id, undo_run, fence, [lock("a")], kind=ActKind.UNDO)
    assert len({entry.idempotency_key for entry in (*acts, *undo)}) == 3


# -- outcomes ---------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R29")
@pytest.mark.parametrize("first", sorted(set(Outcome) - {Outcome.UNKNOWN, Outcome.NOT_STARTED}))
def test_a_final_outcome_never_changes(office, first):
    """A contradicting outcome is refused, by the store and by the database under it."""
    plan, run_id, fence = office.applying("a")
    plan_id = plan.document.plan_id
    office.store.record_intents(plan_id, run_id, fence, [lock("a")])
    office.store.record_outcomes(plan_id, run_id, fence, [done("a", first)])
    second = Outcome.FAILED if first is not Outcome.FAILED else Outcome.DONE
    with pytest.raises(LedgerRefused) as found:
        office.store.record_outcomes(plan_id, run_id, fence, [done("a", second)])
    assert found.value.code == "FC725"
    with pytest.raises(IntegrityError, match="is a record"), office.store.writing() as tx:
        tx.session.connection().exec_driver_sql("UPDATE acts SET outcome = 'unknown'")
    head = office.store.head()
    assert office.store.record_outcomes(plan_id, run_id, fence, [done("a", first)])[0].outcome is first
    assert office.store.record_outcomes(plan_id, run_id, fence, [done("a", Outcome.UNKNOWN)])[0].outcome is first
    assert office.store.head() == head


@pytest.mark.requirement("R32")
def test_an_unknown_outcome_stays_open_until_it_is_resolved(office):
    """Unknown counts as open, may become final once, and does not end the plan."""
    plan, run_id, fence = office.applying("a")
    plan_id = plan.document.plan_id
    office.store.record_intents(plan_id, run_id, fence, [lock("a")])
    assert [entry.outcome for entry in office.store.open_intents(plan_id)] == [None]
    assert office.store.counts(plan_id)[Outcome.UNKNOWN] == 1
    office.store.record_outcomes(plan_id, run_id, fence, [done("a", Outcome.UNKNOWN)])
    assert [entry.outcome for entry in office.store.open_intents(plan_id)] == [Outcome.UNKNOWN]
    assert office.store.finish_apply(plan_id, run_id, fence)[Outcome.UNKNOWN] == 1
    assert office.store.load_plan(plan_id).state is PlanState.APPLYING
    office.store.record_outcomes(plan_id, run_id, fence, [done("a")])
    assert office.store.open_intents(plan_id) == ()
    office.store.finish_apply(plan_id, run_id, fence)
    assert office.store.load_plan(plan_id).state is PlanState.APPLIED


@pytest.mark.parametrize("outcome", [Outcome.DONE, Outcome.FAILED, Outcome.UNKNOWN, Outcome.NOT_STARTED])
def test_an_outcome_of_an_act_needs_an_intent_before_it(office, outcome):
    """`done`, `failed` and `unknown` without an intent can't be true; `not_started` is never written."""
    plan, run_id, fence = office.applying("a")
    with pytest.raises(LedgerRefused) as found:
        office.store.record_outcomes(plan.document.plan_id, run_id, fence, [done("a", outcome)])
    assert found.value.code == "FC726"


def test_an_object_that_was_left_alone_needs_no_intent_and_gets_none_later(office):
    """Changed, gone or refused at the recheck is final: an intent for it returns the outcome instead."""
    plan, run_id, fence = office.applying("a", "b", "c")
    plan_id = plan.document.plan_id
    left = [done("a", Outcome.CHANGED), done("b", Outcome.ALREADY_GONE), done("c", Outcome.REFUSED, reason="X")]
    office.store.record_outcomes(plan_id, run_id, fence, left)
    entry = office.store.record_intents(plan_id, run_id, fence, [lock("a")])[0]
    assert (entry.fresh, entry.outcome, entry.idempotency_key) == (False, Outcome.CHANGED, None)
    assert office.store.open_intents(plan_id) == ()
    office.store.finish_apply(plan_id, run_id, fence)
    assert office.store.load_plan(plan_id).state is PlanState.APPLIED


@pytest.mark.requirement("R33")
def test_any_text_can_be_kept_as_a_detail(office):
    """A message with nulls, lone surrogates or megabytes never prevents an outcome from being recorded."""
    plan, run_id, fence = office.applying("a")
    plan_id = plan.document.plan_id
    office.store.record_intents(plan_id, run_id, fence, [lock("a")])
    nasty = "\x00\x1b[31m\ud800 ' \" \\ " + "x" * 100_000
    entry = office.store.record_outcomes(plan_id, run_id, fence, [done("a", Outcome.FAILED, detail=nasty)])[0]
    assert entry.outcome is Outcome.FAILED
    assert "\x00" not in entry.detail
    assert len(entry.detail) < 5_000


# -- the end ----------------------------------------------------------------------------------------------------------


def test_a_plan_is_used_once(office):
    """After every object has its outcome, neither intent nor apply is taken."""
    plan, run_id, fence = office.applying("a")
    plan_id = plan.document.plan_id
    office.store.record_intents(plan_id, run_id, fence, [lock("a")])
    office.store.record_outcomes(plan_id, run_id, fence, [done("a")])
    counts = office.store.finish_apply(plan_id, run_id, fence)
    assert sum(counts.values()) == 1
    for again in (
        lambda: office.store.begin_apply(plan_id, run_id, fence),
        lambda: office.store.record_intents(plan_id, run_id, fence, [lock("a")]),
        lambda: office.approve(plan, ANA),
    ):
        with pytest.raises(PlanRefused) as found:
            again()
        assert found.value.code == "FC712"


def test_an_apply_that_was_cut_off_is_gone_on_with(office):
    """A second run takes over, sees the open intent, and the counts always add up to the candidates."""
    plan, run_id, fence = office.applying("a", "b", "c")
    plan_id = plan.document.plan_id
    office.store.record_intents(plan_id, run_id, fence, [lock("a"), lock("b")])
    office.store.record_outcomes(plan_id, run_id, fence, [done("a")])
    office.clock.forward(minutes=6)
    second, fence = office.begin(plan)
    office.store.begin_apply(plan_id, second, fence)
    assert [entry.object_key for entry in office.store.open_intents(plan_id)] == [("b",)]
    found = office.store.counts(plan_id)
    assert (found[Outcome.DONE], found[Outcome.UNKNOWN], found[Outcome.NOT_STARTED]) == (1, 1, 1)
    assert sum(found.values()) == 3


@pytest.mark.requirement("R24", "R29")
def test_nothing_is_taken_back_without_a_plan_of_its_own_and_its_approval(office):
    """Not under the plan that did it, not before people agreed to the undo, and nothing else is done under an undo."""
    plan, run_id, fence = office.applying("a", "b")
    plan_id = plan.document.plan_id
    office.store.record_intents(plan_id, run_id, fence, [lock("a")])
    office.store.record_outcomes(plan_id, run_id, fence, [done("a")])
    undo_run = office.store.begin_run(WORKFLOW, "undo", ANA, plan_id=plan_id)
    assert refused_intent(office, plan, undo_run, fence, LedgerRefused, kind=ActKind.UNDO).code == "FC733"
    office.store.release(fence)
    undo = office.undo(plan, "a")
    undo_run, fence = office.begin(undo, "undo")
    assert refused_intent(office, undo, undo_run, fence, PlanRefused, kind=ActKind.UNDO).code == "FC712"
    with pytest.raises(ApprovalMissing):
        office.store.begin_apply(undo.document.plan_id, undo_run, fence)
    office.approve(undo)
    office.store.begin_apply(undo.document.plan_id, undo_run, fence)
    assert refused_intent(office, undo, undo_run, fence, LedgerRefused, kind=ActKind.ACT).code == "FC733"
    assert office.store.load_plan(plan_id).state is PlanState.APPLYING, "the plan itself is as it was"
    assert verify(office.store).problems == ()


def test_only_what_was_done_can_be_undone_and_only_once(office):
    """Undo has its own kind, its own key and its own outcome under its own plan, whichever undo it is."""
    plan, run_id, fence = office.applying("a", "b", "c")
    plan_id = plan.document.plan_id
    office.store.record_intents(plan_id, run_id, fence, [lock("a"), lock("b")])
    office.store.record_outcomes(
        plan_id, run_id, fence, [done("a"), done("b", Outcome.FAILED), done("c", Outcome.CHANGED)]
    )
    office.store.release(fence)
    undo, run_id, fence = office.undoing(plan, "a", "b", "c")
    undo_id = undo.document.plan_id
    for key in ("b", "c"):
        error = refused_intent(office, undo, run_id, fence, LedgerRefused, lock(key), kind=ActKind.UNDO)
        assert error.code == "FC727"
    with pytest.raises(LedgerRefused):
        office.store.record_outcomes(undo_id, run_id, fence, [done("b", Outcome.CHANGED)], kind=ActKind.UNDO)
    unlock = lock("a", locked=False)
    assert office.store.record_intents(undo_id, run_id, fence, [unlock], kind=ActKind.UNDO)[0].fresh
    assert [(each.done, each.by) for each in office.store.taken_back(plan_id)] == [(False, undo_id)]
    office.store.release(fence)
    again, run_id, fence = office.undoing(plan, "a")  # it replaces the first, whose outcome is still open
    assert refused_intent(office, again, run_id, fence, LedgerRefused, unlock, kind=ActKind.UNDO).code == "FC727"
    office.store.release(fence)
    run_id, fence = office.begin(undo, "undo")
    office.store.record_outcomes(undo_id, run_id, fence, [done("a")], kind=ActKind.UNDO)
    assert [(each.done, each.by) for each in office.store.taken_back(plan_id)] == [(True, undo_id)]
    office.store.release(fence)
    run_id, fence = office.begin(again, "undo")
    assert refused_intent(office, again, run_id, fence, LedgerRefused, unlock, kind=ActKind.UNDO).code == "FC727"
    assert (office.store.counts(plan_id)[Outcome.DONE], office.store.counts(undo_id)[Outcome.DONE]) == (1, 1)


def test_the_guard_is_told_whatever_forbids_acting(office):
    """One question answers halt, lease, newer plan and approval."""
    plan, _, fence = office.applying("a")
    plan_id = plan.document.plan_id
    office.store.check_may_act(plan_id, fence)
    office.store.halt("x", ANA)
    with pytest.raises(Halted):
        office.store.check_may_act(plan_id, fence)
    office.store.resume(ANA)
    office.store.release(fence)
    with pytest.raises(FenceLost):
        office.store.check_may_act(plan_id, fence)

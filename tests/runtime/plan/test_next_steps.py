"""What to do about an apply that did not come to its end: by cause, with the command, and never twice the same act."""

from __future__ import annotations

import pytest

from fullcount.dsl.codes import CODES
from fullcount.runtime.evidence.refusal import Finding
from fullcount.runtime.plan.next_steps import PLAN_ANEW, next_steps

PLAN = "01JDZ8M3Q5W7X9Y1Z3A5B7C9D1"


def steps(code=None, *ways, not_started=0, unknown=0, left_alone=0, planned=10, **undo):
    """Return the steps of a run that one cause stopped."""
    stopped = None if code is None else Finding(code=code, message="it was stopped", ways_on=ways)
    return next_steps(
        PLAN,
        stopped_by=stopped,
        not_started=not_started,
        unknown=unknown,
        left_alone=left_alone,
        planned=planned,
        **undo,
    )


def test_sums_that_do_not_hold_lead_to_nothing_but_looking():
    """Nothing is to be done with such a plan before somebody has looked."""
    assert steps("FC741", "run `fullcount verify`", not_started=4) == ("run `fullcount verify`",)


@pytest.mark.parametrize("code", sorted(PLAN_ANEW))
def test_a_cause_that_stays_never_says_that_the_same_plan_goes_on(code):
    """Whoever follows the steps must not run into the same wall."""
    assert code in CODES
    assert steps(code, "plan again", not_started=4) == ("plan again",)


@pytest.mark.parametrize("code", ["FC720", "FC722", "FC721", "FC779", "SOURCE_UNAVAILABLE"])
def test_a_cause_that_passes_is_followed_by_the_command_that_goes_on(code):
    """First its own way on, then the same plan; what is left is counted."""
    first, then = steps(code, "see to it", not_started=4, unknown=1)
    assert first == "see to it"
    assert then.endswith(f"   fullcount apply {PLAN}")
    assert "4 not started" in then
    assert "1 unknown" in then
    assert "nothing is done twice" in then


def test_a_run_that_was_asked_to_stop_goes_on_with_the_same_plan():
    """It needs no other step."""
    (only,) = steps("FC765", "apply the same plan again to go on", not_started=4)
    assert only == f"go on where it stopped (4 not started), nothing is done twice   fullcount apply {PLAN}"


def test_a_run_that_began_nothing_begins_anew():
    """It is said that nothing was done."""
    assert "nothing was done so far" in steps("FC722", "release it", not_started=10)[-1]


def test_objects_that_no_source_answered_for_are_said_with_their_number():
    """Without a finding that stopped the run there is a cause all the same."""
    first, then = steps(not_started=2)
    assert "no answer about 2 objects" in first
    assert f"fullcount apply {PLAN}" in then


def test_lost_backups_are_said_and_no_source_is_blamed():
    """What is to be done is to put the folder back; only the others waited for an answer."""
    first, then = next_steps(
        PLAN, undoes="01", stopped_by=None, not_started=2, unknown=0, left_alone=0, planned=3, lost=2
    )  # fmt: skip
    assert "put the folder of backups back" in first
    assert then.endswith(f"fullcount apply {PLAN}")
    second = next_steps(
        PLAN, undoes="01", stopped_by=None, not_started=3, unknown=0, left_alone=0, planned=3, lost=2
    )[1]  # fmt: skip
    assert "no answer about 1 object" in second


@pytest.mark.parametrize("code", ["FC764", "FC761"])
def test_unknown_outcomes_are_found_out_by_the_same_plan_also_where_it_is_not_gone_on_with(code):
    """Nobody has to look at the target by hand for what reading tells."""
    first, then = steps(code, "plan again", not_started=4, unknown=2)
    assert first.startswith("there are 2 unknown, which the same plan finds out by reading")
    assert first.endswith(f"   fullcount apply {PLAN}")
    assert then == "plan again"


def test_objects_that_were_left_alone_come_back_in_the_next_plan():
    """A plan that is used up does not go on; what is still due is planned anew."""
    assert "plan again" in steps(left_alone=1)[0]
    assert steps() == ()


def test_an_undo_tells_of_what_it_does_not_list():
    """Of objects that could not be told when it was planned nobody thinks once it is applied."""
    (step,) = steps(undoes="01PLAN", untold=2)
    assert "2 objects could not be told" in step
    assert step.endswith("fullcount undo 01PLAN")
    assert "plan again" not in "".join(steps(undoes="01PLAN", left_alone=1))


def test_the_plan_is_named_where_a_way_on_has_a_place_for_it():
    """Commands can be copied as they stand."""
    assert steps("FC779", "approve it: `fullcount approve PLAN`", not_started=1)[0].endswith(f"approve {PLAN}`")


def test_a_run_that_is_paused_names_the_instant_from_which_it_goes_on():
    """Before that instant the same command would only pause again."""
    stopped = Finding(code="FC774", message="outside of its window", ways_on=("apply again then",))
    (only,) = next_steps(
        PLAN, stopped_by=stopped, not_started=4, unknown=0, left_alone=0, planned=10,
        resumes="from Tue 2026-12-01 08:00 UTC on",
    )  # fmt: skip
    assert only.startswith("from Tue 2026-12-01 08:00 UTC on go on where it stopped (4 not started)")
    assert only.endswith(f"fullcount apply {PLAN}")

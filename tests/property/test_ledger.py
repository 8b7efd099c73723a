"""The ledger under everything that goes wrong: crashes, lost and doubled calls, second runs, people and clocks.

The machine makes up stories out of what people, processes and the network do; see `tests.support.ledger_model` for what
must hold at each call, after each step, and once everything is repaired.
"""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from tests.support.ledger_model import MEANWHILE, NONE, Model, Trouble
from tests.support.profiles import examples

from fullcount.runtime.act import group, guard, resolve
from fullcount.runtime.store import ledger, ledger_rows

STEPS = {"nightly": 40, "ci": 12, "dev": 10}

CALLS = st.integers(1, 3)
TROUBLES = st.one_of(
    st.just(NONE),
    st.builds(Trouble, st.just("crash"), st.integers(1, 24)),
    st.builds(Trouble, st.just("lost"), CALLS, st.booleans()),
    st.builds(Trouble, st.sampled_from(("twice", "late")), CALLS),
    st.builds(Trouble, st.just("meanwhile"), CALLS, st.booleans(), st.sampled_from(MEANWHILE)),
)
MOVES = st.sampled_from([timedelta(seconds=31), timedelta(minutes=50), timedelta(hours=3), -timedelta(hours=1)])


class Ledger(RuleBasedStateMachine):
    """Everything that may happen to a plan between its approval and its last outcome."""

    model: Model | None = None

    @initialize(concurrency=st.integers(1, 3))
    def begin(self, concurrency):
        self.model = Model(3, concurrency)
        self.model.plan("all")
        self.model.approve()

    @rule(trouble=TROUBLES)
    def apply(self, trouble):
        self.model.apply(trouble)

    @rule(trouble=TROUBLES)
    def apply_once_more(self, trouble):
        self.model.move(timedelta(seconds=31))
        self.model.apply(trouble)

    @rule(trouble=TROUBLES)
    def undo(self, trouble):
        self.model.undo(trouble)

    @rule(trouble=TROUBLES)
    def undo_on(self, trouble):
        self.model.move(timedelta(seconds=31))
        self.model.undo_on(trouble)

    @rule(which=st.sampled_from(["some", "all"]), approved=st.booleans())
    def plan(self, which, approved):
        self.model.plan(which)
        if approved:
            self.model.approve()

    @rule(what=st.sampled_from(["approve", "revoke", "strike", "arrive"]))
    def people(self, what):
        getattr(self.model, what)()

    @rule(what=st.sampled_from(["halt", "pause", "leave"]), on=st.booleans())
    def switch(self, what, on):
        getattr(self.model, what)(on)

    @rule(by=MOVES)
    def clock(self, by):
        self.model.move(by)

    @rule(number=st.integers(1, 3))
    def change(self, number):
        self.model.change(number)

    @invariant()
    def nothing_is_done_twice_and_the_record_is_true(self):
        if self.model is not None:
            self.model.check_effects()
            self.model.check_sums()

    def teardown(self):
        if self.model is not None:
            try:
                self.model.settle()
            finally:
                self.model.close()


def profile(full: int) -> settings:
    """So many stories by the profile in force, each of as many steps as it says."""
    return settings(examples(full), stateful_step_count=STEPS[settings.get_current_profile_name()])


@pytest.mark.slow
@pytest.mark.requirement("R24", "R29", "R30", "R32", "R34", "R38", "R43")
def test_whatever_happens_no_act_takes_effect_twice_or_without_approval_and_the_record_is_true():
    """Each key has one effect at most, each call everything that allows it, each outcome is what happened."""
    run_state_machine_as_test(Ledger, settings=profile(75))


# -- mistakes that were made on purpose -------------------------------------------------------------------------------


async def _blind(*_):
    """What no answer came of is taken for not done."""
    return False


def forgets_to_read(patch):
    """An act of which no answer came is gone on with, without reading what became of it."""
    patch.setattr(resolve, "took_effect", _blind)
    patch.setattr(group, "took_effect", _blind)


def forgets_the_approval(patch):
    """The guard looks at everything but the plan's state and its approval."""
    kept = tuple(c for c in guard.CHECKS if c.__name__ not in {"_approval", "_usable", "_superseded"})
    patch.setattr(guard, "CHECKS", kept)


def tries_again_at_once(patch):
    """A call of which no answer came is simply made again."""
    patch.setattr(group, "wait_before_again", lambda operation, result, tries: 0.5 if tries == 0 else None)


def forgets_an_entry(patch):
    """The journal is not told of one of the outcomes."""
    real = ledger_rows.outcomes_payload
    patch.setattr(ledger, "outcomes_payload", lambda plan_id, kind, written: real(plan_id, kind, written[:1]))


MISTAKES = {
    forgets_to_read: [("apply", Trouble("lost", 1)), ("apply_once_more", NONE)],
    forgets_the_approval: [("apply", Trouble("meanwhile", 1, True, "revoke"))],
    tries_again_at_once: [("apply", Trouble("lost", 1))],
    forgets_an_entry: [("apply", NONE)],
}


@pytest.mark.requirement("R24", "R29", "R32", "R34")
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda each: each.__name__)
def test_the_model_catches_a_mistake_that_was_made_on_purpose(mistake, monkeypatch):
    """The shortest story in which the mistake matters ends in a broken rule, and in none without the mistake."""

    def told():
        machine = Ledger()
        try:
            machine.begin(3)
            for name, trouble in MISTAKES[mistake]:
                getattr(machine, name)(trouble)
                machine.nothing_is_done_twice_and_the_record_is_true()
        finally:
            machine.teardown()

    told()
    mistake(monkeypatch)
    with pytest.raises(AssertionError):
        told()

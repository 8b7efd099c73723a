"""The ledger under everything that goes wrong: crashes, lost and doubled calls, second runs, people and clocks.

Stories are made up of what people, processes and the network do (`tests.support.ledger_stories`); see `ledger_model`
for what must hold at each call, after each step, and once everything is repaired. That the stories are worth something
is held by mistakes in the run time (`ledger_mutants`): each must be found by stories that nobody thought of.
"""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from tests.support.ledger_engine import NONE, Trouble
from tests.support.ledger_model import LEASE, Model
from tests.support.ledger_mutants import MISTAKES, hunt
from tests.support.ledger_stories import STEPS, Ledger, story
from tests.support.ledger_world import Setting
from tests.support.profiles import examples, nightly

STORIES = range(10_000, 11_000) if nightly() else range(10_000, 10_014)
SEARCHED = range(250)
"""In how many stories each mistake must be found; most are found in the first ten."""
BY_CHANGE = ("intents are committed after their calls", "the approval of the act counts for the undo")
"""What is tried before each change; the others are, each night."""

REQUIREMENTS = pytest.mark.requirement("R24", "R29", "R30", "R32", "R34", "R38", "R43")


@pytest.mark.slow
@REQUIREMENTS
@pytest.mark.parametrize("part", range(7))
def test_in_no_story_an_act_takes_effect_twice_or_without_approval_and_the_record_is_true(part):
    """Each act has one effect at most, each call everything that allows it, each outcome is what happened."""
    for seed in STORIES[part::7]:
        try:
            story(seed)
        except AssertionError as error:
            error.add_note(f"tell it again: python -m tests.support.ledger_stories {seed}")
            raise


@pytest.mark.slow
@REQUIREMENTS
def test_a_story_that_hypothesis_thinks_of_ends_as_well():
    """The same, where a story that ends badly is made as short as it can be."""
    run_state_machine_as_test(Ledger, settings=settings(examples(60), stateful_step_count=STEPS))


@pytest.mark.requirement("R24", "R29", "R32", "R34")
@pytest.mark.parametrize("mistake", MISTAKES if nightly() else BY_CHANGE)
def test_a_mistake_that_was_made_on_purpose_is_found_by_made_up_stories(mistake):
    """The model sees it, and the stories reach it."""
    assert hunt(MISTAKES[mistake], SEARCHED) is not None


def test_every_mistake_is_a_change_of_the_run_time_as_it_is():
    """None of them speaks of a text that is no longer there, and there are many."""
    assert len(MISTAKES) >= 20
    for mistake in MISTAKES.values():
        hunt(mistake, range(0))


# -- what stories have found ------------------------------------------------------------------------------------------


def told(setting, *steps):
    """Let these things happen, and then be repaired."""
    model = Model(setting)
    try:
        for name, *arguments in steps:
            getattr(model, name)(*arguments)
            model.check_effects()
        model.settle()
    finally:
        model.close()


AGAIN = ("move", LEASE)
FOUND = {
    "an act that is gone on with and then left alone counts for the canary": (
        Setting(extra="canary"),
        ("apply", Trouble("lost", 1, first=True)), ("touch", 1), AGAIN, ("apply", NONE),
    ),
    "so does one of which nobody can say yet whether its call arrives": (
        Setting(kind="key", extra="canary"),
        ("apply", Trouble("late", 1)), ("change", 1), AGAIN, ("apply", NONE), AGAIN, ("apply", NONE),
    ),
    "an undo in flight is resolved although a newer plan was made": (
        Setting(extra="canary"),
        ("apply", NONE), ("undo", Trouble("lost", 1)), ("plan", "all"), AGAIN, ("apply_undo", NONE),
    ),
}  # fmt: skip


@pytest.mark.requirement("R29", "R32", "R34")
@pytest.mark.parametrize("found", FOUND.values(), ids=FOUND)
def test_what_a_story_found_once_stays_mended(found):
    """The shortest story of each."""
    setting, *steps = found
    told(setting, *steps)

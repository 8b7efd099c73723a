"""Seeded kills, at every point and at any time, over databases, repositories and APIs that lose their responses.

Whatever was killed and however often: each object is changed once, has one outcome that fits what happened to it, and
the record verifies. A failing seed is named with the command that repeats it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import pytest
from tests.crash.judging import WrongError, block, judged
from tests.crash.targets import TARGETS, Effects, Kept
from tests.crash.trials import Kill, Trial, points_of, trial_of
from tests.support.profiles import nightly

pytestmark = [pytest.mark.slow, pytest.mark.requirement("R29", "R30", "R32", "R34", "R43")]

BLOCKS, KILLS = (20, 500) if nightly() else (5, 50)
"""Into how many tests the kills are cut, and how many there are at the least."""


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The targets of this process, each made when it is first needed."""
    made = Kept(tmp_path_factory.mktemp("targets"))
    yield made
    made.close()


@pytest.mark.parametrize("number", range(BLOCKS))
def test_whatever_is_killed_each_object_is_changed_once_and_has_one_outcome(kept, number, record_property):
    """At any time no object was changed twice or unmeant; in the end ledger and target say the same."""
    killed = sum(told.kills for told in block(number, BLOCKS, KILLS // BLOCKS, kept))
    record_property("kills", killed)
    assert killed >= KILLS // BLOCKS


def test_what_is_left_of_it_verifies_from_the_command_line(kept):
    """`fullcount verify` in a process of its own says so, over a run that was killed in its commits."""
    target = kept.of("patch_key-3")
    judged(
        Trial(7, "patch_key-3", (Kill("in_intents_commit", 2), Kill("in_outcomes_commit")), (Kill("after_call"),)),
        target,
    )
    command = [sys.executable, "-m", "fullcount.runtime.cli.main", "verify"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    said = subprocess.run(command, cwd=target.folder, env=environment, capture_output=True, text=True, check=False)
    assert (said.returncode, said.stdout.split()[0]) == (0, "VERIFIED"), said


def test_a_seed_that_fails_is_named_with_the_command_that_repeats_it(kept, monkeypatch):
    """A target that says that an object was changed twice fails the trial."""
    target = kept.of("sql-4")
    twice = Effects(Counter({"a00001": 2}))
    monkeypatch.setattr(target, "effects", lambda: twice)
    with pytest.raises(WrongError, match=r"changed more than once: \{'a00001': 2\}") as caught:
        judged(Trial(17, "sql-4", (Kill("before_intents"),), None), target)
    assert str(caught.value).endswith("repeat it: python -m tests.crash.judging 17")


def test_the_first_kills_of_the_seeds_leave_no_target_and_no_point_out():
    """So many seeds in a row as there are pairs try each of them, and the same seed is the same trial."""
    pairs = {(name, point) for name in TARGETS for point in points_of(name)}
    many = sum(len(points_of(name)) for name in TARGETS)
    assert {(trial.target, trial.kills[0].point) for trial in map(trial_of, range(many))} == pairs
    assert [trial_of(seed) for seed in range(20)] == [trial_of(seed) for seed in range(20)]

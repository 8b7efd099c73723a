"""Made-up stories of the ledger: what people, processes and the network may do, in big steps.

A step is a whole run in which one thing goes wrong, and the next step goes on with what it left open: a story is short,
and most of it is about acts that are in flight. What would only end a story (a halt, an approval that was taken back,
evidence that grew old) happens within a run, or is repaired before the next one, and so is a plan with nothing to do.

What happens is picked from tables: by Hypothesis, which makes a bad story short (`Ledger`), or by a seed, which wastes
nothing on stories that resemble each other. `python -m tests.support.ledger_stories SEED` tells the story of a seed.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.support.applying import ANA, BO
from tests.support.ledger_engine import NONE, Trouble
from tests.support.ledger_model import LEASE, MEANWHILE, STRANGER, Model
from tests.support.ledger_target import REMEMBERED
from tests.support.ledger_world import Setting

from fullcount.runtime.store.views import StoredPlan

T = TypeVar("T")
STEPS = 7
"""How many steps a story has."""

SETTINGS = (
    Setting(kind="condition", concurrency=1),
    Setting(kind="condition", concurrency=2),
    Setting(kind="key", concurrency=1),
    Setting(kind="once", concurrency=2),
    Setting(extra="canary"),
    Setting(kind="key", extra="canary"),
    Setting(extra="stop"),
)
TROUBLES = (
    "crash",
    "crash",
    "late",
    "hidden",
    "hidden",
    "lost",
    "lost",
    "twice",
    "fails",
    "fails",
    "meanwhile",
    "meanwhile",
    "none",
)
CALLS = (1, 1, 2)
MOMENTS = tuple(range(6, 27))
WAITS = (
    *[LEASE + timedelta(seconds=1)] * 6,
    timedelta(seconds=1),
    timedelta(minutes=20),
    REMEMBERED + timedelta(minutes=10),
    -timedelta(hours=1),
)
WAITS_WITH_KEYS = (
    *[LEASE + timedelta(seconds=1)] * 4,
    timedelta(minutes=20),
    *[REMEMBERED + timedelta(minutes=10)] * 4,
)
"""Where keys are forgotten, that moment is what matters."""
MEANTIME = (*["nothing"] * 5, "arrive", "touch", "touch", "touch", "change", "strike", "plan")
WITHOUT = ("nobody", "stranger", "revoked")
CONSENTS = (*["ana"] * 4, "bo", *WITHOUT)
"""Who approves an undo."""
OF_HOW_MANY = (None, None, 1)
BETWEEN = ("nothing", "nothing", "another", "another", "replaced", "touch", "arrive")
"""What happens between two applies of an undo."""
CUT_OFF = Trouble("meanwhile", 1, what="lapse")
"""What an undo was cut off by before another one replaced it: only then is something left that both are about."""
AGAINST = (*["nothing"] * 21, "halt", "pause", "leave", "revoke", "expire", "outdate", "newer")


class Pick(Protocol):
    """Whatever picks what happens."""

    def __call__(self, of: Sequence[T]) -> T:
        """Return one of these."""
        ...


def trouble(pick: Pick) -> Trouble:
    """Return what goes wrong in a run."""
    kind = pick(TROUBLES)
    if kind == "none":
        return NONE
    if kind == "crash":
        return Trouble(kind, pick(MOMENTS))
    nth, first = pick(CALLS), pick((True, False))
    return Trouble(kind, nth, first, pick(MEANWHILE) if kind == "meanwhile" else "")


def step(model: Model, pick: Pick) -> None:
    """Let the next thing happen."""
    if pick(("run", "run", "run", "run", "undo")) == "undo":
        _undo(model, pick)
    else:
        _run(model, pick)
    model.check_effects()
    model.check_sums()


def _run(model: Model, pick: Pick) -> None:
    """Time passes, something happens, and a run begins in which something goes wrong, or that may do nothing."""
    model.move(_wait(model, pick))
    model.repair()
    model.prepare()
    _meantime(model, pick(MEANTIME))
    against, wrong = pick(AGAINST), trouble(pick)
    if against == "newer":
        model.plan("all")
        model.apply(wrong, nth=-2)
        return
    if against != "nothing":
        getattr(model, against)(True)
    model.apply(wrong)
    if against != "nothing":
        getattr(model, against)(False)


def _meantime(model: Model, what: str) -> None:
    match what:
        case "touch" | "change":
            for number in range(1, model.setting.objects + 1):
                getattr(model, what)(number)
        case "plan":
            model.plan("some")
            model.approve()
        case "strike":
            model.strike()
            model.approve()
        case "arrive":
            model.arrive()


def _undo(model: Model, pick: Pick) -> None:
    """What was done is to be taken back: that is planned, and approved or not, and applied, and gone on with."""
    model.repair()
    only = pick(OF_HOW_MANY)
    of, undo = _undone(model, only)
    if undo is None:
        model.prepare()
        model.move(LEASE)
        model.apply()
        of, undo = _undone(model, only)
    if undo is None:
        return
    consent = pick(CONSENTS)
    if consent in WITHOUT:
        _without_approval(model, undo, consent)
        model.apply_undo(trouble(pick))
        model.move(_wait(model, pick))
    model.approve(undo, BO if consent == "bo" else ANA)
    between = pick(BETWEEN)
    model.apply_undo(CUT_OFF if between == "replaced" else trouble(pick))
    model.repair()
    model.move(_wait(model, pick))
    match between:
        case "another":
            model.undo(trouble(pick), of)
        case "replaced":
            model.plan_undo(of)
        case "touch":
            model.touch(1)
        case "arrive":
            model.arrive()
    model.apply_undo(trouble(pick), model.undos.index(undo))
    model.apply_undo()


def _undone(model: Model, only: int | None) -> tuple[int, StoredPlan | None]:
    """Return which plan is to be taken back, the newest of which something can be, and the undo of it."""
    for of in reversed(model.acted):
        undo = model.plan_undo(of, only)
        if undo is not None:
            return of, undo
    return -1, None


def _without_approval(model: Model, undo: StoredPlan, consent: str) -> None:
    """Nobody approves an undo, or somebody who may not, or somebody who then thinks better of it."""
    if consent == "stranger":
        model.approve(undo, STRANGER)
    if consent == "revoked":
        model.approve(undo)
        model.revoke(plan=undo)


def _wait(model: Model, pick: Pick) -> timedelta:
    return pick(WAITS_WITH_KEYS if model.setting.kind == "key" else WAITS)


def story(seed: int, steps: int = STEPS) -> Model:
    """Tell the story of a seed to its end, and return what was left. Raises `AssertionError` for what may not be."""
    chance = random.Random(f"story {seed}")
    model = Model(SETTINGS[seed % len(SETTINGS)])
    try:
        for _ in range(steps):
            step(model, chance.choice)
        model.settle()
    finally:
        model.close()
    return model


class Ledger(RuleBasedStateMachine):
    """Everything that may happen to a plan between its approval and its last outcome."""

    model: Model | None = None

    @initialize(setting=st.sampled_from(SETTINGS))
    def begin(self, setting):
        self.model = Model(setting)

    @rule(data=st.data())
    def next(self, data):
        step(self.model, lambda of: data.draw(st.sampled_from(of)))

    @invariant()
    def nothing_was_done_twice(self):
        if self.model is not None:
            self.model.check_effects()

    def teardown(self):
        if self.model is not None:
            try:
                self.model.settle()
            finally:
                self.model.close()


if __name__ == "__main__":
    for told in map(int, sys.argv[1:]):
        print(told, dict(story(told).target.effects))  # noqa: T201 - a program of its own

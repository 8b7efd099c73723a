"""Whether each step of a graduated act came in its turn: judged for the store and for an export alike.

An object goes from step to step, each by the recorded end of the act on the step before it: a notice to its owner is
such a step as well. No step is taken before its clock, out of its turn, by an object that was released, or by one that
stands elsewhere than its plan says. That an object no longer qualified is known by what a plan recorded of it alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from fullcount.runtime.offline.canonical import canonical
from fullcount.runtime.offline.instants import micros_of
from fullcount.runtime.offline.programs import Unread, act_of, name_of_call, steps_of
from fullcount.runtime.offline.rehearsals import ACT, AGAIN

RELEASES: Final = "release"
RUNS, LAPSED_CLOCK, ENDED_CLOCK = "open", "lapsed", "ended"
_STEP_DONE: Final = frozenset({"done", "already_gone"})


@dataclass(slots=True)
class Clock:
    """Where an object stands: which step was done last (None: none yet), since when, and of which incarnation."""

    step: str | None
    since: int
    standing: str
    incarnation: str


@dataclass(frozen=True, slots=True)
class StepMeant:
    """An act on a step as it was meant, and where its object stood then; None: its clock did not run."""

    seq: int
    at: int
    step: str | None
    operation: str
    stood: tuple[str | None, int, str, str] | None


@dataclass(slots=True)
class Clocks:
    """Every clock by workflow, proposal and object. Each method returns what is wrong."""

    running: dict[tuple[str, str, str], Clock] = field(default_factory=dict)
    intents: dict[tuple[str, str], StepMeant] = field(default_factory=dict)
    """By plan and object."""

    def seen(self, said: Mapping[str, Any], at: int) -> list[str]:
        """A plan found clocks that begin, lapse and end."""
        wrong = ["it dates clocks to an instant that was still to come"] if said["at"] > at else []
        for end in said["ended"]:
            wrong += self._stands(said, end["key"], ENDED_CLOCK)
        for key in said["lapsed"]:
            wrong += self._stands(said, key, LAPSED_CLOCK)
        for begin in said["began"]:
            place = (said["workflow"], said["proposal"], canonical(begin["key"]))
            self.running[place] = Clock(None, said["at"], RUNS, begin["incarnation"])
        return wrong

    def _stands(self, said: Mapping[str, Any], key: Any, standing: str) -> list[str]:
        name = canonical(key)
        clock = self.running.get((said["workflow"], said["proposal"], name))
        if clock is None or clock.standing == ENDED_CLOCK:
            return [f"the clock of the object {name} ends or lapses, but it did not run"]
        clock.standing = standing
        return []

    def meant(self, plan: tuple[str, str, str], act: Mapping[str, Any], seq: int, at: int) -> None:
        """An act is about to be called. `plan`: its id, workflow and proposal."""
        key = canonical(act["key"])
        clock = self.running.get((plan[1], plan[2], key))
        stood = None
        if clock is not None and clock.standing != ENDED_CLOCK:
            stood = (clock.step, clock.since, clock.standing, clock.incarnation)
        self.intents[plan[0], key] = StepMeant(seq, at, act.get("step"), act["operation"], stood)

    def moved(
        self, plan: tuple[str, str, str], said: Mapping[str, Any], at: int, end_of: Callable[[str], tuple[Any, Any]]
    ) -> list[str]:
        """Acts have moved their objects on, or back. `end_of`: what came of an object's act, and when."""
        wrong = []
        for move in said["moved"]:
            key = canonical(move["key"])
            outcome, ended_at = end_of(key)
            if outcome not in _STEP_DONE or ended_at != at:
                wrong.append(f"the object {key} came to another step without an act")
                continue
            intent = self.intents.get((plan[0], key))
            own = None if intent is None else intent.step
            if said["kind"] in (ACT, AGAIN) and move["ended"] is None and move["step"] != own:
                wrong.append(f"the object {key} came to another step than its act was")
            place = (plan[1], plan[2], key)
            before = self.running.get(place)
            standing = RUNS if before is None or before.standing != LAPSED_CLOCK else LAPSED_CLOCK
            self.running[place] = Clock(
                move["step"], at, standing if move["ended"] is None else ENDED_CLOCK, move["incarnation"]
            )
        return wrong


def steps_wrong(clocks: Clocks, plan: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Return which acts of a graduated plan came out of their turn: the entry of each intent, and what is wrong.

    Raises `Unread` for a plan that does not say what its steps are.
    """
    if plan["steps"] is None:
        return []
    act = act_of(plan)
    if act is None:
        raise Unread("it has no act, and the plan takes steps")
    steps = steps_of(act)
    wrong = []
    for row in plan["rows"]:
        key = canonical(row["key"])
        intent = clocks.intents.get((plan["plan_id"], key))
        what = None if intent is None else _step_wrong(row, intent, steps, act["release"])
        if intent is not None and what is not None:
            wrong.append((intent.seq, f"the act on the object {key}: {what}"))
    return wrong


def _step_wrong(
    row: Mapping[str, Any], intent: StepMeant, steps: Sequence[Mapping[str, Any]], release: Any
) -> str | None:
    step = row["step"]
    if step is None or intent.step != step["label"]:
        return f"it was step `{intent.step}`, and the plan lists `{None if step is None else step['label']}`"
    label = step["label"]
    if step["due"] is not None and intent.at < micros_of(step["due"]):
        return f"step `{label}` was taken before it was due"
    where = _elsewhere(row, step, intent) if intent.stood is not None or step["since"] is not None else None
    if where is not None:
        return where
    call = release if label == RELEASES else next((s["call"] for s in steps if s["label"] == label), None)
    name = None if call is None else name_of_call(call)
    turn = _turn(steps, label, intent) if label != RELEASES and intent.stood is not None else None
    if turn is None and intent.operation != name:
        return f"it was `{intent.operation}`, which is not what step `{label}` does"
    return turn


def _elsewhere(row: Mapping[str, Any], step: Mapping[str, Any], intent: StepMeant) -> str | None:
    """Whether an object stood elsewhere than its plan says."""
    if step["since"] is None:
        return "it was begun anew although its clock ran"
    if intent.stood is None:
        return f"step `{step['label']}` was taken although no clock ran"
    done, since, _, incarnation = intent.stood
    runs_for = row["incarnation"] if step["mark"] is None else step["mark"]
    if (done, since, incarnation) == (step["before"], micros_of(step["since"]), runs_for):
        return None
    return f"step `{step['label']}` was taken although the object stood elsewhere than the plan says"


def _turn(steps: Sequence[Mapping[str, Any]], label: str, intent: StepMeant) -> str | None:
    """Whether a step that follows another came too early, or not after that one."""
    if intent.stood is None:
        return None
    done, since, standing, _ = intent.stood
    if standing != RUNS:
        return f"step `{label}` was taken although the object no longer qualified"
    labels = [each["label"] for each in steps]
    place = labels.index(label) if label in labels else -1
    if place < 0 or (labels[place - 1] if place > 0 else None) != done:
        return f"step `{label}` does not come after `{done}`"
    if intent.at - since < steps[place]["after"]:
        return f"step `{label}` was taken before its time had passed"
    return None

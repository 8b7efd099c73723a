"""Replaying the clocks of graduated acts: what the entries mean for the table of clocks.

Whether each step came in its turn is judged by `offline/clocks.py`, as an export's own verifier does.
"""

from __future__ import annotations

from fullcount.runtime.journal.entry import Entry, canonical_text
from fullcount.runtime.journal.expected import Expected, State
from fullcount.runtime.journal.payloads import StepsMoved, StepsSeen
from fullcount.runtime.journal.report import About
from fullcount.runtime.store.steps import standing_after

OPEN, LAPSED, ENDED = "open", "lapsed", "ended"


def seen(state: State, entry: Entry, said: StepsSeen) -> None:
    """A plan found clocks that begin, lapse and end."""
    plan = state.plans.get((said.plan_id,))
    if plan is None or (plan["workflow"], plan["proposal"]) != (said.workflow, said.proposal):
        state.wrong(About.ACT, entry, f"it speaks of steps of the plan `{said.plan_id}`, which was never made")
        return
    state.note(About.ACT, entry, *state.clocks.seen(said.model_dump(mode="json"), entry.at))
    place = (said.workflow, said.proposal)
    for end in said.ended:
        clock = state.steps.get((*place, canonical_text(list(end.key))))
        if clock is not None:
            clock.set(entry, state=ENDED, ended_because=end.because, changed_at=entry.at)
    for key in said.lapsed:
        clock = state.steps.get((*place, canonical_text(list(key))))
        if clock is not None:
            clock.set(entry, state=LAPSED, changed_at=entry.at)
    for begin in said.began:
        object_key = canonical_text(list(begin.key))
        columns = {
            "workflow": said.workflow,
            "proposal": said.proposal,
            "object_key": object_key,
            "incarnation": begin.incarnation,
            "state": OPEN,
            "step": None,
            "since_at": said.at,
            "plan_id": said.plan_id,
            "changed_at": entry.at,
            "ended_because": None,
        }
        state.steps[(*place, object_key)] = Expected(entry.seq, columns)


def moved(state: State, entry: Entry, said: StepsMoved) -> None:
    """Acts have moved their objects on, or back."""
    plan = state.plans.get((said.plan_id,))
    if plan is None:
        state.wrong(About.ACT, entry, f"it speaks of the plan `{said.plan_id}`, which was never made")
        return

    def end_of(object_key: str) -> tuple[str | None, int | None]:
        act = state.acts.get((said.plan_id, said.kind, object_key))
        return (None, None) if act is None else (act["outcome"], act["outcome_at"])

    of = (said.plan_id, plan["workflow"], plan["proposal"])
    state.note(About.ACT, entry, *state.clocks.moved(of, said.model_dump(mode="json"), entry.at, end_of))
    for move in said.moved:
        object_key = canonical_text(list(move.key))
        key = (plan["workflow"], plan["proposal"], object_key)
        clock = state.steps.get(key)
        columns = {
            "workflow": plan["workflow"],
            "proposal": plan["proposal"],
            "object_key": object_key,
            "incarnation": move.incarnation,
            "state": standing_after(move.ended, None if clock is None else clock["state"]),
            "step": move.step,
            "since_at": entry.at,
            "plan_id": said.plan_id,
            "changed_at": entry.at,
            "ended_because": move.ended,
        }
        state.steps[key] = Expected(entry.seq, columns)

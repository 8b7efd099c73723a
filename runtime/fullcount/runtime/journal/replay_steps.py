"""Replaying the clocks of graduated acts: did each object go from step to step, never early and never past one?

What a plan lists for an object stands in its document; what is noted here of each intent is compared with it once the
documents have been read (`judge_steps`).
"""

from __future__ import annotations

from dataclasses import dataclass

from fullcount.compiler.document import DocumentError, workflow_from_document
from fullcount.compiler.program import RELEASE, Act
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.journal.entry import Entry, canonical_text
from fullcount.runtime.journal.expected import Expected, State
from fullcount.runtime.journal.payloads import IntentMeant, StepsMoved, StepsSeen
from fullcount.runtime.journal.report import About, Problem
from fullcount.runtime.offline.rehearsals import ACT, AGAIN
from fullcount.runtime.plan.document import PlanDocument, PlanRow
from fullcount.runtime.store.instants import to_micros
from fullcount.runtime.store.steps import standing_after

OPEN, LAPSED, ENDED = "open", "lapsed", "ended"
_FINISHED = frozenset({Outcome.DONE.value, Outcome.ALREADY_GONE.value})


@dataclass(frozen=True, slots=True)
class StepIntent:
    """An act on a step as it was meant: where its object stood then. `stood`: step, since, standing; None: nowhere."""

    seq: int
    at: int
    step: str | None
    stood: tuple[str | None, int, str] | None
    incarnation: str | None


def seen(state: State, entry: Entry, said: StepsSeen) -> None:
    """A plan found clocks that begin, lapse and end."""
    plan = state.plans.get((said.plan_id,))
    if plan is None or (plan["workflow"], plan["proposal"]) != (said.workflow, said.proposal):
        state.wrong(About.ACT, entry, f"it speaks of steps of the plan `{said.plan_id}`, which was never made")
        return
    if said.at > entry.at:
        state.wrong(About.ACT, entry, "it dates clocks to an instant that was still to come")
    place = (said.workflow, said.proposal)
    for end in said.ended:
        clock = _running(state, entry, place, canonical_text(list(end.key)))
        if clock is not None:
            clock.set(entry, state=ENDED, ended_because=end.because, changed_at=entry.at)
    for key in said.lapsed:
        clock = _running(state, entry, place, canonical_text(list(key)))
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


def meant(state: State, entry: Entry, plan: Expected, act: IntentMeant) -> None:
    """An act on a step is about to be called: note where its object stands."""
    object_key = canonical_text(act.key)
    clock = state.steps.get((plan["workflow"], plan["proposal"], object_key))
    stands = clock is not None and clock["state"] != ENDED
    state.step_intents[plan["plan_id"], object_key] = StepIntent(
        entry.seq,
        entry.at,
        act.step,
        (clock["step"], clock["since_at"], clock["state"]) if clock is not None and stands else None,
        clock["incarnation"] if clock is not None and stands else None,
    )


def moved(state: State, entry: Entry, said: StepsMoved) -> None:
    """Acts have moved their objects on, or back."""
    plan = state.plans.get((said.plan_id,))
    if plan is None:
        state.wrong(About.ACT, entry, f"it speaks of the plan `{said.plan_id}`, which was never made")
        return
    for move in said.moved:
        object_key = canonical_text(list(move.key))
        act = state.acts.get((said.plan_id, said.kind, object_key))
        if act is None or act["outcome"] not in _FINISHED or act["outcome_at"] != entry.at:
            state.wrong(About.ACT, entry, f"the object {object_key} came to another step without an act")
            continue
        if said.kind in (ACT, AGAIN) and move.ended is None and move.step != act["step"]:
            state.wrong(About.ACT, entry, f"the object {object_key} came to another step than its act was")
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


def judge_steps(state: State, document: PlanDocument) -> None:
    """Check each act of a graduated plan against what the plan lists, and where the object stood when it was meant."""
    if document.steps is None:
        return
    try:
        acts = workflow_from_document(document.program).acts
    except DocumentError:
        return  # no apply of this version can have read it; that the document is the one that was made is checked apart
    act = next((each for each in acts if each.proposal == document.proposal), None)
    if act is None:
        return
    for row in document.rows:
        object_key = canonical_text(list(row.key))
        intent = state.step_intents.get((document.plan_id, object_key))
        if intent is None:
            continue
        what = _wrong(row, intent, act)
        meant_as = state.acts.get((document.plan_id, "act", object_key))
        if what is None and meant_as is not None and row.step is not None:
            call = act.calls.get(row.step.label)
            name = None if call is None else f"{call.source}.{call.resource}.{call.operation}"
            if meant_as["operation"] != name:
                what = f"it was `{meant_as['operation']}`, which is not what step `{row.step.label}` does"
        if what is not None:
            state.problems.append(Problem(About.ACT, intent.seq, f"the act on the object {object_key}: {what}"))


def _wrong(row: PlanRow, intent: StepIntent, act: Act) -> str | None:
    step = row.step
    if step is None or intent.step != step.label:
        return f"it was step `{intent.step}`, and the plan lists `{None if step is None else step.label}`"
    if step.due is not None and intent.at < to_micros(step.due):
        return f"step `{step.label}` was taken before it was due"
    if step.since is None:
        return None if intent.stood is None else "it was begun anew although its clock ran"
    if intent.stood is None:
        return f"step `{step.label}` was taken although no clock ran"
    done, since, standing = intent.stood
    runs_for = row.incarnation if step.mark is None else step.mark
    if (done, since, intent.incarnation) != (step.before, to_micros(step.since), runs_for):
        return f"step `{step.label}` was taken although the object stood elsewhere than the plan says"
    if step.label == RELEASE:
        return None
    if standing != OPEN:
        return f"step `{step.label}` was taken although the object no longer qualified"
    labels = [each.label for each in act.steps]
    place = labels.index(step.label) if step.label in labels else -1
    if place < 0 or (labels[place - 1] if place > 0 else None) != done:
        return f"step `{step.label}` does not come after `{done}`"
    if intent.at - since < act.steps[place].after:
        return f"step `{step.label}` was taken before its time had passed"
    return None


def _running(state: State, entry: Entry, place: tuple[str, str], object_key: str) -> Expected | None:
    clock = state.steps.get((*place, object_key))
    if clock is None or clock["state"] == ENDED:
        state.wrong(About.ACT, entry, f"the clock of the object {object_key} ends or lapses, but it did not run")
        return None
    return clock

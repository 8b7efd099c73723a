"""Replaying acts: an approval before each intent, an intent before each act, one outcome each, and the sums."""

from __future__ import annotations

from collections import Counter

from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.journal.entry import Entry, canonical_text
from fullcount.runtime.journal.expected import HALT, Expected, State, pause_control
from fullcount.runtime.journal.payloads import (
    ApplyBegan,
    ApplyEnded,
    IntentMeant,
    Intents,
    MeantAgain,
    Outcomes,
    OutcomeSeen,
)
from fullcount.runtime.journal.replay_approvals import place_of, valid
from fullcount.runtime.journal.report import About
from fullcount.runtime.offline.pace import MeantGroup
from fullcount.runtime.offline.rehearsals import ACT, ACT_KINDS, AGAIN, RESTORE, UNDO, counts_as
from fullcount.runtime.plan.digest import sha256_text

_WITHOUT_CALL = frozenset({Outcome.ALREADY_GONE, Outcome.CHANGED, Outcome.REFUSED})
_NO_INTENT: dict[str, str | int | None] = {
    "step": None,
    "operation": None,
    "parameters": None,
    "parameters_sha256": None,
    "idempotency_key": None,
    "round_id": None,
    "intent_run_id": None,
    "intent_at": None,
    "again_at": None,
}
_NO_OUTCOME: dict[str, str | int | None] = {
    "outcome": None,
    "reason": None,
    "detail": None,
    "before_sha256": None,
    "outcome_run_id": None,
    "outcome_at": None,
}


def apply_began(state: State, entry: Entry, said: ApplyBegan) -> None:
    """An apply begins or is gone on with."""
    plan = _plan(state, entry, said.plan_id)
    if plan is None:
        return
    _check_run(state, entry, "apply" if plan["undoes"] is None else "undo", said.plan_id)
    what = "it was superseded" if plan["superseded_by"] is not None else valid(state, said.round_id, plan, entry.at)
    if plan["state"] == "applied" or plan["over_cap"]:
        what = "it was applied before" if plan["state"] == "applied" else "it is over its cap"
    if what is not None:
        state.wrong(About.ACT, entry, f"the plan `{said.plan_id}` was applied although {what}")
    state.note(About.ACT, entry, state.held.acted(_done_by(said.plan_id, plan), said.fence, entry.run_id))
    if plan["state"] == "open":
        plan.set(entry, state="applying", applying_at=entry.at)
    round_ = state.rounds.get((said.round_id,))
    if round_ is not None:
        round_.set(entry, used_by=said.plan_id)


def intents(state: State, entry: Entry, said: Intents) -> None:
    """Acts are about to be called."""
    plan = _plan(state, entry, said.plan_id)
    if plan is None:
        return
    _may_be_meant(state, entry, said, plan)
    canary = state.canaries.get((said.plan_id,))
    if said.kind == "act" and (canary is None or canary["passed_at"] is None):
        state.early[said.plan_id] = state.early.get(said.plan_id, 0) + len(said.acts)
    if said.kind in (ACT, UNDO):
        keys = tuple(canonical_text(meant.key) for meant in said.acts)
        group = MeantGroup(entry.seq, entry.at, entry.run_id, said.kind, keys)
        state.note(About.ACT, entry, state.pace.meant(said.plan_id, group))
    for meant in said.acts:
        _intent(state, entry, said, meant, plan)


def meant_again(state: State, entry: Entry, said: MeantAgain) -> None:
    """Acts of which nobody knows what came of them are about to be called once more."""
    plan = _plan(state, entry, said.plan_id)
    if plan is None:
        return
    _may_be_meant(state, entry, said, plan)
    if said.kind in (ACT, UNDO):
        keys = tuple(canonical_text(again.key) for again in said.acts)
        group = MeantGroup(entry.seq, entry.at, entry.run_id, said.kind, keys)
        state.note(About.ACT, entry, state.pace.again(said.plan_id, group))
    for again in said.acts:
        name = f"the object {canonical_text(again.key)}"
        act = state.acts.get((said.plan_id, said.kind, canonical_text(again.key)))
        if act is None or act["act_id"] != again.act_id or act["intent_at"] is None:
            state.wrong(About.ACT, entry, f"{name} was acted upon again, and it had never been")
            continue
        if act["outcome"] not in {None, Outcome.UNKNOWN.value}:
            state.wrong(About.ACT, entry, f"{name} was acted upon again although its outcome was known")
        what = valid(state, again.round_id, plan, entry.at) if _by_approval(said.kind, plan) else None
        if what is not None:
            state.wrong(About.ACT, entry, f"{name} was acted upon again without a valid approval: {what}")
        act.set(entry, again_at=max(entry.at, act["intent_at"], act["again_at"] or 0))


def _may_be_meant(state: State, entry: Entry, said: Intents | MeantAgain, plan: Expected) -> None:
    """Check that acts of a plan may be meant at all: by a run that holds its lease, and while nothing forbids it."""
    _check_run(state, entry, "undo" if said.kind == "undo" else "apply", said.plan_id)
    if HALT in state.controls:
        state.wrong(About.ACT, entry, "acts were meant while all acting was halted")
    if said.kind != "undo" and (pause_control(plan["workflow"]),) in state.controls:
        state.wrong(About.ACT, entry, f"acts were meant while the workflow `{plan['workflow']}` was paused")
    _of_its_kind(state, entry, said.kind, plan)
    if _by_approval(said.kind, plan) and (plan["state"] != "applying" or plan["superseded_by"] is not None):
        state.wrong(About.ACT, entry, f"acts were meant although the plan `{said.plan_id}` was not being applied")
    state.note(About.ACT, entry, state.held.acted(_done_by(said.plan_id, plan), said.fence, entry.run_id))


def outcomes(state: State, entry: Entry, said: Outcomes) -> None:
    """Acts have come to something, or objects were left alone."""
    plan = _plan(state, entry, said.plan_id)
    if plan is None:
        return
    _check_run(state, entry, "undo" if said.kind == "undo" else "apply", said.plan_id)
    for seen in said.outcomes:
        _outcome(state, entry, said, seen)


def apply_ended(state: State, entry: Entry, said: ApplyEnded) -> None:
    """The run that applied comes to its end: the sums must hold."""
    plan = _plan(state, entry, said.plan_id)
    if plan is None:
        return
    counted = counts(state, said.plan_id, plan)
    if said.counts != counted:
        state.wrong(About.SUMS, entry, f"it counts {_worded(said.counts)}, the entries before it {_worded(counted)}")
    if sum(said.counts.values()) != plan["candidates"]:
        state.wrong(About.SUMS, entry, f"{plan['candidates']} candidates are not {_worded(said.counts)}")
    finished = counted[Outcome.NOT_STARTED] == 0 and counted[Outcome.UNKNOWN] == 0
    if said.applied != finished:
        state.wrong(About.SUMS, entry, "it is wrong about whether every object has its outcome")
    if said.applied:
        plan.set(entry, state="applied", applied_at=entry.at)
        state.standing.get(place_of(plan), set()).discard(said.plan_id)


def counts(state: State, plan_id: str, plan: Expected) -> dict[str, int]:
    """Return how many objects of a plan ended how, by the entries so far."""
    acts = state.acts_of.get(plan_id, {})
    found = Counter(
        Outcome.UNKNOWN.value if act["outcome"] is None else act["outcome"]
        for key, act in acts.items()
        if key[1] == (ACT if plan["undoes"] is None else UNDO)
    )
    for object_key in [key[2] for key in acts if key[1] == RESTORE]:
        ends = ends_of(state, plan_id, object_key)
        found[ends.get(ACT) or Outcome.UNKNOWN.value] -= 1
        found[counts_as(ends)] += 1
    del found[Outcome.NOT_STARTED.value]  # it is what is left over
    result = {outcome.value: found[outcome.value] for outcome in Outcome}
    result[Outcome.NOT_STARTED.value] = plan["candidates"] - found.total()
    return result


def ends_of(state: State, plan_id: str, object_key: str) -> dict[str, str | None]:
    """Return what came of the acts on one object, by kind."""
    acts = state.acts_of.get(plan_id, {})
    return {
        kind: acts[plan_id, kind, object_key]["outcome"] for kind in ACT_KINDS if (plan_id, kind, object_key) in acts
    }


def _intent(state: State, entry: Entry, said: Intents, meant: IntentMeant, plan: Expected) -> None:
    object_key = canonical_text(meant.key)
    key = (said.plan_id, said.kind, object_key)
    name = f"the object {object_key}"
    if key in state.acts:
        state.wrong(About.ACT, entry, f"{name} was acted upon twice under one approval")
        return
    _rehearsed(state, entry, said.plan_id, said.kind, object_key)
    if _by_approval(said.kind, plan):
        what = valid(state, meant.round_id, plan, entry.at)
        if what is None and state.rounds[meant.round_id,]["used_by"] is None:
            what = "no apply had begun under it"
        if what is not None:
            state.wrong(About.ACT, entry, f"{name} was acted upon without a valid approval: {what}")
    if said.kind == ACT:
        of = (said.plan_id, plan["workflow"], plan["proposal"])
        state.clocks.meant(of, meant.model_dump(mode="json"), entry.seq, entry.at)
    done_by = _done_by(said.plan_id, plan)
    if said.kind in (UNDO, RESTORE) and counts_as(ends_of(state, done_by, object_key)) != Outcome.DONE.value:
        state.wrong(About.ACT, entry, f"{name} was undone although nothing had been done to it")
    if said.kind == UNDO:
        _taken_back_once(state, entry, done_by, object_key, key)
    parameters = canonical_text(meant.parameters)
    if meant.sealed is not None:
        state.sealed[key] = meant.sealed
    state.add_act(
        key,
        entry,
        {
            **_NO_OUTCOME,
            "act_id": meant.act_id,
            "plan_id": said.plan_id,
            "object_key": object_key,
            "kind": said.kind,
            "step": meant.step,
            "operation": meant.operation,
            "parameters": parameters,
            # of sealed parameters the hash is known once they have been read, and is then held against the seal
            "parameters_sha256": sha256_text(parameters.encode()) if meant.sealed is None else None,
            "idempotency_key": meant.idempotency_key,
            "round_id": meant.round_id,
            "intent_run_id": entry.run_id,
            "intent_at": entry.at,
            "again_at": None,
        },
    )


def _done_by(plan_id: str, plan: Expected) -> str:
    """Return the plan on which the lease is, and whose acts an undo takes back: of any other plan itself."""
    undoes: str | None = plan["undoes"]
    return plan_id if undoes is None else undoes


def _by_approval(kind: str, plan: Expected) -> bool:
    """Whether an act needs an approval of its plan. The restore that is rehearsed rests on that of the act."""
    return kind in (ACT, AGAIN) or (kind == UNDO and plan["undoes"] is not None)


def _of_its_kind(state: State, entry: Entry, kind: str, plan: Expected) -> None:
    """Check that only an undo takes back, and that it does nothing else; older versions took back without a plan."""
    if plan["undoes"] is not None and kind != UNDO:
        state.wrong(About.ACT, entry, "acts were meant under a plan that is an undo")
    if plan["undoes"] is None and kind == UNDO and state.undos_are_plans:
        state.wrong(About.ACT, entry, "something was taken back without a plan of its own, so that nobody approved it")


def _taken_back_once(state: State, entry: Entry, done_by: str, object_key: str, key: tuple[str, str, str]) -> None:
    before = state.taking_back.get((done_by, object_key))
    ended = None if before is None else state.acts[before]["outcome"]
    open_ = before is not None and before[0] != done_by and ended in {None, Outcome.UNKNOWN.value}
    if ended == Outcome.DONE.value or open_:
        state.wrong(About.ACT, entry, f"the object {object_key} was taken back, or may have been, before")
    state.taking_back[done_by, object_key] = key


def _rehearsed(state: State, entry: Entry, plan_id: str, kind: str, object_key: str) -> None:
    """Check an act that belongs to a rehearsal: of one object at its step, while the canary waits, in this order."""
    if kind not in ACT_KINDS:
        state.wrong(About.ACT, entry, f"an act of the kind `{kind}` is not known")
    if kind == RESTORE:
        canary = state.canaries.get((plan_id,))
        if canary is None or canary["passed_at"] is not None:
            state.wrong(About.ACT, entry, f"the object {object_key} was restored although no canary waited")
        acts = state.acts_of.get(plan_id, {})
        before = [acts.get((plan_id, ACT, key[2])) for key in acts if key[1] == RESTORE]
        done = acts.get((plan_id, ACT, object_key))
        if done is not None and any(act is not None and act["step"] == done["step"] for act in before):
            state.wrong(About.ACT, entry, f"the object {object_key} was restored, after another one of its canary")
    if kind == AGAIN and ends_of(state, plan_id, object_key).get(RESTORE) != Outcome.DONE.value:
        state.wrong(About.ACT, entry, f"the object {object_key} was acted on again, and it had not been restored")


def _outcome(state: State, entry: Entry, said: Outcomes, seen: OutcomeSeen) -> None:
    object_key = canonical_text(seen.key)
    key = (said.plan_id, said.kind, object_key)
    columns = {
        "outcome": seen.outcome,
        "reason": seen.reason,
        "detail": seen.detail,
        "before_sha256": seen.before_sha256,
        "outcome_run_id": entry.run_id,
        "outcome_at": entry.at,
    }
    act = state.acts.get(key)
    if act is None:
        _rehearsed(state, entry, said.plan_id, said.kind, object_key)
        if seen.outcome not in _WITHOUT_CALL:
            state.wrong(About.ACT, entry, f"the object {object_key} is `{seen.outcome}` without an intent before it")
        state.add_act(
            key,
            entry,
            {
                **_NO_INTENT,
                **columns,
                "act_id": seen.act_id,
                "plan_id": said.plan_id,
                "object_key": object_key,
                "kind": said.kind,
            },
        )
        return
    if act["act_id"] != seen.act_id:
        state.wrong(About.ACT, entry, f"the outcome for the object {object_key} is that of another act")
    if act["outcome"] not in {None, Outcome.UNKNOWN.value}:
        first = act["outcome"]
        state.wrong(
            About.ACT,
            entry,
            f"the object {object_key} has two outcomes: `{first}` in entry {act.seq} and `{seen.outcome}` here",
        )
    act.set(entry, **columns)


def _plan(state: State, entry: Entry, plan_id: str) -> Expected | None:
    plan = state.plans.get((plan_id,))
    if plan is None:
        state.wrong(About.ACT, entry, f"it speaks of the plan `{plan_id}`, which was never made")
    return plan


def _check_run(state: State, entry: Entry, kind: str, plan_id: str) -> None:
    run = state.runs.get((entry.run_id,))
    if run is None or run["state"] != "running" or run["kind"] != kind or run["plan_id"] != plan_id:
        state.wrong(About.ACT, entry, f"it does not belong to a running {kind} of the plan `{plan_id}`")


def _worded(counted: dict[str, int]) -> str:
    return " + ".join(f"{number} {name}" for name, number in counted.items() if number != 0) or "nothing"

"""An approval before each intent, an intent before each act, one outcome each, and sums that hold."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from fullcount.runtime.offline.approvals import Said, approval_wrong, place_of
from fullcount.runtime.offline.canonical import canonical
from fullcount.runtime.offline.facts import Facts
from fullcount.runtime.offline.journal import Line
from fullcount.runtime.offline.pace import MeantGroup
from fullcount.runtime.offline.rehearsals import (
    ACT,
    ACT_KINDS,
    AGAIN,
    RESTORE,
    UNDO,
    counts_as,
    passed_with,
    was_rehearsed,
)

OUTCOMES: Final = ("done", "already_gone", "changed", "refused", "failed", "unknown", "not_started")
_WITHOUT_CALL: Final = frozenset({"already_gone", "changed", "refused"})
_NOT_PASSED: Final = frozenset({None, "failed", "unknown"})


def apply_began(facts: Facts, line: Line, said: Said) -> None:
    """An apply begins or is gone on with."""
    plan = _made(facts, line, said["plan_id"])
    if plan is None:
        return
    _running(facts, line, "apply" if plan.get("undoes") is None else "undo", said["plan_id"])
    what = approval_wrong(facts, said["round_id"], plan, line.at)
    what = "it was superseded" if plan["superseded_by"] is not None else what
    if plan["state"] == "applied" or plan["over_cap"]:
        what = "it was applied before" if plan["state"] == "applied" else "it is over its cap"
    if what is not None:
        facts.wrong("act", line, f"the plan `{said['plan_id']}` was applied although {what}")
    facts.note("act", line, facts.leases.acted(_done_by(said["plan_id"], plan), said["fence"], line.run_id))
    if plan["state"] == "open":
        plan["state"] = "applying"
    if said["round_id"] in facts.rounds:
        facts.rounds[said["round_id"]]["used_by"] = said["plan_id"]


def intents(facts: Facts, line: Line, said: Said) -> None:
    """Acts are about to be called."""
    plan = _made(facts, line, said["plan_id"])
    if plan is None:
        return
    _may_be_meant(facts, line, said, plan)
    canary = facts.canaries.get(said["plan_id"])
    if said["kind"] == ACT and (canary is None or not canary["passed"]):
        facts.early[said["plan_id"]] = facts.early.get(said["plan_id"], 0) + len(said["acts"])
    if said["kind"] in (ACT, UNDO):
        keys = tuple(canonical(meant["key"]) for meant in said["acts"])
        group = MeantGroup(line.seq, line.at, line.run_id, said["kind"], keys)
        facts.note("act", line, facts.pace.meant(said["plan_id"], group))
    for meant in said["acts"]:
        _intent(facts, line, said, meant, plan)


def meant_again(facts: Facts, line: Line, said: Said) -> None:
    """Acts of which nobody knows what came of them are about to be called once more."""
    plan = _made(facts, line, said["plan_id"])
    if plan is None:
        return
    _may_be_meant(facts, line, said, plan)
    if said["kind"] in (ACT, UNDO):
        keys = tuple(canonical(again["key"]) for again in said["acts"])
        group = MeantGroup(line.seq, line.at, line.run_id, said["kind"], keys)
        facts.note("act", line, facts.pace.again(said["plan_id"], group))
    for again in said["acts"]:
        key = canonical(again["key"])
        act = facts.acts.get(said["plan_id"], {}).get((said["kind"], key))
        if act is None or act["act_id"] != again["act_id"] or act["meant"] is None:
            facts.wrong("act", line, f"the object {key} was acted upon again, and it had never been")
            continue
        if act["outcome"] not in {None, "unknown"}:
            facts.wrong("act", line, f"the object {key} was acted upon again although its outcome was known")
        by_approval = said["kind"] in (ACT, AGAIN) or plan.get("undoes") is not None
        what = approval_wrong(facts, again["round_id"], plan, line.at) if by_approval else None
        if what is not None:
            facts.wrong("act", line, f"the object {key} was acted upon again without a valid approval: {what}")


def _may_be_meant(facts: Facts, line: Line, said: Said, plan: dict[str, Any]) -> None:
    """Check that acts of a plan may be meant at all: by a run that holds its lease, and while nothing forbids it."""
    undo, planned = said["kind"] == UNDO, plan.get("undoes") is not None
    by_approval = said["kind"] in (ACT, AGAIN) or planned
    if planned and not undo:
        facts.wrong("act", line, "acts were meant under a plan that is an undo")
    if undo and not planned and facts.undos_are_plans:
        facts.wrong("act", line, "something was taken back without a plan of its own, so that nobody approved it")
    _running(facts, line, "undo" if undo else "apply", said["plan_id"])
    if facts.halted:
        facts.wrong("act", line, "acts were meant while all acting was halted")
    if not undo and plan["workflow"] in facts.paused:
        facts.wrong("act", line, f"acts were meant while the workflow `{plan['workflow']}` was paused")
    if by_approval and (plan["state"] != "applying" or plan["superseded_by"] is not None):
        facts.wrong("act", line, f"acts were meant although the plan `{said['plan_id']}` was not being applied")
    facts.note("act", line, facts.leases.acted(_done_by(said["plan_id"], plan), said["fence"], line.run_id))


def outcomes(facts: Facts, line: Line, said: Said) -> None:
    """Acts have come to something, or objects were left alone."""
    if _made(facts, line, said["plan_id"]) is None:
        return
    _running(facts, line, "undo" if said["kind"] == "undo" else "apply", said["plan_id"])
    acts = facts.acts.setdefault(said["plan_id"], {})
    for seen in said["outcomes"]:
        key = canonical(seen["key"])
        act = acts.get((said["kind"], key))
        if act is None:
            _rehearsed(facts, line, said["plan_id"], said["kind"], key)
            if seen["outcome"] not in _WITHOUT_CALL:
                facts.wrong("act", line, f"the object {key} is `{seen['outcome']}` without an intent before it")
            acts[said["kind"], key] = {
                "act_id": seen["act_id"], "meant": None, "outcome": seen["outcome"], "ended_at": line.at
            }  # fmt: skip
            continue
        if act["act_id"] != seen["act_id"]:
            facts.wrong("act", line, f"the outcome for the object {key} is that of another act")
        if act["outcome"] not in {None, "unknown"}:
            facts.wrong("act", line, f"the object {key} has two outcomes")
        act["outcome"], act["ended_at"] = seen["outcome"], line.at


def steps_seen(facts: Facts, line: Line, said: Said) -> None:
    """A plan found clocks that begin, lapse and end."""
    plan = facts.plans.get(said["plan_id"])
    if plan is None or (plan["workflow"], plan["proposal"]) != (said["workflow"], said["proposal"]):
        facts.wrong("act", line, f"it speaks of steps of the plan `{said['plan_id']}`, which was never made")
        return
    facts.note("act", line, *facts.clocks.seen(said, line.at))


def steps_moved(facts: Facts, line: Line, said: Said) -> None:
    """Acts have moved their objects on, or back."""
    plan = _made(facts, line, said["plan_id"])
    if plan is None:
        return
    acts = facts.acts.get(said["plan_id"], {})

    def end_of(key: str) -> tuple[str | None, int]:
        act = acts.get((said["kind"], key))
        return (None, 0) if act is None else (act["outcome"], act["ended_at"])

    of = (said["plan_id"], plan["workflow"], plan["proposal"])
    facts.note("act", line, *facts.clocks.moved(of, said, line.at, end_of))


def apply_ended(facts: Facts, line: Line, said: Said) -> None:
    """The run that applied comes to its end: the sums must hold."""
    plan = _made(facts, line, said["plan_id"])
    if plan is None:
        return
    counted = plan_counts(facts, said["plan_id"])
    if said["counts"] != counted:
        facts.wrong("sums", line, f"it counts {said['counts']}, the entries before it {counted}")
    if sum(said["counts"].values()) != plan["candidates"]:
        facts.wrong("sums", line, f"{plan['candidates']} candidates are not {said['counts']}")
    if said["applied"] != (counted["not_started"] == 0 and counted["unknown"] == 0):
        facts.wrong("sums", line, "it is wrong about whether every object has its outcome")
    if said["applied"]:
        plan["state"] = "applied"
        facts.standing.get(place_of(plan), set()).discard(said["plan_id"])


def canary_waits(facts: Facts, line: Line, said: Said) -> None:
    """The first objects were acted on, and the rest waits."""
    acts = facts.acts.get(said["plan_id"], {})
    meant = {key for (kind, key), act in acts.items() if kind == "act" and act["meant"] is not None}
    if {canonical(key) for key in said["keys"]} != meant:
        facts.wrong("act", line, "the canary is not what had been acted on so far")
    if facts.new(line, "canary", said["plan_id"]):
        facts.canaries[said["plan_id"]] = {"until": said["until"], "passed": False}


def canary_passed(facts: Facts, line: Line, said: Said) -> None:
    """The canary was looked at and holds."""
    canary = facts.canaries.get(said["plan_id"])
    if canary is None or canary["passed"]:
        facts.wrong("act", line, f"a canary of the plan `{said['plan_id']}` passed that did not wait")
        return
    if line.at < canary["until"]:
        facts.wrong("act", line, "the canary passed before its wait was over")
    acts = facts.acts.get(said["plan_id"], {})
    if any(act["outcome"] in _NOT_PASSED for (kind, _), act in acts.items() if kind == "act" and act["meant"]):
        facts.wrong("act", line, "the canary passed although one of its acts failed, or its outcome was open")
    ends = {key: ends_of(facts, said["plan_id"], key) for kind, key in acts if kind == ACT}
    if any(RESTORE in each and not was_rehearsed(each) for each in ends.values()):
        facts.wrong("act", line, "the canary passed in the middle of the rehearsal of a restore")
    facts.passed[said["plan_id"]] = passed_with(ends)
    facts.counted[said["plan_id"]] = said.get("counted")
    canary["passed"] = True


def plan_counts(facts: Facts, plan_id: str) -> dict[str, int]:
    """Return how many objects of a plan ended how, by the entries so far."""
    acts = facts.acts.get(plan_id, {})
    if facts.plans[plan_id].get("undoes") is None:
        found = Counter(counts_as(ends_of(facts, plan_id, key)) for kind, key in acts if kind == ACT)
    else:
        found = Counter(act["outcome"] or "unknown" for (kind, _), act in acts.items() if kind == UNDO)
    del found["not_started"]  # it is what is left over
    result = {outcome: found[outcome] for outcome in OUTCOMES}
    result["not_started"] = facts.plans[plan_id]["candidates"] - sum(found.values())
    return result


def ends_of(facts: Facts, plan_id: str, key: str) -> dict[str, str | None]:
    """Return what came of the acts on one object, by kind."""
    acts = facts.acts.get(plan_id, {})
    return {kind: acts[kind, key]["outcome"] for kind in ACT_KINDS if (kind, key) in acts}


def _rehearsed(facts: Facts, line: Line, plan_id: str, kind: str, key: str) -> None:
    """Check an act that belongs to a rehearsal: of one object at its step, while the canary waits, in this order."""
    if kind not in ACT_KINDS:
        facts.wrong("act", line, f"an act of the kind `{kind}` is not known")
    if kind == RESTORE:
        canary = facts.canaries.get(plan_id)
        if canary is None or canary["passed"]:
            facts.wrong("act", line, f"the object {key} was restored although no canary waited")
        acts = facts.acts.get(plan_id, {})
        steps = {acts[ACT, other].get("step") for of, other in acts if of == RESTORE and (ACT, other) in acts}
        if acts.get((ACT, key), {}).get("step") in steps:
            facts.wrong("act", line, f"the object {key} was restored, after another one of its canary")
    if kind == AGAIN and ends_of(facts, plan_id, key).get(RESTORE) != "done":
        facts.wrong("act", line, f"the object {key} was acted on again, and it had not been restored")


def _intent(facts: Facts, line: Line, said: Said, meant: dict[str, Any], plan: dict[str, Any]) -> None:
    acts, key = facts.acts.setdefault(said["plan_id"], {}), canonical(meant["key"])
    if (said["kind"], key) in acts:
        facts.wrong("act", line, f"the object {key} was acted upon twice under one approval")
        return
    _rehearsed(facts, line, said["plan_id"], said["kind"], key)
    undoes = plan.get("undoes")
    done_by = _done_by(said["plan_id"], plan)
    if said["kind"] in (ACT, AGAIN) or undoes is not None:
        what = approval_wrong(facts, meant["round_id"], plan, line.at)
        if what is None and facts.rounds[meant["round_id"]]["used_by"] is None:
            what = "no apply had begun under it"
        if what is not None:
            facts.wrong("act", line, f"the object {key} was acted upon without a valid approval: {what}")
    if said["kind"] not in (ACT, AGAIN) and counts_as(ends_of(facts, done_by, key)) != "done":
        facts.wrong("act", line, f"the object {key} was undone although nothing had been done to it")
    if meant["idempotency_key"] in facts.keys:
        facts.wrong("act", line, f"the act on the object {key} does not carry a key of its own")
    facts.keys.add(meant["idempotency_key"])
    if said["kind"] == ACT:
        facts.clocks.meant((said["plan_id"], plan["workflow"], plan["proposal"]), meant, line.seq, line.at)
    acts[said["kind"], key] = {
        "act_id": meant["act_id"], "meant": line.seq, "step": meant.get("step"), "outcome": None, "ended_at": 0
    }  # fmt: skip
    if said["kind"] == UNDO:
        by, before = facts.taking_back.get((done_by, key), ("", {"outcome": "refused"}))
        if before["outcome"] == "done" or (by != done_by and before["outcome"] in {None, "unknown"}):
            facts.wrong("act", line, f"the object {key} was taken back, or may have been, before")
        facts.taking_back[done_by, key] = (said["plan_id"], acts[said["kind"], key])


def _done_by(plan_id: str, plan: dict[str, Any]) -> str:
    """Return the plan on which the lease is, and whose acts an undo takes back: of any other plan itself."""
    undoes: str | None = plan.get("undoes")
    return plan_id if undoes is None else undoes


def _made(facts: Facts, line: Line, plan_id: str) -> dict[str, Any] | None:
    plan = facts.plans.get(plan_id)
    if plan is None:
        facts.wrong("act", line, f"it speaks of the plan `{plan_id}`, which was never made")
    return plan


def _running(facts: Facts, line: Line, kind: str, plan_id: str) -> None:
    run = facts.runs.get(line.run_id or "")
    if run is None or run["state"] != "running" or run["kind"] != kind or run["plan_id"] != plan_id:
        facts.wrong("act", line, f"it does not belong to a running {kind} of the plan `{plan_id}`")

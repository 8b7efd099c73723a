"""A plan that is an undo: it names acts that were done, and was approved in its time, by what the journal says."""

from __future__ import annotations

from typing import Any

from fullcount.runtime.offline.canonical import canonical
from fullcount.runtime.offline.facts import Facts
from fullcount.runtime.offline.instants import micros_of
from fullcount.runtime.offline.rehearsals import ACT, AGAIN


def undo_wrong(facts: Facts, plan: dict[str, Any], undoes: str | None) -> list[str]:
    """Return what is wrong with a plan as an undo. `undoes`: what the journal says that it takes back."""
    undo = plan.get("undo")
    if undo is None or undoes is None:
        wrong = [] if undo is None and undoes is None else ["it is an undo by one account, and none by the other"]
        return wrong + (["a row takes something back"] if any("undo" in row for row in plan["rows"]) else [])
    wrong, of = [], facts.plans.get(undoes)
    if undo["plan_id"] != undoes or of is None or of["digest"] != undo["plan_digest"]:
        wrong.append("it is an undo of another plan than the journal says")
    head, made_at = undo["head"], facts.plans[plan["plan_id"]]["seq"]
    if facts.heads.get(head["seq"]) != head["hash"] or head["seq"] >= made_at:
        wrong.append("it was made over another record than this one")
    acts = facts.acts.get(undoes, {})
    for row in plan["rows"]:
        of_object = [acts.get((kind, canonical(row["key"]))) for kind in (ACT, AGAIN)]
        done = {act["act_id"] for act in of_object if act is not None and act["outcome"] == "done"}
        if row["undo"]["act_id"] not in done:
            wrong.append(f"it takes back an act on the object {canonical(row['key'])} that was not done")
    until = micros_of(undo["valid_until"])
    rounds = [each for each in facts.rounds.values() if each["digest"] == plan["digest"]]
    if any(each["expires_at"] is not None and each["expires_at"] > until for each in rounds):
        wrong.append("it was approved for longer than it is valid")
    return wrong

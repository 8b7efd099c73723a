"""Was each approval for the digest of a plan that stood, by enough different people, signed where that was asked?"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal, InvalidOperation
from typing import Any

from fullcount.runtime.offline.facts import Facts
from fullcount.runtime.offline.journal import Line
from fullcount.runtime.offline.votes import vote_wrong

Said = dict[str, Any]


def planned(facts: Facts, line: Line, said: Said) -> None:
    """A plan is made; older ones and their approvals end."""
    undoes = said.get("undoes")
    facts.undos_are_plans |= "undoes" in said
    standing = facts.standing.setdefault(place_of(said), set())
    if undoes is not None:
        of = facts.plans.get(undoes)
        if of is None or of.get("undoes") is not None or place_of(of) != (said["workflow"], said["proposal"]):
            facts.wrong("plan", line, f"the undo `{said['plan_id']}` is of the plan `{undoes}`, which can't be undone")
        if not set(said["supersedes"]) <= standing:
            facts.wrong("plan", line, f"the undo `{said['plan_id']}` supersedes something else than older undos")
    elif standing != set(said["supersedes"]):
        facts.wrong("plan", line, f"the plan `{said['plan_id']}` does not supersede exactly the older open plans")
    for plan_id in said["supersedes"]:
        if plan_id in facts.plans:
            facts.plans[plan_id]["superseded_by"] = said["plan_id"]
    for round_id in said["voids"]:
        found = facts.rounds.get(round_id)
        if found is None or found["digest"] == said["digest"]:
            facts.wrong("approval", line, f"the approval `{round_id}` is made void without a reason")
        else:
            found["state"] = "voided"
    if facts.new(line, "plan", said["plan_id"]):
        more = {"run_id": line.run_id, "seq": line.seq, "state": "open", "superseded_by": None, "struck": None}
        facts.plans[said["plan_id"]] = said | more
        standing.difference_update(said["supersedes"])
        standing.add(said["plan_id"])


def place_of(plan: dict[str, Any]) -> tuple[str, str]:
    """Return what a plan takes the place of others in: its proposal, or as an undo the plan that it takes back."""
    undoes = plan.get("undoes")
    return (plan["workflow"], plan["proposal"]) if undoes is None else (undoes, "undo")


def struck(facts: Facts, line: Line, said: Said) -> None:
    """A plan was made by striking rows from another, which stood until then."""
    new, old = facts.plans.get(said["plan_id"]), facts.plans.get(said["of"])
    if new is None or old is None:
        facts.wrong("plan", line, f"it strikes from the plan `{said['of']}`, and one of the two was never made")
        return
    if new["digest"] != said["digest"] or new["run_id"] != line.run_id:
        facts.wrong("plan", line, "it is for another digest or run than that of its plan")
    if old["superseded_by"] != said["plan_id"] or old["state"] != "open" or old["over_cap"]:
        facts.wrong("plan", line, f"nothing could be struck from the plan `{said['of']}` any more")
    if new["struck"] is not None:
        facts.wrong("plan", line, f"the plan `{said['plan_id']}` was struck before: another strike is another plan")
        return
    new["struck"] = said


def approval_opened(facts: Facts, line: Line, said: Said) -> None:
    """A new round of approval begins."""
    plan = _plan_of(facts, line, said)
    if plan is None:
        return
    if len(said["rule"]) == 0 or any(quorum["count"] < 1 for quorum in said["rule"]):
        facts.wrong("approval", line, "the approval asks for nobody")
    if facts.new(line, "round", said["round_id"]):
        facts.rounds[said["round_id"]] = {
            "digest": said["digest"], "state": "open", "rule": said["rule"], "signed": said.get("signed", False),
            "votes": {}, "expires_at": None, "used_by": None,
        }  # fmt: skip


def approved(facts: Facts, line: Line, said: Said) -> None:
    """One person says yes."""
    found, plan = _round_of(facts, line, said), _plan_of(facts, line, said)
    if found is None or plan is None:
        return
    uid, signature = said["by"]["uid"], said.get("signature")
    if found["state"] != "open":
        facts.wrong("approval", line, f"a vote was counted in a round that is {found['state']}")
    if uid in _votes_at(found, line.at):
        facts.wrong("approval", line, f"uid:{uid} was counted twice")
    what = vote_wrong(
        said["plan_id"], said["digest"], uid, said["by"]["name"], line.at, said.get("signed_at"), signature,
        required=found["signed"], signers=facts.signers,
    )  # fmt: skip
    if what is None and signature is not None and signature in facts.signatures:
        what = f"the signature of uid:{uid} was given before, for another yes"
    if what is not None:
        facts.wrong("approval", line, what)
    if signature is not None:
        facts.signatures.add(signature)
    if facts.new(line, "vote", f"{said['round_id']} uid:{uid} {line.at}"):
        found["votes"][uid, line.at] = said["expires_at"]


def approval_complete(facts: Facts, line: Line, said: Said) -> None:
    """The quorum is reached."""
    found, plan = _round_of(facts, line, said), _plan_of(facts, line, said)
    if found is None or plan is None:
        return
    if found["state"] != "open":
        facts.wrong("approval", line, f"a round was completed that is {found['state']}")
    what = _quorum_missed(facts, line, said, found)
    if what is not None:
        facts.wrong("approval", line, what)
    found.update(state="complete", expires_at=said["expires_at"])


def approved_automatically(facts: Facts, line: Line, said: Said) -> None:
    """The workflow's own rule approves a plan."""
    found, plan = _round_of(facts, line, said), _plan_of(facts, line, said)
    if found is None or plan is None:
        return
    if found["state"] != "open" or len(found["votes"]) > 0:
        facts.wrong("approval", line, "a rule approved where people had begun to decide, or had decided")
    if facts.halted:
        facts.wrong("approval", line, "a rule approved while acting was halted")
    if plan.get("undoes") is not None:
        facts.wrong("approval", line, "a rule approved an undo, about which people are always asked")
    if said["candidates"] != plan["candidates"]:
        facts.wrong("approval", line, "a rule approved another number of objects than the plan lists")
    what = _rule_broken(said)
    if what is not None:
        facts.wrong("approval", line, what)
    found.update(state="complete", expires_at=said["expires_at"])


def approval_revoked(facts: Facts, line: Line, said: Said) -> None:
    """An approval is taken back."""
    found = _round_of(facts, line, said)
    if found is None:
        return
    if found["state"] not in {"open", "complete"}:
        facts.wrong("approval", line, f"an approval was taken back that is {found['state']}")
    found["state"] = "revoked"


def approval_wrong(facts: Facts, round_id: str, plan: dict[str, Any], at: int) -> str | None:
    """Return why an approval did not carry the acts of a plan at an instant; None if it did."""
    found = facts.rounds.get(round_id)
    if found is None:
        return "no approval of this id was ever given"
    if found["digest"] != plan["digest"]:
        return "the approval was given for another digest"
    if found["state"] != "complete":
        return f"the approval is {found['state']}"
    if found["expires_at"] is None or found["expires_at"] <= at:
        return "the approval had run out"
    if found["used_by"] not in {None, plan["plan_id"]}:
        return "the approval was used up by another plan"
    return None


def _quorum_missed(facts: Facts, line: Line, said: Said, found: dict[str, Any]) -> str | None:
    rule, live = found["rule"], _votes_at(found, line.at)
    uids = [seat["uid"] for seat in said["seats"]]
    if len(set(uids)) != len(uids):
        return "one person was counted for two seats"
    if not set(uids) <= set(live):
        return "someone was counted who had not approved, or whose vote had run out"
    filled = Counter(seat["quorum"] for seat in said["seats"])
    if filled != Counter({index: quorum["count"] for index, quorum in enumerate(rule)}):
        return "the quorum was not reached"
    barred = set(facts.plans[said["plan_id"]]["authors"])
    for seat in said["seats"]:
        if rule[seat["quorum"]]["not_by_author"] and f"uid:{seat['uid']}" in barred:
            return f"uid:{seat['uid']} is an author and was counted all the same"
    if said["expires_at"] != min((live[uid] for uid in uids), default=None):
        return "the approval does not end when the first of its votes does"
    return None


def _rule_broken(said: Said) -> str | None:
    rule = said["rule"]
    try:
        percent = None if rule["percent"] is None else Decimal(rule["percent"])
    except InvalidOperation:
        return "a rule approved by a percentage that is no number"
    if percent is not None and not percent.is_finite():
        return "a rule approved by a percentage that is no number"
    if not 0 < said["candidates"] <= min(rule["count"], said["allowed"]):
        return "a rule approved more objects than it, or the policy, allows"
    if percent is not None and said["candidates"] * 100 > percent * said["population"]:
        return "a rule approved a larger part of the inventory than it allows"
    return None


def _votes_at(found: dict[str, Any], at: int) -> dict[int, int]:
    return {uid: expires_at for (uid, _), expires_at in found["votes"].items() if expires_at > at}


def _plan_of(facts: Facts, line: Line, said: Said) -> dict[str, Any] | None:
    plan = facts.plans.get(said["plan_id"])
    if plan is None:
        facts.wrong("approval", line, f"it speaks of the plan `{said['plan_id']}`, which was never made")
        return None
    if plan["digest"] != said["digest"]:
        facts.wrong("approval", line, f"it is for another digest than that of the plan `{said['plan_id']}`")
        return None
    if plan["superseded_by"] is not None or plan["state"] == "applied" or plan["over_cap"]:
        facts.wrong("approval", line, f"the plan `{said['plan_id']}` could not be approved any more")
    return plan


def _round_of(facts: Facts, line: Line, said: Said) -> dict[str, Any] | None:
    found = facts.rounds.get(said["round_id"])
    if found is None:
        facts.wrong("approval", line, f"it speaks of the approval `{said['round_id']}`, which was never opened")
        return None
    if found["digest"] != said["digest"]:
        facts.wrong("approval", line, "it is for another digest than the approval that it counts for")
        return None
    return found

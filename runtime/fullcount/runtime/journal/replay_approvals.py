"""Replaying plans and approvals: was each approval for the digest of a plan that stood, by enough different people?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from fullcount.runtime.journal.entry import Entry
from fullcount.runtime.journal.expected import HALT, Expected, State
from fullcount.runtime.journal.payloads import (
    ApprovalComplete,
    ApprovalOpened,
    ApprovalRevoked,
    Approved,
    ApprovedAutomatically,
    Planned,
)
from fullcount.runtime.journal.report import About
from fullcount.runtime.offline.votes import vote_wrong


def planned(state: State, entry: Entry, said: Planned) -> None:
    """A plan is made; older ones and their approvals end."""
    columns = said.model_dump(exclude={"authors", "supersedes", "voids"}) | {
        "run_id": entry.run_id,
        "saved_at": entry.at,
        "position": entry.seq,
        "state": "open",
        "superseded_by": None,
        "applying_at": None,
        "applied_at": None,
    }
    state.undos_are_plans |= "undoes" in said.model_fields_set
    standing = state.standing.setdefault(place_of(columns), set())
    if said.undoes is not None:
        _undoes(state, entry, said, said.undoes, standing)
    elif standing != set(said.supersedes):
        state.wrong(About.PLAN, entry, f"the plan `{said.plan_id}` does not supersede exactly the older open plans")
    for plan_id in said.supersedes:
        older = state.plans.get((plan_id,))
        if older is not None:
            older.set(entry, superseded_by=said.plan_id)
    for round_id in said.voids:
        round_ = state.rounds.get((round_id,))
        if round_ is None or round_["digest"] == said.digest:
            state.wrong(About.APPROVAL, entry, f"the approval `{round_id}` is made void without a reason")
            continue
        because = f"the plan {said.plan_id} has another digest"
        round_.set(entry, state="voided", ended_at=entry.at, ended_because=because)
    if state.add(state.plans, (said.plan_id,), entry, columns):
        state.authors[said.plan_id] = said.authors
        standing.difference_update(said.supersedes)
        standing.add(said.plan_id)


def place_of(plan: Mapping[str, Any] | Expected) -> tuple[str, str]:
    """Return what a plan takes the place of others in: its proposal, or as an undo the plan that it takes back."""
    return (plan["workflow"], plan["proposal"]) if plan["undoes"] is None else (plan["undoes"], "undo")


def _undoes(state: State, entry: Entry, said: Planned, undoes: str, standing: set[str]) -> None:
    """Check an undo as it is made; which older ones it replaces is checked with the documents."""
    plan = state.plans.get((undoes,))
    if (
        plan is None
        or plan["undoes"] is not None
        or (plan["workflow"], plan["proposal"])
        != (
            said.workflow,
            said.proposal,
        )
    ):
        state.wrong(About.PLAN, entry, f"the undo `{said.plan_id}` is of the plan `{undoes}`, which can't be undone")
    if not set(said.supersedes) <= standing:
        state.wrong(About.PLAN, entry, f"the undo `{said.plan_id}` supersedes something else than older undos")


def opened(state: State, entry: Entry, said: ApprovalOpened) -> None:
    """A new round of approval begins."""
    plan = _plan(state, entry, said.plan_id, said.digest)
    if plan is None:
        return
    if len(said.rule) == 0 or any(quorum.count < 1 for quorum in said.rule):
        state.wrong(About.APPROVAL, entry, "the approval asks for nobody")
    columns = {
        "round_id": said.round_id,
        "workflow": plan["workflow"],
        "proposal": plan["proposal"],
        "digest": said.digest,
        "plan_id": said.plan_id,
        "state": "open",
        "position": entry.seq,
        "opened_at": entry.at,
        "completed_at": None,
        "expires_at": None,
        "key_sha256": None,
        "used_by": None,
        "ended_at": None,
        "ended_because": None,
    }
    if state.add(state.rounds, (said.round_id,), entry, columns):
        state.rules[said.round_id] = said.rule
        if said.signed:
            state.signed.add(said.round_id)


def approved(state: State, entry: Entry, said: Approved) -> None:
    """One person says yes."""
    round_ = _round(state, entry, said.round_id, said.digest)
    plan = _plan(state, entry, said.plan_id, said.digest)
    if round_ is None or plan is None:
        return
    if round_["state"] != "open":
        state.wrong(About.APPROVAL, entry, f"a vote was counted in a round that is {round_['state']}")
    if said.by.uid in _live(state, said.round_id, entry.at):
        state.wrong(About.APPROVAL, entry, f"uid:{said.by.uid} was counted twice")
    columns = {
        "round_id": said.round_id,
        "plan_id": said.plan_id,
        "digest": said.digest,
        "uid": said.by.uid,
        "name": said.by.name,
        "at": entry.at,
        "expires_at": said.expires_at,
        "signed_at": said.signed_at,
        "signature": said.signature,
    }
    _signature(state, entry, said)
    key = (said.round_id, said.by.uid, entry.at)
    if state.add(state.votes, key, entry, columns):
        state.votes_of.setdefault(said.round_id, {})[key] = state.votes[key]


def _signature(state: State, entry: Entry, said: Approved) -> None:
    what = vote_wrong(
        said.plan_id, said.digest, said.by.uid, said.by.name, entry.at, said.signed_at, said.signature,
        required=said.round_id in state.signed, signers=state.signers,
    )  # fmt: skip
    if what is None and said.signature is not None and said.signature in state.signatures:
        what = f"the signature of uid:{said.by.uid} was given before, for another yes"
    if what is not None:
        state.wrong(About.APPROVAL, entry, what)
    if said.signature is not None:
        state.signatures.add(said.signature)


def complete(state: State, entry: Entry, said: ApprovalComplete) -> None:
    """The quorum is reached."""
    round_ = _round(state, entry, said.round_id, said.digest)
    if round_ is None or _plan(state, entry, said.plan_id, said.digest) is None:
        return
    if round_["state"] != "open":
        state.wrong(About.APPROVAL, entry, f"a round was completed that is {round_['state']}")
    what = _quorum_wrong(state, entry, said)
    if what is not None:
        state.wrong(About.APPROVAL, entry, what)
    round_.set(
        entry,
        state="complete",
        completed_at=entry.at,
        expires_at=said.expires_at,
        key_sha256=said.key_sha256,
    )


def automatic(state: State, entry: Entry, said: ApprovedAutomatically) -> None:
    """The workflow's own rule approves a plan; that the rule is the one of the plan is checked with its document."""
    round_ = _round(state, entry, said.round_id, said.digest)
    plan = _plan(state, entry, said.plan_id, said.digest)
    if round_ is None or plan is None:
        return
    if round_["state"] != "open" or len(state.votes_of.get(said.round_id, {})) > 0:
        state.wrong(About.APPROVAL, entry, "a rule approved where people had begun to decide, or had decided")
    if HALT in state.controls:
        state.wrong(About.APPROVAL, entry, "a rule approved while acting was halted")
    if plan["undoes"] is not None:
        state.wrong(About.APPROVAL, entry, "a rule approved an undo, about which people are always asked")
    if said.candidates != plan["candidates"]:
        state.wrong(About.APPROVAL, entry, "a rule approved another number of objects than the plan lists")
    what = _rule_wrong(said)
    if what is not None:
        state.wrong(About.APPROVAL, entry, what)
    state.automatic[said.round_id] = said
    round_.set(entry, state="complete", completed_at=entry.at, expires_at=said.expires_at, key_sha256=said.key_sha256)


def _rule_wrong(said: ApprovedAutomatically) -> str | None:
    try:
        percent = None if said.rule.percent is None else Decimal(said.rule.percent)
    except InvalidOperation:
        return "a rule approved by a percentage that is no number"
    if percent is not None and not percent.is_finite():
        return "a rule approved by a percentage that is no number"
    if not 0 < said.candidates <= min(said.rule.count, said.allowed):
        return "a rule approved more objects than it, or the policy, allows"
    if percent is not None and said.candidates * 100 > percent * said.population:
        return "a rule approved a larger part of the inventory than it allows"
    return None


def revoked(state: State, entry: Entry, said: ApprovalRevoked) -> None:
    """An approval is taken back."""
    round_ = _round(state, entry, said.round_id, said.digest)
    if round_ is None:
        return
    if round_["state"] not in {"open", "complete"}:
        state.wrong(About.APPROVAL, entry, f"an approval was taken back that is {round_['state']}")
    round_.set(entry, state="revoked", ended_at=entry.at, ended_because=said.because)


def valid(state: State, round_id: str, plan: Expected, at: int) -> str | None:
    """Return why this approval does not carry an act of the plan at this instant; None when it does."""
    round_ = state.rounds.get((round_id,))
    if round_ is None:
        return "no approval of this id was ever given"
    if round_["digest"] != plan["digest"]:
        return "the approval was given for another digest"
    if round_["state"] != "complete":
        return f"the approval is {round_['state']}"
    if round_["expires_at"] is None or round_["expires_at"] <= at:
        return "the approval had run out"
    if round_["used_by"] not in {None, plan["plan_id"]}:
        return "the approval was used up by another plan"
    return None


def _quorum_wrong(state: State, entry: Entry, said: ApprovalComplete) -> str | None:
    rule = state.rules.get(said.round_id, ())
    live = _live(state, said.round_id, entry.at)
    uids = [seat.uid for seat in said.seats]
    if len(set(uids)) != len(uids):
        return "one person was counted for two seats"
    if not set(uids) <= set(live):
        return "someone was counted who had not approved, or whose vote had run out"
    filled = Counter(seat.quorum for seat in said.seats)
    if filled != Counter({index: quorum.count for index, quorum in enumerate(rule)}):
        return "the quorum was not reached"
    barred = set(state.authors.get(said.plan_id, ()))
    for seat in said.seats:
        if rule[seat.quorum].not_by_author and f"uid:{seat.uid}" in barred:
            return f"uid:{seat.uid} is an author and was counted all the same"
    if said.expires_at != min((live[uid] for uid in uids), default=None):
        return "the approval does not end when the first of its votes does"
    return None


def _live(state: State, round_id: str, at: int) -> dict[int, int]:
    """Return who has a vote that counts at this instant, and when it runs out."""
    return {
        key[1]: vote["expires_at"] for key, vote in state.votes_of.get(round_id, {}).items() if vote["expires_at"] > at
    }


def _plan(state: State, entry: Entry, plan_id: str, digest: str) -> Expected | None:
    plan = state.plans.get((plan_id,))
    if plan is None:
        state.wrong(About.APPROVAL, entry, f"it speaks of the plan `{plan_id}`, which was never made")
        return None
    if plan["digest"] != digest:
        state.wrong(About.APPROVAL, entry, f"it is for another digest than that of the plan `{plan_id}`")
        return None
    if plan["superseded_by"] is not None or plan["state"] == "applied" or plan["over_cap"]:
        state.wrong(About.APPROVAL, entry, f"the plan `{plan_id}` could not be approved any more")
    return plan


def _round(state: State, entry: Entry, round_id: str, digest: str) -> Expected | None:
    round_ = state.rounds.get((round_id,))
    if round_ is None:
        state.wrong(About.APPROVAL, entry, f"it speaks of the approval `{round_id}`, which was never opened")
        return None
    if round_["digest"] != digest:
        state.wrong(About.APPROVAL, entry, "it is for another digest than the approval that it counts for")
        return None
    return round_

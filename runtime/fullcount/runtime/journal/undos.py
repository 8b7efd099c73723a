"""Verifying undos: each names acts that were done, as they stand in the journal, and was approved in its time.

That nothing was taken back twice, or without an approval, is seen as the journal is gone through (`replay_acts`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlalchemy.orm import Session

from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.journal.entry import canonical_text
from fullcount.runtime.journal.expected import State
from fullcount.runtime.journal.report import About, Problem
from fullcount.runtime.offline.rehearsals import ACT, AGAIN
from fullcount.runtime.plan.document import PlanDocument
from fullcount.runtime.store import tables
from fullcount.runtime.store.instants import to_micros


def undos_wrong(state: State, session: Session, document: PlanDocument) -> Iterator[Problem]:
    """Yield what is wrong with a plan that is an undo; nothing for any other."""
    undo, name = document.undo, document.plan_id
    if undo is None:
        return
    seq = state.plans[name,].seq
    of = state.plans.get((undo.plan_id,))
    if of is None or of["digest"] != undo.plan_digest:
        yield Problem(About.PLAN, seq, f"the undo `{name}` is of another plan than the journal says")
    head = session.get(tables.JournalEntry, undo.head.seq)
    if head is None or head.hash != undo.head.hash or undo.head.seq >= state.plans[name,]["position"]:
        yield Problem(About.PLAN, seq, f"the undo `{name}` was made over another record than this one")
    for row in document.rows:
        key = canonical_text(row.key)
        acts = [state.acts.get((undo.plan_id, kind, key)) for kind in (ACT, AGAIN)]
        done = {act["act_id"] for act in acts if act is not None and act["outcome"] == Outcome.DONE.value}
        if row.undo is None or row.undo.act_id not in done:
            yield Problem(About.PLAN, seq, f"the undo `{name}` takes back an act on the object {key} that was not done")
    for round_ in state.rounds.values():
        ends = round_["expires_at"]
        if round_["digest"] == document.digest and ends is not None and ends > to_micros(undo.valid_until):
            yield Problem(About.APPROVAL, round_.seq, f"the undo `{name}` was approved for longer than it is valid")


def out_of_place(state: State, listed: Mapping[str, set[str]]) -> Iterator[Problem]:
    """Yield undos that stand beside a newer one of all their objects, or gave way to one that is not of all of them.

    `listed`: the objects by undo.
    """
    for name, keys in listed.items():
        plan = state.plans[name,]
        by = plan["superseded_by"]
        if by is not None and by in listed and not keys <= listed[by]:
            what = f"the undo `{name}` was superseded by `{by}`, which does not take back all of its objects"
            yield Problem(About.PLAN, plan.seq, what)
        if by is not None or plan["state"] == "applied":
            continue
        for other, others in listed.items():
            newer = state.plans[other,]
            if newer["undoes"] == plan["undoes"] and newer["position"] > plan["position"] and keys <= others:
                what = f"the undo `{name}` stands, although `{other}` is a newer one of all of its objects"
                yield Problem(About.PLAN, plan.seq, what)
                break

"""Replaying canaries: was the rest of a plan only acted on after the first objects had been waited for?"""

from __future__ import annotations

from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.journal.entry import Entry, canonical_text
from fullcount.runtime.journal.expected import State
from fullcount.runtime.journal.payloads import CanaryPassed, CanaryWaits
from fullcount.runtime.journal.replay_acts import ends_of
from fullcount.runtime.journal.report import About
from fullcount.runtime.offline.rehearsals import ACT, RESTORE, passed_with, was_rehearsed

_BAD = frozenset({None, Outcome.FAILED.value, Outcome.UNKNOWN.value})


def waits(state: State, entry: Entry, said: CanaryWaits) -> None:
    """The first objects were acted on, and the rest waits."""
    meant = {
        key[2]
        for key, act in state.acts_of.get(said.plan_id, {}).items()
        if key[1] == "act" and act["intent_at"] is not None
    }
    if {canonical_text(list(key)) for key in said.keys} != meant:
        state.wrong(About.ACT, entry, "the canary is not what had been acted on so far")
    columns = {
        "plan_id": said.plan_id,
        "objects": canonical_text([list(key) for key in said.keys]),
        "waits_from": entry.at,
        "waits_until": said.until,
        "passed_at": None,
    }
    state.add(state.canaries, (said.plan_id,), entry, columns)


def passed(state: State, entry: Entry, said: CanaryPassed) -> None:
    """The canary was looked at and holds."""
    canary = state.canaries.get((said.plan_id,))
    if canary is None or canary["passed_at"] is not None:
        state.wrong(About.ACT, entry, f"a canary of the plan `{said.plan_id}` passed that did not wait")
        return
    if entry.at < canary["waits_until"]:
        state.wrong(About.ACT, entry, "the canary passed before its wait was over")
    acts = state.acts_of.get(said.plan_id, {})
    if any(act["outcome"] in _BAD for key, act in acts.items() if key[1] == "act" and act["intent_at"] is not None):
        state.wrong(About.ACT, entry, "the canary passed although one of its acts failed, or its outcome was open")
    ends = {key[2]: ends_of(state, said.plan_id, key[2]) for key in acts if key[1] == ACT}
    if any(RESTORE in each and not was_rehearsed(each) for each in ends.values()):
        state.wrong(About.ACT, entry, "the canary passed in the middle of the rehearsal of a restore")
    state.passed[said.plan_id] = passed_with(ends)
    state.counted[said.plan_id] = said.counted
    canary.set(entry, passed_at=entry.at)

"""Whether everybody was told who had to be, each once: judged for the store and for an export alike.

What was sent is not in the record, nor whether it arrived beyond what its sender said. A notice that is one of the
steps of an act is an act, and is judged as one (`clocks.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from fullcount.runtime.offline.programs import told_of

_BEFORE: Final = {
    "sending": "pending",
    "pending": "sending",
    "delivered": "sending",
    "failed": "sending",
    "unknown": "sending",
}
_PLAN_EVENTS: Final[Mapping[str, str | None]] = {
    "waiting": "waiting",
    "refused": "refused",
    "over_cap": "refused",
    "report": "done",
    "error": "stopped",
    "nothing": None,
    "approved": None,
}
_ACT_EVENTS: Final[Mapping[str, str | None]] = {
    "done": "done",
    "ended": "stopped",
    "stopped": "stopped",
    "refused": "refused",
    "error": "stopped",
    "paused": None,
}


def event_of(kind: str, state: str) -> str | None:
    """Return which event the end of a run is; None: nobody is told of it. A state that is not known is `stopped`."""
    return (_PLAN_EVENTS if kind == "plan" else _ACT_EVENTS).get(state, "stopped")


@dataclass(slots=True)
class EndedRun:
    """The end of a run, and who is told of it: event and target."""

    seq: int
    at: int
    run: Mapping[str, Any]
    state: str
    told: set[tuple[str, str]] = field(default_factory=set)


@dataclass(slots=True)
class Notices:
    """Every notice by its id, and every end of a run. Each method returns what is wrong, or None."""

    by_id: dict[str, dict[str, Any]] = field(default_factory=dict)
    ended: dict[str, EndedRun] = field(default_factory=dict)

    def run_ended(self, seq: int, at: int, run: Mapping[str, Any], state: str) -> None:
        """A run has ended: what it has to tell follows."""
        self.ended[run["run_id"]] = EndedRun(seq, at, run, state)

    def queued(self, said: Mapping[str, Any], run_id: str | None, at: int) -> str | None:
        """Somebody is to be told of the end of a run."""
        self.by_id.setdefault(said["notice_id"], {"state": "pending", "attempts": 0, "next_at": at})
        end = self.ended.get(run_id or "")
        if end is None or end.at != at:
            return "a notice was made of a run that did not end with it"
        if (said["event"], said["target"]) in end.told:
            return f"`{said['target']}` is told twice of the end of one run"
        end.told.add((said["event"], said["target"]))
        if said["event"] != event_of(end.run["kind"], end.state):
            return f"`{said['target']}` is told of `{said['event']}`, and the run ended as `{end.state}`"
        return None

    def moved(self, said: Mapping[str, Any], at: int) -> str | None:
        """A notice is on its way, or this came of it."""
        notice = self.by_id.get(said["notice_id"])
        if notice is None or notice["state"] != _BEFORE.get(said["state"]):
            return f"the notice `{said['notice_id']}` can't have become `{said['state']}`"
        sending, due = said["state"] == "sending", notice["next_at"]
        tries = notice["attempts"] + sending
        notice.update(state=said["state"], attempts=said["attempts"], next_at=said["next_at"])
        if said["attempts"] != tries:
            return f"the notice `{said['notice_id']}` counts {said['attempts']} tries, the entries before it {tries}"
        if sending and (due is None or at < due):
            return f"the notice `{said['notice_id']}` was sent before its time"
        return None


def untold(notices: Notices, plan: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Return which runs of a plan ended without telling whom its workflow names: the entry of the end, and what.

    Raises `Unread` for a plan that does not say whom.
    """
    wrong: list[tuple[int, str]] = []
    named = told_of(plan)
    for run_id, end in notices.ended.items():
        if run_id != plan["run_id"] and end.run["plan_id"] != plan["plan_id"]:
            continue
        event = event_of(end.run["kind"], end.state)
        targets = [target for target, events in named if event in events]
        wrong += [
            (end.seq, f"`{target}` had to be told that the run ended as `{end.state}`")
            for target in targets
            if (event, target) not in end.told
        ]
    return wrong

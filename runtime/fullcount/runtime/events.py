"""What people are told of a run: which event its end is, and the words for it.

A notice holds counts, codes and names of workflows, never an object or a value that was read: it leaves the workspace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from fullcount.runtime.offline.notices import event_of
from fullcount.runtime.text import one_line, plain

__all__ = ["DONE", "REFUSED", "STOPPED", "WAITING", "Notice", "RunEnd", "event_of", "notice_of"]

WAITING, REFUSED, DONE, STOPPED = "waiting", "refused", "done", "stopped"

_WORDS: Final = {WAITING: "NEEDS APPROVAL", REFUSED: "REFUSED", DONE: "DONE", STOPPED: "STOPPED"}
_LONGEST: Final = 300
_FINDINGS: Final = 10


@dataclass(frozen=True, slots=True)
class RunEnd:
    """The end of a run as an event: what the edges into `notify` ask for."""

    event: str


@dataclass(frozen=True, slots=True)
class Notice:
    """What one notifier is to be told of one event. `body` is plain JSON."""

    event: str
    target: str
    title: str
    body: Mapping[str, Any]


def notice_of(
    event: str,
    target: str,
    *,
    kind: str,
    workflow: str,
    proposal: str,
    run_id: str,
    exit_code: int,
    what: str,
    plan_id: str | None = None,
    digest: str | None = None,
    lines: tuple[str, ...] = (),
) -> Notice:
    """Return the notice. `what` is the verdict in a few words, `lines` say more; both are made harmless here."""
    name = f"{workflow}.{proposal}"
    title = f"{_WORDS[event]} {plain(name, 120)}: {plain(one_line(what), _LONGEST)}"
    told = [plain(one_line(line), _LONGEST) for line in lines[:_FINDINGS]]
    if len(lines) > _FINDINGS:
        told.append(f"… {len(lines) - _FINDINGS} more")
    if plan_id is not None:
        told.append(f"fullcount show {plan_id}")
    told.append(f"run {run_id}, exit {exit_code}")
    return Notice(
        event,
        target,
        title,
        {
            "event": event,
            "kind": kind,
            "workflow": workflow,
            "proposal": proposal,
            "run_id": run_id,
            "plan_id": plan_id,
            "digest": digest,
            "exit": exit_code,
            "title": title,
            "text": "\n".join((title, *told)),
        },
    )

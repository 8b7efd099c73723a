"""Replaying notices: was each sent by one alone, and did none end twice?"""

from __future__ import annotations

from typing import Final

from fullcount.runtime.journal.entry import Entry
from fullcount.runtime.journal.expected import State
from fullcount.runtime.journal.payloads import NoticeMoved, NoticeQueued
from fullcount.runtime.journal.report import About

_FROM: Final = {
    "sending": "pending",
    "pending": "sending",
    "delivered": "sending",
    "failed": "sending",
    "unknown": "sending",
}


def queued(state: State, entry: Entry, said: NoticeQueued) -> None:
    """Somebody is to be told of the end of a run."""
    run = state.runs.get((entry.run_id,))
    if run is None or run["finished_at"] != entry.at:
        state.wrong(About.RUN, entry, "a notice was made of a run that did not end with it")
    columns = said.model_dump() | {
        "run_id": entry.run_id,
        "state": "pending",
        "attempts": 0,
        "next_at": entry.at,
        "detail": "",
        "queued_at": entry.at,
        "changed_at": entry.at,
    }
    state.add(state.notices, (said.notice_id,), entry, columns)


def moved(state: State, entry: Entry, said: NoticeMoved) -> None:
    """A notice is on its way, or this came of it."""
    notice = state.notices.get((said.notice_id,))
    if notice is None or notice["state"] != _FROM.get(said.state):
        state.wrong(About.RUN, entry, f"the notice `{said.notice_id}` can't have become `{said.state}`")
        return
    columns = said.model_dump(exclude={"notice_id"})
    notice.set(entry, **columns, changed_at=entry.at)

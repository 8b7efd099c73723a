"""Replaying notices: was each sent by one alone, and did none end twice?"""

from __future__ import annotations

from fullcount.runtime.journal.entry import Entry
from fullcount.runtime.journal.expected import State
from fullcount.runtime.journal.payloads import NoticeMoved, NoticeQueued
from fullcount.runtime.journal.report import About


def queued(state: State, entry: Entry, said: NoticeQueued) -> None:
    """Somebody is to be told of the end of a run."""
    state.note(About.RUN, entry, state.told.queued(said.model_dump(), entry.run_id, entry.at))
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
    state.note(About.RUN, entry, state.told.moved(said.model_dump(), entry.at))
    notice = state.notices.get((said.notice_id,))
    if notice is not None:
        columns = said.model_dump(exclude={"notice_id"})
        notice.set(entry, **columns, changed_at=entry.at)

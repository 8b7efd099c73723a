"""Whether every backup that the record names, and whose time is not over, is there and is what was stored."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from fullcount.runtime.backups.files import BackupFiles, BackupLost
from fullcount.runtime.journal.expected import State
from fullcount.runtime.journal.report import About, Problem
from fullcount.runtime.store.held_backups import held, is_over


def check_backups(state: State, session: Session, files: BackupFiles, now: datetime) -> int:
    """Add what is wrong to the state, and return how many were looked at; of those that are over there is a note."""
    seen, over = set[str](), 0
    for each in held(session):
        if is_over(each, now):
            over += 1
            continue
        if each.sha256 in seen:
            continue
        seen.add(each.sha256)
        try:
            files.get(each.sha256)
        except BackupLost as lost:
            act = state.acts.get((each.plan_id, each.kind, each.object_key))
            what = f"{lost.message}: the object {each.object_key} of the plan `{each.plan_id}` can't be restored"
            state.problems.append(Problem(About.BACKUP, None if act is None else act.seq, what))
    if over > 0:
        state.notes.append(f"the time of {over:,} backup{'s' if over > 1 else ''} is over")
    return len(seen)

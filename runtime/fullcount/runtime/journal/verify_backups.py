"""Whether every backup that may still be needed is there and is what was stored.

Needed is the backup of what was done, or may have been, was not restored since, and whose time is not over. One that is
lost says nothing against the record, which tells the same as before: only the object can't be brought back.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from fullcount.runtime.backups.files import BackupFiles, BackupLost
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.journal.expected import State
from fullcount.runtime.journal.report import About, Problem
from fullcount.runtime.offline.rehearsals import ACT, AGAIN, RESTORE
from fullcount.runtime.store import rehearsals, undone
from fullcount.runtime.store.held_backups import Held, held, is_over

_MAY_BE_DONE: Final = (None, Outcome.DONE.value, Outcome.UNKNOWN.value)


def check_backups(
    state: State, session: Session, files: BackupFiles, now: datetime, keeping: Collection[str] = ()
) -> dict[str, int]:
    """Add what is lost to the state, and return how many were compared; of those that are over there is a note.

    `keeping`: the sources that keep the objects themselves (a quarantine folder). Of these the backup is a record of
    what lies there; it is compared and counted for itself, and what lies there is not looked at.
    """
    seen: dict[str, str | None] = {}
    over, compared, records = 0, set[str](), set[str]()
    for each in _needed(session):
        if is_over(each, now):
            over += 1
            continue
        if each.sha256 not in seen:
            seen[each.sha256] = _lost(files, each.sha256)
        (records if (each.operation or "").partition(".")[0] in keeping else compared).add(each.sha256)
        why = seen[each.sha256]
        if why is not None:
            act = state.acts.get((each.plan_id, each.kind, each.object_key))
            what = (
                f"a backup is lost: {each.object_key} of the plan `{each.plan_id}` can't be restored any more ({why})"
            )
            state.problems.append(Problem(About.BACKUP, None if act is None else act.seq, what))
    if over > 0:
        state.notes.append(f"the time of {over:,} backup{'s' if over > 1 else ''} is over")
    found = {"backup": len(compared)}
    if len(records) > 0:
        found["record_of_quarantine"] = len(records)
        state.notes.append("files in quarantine are not looked at, only the records of them: `fullcount undo` does it")
    return found


def _lost(files: BackupFiles, sha256: str) -> str | None:
    """Return why a backup is of no use; None for one that is whole."""
    try:
        files.get(sha256)
    except BackupLost as lost:
        return lost.message
    return None


def _needed(session: Session) -> list[Held]:
    """Return the backups of what was done, or may have been, and was not restored since."""
    acts = [each for each in held(session) if each.kind in {ACT, AGAIN} and each.outcome in _MAY_BE_DONE]
    plans = sorted({each.plan_id for each in acts})
    back, rehearsed = undone.done_of(session, plans), rehearsals.ends_of(session, plans)
    return [
        each
        for each in acts
        if (each.plan_id, each.object_key) not in back
        and not (
            each.kind == ACT and rehearsed.get((each.plan_id, each.object_key), {}).get(RESTORE) == Outcome.DONE.value
        )
    ]

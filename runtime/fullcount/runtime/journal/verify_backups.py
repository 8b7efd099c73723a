"""Whether every backup that may still be needed is there and is what was stored.

Needed is the backup of what was done, or may have been, was not restored since, and whose time is not over. One that is
lost says nothing against the record, which tells the same as before: only the object can't be brought back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy.orm import Session

from fullcount.runtime.backups.files import BackupFiles, BackupLost
from fullcount.runtime.connectors.base import Outcome, SourceError
from fullcount.runtime.journal.expected import State
from fullcount.runtime.journal.report import About, Problem
from fullcount.runtime.offline.rehearsals import ACT, AGAIN, RESTORE
from fullcount.runtime.store import rehearsals, undone
from fullcount.runtime.store.held_backups import Held, held, is_over

_SURELY_NOT: Final = frozenset({"changed", "already_gone", "refused", "failed"})
_MAY_BE_DONE: Final = (None, Outcome.DONE.value, Outcome.UNKNOWN.value)


Look = Callable[[Sequence[Mapping[str, Any]]], Sequence[str | None]]
"""Looks at what a source keeps itself: why the object of each backup is not there as it was; None: it is.

Raises `SourceError` where it can't be looked at.
"""


def check_backups(
    state: State, session: Session, files: BackupFiles, now: datetime, keeping: Mapping[str, Look] | None = None
) -> dict[str, int]:
    """Add what is lost to the state, and return how many were compared; of those that are over there is a note.

    `keeping`: the sources that keep the objects themselves (a quarantine folder). Of these the backup is a record of
    what lies there: it is compared and counted for itself, and what lies there is looked at by it. Where that is not
    possible, there is a note: nothing is known of it then.
    """
    keeping = {} if keeping is None else keeping
    seen: dict[str, str | None] = {}
    kept: defaultdict[str, list[Held]] = defaultdict(list)
    over, compared, records = 0, set[str](), set[str]()
    for each in _needed(session):
        if is_over(each, now):
            over += 1
            continue
        if each.sha256 not in seen:
            seen[each.sha256] = _lost(files, each.sha256)
        source = (each.operation or "").partition(".")[0]
        (records if source in keeping else compared).add(each.sha256)
        lost = seen[each.sha256]
        if lost is not None:
            _tell(state, each, lost)
        elif source in keeping:
            kept[source].append(each)
    if over > 0:
        state.notes.append(f"the time of {over:,} backup{'s' if over > 1 else ''} is over")
    found = {"backup": len(compared)}
    if len(records) > 0:
        found["record_of_quarantine"] = len(records)
    kept = _surely_away(state, session, kept)
    for source, acts in sorted(kept.items()):
        found["in_quarantine"] = found.get("in_quarantine", 0) + _look(state, files, source, acts, keeping[source])
    return found


def _surely_away(state: State, session: Session, kept: Mapping[str, Sequence[Held]]) -> defaultdict[str, list[Held]]:
    """Return those of which it is known that they lie with their source: neither half done nor half restored."""
    plans = sorted({each.plan_id for acts in kept.values() for each in acts})
    back, rehearsed = undone.open_of(session, plans), rehearsals.ends_of(session, plans)
    found: defaultdict[str, list[Held]] = defaultdict(list)
    for source, acts in kept.items():
        for each in acts:
            place = (each.plan_id, each.object_key)
            ends = rehearsed.get(place, {})
            settled = each.outcome == Outcome.DONE.value and place not in back
            if settled and (each.kind == AGAIN or RESTORE not in ends or ends[RESTORE] in _SURELY_NOT):
                found[source].append(each)
        left = len(acts) - len(found[source])
        if left > 0:
            number = f"{left:,} object{'s' if left > 1 else ''}"
            state.notes.append(
                f"not looked at: {number} of `{source}`, of which nobody knows yet whether they are away"
            )
    return found


def _look(state: State, files: BackupFiles, source: str, acts: Sequence[Held], look: Look) -> int:
    """Look at what a source keeps of these acts, tell what is not there as it was, and return how many were looked at.

    Their records were compared before.
    """
    try:
        found = look([files.get(each.sha256) for each in acts])
    except SourceError as error:
        why = error.reason.detail or str(error.reason.code)
        number = f"{len(acts):,} object{'s' if len(acts) > 1 else ''}"
        state.notes.append(f"not looked at: {number} that `{source}` keeps in quarantine, only the record ({why})")
        return 0
    except (BackupLost, ValueError) as error:
        state.notes.append(f"not looked at: what `{source}` keeps in quarantine; a record of it can't be read: {error}")
        return 0
    for each, missing in zip(acts, found, strict=True):
        if missing is not None:
            _tell(state, each, missing)
    return len(acts)


def _tell(state: State, each: Held, why: str) -> None:
    act = state.acts.get((each.plan_id, each.kind, each.object_key))
    what = f"a backup is lost: {each.object_key} of the plan `{each.plan_id}` can't be restored any more ({why})"
    state.problems.append(Problem(About.BACKUP, None if act is None else act.seq, what))


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

"""What Redis says of a scan and of a write. Pure.

Facts: cursor 0 is the only end; empty replies with another cursor are normal; keys that were there all the time are
returned at least once, others are undefined; in a cluster each master has its own keys; a replica may lag behind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fullcount.runtime.connectors.judged import Judged, runs_late
from fullcount.runtime.evidence.codes import ActReason, Reason, WarningCode, Way

_ERRORS: Mapping[str, Reason] = {
    "NOPERM": Reason.VISIBILITY_RESTRICTED,
    "NOAUTH": Reason.AUTH_FAILED,
    "WRONGPASS": Reason.AUTH_FAILED,
    "MOVED": Reason.SCOPE_NOT_COVERED,
    "ASK": Reason.SCOPE_NOT_COVERED,
    "LOADING": Reason.SOURCE_UNAVAILABLE,
    "MASTERDOWN": Reason.SOURCE_UNAVAILABLE,
    "CLUSTERDOWN": Reason.SOURCE_UNAVAILABLE,
    "TRYAGAIN": Reason.SOURCE_UNAVAILABLE,
    "BUSY": Reason.RATE_LIMITED,
    "OOM": Reason.SOURCE_UNAVAILABLE,
    "ERR": Reason.UNEXPECTED_STATUS,
}


@dataclass(frozen=True, slots=True)
class Answer:
    """One command with its reply. `error` is the first word of an error reply, or the name of a client's error."""

    command: str
    node: str | None = None
    asked_cursor: str | None = None
    reply: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None


@dataclass(slots=True)
class _Course:
    """What a scan has seen so far. `strayed`: it did not go from 0 by the cursors that were given."""

    keys: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    open_nodes: set[str] = field(default_factory=set)
    cursors: dict[str, list[str]] = field(default_factory=dict)
    """By node: those that were used and given, the newest last."""
    strayed: bool = False


def judge_scan(answers: Sequence[Answer]) -> Judged:
    """Return what a scan amounts to."""
    judged, course = Judged(), _Course()
    judged.warn(WarningCode.NO_SNAPSHOT, WarningCode.TOTAL_ABSENT)
    masters: set[str] = set()
    clustered = False
    for answer in answers:
        if answer.error is not None:
            _note_error(answer.error, judged)
            continue
        masters |= {str(name) for name in answer.reply.get("masters", ())}
        clustered = clustered or str(answer.reply.get("cluster_enabled")) in {"1", "True"}
        if answer.reply.get("role") in ("slave", "replica"):
            judged.warn(WarningCode.STALE_READ)
        if answer.command == "SCAN":
            _note_page(answer, judged, course)
    if len(judged.reasons) == 0:
        _conclude(judged, course, masters, clustered=clustered)
    return judged


def _conclude(judged: Judged, course: _Course, masters: set[str], *, clustered: bool) -> None:
    """Note what is left to be read, where nothing else stands against the scan."""
    missing = masters - course.ended - course.open_nodes
    if len(course.open_nodes) > 0:
        judged.because(Reason.MORE_PAGES_AVAILABLE, Way.NEXT_CURSOR, "the cursor is not 0")
    elif len(missing) > 0:
        detail = f"nothing was read from {', '.join(sorted(missing))}"
        judged.because(Reason.SCOPE_NOT_COVERED, Way.NEXT_CURSOR, detail)
    elif clustered and len(masters) == 0 and len(course.ended) == 1:
        detail = "each master of a cluster has keys of its own, and which there are was not asked"
        judged.because(Reason.SCOPE_NOT_COVERED, Way.NEXT_CURSOR, detail)
    elif len(course.ended) == 0:
        judged.because(Reason.COMPLETENESS_UNPROVABLE, detail="nothing was scanned")
    elif course.strayed:
        detail = "the scan did not go from 0 by the cursors that were given: of any other one Redis vouches for nothing"
        judged.because(Reason.COMPLETENESS_UNPROVABLE, Way.RESTART, detail)


def _note_page(answer: Answer, judged: Judged, course: _Course) -> None:
    node, found = answer.node or "", answer.reply.get("keys")
    cursor = answer.reply.get("cursor")
    if not isinstance(found, list) or cursor is None:
        judged.because(Reason.MALFORMED_RESPONSE, detail="a reply without a cursor or without keys")
        return
    names = set(map(str, found))
    if len(course.keys & names) > 0 or len(names) < len(found):
        judged.warn(WarningCode.DUPLICATE_ITEMS)
    course.keys |= names
    cursors = course.cursors.setdefault(node, [])
    asked = None if answer.asked_cursor is None else str(answer.asked_cursor)
    if asked == "0":
        cursors.clear()  # begun anew
    elif asked is not None and asked not in cursors[-1:]:
        course.strayed = True
        cursors.append(asked)
    if str(cursor) == "0":
        course.ended.add(node)
        course.open_nodes.discard(node)
        return
    course.open_nodes.add(node)
    if len(found) == 0:
        judged.warn(WarningCode.EMPTY_PAGE_WITH_CURSOR)
    if str(cursor) in cursors:
        judged.because(Reason.CURSOR_LOOP, detail="a cursor came again")
    cursors.append(str(cursor))


def _note_error(error: str, judged: Judged) -> None:
    name = error.split()[0] if error != "" else ""
    if runs_late(name):
        judged.because(Reason.TIME_BUDGET_EXCEEDED, detail=error)
    else:
        judged.because(_ERRORS.get(name.upper(), Reason.SOURCE_UNAVAILABLE), detail=error)


def judge_write(answers: Sequence[Answer]) -> Judged:
    """Return what a guarded write amounts to: the last reply decides."""
    judged = Judged()
    last = answers[-1]
    if last.error is not None:
        name = last.error.split()[0].upper() if last.error != "" else ""
        if name in {"NOPERM", "NOAUTH", "WRONGPASS", "MOVED", "ASK", "BUSY", "LOADING", "TRYAGAIN"}:
            judged.because(_ERRORS[name], detail=last.error)
        elif name in {"EXECABORT", "WATCHERR"}:
            judged.because(ActReason.PRECONDITION_FAILED, detail=last.error)
        elif name in {"READONLY", "ERR", "OOM", "MISCONF", "WRONGTYPE"}:
            judged.because(Reason.UNEXPECTED_STATUS, detail=last.error)
        else:
            judged.because(ActReason.OUTCOME_UNKNOWN, Way.RETRY_AFTER, last.error)
    elif last.command in {"EXEC", "EVAL"} and last.reply.get("result", True) is None:
        judged.because(ActReason.PRECONDITION_FAILED, detail="a watched key changed")
    return judged

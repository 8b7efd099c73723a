"""What Redis says of a scan and of a write. Pure.

Facts: cursor 0 is the only end; empty replies with another cursor are normal; keys that were there all the time are
returned at least once, others are undefined; in a cluster each master has its own keys; a replica may lag behind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fullcount.runtime.connectors.judged import Judged
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


def judge_scan(answers: Sequence[Answer]) -> Judged:
    """Return what a scan amounts to."""
    judged = Judged()
    judged.warn(WarningCode.NO_SNAPSHOT, WarningCode.TOTAL_ABSENT)
    masters: set[str] = set()
    ended: set[str] = set()
    open_nodes: set[str] = set()
    given: dict[str, set[str]] = {}
    keys: set[str] = set()
    for answer in answers:
        if answer.error is not None:
            _note_error(answer.error, judged)
            continue
        masters |= {str(name) for name in answer.reply.get("masters", ())}
        if answer.reply.get("role") in {"slave", "replica"}:
            judged.warn(WarningCode.STALE_READ)
        if answer.command == "SCAN":
            _note_page(answer, judged, keys, ended, open_nodes, given)
    if len(open_nodes) > 0 and len(judged.reasons) == 0:
        judged.because(Reason.MORE_PAGES_AVAILABLE, Way.NEXT_CURSOR, "the cursor is not 0")
    missing = masters - ended - open_nodes
    if len(missing) > 0 and len(judged.reasons) == 0:
        detail = f"nothing was read from {', '.join(sorted(missing))}"
        judged.because(Reason.SCOPE_NOT_COVERED, Way.NEXT_CURSOR, detail)
    if len(ended) + len(open_nodes) == 0 and len(judged.reasons) == 0:
        judged.because(Reason.COMPLETENESS_UNPROVABLE, detail="nothing was scanned")
    return judged


def _note_page(
    answer: Answer,
    judged: Judged,
    keys: set[str],
    ended: set[str],
    open_nodes: set[str],
    given: dict[str, set[str]],
) -> None:
    node, found = answer.node or "", answer.reply.get("keys")
    cursor = answer.reply.get("cursor")
    if not isinstance(found, list) or cursor is None:
        judged.because(Reason.MALFORMED_RESPONSE, detail="a reply without a cursor or without keys")
        return
    if len(keys & set(map(str, found))) > 0 or len(set(map(str, found))) < len(found):
        judged.warn(WarningCode.DUPLICATE_ITEMS)
    keys |= set(map(str, found))
    if str(cursor) == "0":
        ended.add(node)
        open_nodes.discard(node)
        return
    open_nodes.add(node)
    if len(found) == 0:
        judged.warn(WarningCode.EMPTY_PAGE_WITH_CURSOR)
    before = given.setdefault(node, set())
    if str(cursor) in before:
        judged.because(Reason.CURSOR_LOOP, detail="a cursor came again")
    before.add(str(cursor))


def _note_error(error: str, judged: Judged) -> None:
    name = error.split()[0] if error != "" else ""
    if "timeout" in name.lower():
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

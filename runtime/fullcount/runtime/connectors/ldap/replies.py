"""What LDAP results say of a search and of a write. Pure.

Facts: RFC 4511 (result codes), RFC 2696 (paged results), RFC 4528 (assertions), MS-ADTS (ranges, lastLogonTimestamp).
A search is at its end only at result 0 with an empty cookie, if it was paged; a limit in the middle of a page comes
without a cookie. What an access rule hides just is not there: a missing attribute is `indeterminate`, a missing base
may be a hidden one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fullcount.compiler.values import FieldState
from fullcount.runtime.connectors.judged import Judged, runs_late
from fullcount.runtime.evidence.codes import ActReason, Reason, WarningCode, Way

PAGED = "1.2.840.113556.1.4.319"
TREE_DELETE = "1.2.840.113556.1.4.805"

_READ: Mapping[int, tuple[Reason, Way | None]] = {
    1: (Reason.SOURCE_UNAVAILABLE, None),  # operationsError
    3: (Reason.TIME_BUDGET_EXCEEDED, None),
    4: (Reason.RESULT_LIMIT_REACHED, None),  # sizeLimitExceeded
    7: (Reason.AUTH_FAILED, None),
    8: (Reason.AUTH_FAILED, None),  # strongerAuthRequired
    10: (Reason.SCOPE_NOT_COVERED, None),  # referral
    11: (Reason.RESULT_LIMIT_REACHED, None),  # adminLimitExceeded
    12: (Reason.COMPLETENESS_UNPROVABLE, Way.NARROW_QUERY),  # unavailableCriticalExtension: no paging
    13: (Reason.AUTH_FAILED, None),  # confidentialityRequired
    32: (Reason.EXISTENCE_UNKNOWN, None),  # noSuchObject, or hidden
    48: (Reason.AUTH_FAILED, None),
    49: (Reason.AUTH_FAILED, None),
    50: (Reason.VISIBILITY_RESTRICTED, None),
    51: (Reason.RATE_LIMITED, None),  # busy
    52: (Reason.SOURCE_UNAVAILABLE, None),
    53: (Reason.RESULT_LIMIT_REACHED, None),  # unwillingToPerform: size or paging limits of the server
    81: (Reason.SOURCE_UNAVAILABLE, None),  # serverDown, of the client
    85: (Reason.TIME_BUDGET_EXCEEDED, None),  # timeout, of the client
    91: (Reason.SOURCE_UNAVAILABLE, None),  # connectError, of the client
    4096: (Reason.CURSOR_EXPIRED, None),  # syncRefreshRequired
}
_RANGE = re.compile(r"(?P<name>[^;]+);range=(?P<first>\d+)-(?P<last>\d+|\*)", re.IGNORECASE)
_LATE = frozenset({"lastlogontimestamp", "lastlogon", "msds-lastsuccessfulinteractivelogontime"})
"""Signals of use that other servers learn of days later, or never."""


@dataclass(frozen=True, slots=True)
class SearchReply:
    """One reply to a search. `code` None: no answer, and `failed` says why. `cookie` None: no control came with it."""

    code: int | None
    entries: Sequence[Mapping[str, Sequence[Any]]] = ()
    names: Sequence[str] = ()
    """The entries' distinguished names."""
    references: Sequence[str] = ()
    cookie: str | None = None
    resumed: bool = False
    paged: bool = False
    asked: Sequence[str] = ()
    failed: str = ""
    search: str = ""
    """What tells one search from another: the pages of each have an end of their own."""


def judge_search(
    replies: Sequence[SearchReply], wanted: Sequence[str] = (), *, active_directory: bool = False
) -> Judged:
    """Return what a search amounts to; `wanted` are the attributes that the question needs."""
    judged = Judged()
    judged.warn(WarningCode.NO_SNAPSHOT, WarningCode.TOTAL_ABSENT)
    if len(replies) == 0:
        judged.because(Reason.COMPLETENESS_UNPROVABLE, detail="nothing was searched")
        return judged
    seen: set[str] = set()
    cookies: set[str] = set()
    for reply in replies:
        if len(reply.references) > 0:
            judged.because(Reason.SCOPE_NOT_COVERED, detail="references to other servers were not followed")
        if not _refused(reply, judged) and reply.cookie:
            if reply.cookie in cookies:
                judged.because(Reason.CURSOR_LOOP, detail="a cookie came again")
            cookies.add(reply.cookie)
        repeated = seen & set(reply.names)
        if len(repeated) > 0 and not _of_ranges(reply):
            judged.warn(WarningCode.DUPLICATE_ITEMS)
        seen |= set(reply.names)
    for pages in _searches(replies):
        _end(pages[-1], judged)
    if len(judged.reasons) == 0 and any(pages[0].resumed for pages in _searches(replies)):
        judged.because(Reason.SCOPE_NOT_COVERED, detail="the read begins behind a page that it does not have")
    _attributes(replies, wanted, judged)
    if active_directory:
        late = [name for name in _asked(replies, wanted) if name.lower() in _LATE]
        if len(late) > 0:
            judged.warn(WarningCode.USAGE_DATA_LAG)
    if any(_is_deleted(entry) for reply in replies for entry in reply.entries):
        judged.warn(WarningCode.SOFT_DELETED_INCLUDED)
    return judged


def _refused(reply: SearchReply, judged: Judged) -> bool:
    """Note what a result other than 0 means."""
    if reply.code == 0:
        return False
    if reply.code is None:
        late = runs_late(reply.failed)
        judged.because(Reason.TIME_BUDGET_EXCEEDED if late else Reason.SOURCE_UNAVAILABLE, detail=reply.failed)
    elif reply.code == 2:
        judged.because(Reason.CURSOR_EXPIRED if reply.resumed else Reason.UNEXPECTED_STATUS, detail="protocolError")
    else:
        reason, way = _READ.get(reply.code, (Reason.UNEXPECTED_STATUS, None))
        judged.because(reason, way, f"result {reply.code}")
    return True


def _searches(replies: Sequence[SearchReply]) -> Sequence[Sequence[SearchReply]]:
    """Return the pages of each search, in their order."""
    found: dict[str, list[SearchReply]] = {}
    for reply in replies:
        found.setdefault(reply.search, []).append(reply)
    return list(found.values())


def _end(last: SearchReply, judged: Judged) -> None:
    """Note whether the last reply is an affirmative end."""
    if last.code != 0:
        return
    if Reason.CURSOR_LOOP in judged.reasons:
        return  # what the cookie leads to is known: nowhere
    if last.cookie:
        judged.because(Reason.MORE_PAGES_AVAILABLE, Way.NEXT_CURSOR, "the cookie is not empty")
    elif last.cookie is None and last.paged:
        judged.because(
            Reason.COMPLETENESS_UNPROVABLE, Way.NARROW_QUERY, "the reply lacks the control that was asked for"
        )


def _asked(replies: Sequence[SearchReply], wanted: Sequence[str]) -> list[str]:
    named = [name.split(";")[0] for reply in replies for name in reply.asked]
    return list(dict.fromkeys([*wanted, *named]))


def _attributes(replies: Sequence[SearchReply], wanted: Sequence[str], judged: Judged) -> None:
    """Note what is known of each attribute that the question needs, over all entries."""
    cut = _cut_ranges(replies)
    for name in _asked(replies, wanted):
        for reply in replies:
            for entry in reply.entries:
                state = _state(name, entry, cut)
                if name in wanted:
                    judged.state(name, state)
                if state is FieldState.INDETERMINATE:
                    judged.warn(WarningCode.PARTIAL_FIELD_SET)
        if name in cut:
            judged.because(Reason.MORE_PAGES_AVAILABLE, Way.NEXT_CURSOR, f"the values of `{name}` go on")
            judged.warn(WarningCode.PARTIAL_FIELD_SET)


def _cut_ranges(replies: Sequence[SearchReply]) -> set[str]:
    """Return the attributes whose ranges do not lead from the first value of an entry to its last."""
    ranges: dict[tuple[str, str], list[tuple[int, int | None]]] = {}
    for reply in replies:
        for dn, entry in zip(_named(reply), reply.entries, strict=True):
            for attribute in entry:
                found = _RANGE.fullmatch(attribute)
                if found is not None:
                    last = None if found["last"] == "*" else int(found["last"])
                    ranges.setdefault((dn, found["name"]), []).append((int(found["first"]), last))
    return {name for (_, name), given in ranges.items() if not _is_whole(given)}


def _is_whole(ranges: Sequence[tuple[int, int | None]]) -> bool:
    expected: int | None = 0
    for first, last in sorted(ranges, key=lambda one: one[0]):
        if expected is None or first > expected:
            break
        expected = None if last is None else max(expected, last + 1)
    return expected is None


def _named(reply: SearchReply) -> Sequence[str]:
    return reply.names if len(reply.names) == len(reply.entries) else [str(n) for n in range(len(reply.entries))]


def _state(name: str, entry: Mapping[str, Sequence[Any]], cut: set[str]) -> FieldState:
    if name in cut:
        return FieldState.TRUNCATED
    lowered = {attribute.split(";")[0].lower(): values for attribute, values in entry.items() if len(values) > 0}
    # nobody can tell an attribute that is denied from one that is not set
    return FieldState.PRESENT if name.lower() in lowered else FieldState.INDETERMINATE


def _of_ranges(reply: SearchReply) -> bool:
    return any(_RANGE.fullmatch(attribute) for entry in reply.entries for attribute in entry)


def _is_deleted(entry: Mapping[str, Sequence[Any]]) -> bool:
    values = next((values for name, values in entry.items() if name.lower() == "isdeleted"), ())
    return any(str(value).upper() == "TRUE" for value in values)


_WRITE: Mapping[int, ActReason | Reason] = {
    122: ActReason.PRECONDITION_FAILED,  # assertionFailed
    16: ActReason.PRECONDITION_FAILED,  # noSuchAttribute: a value to be removed is not there
    20: ActReason.PRECONDITION_FAILED,  # attributeOrValueExists
    66: ActReason.PRECONDITION_FAILED,  # notAllowedOnNonLeaf
    68: ActReason.PRECONDITION_FAILED,  # entryAlreadyExists
    49: Reason.AUTH_FAILED,
    50: Reason.VISIBILITY_RESTRICTED,
    51: Reason.RATE_LIMITED,
    52: Reason.SOURCE_UNAVAILABLE,
    10: Reason.SCOPE_NOT_COVERED,
    12: ActReason.PRECONDITION_FAILED,  # the assertion can't be made, so nothing was written
    32: Reason.EXISTENCE_UNKNOWN,
    53: Reason.UNEXPECTED_STATUS,
}


def judge_write(code: int | None, controls: Sequence[str] = ()) -> Judged:
    """Return what the result of a write means; `code` None: no answer came."""
    judged = Judged()
    if code is None or code in {80, 81, 85}:
        judged.because(ActReason.OUTCOME_UNKNOWN, Way.RETRY_AFTER, "read the entry before anything is sent again")
    elif code == 0 and TREE_DELETE in controls:
        judged.because(ActReason.COLLATERAL_CHANGE, detail="everything below the entry went with it")
    elif code != 0:
        reason = _WRITE.get(code, Reason.UNEXPECTED_STATUS)
        judged.because(reason, detail=f"result {code}")
    return judged

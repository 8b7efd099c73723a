"""Reason, warning, act and continuation codes of sources: the one list, kept equal to the published `codes.json`.

Codes are added to, never renamed. A *reason* says that nothing can be concluded about what was not returned; a
*warning* speaks of freshness, interpretation or confidence (R4, R5). Field states stand in
`fullcount.compiler.values.FieldState`, because rules compute with them.
"""

from __future__ import annotations

from enum import StrEnum

from fullcount.compiler.source_codes import Reason as Reason
from fullcount.compiler.source_codes import WarningCode as WarningCode


class ActReason(StrEnum):
    """Why an act did not simply succeed."""

    PRECONDITION_FAILED = "PRECONDITION_FAILED"
    IDEMPOTENCY_MISMATCH = "IDEMPOTENCY_MISMATCH"
    IDEMPOTENCY_IN_FLIGHT = "IDEMPOTENCY_IN_FLIGHT"
    PARTIAL_WRITE = "PARTIAL_WRITE"
    OUTCOME_UNKNOWN = "OUTCOME_UNKNOWN"
    OUTCOME_PENDING = "OUTCOME_PENDING"
    COLLATERAL_CHANGE = "COLLATERAL_CHANGE"


class Way(StrEnum):
    """The kinds of continuation (R9)."""

    NEXT_CURSOR = "next_cursor"
    RETRY_AFTER = "retry_after"
    NARROW_QUERY = "narrow_query"
    RETRY_WITH_DEADLINE = "retry_with_deadline"
    RESTART = "restart"
    RETRY_ITEMS = "retry_items"


class Decision(StrEnum):
    """What a read licenses."""

    ACT = "act"
    CONTINUE_SEARCH = "continue_search"
    REFUSE_OR_REQUEST_REVIEW = "refuse_or_request_review"
    RESTART = "restart"


REASON_TEXT: dict[Reason, str] = {
    Reason.MORE_PAGES_AVAILABLE: "server handed a continuation that was not followed to its end",
    Reason.RESULT_LIMIT_REACHED: "server-side cap on the whole result set; paging further cannot reach the rest",
    Reason.CLIENT_LIMIT_REACHED: "our own LIMIT / max_items / max_pages / terminate_after stopped the read",
    Reason.TIME_BUDGET_EXCEEDED: "server or client deadline ended the search early",
    Reason.SOURCE_UNAVAILABLE: "a shard, zone, cluster, mount, API group or backend did not answer",
    Reason.VISIBILITY_RESTRICTED: "the identity is known (or allowed by signal) to see less than the scope",
    Reason.RATE_LIMITED: "short-term throttle",
    Reason.QUOTA_EXHAUSTED: "long-period quota; retry is hours or days away",
    Reason.CURSOR_EXPIRED: "cursor, locator, PIT, sync token or resource version no longer valid",
    Reason.CURSOR_LOOP: "next cursor equals an earlier one: no progress",
    Reason.SNAPSHOT_CHANGED: "the pages read do not belong to one state of the collection",
    Reason.COUNT_MISMATCH: "collected items disagree with an exact total from the same source",
    Reason.MALFORMED_RESPONSE: "body not parseable or not of the contract's shape",
    Reason.UNEXPECTED_STATUS: "status the list contract does not give meaning to (206, 304 without a cached body, 3xx)",
    Reason.UNPROCESSED_ITEMS: "a batch read left part of the keys unread",
    Reason.PARTIAL_ERRORS: "data and errors in one response, cause not further known",
    Reason.UNSTABLE_ORDER: "offset or keyset paging over an order that is not total and stable",
    Reason.SCOPE_NOT_COVERED: "the request could not, by construction, cover the scope that the plan needs",
    Reason.COMPLETENESS_UNPROVABLE: "API gives no end-of-collection signal or disclaims it",
    Reason.EXISTENCE_UNKNOWN: "'not found' that may mean 'not allowed'",
    Reason.AUTH_FAILED: "credential expired or revoked during the read",
    Reason.RESULT_NOT_READY: "asynchronous report or job has not finished",
}
"""What each reason means, for people."""


ACT_REASON_TEXT: dict[ActReason, str] = {
    ActReason.PRECONDITION_FAILED: "object changed since it was approved",
    ActReason.IDEMPOTENCY_MISMATCH: "key reused with other parameters",
    ActReason.IDEMPOTENCY_IN_FLIGHT: "first request with the key still runs",
    ActReason.PARTIAL_WRITE: "batch write succeeded for some items only",
    ActReason.OUTCOME_UNKNOWN: "no answer: the write may or may not have happened",
    ActReason.OUTCOME_PENDING: "accepted, object still there (finalizer, async operation)",
    ActReason.COLLATERAL_CHANGE: "the write also removes objects that were not approved",
}
"""What each act reason means, for people."""


WARNING_TEXT: dict[WarningCode, str] = {
    WarningCode.STALE_INDEX: "answer from an asynchronous index, not the system of record",
    WarningCode.STALE_READ: "replica, cache or follower read",
    WarningCode.CACHED_RESPONSE: "intermediary or own cache served it",
    WarningCode.USAGE_DATA_LAG: "last-used/last-login signal has a documented delay",
    WarningCode.TRACKING_WINDOW_LIMIT: "null or empty means 'not in the tracked window', not 'never'",
    WarningCode.PARTIAL_FIELD_SET: "items lack fields that the rule needs",
    WarningCode.DEFAULT_SCOPE_APPLIED: "server or client default narrowed the scope",
    WarningCode.DUPLICATE_ITEMS: "same id more than once",
    WarningCode.TOTAL_CHANGED: "total differed between pages",
    WarningCode.TOTAL_ESTIMATED: "total is a bound or an estimate",
    WarningCode.TOTAL_ABSENT: "no total to cross-check",
    WarningCode.EMPTY_PAGE_WITH_CURSOR: "zero items yet a continuation",
    WarningCode.SHORT_PAGE: "fewer items than asked, not the last page",
    WarningCode.PAGE_SIZE_CLAMPED: "server lowered the page size",
    WarningCode.NO_SNAPSHOT: "paging without a pinned state",
    WarningCode.SERVER_WARNING: "free-text warning passed on",
    WarningCode.SOFT_DELETED_INCLUDED: "tombstones or terminated objects in the list",
    WarningCode.VERSIONS_NOT_LISTED: "older versions or soft-deleted objects exist outside the list",
    WarningCode.SHARED_IDENTITY: "one underlying object has other names",
}
"""What each warning means, for people."""


WAY_TEXT: dict[Way, str] = {
    Way.NEXT_CURSOR: "go on with the cursor that the source gave",
    Way.RETRY_AFTER: "ask again after the stated time",
    Way.NARROW_QUERY: "ask narrower questions, each of which stays below the limit",
    Way.RETRY_WITH_DEADLINE: "ask again with a longer deadline",
    Way.RESTART: "begin the read anew: what was read can't be continued",
    Way.RETRY_ITEMS: "resend just the unprocessed or failed keys",
}
"""What each continuation asks for."""


DECISION_TEXT: dict[Decision, str] = {
    Decision.ACT: "the evidence licenses the act",
    Decision.CONTINUE_SEARCH: "go on reading: the source gave a way",
    Decision.REFUSE_OR_REQUEST_REVIEW: "nothing can be concluded; a person must look",
    Decision.RESTART: "begin the read anew",
}
"""What each decision means."""


class Severity(StrEnum):
    """What a warning does to every use that may lead to an act, unless the workspace accepts it."""

    BLOCKS = "blocks"
    """It blocks at once; `PARTIAL_FIELD_SET` only where one of the fields is used."""
    RECURS = "recurs"
    """It blocks once it came too often in a row: something is wrong that can be mended."""
    NOTES = "notes"
    """It never blocks: it tells how the source answers, and stays as long as the source is what it is."""


_SEVERITIES: dict[WarningCode, Severity] = {
    WarningCode.STALE_INDEX: Severity.BLOCKS,
    WarningCode.STALE_READ: Severity.BLOCKS,
    WarningCode.USAGE_DATA_LAG: Severity.BLOCKS,
    WarningCode.TRACKING_WINDOW_LIMIT: Severity.BLOCKS,
    WarningCode.PARTIAL_FIELD_SET: Severity.BLOCKS,
    WarningCode.DEFAULT_SCOPE_APPLIED: Severity.BLOCKS,
    WarningCode.SHARED_IDENTITY: Severity.BLOCKS,
    WarningCode.VERSIONS_NOT_LISTED: Severity.BLOCKS,
    WarningCode.CACHED_RESPONSE: Severity.RECURS,
    WarningCode.DUPLICATE_ITEMS: Severity.RECURS,
    WarningCode.TOTAL_CHANGED: Severity.RECURS,
    WarningCode.SERVER_WARNING: Severity.RECURS,
    WarningCode.TOTAL_ESTIMATED: Severity.NOTES,
    WarningCode.TOTAL_ABSENT: Severity.NOTES,
    WarningCode.EMPTY_PAGE_WITH_CURSOR: Severity.NOTES,
    WarningCode.SHORT_PAGE: Severity.NOTES,
    WarningCode.PAGE_SIZE_CLAMPED: Severity.NOTES,
    WarningCode.NO_SNAPSHOT: Severity.NOTES,
    WarningCode.SOFT_DELETED_INCLUDED: Severity.NOTES,
}


def severity_of(code: WarningCode) -> Severity:
    """Return what a warning does. One that is missing in the table is a bug, and blocks until it is there."""
    return _SEVERITIES.get(code, Severity.BLOCKS)


BLOCKING_WARNINGS: frozenset[WarningCode] = frozenset(
    code for code in WarningCode if severity_of(code) is Severity.BLOCKS
)
"""Warnings that block an act unless the workspace accepts them."""

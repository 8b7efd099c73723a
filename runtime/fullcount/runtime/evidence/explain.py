"""The longer help for each code that a source's answer or an act can have: what it means, and what to do.

For `fullcount explain RESULT_LIMIT_REACHED` and the reference pages. Codes of the language (`FC…`) explain themselves
in `fullcount.dsl.codes`.
"""

from __future__ import annotations

from fullcount.runtime.evidence.codes import (
    ACT_REASON_TEXT,
    REASON_TEXT,
    WARNING_TEXT,
    ActReason,
    Reason,
    Severity,
    WarningCode,
    severity_of,
)

_A, _R, _W = ActReason, Reason, WarningCode

_REASONS: dict[Reason, str] = {
    _R.MORE_PAGES_AVAILABLE: (
        "The source gave a continuation, and it was not followed to its end, so the rest is unread. Read again to "
        "the end. A number of rows that looks right proves nothing."
    ),
    _R.RESULT_LIMIT_REACHED: (
        "The source stops every answer at a number of its own, however many pages are asked for. What lies behind "
        "that number can't be reached by this question. Ask narrower questions, each of which stays below the "
        "limit, or have the limit raised at the source."
    ),
    _R.CLIENT_LIMIT_REACHED: (
        "A limit of ours, on rows or pages, stopped the read while the source had more. It protects against a "
        "read without end, and it makes the answer partial like any other cause. Raise it and read again."
    ),
    _R.TIME_BUDGET_EXCEEDED: (
        "The deadline of the inventory, or one of the source, passed before the end. The envelope says how many "
        "pages and rows were read until then. Give the read more time, or narrow its scope."
    ),
    _R.SOURCE_UNAVAILABLE: (
        "The source, or a part of it (a shard, a zone, a mount), did not answer. An empty answer of a source that "
        "is down looks like a collection in which nothing exists; it is never taken for one. Read again when the "
        "part that the detail names is back."
    ),
    _R.VISIBILITY_RESTRICTED: (
        "The identity that read is known to see less than the scope: by row-level security, by a missing role, or "
        "because a canary (`expect`) that must be there was not returned. Objects that are hidden look exactly "
        "like objects that do not exist. Let the reader see them, or narrow the scope to what it sees."
    ),
    _R.RATE_LIMITED: (
        "The source asked us to slow down, and the retries within the budget did not help. What was read so far "
        "is kept as a partial answer. Read again after the time that the source states."
    ),
    _R.QUOTA_EXHAUSTED: (
        "A quota over a long period is used up; trying again soon only uses up more. Plan the read for after its "
        "renewal, or have the quota raised."
    ),
    _R.CURSOR_EXPIRED: (
        "The place in the list that we had reached is no longer known to the source. The read is not restarted "
        "behind your back, because two halves of two lists are not one list. Read again from the beginning, and "
        "faster if that happens often."
    ),
    _R.CURSOR_LOOP: (
        "The source gave the same cursor twice, so that going on would never end. Usually a defect of the source "
        "or of a proxy in between. Read again; if it stays, report it to the owner of the source."
    ),
    _R.SNAPSHOT_CHANGED: (
        "The pages show more than one state of the collection, for instance the same object with different "
        "content. An object that moved meanwhile may have been missed. Read again, best from a source that pins "
        "its snapshots."
    ),
    _R.COUNT_MISMATCH: (
        "The rows that were collected and an exact count of the same scope differ. One of them is wrong, and "
        "nobody can say which from here. Read again; if they still differ, find out why before anything is "
        "deleted."
    ),
    _R.MALFORMED_RESPONSE: (
        "The source sent something that its contract does not allow: a page without a promised field, a row "
        "without a usable key, rows outside a scope that it said it applied. Rows that can't be named can't be "
        "accounted for. Compare the declared key, types and scope with what is sent."
    ),
    _R.UNEXPECTED_STATUS: (
        "The answer has a status to which a list gives no meaning, such as partial content or a redirect. Look "
        "for a proxy, a cache or a login page between us and the source."
    ),
    _R.UNPROCESSED_ITEMS: (
        "A batch read left part of the keys unread, which is normal under load and is said by the source. The "
        "unread ones are unknown, not absent. They have to be asked for again."
    ),
    _R.PARTIAL_ERRORS: (
        "Data and errors came in one answer, and the source does not say which data the errors cost. The detail "
        "has its own words. Nothing may be concluded from what is not there."
    ),
    _R.UNSTABLE_ORDER: (
        "The pages are cut by position in an order that shifts while they are read: an object that moves from a "
        "page not yet read to one already read is returned by neither. Read from a resource with a stable cursor."
    ),
    _R.SCOPE_NOT_COVERED: (
        "The question could not reach the whole scope by the way it was asked, for instance one region of "
        "several. The rest is unread. Narrow the scope, or read the missing parts too."
    ),
    _R.COMPLETENESS_UNPROVABLE: (
        "The source gave no affirmative sign that this was the end. A missing cursor, a short page or a plausible "
        "number of rows is no such sign. Use a resource that has one, or use the inventory only in `some … where "
        "(…)`, where more rows could not change the conclusion."
    ),
    _R.EXISTENCE_UNKNOWN: (
        "`not found` may also mean `not allowed` here. The object may exist. Read with an identity that would see it."
    ),
    _R.AUTH_FAILED: (
        "The credentials for reading were refused, or expired during the read. What was read before is kept as a "
        "partial answer. Renew them where the source's configuration refers to them."
    ),
    _R.RESULT_NOT_READY: (
        "The source is still preparing its report. An unfinished report is not an empty one. Read again later."
    ),
}

_WARNINGS: dict[WarningCode, str] = {
    _W.STALE_INDEX: (
        "The answer comes from an index that follows the system of record with a delay. It may be complete and "
        "still show a past state. Read from the system of record for anything that changes something."
    ),
    _W.STALE_READ: ("A replica, cache or follower answered, and may be behind. Read from the primary."),
    _W.CACHED_RESPONSE: (
        "Something between us and the source, or a cache of ours, served this answer. Its age is that of the "
        "cached one."
    ),
    _W.USAGE_DATA_LAG: (
        "The signal of last use arrives late by a documented time. An object used an hour ago may look unused. "
        "Keep the threshold well above the delay."
    ),
    _W.TRACKING_WINDOW_LIMIT: (
        "The source tracks use only within a window: no value means `not within the window`, not `never`. Keep "
        "the threshold inside the window."
    ),
    _W.PARTIAL_FIELD_SET: (
        "The objects lack fields that the rule needs, or nothing is known of a field in any row, often because "
        "the reader may not see it. Rules find such fields unknown, so that they select nothing."
    ),
    _W.DEFAULT_SCOPE_APPLIED: (
        "The source, or its client, narrowed the scope by a default that nobody asked for. What is outside was "
        "not read. Say the scope in the inventory."
    ),
    _W.DUPLICATE_ITEMS: (
        "The same object came more than once with the same content, and was counted once. A sign of pages that "
        "overlap, and so of pages that may also have a gap."
    ),
    _W.TOTAL_CHANGED: ("The source's total differed from page to page: the collection changed during the read."),
    _W.TOTAL_ESTIMATED: ("The source's total is a bound or an estimate and can't be compared with the rows collected."),
    _W.TOTAL_ABSENT: ("The source gives no total, so nothing independent of the pages could be compared."),
    _W.EMPTY_PAGE_WITH_CURSOR: (
        "A page had no rows and yet a cursor to the next one. The read went on, as it has to: an empty page is "
        "not the end."
    ),
    _W.SHORT_PAGE: ("A page that is not the last had fewer rows than asked for. The read went on."),
    _W.PAGE_SIZE_CLAMPED: ("The source lowered the page size that was asked for."),
    _W.NO_SNAPSHOT: (
        "The pages were not pinned to one instant. For pages of the kind `interval` every object that was there "
        "all through the read was returned; objects that came or went meanwhile may or may not be in it."
    ),
    _W.SERVER_WARNING: ("The source sent a warning in its own words, passed on in the detail."),
    _W.SOFT_DELETED_INCLUDED: ("The list contains objects that are already deleted or terminated. They count as rows."),
    _W.VERSIONS_NOT_LISTED: ("Older versions or soft-deleted objects exist outside the list."),
    _W.SHARED_IDENTITY: (
        "One underlying object stands in the list under several names. To act on one of them acts on all."
    ),
}

_ACTS: dict[ActReason, str] = {
    _A.PRECONDITION_FAILED: (
        "The object is not as it was when the plan was approved, so the write was not done. That is the write's "
        "guard at work. A new plan will judge the object as it is now."
    ),
    _A.IDEMPOTENCY_MISMATCH: (
        "The key of an earlier act came with other parameters. A key stands for one act with its parameters for "
        "ever; another act needs another approval, and with it another key."
    ),
    _A.IDEMPOTENCY_IN_FLIGHT: (
        "The first request with this key has not ended yet. Its outcome is awaited, never repeated."
    ),
    _A.PARTIAL_WRITE: ("A write of several items succeeded for some of them only. Each one has its own outcome."),
    _A.OUTCOME_UNKNOWN: (
        "The request was sent and no answer came: the write may or may not have happened. It is resolved by "
        "reading the object, or by the same key, never by doing it again blindly."
    ),
    _A.OUTCOME_PENDING: (
        "The target accepted the write and the object is still there, held by a finalizer or an operation that "
        "goes on. It counts as done only when it is gone."
    ),
    _A.COLLATERAL_CHANGE: (
        "The write would also remove or change objects that nobody approved, or set off a trigger or rule of the "
        "database that may, so it is not done.\n\n"
        "Rows that refer to the object: deal with them first, or let the database refuse (`ON DELETE RESTRICT`). A "
        "trigger or rule: look at what it changes. If that is meant, name it in the configuration of the resource, as "
        '`known_triggers = ["audit"]`; every plan then says that it runs.'
    ),
}


_SEVERITY = {
    Severity.BLOCKS: "a warning that blocks acts unless it is accepted",
    Severity.RECURS: "a warning that blocks acts once it came several times in a row, unless it is accepted",
    Severity.NOTES: "a warning: it does not block acts",
}


def explain_text(code: str) -> str | None:
    """Return the help for a reason, warning or act code; None for any other text."""
    if code in Reason.__members__:
        reason = Reason(code)
        kind = "a reason: the answer is not complete, and nothing may be concluded about what was not returned"
        return _entry(REASON_TEXT[reason], kind, _REASONS[reason])
    if code in WarningCode.__members__:
        warning = WarningCode(code)
        return _entry(WARNING_TEXT[warning], _SEVERITY[severity_of(warning)], _WARNINGS[warning])
    if code in ActReason.__members__:
        act = ActReason(code)
        return _entry(ACT_REASON_TEXT[act], "why an act did not simply succeed", _ACTS[act])
    return None


def _entry(title: str, kind: str, text: str) -> str:
    return f"{title}\n({kind})\n\n{text}"

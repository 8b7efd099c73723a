"""From what happened to what may be said: the envelope of one read.

Guarantees: `complete` only if the source gave its affirmative end, no reason stands against it, every row had a usable
key and belongs to one state of the collection, the source's exact total agrees, nothing was hidden as far as the source
says, and every canary was seen. Counting never makes an answer complete; it can only take that away (R2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from fullcount.compiler import program
from fullcount.compiler.claims import Consistency
from fullcount.runtime.collect.intake import Intake, Refusals
from fullcount.runtime.collect.order import Duplicates
from fullcount.runtime.collect.ways import Account
from fullcount.runtime.collect.writer import Written
from fullcount.runtime.connectors.base import Page, ScanInfo, Total
from fullcount.runtime.evidence.codes import Reason, WarningCode
from fullcount.runtime.evidence.envelope import (
    Completeness,
    Envelope,
    FieldSummary,
    Incompleteness,
    Notice,
    Scope,
    Status,
    Work,
)
from fullcount.runtime.evidence.expression_text import expression_text
from fullcount.runtime.format import counted


@dataclass(slots=True)
class Course:
    """What happened in one read, as the loop notes it."""

    inventory: program.Inventory
    started_at: datetime
    deadline: float | None
    in_part: bool = False
    """It is one of several reads that make a whole: a canary that it does not show may live in another one."""
    account: Account = field(default_factory=Account)
    identity: Mapping[str, str] = field(default_factory=dict)
    info: ScanInfo | None = None
    pages: int = 0
    retries: int = 0
    end_marker: str | None = None
    ran_out: bool = False
    """The source stopped giving pages without saying that it was at its end."""
    total: Total | None = None
    total_moved: bool = False
    """An exact total was another one on another page."""
    confirmed: bool = False
    """A pass before this one returned the very same rows."""
    finished_at: datetime | None = None
    seconds: float = 0.0

    def opened(self, info: ScanInfo) -> None:
        """Note what holds for the whole scan."""
        self.info = info
        if info.as_of is not None and info.as_of < self.started_at:
            self.started_at = info.as_of  # its age counts from the state that it shows, not from when it was fetched
        for reason in info.reasons:
            self.account.reason(reason)
        self.account.warn(*info.warnings)

    def page(self, page: Page) -> None:
        """Note what a page said besides its rows."""
        for reason in page.reasons:
            self.account.reason(reason, page.continuation, dead_end=page.dead_end)
        self.account.warn(*page.warnings)
        if page.total is None:
            return
        if self.total is not None and self.total.value != page.total.value:
            detail = f"the source's total changed from {self.total.value:,} to {page.total.value:,} during the read"
            self.account.warn(Notice(code=WarningCode.TOTAL_CHANGED, detail=detail))
            self.total_moved = self.total_moved or (self.total.exact and page.total.exact)
        self.total = page.total

    @property
    def to_confirm(self) -> bool:
        """Whether nothing stands against the read but that its pages may have shifted, as another pass can tell."""
        ended = self.end_marker is not None and len(self.account.reasons) == 0
        return ended and self.info is not None and self.info.confirm and self.info.consistency is Consistency.UNSTABLE

    @property
    def consistency(self) -> Consistency:
        """How well the pages belong together."""
        said = Consistency.UNSTABLE if self.info is None else self.info.consistency
        return Consistency.INTERVAL if self.confirmed and said is Consistency.UNSTABLE else said


def conclude(course: Course, intake: Intake, written: Written | None) -> Envelope:
    """Return the envelope; `written` is None if no page arrived at all."""
    finished_at = course.started_at if course.finished_at is None else course.finished_at
    account = course.account
    if written is not None and course.info is not None:
        _judge(course, course.info, intake, written)
    if course.end_marker is None and len(account.reasons) == 0:
        msg = "a read ended without its end and without a reason"
        raise AssertionError(msg)
    complete = len(account.reasons) == 0
    status = Status.COMPLETE if complete else Status.FAILED if written is None else Status.PARTIAL
    return Envelope(
        inventory=course.inventory.name,
        status=status,
        completeness=Completeness(complete=complete, reasons=account.reasons, continuation=account.continuation),
        warnings=account.warnings,
        scope=_scope(course, finished_at),
        work=_work(course, intake, written),
        fields={} if written is None else _fields(intake, written),
        snapshot_digest=None if written is None else written.digest,
    )


def _judge(course: Course, info: ScanInfo, intake: Intake, written: Written) -> None:
    """Note everything that speaks against completeness or has to be known."""
    account = course.account
    _judge_rows(account, info, intake)
    _judge_duplicates(account, info, written.duplicates)
    _judge_consistency(account, course)
    if info.visibility == "restricted":
        detail = "the source says that its reader can't see every object of the scope"
        if all(reason.code is not Reason.VISIBILITY_RESTRICTED for reason in account.reasons):
            account.reason(Incompleteness(code=Reason.VISIBILITY_RESTRICTED, detail=detail))
    # a read that was cut short lacks rows anyway: what it did not show proves nothing further
    if course.end_marker is not None or course.ran_out:
        _judge_total(course, info, written)
        for reason in () if course.in_part else unseen_canaries(intake):
            account.reason(reason)
    if written.rows > 0:
        _judge_fields(account, written)


def unseen_canaries(intake: Intake) -> Iterator[Incompleteness]:
    """Yield a reason for each canary that a read to the end has not shown."""
    for expr in intake.unseen:
        text = expression_text(expr)
        yield Incompleteness(
            code=Reason.VISIBILITY_RESTRICTED,
            detail=f"the canary `{text}` was not seen: the reader does not see what must be there",
            data={"canary": text},
        )


def _judge_rows(account: Account, info: ScanInfo, intake: Intake) -> None:
    tally = intake.tally
    if tally.bad_keys > 0:
        detail = f"{tally.bad_keys:,} of {counted(tally.rows_read, 'row')} without a usable key ({tally.bad_key})"
        account.reason(
            Incompleteness(code=Reason.MALFORMED_RESPONSE, detail=detail, data={"rows_without_key": tally.bad_keys})
        )
    if tally.outside > 0 and info.scope_pushed_down:
        detail = f"the source was asked for the scope only and returned {counted(tally.outside, 'row')} outside it"
        account.reason(
            Incompleteness(code=Reason.MALFORMED_RESPONSE, detail=detail, data={"rows_outside_scope": tally.outside})
        )


def _judge_duplicates(account: Account, info: ScanInfo, duplicates: Duplicates) -> None:
    if duplicates.contradicting > 0:
        keys = ", ".join(f"`{key}`" for key in duplicates.examples)
        account.reason(
            Incompleteness(
                code=Reason.SNAPSHOT_CHANGED,
                detail=f"{counted(duplicates.contradicting, 'object')} returned twice with different content"
                + (f", such as {keys}" if keys != "" else ""),
                data={"contradicting": duplicates.contradicting},
            )
        )
    if duplicates.identical > 0:
        detail = f"{counted(duplicates.identical, 'row')} returned more than once, and counted once"
        account.warn(Notice(code=WarningCode.DUPLICATE_ITEMS, detail=detail, data={"dropped": duplicates.identical}))
        known = account.has(Reason.SNAPSHOT_CHANGED) or account.has(Reason.CURSOR_LOOP)
        if info.shifts and not known:
            detail = f"{detail}: rows moved between pages, and one that moved the other way is on none"
            account.reason(Incompleteness(code=Reason.SNAPSHOT_CHANGED, detail=detail))


def _judge_consistency(account: Account, course: Course) -> None:
    consistency = course.consistency
    if consistency is not Consistency.PINNED and not account.warned(WarningCode.NO_SNAPSHOT):
        detail = f"the pages belong together as `{consistency}`, not to one instant"
        account.warn(Notice(code=WarningCode.NO_SNAPSHOT, detail=detail))
    if course.total_moved and consistency is not Consistency.PINNED and not account.has(Reason.SNAPSHOT_CHANGED):
        detail = "the source's exact total changed during the read, so the pages do not belong to one state"
        account.reason(Incompleteness(code=Reason.SNAPSHOT_CHANGED, detail=detail))
    settles = course.info is not None and course.info.confirm and len(account.reasons) > 0
    if consistency is Consistency.UNSTABLE and not settles and not account.has(Reason.UNSTABLE_ORDER):
        detail = "the pages shift while they are read: an object that moves between two pages is returned by neither"
        account.reason(Incompleteness(code=Reason.UNSTABLE_ORDER, detail=detail))


def _judge_total(course: Course, info: ScanInfo, written: Written) -> None:
    """Compare with the source's own total: over the same rows that the source counted."""
    account, total = course.account, course.total
    if total is None:
        account.warn(Notice(code=WarningCode.TOTAL_ABSENT, detail="the source gives no total to compare with"))
        return
    if not total.exact:
        detail = f"the source's total of {total.value:,} is an estimate and was not compared"
        account.warn(Notice(code=WarningCode.TOTAL_ESTIMATED, detail=detail, data={"total": total.value}))
        return
    collected = written.rows if info.scope_pushed_down else written.keys_read
    # what is known to be missing for another cause is missing from the count as well: one code per cause (R4)
    if collected != total.value and len(account.reasons) == 0:
        account.reason(
            Incompleteness(
                code=Reason.COUNT_MISMATCH,
                detail=f"{counted(collected, 'object')} collected, but the source counts {total.value:,}",
                data={"collected": collected, "total": total.value},
            )
        )


def _judge_fields(account: Account, written: Written) -> None:
    """Warn of fields of which nothing is known in any row."""
    unknown = [name for name, states in written.states.items() if not {"present", "absent"} & set(states)]
    if len(unknown) > 0:
        states = {name: dict(written.states[name]) for name in unknown}
        detail = f"nothing is known in any row of {', '.join(f'`{name}`' for name in unknown)}"
        account.warn(
            Notice(code=WarningCode.PARTIAL_FIELD_SET, detail=detail, data={"fields": unknown, "states": states})
        )


def _scope(course: Course, finished_at: datetime) -> Scope:
    inventory, info = course.inventory, course.info
    return Scope(
        source=inventory.source,
        resource=inventory.resource,
        filter=None if inventory.scope is None else expression_text(inventory.scope),
        filter_pushed_down=info is not None and info.scope_pushed_down,
        identity=dict(course.identity),
        visibility="unknown" if info is None else _visibility(info.visibility),
        consistency=course.consistency,
        snapshot_token=None if info is None else info.snapshot_token,
        started_at=course.started_at,
        finished_at=finished_at,
    )


def _visibility(said: str) -> Literal["all", "restricted", "unknown"]:
    if said == "all":
        return "all"
    return "restricted" if said == "restricted" else "unknown"


def _work(course: Course, intake: Intake, written: Written | None) -> Work:
    expected = len(course.inventory.expects)
    return Work(
        pages=course.pages,
        rows=0 if written is None else written.rows,
        rows_read=intake.tally.rows_read,
        distinct_keys=0 if written is None else written.rows,
        retries=course.retries,
        seconds=course.seconds,
        deadline_seconds=course.deadline,
        end_marker=course.end_marker,
        total=None if course.total is None else course.total.value,
        total_exact=course.total is not None and course.total.exact,
        canaries_expected=expected,
        canaries_seen=expected - len(intake.unseen),
    )


def _refusal(found: Refusals) -> str:
    """Return why values were refused, with the objects whose they were as far as they are named."""
    if found.count == 0:
        return ""
    named = ", ".join(f"`{key}`" for key in found.keys)
    rest = found.count - len(found.keys)
    return f"{found.example}; in {named}{f' and {rest:,} more' if rest > 0 else ''}"


def _fields(intake: Intake, written: Written) -> dict[str, FieldSummary]:
    return {
        name: FieldSummary(
            states=dict(states),
            refused=intake.tally.refused[name].count,
            refusal=_refusal(intake.tally.refused[name]),
        )
        for name, states in written.states.items()
    }

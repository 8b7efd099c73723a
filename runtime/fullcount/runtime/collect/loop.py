"""The one paging loop: asks a source for everything of one inventory, and says truthfully how far it came (R11, R12).

It goes on at a short page and at an empty one, and ends well only at an affirmative end of the connector's contract.
Whatever else stops it, our own limits included, is a reason in the envelope, and what was read so far is kept as a
partial answer. It never raises for what a source does, never restarts a read that failed, and never merges two
attempts: where pages may shift, whole passes are compared with each other until two in a row are equal.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from fullcount.compiler import program
from fullcount.compiler.catalog import Resource
from fullcount.compiler.lower import facts
from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.types import FieldType
from fullcount.runtime.collect.budget import Budget, Progress
from fullcount.runtime.collect.conclude import Course, conclude
from fullcount.runtime.collect.intake import Intake, MalformedPageError, fields_to_read
from fullcount.runtime.collect.scope import bind_params
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.collect.ways import Account
from fullcount.runtime.connectors.base import Page, Question, Scan, SourceError, SourceReader
from fullcount.runtime.evidence.codes import Reason, WarningCode, Way
from fullcount.runtime.evidence.envelope import Continuation, Envelope, Incompleteness, Notice
from fullcount.runtime.format import counted

__all__ = ["Budget", "Progress", "collect"]

T = TypeVar("T")

PASSES = 3
"""How often a source whose pages may shift is read at most: until two passes in a row return the same rows (R15)."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a source that is split, and when the read of the whole began (`Budget.monotonic`; None: now)."""

    values: Mapping[str, str]
    since: float | None = None


WHOLE = Part({})
"""A source that is one listing."""


async def collect(
    reader: SourceReader,
    inventory: program.Inventory,
    resource: Resource,
    *,
    bindings: Bindings,
    snapshots: SnapshotStore,
    budget: Budget,
    clock: Callable[[], datetime],
    progress: Callable[[Progress], None] | None = None,
    part: Part = WHOLE,
) -> Envelope:
    """Read one inventory to its end and return the envelope; its rows are in the snapshot that it names.

    What a source does wrong is in the envelope. Errors of our own (a full disk, a parameter that is not bound) are
    raised, and so are cancellation and interruption; then no snapshot is left behind.
    """
    fields = fields_to_read(inventory, resource)
    question = _question(inventory, resource, fields, bindings, part.values)
    started_at, retries, before = clock(), 0, None
    begun = budget.monotonic() if part.since is None else part.since
    for number in range(1, PASSES + 1):
        course = Course(
            inventory,
            started_at=started_at,
            deadline=deadline_of(budget, inventory),
            in_part=len(part.values) > 0,
            retries=retries,
        )
        with Intake(inventory, fields, bindings, snapshots, part.values) as intake:
            reading = _Reading(reader, question, budget, course, intake, progress, begun)
            await reading.run()
            course.finished_at, course.seconds = clock(), reading.elapsed
            written = None if course.pages == 0 else await intake.finish()
            if written is None or not course.to_confirm:
                return conclude(course, intake, written)
            course.confirmed = written.digest == before
            if course.confirmed:
                return conclude(course, intake, written)
            if number == PASSES:
                course.account.reason(Incompleteness(code=Reason.SNAPSHOT_CHANGED, detail=_NEVER_EQUAL))
                return conclude(course, intake, written)
            retries, before = course.retries, written.digest
    raise AssertionError(_NEVER_EQUAL)


def _question(
    inventory: program.Inventory,
    resource: Resource,
    fields: Mapping[str, FieldType],
    bindings: Bindings,
    part: Mapping[str, str],
) -> Question:
    """Return what to ask. What names the part is known without asking, so it stands in no question."""
    scope = None if inventory.scope is None else bind_params(inventory.scope, bindings)
    if scope is not None and any(not names.isdisjoint(part) for names in facts.fields_read(scope).values()):
        scope = None  # tested here on every row, as any scope is
    asked = tuple(name for name in fields if name not in part)
    return Question(inventory.name, resource, asked, scope, bindings.now, partition=part)


def deadline_of(budget: Budget, inventory: program.Inventory) -> float | None:
    """Return the shorter of the two deadlines, in seconds."""
    stated = [budget.deadline, None if inventory.deadline is None else inventory.deadline / 1_000_000]
    return min((seconds for seconds in stated if seconds is not None), default=None)


class _Stop(Exception):  # noqa: N818 - the end of a loop, not an error
    """The read can't go on. What was read stays."""

    def __init__(self, reason: Incompleteness, way: Continuation | None = None, *, more: bool = False) -> None:
        super().__init__(reason.code)
        self.reason, self.way, self.more = reason, way, more


@dataclass(slots=True)
class _Reading:
    """One run of the loop."""

    reader: SourceReader
    question: Question
    budget: Budget
    course: Course
    intake: Intake
    progress: Callable[[Progress], None] | None
    begun: float
    _cursors: set[bytes] = field(default_factory=set)
    _pending: tuple[Incompleteness, ...] = ()
    """What is missing as long as the page behind the last one is not read."""

    async def run(self) -> None:
        """Read until the end, or until something stops the read."""
        try:
            self.course.identity = await self._asked(self.reader.identity)
            async with AsyncExitStack() as stack:
                scan = await self._asked(lambda: stack.enter_async_context(self.reader.scan(self.question)))
                self.course.opened(scan.info)
                await self._pages(scan)
        except _Stop as stop:
            self.account.reason(stop.reason, stop.way)
            if stop.more:
                self.account.reason(_MORE, stop.way)
        except SourceError as error:
            self._failed(error)
        for reason in self._pending:
            way = Continuation(way=Way.NEXT_CURSOR, preserves_snapshot=False, hint="read the next page")
            self.account.reason(reason, way)

    @property
    def account(self) -> Account:
        """The reasons and warnings so far."""
        return self.course.account

    @property
    def elapsed(self) -> float:
        """Seconds since the read began."""
        return self.budget.monotonic() - self.begun

    async def _pages(self, scan: Scan) -> None:
        cursor: str | None = None
        while True:
            self._within_limits(cursor)
            page = await self._asked(lambda: scan.fetch(cursor))  # noqa: B023 - called before `cursor` changes
            await self._take(page)
            if page.end is not None:
                self.course.end_marker = page.end
                return
            if page.cursor is None and len(page.reasons) > 0:
                return  # the source itself said why it goes no further: one code per cause (R4)
            if page.cursor is None:
                self.course.ran_out = True
                raise _Stop(_UNPROVABLE)
            self._advances(page.cursor)
            if page.rows == 0:
                self.account.warn(Notice(code=WarningCode.EMPTY_PAGE_WITH_CURSOR, detail=_EMPTY_PAGE))
            cursor = page.cursor

    async def _take(self, page: Page) -> None:
        try:
            await self.intake.add(page)
        except MalformedPageError as error:
            raise _Stop(Incompleteness(code=Reason.MALFORMED_RESPONSE, detail=str(error))) from error
        finally:
            # a page arrived, whatever it was: from here on there is an answer, if only a partial one
            self.course.pages += 1
        self.course.page(page)
        self._pending = page.unless_continued
        if self.progress is not None:
            total = None if self.course.total is None else self.course.total.value
            rows = self.intake.tally.rows_read
            self.progress(Progress(self.question.inventory, self.course.pages, rows, total, self.elapsed))

    def _advances(self, cursor: str) -> None:
        mark = hashlib.blake2b(cursor.encode(errors="surrogatepass"), digest_size=16).digest()
        if mark in self._cursors:
            detail = f"page {self.course.pages:,} gave a cursor that an earlier page had given"
            raise _Stop(Incompleteness(code=Reason.CURSOR_LOOP, detail=detail, data={"pages": self.course.pages}))
        self._cursors.add(mark)

    def _within_limits(self, cursor: str | None) -> None:
        """Stop before the next page if a limit of our own is reached."""
        rows, pages = self.intake.tally.rows_read, self.course.pages
        for name, limit, count in (("rows", self.budget.max_rows, rows), ("pages", self.budget.max_pages, pages)):
            if limit is not None and count >= limit:
                found = Incompleteness(
                    code=Reason.CLIENT_LIMIT_REACHED,
                    detail=f"our own limit of {limit:,} {name} was reached before the source's end",
                    data={"limit": name, "value": limit, "pages": pages, "rows": rows},
                )
                way = _next(cursor, f"raise the limit of {name} and read again")
                raise _Stop(found, way, more=cursor is not None)
        if self._left() == 0:
            raise self._out_of_time()

    async def _asked(self, call: Callable[[], Awaitable[T]]) -> T:
        """Ask the source once, and again while it may be asked again and the budget lasts."""
        while True:
            try:
                async with asyncio.timeout(self._left()) as limit:
                    return await call()
            except TimeoutError:
                if not limit.expired():
                    raise
                raise self._out_of_time() from None
            except SourceError as error:
                await self._before_retry(error)

    async def _before_retry(self, error: SourceError) -> None:
        """Wait as long as the source or the budget says; raise the error again when the budget does not allow it."""
        if not error.retryable or self.course.retries >= self.budget.retries:
            raise error
        stated = None if error.continuation is None else error.continuation.after_seconds
        wait = self.budget.wait_before(self.course.retries + 1) if stated is None else stated
        left = self._left()
        if left is not None and wait >= left:
            raise error
        self.course.retries += 1
        await self.budget.sleep(wait)

    def _left(self) -> float | None:
        """Return the seconds left before the deadline, at least 0; None without a deadline."""
        deadline = self.course.deadline
        return None if deadline is None else max(0.0, deadline - self.elapsed)

    def _out_of_time(self) -> _Stop:
        deadline, pages = self.course.deadline, self.course.pages
        rows = self.intake.tally.rows_read
        done = f"{counted(pages, 'page')} and {counted(rows, 'row')}"
        return _Stop(
            Incompleteness(
                code=Reason.TIME_BUDGET_EXCEEDED,
                detail=f"the deadline of {deadline:g} s passed after {done}",
                data={"deadline_seconds": deadline, "seconds": self.elapsed, "pages": pages, "rows": rows},
            )
        )

    def _failed(self, error: SourceError) -> None:
        """Note what the source said, with the work done and the budget left (R16, R17)."""
        state: Mapping[str, object] = {
            "pages": self.course.pages,
            "rows": self.intake.tally.rows_read,
            "retries": self.course.retries,
            "seconds_left": self._left(),
        }
        reason = error.reason.model_copy(update={"data": {**state, **error.reason.data}})
        self.account.reason(reason, error.continuation)


def _next(cursor: str | None, hint: str) -> Continuation:
    """Return the way on behind our own limit: the source's cursor, or the beginning if it gave none."""
    way = Way.RESTART if cursor is None else Way.NEXT_CURSOR
    return Continuation(way=way, cursor=cursor, preserves_snapshot=False, hint=hint)


_NEVER_EQUAL = f"{PASSES} passes over pages that may shift, and no two in a row returned the same rows"
_MORE = Incompleteness(
    code=Reason.MORE_PAGES_AVAILABLE, detail="the source gave a cursor to a next page, which was not read"
)
_EMPTY_PAGE = "a page without rows, but with a cursor to a next one: the read went on"
_UNPROVABLE = Incompleteness(
    code=Reason.COMPLETENESS_UNPROVABLE,
    detail="the last page had neither an end marker nor a cursor, so nothing says that it was the last",
)

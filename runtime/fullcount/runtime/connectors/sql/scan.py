"""One scan: count and pages of a table, all from one pinned state of the database.

Guarantees: every page is read in the transaction in which the count was taken; a page ends the scan only when the
database, asked for one row more, had none; a cap of our own is said where it cuts.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, TableClause, bindparam, func, or_, select, tuple_
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import NullType

from fullcount.compiler.claims import Consistency
from fullcount.compiler.values import FieldState
from fullcount.runtime.connectors.base import Page, Question, ScanInfo, SourceError, Total
from fullcount.runtime.connectors.sql.config import SqlResource
from fullcount.runtime.connectors.sql.database import Database, Lane
from fullcount.runtime.connectors.sql.described import Described, describe
from fullcount.runtime.connectors.sql.fetch import fetch_all
from fullcount.runtime.connectors.sql.pushdown import PushDown, Pushed
from fullcount.runtime.connectors.sql.values import Values
from fullcount.runtime.evidence.codes import Reason, WarningCode, Way
from fullcount.runtime.evidence.envelope import Continuation, Incompleteness, Notice

END = "keyset_end"
"""The end marker: asked for one row more than the page holds, the pinned state had none with a greater key."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a page begins: behind this key, after so many rows."""

    key: tuple[Any, ...] | None
    rows: int


@dataclass(slots=True)
class Opened:
    """What the first statements of the transaction found out; belongs to the lane's thread."""

    described: Described
    pushed: Pushed
    total: int
    info: ScanInfo


@dataclass(slots=True)
class SqlScan:
    """An open scan. See `Scan`."""

    database: Database
    lane: Lane
    question: Question
    values: Values
    opened: Opened
    _places: dict[str | None, _Place] = field(default_factory=lambda: {None: _Place(None, 0)})
    _mark: str = field(default_factory=lambda: secrets.token_hex(4))

    @property
    def info(self) -> ScanInfo:
        """See `Scan.info`."""
        return self.opened.info

    async def fetch(self, cursor: str | None) -> Page:
        """See `Scan.fetch`. A cursor of another scan, or one long left behind, is an expired one (R14)."""
        place = self._places.get(cursor)
        if place is None:
            reason = Incompleteness(
                code=Reason.CURSOR_EXPIRED, detail="the cursor does not belong to this scan's state"
            )
            raise SourceError(reason, continuation=Continuation(way=Way.RESTART, preserves_snapshot=False))
        cap = self.database.config.max_rows
        limit = self.question.page_rows if cap is None else min(self.question.page_rows, cap - place.rows)
        statement = self._statement(place, limit + 1)
        try:
            rows = await self.lane.run(lambda connection: fetch_all(connection, statement))
        except DBAPIError as error:
            doing = f"reading {self.opened.described.place}"
            raise self.database.failed(error, doing, within_scan=True) from None
        return self._page(place, rows[:limit], more=len(rows) > limit, cursor=cursor)

    def _statement(self, place: _Place, limit: int) -> Select[Any]:
        opened, key = self.opened, self.question.resource.key
        order = [opened.described.exact(opened.described.table.c[name]) for name in key]
        conditions: list[ColumnElement[bool]] = [] if opened.pushed.condition is None else [opened.pushed.condition]
        if place.key is not None:
            binds = [bindparam(None, value, type_=NullType()) for value in place.key]
            conditions.append(tuple_(*order) > tuple_(*binds) if len(key) > 1 else order[0] > binds[0])
        columns = [opened.described.table.c[name] for name in self._selected()]
        return select(*columns).where(*conditions).order_by(*order).limit(bindparam(None, limit))

    def _selected(self) -> list[str]:
        """Return the columns to read: the key first, then the readable ones of the question."""
        columns, key = self.opened.described.columns, self.question.resource.key
        return [*key, *(name for name in self.question.fields if name not in key and columns[name].readable)]

    def _page(self, place: _Place, rows: Sequence[Any], *, more: bool, cursor: str | None) -> Page:
        columns, states = self._columns(rows)
        done = place.rows + len(rows)
        cap = self.database.config.max_rows
        following: str | None = None
        reasons: tuple[Incompleteness, ...] = ()
        continuation: Continuation | None = None
        if more and cap is not None and done >= cap:
            reasons = (self._capped(cap),)
            hint = f"raise `max_rows` in [sources.{self.question.resource.source}], or narrow the scope"
            continuation = Continuation(way=Way.NARROW_QUERY, preserves_snapshot=False, hint=hint)
        elif more:
            following = f"{self._mark}.{done}"
            width = len(self.question.resource.key)
            # the page before is kept for a second try of the same fetch; anything older is left behind
            self._places = {cursor: place, following: _Place(tuple(rows[-1][:width]), done)}
        return Page(
            columns=columns,
            rows=len(rows),
            states=states,
            cursor=following,
            end=None if more else END,
            total=Total(self.opened.total, exact=True),
            reasons=reasons,
            continuation=continuation,
        )

    def _capped(self, cap: int) -> Incompleteness:
        source = self.question.resource.source
        return Incompleteness(
            code=Reason.CLIENT_LIMIT_REACHED,
            detail=f"the source's own cap of {cap:,} rows was reached, of {self.opened.total:,} (`max_rows`)",
            data={"limit": "rows", "value": cap, "total": self.opened.total, "setting": f"sources.{source}.max_rows"},
        )

    def _columns(self, rows: Sequence[Any]) -> tuple[dict[str, Sequence[Any]], dict[str, Sequence[FieldState | None]]]:
        selected = self._selected()
        raw = (
            dict(zip(selected, zip(*rows, strict=True), strict=True)) if len(rows) > 0 else dict.fromkeys(selected, ())
        )
        columns: dict[str, Sequence[Any]] = {}
        states: dict[str, Sequence[FieldState | None]] = {}
        for name in self.question.fields:
            if name not in raw:
                columns[name], states[name] = [None] * len(rows), [FieldState.FORBIDDEN] * len(rows)
                continue
            columns[name], known = self.values.column(name, self.question.resource.fields[name], raw[name])
            if known is not None:
                states[name] = known
        return columns, states


def open_scan(
    connection: Connection, database: Database, question: Question, settings: SqlResource, values: Values
) -> Opened:
    """Begin the transaction, describe the table and count, in the lane's thread. Raises `SourceError`, `DBAPIError`."""
    connection.exec_driver_sql(database.begin())
    described = describe(connection, database, question.resource, settings)
    if described.hides_rows:
        # what may be seen is read for reports, and marked as what it is
        connection.exec_driver_sql("SET LOCAL row_security = on")
    table = described.table
    push = PushDown(described, question.resource.fields, values, postgres=database.is_postgres)
    pushed = push.push(question.scope)
    count = select(func.count()).select_from(table)
    total = connection.execute(count if pushed.condition is None else count.where(pushed.condition)).scalar_one()
    reasons = [*_restrictions(question, described), *_order(connection, table, question, described)]
    unstable = any(reason.code is Reason.UNSTABLE_ORDER for reason in reasons)
    info = ScanInfo(
        consistency=Consistency.UNSTABLE if unstable else Consistency.PINNED,
        visibility="restricted" if described.hides_rows else "all" if described.is_base else "unknown",
        scope_pushed_down=pushed.whole and pushed.condition is not None,
        snapshot_token=_token(connection) if database.is_postgres else None,
        reasons=tuple(reasons),
        warnings=_lag(connection) if database.is_postgres else (),
    )
    return Opened(described, pushed, total, info)


def _restrictions(question: Question, described: Described) -> list[Incompleteness]:
    hidden_keys = [name for name in question.resource.key if not described.columns[name].readable]
    if hidden_keys:
        detail = f"the key column `{hidden_keys[0]}` of {described.place} may not be read with this credential"
        raise SourceError(Incompleteness(code=Reason.VISIBILITY_RESTRICTED, detail=detail))
    if not described.hides_rows:
        return []
    detail = f"row-level security is active on {described.place}: rows that this credential may not see are left out"
    return [Incompleteness(code=Reason.VISIBILITY_RESTRICTED, detail=detail, data={"table": described.place})]


def _order(
    connection: Connection, table: TableClause, question: Question, described: Described
) -> list[Incompleteness]:
    key = question.resource.key
    if not described.key_is_unique:
        named = ", ".join(f"`{name}`" for name in key)
        detail = (
            f"nothing in the database keeps {named} of {described.place} unique, so rows may hide behind each other"
        )
        return [Incompleteness(code=Reason.UNSTABLE_ORDER, detail=detail)] if described.is_base else []
    nullable = [table.c[name] for name in key if not described.columns[name].not_null]
    if not nullable:
        return []
    lost = connection.execute(select(func.count()).where(or_(*(column.is_(None) for column in nullable)))).scalar_one()
    if lost == 0:
        return []
    detail = f"{lost:,} rows of {described.place} have no value in their key, and can't be listed in its order"
    return [Incompleteness(code=Reason.UNSTABLE_ORDER, detail=detail, data={"rows": lost})]


def _token(connection: Connection) -> str:
    return str(connection.exec_driver_sql("SELECT pg_catalog.pg_current_snapshot()::text").scalar_one())


def _lag(connection: Connection) -> tuple[Notice, ...]:
    row = connection.exec_driver_sql(
        "SELECT pg_catalog.pg_is_in_recovery() AS replica,"
        " extract(epoch FROM now() - pg_catalog.pg_last_xact_replay_timestamp())::float8 AS lag"
    ).one()
    if not row.replica:
        return ()
    known = row.lag is not None
    behind = f"its last replayed change is {row.lag:.0f} s old" if known else "how far it is behind is not known"
    detail = f"the answer comes from a replica; {behind}"
    return (Notice(code=WarningCode.STALE_READ, detail=detail, data={"lag_seconds": row.lag} if known else {}),)

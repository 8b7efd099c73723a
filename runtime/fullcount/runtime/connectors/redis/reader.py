"""The reading side of a Redis source. It sends no command that writes, and none that counts as a use of a key."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from fullcount.compiler.catalog import Resource
from fullcount.compiler.claims import Consistency
from fullcount.compiler.values import Cell, FieldState, Value
from fullcount.runtime.collect.coerce import coerce_cell
from fullcount.runtime.connectors.base import (
    Existence,
    Matches,
    Page,
    Question,
    Reading,
    Scan,
    ScanInfo,
    SourceError,
)
from fullcount.runtime.connectors.redis.declaration import KEY_FIELDS, RedisConfig
from fullcount.runtime.connectors.redis.details import Detail, details_of
from fullcount.runtime.connectors.redis.patterns import fits
from fullcount.runtime.connectors.redis.replies import Answer, judge_scan
from fullcount.runtime.connectors.redis.session import ReplyError, Session, failed, text
from fullcount.runtime.evidence.codes import Reason, WarningCode, Way
from fullcount.runtime.evidence.envelope import Continuation, Incompleteness, Notice
from fullcount.runtime.text import shown_bytes

END = "cursor_0"
"""The end marker: the server gave the cursor 0, behind which there is nothing."""
_REPLICAS = frozenset({"replica", "slave"})
_NAMED = 3


class RedisReader:
    """Reads keys. See `SourceReader`."""

    def __init__(self, config: RedisConfig, session: Session) -> None:
        self._config, self._session = config, session
        self._one_at_a_time = asyncio.Lock()

    @classmethod
    async def open(cls, config: RedisConfig) -> RedisReader:
        """Connect. Raises `SourceError`, `WorkspaceError` FC605."""
        return cls(config, await Session.open(config))

    async def identity(self) -> Mapping[str, str]:
        """See `SourceReader.identity`. A user that may not ask who it is, is who the configuration says."""
        async with self._one_at_a_time:
            session = await self._connected()
            try:
                user = text(await session.ask("ACL", "WHOAMI"))
            except ReplyError:
                user = self._config.user or "default"
        return {
            "target_kind": "redis",
            "target_address": f"{self._config.host}:{self._config.port}",
            "target_db": str(self._config.db),
            "user": user,
        }

    @asynccontextmanager
    async def scan(self, question: Question) -> AsyncIterator[Scan]:
        """See `SourceReader.scan`. It has a connection of its own, and ends with it."""
        session = await Session.open(self._config)
        try:
            yield _RedisScan(self._config, session, question, _info(self._config, session))
        finally:
            await session.close()

    async def read(self, resource: Resource, key: tuple[Value, ...], fields: Sequence[str]) -> Reading:
        """See `SourceReader.read`. A key that `match` leaves out is no object of the resource."""
        (name,) = key
        if fits(self._config.resources[resource.name].match, str(name)) is False:
            return Reading(Existence.GONE)
        async with self._one_at_a_time:
            session = await self._connected()
            if session.facts["role"] in _REPLICAS:
                detail = "a replica was asked, which may lag behind: name the primary"
                reason = Incompleteness(code=Reason.COMPLETENESS_UNPROVABLE, detail=detail)
                return Reading(Existence.UNKNOWN, reasons=(reason,))
            (detail_of,) = await details_of(
                session, [str(name).encode()], ("type", *(f for f in fields if f != "type"))
            )
        if detail_of.hidden is not None:
            return Reading(Existence.UNKNOWN, reasons=(detail_of.hidden,))
        if detail_of.gone:
            return Reading(Existence.GONE)
        if detail_of.cells["type"][1] is not None:
            detail = "the user may not ask for the type of a key, so nothing tells whether it is there"
            reason = Incompleteness(code=Reason.EXISTENCE_UNKNOWN, detail=detail)
            return Reading(Existence.UNKNOWN, reasons=(reason,))
        raw = {"key": (name, None), **detail_of.cells}
        return Reading(Existence.FOUND, {each: coerce_cell(KEY_FIELDS[each], *raw[each]) for each in fields})

    async def lookup(self, resource: Resource, field: str, value: Value, fields: Sequence[str]) -> Matches:
        """See `SourceReader.lookup`: by the key, which one read answers."""
        pattern = self._config.resources[resource.name].match
        if fits(pattern, str(value)) is None:
            detail = f"only the server can tell whether `{value}` fits `{pattern}`, and only in a list"
            return Matches((), complete=False, reasons=(Incompleteness(code=Reason.SCOPE_NOT_COVERED, detail=detail),))
        reading = await self.read(resource, (value,), fields)
        if reading.existence is Existence.UNKNOWN:
            return Matches((), complete=False, reasons=reading.reasons)
        rows: tuple[Mapping[str, Cell], ...] = (reading.cells,) if reading.existence is Existence.FOUND else ()
        return Matches(rows, complete=True)

    async def count(self, resource: Resource) -> int:
        """See `SourceReader.count`: Redis counts a whole database, those that expired included."""
        detail = f"nothing counts the keys of `{resource.name}` independently of their list"
        raise SourceError(Incompleteness(code=Reason.COMPLETENESS_UNPROVABLE, detail=detail))

    async def close(self) -> None:
        """See `SourceReader.close`."""
        await self._session.close()

    async def _connected(self) -> Session:
        """Return the connection for single questions, which have nothing to lose by a new one."""
        if not self._session.lost:
            try:
                await self._session.look()  # it may have become a replica
            except SourceError:
                if not self._session.lost:
                    raise
        if self._session.lost:  # a server ends connections on which nothing was said for long
            await self._session.close()
            self._session = await Session.open(self._config)
        return self._session


def _info(config: RedisConfig, session: Session) -> ScanInfo:
    reasons: tuple[Incompleteness, ...] = ()
    if session.facts["mode"] != "standalone":
        detail = f"{config.host}:{config.port} is one server of a {session.facts['mode']}, and has a part of its keys"
        reasons = (Incompleteness(code=Reason.SCOPE_NOT_COVERED, detail=detail),)
    return ScanInfo(Consistency.INTERVAL, visibility="all", reasons=reasons)


@dataclass(slots=True)
class _RedisScan:
    """An open scan. See `Scan`."""

    config: RedisConfig
    session: Session
    question: Question
    info: ScanInfo
    _told: set[str] = field(default_factory=set)
    """Reasons that an earlier page gave: each is said once."""
    _open: tuple[str | None, ...] = (None,)
    """Where this scan may go on: at the cursor of its last page, and there again."""

    async def fetch(self, cursor: str | None) -> Page:
        """See `Scan.fetch`. A page is whatever the server found while it looked at `count` keys, also nothing."""
        if cursor not in self._open:  # another scan's, on another connection: what it means here nobody knows
            detail = "the cursor does not belong to this scan"
            raise SourceError(Incompleteness(code=Reason.CURSOR_EXPIRED, detail=detail), continuation=_RESTART)
        asked = "0" if cursor is None else cursor
        pattern = self.config.resources[self.question.resource.name].match
        count = min(self.config.count, self.question.page_rows)
        try:
            reply = await self.session.ask("SCAN", asked, "MATCH", pattern, "COUNT", count)
        except ReplyError as error:
            raise failed("SCAN", error.said) from None
        shaped = isinstance(reply, list) and len(reply) == 2 and isinstance(reply[1], list)
        following, names = (text(reply[0]), reply[1]) if shaped else (None, None)
        if following == "0":
            await self.session.look()  # whether it became a replica meanwhile
        said = {"cursor": following, "keys": names, "role": self.session.facts["role"]}
        judged = judge_scan([Answer("SCAN", asked_cursor=asked, reply=said)])
        if Reason.MALFORMED_RESPONSE in judged.reasons or names is None or following is None:
            detail = "SCAN: a reply without a cursor or without keys"
            raise SourceError(Incompleteness(code=Reason.MALFORMED_RESPONSE, detail=detail))
        rows = await self._rows(names)
        self._open = (cursor,) if following == "0" else (cursor, following)
        reasons = tuple(reason for reason in rows.reasons if reason.code not in self._told)
        self._told |= {reason.code for reason in reasons}
        stale = "the server is a replica, which may lag behind its primary"
        return Page(
            columns=rows.columns,
            rows=rows.count,
            states=rows.states,
            cursor=None if following == "0" else following,
            end=END if following == "0" else None,
            reasons=reasons,
            warnings=(Notice(code=WarningCode.STALE_READ, detail=stale),)
            if WarningCode.STALE_READ in judged.warnings
            else (),
            continuation=Continuation(way=Way.NARROW_QUERY, preserves_snapshot=False, hint=_NARROW)
            if len(reasons) > 0
            else None,
        )

    async def _rows(self, names: Sequence[bytes]) -> _Rows:
        rows = _Rows(self.question.fields)
        unreadable: list[bytes] = []
        for name, detail in zip(names, await details_of(self.session, names, self.question.fields), strict=True):
            try:
                shown = name.decode()
            except UnicodeDecodeError:
                unreadable.append(name)
                continue
            if not detail.gone:  # it was not there all the time, so it need not be in the answer
                rows.add(shown, detail)
        if len(unreadable) > 0:
            named = ", ".join(f"`{shown_bytes(name)}`" for name in unreadable[:_NAMED])
            told = f"{len(unreadable):,} keys have names that are not UTF-8 text, and can't be listed, such as {named}"
            rows.reasons.append(Incompleteness(code=Reason.MALFORMED_RESPONSE, detail=told))
        return rows


_RESTART = Continuation(way=Way.RESTART, preserves_snapshot=False)
_NARROW = "choose a `match` that leaves them out, or a user that may read them"


@dataclass(slots=True)
class _Rows:
    """The rows of one page, by columns."""

    fields: tuple[str, ...]
    count: int = 0
    columns: dict[str, list[Any]] = field(init=False)
    states: dict[str, list[FieldState | None]] = field(init=False)
    reasons: list[Incompleteness] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.columns = {name: [] for name in self.fields}
        self.states = {name: [] for name in self.fields}

    def add(self, key: str, detail: Detail) -> None:
        """Take one key; the first that may not be read says so for all of the page."""
        for name in self.fields:
            value, state = (key, None) if name == "key" else detail.cells[name]
            self.columns[name].append(value)
            self.states[name].append(state)
        self.count += 1
        if detail.hidden is not None and len(self.reasons) == 0:
            told = f"the user may not read every key, such as `{key}`: {detail.hidden.detail}"
            self.reasons.append(Incompleteness(code=Reason.VISIBILITY_RESTRICTED, detail=told))

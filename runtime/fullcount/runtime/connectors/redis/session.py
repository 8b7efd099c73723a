"""One connection to one server, never made anew: what was begun on it ends with it.

A library that reconnects by itself would carry a cursor over to a server that was restarted, for which it means
something else. Here a connection that failed once, or was left in the middle of a reply, answers nothing any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, Self

from redis.asyncio.connection import Connection, SSLConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, ResponseError

from fullcount.runtime.collect.ways import usual_way
from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.connectors.redis.declaration import RedisConfig
from fullcount.runtime.connectors.redis.replies import Answer, judge_scan
from fullcount.runtime.evidence.codes import Reason, Way
from fullcount.runtime.evidence.envelope import Continuation, Incompleteness

Word = str | int | bytes
_AGAIN = frozenset({Reason.SOURCE_UNAVAILABLE, Reason.RATE_LIMITED})


class ReplyError(Exception):
    """The server refused one command. `said` begins with the first word of its reply: `NOPERM`, `LOADING`, `ERR`."""

    def __init__(self, command: str, said: str) -> None:
        super().__init__(said)
        self.command, self.said = command, said

    @property
    def reason(self) -> Incompleteness:
        """What it means for a read."""
        return _reason(self.command, self.said)


class Session:
    """See the module's text."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._lost = False
        self.facts: Mapping[str, str] = {}
        """What the server says of itself: `mode`, `role`, `version`."""

    @classmethod
    async def open(cls, config: RedisConfig) -> Self:
        """Connect, log in and ask what kind of server it is. Raises `SourceError`, `WorkspaceError` FC605."""
        given: dict[str, Any] = {
            "host": config.host,
            "port": config.port,
            "db": config.db,
            "username": config.user,
            "password": None if config.password is None else config.password.reveal(),
            "socket_timeout": config.timeout,
            "socket_connect_timeout": config.timeout,
            "retry": Retry(NoBackoff(), 0),
            "protocol": 2,
            "driver_info": None,
        }
        if config.tls:
            given["ssl_ca_certs"] = None if config.ca_file is None else str(config.ca_file)
        session = cls((SSLConnection if config.tls else Connection)(**given))
        async with AsyncExitStack() as unfinished:
            unfinished.push_async_callback(session.close)
            try:
                await session._connection.connect()
            except RedisError as error:
                raise failed("connecting", said_by(error), retryable=True) from None
            await session.look()
            unfinished.pop_all()
        return session

    async def look(self) -> None:
        """Ask the server anew what it is. Raises `SourceError`."""
        try:
            said = await self.ask("HELLO")
        except ReplyError as error:
            raise failed("HELLO", error.said, retryable=True) from None
        flat = said if isinstance(said, list) else []
        pairs = zip(flat[::2], flat[1::2], strict=False)
        self.facts = {text(name): text(value) for name, value in pairs if not isinstance(value, list)}
        if not {"mode", "role"} <= self.facts.keys():
            detail = "HELLO: the server does not say whether it is a replica or of a cluster"
            raise SourceError(Incompleteness(code=Reason.MALFORMED_RESPONSE, detail=detail))

    async def ask(self, *command: Word) -> Any:
        """Send one command. Raises `ReplyError` for a refusal, `SourceError` when the connection is lost."""
        (reply,) = await self.ask_all([command])
        if isinstance(reply, ReplyError):
            raise reply
        return reply

    async def ask_all(self, commands: Sequence[tuple[Word, ...]]) -> list[Any]:
        """Send commands together; a refusal stands as `ReplyError` in its place. Raises `SourceError`."""
        if len(commands) == 0:
            return []
        if self._lost:
            raise failed(str(commands[0][0]), "ConnectionError: the connection was lost before")
        self._lost = True  # until every reply was read: nobody else must take what is left of them
        replies: list[Any] = []
        try:
            await self._connection.send_packed_command(self._connection.pack_commands(commands), check_health=False)
            for command in commands:
                try:
                    replies.append(await self._connection.read_response())
                except ResponseError as error:
                    replies.append(ReplyError(str(command[0]), said_by(error)))
        except RedisError as error:
            raise failed(str(commands[len(replies)][0]), said_by(error)) from None
        self._lost = False
        return replies

    @property
    def lost(self) -> bool:
        """Whether nothing can be asked any more."""
        return self._lost

    async def close(self) -> None:
        """End the connection."""
        self._lost = True
        await self._connection.disconnect(nowait=True)


def failed(command: str, said: str, *, retryable: bool = False) -> SourceError:
    """Return the error of an exchange; `retryable`: nothing was begun that would be lost by asking again."""
    reason = _reason(command, said)
    if retryable:
        return SourceError(reason, retryable=reason.code in _AGAIN, continuation=usual_way(reason))
    return SourceError(reason, continuation=Continuation(way=Way.RESTART, preserves_snapshot=False))


def _reason(command: str, said: str) -> Incompleteness:
    judged = judge_scan([Answer(command, error=said)])
    code = next(code for code in judged.reasons if isinstance(code, Reason))
    return Incompleteness(code=code, detail=f"{command}: {said}")


def said_by(error: RedisError) -> str:
    """Return an error as the server worded it: its first word, which the library takes away, and the rest."""
    word = getattr(error, "status_code", None)
    if isinstance(word, str):
        return f"{word} {error}"
    return str(error) if type(error) is ResponseError else f"{type(error).__name__}: {error}"


def text(raw: Any) -> str:
    """Return what the server says of itself as text."""
    return raw.decode("utf-8", errors="replace") if isinstance(raw, bytes) else str(raw)

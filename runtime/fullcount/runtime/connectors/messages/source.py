"""What sources of messages have in common: nothing to read, and one message for each call.

A message that was surely not taken is `failed`, so that a step which consists of it is not done and no clock starts by
it; one whose answer was lost is `unknown`, and is never sent again under the same plan. Whether a message that was
taken reaches somebody in the end is not seen from here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime

from fullcount.compiler.catalog import Effect, Idempotency, Operation, Parameter, Resource, Visibility
from fullcount.compiler.claims import Consistency
from fullcount.compiler.types import TEXT, FieldType
from fullcount.compiler.values import Value
from fullcount.runtime.connectors.base import (
    ActCall,
    ActResult,
    Matches,
    Outcome,
    Question,
    Reading,
    Scan,
    SourceError,
)
from fullcount.runtime.evidence.codes import ActReason, Reason
from fullcount.runtime.evidence.envelope import Incompleteness
from fullcount.runtime.workspace.errors import WorkspaceError

# what sends is imported by what sends: `check` imports this module for what it declares

Send = Callable[[ActCall, datetime], None]
"""Send the message of a call and return once it was taken. Blocks. Raises `NotSent`, `WorkspaceError` for a secret."""


def text(*, required: bool = True, among: Sequence[str] = ()) -> Parameter:
    """Return a parameter of text."""
    return Parameter(FieldType(TEXT, optional=not required), required=required, among=tuple(among))


def messages(source: str, operations: Mapping[str, Mapping[str, Parameter]]) -> Mapping[str, Resource]:
    """Return the one resource of a source of messages; every operation sends one."""
    made = {
        name: Operation(name, parameters, Effect.CREATE, Idempotency.NONE, reversible=False)
        for name, parameters in operations.items()
    }
    return {
        "messages": Resource(
            source=source,
            name="messages",
            fields={"id": FieldType(TEXT)},
            key=("id",),
            consistency=Consistency.UNSTABLE,
            visibility=Visibility.UNKNOWN,
            operations=made,
        )
    }


class NothingToRead:
    """The reader of a source of messages: it says which system it is, and that is all."""

    def __init__(self, facts: Mapping[str, str]) -> None:
        self._facts = facts

    async def identity(self) -> Mapping[str, str]:
        """See `SourceReader.identity`."""
        return self._facts

    def scan(self, question: Question) -> AbstractAsyncContextManager[Scan]:
        """Raises `SourceError`: see `SourceReader.scan`."""
        raise _unreadable()

    async def read(self, resource: Resource, key: tuple[Value, ...], fields: Sequence[str]) -> Reading:
        """Raises `SourceError`: see `SourceReader.read`."""
        raise _unreadable()

    async def lookup(self, resource: Resource, field: str, value: Value, fields: Sequence[str]) -> Matches:
        """Raises `SourceError`: see `SourceReader.lookup`."""
        raise _unreadable()

    async def count(self, resource: Resource) -> int:
        """Raises `SourceError`: see `SourceReader.count`."""
        raise _unreadable()

    async def close(self) -> None:
        """See `SourceReader.close`."""


def _unreadable() -> SourceError:
    detail = "messages are sent here, and none can be read back"
    return SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE, detail=detail))


class Messenger:
    """The actor of a source of messages."""

    def __init__(self, facts: Mapping[str, str], send: Send) -> None:
        self._facts = facts
        self._send = send

    async def identity(self) -> Mapping[str, str]:
        """See `SourceActor.identity`."""
        return self._facts

    async def perform(self, call: ActCall) -> ActResult:
        """See `SourceActor.perform`."""
        from fullcount.runtime.notify.sending import NotSent

        try:
            await asyncio.to_thread(self._send, call, datetime.now(UTC))
        except NotSent as error:
            if error.maybe:
                return ActResult(Outcome.UNKNOWN, ActReason.OUTCOME_UNKNOWN, error.why)
            return ActResult(Outcome.FAILED, None, error.why)
        except WorkspaceError as error:
            return ActResult(Outcome.FAILED, None, error.message)
        return ActResult(Outcome.DONE)

    async def took_effect(self, call: ActCall) -> bool | None:
        """See `SourceActor.took_effect`: nobody can ask a message whether it was sent."""
        return None

    async def close(self) -> None:
        """See `SourceActor.close`."""

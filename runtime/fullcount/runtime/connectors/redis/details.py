"""What is known of single keys beside their names: asked for many at once, each refusal told as what it is.

Guarantees: a key that is gone by now is told from one that may not be read; what the server does not record is a
field that failed, never a value. None of the commands counts as a use of the key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from fullcount.compiler.values import FieldState
from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.connectors.redis.session import ReplyError, Session, Word
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness

_COMMANDS: dict[str, tuple[str, ...]] = {
    "type": ("TYPE",),
    "expires_at": ("PEXPIRETIME",),
    "idle": ("OBJECT", "IDLETIME"),
}
_OF_THE_COMMAND = "to run the"
"""Redis says so of a command that a user may not run; of a key that it may not read it says something else."""
_NO_KEY, _NO_EXPIRY = -2, -1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Raw = tuple[Any, FieldState | None]


@dataclass(slots=True)
class Detail:
    """One key. `cells`: a natural value for each field, or its state. `hidden`: why the key may not be read."""

    gone: bool = False
    hidden: Incompleteness | None = None
    cells: dict[str, Raw] = field(default_factory=dict)


async def details_of(session: Session, keys: Sequence[bytes], fields: Sequence[str]) -> list[Detail]:
    """Return what is known of each key. Raises `SourceError`."""
    asked = [name for name in fields if name in _COMMANDS]
    commands: list[tuple[Word, ...]] = [(*_COMMANDS[name], key) for key in keys for name in asked]
    replies = await session.ask_all(commands)
    found: list[Detail] = []
    for position in range(len(keys)):
        detail = Detail()
        for name, reply in zip(asked, replies[position * len(asked) :], strict=False):
            _take(detail, name, reply)
        found.append(detail)
    return found


def _take(detail: Detail, name: str, reply: Any) -> None:
    if isinstance(reply, ReplyError):
        _take_refusal(detail, name, reply)
    elif name == "type":
        detail.gone = detail.gone or reply == b"none"
        detail.cells[name] = (reply.decode("utf-8", errors="replace"), None)
    elif reply is None or reply == _NO_KEY:
        detail.gone = True
    elif not isinstance(reply, int) or reply < _NO_EXPIRY:
        detail.cells[name] = (None, FieldState.SOURCE_FAILED)
    elif name == "expires_at":
        detail.cells[name] = _instant(reply)
    else:
        detail.cells[name] = (timedelta(seconds=reply), None)


def _instant(milliseconds: int) -> Raw:
    if milliseconds == _NO_EXPIRY:
        return None, None  # the server says that it never expires
    try:
        return _EPOCH + timedelta(milliseconds=milliseconds), None
    except OverflowError:
        return None, FieldState.INDETERMINATE  # beyond the calendar


def _take_refusal(detail: Detail, name: str, refused: ReplyError) -> None:
    reason = refused.reason
    if reason.code is Reason.VISIBILITY_RESTRICTED:
        detail.cells[name] = (None, FieldState.FORBIDDEN)
        if _OF_THE_COMMAND not in refused.said:
            detail.hidden = reason
    elif reason.code is Reason.UNEXPECTED_STATUS:
        detail.gone = detail.gone or "no such key" in refused.said
        detail.cells[name] = (None, FieldState.SOURCE_FAILED)  # not recorded, or not known to this server
    else:  # it answers nobody, or another one has the key
        raise SourceError(reason)

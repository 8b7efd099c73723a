"""Freezes: spans of time in which nothing is acted on, whatever was approved (`[[freeze]]` in `fullcount.toml`).

They are read anew at each look, so that one that is added while an apply is under way holds at its next batch. What
can't be read is an error and never no freeze.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictStr, ValidationError, model_validator

from fullcount.runtime.workspace.errors import SettingError, WorkspaceError
from fullcount.runtime.workspace.validation import from_validation


class Freeze(NamedTuple):
    """From `start` up to, and not at, `end` nothing is acted on. Both are aware."""

    start: datetime
    end: datetime
    reason: str

    def holds_at(self, at: datetime) -> bool:
        """Whether it holds at an instant."""
        return self.start <= at < self.end


def _an_instant(value: Any) -> Any:
    if not isinstance(value, datetime) or value.tzinfo is None:
        msg = "expected an instant with its offset, without quotes"
        raise SettingError(msg, help="as `from = 2026-12-20T00:00:00+01:00`")
    return value


_Instant = Annotated[datetime, BeforeValidator(_an_instant)]


class FreezeEntry(BaseModel):
    """One `[[freeze]]`."""

    model_config = ConfigDict(extra="forbid")

    start: _Instant = Field(alias="from")
    end: _Instant = Field(alias="to")
    reason: Annotated[StrictStr, Field(min_length=1, pattern=r"\S")]

    @model_validator(mode="after")
    def _ends_after_it_begins(self) -> Self:
        if self.end <= self.start:
            msg = "the freeze ends before it begins, so it would never hold"
            raise SettingError(msg, help="`to` is the first instant at which acting is allowed again")
        return self

    def made(self) -> Freeze:
        """Return the freeze that the entry declares."""
        return Freeze(self.start, self.end, self.reason.strip())


class _File(BaseModel):
    freeze: list[FreezeEntry] = []


class FreezeFile:
    """The freezes in a `fullcount.toml`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read: bytes | None = None
        self._freezes: tuple[Freeze, ...] = ()

    def current(self) -> tuple[Freeze, ...]:
        """Return the freezes that stand in the file now. Raises `WorkspaceError` FC602, FC603 or FC604."""
        try:
            content = self._path.read_bytes()
        except OSError as error:
            raise WorkspaceError("FC602", f"`{self._path}` can't be read: {error.strerror}") from None
        if content != self._read:
            self._freezes = self._parsed(content)
            self._read = content
        return self._freezes

    def _parsed(self, content: bytes) -> tuple[Freeze, ...]:
        try:
            document = tomllib.loads(content.decode())
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise WorkspaceError("FC602", f"`{self._path}` is not TOML: {error}") from None
        try:
            return freezes_of(_File.model_validate({"freeze": document.get("freeze", [])}).freeze)
        except ValidationError as error:
            raise from_validation(error, self._path, _File) from None


def freezes_of(entries: Sequence[FreezeEntry]) -> tuple[Freeze, ...]:
    """Return the freezes of these entries, in order of time."""
    return tuple(sorted(entry.made() for entry in entries))

"""Exemption lists: objects that are kept whatever a rule says, each with an owner, a reason and an end.

A list that can't be read is an error, never an empty list: an exemption that is silently lost is a deletion.
"""

from __future__ import annotations

import tomllib
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictInt, StrictStr, ValidationError

from fullcount.runtime.workspace.errors import SettingError, WorkspaceError
from fullcount.runtime.workspace.validation import from_validation


class Exemption(NamedTuple):
    """One kept object. `key` has a part for each key field; `workflow` None means every workflow.

    `expires` is the last day on which it holds.
    """

    key: tuple[str | int, ...]
    workflow: str | None
    owner: str
    reason: str
    expires: date

    def holds_on(self, day: date) -> bool:
        """Whether it still keeps its object on `day`."""
        return day <= self.expires


def _as_parts(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _a_day(value: Any) -> Any:
    if isinstance(value, datetime) or not isinstance(value, date):
        msg = "expected a day, without quotes"
        raise SettingError(msg, help="as `expires = 2027-03-31`: the last day on which it holds")
    return value


_Text = Annotated[StrictStr, Field(min_length=1, pattern=r"\S")]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    key: Annotated[list[StrictInt | StrictStr], BeforeValidator(_as_parts), Field(min_length=1)]
    workflow: _Text | None = None
    owner: _Text
    reason: _Text
    expires: Annotated[date, BeforeValidator(_a_day)]


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    exemption: list[_Entry] = []


def read_exemptions(path: Path) -> tuple[Exemption, ...]:
    """Read one list. Raises `WorkspaceError` FC609 if the file is missing, unreadable or has a faulty entry."""
    try:
        text = path.read_bytes().decode()
        document = tomllib.loads(text)
    except OSError as error:
        message = f"the exemption list `{path}` can't be read: {error.strerror}"
        raise WorkspaceError("FC609", message, help="an empty file is an empty list; a missing one is not") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise WorkspaceError("FC609", f"the exemption list `{path}` is not TOML: {error}") from None
    try:
        entries = _File.model_validate(document).exemption
    except ValidationError as error:
        finding = from_validation(error, path, _File)
        help_text = finding.help or "every entry has `key`, `owner`, `reason` and `expires`"
        raise WorkspaceError("FC609", finding.message, help=help_text) from None
    return tuple(Exemption(tuple(e.key), e.workflow, e.owner, e.reason, e.expires) for e in entries)

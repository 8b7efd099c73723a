"""The policy of the workspace: what no workflow may decide for itself (`[policy]` in `fullcount.toml`).

It is read anew at each look, so that what is taken back holds at the next act. What can't be read is an error, and what
is not said is not allowed.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StrictInt, StrictStr, ValidationError

from fullcount.runtime.evidence.warned import RUNS, Accepted
from fullcount.runtime.workspace.accepted import AcceptedEntry
from fullcount.runtime.workspace.errors import SettingError, WorkspaceError
from fullcount.runtime.workspace.validation import from_validation


def _a_number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int):
        msg = "expected a number of objects, without quotes"
        raise SettingError(msg, help="as `automatic_approval = 5`: at most so many in one plan; 0, or nothing: never")
    return value


def _a_count(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        msg = "expected how many readings in a row, 1 or more, without quotes"
        raise SettingError(
            msg, help="as `warnings_become_failures = 5`; a warning can be accepted, but not passed over"
        )
    return value


def _people(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        msg = "expected a number of people, 1 or more, without quotes"
        raise SettingError(msg, help="as `irreversible_approvals = 2`")
    return value


def _quorums(value: Any) -> Any:
    if not isinstance(value, list) or len(value) == 0 or not all(isinstance(each, dict) for each in value):
        msg = "expected who must approve an undo: one entry or more, each with `count` and `role`"
        said = 'as `undo_approvals = [{ count = 1, role = "on-call" }]`; without the key: as many as its act asks for'
        raise SettingError(msg, help=said)
    return value


class UndoQuorum(BaseModel):
    """So many people of a role who must approve an undo."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    count: Annotated[StrictInt, BeforeValidator(_people), Field(ge=1)]
    role: StrictStr
    not_by_author: StrictBool = True
    """Whether those who wrote the rule, made the plan, or proposed the undo do not count."""


class Policy(BaseModel):
    """`[policy]`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    automatic_approval: Annotated[StrictInt, BeforeValidator(_a_number), Field(ge=0)] = 0
    """How many objects a plan may have at most to be approved by its workflow's own rule; 0: no plan is."""
    irreversible_approvals: Annotated[StrictInt, BeforeValidator(_people), Field(ge=1)] = 1
    """How many people at least must approve an act that can't be taken back; 1: as many as any other."""
    undo_approvals: Annotated[tuple[UndoQuorum, ...] | None, BeforeValidator(_quorums)] = None
    """Who must approve an undo; None: as many of the same roles as its workflow asks for."""
    warnings_become_failures: Annotated[StrictInt, BeforeValidator(_a_count), Field(ge=1)] = RUNS
    """After how many readings in a row a warning that nobody resolved or accepted is a failure."""


class _File(BaseModel):
    accepted_warning: list[AcceptedEntry] = []
    policy: Policy = Policy()


class PolicyFile:
    """The policy in a `fullcount.toml`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read: bytes | None = None
        self._file = _File()

    def current(self) -> Policy:
        """Return what stands in the file now. Raises `WorkspaceError` FC602, FC603 or FC604."""
        try:
            content = self._path.read_bytes()
        except OSError as error:
            raise WorkspaceError("FC602", f"`{self._path}` can't be read: {error.strerror}") from None
        if content != self._read:
            self._file = self._parsed(content)
            self._read = content
        return self._file.policy

    def accepted_warnings(self) -> tuple[Accepted, ...]:
        """Return the warnings that the file accepts now. Raises as `current` does."""
        self.current()
        return tuple(entry.made() for entry in self._file.accepted_warning)

    def _parsed(self, content: bytes) -> _File:
        try:
            document = tomllib.loads(content.decode())
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise WorkspaceError("FC602", f"`{self._path}` is not TOML: {error}") from None
        try:
            said = {name: document[name] for name in ("policy", "accepted_warning") if name in document}
            return _File.model_validate(said)
        except ValidationError as error:
            raise from_validation(error, self._path, _File) from None

"""The policy of the workspace: what no workflow may decide for itself (`[policy]` in `fullcount.toml`).

It is read anew at each look, so that what is taken back holds at the next act. What can't be read is an error, and what
is not said is not allowed.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictInt, ValidationError

from fullcount.runtime.workspace.errors import SettingError, WorkspaceError
from fullcount.runtime.workspace.validation import from_validation


def _a_number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int):
        msg = "expected a number of objects, without quotes"
        raise SettingError(msg, help="as `automatic_approval = 5`: at most so many in one plan; 0, or nothing: never")
    return value


class Policy(BaseModel):
    """`[policy]`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    automatic_approval: Annotated[StrictInt, BeforeValidator(_a_number), Field(ge=0)] = 0
    """How many objects a plan may have at most to be approved by its workflow's own rule; 0: no plan is."""


class _File(BaseModel):
    policy: Policy = Policy()


class PolicyFile:
    """The policy in a `fullcount.toml`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read: bytes | None = None
        self._policy = Policy()

    def current(self) -> Policy:
        """Return what stands in the file now. Raises `WorkspaceError` FC602, FC603 or FC604."""
        try:
            content = self._path.read_bytes()
        except OSError as error:
            raise WorkspaceError("FC602", f"`{self._path}` can't be read: {error.strerror}") from None
        if content != self._read:
            self._policy = self._parsed(content)
            self._read = content
        return self._policy

    def _parsed(self, content: bytes) -> Policy:
        try:
            document = tomllib.loads(content.decode())
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise WorkspaceError("FC602", f"`{self._path}` is not TOML: {error}") from None
        try:
            return _File.model_validate({"policy": document["policy"]} if "policy" in document else {}).policy
        except ValidationError as error:
            raise from_validation(error, self._path, _File) from None

"""Signatures that the workspace asks for (`[signatures]` in `fullcount.toml`), and who may sign (`allowed_signers`).

Both are read anew at each look, so that a key that is taken out counts no more at the next act. What can't be read, or
has a line that can't be understood, is an error and never a file without signers.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, StrictBool, StrictStr, ValidationError, model_validator

from fullcount.runtime.approve.signing import Signing
from fullcount.runtime.offline.signers import AllowedSigner, SignersWrong, read_signers
from fullcount.runtime.workspace.errors import SettingError, WorkspaceError
from fullcount.runtime.workspace.premises import read
from fullcount.runtime.workspace.validation import from_validation


def _yes_or_no(value: Any) -> Any:
    if not isinstance(value, bool):
        msg = "expected `true` or `false`, without quotes"
        raise SettingError(msg, help="as `required = true`: then no approval counts that is not signed")
    return value


class Signatures(BaseModel):
    """`[signatures]`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    allowed_signers: StrictStr | None = None
    """The file of OpenSSH's format, as seen from `fullcount.toml`."""
    required: Annotated[StrictBool, BeforeValidator(_yes_or_no)] = False

    @model_validator(mode="after")
    def _names_signers(self) -> Self:
        if self.required and self.allowed_signers is None:
            msg = "signatures are required, and nothing says whose"
            raise SettingError(msg, help='add `allowed_signers = "allowed_signers"`, see ssh-keygen(1)')
        return self


class _File(BaseModel):
    signatures: Signatures = Signatures()


class SignaturesFile:
    """The table in a `fullcount.toml`, and the signers that it names."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read: tuple[bytes, bytes | None] | None = None
        self._signing = Signing(required=True, signers=())  # until it has been read, nobody may sign
        self._kept = Signatures()

    def current(self) -> Signing:
        """Return what is asked for now. Raises `WorkspaceError` FC602, FC603, FC604 or FC618."""
        content = read(self._path)
        said = self._said(content)
        signers = None if said.allowed_signers is None else self._signers(said.allowed_signers)
        if (content, signers) != self._read:
            who = None if signers is None else self._parsed(str(said.allowed_signers), signers)
            self._signing = Signing(required=said.required, signers=who)
            self._read = (content, signers)
        return self._signing

    def signers_text(self) -> str | None:
        """Return the text of the `allowed_signers` as it is now; None where none is named. Raises as `current`."""
        self.current()
        signers = None if self._read is None else self._read[1]
        return None if signers is None else signers.decode()

    def _said(self, content: bytes) -> Signatures:
        if self._read is not None and self._read[0] == content:
            return self._kept
        try:
            document = tomllib.loads(content.decode())
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise WorkspaceError("FC602", f"`{self._path}` is not TOML: {error}") from None
        try:
            part = {name: document[name] for name in ("signatures",) if name in document}
            self._kept = _File.model_validate(part).signatures
        except ValidationError as error:
            raise from_validation(error, self._path, _File) from None
        return self._kept

    def _signers(self, name: str) -> bytes:
        place = self._path.parent / Path(name).expanduser()
        try:
            return place.read_bytes()
        except OSError as error:
            raise WorkspaceError(
                "FC618",
                f"the allowed signers `{name}` can't be read: {error.strerror}",
                help="mend `allowed_signers` under `[signatures]`: without it nobody's signature can be told",
            ) from None

    def _parsed(self, name: str, content: bytes) -> tuple[AllowedSigner, ...]:
        try:
            return read_signers(content.decode())
        except UnicodeDecodeError:
            what = "it is not UTF-8 text"
        except SignersWrong as error:
            what = str(error)
        raise WorkspaceError(
            "FC618",
            f"the allowed signers `{name}` can't be used: {what}",
            help='a line is `ana,uid:1000 namespaces="fullcount" ssh-ed25519 AAAA…`, see ssh-keygen(1)',
        )

"""Secrets by reference: where a password stands, never the password.

A reference is resolved at the moment a connection is opened and nowhere else. Neither a reference nor what it resolves
to appears in a `repr`, an error or a record: only the name of the variable or the path of the file does.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    StringConstraints,
    ValidationInfo,
    model_validator,
)

from fullcount.runtime.workspace.errors import SettingError, WorkspaceError

ROOT = "root"
"""The key of the validation context under which the workspace's folder stands."""


def under_root(path: Path, info: ValidationInfo) -> Path:
    """Return `path` made absolute: relative ones are relative to the folder of `fullcount.toml`."""
    root = None if info.context is None else info.context.get(ROOT)
    return path if root is None else Path(root) / path.expanduser()


RootedPath = Annotated[Path, AfterValidator(under_root)]
"""A path of the configuration, absolute after validation."""


class Secret(BaseModel):
    """`{ env = "NAME" }`, `{ file = "path" }`, `{ keyring = "service/user" }` or `{ command = ["program", "…"] }`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    env: str | None = None
    file: RootedPath | None = None
    keyring: Annotated[str, StringConstraints(pattern=r"^[^/]+/.+$")] | None = None
    """An entry of the user's key ring, by its service and user; needs the package `keyring`."""
    command: Annotated[list[str], Field(min_length=1)] | None = None
    """A program and its arguments, run without a shell, that prints the secret as its only output."""

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if sum(part is not None for part in (self.env, self.file, self.keyring, self.command)) != 1:
            msg = 'a secret is named by exactly one of `env = "NAME"`, `file = "path"`, `keyring` and `command`'
            raise SettingError(msg)
        return self

    def reveal(self) -> str:
        """Return the secret. Raises `WorkspaceError` FC605 if it is not there or empty."""
        if self.env is not None:
            value = os.environ.get(self.env)
            if value is None:
                message = f"the environment has no variable `{self.env}`, which fullcount.toml names as a secret"
                raise WorkspaceError("FC605", message, help=f"set `{self.env}` for the user that runs this")
            where = f"the environment variable `{self.env}`"
        elif self.keyring is not None:
            value, where = _from_keyring(self.keyring), f"the key ring's entry `{self.keyring}`"
        elif self.command is not None:
            value, where = _from_command(self.command), f"what `{self.command[0]}` printed"
        else:
            value, where = self._read()
        if value == "":
            raise WorkspaceError("FC605", f"{where}, which fullcount.toml names as a secret, is empty")
        return value

    def _read(self) -> tuple[str, str]:
        if self.file is None:  # the validator leaves exactly one of the two
            raise WorkspaceError("FC605", "a secret names neither a variable nor a file")
        try:
            text = self.file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            message = f"the secret in the file `{self.file}` can't be read: {why}"
            raise WorkspaceError(
                "FC605", message, help="the file must be readable by the user that runs this"
            ) from None
        return text.rstrip("\r\n"), f"the file `{self.file}`"


def _from_keyring(entry: str) -> str:
    service, _, user = entry.partition("/")
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        message = f"the secret `{entry}` is in a key ring, and the package `keyring` is not installed"
        raise WorkspaceError("FC605", message, help="install `keyring`, or name the secret otherwise") from None
    try:
        value = keyring.get_password(service, user)
    except KeyringError as error:
        raise WorkspaceError("FC605", f"the key ring did not give `{entry}`: {type(error).__name__}") from None
    if value is None:
        raise WorkspaceError("FC605", f"the key ring has no entry `{entry}`, which fullcount.toml names as a secret")
    return str(value)


def _from_command(command: Sequence[str]) -> str:
    """Run a program for what it prints. Neither its output nor its errors get into a message: they may be secrets."""
    program = command[0]
    try:
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE, check=False)
    except OSError as error:
        raise WorkspaceError("FC605", f"`{program}`, which prints a secret, can't be run: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise WorkspaceError("FC605", f"`{program}`, which prints a secret, took longer than {_PATIENCE:g} s") from None
    if ended.returncode != 0:
        message = f"`{program}`, which prints a secret, ended with {ended.returncode}"
        raise WorkspaceError("FC605", message, help="run it yourself to see why")
    try:
        return ended.stdout.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        raise WorkspaceError("FC605", f"what `{program}` printed is not UTF-8 text") from None


_PATIENCE = 30.0
"""Seconds that a program may take to print a secret."""


SCHEMES = ("sqlite", "postgresql", "sqlite+pysqlite", "postgresql+psycopg")
"""The databases that are spoken to."""


class DatabaseUrl(BaseModel):
    """A database's address: text without a password, a reference to the whole of it, or text with a password reference.

    `url = "sqlite:///data/x.db"` · `url = { env = "NAME" }` · `url = { file = "path" }` ·
    `url = { url = "postgresql://user@host/db", password = { env = "NAME" } }`
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str | None = None
    env: str | None = None
    file: RootedPath | None = None
    password: Secret | None = None
    _root: Path = PrivateAttr(default=Path())
    """The workspace's folder: what relative SQLite paths are relative to."""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"url": value}
        if isinstance(value, dict):
            return value
        msg = "expected the address as text, or a table that says where it stands"
        raise SettingError(msg, help='as `url = "sqlite:///data/x.db"` or `url = { env = "DATABASE_URL" }`')

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if sum(part is not None for part in (self.url, self.env, self.file)) != 1:
            msg = "an address is given by exactly one of `url`, `env` and `file`"
            raise SettingError(msg)
        if self.password is not None and self.url is None:
            msg = "`password` goes with `url`: an address that is a secret as a whole has its password in it"
            raise SettingError(msg)
        if self.url is not None:
            _check_public(self.url)
            _check(self.url)
        return self

    def model_post_init(self, context: Any, /) -> None:
        """Remember the folder that relative paths are relative to."""
        self._root = Path() if context is None else Path(context.get(ROOT, Path()))

    def resolve(self) -> str:
        """Return the full address, secrets in it: hand it to the driver and to nobody else.

        Relative SQLite paths are made absolute. Raises `WorkspaceError` FC605 (secret) or FC607 (address).
        """
        if self.url is not None:
            text = self.url
        else:
            text = Secret(env=self.env, file=self.file).reveal()
            try:
                _check(text)
            except SettingError as error:
                where = f"environment variable `{self.env}`" if self.env is not None else f"file `{self.file}`"
                raise WorkspaceError(
                    error.code, f"the address in the {where}: {error.message}", help=error.help
                ) from None
        if self.password is not None:
            parts = urlsplit(text)
            user, _, host = parts.netloc.rpartition("@")
            netloc = f"{user}:{quote(self.password.reveal(), safe='')}@{host}"
            text = urlunsplit(parts._replace(netloc=netloc))
        return _rooted(text, self._root)


def _check(text: str) -> None:
    """Refuse an address that can't be spoken to; the message must not repeat it, since it may hold a password."""
    scheme, separator, rest = text.partition("://")
    if not separator or scheme not in SCHEMES:
        named = f"`{scheme}`" if separator else "no scheme"
        msg = f"the address has {named}; known are " + ", ".join(f"`{known}://`" for known in SCHEMES[:2])
        raise SettingError(msg, code="FC607", help="as `sqlite:///data/x.db` or `postgresql://user@host/database`")
    if scheme.startswith("sqlite"):
        path, has_query, _ = rest.partition("?")
        if has_query:
            msg = "an SQLite address takes no options behind a `?`"
            raise SettingError(msg, code="FC607")
        if path in {"", "/"} or ":memory:" in rest or path.startswith("/file:") or not path.startswith("/"):
            msg = "the address names no SQLite file on disk"
            raise SettingError(msg, code="FC607", help="as `sqlite:///data/x.db`, relative to fullcount.toml")
        return
    try:
        parts = urlsplit(text)
        database, _ = parts.path.removeprefix("/"), parts.port
    except ValueError:
        msg = "the address has a host or port that can't be read"
        raise SettingError(msg, code="FC607") from None
    if database == "":
        msg = "the address names no database"
        raise SettingError(msg, code="FC607", help="as `postgresql://user@host/database`")


def _check_public(text: str) -> None:
    """Refuse a password that stands in the file itself."""
    parts = urlsplit(text) if text.startswith("postgresql") else None
    if parts is None:
        return
    inline = parts.netloc.rpartition("@")[0].partition(":")[2]
    in_query = any("password" in name.lower() for name, _ in parse_qsl(parts.query, keep_blank_values=True))
    if inline or in_query:
        msg = "a password stands in the file; name where it stands instead"
        help_text = 'url = { url = "postgresql://user@host/database", password = { env = "NAME" } }'
        raise SettingError(msg, code="FC607", help=help_text)


def _rooted(text: str, root: Path) -> str:
    scheme, _, rest = text.partition("://")
    if not scheme.startswith("sqlite"):
        return text
    return f"{scheme}:///{root.resolve() / rest.removeprefix('/')}"

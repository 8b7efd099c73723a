"""`[notify.NAME]` in `fullcount.toml`: who is told, and by which way. Secrets stand there by reference.

What would carry a secret or a notice in clear over a network is refused; on this host alone it may.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

from fullcount.runtime.workspace.errors import SettingError, WorkspaceError
from fullcount.runtime.workspace.secrets import Secret

HERE = frozenset({"localhost", "127.0.0.1", "::1"})
"""The names of this host."""
ADDRESS = r"^[^\s@<>,;\"]+@[^\s@<>,;\"]+$"
"""One mail address, and never a list of them."""
_Address = Annotated[str, StringConstraints(pattern=ADDRESS, max_length=254)]
_Host = Annotated[str, StringConstraints(pattern=r"^[^\s/@]+$")]
_Seconds = Annotated[float, Field(gt=0, le=60)]


class SmtpConfig(BaseModel):
    """Mail by SMTP. `security`: `starttls` (the default), `tls` from the first byte, or `none`, on this host alone."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    host: _Host
    port: Annotated[int, Field(ge=1, le=65535)] = 587
    security: Literal["starttls", "tls", "none"] = "starttls"
    user: str | None = None
    password: Secret | None = None
    sender: _Address = Field(alias="from")
    timeout: _Seconds = 10.0

    @model_validator(mode="after")
    def _in_clear_only_here(self) -> Self:
        if self.security == "none" and self.host not in HERE:
            msg = "mail would go over the network in clear"
            raise SettingError(msg, help='use `security = "starttls"` or `"tls"`')
        if (self.user is None) != (self.password is None):
            msg = "`user` and `password` go together"
            raise SettingError(msg, help='as `user = "fullcount"` and `password = { env = "SMTP_PASSWORD" }`')
        return self


class MailConfig(SmtpConfig):
    """A notifier by mail: always the same people."""

    way: Literal["mail"]
    to: Annotated[list[_Address], Field(min_length=1)]


class HookConfig(BaseModel):
    """A POST of JSON. `url` is text, or a secret by reference where the address itself is one.

    With `secret` the body is signed: `X-Fullcount-Signature: sha256=…`, HMAC-SHA256 over the body.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str | Secret
    secret: Secret | None = None
    timeout: _Seconds = 10.0

    @field_validator("url", mode="before")
    @classmethod
    def _checked(cls, value: Any) -> Any:
        if isinstance(value, str):
            _check(value)
        return value

    def address(self) -> str:
        """Return the address to post to. Raises `WorkspaceError` FC605 (secret) or FC607 (address)."""
        if isinstance(self.url, str):
            return self.url
        text = self.url.reveal()
        try:
            _check(text)
        except SettingError as error:
            raise WorkspaceError("FC607", f"the address of the webhook: {error.message}", help=error.help) from None
        return text


class WebhookConfig(HookConfig):
    """A notifier by webhook."""

    way: Literal["webhook"]


def _check(text: str) -> None:
    """Refuse an address that is none or not encrypted; the message must not repeat it, since it may hold a secret."""
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        msg = "the address can't be read"
        raise SettingError(msg, code="FC607") from None
    if parts.scheme not in {"https", "http"} or not host:
        msg = "the address is no `https://` address"
        raise SettingError(msg, code="FC607", help="as `https://chat.example.org/hooks/…`")
    if parts.scheme == "http" and host not in HERE:
        msg = "the address is not encrypted"
        raise SettingError(msg, code="FC607", help="use `https://`; plain `http://` is for this host alone")
    if parts.username is not None or parts.password is not None:
        msg = "the address holds a user or password"
        raise SettingError(msg, code="FC607", help='name the whole address as a secret: `url = { env = "NAME" }`')


NotifierConfig = Annotated[MailConfig | WebhookConfig, Field(discriminator="way")]
"""One `[notify.NAME]`."""

"""Sending one notice, or one message of an act, by its way.

What went wrong is told without the address, the secret or what a server said. `NotSent.maybe` is the difference that
counts: what surely was not taken may be sent again; what got no answer is not, because two of one event are worse than
one that has to be looked up in `fullcount runs`.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import json
import smtplib
import socket
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime
from http.client import HTTPException
from typing import Any, Final
from urllib.parse import urlsplit

from fullcount.runtime import __version__
from fullcount.runtime.text import plain
from fullcount.runtime.workspace.notifiers import HERE, HookConfig, MailConfig, SmtpConfig, WebhookConfig

_ANSWER: Final = 200
_OK: Final = range(200, 300)
_BETWEEN: Final = frozenset({502, 504})
"""What a gateway answers that does not know what came of it behind itself."""
_NO_WAY: Final = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH})


class NotSent(Exception):  # noqa: N818 - named for what happened
    """The notice was not sent. `maybe`: or nobody can tell whether it was."""

    def __init__(self, why: str, *, maybe: bool = False) -> None:
        super().__init__(why)
        self.why = plain(why, _ANSWER)
        self.maybe = maybe


def send(config: MailConfig | WebhookConfig, notice_id: str, title: str, body: Mapping[str, Any], at: datetime) -> None:
    """Send a notice and return once it was taken. Blocks. Raises `NotSent`, and `WorkspaceError` for a secret."""
    if isinstance(config, MailConfig):
        mail(config, config.to, notice_id, title, str(body["text"]), at)
    else:
        post(config, notice_id, body, at)


def mail(config: SmtpConfig, to: Sequence[str], name: str, title: str, text: str, at: datetime) -> None:
    """Send a mail and return once the server took it for everybody. `name` makes it one of its kind. Raises as `send`.

    That a server further on may give it back later is not seen here.
    """
    password = None if config.password is None else config.password.reveal()
    message = EmailMessage()
    message["Subject"] = title
    message["From"] = config.sender
    message["To"] = ", ".join(to)
    message["Date"] = format_datetime(at)
    message["Message-ID"] = f"<{name.lower()}@{config.sender.partition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(text + "\n")
    try:
        server = _connected(config)
    except (OSError, smtplib.SMTPException) as error:
        raise NotSent(f"the mail server can't be spoken to: {_named(error)}") from error
    handed_over = False
    try:
        server.ehlo_or_helo_if_needed()
        if password is not None and config.user is not None:
            server.login(config.user, password)
        handed_over = True
        refused = server.send_message(message)
    except smtplib.SMTPResponseException as error:
        raise NotSent(f"the mail server refused it: {error.smtp_code}") from error
    except smtplib.SMTPRecipientsRefused as error:
        raise NotSent("the mail server refused every recipient") from error
    except (OSError, smtplib.SMTPException) as error:
        raise NotSent(f"the mail server broke off: {_named(error)}", maybe=handed_over) from error
    finally:
        _leave(server)
    if refused:
        raise NotSent(f"the mail server took it for {len(to) - len(refused)} of {len(to)}", maybe=True)


def _connected(config: SmtpConfig) -> smtplib.SMTP:
    context = ssl.create_default_context()
    if config.security == "tls":
        return smtplib.SMTP_SSL(config.host, config.port, timeout=config.timeout, context=context)
    server = smtplib.SMTP(config.host, config.port, timeout=config.timeout)
    try:
        if config.security == "starttls":
            server.starttls(context=context)
    except BaseException:
        server.close()
        raise
    return server


def _leave(server: smtplib.SMTP) -> None:
    """Say goodbye: the server's answer to that changes nothing of what it took."""
    try:
        server.quit()
    except (OSError, smtplib.SMTPException):
        server.close()


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A notice goes where the configuration says and nowhere else."""

    def redirect_request(self, *_: Any) -> None:
        """Follow none."""
        return


def post(config: HookConfig, notice_id: str, body: Mapping[str, Any], at: datetime) -> None:
    """Post a message and return once it was taken. Raises as `send`."""
    data = json.dumps({"id": notice_id, "at": at.isoformat(), **body}, ensure_ascii=False).encode()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"fullcount/{__version__}",
        "Idempotency-Key": notice_id,
    }
    if config.secret is not None:
        signed = hmac.new(config.secret.reveal().encode(), data, hashlib.sha256).hexdigest()
        headers["X-Fullcount-Signature"] = f"sha256={signed}"
    address = config.address()
    if urlsplit(address).scheme not in {"http", "https"}:
        raise NotSent("the address is no web address")
    request = urllib.request.Request(address, data=data, headers=headers, method="POST")  # noqa: S310 - checked above
    here = urlsplit(address).hostname in HERE
    opener = urllib.request.build_opener(_NoRedirect, *([urllib.request.ProxyHandler({})] if here else []))
    try:
        with opener.open(request, timeout=config.timeout) as answer:
            status = answer.status
    except urllib.error.HTTPError as error:
        with error:
            raise NotSent(f"the webhook answered {error.code}", maybe=error.code in _BETWEEN) from error
    except urllib.error.URLError as error:
        why = error.reason if isinstance(error.reason, BaseException) else error
        raise NotSent(f"the webhook can't be reached: {_named(why)}", maybe=_after_sending(why)) from error
    except (OSError, HTTPException) as error:
        raise NotSent(f"the webhook broke off: {_named(error)}", maybe=True) from error
    if status not in _OK:
        raise NotSent(f"the webhook answered {status}")


def _after_sending(error: BaseException) -> bool:
    """Whether a connection may have broken off after the notice had been taken, and not before it was open."""
    if isinstance(error, ConnectionRefusedError | socket.gaierror | ssl.SSLError):
        return False
    return getattr(error, "errno", None) not in _NO_WAY


def _named(error: BaseException) -> str:
    """Return what kind of trouble it was; the text of an error may hold what must not be told."""
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, smtplib.SMTPResponseException):
        return f"it answered {error.smtp_code}"
    strerror = getattr(error, "strerror", None)
    return str(strerror) if isinstance(strerror, str) and strerror != "" else type(error).__name__

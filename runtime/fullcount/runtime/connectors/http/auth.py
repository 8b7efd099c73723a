"""Credentials on their way into a request: revealed when a source is opened, and held nowhere but here."""

from __future__ import annotations

import math
import time
from base64 import b64encode
from collections.abc import Mapping

import httpx

from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.connectors.http.client import Ask, Authorization
from fullcount.runtime.connectors.http.config import Auth, ClientCredentials
from fullcount.runtime.connectors.http.content import BrokenContentError, TooMuchError
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness

_EARLY = 30.0
"""Seconds before its end at which a token is no longer used."""


def authorization(auth: Auth | None) -> Authorization | None:
    """Return what authorizes requests. Raises `WorkspaceError` FC605 for a secret that is not there."""
    if auth is None:
        return None
    if auth.bearer is not None:
        return _Fixed({"authorization": f"Bearer {auth.bearer.reveal()}"})
    if auth.header is not None:
        return _Fixed({auth.header.name.lower(): auth.header.value.reveal()})
    if auth.basic is not None:
        pair = f"{auth.basic.user}:{auth.basic.password.reveal()}".encode()
        return _Fixed({"authorization": f"Basic {b64encode(pair).decode()}"})
    if auth.oauth2 is not None:
        return _Token(auth.oauth2)
    return None


class _Fixed:
    """The same headers for every request."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = headers

    async def headers(self, ask: Ask) -> Mapping[str, str]:
        """See `Authorization.headers`."""
        return self._headers

    def rejected(self) -> bool:
        """See `Authorization.rejected`: there is nothing new to try."""
        return False


class _Token:
    """A token by client credentials, fetched when there is none that still holds."""

    def __init__(self, settings: ClientCredentials) -> None:
        self._settings, self._secret = settings, settings.client_secret.reveal()
        self._token: str | None = None
        self._until = 0.0
        self._used = False

    async def headers(self, ask: Ask) -> Mapping[str, str]:
        """See `Authorization.headers`."""
        if self._token is None or time.monotonic() >= self._until:
            await self._fetch(ask)
        else:
            self._used = True
        return {"authorization": f"Bearer {self._token}"}

    def rejected(self) -> bool:
        """See `Authorization.rejected`: a token that had served may have been revoked; a new one is tried, once."""
        had_served, self._token, self._used = self._used, None, False
        return had_served

    async def _fetch(self, ask: Ask) -> None:
        settings = self._settings
        form = {"grant_type": "client_credentials", "client_id": settings.client_id, "client_secret": self._secret}
        form |= {name: value for name in ("scope", "audience") if (value := getattr(settings, name)) is not None}
        try:
            reply = await ask(
                httpx.Request("POST", settings.token_url, data=form, headers={"accept": "application/json"})
            )
        except (BrokenContentError, TooMuchError):
            detail = "the answer to the request for a token can't be read"
            raise SourceError(Incompleteness(code=Reason.MALFORMED_RESPONSE, detail=detail)) from None
        except httpx.TransportError as error:
            detail = f"the token could not be fetched: {type(error).__name__}"
            raise SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE, detail=detail), retryable=True) from None
        given = self._given(reply)
        self._token, self._used = given[0], False
        self._until = time.monotonic() + given[1] - _EARLY

    @staticmethod
    def _given(reply: httpx.Response) -> tuple[str, float]:
        if reply.status_code >= httpx.codes.INTERNAL_SERVER_ERROR:
            detail = f"the token could not be fetched: status {reply.status_code}"
            raise SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE, detail=detail), retryable=True)
        if reply.status_code != httpx.codes.OK:
            detail = f"the token was refused: status {reply.status_code}"
            raise SourceError(Incompleteness(code=Reason.AUTH_FAILED, detail=detail))
        try:
            body = reply.json()
            token, seconds = str(body["access_token"]), float(body.get("expires_in", 0) or 0)
            if not (token.isascii() and token.isprintable() and math.isfinite(seconds)):
                raise ValueError
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            detail = "the answer to the request for a token has none"
            raise SourceError(Incompleteness(code=Reason.MALFORMED_RESPONSE, detail=detail)) from None
        return token, seconds

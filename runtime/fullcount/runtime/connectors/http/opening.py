"""Making a connection pool from a configuration, and saying who speaks to whom."""

from __future__ import annotations

import ssl
from collections.abc import Mapping

import httpx

from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.connectors.http.auth import authorization
from fullcount.runtime.connectors.http.client import HttpClient
from fullcount.runtime.connectors.http.config import Auth, HttpConfig
from fullcount.runtime.connectors.http.lanes import Lanes
from fullcount.runtime.connectors.http.pace import Pace
from fullcount.runtime.connectors.http.speaking import fingerprint, spoken
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness


def open_client(config: HttpConfig, auth: Auth | None) -> HttpClient:
    """Return a client. What the environment says of proxies and credentials is left alone: the file says it all."""
    dialect = spoken(config)
    try:
        context = ssl.create_default_context(cafile=None if config.ca_file is None else str(config.ca_file))
    except (OSError, ssl.SSLError) as error:
        detail = f"the certificates in `{config.ca_file}` can't be read: {error}"
        raise SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE, detail=detail)) from None
    if config.proxy is None:
        client = httpx.AsyncClient(transport=Lanes(context), timeout=config.timeout, trust_env=False)
    else:
        client = httpx.AsyncClient(verify=context, proxy=config.proxy, timeout=config.timeout, trust_env=False)
    headers = {**dialect.headers, **{name.lower(): value for name, value in config.headers.items()}}
    pace = Pace(config.rate, config.reserve, dialect.remaining)
    return HttpClient(client, config.address, headers, authorization(auth), pace)


def identity(config: HttpConfig, auth: Auth | None) -> Mapping[str, str]:
    """Return who asks, and where; of a secret only where it stands."""
    return {
        "target_kind": "http",
        "target_address": config.address,
        "dialect": fingerprint(spoken(config)),
        "user": _who(auth),
    }


def _who(auth: Auth | None) -> str:
    if auth is None:
        return "nobody in particular"
    if auth.basic is not None:
        return auth.basic.user
    if auth.oauth2 is not None:
        return auth.oauth2.client_id
    secret = auth.bearer if auth.header is None else auth.header.value
    if secret is None:
        return "unknown"
    return f"the key in {secret.env or secret.file or secret.keyring or (secret.command or ['?'])[0]}"

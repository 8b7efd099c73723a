"""Making a connection pool from a configuration, and saying who speaks to whom."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import httpx

from fullcount.runtime.connectors.base import TARGET_OBJECTS, SourceError
from fullcount.runtime.connectors.http import paths
from fullcount.runtime.connectors.http.auth import authorization
from fullcount.runtime.connectors.http.client import Authorization, HttpClient
from fullcount.runtime.connectors.http.config import Auth, HttpConfig, HttpResource, places_of
from fullcount.runtime.connectors.http.exchange import Request
from fullcount.runtime.connectors.http.pace import Pace
from fullcount.runtime.connectors.http.partitions import is_split, partitions_of
from fullcount.runtime.connectors.http.speaking import fingerprint, spoken
from fullcount.runtime.connectors.http.wire import Wire
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness


@dataclass(frozen=True, slots=True)
class Connection:
    """One pool of connections with one identity and one pace: what all parts of a source share."""

    transport: httpx.AsyncBaseTransport
    authorization: Authorization | None
    pace: Pace

    @classmethod
    def open(cls, config: HttpConfig, auth: Auth | None) -> Self:
        """Make a pool; nothing is contacted yet. What the environment says of proxies and credentials is left alone."""
        return cls(_transport(config), authorization(auth), Pace(config.rate, config.reserve, spoken(config).remaining))

    def client(self, config: HttpConfig) -> HttpClient:
        """Return what speaks to the address of a configuration: of the source, or of one part of it."""
        headers = {**spoken(config).headers, **{name.lower(): value for name, value in config.headers.items()}}
        return HttpClient(self.transport, config.address, headers, self.authorization, self.pace, config.timeout)

    async def close(self) -> None:
        """Release the connections."""
        await self.transport.aclose()


def open_client(config: HttpConfig, auth: Auth | None) -> HttpClient:
    """Return a client of a source that is not split."""
    return Connection.open(config, auth).client(config)


def _transport(config: HttpConfig) -> httpx.AsyncBaseTransport:
    auth = [each.oauth2.token_url for each in (config.auth, config.act_auth) if each is not None and each.oauth2]
    addresses = [config.address, *auth, *([] if config.proxy is None else [config.proxy])]
    try:
        if config.ca_file is None and all(address.startswith("http:") for address in addresses):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # trusts nobody: reading all certificates takes its time
        else:
            context = ssl.create_default_context(cafile=None if config.ca_file is None else str(config.ca_file))
    except (OSError, ssl.SSLError) as error:
        detail = f"the certificates in `{config.ca_file}` can't be read: {error}"
        raise SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE, detail=detail)) from None
    return Wire(context, config.proxy)


def identity(config: HttpConfig, auth: Auth | None) -> Mapping[str, str]:
    """Return who asks, and where; of a secret only where it stands."""
    facts = {
        "target_kind": "http",
        "target_address": config.address,
        "dialect": fingerprint(spoken(config)),
        "user": _who(auth),
    }
    facts |= {
        f"{TARGET_OBJECTS}{name}": place
        for name, settings in config.resources.items()
        if (place := _objects_of(settings)) is not None
    }
    if is_split(config):
        split_by = {name: partitions_of(config, name) for name in config.resources}
        facts["target_split_by"] = "; ".join(f"{name}: {', '.join(by)}" for name, by in split_by.items() if by)
    return facts


def _objects_of(settings: HttpResource) -> str | None:
    """Return the path of one object, in words of its key's order; None where that alone does not tell which it is."""
    path = settings.read
    if path is None or settings.operation is not None or not set(settings.key) <= set(places_of(path)):
        return None
    for nth, name in enumerate(settings.key):
        path = path.replace(f"{{{name}}}", f"{{{nth}}}")
    return path


async def asked_identity(config: HttpConfig, auth: Auth | None, client: HttpClient) -> Mapping[str, str]:
    """Return who asks, and where, with the tenant that the API says the credential is of. Raises `SourceError`."""
    facts = identity(config, auth)
    if config.tenant is None:
        return facts
    reply = await client.send(Request.to(config.tenant.path))
    told = reply.status == 200 and reply.failed is None and reply.fault is None
    tenant = paths.first(reply.body, config.tenant.at) if told else None
    if isinstance(tenant, bool) or not isinstance(tenant, (str, int)) or tenant == "":
        said = f"no answer: {reply.failed}" if reply.failed is not None else f"status {reply.status}"
        detail = f"`{config.tenant.path}` does not say whose credential it is at `{config.tenant.at}` ({said})"
        raise SourceError(Incompleteness(code=Reason.AUTH_FAILED, detail=detail))
    return {**facts, "target_tenant": str(tenant)}


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

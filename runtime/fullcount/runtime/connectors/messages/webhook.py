"""A message to a chat channel, or to whatever else takes a POST of JSON, as an act.

    [sources.chat]
    connector = "webhook"
    url       = { env = "CHAT_HOOK" }

Operation: `post(text, about)`. The body is `{"id", "at", "text", "about"}`, and `id` is the same for the same act.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

from pydantic import BaseModel

from fullcount.compiler.catalog import Resource
from fullcount.runtime.connectors.base import ActCall, SourceActor, SourceReader
from fullcount.runtime.connectors.messages.source import Messenger, NothingToRead, messages, text
from fullcount.runtime.workspace.notifiers import HookConfig


class WebhookConnector:
    """Declares what can be posted; there is nothing to read."""

    @property
    def name(self) -> str:
        """See `Connector.name`."""
        return "webhook"

    @property
    def version(self) -> str:
        """See `Connector.version`."""
        return "1"

    @property
    def config_model(self) -> type[BaseModel]:
        """See `Connector.config_model`."""
        return HookConfig

    def resources(self, source: str, config: BaseModel) -> Mapping[str, Resource]:
        """See `Connector.resources`."""
        return messages(source, {"post": {"text": text(), "about": text(required=False)}})

    async def open_reader(self, source: str, config: BaseModel) -> SourceReader:
        """See `Connector.open_reader`; nothing is contacted."""
        return NothingToRead(_facts(_settings(config)))

    async def open_actor(self, source: str, config: BaseModel) -> SourceActor:
        """See `Connector.open_actor`; the address is contacted for each message."""
        settings = _settings(config)

        def send(call: ActCall, at: datetime) -> None:
            from fullcount.runtime.notify.sending import post

            post(settings, call.idempotency_key, {name: str(value) for name, value in call.arguments.items()}, at)

        return Messenger(_facts(settings), send)


def _settings(config: BaseModel) -> HookConfig:
    if not isinstance(config, HookConfig):
        msg = "the webhook connector was handed the configuration of another one"
        raise TypeError(msg)
    return config


def _facts(settings: HookConfig) -> dict[str, str]:
    """Return which channel it is; an address that is a secret by where it stands, and never by itself."""
    if isinstance(settings.url, str):
        parts = urlsplit(settings.url)
        return {"target.address": f"{parts.scheme}://{parts.netloc}{parts.path}"}
    said = settings.url.model_dump(mode="json", exclude_none=True)
    return {"target.address": ", ".join(f"{kind} {place}" for kind, place in said.items())}


CONNECTOR: Final = WebhookConnector()

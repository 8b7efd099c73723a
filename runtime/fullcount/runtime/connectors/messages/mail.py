"""Mail as an act: to the address that an object names, by a template of the workspace or in words of the workflow.

    [sources.mail]
    connector = "mail"
    host      = "smtp.example.org"
    from      = "fullcount@example.org"
    domains   = ["example.org"]          # mail goes nowhere else, whatever an object says

    [sources.mail.templates.volume-unused]
    subject = "Volume {about} is not used"
    text    = "It will be deleted in 14 days, unless it is attached again."

Operations: `send(to, template, about)` and `write(to, subject, text)`. An address comes from an object and may hold
anything: what is not one address, or is of another domain, is `failed` and nothing was sent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Final, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from fullcount.compiler.catalog import Resource
from fullcount.runtime.connectors.base import ActCall, SourceActor, SourceReader
from fullcount.runtime.connectors.messages.source import Messenger, NothingToRead, messages, text
from fullcount.runtime.text import plain
from fullcount.runtime.workspace.errors import SettingError
from fullcount.runtime.workspace.notifiers import ADDRESS, SmtpConfig

_PLACE: Final = re.compile(r"\{([^{}]*)\}")
_ABOUT: Final = "about"
_SUBJECT: Final = 200
_LONGEST: Final = 254


class Template(BaseModel):
    """A message of the workspace; `{about}` stands for what the workflow says that it is about."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    subject: Annotated[str, StringConstraints(min_length=1, max_length=_SUBJECT)]
    text: Annotated[str, StringConstraints(min_length=1)]

    @model_validator(mode="after")
    def _places(self) -> Self:
        unknown = next((name for name in _PLACE.findall(self.subject + self.text) if name != _ABOUT), None)
        if unknown is not None:
            msg = f"`{{{unknown}}}` stands for nothing"
            raise SettingError(msg, help="a template knows `{about}` alone")
        return self

    @property
    def needs_about(self) -> bool:
        """Whether it says what it is about."""
        return f"{{{_ABOUT}}}" in self.subject + self.text


class MailSource(SmtpConfig):
    """`[sources.NAME]` with `connector = "mail"`. `domains`: the only ones that mail may go to; None: any."""

    domains: Annotated[list[str], Field(min_length=1)] | None = None
    templates: dict[Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]+$")], Template] = Field(default={})


class MailConnector:
    """Declares what can be sent; there is nothing to read."""

    @property
    def name(self) -> str:
        """See `Connector.name`."""
        return "mail"

    @property
    def version(self) -> str:
        """See `Connector.version`."""
        return "1"

    @property
    def config_model(self) -> type[BaseModel]:
        """See `Connector.config_model`."""
        return MailSource

    def resources(self, source: str, config: BaseModel) -> Mapping[str, Resource]:
        """See `Connector.resources`. Without a template there is no `send`."""
        templates = _settings(config).templates
        operations = {"write": {"to": text(), "subject": text(), "text": text()}}
        if len(templates) > 0:
            needed = any(template.needs_about for template in templates.values())
            operations["send"] = {
                "to": text(),
                "template": text(among=sorted(templates)),
                _ABOUT: text(required=needed),
            }
        return messages(source, operations)

    async def open_reader(self, source: str, config: BaseModel) -> SourceReader:
        """See `Connector.open_reader`; nothing is contacted."""
        return NothingToRead(_facts(_settings(config)))

    async def open_actor(self, source: str, config: BaseModel) -> SourceActor:
        """See `Connector.open_actor`; the server is contacted for each message."""
        settings = _settings(config)

        def send(call: ActCall, at: datetime) -> None:
            _send(settings, call, at)

        return Messenger(_facts(settings), send)


def _settings(config: BaseModel) -> MailSource:
    if not isinstance(config, MailSource):
        msg = "the mail connector was handed the configuration of another one"
        raise TypeError(msg)
    return config


def _facts(settings: MailSource) -> dict[str, str]:
    return {"target.server": f"{settings.host}:{settings.port}", "target.from": settings.sender}


def _send(settings: MailSource, call: ActCall, at: datetime) -> None:
    from fullcount.runtime.notify.sending import NotSent, mail

    given = {name: str(value) for name, value in call.arguments.items()}
    to = given["to"]
    if len(to) > _LONGEST or re.fullmatch(ADDRESS, to) is None:
        raise NotSent("what the object names is not one mail address")
    if settings.domains is not None and to.rpartition("@")[2].lower() not in {
        each.lower() for each in settings.domains
    }:
        raise NotSent("the address is of a domain that `domains` does not name")
    if call.operation == "send":
        template, about = settings.templates[given["template"]], plain(given.get(_ABOUT, ""), _SUBJECT)
        subject, words = (each.replace(f"{{{_ABOUT}}}", about) for each in (template.subject, template.text))
    else:
        subject, words = given["subject"], given["text"]
    mail(settings, [to], call.idempotency_key, plain(subject, _SUBJECT), words, at)


CONNECTOR: Final = MailConnector()

"""Mail and webhooks as acts, over real sockets: what was not taken was not done, and nothing goes astray."""

from __future__ import annotations

import json
from email import message_from_string

import pytest
from pydantic import ValidationError
from tests.support.listening import mail_server, web_server

from fullcount.compiler.catalog import Idempotency
from fullcount.runtime.connectors.base import ActCall, Outcome, SourceError
from fullcount.runtime.connectors.messages import mail, webhook
from fullcount.runtime.connectors.registry import connector_named

TEMPLATES = {"volume-unused": {"subject": "Volume {about} is not used", "text": "{about} goes in 14 days."}}


def mail_source(port=25, **changes):
    values = {"host": "127.0.0.1", "port": port, "security": "none", "from": "fullcount@example.org", "timeout": 5}
    return mail.MailSource.model_validate({**values, "templates": TEMPLATES, "domains": ["example.org"], **changes})


async def perform(connector, config, operation, **arguments):
    """Do one act, as the engine does."""
    resource = connector.resources("to", config)["messages"]
    assert set(arguments) <= set(resource.operations[operation].parameters)
    actor = await connector.open_actor("to", config)
    call = ActCall(resource, operation, (), arguments, {}, "0a1b")
    try:
        assert await actor.took_effect(call) is None
        return await actor.perform(call)
    finally:
        await actor.close()


def send(config, to, about="vol-1"):
    return perform(mail.CONNECTOR, config, "send", to=to, template="volume-unused", about=about)


@pytest.mark.requirement("R34")
@pytest.mark.parametrize(
    ("command", "answer", "outcome"),
    [
        ("RCPT", "550 nobody here", Outcome.FAILED),
        ("after data", "554 no", Outcome.FAILED),
        ("EHLO", None, Outcome.FAILED),
        ("after data", None, Outcome.UNKNOWN),
    ],
)
async def test_a_mail_that_was_not_taken_is_not_done(command, answer, outcome):
    """What the server refused is failed, and what nobody knows is unknown: neither is a notice that was given."""
    with mail_server() as server:
        server.script[command] = answer
        result = await send(mail_source(server.port), "ana@example.org")
    assert result.outcome is outcome
    assert "ana@" not in result.detail


@pytest.mark.parametrize(
    "to",
    ["", "ana", "ana@example.org, eve@evil.example", "Ana <ana@example.org>", "ana@example.org\nBcc: eve@evil.example",
     "eve@evil.example", "eve@example.org.evil.example", "a" * 250 + "@example.org"],
)  # fmt: skip
async def test_mail_goes_to_one_address_of_the_domains_that_are_named(to):
    """Addresses come from objects, in which anybody may have written anything."""
    with mail_server() as server:
        result = await send(mail_source(server.port), to)
        assert (result.outcome, server.commands) == (Outcome.FAILED, [])


async def test_a_mail_says_what_it_is_about():
    """By a template of the workspace, or in the words of the workflow; one line stays one line."""
    with mail_server() as server:
        config = mail_source(server.port)
        assert (await send(config, "ana@example.org", "vol-1\nBcc: eve")).outcome is Outcome.DONE
        own = {"to": "Bo@EXAMPLE.org", "subject": "Gone", "text": "vol-2 is gone."}
        assert (await perform(mail.CONNECTOR, config, "write", **own)).outcome is Outcome.DONE
    first, second = (message_from_string(text) for text in server.messages)
    assert first["Subject"] == "Volume vol-1\\nBcc: eve is not used"
    assert first["Message-ID"] == "<0a1b@example.org>"
    assert server.recipients == ["ana@example.org", "Bo@EXAMPLE.org"]
    assert second.get_payload() == "vol-2 is gone."


@pytest.mark.parametrize(("status", "outcome"), [(204, Outcome.DONE), (400, Outcome.FAILED), (502, Outcome.UNKNOWN)])
async def test_a_post_is_done_when_it_was_taken(status, outcome):
    """Its body says which act it is of."""
    with web_server() as server:
        server.answers.append(status)
        config = webhook.HookConfig(url=server.url)
        result = await perform(webhook.CONNECTOR, config, "post", text="released", about="eip-1")
        assert result.outcome is outcome
        ((headers, body),) = server.requests
    assert {name: value for name, value in json.loads(body).items() if name != "at"} == {
        "id": "0a1b", "text": "released", "about": "eip-1",
    }  # fmt: skip
    assert headers["Idempotency-Key"] == "0a1b"


@pytest.mark.parametrize("name", ["mail", "webhook"])
async def test_nothing_can_be_read_where_messages_are_sent(name):
    """It says which system it is, and shows no secret by that."""
    connector = connector_named(name)
    config = mail_source() if name == "mail" else webhook.HookConfig.model_validate({"url": {"env": "CHAT_HOOK"}})
    reader = await connector.open_reader("to", config)
    actor = await connector.open_actor("to", config)
    facts = await reader.identity()
    assert facts == await actor.identity()
    assert all(fact.startswith("target.") for fact in facts)
    resource = connector.resources("to", config)["messages"]
    with pytest.raises(SourceError):
        await reader.count(resource)
    assert {each.idempotency for each in resource.operations.values()} == {Idempotency.NONE}


def test_a_template_says_only_what_it_can_know():
    """A place that nothing fills is found when the workspace is read; without templates there is no `send`."""
    with pytest.raises(ValidationError, match="stands for nothing"):
        mail_source(templates={"x": {"subject": "{volume}", "text": "x"}})
    operations = mail.CONNECTOR.resources("to", mail_source(templates={}))["messages"].operations
    assert list(operations) == ["write"]
    plain = mail_source(templates={"x": {"subject": "x", "text": "x"}})
    parameters = mail.CONNECTOR.resources("to", plain)["messages"].operations["send"].parameters
    assert (parameters["template"].among, parameters["about"].required) == (("x",), False)

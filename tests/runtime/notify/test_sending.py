"""Mail and webhooks over real sockets: what surely was not taken is told from what may have been."""

from __future__ import annotations

import hashlib
import hmac
import json
from datetime import UTC, datetime
from email import message_from_string

import pytest
from tests.support.listening import mail_server, web_server

from fullcount.runtime.events import notice_of
from fullcount.runtime.notify.sending import NotSent, send
from fullcount.runtime.workspace.errors import WorkspaceError
from fullcount.runtime.workspace.notifiers import MailConfig, WebhookConfig
from fullcount.runtime.workspace.secrets import Secret

AT = datetime(2026, 11, 30, 2, 0, tzinfo=UTC)
ID = "01JDZ8M3Q5W7X9Y1Z3A5B7C9D1"
NOTICE = notice_of(
    "waiting",
    "ops-mail",
    kind="plan",
    workflow="retire",
    proposal="disable",
    run_id=ID,
    exit_code=5,
    what="37 of 1,204 objects",
    plan_id=ID,
    digest="sha256:ab",
)


def tell(config):
    send(config, ID, NOTICE.title, NOTICE.body, AT)


def mail_to(mail, **values):
    return MailConfig(
        way="mail",
        host="127.0.0.1",
        port=mail.port,
        **{"security": "none", "sender": "fullcount@example.org", "to": ["ops@example.org"], "timeout": 5} | values,
    )


# -- mail -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "answer", "maybe"),
    [
        ("MAIL", "451 later", False),
        ("RCPT", "550 nobody here", False),
        ("DATA", "554 no", False),
        ("after data", "554 no", False),
        ("after data", None, True),
        ("EHLO", None, False),
    ],
)
def test_mail_that_is_refused_is_told_from_mail_whose_answer_was_lost(command, answer, maybe):
    """Only what surely was not taken may be sent again."""
    with mail_server() as mail:
        mail.script[command] = answer
        if command == "EHLO":
            mail.script["HELO"] = answer
        with pytest.raises(NotSent) as failed:
            tell(mail_to(mail))
        assert failed.value.maybe is maybe


def test_mail_is_never_sent_in_clear_where_encryption_was_asked_for():
    """A server that offers no encryption gets no mail, and no password."""
    with mail_server() as mail:
        config = mail_to(mail, security="starttls", user="x", password=Secret(env="PATH"))
        with pytest.raises(NotSent, match="can't be spoken to"):
            tell(config)
        assert not any(line.startswith(("AUTH", "MAIL")) for line in mail.commands)


def test_mail_to_nobody_at_home_is_not_sent():
    """A refused connection, and a password that is not there."""
    with mail_server() as mail:
        config = mail_to(mail)
    with pytest.raises(NotSent) as failed:
        tell(config)
    assert not failed.value.maybe
    with pytest.raises(WorkspaceError, match="NO_SUCH_SECRET"):
        tell(mail_to(mail, user="x", password=Secret(env="NO_SUCH_SECRET")))


def test_mail_says_what_waits_and_what_to_type():
    """To everyone who is named, with an id that stays the same if it is ever seen twice."""
    with mail_server() as mail:
        tell(mail_to(mail, to=["ops@example.org", "ana@example.org"]))
        (text,) = mail.messages
        assert mail.recipients == ["ops@example.org", "ana@example.org"]
    message = message_from_string(text)
    assert message["Subject"] == "NEEDS APPROVAL retire.disable: 37 of 1,204 objects"
    assert message["Message-ID"] == f"<{ID.lower()}@example.org>"
    assert f"fullcount show {ID}" in message.get_payload()


def test_foreign_text_can_not_add_headers_or_lines():
    """A workflow's or a source's words are one harmless line."""
    notice = notice_of(
        "refused", "x", kind="plan", workflow="w", proposal="p", run_id=ID, exit_code=3,
        what="a\r\nBcc: all@example.org", lines=("x\r\n.\r\nQUIT",),
    )  # fmt: skip
    with mail_server() as mail:
        send(mail_to(mail), ID, notice.title, notice.body, AT)
        message = message_from_string(mail.messages[0])
    assert message["Bcc"] is None
    assert len(mail.messages) == 1


# -- webhooks ---------------------------------------------------------------------------------------------------------


def hook(web, **values):
    return WebhookConfig(way="webhook", url=web.url, timeout=5, **values)


@pytest.mark.parametrize(
    ("answer", "maybe"),
    [(400, False), (404, False), (500, False), (503, False), (302, False), (502, True), (None, True)],
)
def test_a_webhook_that_refuses_is_told_from_one_whose_answer_was_lost(answer, maybe):
    """And a redirection is never followed."""
    with web_server() as web:
        web.answers.append(answer)
        with pytest.raises(NotSent) as failed:
            tell(hook(web))
        assert failed.value.maybe is maybe
        assert len(web.requests) == 1
        assert "127.0.0.1" not in failed.value.why


def test_a_webhook_that_nobody_listens_to_may_be_tried_again():
    """The connection was refused, so nothing was taken."""
    with web_server() as web:
        config = hook(web)
    with pytest.raises(NotSent) as failed:
        tell(config)
    assert not failed.value.maybe


def test_a_webhook_gets_signed_json_with_a_key_of_its_own(monkeypatch):
    """Who knows the secret can tell that it comes from here, and whether it came before."""
    monkeypatch.setenv("HOOK_SECRET", "hunter2")
    with web_server() as web:
        tell(hook(web, secret=Secret(env="HOOK_SECRET")))
        ((headers, body),) = web.requests
    said = json.loads(body)
    assert (said["id"], said["event"], said["plan_id"], said["exit"]) == (ID, "waiting", ID, 5)
    assert "text" in said
    assert headers["Idempotency-Key"] == ID
    wanted = hmac.new(b"hunter2", body, hashlib.sha256).hexdigest()
    assert headers["X-Fullcount-Signature"] == f"sha256={wanted}"

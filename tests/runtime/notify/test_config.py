"""`[notify.NAME]`: refused where a secret or a notice would go over a network in clear."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from fullcount.runtime.workspace import Workspace
from fullcount.runtime.workspace.errors import WorkspaceError
from fullcount.runtime.workspace.notifiers import MailConfig, NotifierConfig, WebhookConfig

MAIL = {"way": "mail", "host": "smtp.example.org", "from": "fullcount@example.org", "to": ["ops@example.org"]}
HOOK = {"way": "webhook", "url": "https://chat.example.org/hooks/1"}


def config(**values):
    return TypeAdapter(NotifierConfig).validate_python(values)


@pytest.mark.requirement("R40")
@pytest.mark.parametrize(
    ("values", "said"),
    [
        (MAIL | {"security": "none"}, "in clear"),
        (MAIL | {"user": "fullcount"}, "go together"),
        (MAIL | {"user": "x", "password": "hunter2"}, ""),
        (MAIL | {"to": []}, ""),
        (MAIL | {"to": ["a@b.c\r\nBcc: all@example.org"]}, ""),
        (MAIL | {"from": "Ops <ops@example.org>"}, ""),
        (MAIL | {"timeout": 0}, ""),
        (MAIL | {"subject": "hello"}, ""),
        (HOOK | {"url": "http://chat.example.org/hooks/1"}, "not encrypted"),
        (HOOK | {"url": "ftp://chat.example.org"}, "https://"),
        (HOOK | {"url": "file:///etc/passwd"}, "https://"),
        (HOOK | {"url": "https://me:hunter2@chat.example.org"}, "user or password"),
        (HOOK | {"secret": "hunter2"}, ""),
        ({"way": "pigeon"}, ""),
        ({}, ""),
    ],
)
def test_a_way_that_can_not_be_taken_safely_is_refused(values, said):
    """No clear text but on this host, no secret in the file, no header that an address brings along."""
    with pytest.raises(ValidationError) as refused:
        config(**values)
    assert said in str(refused.value)


def test_ways_are_read_with_secrets_by_reference(monkeypatch):
    """A secret address is checked when it is known."""
    mail = config(**MAIL, user="fullcount", password={"env": "SMTP_PASSWORD"})
    assert isinstance(mail, MailConfig)
    assert (mail.port, mail.security) == (587, "starttls")
    hook = config(way="webhook", url={"env": "HOOK"})
    assert isinstance(hook, WebhookConfig)
    monkeypatch.setenv("HOOK", "http://chat.example.org/hunter2")
    with pytest.raises(WorkspaceError, match="not encrypted") as refused:
        hook.address()
    assert "hunter2" not in str(refused.value)
    monkeypatch.setenv("HOOK", "https://chat.example.org/hunter2")
    assert hook.address() == "https://chat.example.org/hunter2"
    assert "hunter2" not in repr(hook)


def test_a_workspace_says_what_is_wrong_with_its_notifiers(tmp_path):
    """By the place in the file, never by the value."""
    file = tmp_path / "fullcount.toml"
    file.write_text('[workspace]\nname = "w"\n[notify.chat]\nway = "webhook"\nurl = "http://x.example/hunter2"\n')
    with pytest.raises(WorkspaceError) as refused:
        Workspace.load(tmp_path)
    assert refused.value.code == "FC607"
    assert "notify.chat" in refused.value.message
    assert "hunter2" not in str(refused.value)
    file.write_text('[workspace]\nname = "w"\n[notify.chat]\nway = "webhook"\nurl = "https://x.example/1"\n')
    workspace = Workspace.load(tmp_path)
    assert list(workspace.notifiers) == ["chat"]
    assert list(workspace.catalog().notifiers()) == ["chat"]

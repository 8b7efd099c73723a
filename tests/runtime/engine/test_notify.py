"""People are told of the end of a run, once, and nothing that goes wrong with that changes the run."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from tests.support.listening import mail_server, web_server
from tests.support.workspaces import ORPHANS

MAIL = """
[notify.ops-mail]
way = "mail"
host = "127.0.0.1"
port = {port}
security = "none"
from = "fullcount@example.org"
to = ["ops@example.org"]
"""
CHAT = """
[notify.chat]
way = "webhook"
url = "{url}"
"""
TELL = 'notify "ops-mail" on waiting, refused\n  notify "chat" on waiting, refused, done, stopped'


@pytest.fixture
def mail():
    with mail_server() as server:
        yield server


@pytest.fixture
def web():
    with web_server() as server:
        yield server


@pytest.fixture
def telling(bench, mail, web):
    """The workspace with a workflow that tells people by both ways."""
    file = bench.root / "fullcount.toml"
    file.write_text(file.read_text() + MAIL.format(port=mail.port) + CHAT.format(url=web.url))
    bench.rule(schedule=TELL)
    return bench


def told(web):
    return [json.loads(body) for _, body in web.requests]


def notices(ended):
    return {each["target"]: each["state"] for each in ended["notices"]}


def test_a_notifier_that_is_not_configured_is_refused_by_check(bench):
    """At the place where it is named."""
    path = bench.rule(schedule='notify "nobody" on waiting')
    assert "FC130" in bench.run("check", path).said


@pytest.mark.requirement("R1")
def test_a_notice_that_can_not_be_sent_changes_nothing_of_the_run_and_is_shown(telling, mail, web):
    """Exit code, plan and record are as ever; what was not told, and why, stands on the screen and in `runs`."""
    mail.script["MAIL"] = "451 later"
    web.answers.append(None)
    planned = telling.plan()
    assert planned["state"] == "waiting"
    assert notices(planned) == {"ops-mail": "pending", "chat": "unknown"}
    telling.approve(planned)
    ended = telling.run("apply", planned["plan_id"])
    assert ended.exit == 0
    assert telling.locked() == set(ORPHANS)
    shown = telling.run("runs")
    assert "ops-mail of `waiting`: not sent yet: the mail server refused it: 451" in shown.words
    assert "it is not known whether it was taken; not sent again" in shown.words
    assert telling.run("verify").exit == 0


def test_a_workspace_that_lost_a_notifier_says_so(telling):
    """Between the plan and the act somebody may take it out."""
    file = telling.root / "fullcount.toml"
    planned = telling.approved()
    file.write_text(file.read_text().replace("[notify.chat]", "[notify.talk]"))
    ended = telling.run("apply", planned["plan_id"])
    assert ended.exit == 0
    assert "NOT TOLD chat of `done`: not sent yet: fullcount.toml has no notifier `chat`" in ended.words


@pytest.mark.requirement("R34")
def test_whoever_is_named_is_told_of_what_they_are_named_for_once(telling, mail, web):
    """Waiting, done, refused; and a run that is looked at again tells nothing anew."""
    planned = telling.plan()
    assert notices(planned) == {"ops-mail": "delivered", "chat": "delivered"}
    assert [each["event"] for each in told(web)] == ["waiting"]
    assert len(mail.messages) == 1
    assert "NEEDS APPROVAL disable_orphans.disable: 3 of 12 objects" in mail.messages[0]
    telling.approve(planned)
    assert telling.run("apply", planned["plan_id"]).exit == 0
    assert [each["event"] for each in told(web)] == ["waiting", "done"]
    assert "3 done" in told(web)[1]["title"]
    assert telling.run("apply", planned["plan_id"]).exit == 0
    assert telling.run("show", planned["plan_id"]).exit == 0
    assert (len(web.requests), len(mail.messages)) == (2, 1)
    text = telling.run("plan", "workflows/disable_orphans.fcw")
    assert text.exit == 0  # nothing is left to do, and nobody waits for that
    assert "\ntold" not in text.out
    assert telling.run("verify").exit == 0


@pytest.mark.requirement("R1")
def test_a_refusal_is_told_with_its_codes_and_no_object_is_ever_named(telling, mail, web):
    """Counts, codes and names of inventories leave the workspace; keys and values do not."""
    file = telling.root / "fullcount.toml"
    file.write_text(file.read_text().replace('url = "sqlite:///hr.db"', 'url = "sqlite:///hr.db"\nmax_rows = 2', 1))
    ended = telling.run("plan", "workflows/disable_orphans.fcw")
    assert ended.exit == 3
    assert "told" in ended.words
    (notice,) = told(web)
    assert notice["event"] == "refused"
    assert "CLIENT_LIMIT_REACHED people" in notice["text"]
    everything = "\n".join((*mail.messages, *(body.decode() for _, body in web.requests)))
    assert not any(key in everything for key in (*ORPHANS, "p1", "p6"))


def test_what_was_not_sent_is_sent_by_a_later_run_when_its_time_has_come(telling, mail, web):
    """Whichever run that is: the store holds it ready."""
    web.answers.append(503)
    planned = telling.plan()
    assert notices(planned)["chat"] == "pending"
    assert web.requests[0][0]["Idempotency-Key"] == planned["notices"][1]["notice_id"]
    soon = datetime.now(UTC) + timedelta(minutes=2)
    with telling.engine(clock=lambda: soon) as engine:
        import asyncio

        asyncio.run(engine.tell())
        (chat,) = [n for n in engine.store.notices(planned["run_id"]) if n.target == "chat"]
    assert (chat.state, chat.attempts) == ("delivered", 2)
    assert len({headers["Idempotency-Key"] for headers, _ in web.requests}) == 1


def test_an_act_that_stops_is_told_by_its_code_alone(telling, web):
    """Why it stopped may name an object; who wants to know looks at the run."""
    planned = telling.approved()
    telling.sql(
        "directory", "CREATE TRIGGER no BEFORE UPDATE ON accounts BEGIN SELECT RAISE(ABORT, 'secret of a01'); END"
    )
    assert telling.run("apply", planned["plan_id"]).exit != 0
    notice = told(web)[-1]
    assert notice["event"] == "stopped"
    assert "3 refused" in notice["title"]
    assert "secret" not in json.dumps(notice)
    assert "a01" not in re.findall(r"\w+", json.dumps(notice))

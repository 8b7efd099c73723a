"""One table under two names, of one source or of two: an object in it is one object, whichever name a plan has."""

from __future__ import annotations

import re

import pytest
from tests.support.reading_http import config as http_config

from fullcount.runtime.connectors.base import TARGET_OBJECTS, SourceError
from fullcount.runtime.connectors.http.opening import identity
from fullcount.runtime.connectors.sql.actor import SqlActor
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness

TABLE = re.compile(r"\[sources\.directory\.resources\.accounts\].*?\n\n", re.DOTALL)
SOURCE = '[sources.mirror]\nconnector = "sql"\nurl = "sqlite:///directory.db"\ntimezone = "UTC"\n\n'


class Api:
    """As much of a server as its address."""

    url = "http://127.0.0.1:9"


async def _no_answer(*_):
    raise SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE))


def again(bench, source: str, table: str = "accounts"):
    """Name the table once more in the settings, and return a workflow that locks accounts by that name."""
    file = bench.root / "fullcount.toml"
    text = file.read_text("utf-8")
    (first,) = TABLE.findall(text)
    second = first.replace("directory.resources.accounts", f"{source}.resources.logins")
    second = second.replace('table = "accounts"', f'table = "{table}"')
    file.write_text(text + "\n" + (SOURCE if source == "mirror" else "") + second, encoding="utf-8")
    path = bench.root / bench.rule("lock_logins", file="logins.fcw")
    calls = path.read_text("utf-8").replace("directory.accounts", f"{source}.logins")
    path.write_text(calls.replace("directory.update", f"{source}.logins.update"), encoding="utf-8")
    locks = bench.root / bench.rule()
    text = locks.read_text("utf-8").replace("directory.update", "directory.accounts.update")
    locks.write_text(text, encoding="utf-8")
    return path


def planned(bench, *arguments, **more):
    """Return a plan, approved."""
    found = bench.plan(*arguments, **more)
    bench.approve(found)
    return found["plan_id"]


@pytest.mark.requirement("R29", "R32")
@pytest.mark.parametrize("source", ["directory", "mirror"])
def test_a_table_with_two_names_has_each_object_once(bench, monkeypatch, source):
    """What one plan did to it without an answer stands in the way of the other, and is named there."""
    path = again(bench, source)
    first = planned(bench)
    with monkeypatch.context() as patch:
        patch.setattr(SqlActor, "perform", _no_answer)
        patch.setattr(SqlActor, "took_effect", _no_answer)
        assert bench.run("apply", first).exit == 1
    second = planned(bench, file=path)
    report = bench.run("apply", second, "--json").json["report"]
    assert {row["reason"] for row in report["rows"]} == {"FC738"}
    assert first in report["rows"][0]["detail"]
    assert bench.locked() == set()


def test_two_tables_have_no_object_in_common(bench, monkeypatch):
    """Equal keys in another table are of other objects."""
    bench.sql("directory", "CREATE TABLE logins AS SELECT * FROM accounts")
    bench.sql("directory", "CREATE UNIQUE INDEX one ON logins (id)")
    path = again(bench, "directory", "logins")
    first = planned(bench)
    with monkeypatch.context() as patch:
        patch.setattr(SqlActor, "perform", _no_answer)
        patch.setattr(SqlActor, "took_effect", _no_answer)
        assert bench.run("apply", first).exit == 1
    assert bench.run("apply", planned(bench, file=path)).exit == 0
    assert bench.sql("directory", "SELECT count(*) FROM logins WHERE locked") == [(3,)]


def test_a_resource_that_is_configured_meanwhile_is_no_other_system_and_another_table_is(bench):
    """A plan is applied where its own objects are, and nowhere else."""
    first = planned(bench)
    assert bench.run("apply", first).exit == 0
    again(bench, "directory")
    assert bench.run("undo", first).exit == 5
    bench.sql("directory", "CREATE TABLE others AS SELECT * FROM accounts")
    bench.configure(table="others")
    ended = bench.run("undo", first)
    assert (ended.exit, "FC758" in ended.said) == (4, True), ended.said


def test_an_object_of_an_api_is_told_by_its_own_path():
    """Whatever the resource and its key field are called; without one nothing is acted on."""
    fields = {"id": "text", "name": "text"}
    settings = {"read": "/cursor/{id}", "fields": fields}
    told = []
    for changes in ({}, {"key": ["name"], "read": "/cursor/{name}"}, {"read": "/one?n={id}"}, {"read": None}):
        facts = identity(http_config(Api, "cursor", {**settings, **changes}), None)
        told.append(facts.get(f"{TARGET_OBJECTS}things"))
    assert told == ["/cursor/{0}", "/cursor/{0}", "/one?n={0}", None]

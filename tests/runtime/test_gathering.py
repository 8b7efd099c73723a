"""Rechecks of the same moment are put as one question, and nothing is concluded from it but what was found."""

from __future__ import annotations

import asyncio

import pytest
from pydantic import ValidationError
from tests.runtime.connectors.test_http_act import RESOURCE
from tests.support.http_api import Answer, Api
from tests.support.reading_http import config
from tests.support.workspaces import ORPHANS, Bench

from fullcount.compiler.values import present
from fullcount.runtime.connectors.base import Existence, Reading, SourceError
from fullcount.runtime.connectors.http import CONNECTOR
from fullcount.runtime.connectors.sql import reader as sql_reader
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness
from fullcount.runtime.gathering import Gathering

pytestmark = pytest.mark.requirement("R19", "R22")


class Resource:
    """As much of a resource as the gathering looks at."""

    name = "things"


class Many:
    """A source with objects by key. `silent`: what a list of keys leaves out; `down`: lists are not answered."""

    def __init__(self, *keys, most=100, silent=(), down=False):
        self.objects, self.most, self.silent, self.down = set(keys), most, set(silent), down
        self.lists, self.singles = [], []

    def most_keys(self, resource):
        return self.most

    async def read_many(self, resource, keys, fields):
        self.lists.append([key for (key,) in keys])
        await asyncio.sleep(0)
        if self.down:
            raise SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE))
        return {key: {"id": present(key[0])} for key in keys if key[0] in self.objects - self.silent}

    async def read(self, resource, key, fields):
        self.singles.append(key[0])
        there = key[0] in self.objects
        return Reading(Existence.FOUND, {"id": present(key[0])}) if there else Reading(Existence.GONE)


async def reads(source, *keys):
    gathering = Gathering(source)
    found = await asyncio.gather(*(gathering.read(Resource(), (key,), ["id"]) for key in keys))
    return [each.existence.value for each in found]


async def test_an_object_that_a_list_of_keys_leaves_out_is_never_gone_for_that():
    """It is read by itself: there after all, or gone by a read of its own."""
    source = Many("a", "b", "c", silent="b")
    assert await reads(source, "a", "b", "c", "x") == ["found", "found", "found", "gone"]
    assert (source.lists, source.singles) == ([["a", "b", "c", "x"]], ["b", "x"])


async def test_when_a_list_is_not_answered_each_is_read_by_itself():
    """What is in the way of one is said of that one."""
    source = Many("a", "b", down=True)
    assert await reads(source, "a", "b") == ["found", "found"]
    assert source.singles == ["a", "b"]


async def test_no_list_has_more_keys_than_the_source_takes_and_a_single_one_is_no_list():
    """The limit is the source's own."""
    source = Many(*"abcde", most=2)
    assert await reads(source, *"abcde") == ["found"] * 5
    assert (source.lists, source.singles) == ([["a", "b"], ["c", "d"]], ["e"])
    source = Many("a", most=1)
    await reads(source, "a", "a")
    assert (source.lists, source.singles) == ([], ["a", "a"])


async def test_who_gives_up_waiting_takes_the_answer_from_nobody():
    """Each waits for itself."""
    source = Many("a", "b")
    gathering = Gathering(source)
    first, second = (asyncio.ensure_future(gathering.read(Resource(), (key,), ["id"])) for key in "ab")
    await asyncio.sleep(0)
    first.cancel()
    assert (await second).existence is Existence.FOUND
    assert first.cancelled() or first.exception() is None


def test_rows_of_a_database_are_rechecked_together_and_acted_on_one_by_one(tmp_path, monkeypatch):
    """One statement reads them; the one that changed in between is left, and the one that is gone is told."""
    bench = Bench(tmp_path / "bench")
    asked = []
    many = sql_reader.SqlReader.read_many

    async def noted(self, resource, keys, fields):
        asked.append(keys)
        return await many(self, resource, keys, fields)

    monkeypatch.setattr(sql_reader.SqlReader, "read_many", noted)
    bench.rule(act="act disable with directory.update(id: a.id, locked: true) { concurrency 8 }")
    planned = bench.approved()
    bench.sql("directory", "DELETE FROM accounts WHERE id = 'a02'")
    bench.sql("directory", "UPDATE accounts SET last_login = '2999-01-01T00:00:00+00:00' WHERE id = 'a03'")
    applied = bench.run("apply", planned["plan_id"], "--json").json["report"]
    assert {row["key"][0]: row["outcome"] for row in applied["rows"]} == {
        "a01": "done", "a02": "already_gone", "a03": "changed",
    }  # fmt: skip
    assert [sorted(key for (key,) in keys) for keys in asked] == [list(ORPHANS)]
    assert bench.locked() == {"a01"}


class Listing(Api):
    """An API that has a list of the objects with given ids."""

    def _matching(self, asked):
        ids = asked.query.get("ids")
        return [each for each in super()._matching(asked) if ids is None or each["id"] in ids.split(",")]


async def test_objects_of_an_api_are_read_by_one_request_within_its_limit():
    """Each is what a read of its own says; an id with the separator in it is read by itself, and one that is gone."""
    things = [{"id": f"t{n}", "owner": "p", "n": n} for n in range(4)] + [{"id": "a,b", "owner": "p", "n": 9}]
    with Listing(things, page=2) as api:
        settings = config(api, "cursor", {**RESOURCE, "read_many": {"path": "/cursor?ids={id}", "most": 50}})
        resource, fields = CONNECTOR.resources("api", settings)["things"], ("id", "owner", "n")
        reader = await CONNECTOR.open_reader("api", settings)
        try:
            gathering = Gathering(reader)
            keys = ["t0", "t1", "t2", "a,b", "zz"]
            found = await asyncio.gather(*(gathering.read(resource, (key,), fields) for key in keys))
            asked = [(each.path, each.query.get("ids")) for each in api.requests]
            alone = [await reader.read(resource, (key,), fields) for key in keys]
            versions = await asyncio.gather(*(gathering.read(resource, (key,), ("id", "etag")) for key in keys[:2]))
        finally:
            await reader.close()
    assert sorted(asked, key=str) == [  # those that are read by themselves are read at once, in no order
        ("/cursor", "t0,t1,t2,zz"),
        ("/cursor", "t0,t1,t2,zz"),
        ("/cursor/a%2Cb", None),
        ("/cursor/zz", None),
    ]
    assert found == alone
    assert [each.cells["etag"].value for each in versions] == ['"1"', '"1"'], "a list has no header of one object"


@pytest.mark.parametrize("answer", [Answer(500), Answer(200, {"items": [], "next_cursor": None, "total": 9})])
async def test_an_answer_that_is_not_whole_says_nothing_of_any_of_them(answer):
    """Each is read by itself."""
    with Listing([{"id": f"t{n}", "owner": "p", "n": n} for n in range(2)]) as api:
        api.faults.append(lambda asked: answer if "ids" in asked.query else None)
        settings = config(api, "cursor", {**RESOURCE, "read_many": {"path": "/cursor?ids={id}", "most": 50}})
        resource = CONNECTOR.resources("api", settings)["things"]
        reader = await CONNECTOR.open_reader("api", settings)
        try:
            gathering = Gathering(reader)
            found = await asyncio.gather(*(gathering.read(resource, (key,), ["id", "n"]) for key in ("t0", "t1")))
        finally:
            await reader.close()
    assert [each.cells["n"].value for each in found] == [0, 1]
    alone = sorted(each.path for each in api.requests if "ids" not in each.query)
    assert alone == ["/cursor/t0", "/cursor/t1"], "they are read at once, in no order"


def test_a_list_of_keys_needs_a_place_for_them_and_a_key_of_one_field():
    """Otherwise the request would ask for everything, or for another thing."""
    with Listing([]) as api:
        for changes in (
            {"read_many": {"path": "/cursor", "most": 50}},
            {"read_many": {"path": "/cursor?ids={id}", "most": 1}},
            {"read_many": {"path": "/cursor?ids={id}", "most": 50}, "key": ["id", "n"]},
        ):
            with pytest.raises(ValidationError):
                config(api, "cursor", {**RESOURCE, **changes})

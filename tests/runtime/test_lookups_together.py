"""Look-ups of the same moment are put as one question, and each answer is the one that its own look-up would give."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.runtime.connectors.test_http_act import RESOURCE as HTTP_RESOURCE
from tests.runtime.test_gathering import Listing, Resource
from tests.support.http_api import Answer
from tests.support.profiles import examples
from tests.support.reading_http import config
from tests.support.sql import File, Source, sqlite_settings
from tests.support.workspaces import Bench

from fullcount.compiler.values import present
from fullcount.runtime.connectors.base import Matches, SourceError
from fullcount.runtime.connectors.http import CONNECTOR
from fullcount.runtime.connectors.sql import reader as sql_reader
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness
from fullcount.runtime.gathering import Gathering

pytestmark = pytest.mark.requirement("R19", "R22")


def drawn(matches: Matches) -> tuple:
    """Return an answer so that two can be compared: rows come in no order."""
    rows = Counter(tuple(sorted((name, str(cell)) for name, cell in row.items())) for row in matches.rows)
    return rows, matches.complete, matches.reasons


# -- what is put together ---------------------------------------------------------------------------------------------


class Many:
    """A source that is looked up by value. `silent`: what a list of values says nothing of; `down`: lists fail."""

    def __init__(self, *values, most=100, silent=(), down=False):
        self.values, self.most, self.silent, self.down = set(values), most, set(silent), down
        self.lists, self.singles = [], []

    def most_values(self, resource, field):
        return self.most

    async def lookup_many(self, resource, field, values, fields):
        self.lists.append(list(values))
        if self.down:
            raise SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE))
        return {value: self._found(value) for value in values if value not in self.silent}

    async def lookup(self, resource, field, value, fields):
        self.singles.append(value)
        return self._found(value)

    def _found(self, value):
        return Matches(({"id": present(value)},) if value in self.values else (), complete=True)


async def look_ups(source, *values, field="id"):
    gathering = Gathering(source)
    found = await asyncio.gather(*(gathering.lookup(Resource(), field, value, ["id"]) for value in values))
    return [len(each.rows) for each in found]


async def test_a_value_that_a_list_says_nothing_of_is_looked_up_by_itself():
    """Neither found nor absent follows from silence; a list that fails says nothing of any."""
    source = Many("a", "b", silent="bx")
    assert await look_ups(source, "a", "b", "c", "x") == [1, 1, 0, 0]
    assert (source.lists, source.singles) == ([["a", "b", "c", "x"]], ["b", "x"])
    source = Many("a", down=True)
    assert await look_ups(source, "a", "b") == [1, 0]
    assert source.singles == ["a", "b"]


async def test_no_list_is_longer_than_the_source_takes_and_one_value_is_no_list():
    """Nor is a source asked by lists that does not say that it takes them."""
    source = Many(*"abc", most=2)
    assert await look_ups(source, *"abc") == [1, 1, 1]
    assert (source.lists, source.singles) == ([["a", "b"]], ["c"])
    source = Many("a", most=0)
    assert await look_ups(source, "a", "b") == [1, 0]
    assert source.lists == []


# -- databases --------------------------------------------------------------------------------------------------------

FIELDS = {"id": "int", "manager": "text?", "rank": "int?"}
TEXTS = ["a", "A", "a ", "ä", "a\u0308", "", "1", "'", "%"]
ROWS = st.lists(
    st.tuples(
        st.sampled_from([*TEXTS, None, 1, 1.5, b"a"]), st.sampled_from([0, 1, 2, 1.0, 1.5, "1", "x", None, 2**62])
    ),
    max_size=8,
)


def people_of(folder: Path, rows) -> Source:
    """Return a table in which a column holds whatever somebody put there: SQLite asks nobody about types."""
    file = File(folder / "people.db", "CREATE TABLE people (id INTEGER PRIMARY KEY, manager, rank)")
    with sqlite3.connect(file.path) as connection:
        connection.executemany("INSERT INTO people (manager, rank) VALUES (?, ?)", rows)
    connection.close()
    return Source(sqlite_settings(file.path, {"table": "people", "key": ["id"], "fields": FIELDS}))


@given(rows=ROWS, texts=st.sets(st.sampled_from(TEXTS)), numbers=st.sets(st.sampled_from([0, 1, 2, 3, 2**62])))
@examples(100)
def test_a_list_of_look_ups_in_a_database_answers_as_each_of_them_would(rows, texts, numbers):
    """Wrong types, none at all, the same value twice, other capitals, other spellings: the database itself tells."""

    async def asked(folder) -> None:
        source = people_of(folder, rows)
        try:
            reader = await source.reader()
            for field, values in (("manager", sorted(texts)), ("rank", sorted(numbers))):
                together = await reader.lookup_many(source.resource, field, values, tuple(FIELDS))
                assert set(together) == (set(values) if len(values) > 1 else set())
                for value, found in together.items():
                    alone = await reader.lookup(source.resource, field, value, tuple(FIELDS))
                    assert drawn(found) == drawn(alone), (field, value)
        finally:
            await source.close()

    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        asyncio.run(asked(Path(folder)))


async def test_rows_that_are_cut_say_nothing_of_any_value(tmp_path, monkeypatch):
    """More rows than one answer takes: each value is looked up by itself, and says itself that it is cut."""
    source = people_of(tmp_path, [("a", 1)] * 3 + [("b", 1)])
    monkeypatch.setattr(sql_reader, "LOOKUP_ROWS", 3)
    try:
        reader = await source.reader()
        assert await reader.lookup_many(source.resource, "manager", ["a", "b"], ("id",)) == {}
        gathering = Gathering(reader)
        found = await asyncio.gather(
            *(gathering.lookup(source.resource, "manager", value, ("id",)) for value in ("a", "b", "c"))
        )
        assert [(len(each.rows), each.complete) for each in found] == [(3, True), (1, True), (0, True)]
    finally:
        await source.close()


async def test_a_view_says_of_no_value_that_it_is_absent(tmp_path):
    """Rows that it does not show may exist, whether it is asked for one value or for several."""
    file = File(
        tmp_path / "v.db",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, manager TEXT)",
        "CREATE VIEW people AS SELECT * FROM t",
    )
    source = Source(
        sqlite_settings(file.path, {"table": "people", "key": ["id"], "fields": {"id": "int", "manager": "text?"}})
    )
    try:
        found = await (await source.reader()).lookup_many(source.resource, "manager", ["a", "b"], ("id",))
        assert [each.complete for each in found.values()] == [False, False]
    finally:
        await source.close()


def test_what_an_absence_rests_on_is_looked_up_by_one_statement(tmp_path, monkeypatch):
    """The owners of all that is due are looked up at once; who has come back since is found."""
    bench = Bench(tmp_path / "bench")
    lists, singles = [], []
    many, one = sql_reader.SqlReader.lookup_many, sql_reader.SqlReader.lookup

    async def noted_many(self, resource, field, values, fields):
        lists.append(sorted(values))
        return await many(self, resource, field, values, fields)

    async def noted(self, resource, field, value, fields):
        singles.append(value)
        return await one(self, resource, field, value, fields)

    monkeypatch.setattr(sql_reader.SqlReader, "lookup_many", noted_many)
    monkeypatch.setattr(sql_reader.SqlReader, "lookup", noted)
    bench.rule(act="act disable with directory.update(id: a.id, locked: true) { concurrency 8 }")
    planned = bench.approved()
    owners = sorted(
        owner for (owner,) in bench.sql("directory", "SELECT owner FROM accounts WHERE id IN ('a02', 'a03')")
    )
    bench.sql("hr", f"UPDATE employees SET active = 1 WHERE id = '{owners[0]}'")
    applied = bench.run("apply", planned["plan_id"], "--json").json["report"]
    assert (lists, singles) == ([owners], [])
    assert sorted(row["outcome"] for row in applied["rows"]) == ["changed", "done", "done"]


# -- APIs -------------------------------------------------------------------------------------------------------------


async def looked_up(api, many, *values):
    """Return what look-ups of ids find together and alone, and which requests the first ones made."""
    settings = config(api, "cursor", {**HTTP_RESOURCE, "read_many": {"path": "/cursor?ids={id}", "most": 50, **many}})
    resource, fields = CONNECTOR.resources("api", settings)["things"], ("id", "owner")
    reader = await CONNECTOR.open_reader("api", settings)
    try:
        gathering = Gathering(reader)
        found = await asyncio.gather(*(gathering.lookup(resource, "id", value, fields) for value in values))
        lists = sorted({each.query["ids"] for each in api.requests if "ids" in each.query})
        singles = sorted({each.query["id"] for each in api.requests if "id" in each.query})
        alone = [await reader.lookup(resource, "id", value, fields) for value in values]
        other = await asyncio.gather(*(gathering.lookup(resource, "id", value, ("id", "etag")) for value in values[:2]))
    finally:
        await reader.close()
    assert [drawn(each) for each in found] == [drawn(each) for each in alone]
    assert [len(each.rows) for each in other] == [len(each.rows) for each in alone[:2]]
    return lists, singles


THINGS = [{"id": f"t{n}", "owner": "p", "n": n} for n in range(3)] + [{"id": "a,b", "owner": "p", "n": 9}]


async def test_ids_that_a_list_leaves_out_are_looked_up_by_themselves_unless_it_speaks_of_each():
    """By the declaration alone; an id that can't be one of a list never is."""
    values = ("t0", "t1", "zz", "yy", "a,b", "c,d")
    with Listing(THINGS, page=2) as api:
        assert await looked_up(api, {}, *values) == (["t0,t1,zz,yy"], ["a,b", "c,d", "yy", "zz"])
    with Listing(THINGS, page=2) as api:
        assert await looked_up(api, {"answers_each": True}, *values) == (["t0,t1,zz,yy"], ["a,b", "c,d"])


@pytest.mark.parametrize(
    "answer",
    [
        Answer(500),
        Answer(200, {"items": [], "next_cursor": None, "total": 9}),
        Answer(200, {"items": [{"id": "t0", "owner": "p"}, {"id": "t9", "owner": "p"}], "next_cursor": None}),
        Answer(200, {"items": [{"id": "t0", "owner": "p"}, {"owner": "p"}], "next_cursor": None}),
        Answer(200, {"items": [{"id": "T0", "owner": "p"}], "next_cursor": None}),
        Answer(200, {"items": [{"id": "t0", "owner": "p"}]}),
    ],
    ids=["an error", "a cut", "another object", "an object without id", "other capitals", "no end"],
)
async def test_an_answer_that_is_not_what_was_asked_for_says_of_no_id_that_it_is_absent(answer):
    """Also where it is declared that the API speaks of each: then every id is looked up by itself."""
    with Listing(THINGS) as api:
        api.faults.append(lambda asked: answer if "ids" in asked.query else None)
        _, singles = await looked_up(api, {"answers_each": True}, "t0", "t1", "zz")
        assert singles == ["t0", "t1", "zz"]


async def test_a_look_up_whose_answer_has_fewer_objects_than_it_says_there_are_is_not_complete():
    """Nor of one id alone is anything absent then."""
    with Listing(THINGS) as api:
        api.faults.append(lambda asked: Answer(200, {"items": [], "next_cursor": None, "total": 1}))
        reader = await CONNECTOR.open_reader("api", config(api, "cursor", HTTP_RESOURCE))
        try:
            resource = CONNECTOR.resources("api", config(api, "cursor", HTTP_RESOURCE))["things"]
            found = await reader.lookup(resource, "id", "t0", ("id",))
        finally:
            await reader.close()
    assert (found.complete, [reason.code for reason in found.reasons]) == (False, [Reason.COUNT_MISMATCH])


async def test_an_object_that_comes_twice_is_looked_up_by_itself():
    """Which of the two it is, is not for a list to tell."""
    twice = [{"id": "t0", "owner": "p"}, {"id": "t0", "owner": "q"}, {"id": "t1", "owner": "p"}]
    with Listing(THINGS) as api:
        api.faults.append(
            lambda asked: Answer(200, {"items": twice, "next_cursor": None}) if "ids" in asked.query else None
        )
        _, singles = await looked_up(api, {"answers_each": True}, "t0", "t1")
        assert singles == ["t0"]

"""Columns parsed from the text of replies say what columns of decoded values say, whatever the replies hold."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import httpx
import pyarrow.parquet as pq
import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st
from tests.support.fake_source import FakeClock
from tests.support.profiles import examples
from tests.support.reading import Reading

from fullcount.compiler.everything import everything_of
from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.values import STATE_ORDER, FieldState
from fullcount.runtime.collect import from_text, intake
from fullcount.runtime.collect.loop import Budget, collect
from fullcount.runtime.connectors.http import CONNECTOR, fields
from fullcount.runtime.connectors.http.client import HttpClient
from fullcount.runtime.connectors.http.config import HttpConfig
from fullcount.runtime.connectors.http.reader import HttpReader

HOST = "http://api.test"
FIELDS = {
    "id": "text", "owner": "text?", "n": "int?", "size": "size?", "flag": "bool", "at": "timestamp?", "day": "date",
    "amount": "decimal?", "tags": "list<text>?", "named": {"type": "text?", "at": "meta/name"},
    "twin": {"type": "text", "at": "id"}, "instant": {"type": "timestamp?", "at": "at"},
}  # fmt: skip
SETTINGS = HttpConfig.model_validate(
    {
        "dialect": "generic_http",
        "base_url": HOST,
        "resources": {"things": {"list": "/things", "key": ["id"], "fields": FIELDS}},
    }
)


def read(pages, *, by_text):
    """Read these bodies, one a page; return the envelope, the rows, and the columns that came from the text."""
    folder, clock = Path(tempfile.mkdtemp()), FakeClock()
    parsed = []

    def answer(request):
        number = int(request.url.params.get("cursor", "0"))
        return httpx.Response(200, content=pages[number].encode(), headers={"content-type": "application/json"})

    def watched(*given):
        found = from_text.columns_from_text(*given)
        parsed.extend([None] if found is None else found)
        return found

    async def run():
        reader = HttpReader(SETTINGS, HttpClient(httpx.MockTransport(answer), HOST, {}))
        resource = CONNECTOR.resources("api", SETTINGS)["things"]
        try:
            return await collect(
                reader,
                everything_of(resource),
                resource,
                bindings=Bindings({}, 0),
                snapshots=Reading(folder).store,
                budget=Budget(sleep=clock.sleep, monotonic=clock.monotonic),
                clock=clock,
            )
        finally:
            await reader.close()

    try:
        with ExitStack() as stack:
            stack.enter_context(patch("fullcount.runtime.collect.snapshots.os.fsync"))
            stack.enter_context(patch.object(fields, "_LONG", 10**9 if by_text else 0))
            stack.enter_context(patch.object(from_text, "FEW_ROWS", 1))
            stack.enter_context(patch.object(intake, "CHUNK_ROWS", 3))
            stack.enter_context(patch.object(intake, "columns_from_text", watched))
            envelope = asyncio.run(run())
        digest = envelope.snapshot_digest
        return envelope, [] if digest is None else pq.read_table(Reading(folder).store.path(digest)).to_pylist(), parsed
    finally:
        shutil.rmtree(folder)


RIGHT = {
    "id": ['"a"', '"b"', '"c"', '"d"', '"\\u00e9"', '"e:\\"f"', '"g\\u003a"', '"\U0001f600"', '"\\ud83d\\ude00"'],
    "owner": ['"x"', '""', "null", '"\\n\\\\"', '"\\u0000"'],
    "n": ["0", "-0", "7", "null", "9223372036854775807", "-9223372036854775808"],
    "size": ["0", "12", "null"],
    "flag": ["true", "false"],
    "at": ['"2026-01-02T03:04:05Z"', '"2026-01-02T03:04:05.123456+02:00"', "null", '"2026-01-02 03:04Z"'],
    "day": ['"2026-01-02"', '"0001-01-01"'],
    "amount": ["1.50", "null", "-0.0"],
    "tags": ["[]", '["a"]', "null"],
    "meta": ['{"name":"m"}', '{"name":null}'],
    "z": ["1", '{"a":{"b":[1,{"c":null}]}}', '"-"'],
}
ODD = [
    "1", "-1", "1.0", "1e2", "1E400", "true", "null", '"1"', '"x"', "[]", "[null]", "[1]", "{}", '{"name":1}', "NaN",
    "-Infinity", "9223372036854775808", "-9223372036854775809", "1" * 40, '"\\ud800"', '"2026-01-02"',
    '"2026-01-02T03:04:05"', '"2026-01-02T03:04:05.1234567Z"', '"10000-01-01T00:00:00Z"', '"0000-01-01"',
    '"-0001-01-01T00:00:00Z"', "[" * 60 + "]" * 60, '{"a":1,"a":2}', '{"id":"a"}', '"2026-02-30"', "Infinity",
]  # fmt: skip


@st.composite
def objects(draw, odd):
    """Draw one object; where it is odd, with a value, a name or a gap that should not be."""
    pairs = [(f'"{name}"', draw(st.sampled_from(values))) for name, values in RIGHT.items()]
    for _ in range(draw(st.integers(0, 2)) if odd else 0):
        at = draw(st.integers(0, len(pairs) - 1))
        name, value = pairs[at]
        change = draw(st.sampled_from(["value", "value", "value", "gap", "twice", "escaped", "spaced", "more"]))
        if change == "gap" and len(pairs) > 1:
            del pairs[at]
        elif change == "twice":
            pairs.append((name, draw(st.sampled_from([value, *ODD]))))
        elif change == "escaped":
            pairs[at] = (f'"\\u{ord(name[1]):04x}{name[2:]}', value)
        elif change == "spaced":
            pairs[at] = (name + " \n", "\t" + value)
        elif change == "more":
            pairs.insert(at, ('"more"', draw(st.sampled_from(ODD))))
        else:
            pairs[at] = (name, draw(st.sampled_from(ODD)))
    return "{" + ",".join(f"{name}:{value}" for name, value in pairs) + "}"


@st.composite
def bodies(draw):
    """Draw the bodies of one list: page after page, in the forms in which the dialect takes them."""
    odd = draw(st.booleans())
    members = objects(odd=False) if not odd else objects(odd=False) | objects(odd=True) | st.sampled_from(["null", "1"])
    if odd and draw(st.booleans()):
        members = objects(odd=True)
    pages = draw(st.lists(st.lists(members, max_size=5), min_size=1, max_size=3))
    place = draw(st.sampled_from(["items", "items", "results", "data"]))
    found = []
    for number, page in enumerate(pages):
        cursor = f'"{number + 1}"' if number + 1 < len(pages) else "null"
        found.append(f'{{"{place}": [{", ".join(page)}]\n, "next_cursor": {cursor}, "total": {sum(map(len, pages))}}}')
    if len(pages) == 1 and draw(st.booleans()):
        return [f"[{', '.join(pages[0])}]"]
    return found


def plain(**changes):
    """Return an object as it should be, but for some values."""
    values = {name: right[0] for name, right in RIGHT.items()} | changes
    return "{" + ",".join(f'"{name}":{value}' for name, value in values.items()) + "}"


def body(*members):
    """Return the only page of a list."""
    return [f'{{"items": [{",".join(members)}], "next_cursor": null}}']


@pytest.mark.requirement("R2", "R7")
@examples(300)
@given(bodies())
@example(body(plain(), plain(id='"b"', owner="1")))
@example(body(plain(owner="null"), plain(id='"b"', owner='"\\ud800"')))
@example(body(plain(n="1.0"), plain(id='"b"', n="9223372036854775808")))
@example(body(plain(flag="null"), plain(id="null")))
@example(body(plain(z='{"a":1,"a":2}')))
@example(body(plain(z="NaN"), plain(id='"b"', size="-1")))
@example(body(plain(at='"2026-01-02T03:04:05"'), plain(id='"b"', day='"0000-01-01"')))
@example(body(plain(), '{"id":"b"}'))
@example(body(plain(), "null", plain(id='"b"')))
def test_envelope_and_rows_are_the_same_by_whichever_way_columns_are_made(pages):
    """Types, nulls, gaps, names that stand twice, escapes, numbers beyond all bounds: one verdict, one set of rows."""
    fast, rows, parsed = read(pages, by_text=True)
    exact, expected, none = read(pages, by_text=False)
    assert none == []
    assert (fast, rows) == (exact, expected)
    event("refused" if None in parsed else f"{len(set(parsed))} columns from text")


def test_columns_of_ordinary_pages_come_from_the_text():
    """What the property holds is not held of the careful way alone: scalars of every kind are parsed, nulls as well."""
    pages = body(plain(owner="null"), plain(id='"b"', at="null", n="null"), plain(id='"c"'))
    envelope, rows, parsed = read(pages, by_text=True)
    assert envelope.complete
    assert len(rows) == 3
    assert sorted(parsed) == ["at", "day", "flag", "id", "instant", "n", "owner", "size", "twin"]


def test_field_that_one_object_lacks_is_made_with_its_state_and_the_others_are_parsed():
    """A gap is not a null: only that column is made object by object."""
    gap = plain(id='"b"').replace('"owner":"x",', "")
    _, rows, parsed = read(body(plain(), gap), by_text=True)
    assert "owner" not in parsed
    assert {"id", "flag"} <= set(parsed)
    assert [row["owner"] for row in rows] == ["x", None]
    assert [STATE_ORDER[row["owner$state"]] for row in rows] == [FieldState.PRESENT, FieldState.INDETERMINATE]


def test_source_that_is_odd_again_and_again_is_not_parsed_any_more():
    """A text that is refused costs its parsing: after a few chunks it is left alone."""
    count = intake.ODD_TEXTS + 3
    pages = [
        f'{{"items": [{",".join(plain(id=json_text(f"k{number:02}-{each}"), owner="1") for each in range(3))}],'
        f' "next_cursor": {json_text(str(number + 1)) if number + 1 < count else "null"}}}'
        for number in range(count)
    ]
    envelope, rows, parsed = read(pages, by_text=True)
    assert parsed == [None] * intake.ODD_TEXTS * 2  # pages that may shift are read until two passes agree
    assert len(rows) == 3 * count
    assert envelope.work.rows == 3 * count


def json_text(text):
    """Return a text as JSON."""
    return f'"{text}"'

"""Objects over HTTP to rows: the fast way gives byte for byte the snapshot that the slow one gives, cell by cell."""

import json
from decimal import Decimal

import pyarrow as pa
import pytest
from tests.support.http_api import Answer, Api
from tests.support.reading_http import config, read_all

from fullcount.compiler.values import FieldState
from fullcount.runtime.collect import intake as intake_module
from fullcount.runtime.collect.coerce import CODE, arrow_type, coerce_cell
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.connectors.http import CONNECTOR

FIELDS = {
    "id": "text",
    "name": "text?",
    "n": "int?",
    "size": "size?",
    "price": "decimal?",
    "on": "bool",
    "at": "timestamp?",
    "day": "date?",
    "tags": "list<text>?",
    "labels": "map<text>?",
    "deep": {"type": "text?", "at": "spec/owner/name"},
}
PLAIN = {
    "name": "Ünï \U0001f600",
    "n": 9_007_199_254_740_993,
    "size": 0,
    "price": Decimal("1.10"),
    "on": True,
    "at": "2026-01-02T03:04:05.000006+02:00",
    "day": "2026-01-02",
    "tags": ["b", "a", "b"],
    "labels": {"z": "1", "a": "2"},
    "spec": {"owner": {"name": "ada"}},
}
ODD = {
    "name": [None, "", 1, True, "\ud800", "x" * 300, ["a"]],
    "n": [None, -1, 2**63, True, "1", Decimal("1.0"), 10**40],
    "size": [None, -1, Decimal("1E3"), 2**63 - 1],
    "price": [None, 1, Decimal("1E-10"), Decimal("1E400"), Decimal("-0.0"), "1.5"],
    "on": [None, 1, "true", False],
    "at": [None, "2026-01-02", "2026-01-02T03:04:05", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", 5],
    "day": [None, "2026-13-01", "2026-01-02T00:00:00Z", 0],
    "tags": [None, [], ["a", None], "a", {}],
    "labels": [None, {}, {"a": None}, {"a": 1}, []],
    "spec": [None, {}, {"owner": None}, {"owner": []}, {"owner": {"name": 1}}, {"owner": {"name": None}}, "owner"],
}


def objects():
    """Return plain objects, and for each field objects in which it is odd, or not there at all."""
    made = [dict(PLAIN) for _ in range(9)]
    for field, values in ODD.items():
        made += [{**PLAIN, field: value} for value in values]
        made.append({name: value for name, value in PLAIN.items() if name != field})
    made += [dict(PLAIN) for _ in range(9)]
    return [{"id": f"t{number:04}", **one} for number, one in enumerate(made)]


def text_of(page):
    """Return JSON text in which every number is as it is written."""
    numbers = {}

    def held(value):
        if not isinstance(value, Decimal):
            raise TypeError(value)
        numbers[f"<{len(numbers)}>"] = value
        return f"<{len(numbers) - 1}>"

    text = json.dumps(page, default=held)
    for mark, value in numbers.items():
        text = text.replace(json.dumps(mark), str(value))
    return text


def serve(api, things, page_rows):
    """Let the server give pages of the given size."""

    def answer(asked):
        start = int(asked.query.get("cursor", "0"))
        more = start + page_rows < len(things)
        page = {
            "items": things[start : start + page_rows],
            "next_cursor": str(start + page_rows) if more else None,
            "has_more": more,
            "total": len(things),
            "snapshot": "s1",
        }
        return Answer(200, text_of(page))

    api.faults.append(answer)


def by_cell(fields, things, folder):
    """Return the digest of the snapshot that is made one cell at a time."""
    with SnapshotStore(folder).writer(fields, ("id",)) as writer:
        arrays = []
        for name, field_type in fields.items():
            cells = [cell_of(field_type, thing, "spec/owner/name" if name == "deep" else name) for thing in things]
            arrays.append(pa.array([value for value, _ in cells], type=arrow_type(field_type.type)))
            arrays.append(pa.array([CODE[state] for _, state in cells], type=pa.int8()))
        writer.append(pa.Table.from_arrays(arrays, schema=writer.schema))
        return writer.finish()


def cell_of(field_type, thing, place):
    """Return one value as Arrow takes it, and its state."""
    raw, state = thing, None
    for step in place.split("/"):
        if not isinstance(raw, dict) or step not in raw:
            raw, state = None, FieldState.INDETERMINATE
            break
        raw = raw[step]
    cell = coerce_cell(field_type, raw, state)
    missing = cell.state is FieldState.ABSENT and not field_type.optional
    value = list(cell.value.items()) if isinstance(cell.value, dict) else cell.value
    return value, FieldState.SOURCE_FAILED if missing else cell.state


@pytest.mark.requirement("R6", "R7")
@pytest.mark.parametrize(("page_rows", "chunk_rows"), [(7, 1), (7, 20), (1_000, 1)])
async def test_snapshot_of_odd_objects_is_the_one_that_is_made_cell_by_cell(
    page_rows, chunk_rows, tmp_path, monkeypatch
):
    """Whatever a page holds and however pages are put together: the same states, refusals, rows and bytes."""
    monkeypatch.setattr(intake_module, "CHUNK_ROWS", chunk_rows)
    things = objects()
    with Api([]) as api:
        serve(api, things, page_rows)
        settings = config(api, "cursor", {"fields": FIELDS})
        envelope = await read_all(settings, tmp_path / "fast")
    assert envelope.complete, envelope.completeness
    fields = CONNECTOR.resources("api", settings)["things"].fields
    expected = by_cell(fields, things, tmp_path / "slow")
    assert envelope.snapshot_digest == expected.digest
    assert {name: summary.states for name, summary in envelope.fields.items()} == expected.states
    for name in fields:
        failed = expected.states[name].get(FieldState.SOURCE_FAILED, 0)
        assert envelope.fields[name].refused == failed, name


@pytest.mark.requirement("R6")
async def test_keys_without_use_are_counted_and_told_each_with_its_own_fault(tmp_path):
    """A key that is no text and one that is missing are left out; the first is named with what is wrong with it."""
    things = [{**PLAIN, "id": "a"}, {**PLAIN, "id": None}, {**PLAIN, "id": 5}, {**PLAIN}]
    with Api([]) as api:
        serve(api, things, 1)
        envelope = await read_all(config(api, "cursor", {"fields": FIELDS}), tmp_path)
    (reason,) = envelope.completeness.reasons
    assert reason.detail == "3 of 4 rows without a usable key (`id`: no value, such as `None`)"
    assert envelope.work.rows == 1

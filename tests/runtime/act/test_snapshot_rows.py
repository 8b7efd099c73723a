"""Snapshots as answers: every type comes back as it was, and no row that could matter is left out."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
import pytest
from tests.support.fake_source import parse_fields

from fullcount.compiler.values import STATE_SUFFIX, FieldState
from fullcount.runtime.act.snapshot_rows import SnapshotRows
from fullcount.runtime.collect.coerce import arrow_schema, coerce_cell, coerce_column
from fullcount.runtime.collect.snapshots import SnapshotCorrupt, SnapshotStore

FIELDS = parse_fields(
    "id: text, at: timestamp?, day: date?, took: duration?, size: size?, number: int?, share: decimal?, yes: bool?,"
    " tags: map<timestamp>?, days: list<date>?"
)
MOMENT = datetime(2026, 11, 30, 2, 0, 0, 123456, tzinfo=UTC)
ROWS = [
    {
        "id": "full",
        "at": MOMENT,
        "day": date(2026, 11, 30),
        "took": timedelta(microseconds=-1),
        "size": 2**62,
        "number": -(2**63),
        "share": Decimal("0.100000001"),
        "yes": False,
        "tags": {"seen": MOMENT, "": MOMENT},
        "days": [date(1969, 12, 31)],
    },
    {"id": "empty", "tags": {}, "days": [], "size": 0, "number": 0, "share": Decimal(0)},
    {"id": "none"},
    {"id": "dark", "number": FieldState.FORBIDDEN, "at": FieldState.INDETERMINATE, "yes": FieldState.TRUNCATED},
    {"id": "other", "number": 7, "at": MOMENT - timedelta(days=1)},
]


def stored(tmp_path, rows=ROWS, *, complete=True):
    """Write the rows as a snapshot and return it as a source of answers, with its file."""
    store = SnapshotStore(tmp_path)
    columns = {}
    for name, declared in FIELDS.items():
        raw = [row.get(name) for row in rows]
        states = [value if isinstance(value, FieldState) else None for value in raw]
        column = coerce_column(
            declared, [None if s is not None else v for s, v in zip(states, raw, strict=True)], states
        )
        columns[name], columns[name + STATE_SUFFIX] = column.values, column.states
    with store.writer(FIELDS, ("id",)) as writer:
        writer.append(pa.table(columns, schema=arrow_schema(FIELDS)))
        digest = writer.finish().digest
    types = {name: declared.type for name, declared in FIELDS.items()}
    return SnapshotRows(lambda: store.path(digest), types, complete=complete), store.path(digest)


def expected(row):
    """Return a row's cells by the reference."""
    return {
        name: coerce_cell(declared, None, row[name])
        if isinstance(row.get(name), FieldState)
        else coerce_cell(declared, row.get(name))
        for name, declared in FIELDS.items()
    }


def keys(answer):
    """Return the ids of an answer's rows."""
    return sorted(row["id"].value for row in answer.rows)


@pytest.mark.requirement("R7")
def test_every_type_and_every_state_comes_back_as_it_was(tmp_path):
    """What the rule saw when the plan was made is what it sees again."""
    answer = stored(tmp_path)[0].related(())
    found = {row["id"].value: row for row in answer.rows}
    assert found == {row["id"]: expected(row) for row in ROWS}


@pytest.mark.requirement("R7", "R22")
@pytest.mark.parametrize(("name", "raw"), [("number", 7), ("at", MOMENT), ("yes", False), ("share", Decimal(0))])
def test_rows_without_a_known_value_are_part_of_every_answer(tmp_path, name, raw):
    """Only a row whose field is present with another value may be left out."""
    snapshot, _ = stored(tmp_path)
    wanted = coerce_cell(FIELDS[name], raw).value
    other = {row["id"] for row in ROWS if expected(row)[name].value not in (None, wanted)}
    assert keys(snapshot.related(((name, wanted),))) == sorted({row["id"] for row in ROWS} - other)


def test_several_values_narrow_the_answer_together(tmp_path):
    """All hints hold at once."""
    snapshot, _ = stored(tmp_path)
    assert keys(snapshot.related((("id", "other"), ("number", 7)))) == ["other"]
    assert keys(snapshot.related((("id", "other"), ("number", 8)))) == []


@pytest.mark.requirement("R1", "R20")
@pytest.mark.parametrize("complete", [True, False])
def test_an_answer_is_complete_exactly_if_the_snapshot_is(tmp_path, complete):
    """An empty answer of an incomplete snapshot says nothing of absence."""
    answer = stored(tmp_path, complete=complete)[0].related((("id", "nobody"),))
    assert answer.complete is complete
    assert len(answer.rows) == 0


@pytest.mark.requirement("R1")
def test_an_empty_snapshot_gives_an_empty_answer(tmp_path):
    """Complete and empty is a state of its own."""
    answer = stored(tmp_path, rows=[])[0].related(())
    assert (len(answer.rows), answer.complete) == (0, True)


def test_a_snapshot_that_was_changed_on_the_disk_answers_nothing(tmp_path):
    """A file that does not fit its digest is an error, not an answer."""
    snapshot, path = stored(tmp_path)
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:-1] + b"\x00")
    with pytest.raises(SnapshotCorrupt):
        snapshot.related(())

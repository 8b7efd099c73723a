"""Snapshots: named by their bytes, whole or not there, the same for the same rows."""

from __future__ import annotations

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.fake_source import parse_fields

from fullcount.runtime.collect import writer as writer_module
from fullcount.runtime.collect.coerce import coerce_column
from fullcount.runtime.collect.order import in_order
from fullcount.runtime.collect.snapshots import SnapshotCorrupt, SnapshotMissing, SnapshotStore

FIELDS = parse_fields("id: text, n: int, tags: map<text>, seen: timestamp?")
KEY = ("id",)


def row(number, **changes):
    """Return one row of `FIELDS`."""
    return {"id": f"{number:06}", "n": number, "tags": {"b": "x", "a": "y"}, "seen": None} | changes


def table_of(writer, rows):
    """Return canonical rows as the writer takes them."""
    arrays = []
    for name, field_type in FIELDS.items():
        column = coerce_column(field_type, [each[name] for each in rows])
        arrays += [column.values, column.states]
    return pa.Table.from_arrays(arrays, schema=writer.schema)


def write(store, *pages):
    """Write pages of rows and return what was written."""
    with store.writer(FIELDS, KEY) as writer:
        for page in pages:
            writer.append(table_of(writer, page))
        return writer.finish()


def files(store):
    """Return every file under the store."""
    return sorted(path for path in store.root.rglob("*") if path.is_file())


@pytest.fixture
def store(tmp_path):
    """Return an empty store."""
    return SnapshotStore(tmp_path)


@pytest.fixture
def small_groups(monkeypatch):
    """Let row groups hold seven rows, so that a few rows make many groups."""
    monkeypatch.setattr(writer_module, "GROUP_ROWS", 7)


def test_a_changed_byte_is_found_before_the_snapshot_is_read(store):
    """A file that no longer has its digest is never handed out, not even to a process that read it before."""
    written = write(store, [row(1), row(2)])
    path = store.path(written.digest)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(SnapshotCorrupt, match="changed after it was written"):
        store.path(written.digest)
    with pytest.raises(SnapshotCorrupt):
        SnapshotStore(store.root).path(written.digest)


@pytest.mark.parametrize("digest", ["sha256:" + "0" * 64, "sha256:../../etc/passwd", "md5:x", "", "sha256:" + "G" * 64])
def test_a_digest_that_names_nothing_is_missing(store, digest):
    """An unknown or malformed digest leads to no file."""
    with pytest.raises(SnapshotMissing):
        store.path(digest)


def test_an_unfinished_snapshot_leaves_nothing_behind(store):
    """A writer that is left without `finish`, for whatever cause, leaves no half file."""
    with store.writer(FIELDS, KEY) as writer:
        writer.append(table_of(writer, [row(1)]))
        assert len(files(store)) > 0
    assert files(store) == []


def test_a_full_disk_is_an_error_and_leaves_no_snapshot(store, monkeypatch):
    """An error while the file gets its name is raised, and nothing stands under any name."""

    def full(_self):
        raise OSError(28, "no space left")

    monkeypatch.setattr(writer_module.SnapshotWriter, "finish", full)
    with pytest.raises(OSError, match="no space"):
        write(store, [row(1)])
    assert files(store) == []


@pytest.mark.usefixtures("small_groups")
@pytest.mark.parametrize("page_rows", [1, 3, 7, 14, 40])
def test_the_same_rows_give_the_same_bytes_whatever_the_pages_and_their_order(store, page_rows):
    """Page size and order of arrival do not show in the digest."""
    rows = [row(number) for number in range(40)]
    expected = write(store, rows)
    shuffled = random.Random(page_rows).sample(rows, len(rows))
    for order in (rows, shuffled):
        pages = [order[start : start + page_rows] for start in range(0, len(order), page_rows)]
        written = write(store, *pages)
        assert written.digest == expected.digest
        assert (written.rows, written.keys_read) == (40, 40)
    metadata = pq.ParquetFile(store.path(expected.digest)).metadata
    assert [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)] == [7, 7, 7, 7, 7, 5]
    assert len(files(store)) == 1


def test_rows_are_stored_in_the_order_of_their_keys_by_code_point(store):
    """Capital letters, small ones and others sort by code point, as the rules compare them."""
    names = ["b", "B", "ä", "a", "Ω", "Z", "\U0001f600", "", "aa"]
    written = write(store, [row(0, id=name) for name in names])
    assert pq.read_table(store.path(written.digest)).column("id").to_pylist() == sorted(names)


@pytest.mark.usefixtures("small_groups")
def test_duplicates_are_counted_across_pages_and_the_first_one_stays(store):
    """Equal rows are dropped as identical; a row that says otherwise is counted as contradicting, and is not stored."""
    pages = [[row(n) for n in range(10)], [row(3), row(4, n=99), row(10)], [row(4), row(3)]]
    written = write(store, *pages)
    assert written.rows == written.keys_read == 11
    assert written.duplicates.identical == 2
    assert written.duplicates.contradicting == 2
    assert "000004" in written.duplicates.examples
    stored = pq.read_table(store.path(written.digest))
    assert stored.column("n").to_pylist() == list(range(11))


def test_an_adjacent_duplicate_in_sorted_pages_is_found(store):
    """Rows in order but with a key twice are not taken for strictly ascending."""
    written = write(store, [row(1), row(2)], [row(2), row(3)])
    assert (written.rows, written.duplicates.identical) == (3, 1)


def test_rows_outside_the_scope_are_not_stored_but_their_keys_count(store):
    """The source's total is about what it returned, so keys outside the scope are counted, each once."""
    with store.writer(FIELDS, KEY) as writer:
        rows = [row(3), row(1), row(2), row(1)]
        writer.append(table_of(writer, rows), pa.array([True, False, True, False]))
        written = writer.finish()
    assert (written.rows, written.keys_read) == (2, 3)
    assert written.duplicates.contradicting == 0


def test_an_object_both_inside_and_outside_the_scope_contradicts_itself(store):
    """The same key once in the scope and once out of it means that the pages show two states."""
    with store.writer(FIELDS, KEY) as writer:
        writer.append(table_of(writer, [row(2), row(1, n=1), row(1, n=2)]), pa.array([True, True, False]))
        written = writer.finish()
    assert written.duplicates.contradicting == 1


def test_states_are_counted_for_what_is_stored(store):
    """The summary speaks of the rows in the snapshot, not of dropped ones."""
    written = write(store, [row(2), row(1, n="x"), row(1, n="x")])
    assert written.states["n"] == {"present": 1, "source_failed": 1}
    assert written.states["seen"] == {"absent": 2}


def test_a_key_of_several_fields_orders_from_the_left(store):
    """Composite keys are compared field by field."""
    fields = parse_fields("a: text, b: int")
    with store.writer(fields, ("a", "b")) as writer:
        columns = [coerce_column(fields["a"], ["y", "x", "x"]), coerce_column(fields["b"], [1, 2, 1])]
        arrays = [array for column in columns for array in (column.values, column.states)]
        writer.append(pa.Table.from_arrays(arrays, schema=writer.schema))
        written = writer.finish()
    stored = pq.read_table(store.path(written.digest))
    assert list(zip(stored.column("a").to_pylist(), stored.column("b").to_pylist(), strict=True)) == [
        ("x", 1),
        ("x", 2),
        ("y", 1),
    ]


def test_a_list_can_not_be_a_key(store):
    """A key that has no order is refused before anything is read."""
    with pytest.raises(ValueError, match="part of a key"):
        store.writer(parse_fields("id: list<text>"), ("id",))


def test_an_empty_snapshot_is_a_snapshot(store):
    """No rows is an answer with a digest of its own."""
    written = write(store)
    assert written.rows == 0
    assert pq.read_table(store.path(written.digest)).num_rows == 0


def test_sorting_hands_out_no_more_than_a_group_at_a_time(store, tmp_path):
    """Memory is bounded by the group, not by the number of rows."""
    written = write(store, [row(number) for number in random.Random(1).sample(range(50), 50)])
    schema = pq.read_schema(store.path(written.digest))
    sizes = [
        table.num_rows
        for table in in_order(store.path(written.digest), schema, KEY, 20, tmp_path / "spill", written.duplicates)
    ]
    assert sum(sizes) == 50
    assert max(sizes) <= 2048


def test_what_a_killed_writer_left_is_cleared_away_and_what_is_in_use_stays(store, monkeypatch):
    """A folder that nobody holds is removed by the next writer; one at work is left alone."""
    monkeypatch.setattr("fullcount.runtime.collect.snapshots._QUITE_NEW", -1.0)
    killed = store.root / ".incoming" / "killed"
    killed.mkdir(parents=True)
    (killed / "in-use").touch()
    (killed / "arrived.parquet").write_bytes(b"half")
    with store.writer(FIELDS, KEY) as at_work:
        assert not killed.exists()
        write(store, [row(1)])
        assert at_work.folder.exists()
        at_work.append(table_of(at_work, [row(2)]))
        assert at_work.finish().rows == 1

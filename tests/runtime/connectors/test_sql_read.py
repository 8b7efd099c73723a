"""Looks at single rows, look-ups and counts on SQLite: what must stay unknown first."""

from __future__ import annotations

import pytest
from tests.support.sql import ACCOUNTS, sqlite_settings

from fullcount.compiler.values import ABSENT, FieldState, present
from fullcount.runtime.connectors.base import Existence
from fullcount.runtime.connectors.sql import reader as reader_module
from fullcount.runtime.evidence.codes import Reason


@pytest.fixture
def view(file, make_source):
    """A view that leaves out the locked accounts, declared as one."""
    file.write("CREATE VIEW shown AS SELECT * FROM accounts WHERE locked = 0")
    shown = {**ACCOUNTS, "table": "shown", "view": True, "writable": [], "deletable": False}
    return make_source(sqlite_settings(file.path, shown))


class TestRead:
    async def test_a_row_that_a_view_does_not_show_may_exist(self, file, view):
        """Not found in a view is not gone."""
        file.write("UPDATE accounts SET locked = 1 WHERE id = 'a0001'")
        reading = await (await view.reader()).read(view.resource, ("a0001",), ("id",))
        assert Existence.UNKNOWN is reading.existence
        assert [reason.code for reason in reading.reasons] == [Reason.EXISTENCE_UNKNOWN]

    async def test_a_row_that_is_not_in_its_table_is_gone(self, source):
        """A base table without row-level security hides nothing."""
        assert Existence.GONE is (await (await source.reader()).read(source.resource, ("none",), ("id",))).existence

    async def test_keys_are_exact(self, source):
        """A key in another case, or with a blank behind it, is another key."""
        reader = await source.reader()
        for key in ("A0001", "a0001 ", "a0001\0"):
            assert Existence.GONE is (await reader.read(source.resource, (key,), ("id",))).existence

    async def test_a_row_is_read_as_it_is_now(self, file, source):
        """Each look sees the latest committed state, in canonical values."""
        assert present(False) == (await source.see("a0001"))["locked"]
        file.write("UPDATE accounts SET locked = 1, owner = NULL WHERE id = 'a0001'")
        cells = await source.see("a0001")
        assert (present(True), ABSENT) == (cells["locked"], cells["owner"])

    async def test_a_value_of_another_type_is_not_known(self, file, source):
        """What does not fit its declared type is `source_failed`, not a value."""
        file.write("UPDATE accounts SET locked = 'yes' WHERE id = 'a0001'")
        assert FieldState.SOURCE_FAILED is (await source.see("a0001"))["locked"].state


class TestLookup:
    async def test_a_look_up_in_a_view_is_never_complete(self, view):
        """What the view leaves out may match."""
        matches = await (await view.reader()).lookup(view.resource, "owner", "p1", ("id",))
        assert not matches.complete

    async def test_a_look_up_with_too_many_matches_says_that_it_is_cut(self, source, monkeypatch):
        """Our own limit makes the answer incomplete, with its reason."""
        monkeypatch.setattr(reader_module, "LOOKUP_ROWS", 3)
        matches = await (await source.reader()).lookup(source.resource, "environment", "test", ("id",))
        assert (len(matches.rows), matches.complete) == (3, False)
        assert [reason.code for reason in matches.reasons] == [Reason.CLIENT_LIMIT_REACHED]

    async def test_rows_without_a_value_and_with_a_strange_one_are_told_too(self, file, source):
        """Whatever is not certainly another value comes back, so that absence is never concluded from it."""
        file.write("UPDATE accounts SET owner = x'7031' WHERE id = 'a0002'")
        matches = await (await source.reader()).lookup(source.resource, "owner", "p1", ("id", "owner"))
        found = {row["id"].value: row["owner"].state for row in matches.rows}
        assert matches.complete
        assert FieldState.SOURCE_FAILED is found["a0002"]
        assert FieldState.ABSENT is found["a0000"]
        assert {"p1"} == {row["owner"].value for row in matches.rows if row["owner"].state is FieldState.PRESENT}

    async def test_a_truth_that_is_none_of_the_two_is_told_too(self, file, source):
        """SQLite keeps any number in a boolean column; what 2 means nobody knows."""
        file.write("UPDATE accounts SET locked = 2 WHERE id = 'a0002'")
        matches = await (await source.reader()).lookup(source.resource, "locked", True, ("id", "locked"))
        assert [(row["id"].value, row["locked"].state) for row in matches.rows] == [("a0002", FieldState.SOURCE_FAILED)]

    async def test_a_look_up_by_a_field_that_can_not_be_looked_up_is_a_mistake(self, source):
        """Times have several spellings in SQLite."""
        assert "last_login" not in source.resource.lookup_fields
        with pytest.raises(ValueError, match="last_login"):
            await (await source.reader()).lookup(source.resource, "last_login", 0, ("id",))


async def test_a_count_is_the_tables_own_and_ignores_our_cap(file, make_source):
    """An independent count is of everything."""
    source = make_source(sqlite_settings(file.path, max_rows=3))
    assert await (await source.reader()).count(source.resource) == 25

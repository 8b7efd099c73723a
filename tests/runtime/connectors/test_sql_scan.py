"""Scans of SQLite tables: what is refused or marked first, then what a whole read says."""

from __future__ import annotations

import asyncio
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.profiles import examples
from tests.support.sql import ACCOUNTS, CREATE_ACCOUNTS, File, Source, account, rest_of, sqlite_settings

from fullcount.compiler.claims import Consistency
from fullcount.compiler.values import FieldState
from fullcount.runtime.collect.coerce import coerce_cell
from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.connectors.sql.scan import END
from fullcount.runtime.evidence.codes import Reason, Way

ENDLESS = """
    CREATE VIEW endless AS
    WITH RECURSIVE n(id) AS (VALUES (1) UNION ALL SELECT id + 1 FROM n) SELECT id FROM n
"""
KEY_ONLY = {"incarnation": None, "version": None, "version_managed": False, "writable": [], "deletable": False}


class TestWhatIsNotComplete:
    @pytest.mark.requirement("R12")
    async def test_a_cap_of_our_own_is_said_where_it_cuts(self, file, make_source):
        """A cap ends the read without an end marker, with its reason, and with the total it did not reach."""
        read = await make_source(sqlite_settings(file.path, max_rows=20)).read_all()
        assert read.end is None
        assert read.codes == [Reason.CLIENT_LIMIT_REACHED]
        assert len(read.rows) == 20
        assert read.total == 25
        assert Way.NARROW_QUERY is read.pages[-1].continuation.way

    @pytest.mark.requirement("R1", "R12")
    async def test_a_cap_of_nothing_is_partial_and_empty_never_complete_and_empty(self, file, make_source):
        """With a cap of 0 no row comes, and the page says that there are some."""
        read = await make_source(sqlite_settings(file.path, max_rows=0)).read_all()
        assert read.rows == []
        assert read.end is None
        assert read.codes == [Reason.CLIENT_LIMIT_REACHED]
        assert read.total == 25

    @pytest.mark.requirement("R1", "R2")
    async def test_a_cap_that_cuts_nothing_is_no_reason(self, file, make_source):
        """A cap equal to the number of rows leaves a read that reached its end."""
        read = await make_source(sqlite_settings(file.path, max_rows=25)).read_all()
        assert (len(read.rows), read.end, read.codes) == (25, END, [])

    async def test_a_key_that_nothing_keeps_unique_is_no_stable_order(self, sqlite_source):
        """Without a unique constraint rows can hide behind each other, so the order proves nothing."""
        _, source = sqlite_source(
            CREATE_ACCOUNTS.replace("PRIMARY KEY ", ""), rows=[account(1), account(1), account(2)]
        )
        read = await source.read_all()
        assert read.codes == [Reason.UNSTABLE_ORDER]
        assert Consistency.UNSTABLE is read.info.consistency

    async def test_rows_without_a_key_make_the_order_unstable(self, sqlite_source):
        """SQLite lets NULL into a text primary key; a row that has none can't be listed in its order."""
        rows = [account(1), account(2, id=None)]
        _, source = sqlite_source(CREATE_ACCOUNTS.replace("PRIMARY KEY NOT NULL", "PRIMARY KEY"), rows=rows)
        assert (await source.read_all()).codes == [Reason.UNSTABLE_ORDER]

    async def test_a_nullable_primary_key_without_nulls_is_a_key(self, sqlite_source):
        """What the schema does not promise is looked for in the same state of the database."""
        _, source = sqlite_source(CREATE_ACCOUNTS.replace("PRIMARY KEY NOT NULL", "PRIMARY KEY"), rows=[account(1)])
        read = await source.read_all()
        assert (read.codes, read.end) == ([], END)

    @pytest.mark.parametrize(
        "index",
        [
            "CREATE UNIQUE INDEX part ON accounts (id) WHERE locked = 0",
            "CREATE UNIQUE INDEX expression ON accounts (lower(id))",
            "CREATE UNIQUE INDEX wider ON accounts (id, owner)",
            "CREATE INDEX plain ON accounts (id)",
        ],
    )
    async def test_an_index_that_does_not_keep_the_whole_key_unique_does_not_count(self, sqlite_source, index):
        """A partial, a functional, a wider and a plain index all leave room for two rows with one key."""
        _, source = sqlite_source(CREATE_ACCOUNTS.replace("PRIMARY KEY ", ""), index, rows=[account(1)])
        assert (await source.read_all()).codes == [Reason.UNSTABLE_ORDER]

    @pytest.mark.requirement("R3", "R6")
    async def test_a_view_is_never_said_to_show_everything(self, sqlite_source):
        """A view may leave rows out without a word, so its visibility is unknown."""
        view = "CREATE VIEW shown AS SELECT * FROM accounts WHERE locked = 0"
        _, source = sqlite_source(CREATE_ACCOUNTS, view, rows=[account(1), account(2, locked=1)], table="shown")
        read = await source.read_all()
        assert read.info.visibility == "unknown"
        assert len(read.rows) == 1

    async def test_a_virtual_table_is_never_said_to_show_everything(self, sqlite_source):
        """What stands behind a virtual table is a module's own business."""
        made = "CREATE VIRTUAL TABLE found USING fts5(id, body)"
        _, source = sqlite_source(made, table="found", key=["id"], fields={"id": "text"}, **KEY_ONLY)
        assert (await source.read_all()).info.visibility == "unknown"


class TestWhatFails:
    async def test_a_missing_file_is_unavailable_and_is_not_made(self, tmp_path, make_source):
        """Reading must never create the database whose emptiness it would then report."""
        path = tmp_path / "nothing.db"
        with pytest.raises(SourceError) as caught:
            await make_source(sqlite_settings(path)).read_all()
        assert Reason.SOURCE_UNAVAILABLE is caught.value.reason.code
        assert not path.exists()

    async def test_a_file_that_is_no_database_is_malformed(self, tmp_path, make_source):
        """A file with other content has no tables to be empty."""
        path = tmp_path / "text.db"
        path.write_text("hello" * 1000)
        with pytest.raises(SourceError) as caught:
            await make_source(sqlite_settings(path)).read_all()
        assert Reason.MALFORMED_RESPONSE is caught.value.reason.code

    @pytest.mark.parametrize("change", [{"table": "account"}, {"fields": {**ACCOUNTS["fields"], "owners": "text?"}}])
    async def test_a_declaration_that_does_not_fit_fails_before_a_row_is_read(self, file, make_source, change):
        """A missing table or column is an error of the configuration, FC608."""
        with pytest.raises(SourceError) as caught:
            await make_source(sqlite_settings(file.path, {**ACCOUNTS, **change})).read_all()
        assert caught.value.reason.data["finding"] == "FC608"

    async def test_a_misspelt_column_never_becomes_the_text_that_sqlite_takes_it_for(self, file, make_source):
        """SQLite reads an unknown quoted name as text; the near name is offered instead."""
        fields = {**ACCOUNTS["fields"], "enviroment": "text"}
        with pytest.raises(SourceError, match="did you mean `environment`"):
            await make_source(sqlite_settings(file.path, {**ACCOUNTS, "fields": fields})).read_all()

    async def test_times_without_an_offset_are_not_instants_unless_the_zone_is_said(self, file, make_source):
        """Without `timezone` such times fail the read; with it they are instants of that zone."""
        file.write("UPDATE accounts SET last_login = '2026-11-01 09:00:00'")
        with pytest.raises(SourceError) as caught:
            await make_source(sqlite_settings(file.path)).read_all()
        assert caught.value.reason.data["finding"] == "FC612"
        read = await make_source(sqlite_settings(file.path, timezone="Europe/Berlin")).read_all()
        assert {"2026-11-01T09:00:00+01:00"} == {row["last_login"].isoformat() for row in read.rows}

    @pytest.mark.requirement("R14")
    async def test_a_cursor_of_another_scan_is_an_expired_one(self, source):
        """A cursor means a place in one pinned state; in another it would merge two."""
        async with source.scan() as first:
            cursor = (await first.fetch(None)).cursor
            async with source.scan() as second:
                with pytest.raises(SourceError) as caught:
                    await second.fetch(cursor)
        assert Reason.CURSOR_EXPIRED is caught.value.reason.code
        assert Way.RESTART is caught.value.continuation.way

    @pytest.mark.requirement("R16")
    async def test_a_statement_that_takes_too_long_is_interrupted_and_said(self, sqlite_source):
        """The time budget of one statement ends it at the source as well."""
        resource = {**KEY_ONLY, "table": "endless", "key": ["id"], "fields": {"id": "int"}}
        _, source = sqlite_source(ENDLESS, settings={"statement_timeout": 0.1}, **resource)
        with pytest.raises(SourceError) as caught:
            await source.read_all()
        assert Reason.TIME_BUDGET_EXCEEDED is caught.value.reason.code

    async def test_a_cancelled_fetch_leaves_no_statement_behind(self, sqlite_source):
        """Whoever stops waiting also stops the work."""
        resource = {**KEY_ONLY, "table": "endless", "key": ["id"], "fields": {"id": "int"}}
        _, source = sqlite_source(ENDLESS, **resource)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await source.read_all()


class TestWhatAWholeReadSays:
    @pytest.mark.requirement("R1", "R2", "R11")
    async def test_complete_with_rows_has_its_end_marker_and_an_agreeing_count(self, source):
        """25 rows in pages of 10: the third page is the end, because no row stood behind it."""
        read = await source.read_all()
        assert [page.rows for page in read.pages] == [10, 10, 5]
        assert [page.end for page in read.pages] == [None, None, END]
        assert (
            read.total,
            read.info.visibility,
            read.info.consistency,
            read.codes,
        ) == (25, "all", Consistency.PINNED, [])

    @pytest.mark.requirement("R1", "R2")
    async def test_complete_and_empty_is_said_by_the_end_marker_not_by_the_lack_of_rows(self, sqlite_source):
        """An empty table has a page without rows that ends affirmatively."""
        _, source = sqlite_source(CREATE_ACCOUNTS)
        read = await source.read_all()
        assert (read.end, read.total, len(read.rows)) == (END, 0, 0)

    @pytest.mark.requirement("R2")
    async def test_a_full_last_page_is_the_end_only_because_the_database_said_so(self, source):
        """A page that is exactly full ends the scan only if no row stands behind it."""
        assert [page.rows for page in (await source.read_all(page_rows=5)).pages] == [5, 5, 5, 5, 5]
        assert [page.end for page in (await source.read_all(page_rows=25)).pages] == [END]

    @pytest.mark.requirement("R37")
    @pytest.mark.parametrize("journal", ["WAL", "DELETE"])
    async def test_what_happens_during_the_scan_stays_out_of_its_state(self, file, source, journal):
        """Rows inserted, deleted and changed between two pages neither appear nor disappear."""
        file.write(f"PRAGMA journal_mode = {journal}")
        before = (await source.read_all()).keys
        async with source.scan() as scan:
            first = await scan.fetch(None)
            writer = sqlite3.connect(file.path, timeout=0)
            try:
                with writer:
                    writer.execute("DELETE FROM accounts WHERE id > 'a0012'")
                    writer.execute("INSERT INTO accounts SELECT 'zz', 'u', 1, NULL, 'test', NULL, 0")
            except sqlite3.OperationalError:
                assert journal == "DELETE"  # there the reader's lock keeps the writer out, which pins the state too
            finally:
                writer.close()
            rest = await rest_of(scan, first.cursor)
        assert before == [*first.columns["id"], *(key for page in rest for key in page.columns["id"])]
        assert {25} == {page.total.value for page in rest}

    async def test_a_page_can_be_fetched_again(self, source):
        """A second try of the same fetch gives the same page: the state is pinned."""
        async with source.scan() as scan:
            first = await scan.fetch(None)
            second = await scan.fetch(first.cursor)
            again = await scan.fetch(first.cursor)
        assert second.columns == again.columns

    @pytest.mark.requirement("R7")
    async def test_a_value_of_another_type_is_handed_on_as_it_is_and_null_is_absence(self, file, source):
        """The connector bends nothing: what does not fit is left to the strict conversion."""
        file.write("UPDATE accounts SET locked = 'yes', owner = 7, last_login = 'soon' WHERE id = 'a0001'")
        row = next(row for row in (await source.read_all()).rows if row["id"] == "a0001")
        assert (row["locked"], row["owner"], row["last_login"]) == ("yes", "7", "soon")

    @pytest.mark.requirement("R7")
    async def test_a_time_that_the_zones_clock_shows_twice_is_indeterminate(self, file, make_source):
        """Half past two on the night when the clock goes back is two instants."""
        file.write("UPDATE accounts SET last_login = '2026-10-25 02:30:00' WHERE id = 'a0001'")
        read = await make_source(sqlite_settings(file.path, timezone="Europe/Berlin")).read_all()
        assert FieldState.INDETERMINATE is read.states("last_login")[1]

    async def test_lists_maps_and_decimals_come_from_json_and_numbers(self, sqlite_source):
        """Containers are JSON text in SQLite; text that is no JSON stays text, to be refused."""
        fields = {"id": "int", "tags": "map<text>", "groups": "list<text>", "cost": "decimal"}
        rows = [(1, '{"a": "b"}', '["x", "y"]', 1.25), (2, '{"a": "1", "a": "2"}', "x,y", 3)]
        _, source = sqlite_source(
            "CREATE TABLE accounts (id INTEGER PRIMARY KEY, tags TEXT, groups TEXT, cost NUMERIC)",
            rows=rows,
            fields=fields,
            **KEY_ONLY,
        )
        first, second = (await source.read_all()).rows
        assert (first["tags"], first["groups"], str(first["cost"])) == ({"a": "b"}, ["x", "y"], "1.25")
        assert (second["tags"], second["groups"], str(second["cost"])) == ('{"a": "1", "a": "2"}', "x,y", "3")

    @pytest.mark.requirement("R38")
    @examples(400)
    @given(
        keys=st.sets(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6), max_size=25),
        page_rows=st.integers(1, 7),
        collation=st.sampled_from(["BINARY", "NOCASE", "RTRIM"]),
    )
    def test_every_row_comes_once_whatever_the_keys_the_page_size_and_the_columns_collation(
        self, tmp_path_factory, keys, page_rows, collation
    ):
        """Keys that a collation takes for equal, and of any script, are all listed, in the order of their bytes."""
        path = tmp_path_factory.mktemp("keys") / "x.db"
        # unique in bytes only: under the column's own collation several keys may be equal
        statements = (f"CREATE TABLE accounts (id TEXT NOT NULL COLLATE {collation})",)
        file = File(path, *statements, "CREATE UNIQUE INDEX one ON accounts (id COLLATE BINARY)")
        if keys:
            file.insert(*((key,) for key in keys))
        source = Source(sqlite_settings(path, {"table": "accounts", "key": ["id"], "fields": {"id": "text"}}))

        async def read():
            found = await source.read_all(page_rows=page_rows)
            await source.close()
            return found

        found = asyncio.run(read())
        assert sorted(keys, key=str.encode) == found.keys
        assert (END, len(keys), []) == (found.end, found.total, found.codes)

    @pytest.mark.requirement("R38")
    @examples(300)
    @given(
        pairs=st.sets(st.tuples(st.sampled_from(["a", "b", "B", ""]), st.integers(-3, 3)), max_size=20),
        page_rows=st.integers(1, 5),
    )
    def test_a_key_of_two_columns_is_walked_as_one(self, tmp_path_factory, pairs, page_rows):
        """Paging compares the whole key, so equal first parts lose no row."""
        path = tmp_path_factory.mktemp("pairs") / "x.db"
        file = File(path, "CREATE TABLE accounts (kind TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (kind, n))")
        if pairs:
            file.insert(*pairs)
        resource = {"table": "accounts", "key": ["kind", "n"], "fields": {"kind": "text", "n": "int"}}
        source = Source(sqlite_settings(path, resource))

        async def read():
            found = await source.read_all(page_rows=page_rows)
            await source.close()
            return found

        found = asyncio.run(read())
        assert sorted(pairs) == [(row["kind"], row["n"]) for row in found.rows]

    @pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", None])
    async def test_a_time_means_the_same_in_a_scan_and_in_a_look_however_it_is_spelled(self, file, make_source, zone):
        """What a page holds besides makes no difference to a value."""
        spellings = [
            "2026-07-01T08:00:00Z",
            "2026-07-01 08:00:00+00:00",
            "20260701T080000Z",
            "2026-07-01",
            "soon",
            None,
        ]
        naive = ["2026-07-01 08:00:00", "2026-07-01T08:00:00.5", "2026-07-01T08:00+01", "2026-07-01 08:00"]
        spellings += ["2026-07-01 08:00:00-05:30", *([] if zone is None else naive)]
        file.write("DELETE FROM accounts")
        file.insert(*(account(index, last_login=text) for index, text in enumerate(spellings)))
        source = make_source(sqlite_settings(file.path, timezone=zone))
        field = source.resource.fields["last_login"]
        read = await source.read_all()
        scanned = {row["id"]: coerce_cell(field, row["last_login"]) for row in read.rows}
        looked = {key: (await source.see(key))["last_login"] for key in scanned}
        assert scanned == looked
        assert scanned["a0000"] == scanned["a0001"]
        assert scanned["a0000"].state is FieldState.PRESENT


class TestWhoReads:
    @pytest.mark.requirement("R6")
    async def test_the_target_is_the_files_real_path(self, file, make_source, tmp_path):
        """Two names of one file are one target."""
        (tmp_path / "link.db").symlink_to(file.path)
        one = await (await make_source(sqlite_settings(file.path)).reader()).identity()
        other = await (await make_source(sqlite_settings(tmp_path / "link.db")).reader()).identity()
        assert one == other
        assert str(file.path.resolve()) == one["target_path"]

    @pytest.mark.requirement("R28")
    async def test_the_reading_side_can_not_write(self, source):
        """The reader's own connection refuses a write."""
        reader = await source.reader()
        with pytest.raises(SourceError, match="readonly"):
            await reader._ask("writing", lambda connection: connection.exec_driver_sql("DELETE FROM accounts"))

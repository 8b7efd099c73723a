"""Scans, looks and look-ups on a real PostgreSQL: whatever hides rows first, then what a whole read says."""

from __future__ import annotations

import asyncio
import string

import pytest
from tests.support.sql import ACCOUNTS, rest_of

from fullcount.compiler import ir
from fullcount.compiler.claims import Consistency
from fullcount.compiler.types import BOOL, INT, TEXT
from fullcount.compiler.values import FieldState, present
from fullcount.runtime.collect.coerce import coerce_cell
from fullcount.runtime.connectors.base import Existence, SourceError
from fullcount.runtime.connectors.sql.scan import END
from fullcount.runtime.evidence.codes import Reason, Way

pytestmark = pytest.mark.service("postgres")

CREATE = """
    CREATE TABLE accounts (id text PRIMARY KEY, entry_uuid uuid NOT NULL DEFAULT gen_random_uuid(),
                           row_version int NOT NULL DEFAULT 1, owner text,
                           environment text NOT NULL DEFAULT 'production',
                           last_login timestamptz, locked boolean NOT NULL DEFAULT false)
"""
FOUR = "INSERT INTO accounts (id, owner) VALUES ('a', 'ana'), ('b', 'bo'), ('c', 'bo'), ('d', NULL)"
POLICY = (
    "ALTER TABLE accounts ENABLE ROW LEVEL SECURITY",
    "CREATE POLICY own ON accounts USING (owner = 'ana')",
)


@pytest.fixture
def accounts(database, make_source):
    """Four accounts as a source."""
    database(CREATE, FOUR)
    return make_source(ACCOUNTS)


class TestHiddenRows:
    @pytest.mark.requirement("R3", "R36")
    async def test_row_level_security_that_hides_rows_makes_the_read_restricted_never_complete(
        self, database, accounts
    ):
        """One of four rows is visible: it is returned, and the read says that it saw less than the scope."""
        database(*POLICY)
        read = await accounts.read_all()
        assert (read.keys, read.info.visibility) == (["a"], "restricted")
        assert read.codes == [Reason.VISIBILITY_RESTRICTED]

    @pytest.mark.requirement("R3", "R36")
    async def test_row_level_security_that_hides_everything_never_licenses_that_nothing_exists(
        self, database, accounts
    ):
        """Partial and empty: no row comes, and the reason does."""
        database("ALTER TABLE accounts ENABLE ROW LEVEL SECURITY")
        read = await accounts.read_all()
        assert (read.rows, read.codes, read.info.visibility) == ([], [Reason.VISIBILITY_RESTRICTED], "restricted")

    @pytest.mark.requirement("R3")
    async def test_a_policy_that_appears_between_description_and_count_is_an_error(self, database, accounts):
        """The transaction switches policies off, so that what they would hide fails the read."""
        reader = await accounts.reader()
        assert await reader.count(accounts.resource) == 4
        database(*POLICY)
        with pytest.raises(SourceError) as caught:
            await reader.count(accounts.resource)
        assert Reason.VISIBILITY_RESTRICTED is caught.value.reason.code

    async def test_row_level_security_leaves_single_objects_unknown(self, database, accounts):
        """Neither a look nor a look-up says gone or complete."""
        database(*POLICY)
        reader = await accounts.reader()
        reading = await reader.read(accounts.resource, ("b",), ("id",))
        matches = await reader.lookup(accounts.resource, "owner", "bo", ("id",))
        assert (reading.existence, matches.complete) == (Existence.UNKNOWN, False)

    async def test_who_bypasses_policies_sees_everything(self, database, make_source):
        """The owner and a superuser are not subject to a policy, and vouch for the table."""
        database(CREATE, FOUR, *POLICY)
        read = await make_source(ACCOUNTS, user="fullcount_admin").read_all()
        assert (len(read.rows), read.info.visibility, read.codes) == (4, "all", [])

    @pytest.mark.requirement("R3")
    async def test_a_view_over_a_table_with_a_policy_is_refused(self, database, make_source):
        """A view that asks with the reader's rights meets the policy behind it, switched off or not."""
        database(CREATE, FOUR, *POLICY, "CREATE VIEW shown WITH (security_invoker) AS SELECT * FROM accounts")
        shown = {**ACCOUNTS, "table": "shown", "view": True, "writable": [], "deletable": False}
        with pytest.raises(SourceError) as caught:
            await make_source(shown).read_all()
        assert Reason.VISIBILITY_RESTRICTED is caught.value.reason.code

    @pytest.mark.parametrize("kind", ["VIEW", "MATERIALIZED VIEW"])
    async def test_views_never_vouch_for_everything(self, database, make_source, kind):
        """What a view leaves out, it leaves out without a word."""
        database(CREATE, FOUR, f"CREATE {kind} shown AS SELECT * FROM accounts WHERE owner = 'ana'")
        shown = {**ACCOUNTS, "table": "shown", "view": True, "writable": [], "deletable": False}
        assert (await make_source(shown).read_all()).info.visibility == "unknown"

    async def test_no_right_to_read_the_table_is_restricted_visibility(self, database, make_source):
        """A refused read is a reason, not an empty answer."""
        database(CREATE, FOUR, "CREATE ROLE outsider LOGIN PASSWORD 'secret'")
        try:
            with pytest.raises(SourceError) as caught:
                await make_source(ACCOUNTS, user="outsider").read_all()
        finally:
            database("DROP ROLE outsider")
        assert Reason.VISIBILITY_RESTRICTED is caught.value.reason.code

    @pytest.mark.requirement("R7")
    async def test_a_column_that_may_not_be_read_is_forbidden_not_absent(self, database, make_source):
        """The rows come, and the field is unknown in each; without the key nothing comes at all."""
        visible = ", ".join(name for name in ACCOUNTS["fields"] if name != "owner")
        database(
            CREATE, FOUR, "CREATE ROLE clerk LOGIN PASSWORD 'secret'", f"GRANT SELECT ({visible}) ON accounts TO clerk"
        )
        source = make_source(ACCOUNTS, user="clerk")
        try:
            read = await source.read_all()
            cells = await source.see("a")
            matches = await (await source.reader()).lookup(source.resource, "owner", "bo", ("id",))
            database("REVOKE SELECT (id) ON accounts FROM clerk")
            with pytest.raises(SourceError) as caught:
                await source.read_all()
        finally:
            await source.close()
            database("DROP OWNED BY clerk", "DROP ROLE clerk")
        assert read.states("owner") == [FieldState.FORBIDDEN] * 4
        assert FieldState.FORBIDDEN is cells["owner"].state
        assert not matches.complete
        assert Reason.VISIBILITY_RESTRICTED is caught.value.reason.code

    async def test_a_foreign_partition_makes_visibility_unknown(self, database, make_source):
        """What another server holds, that server may hide."""
        database(
            "CREATE EXTENSION file_fdw",
            "CREATE SERVER files FOREIGN DATA WRAPPER file_fdw",
            "CREATE TABLE parts (id int NOT NULL) PARTITION BY LIST (id)",
            "CREATE TABLE here PARTITION OF parts FOR VALUES IN (1)",
        )
        source = make_source({"table": "parts", "key": ["id"], "fields": {"id": "int"}})
        assert (await source.read_all()).info.visibility == "all"
        database(
            "CREATE FOREIGN TABLE there PARTITION OF parts FOR VALUES IN (2)"
            " SERVER files OPTIONS (filename '/dev/null', format 'csv')"
        )
        database("GRANT pg_read_server_files TO reader")
        assert (await source.read_all()).info.visibility == "unknown"


class TestTheRightTable:
    async def test_a_table_that_a_search_path_puts_in_front_is_seen_in_the_target(self, database, make_source):
        """Reader and actor that reach different tables by one name have different targets."""
        database(
            CREATE, FOUR, "CREATE SCHEMA writer", "CREATE TABLE writer.accounts (LIKE public.accounts INCLUDING ALL)"
        )
        source = make_source(ACCOUNTS)
        reading, acting = await (await source.reader()).identity(), await (await source.actor()).identity()
        assert reading["target_table_accounts"] == "public.accounts"
        assert acting["target_table_accounts"] == "writer.accounts"

    async def test_reader_and_actor_of_one_target_differ_in_the_user_only(self, accounts):
        """The facts of the target are equal, and none of them is a secret."""
        reading, acting = await (await accounts.reader()).identity(), await (await accounts.actor()).identity()
        assert {"user"} == {name for name in reading if reading[name] != acting[name]}
        assert {"target_system", "target_host", "target_port", "target_database"} <= set(reading)
        assert "secret" not in str(reading)

    @pytest.mark.parametrize(
        "declared", [{"owner": "int?"}, {"locked": "text"}, {"last_login": "date?"}, {"id": "map<text>"}]
    )
    async def test_a_field_declared_as_what_its_column_is_not_fails_before_a_row_is_read(
        self, database, make_source, declared
    ):
        """Types of columns are known in PostgreSQL, so a wrong declaration is an error, not 4 refused values."""
        database(CREATE, FOUR)
        plain = {"table": "accounts", "key": ["row_version"], "fields": {"row_version": "int", **declared}}
        with pytest.raises(SourceError) as caught:
            await make_source(plain).read_all()
        assert caught.value.reason.data["finding"] == "FC608"

    async def test_times_without_a_zone_need_one_said(self, database, make_source):
        """`timestamp` columns are instants only where the source says of which zone."""
        database(
            "CREATE TABLE accounts (id int PRIMARY KEY, seen timestamp)",
            "INSERT INTO accounts VALUES (1, '2026-07-01 12:00')",
        )
        plain = {"table": "accounts", "key": ["id"], "fields": {"id": "int", "seen": "timestamp?"}}
        with pytest.raises(SourceError) as caught:
            await make_source(plain).read_all()
        assert caught.value.reason.data["finding"] == "FC612"
        (row,) = (await make_source(plain, timezone="Europe/Berlin").read_all()).rows
        assert row["seen"].isoformat() == "2026-07-01T12:00:00+02:00"


class TestBrokenConnections:
    async def test_a_wrong_password_is_a_failed_login_and_is_never_repeated_in_the_message(self, accounts, monkeypatch):
        """The reason is `AUTH_FAILED`, and neither password is in it."""
        monkeypatch.setenv("TEST_PASSWORD", "not-the-password")
        with pytest.raises(SourceError) as caught:
            await accounts.reader()
        assert Reason.AUTH_FAILED is caught.value.reason.code
        assert "not-the-password" not in str(caught.value)

    async def test_a_server_that_does_not_answer_is_unavailable_and_may_be_asked_again(self, accounts):
        """Nobody listens on port 1."""
        closed = {**accounts.settings, "url": "postgresql://reader@127.0.0.1:1/x"}
        with pytest.raises(SourceError) as caught:
            await type(accounts)(closed).reader()
        assert (caught.value.reason.code, caught.value.retryable) == (Reason.SOURCE_UNAVAILABLE, True)

    @pytest.mark.requirement("R14", "R15")
    async def test_a_connection_lost_within_a_scan_is_never_continued_by_another(self, database, accounts):
        """The pinned state went with its connection: the way on is to begin anew."""
        async with accounts.scan(page_rows=2) as scan:
            first = await scan.fetch(None)
            database("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'reader'")
            with pytest.raises(SourceError) as caught:
                await scan.fetch(first.cursor)
            with pytest.raises(SourceError) as after:
                await scan.fetch(first.cursor)
        assert after.value.reason.code is Reason.CURSOR_EXPIRED
        assert (caught.value.reason.code, caught.value.retryable) == (Reason.SOURCE_UNAVAILABLE, False)
        assert (caught.value.continuation.way, caught.value.continuation.preserves_snapshot) == (Way.RESTART, False)

    @pytest.mark.requirement("R16")
    async def test_a_statement_over_its_time_ends_with_that_reason(self, database, make_source):
        """The server itself keeps the time of a statement."""
        database("CREATE VIEW slow AS SELECT 1 AS id, pg_sleep(5)::text AS nap")
        slow = {"table": "slow", "key": ["id"], "fields": {"id": "int", "nap": "text"}, "view": True}
        with pytest.raises(SourceError) as caught:
            await make_source(slow, statement_timeout=0.2).read_all()
        assert Reason.TIME_BUDGET_EXCEEDED is caught.value.reason.code
        assert Way.RETRY_WITH_DEADLINE is caught.value.continuation.way

    async def test_a_cancelled_read_cancels_the_statement_at_the_server(self, database, make_source):
        """Nothing runs on for somebody who stopped waiting."""
        database("CREATE VIEW slow AS SELECT 1 AS id, pg_sleep(30)::text AS nap")
        slow = {"table": "slow", "key": ["id"], "fields": {"id": "int", "nap": "text"}, "view": True}
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await make_source(slow).read_all()
        running = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'reader' AND state = 'active'"
        assert database(running) == [(0,)]


class TestKeys:
    async def test_a_table_that_others_inherit_from_has_no_key_of_its_own(self, database, make_source):
        """The heirs' rows are listed too, and the parent's index knows nothing of them."""
        database(CREATE, FOUR, "CREATE TABLE heirs () INHERITS (accounts)", "INSERT INTO heirs (id) VALUES ('a')")
        read = await make_source(ACCOUNTS).read_all(page_rows=1)
        assert (5, Reason.UNSTABLE_ORDER in read.codes) == (read.total, True)

    @pytest.mark.requirement("R38")
    async def test_keys_of_any_script_come_once_in_the_columns_own_order(self, database, make_source):
        """A linguistic order sorts case and accents together; paging compares in the same order."""
        database('CREATE TABLE accounts (id text COLLATE "en-x-icu" PRIMARY KEY)')
        keys = [first + second for first in "aAbBéÉzß中😀" for second in ("", "a", "A", " ", "-", "é")]
        values = ", ".join(f"('{key}')" for key in keys)
        database(f"INSERT INTO accounts VALUES {values}")
        read = await make_source({"table": "accounts", "key": ["id"], "fields": {"id": "text"}}).read_all(page_rows=7)
        assert (sorted(keys), END, []) == (sorted(read.keys), read.end, read.codes)
        assert sorted(keys) != read.keys

    async def test_keys_that_a_collation_takes_for_equal_are_told_apart_by_their_bytes(self, database, make_source):
        """Under a nondeterministic collation `a` equals `A`; they are two rows all the same."""
        database(
            "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)",
            "CREATE TABLE accounts (id text COLLATE loose NOT NULL)",
            'CREATE UNIQUE INDEX bytes ON accounts (id COLLATE "C")',
            "INSERT INTO accounts VALUES ('a'), ('A'), ('á'), ('b')",
        )
        read = await make_source({"table": "accounts", "key": ["id"], "fields": {"id": "text"}}).read_all(page_rows=1)
        assert (read.keys, read.codes) == (["A", "a", "b", "á"], [])

    async def test_a_key_of_several_columns_is_walked_as_one(self, database, make_source):
        """Partitioned tables are base tables, and their keys have parts."""
        database(
            "CREATE TABLE accounts (day date NOT NULL, n int NOT NULL, PRIMARY KEY (day, n)) PARTITION BY RANGE (day)",
            "CREATE TABLE old PARTITION OF accounts FOR VALUES FROM (MINVALUE) TO ('2026-01-03')",
            "CREATE TABLE new PARTITION OF accounts FOR VALUES FROM ('2026-01-03') TO (MAXVALUE)",
            "INSERT INTO accounts"
            " SELECT '2026-01-01'::date + d, n FROM generate_series(0, 4) d, generate_series(1, 5) n",
        )
        source = make_source({"table": "accounts", "key": ["day", "n"], "fields": {"day": "date", "n": "int"}})
        read = await source.read_all(page_rows=3)
        pairs = [(row["day"].isoformat(), row["n"]) for row in read.rows]
        assert (25, "all", sorted(pairs)) == (len(set(pairs)), read.info.visibility, pairs)
        days = coerce_cell(source.resource.fields["day"], read.rows[7]["day"]).value
        reading = await (await source.reader()).read(source.resource, (days, pairs[7][1]), ("n",))
        assert Existence.FOUND is reading.existence


class TestOneState:
    @pytest.mark.requirement("R37")
    async def test_what_happens_during_the_scan_stays_out_of_its_state(self, database, accounts):
        """Rows inserted, deleted and renamed between two pages neither appear nor disappear."""
        async with accounts.scan(page_rows=2) as scan:
            first = await scan.fetch(None)
            database(
                "DELETE FROM accounts WHERE id = 'd'",
                "INSERT INTO accounts (id) VALUES ('bb'), ('zz')",
                "UPDATE accounts SET id = '0' WHERE id = 'c'",
            )
            rest = await rest_of(scan, first.cursor)
        assert [*first.columns["id"], *(key for page in rest for key in page.columns["id"])] == ["a", "b", "c", "d"]
        assert (rest[-1].total.value, rest[-1].end) == (4, END)
        assert Consistency.PINNED is scan.info.consistency
        assert scan.info.snapshot_token

    @pytest.mark.requirement("R37")
    async def test_a_permission_withdrawn_within_the_scan_ends_it_with_that_reason(self, database, accounts):
        """The next page is refused by the database, and that is what the scan says."""
        async with accounts.scan(page_rows=2) as scan:
            first = await scan.fetch(None)
            database("REVOKE pg_read_all_data FROM reader")
            try:
                with pytest.raises(SourceError) as caught:
                    await scan.fetch(first.cursor)
            finally:
                database("GRANT pg_read_all_data TO reader")
        assert Reason.VISIBILITY_RESTRICTED is caught.value.reason.code

    @pytest.mark.requirement("R28")
    async def test_the_reading_side_can_not_write_even_where_its_role_may(self, database, make_source):
        """A reader given a writer's credential still reads only."""
        database(CREATE, FOUR)
        reader = await make_source(ACCOUNTS, user="writer").reader()
        with pytest.raises(SourceError, match="read-only transaction"):
            await reader._ask("writing", lambda connection: connection.exec_driver_sql("DELETE FROM accounts"))


class TestValues:
    async def test_values_come_exact_or_not_at_all(self, database, make_source):
        """What Python's types would bend (months as days, infinity) is refused cell by cell, and nothing else."""
        database(
            "CREATE TYPE mood AS ENUM ('ok', 'bad')",
            "CREATE TABLE accounts (id uuid PRIMARY KEY, seen timestamptz, lasts interval, tags jsonb, groups text[],"
            " mood mood, day date, cost numeric, ratio float8, address inet)",
            "INSERT INTO accounts VALUES"
            """ ('00000000-0000-0000-0000-000000000001', '2026-01-01 12:00+02', '26:00', '{"a": "b"}', '{x,y}',"""
            " 'ok', '2026-01-02', 1.5, 0.1, '10.0.0.1'),"
            """ ('00000000-0000-0000-0000-000000000002', 'infinity', '1 month', '[1]', '{}',"""
            " 'bad', '-infinity', 'NaN', 'Infinity', '::1')",
        )
        fields = {
            "id": "text",
            "seen": "timestamp",
            "lasts": "duration",
            "tags": "map<text>",
            "groups": "list<text>",
            "mood": "text",
            "day": "date",
            "cost": "decimal",
            "ratio": "decimal",
            "address": "text",
        }
        source = make_source({"table": "accounts", "key": ["id"], "fields": fields})
        first, second = (await source.read_all()).rows
        cells = {name: coerce_cell(source.resource.fields[name], first[name]) for name in fields}
        assert {FieldState.PRESENT} == {cell.state for cell in cells.values()}
        assert tuple(cells[name].value for name in ("seen", "lasts", "tags", "groups")) == (
            1767261600000000,
            93_600_000_000,
            {"a": "b"},
            ("x", "y"),
        )
        known = {name for name in fields if coerce_cell(source.resource.fields[name], second[name]).value is not None}
        assert {"id", "groups", "mood", "address"} == known
        assert present("ok") == (await source.see(first["id"]))["mood"]

    @pytest.mark.requirement("R6")
    async def test_a_scope_is_pushed_down_only_where_the_database_tests_as_we_do(self, database, make_source):
        """Text, whole numbers and truths are; a type with loose equality is not, and is left to the collector."""
        database(
            "CREATE EXTENSION citext",
            "CREATE TABLE accounts (id int PRIMARY KEY, env text, loose citext, fixed char(4), yes boolean)",
            "INSERT INTO accounts VALUES (1, 'a', 'a', 'a', true), (2, 'A', 'A', 'A', false)",
            "INSERT INTO accounts (id) VALUES (3)",
        )
        fields = {"id": "int", "env": "text?", "loose": "text?", "fixed": "text?", "yes": "bool?"}
        source = make_source({"table": "accounts", "key": ["id"], "fields": fields})

        def equal(name, value, type_, operator="=="):
            return ir.Compare(operator, ir.Field(ir.SELF, "accounts", name, type_, True), ir.Const(value, type_))

        async def keys(scope):
            read = await source.read_all(scope)
            return read.keys, read.total, read.info.scope_pushed_down

        assert await keys(equal("env", "a", TEXT)) == ([1, 3], 2, True)
        assert await keys(equal("env", "a", TEXT, "!=")) == ([2, 3], 2, True)
        assert await keys(equal("id", 2, INT)) == ([2], 1, True)
        assert await keys(equal("yes", False, BOOL)) == ([2, 3], 2, True)
        assert await keys(ir.IsState(ir.Field(ir.SELF, "accounts", "env", TEXT, True), "absent")) == ([3], 1, True)
        for name in ("loose", "fixed"):
            assert await keys(equal(name, "a", TEXT)) == ([1, 2, 3], 3, False)
        assert await keys(ir.And((equal("env", "a", TEXT), equal("loose", "a", TEXT)))) == ([1, 3], 2, False)

    async def test_numbers_that_are_no_int_are_told_by_a_look_up(self, database, make_source):
        """What is not known of its type may be the value that is asked for, so it comes back."""
        database(
            "CREATE TABLE accounts (id int PRIMARY KEY, n numeric)",
            "INSERT INTO accounts VALUES (1, 7), (2, 7.5), (3, 'NaN'), (4, 1e30), (5, NULL), (6, 8)",
        )
        source = make_source({"table": "accounts", "key": ["id"], "fields": {"id": "int", "n": "int?"}})
        matches = await (await source.reader()).lookup(source.resource, "n", 7, ("id",))
        assert sorted(row["id"].value for row in matches.rows) == [1, 2, 3, 4, 5]

    @pytest.mark.requirement("R22")
    async def test_several_look_ups_at_once_answer_as_each_of_them_would(self, database, make_source):
        """Types with loose equality, padding, a collation that folds, numbers that are no int, rows without a value."""
        database(
            "CREATE EXTENSION IF NOT EXISTS citext",
            "CREATE COLLATION folds (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
            "CREATE TABLE accounts (id serial PRIMARY KEY, loose citext, fixed char(4), folded text COLLATE folds,"
            " n numeric, k int)",
            "INSERT INTO accounts (loose, fixed, folded, n, k) VALUES ('a', 'a', 'a', 7, 7), ('A', 'A', 'A', 7.5, 8),"
            " ('b', 'a ', 'B', 'NaN', 7), (NULL, NULL, NULL, 1e30, NULL), ('', '', '', NULL, 0)",
        )
        fields = {"id": "int", "loose": "text?", "fixed": "text?", "folded": "text?", "n": "int?", "k": "int?"}
        source = make_source({"table": "accounts", "key": ["id"], "fields": fields})
        reader, texts = await source.reader(), ("a", "A", "a ", "a   ", "b", "", "z")

        def drawn(matches):
            return sorted(row["id"].value for row in matches.rows), matches.complete, matches.reasons

        asked = {"loose": texts, "fixed": texts, "folded": texts, "n": (7, 8, 0), "k": (7, 8, 9, 2**62)}
        for name, values in asked.items():
            together = await reader.lookup_many(source.resource, name, values, tuple(fields))
            assert set(together) >= set(values) - {2**62}, name
            for value, found in together.items():
                alone = await reader.lookup(source.resource, name, value, tuple(fields))
                assert drawn(found) == drawn(alone), (name, value)

    async def test_keys_and_look_ups_take_any_text(self, database, accounts):
        """Text that looks like SQL, quotes, or that the database can't hold finds nothing, and breaks nothing."""
        reader = await accounts.reader()
        for text in ("'; DROP TABLE accounts; --", '"', "\\", "%s", ":id", string.printable):
            matches = await reader.lookup(accounts.resource, "owner", text, ("id",))
            assert ([row["id"].value for row in matches.rows], matches.complete) == (["d"], True)
        matches = await reader.lookup(accounts.resource, "owner", "a\0", ("id",))
        assert [row["id"].value for row in matches.rows] == ["d"]

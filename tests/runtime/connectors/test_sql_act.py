"""Writes on SQLite rows: each case in which nothing may be written first, judged by what the file holds after."""

from __future__ import annotations

import sqlite3

import pytest
from tests.support.sql import ACCOUNTS, CREATE_ACCOUNTS, account, sqlite_settings

from fullcount.compiler.values import ABSENT, Cell, FieldState, present
from fullcount.runtime.connectors.base import ActCall, Outcome
from fullcount.runtime.evidence.codes import ActReason

ALL = "SELECT * FROM accounts ORDER BY id"
NO_VERSION = {"version": None, "version_managed": False}


@pytest.fixture
def unchanged(file):
    """Check at the end that the file is as it was."""
    before = file.rows(ALL)
    yield
    assert before == file.rows(ALL)


class TestWhatIsNotWritten:
    @pytest.mark.requirement("R22")
    async def test_a_row_that_changed_since_it_was_seen_is_left_alone(self, file, source):
        """The version moved on, so the write does not happen."""
        call = await source.call("delete", "a0003")
        file.write("UPDATE accounts SET row_version = 2, last_login = '2026-11-29T08:00:00Z' WHERE id = 'a0003'")
        result = await source.perform(call)
        assert (result.outcome, result.reason) == (Outcome.CHANGED, ActReason.PRECONDITION_FAILED)
        assert len(file.rows(ALL)) == 25

    async def test_a_change_that_forgot_the_version_is_seen_all_the_same(self, file, source):
        """Every field that was read is compared, not the version alone."""
        call = await source.call("delete", "a0003")
        file.write("UPDATE accounts SET owner = 'somebody' WHERE id = 'a0003'")
        result = await source.perform(call)
        assert (result.outcome, result.detail) == (Outcome.CHANGED, "it changed since it was seen: `owner` differs")

    async def test_without_a_version_every_field_that_was_read_is_the_precondition(self, file, make_source):
        """A field that was absent and is not any more counts as a change."""
        source = make_source(sqlite_settings(file.path, {**ACCOUNTS, **NO_VERSION}))
        call = await source.call("delete", "a0000")
        assert call.expected["owner"] == ABSENT
        file.write("UPDATE accounts SET owner = 'p1' WHERE id = 'a0000'")
        assert Outcome.CHANGED is (await source.perform(call)).outcome

    async def test_another_object_under_the_same_key_is_left_alone(self, file, source):
        """A recreated row has another incarnation."""
        call = await source.call("delete", "a0003")
        file.write("DELETE FROM accounts WHERE id = 'a0003'")
        file.insert(account(3, entry_uuid="another"))
        result = await source.perform(call)
        assert (
            result.outcome,
            result.detail,
        ) == (Outcome.CHANGED, "another object has this key now: `entry_uuid` differs")

    async def test_a_row_that_is_gone_is_already_gone(self, file, source):
        """Deleting what somebody deleted is not a failure, and not our doing."""
        call = await source.call("delete", "a0003")
        file.write("DELETE FROM accounts WHERE id = 'a0003'")
        assert Outcome.ALREADY_GONE is (await source.perform(call)).outcome

    @pytest.mark.parametrize("missing", [{}, {"row_version": Cell(FieldState.FORBIDDEN, None)}])
    async def test_without_a_seen_version_nothing_is_written(self, source, unchanged, missing):
        """A precondition that can't be stated is a refusal, not a free pass."""
        seen = {**{k: v for k, v in (await source.see("a0003")).items() if k != "row_version"}, **missing}
        result = await source.perform(await source.call("delete", "a0003", seen=seen))
        assert (result.outcome, result.reason) == (Outcome.REFUSED, ActReason.PRECONDITION_FAILED)

    async def test_without_anything_seen_nothing_is_written(self, source, unchanged):
        """An empty expectation is not one that everything meets."""
        assert Outcome.REFUSED is (await source.perform(await source.call("delete", "a0003", seen={}))).outcome

    @pytest.mark.requirement("R28")
    @pytest.mark.parametrize("arguments", [{"environment": "test"}, {"row_version": 7}, {"nothing": 1}, {}])
    async def test_an_update_of_anything_but_writable_columns_is_refused(self, source, unchanged, arguments):
        """The operation is as narrow as it was declared, whoever calls it."""
        assert Outcome.REFUSED is (await source.perform(await source.call("update", "a0003", **arguments))).outcome

    async def test_arguments_that_name_another_object_than_the_key_are_refused(self, source, unchanged):
        """The object acted on is the one that was approved."""
        call = await source.call("update", "a0003", locked=True)
        other = ActCall(call.resource, "update", call.key, {"id": "a0004", "locked": True}, call.expected, "key")
        assert Outcome.REFUSED is (await source.perform(other)).outcome

    async def test_a_value_of_another_type_is_refused(self, source, unchanged):
        """`1` is not `true`."""
        assert Outcome.REFUSED is (await source.perform(await source.call("update", "a0003", locked=1))).outcome

    async def test_two_rows_under_one_key_are_never_written(self, sqlite_source):
        """A key that is not one in the database reaches no row at all."""
        rows = [account(1), account(1)]
        file, source = sqlite_source(CREATE_ACCOUNTS.replace("PRIMARY KEY ", ""), rows=rows)
        seen = {"row_version": present(1), "id": present("a0001")}
        assert Outcome.REFUSED is (await source.perform(await source.call("delete", "a0001", seen=seen))).outcome
        assert len(file.rows(ALL)) == 2

    @pytest.mark.parametrize("action", ["CASCADE", "SET NULL", "SET DEFAULT"])
    async def test_rows_of_other_tables_that_nobody_approved_keep_the_row(self, file, source, action):
        """A delete that would reach further than its one row is refused as collateral."""
        file.write(
            f"CREATE TABLE grants (n INTEGER PRIMARY KEY, account TEXT REFERENCES accounts (id) ON DELETE {action})",
            "INSERT INTO grants VALUES (1, 'a0003')",
        )
        result = await source.perform(await source.call("delete", "a0003"))
        assert (result.outcome, result.reason) == (Outcome.REFUSED, ActReason.COLLATERAL_CHANGE)
        assert Outcome.DONE is (await source.perform(await source.call("delete", "a0004"))).outcome
        assert file.rows("SELECT * FROM grants") == [(1, "a0003")]

    @pytest.mark.parametrize("action", ["CASCADE", "SET NULL", "SET DEFAULT"])
    async def test_rows_of_other_tables_that_would_change_with_an_update_keep_the_row(self, file, source, action):
        """A reference to the very column that is written is collateral; one to another column is none."""
        file.write(
            "UPDATE accounts SET owner = 'o-' || id",
            "CREATE UNIQUE INDEX owners ON accounts (owner)",
            f"CREATE TABLE badges (n INTEGER PRIMARY KEY, owner TEXT REFERENCES accounts (owner) ON UPDATE {action})",
            "INSERT INTO badges VALUES (1, 'o-a0003')",
        )
        result = await source.perform(await source.call("update", "a0003", owner="else"))
        assert (result.outcome, result.reason) == (Outcome.REFUSED, ActReason.COLLATERAL_CHANGE)
        assert "main.badges" in result.detail
        assert file.rows("SELECT * FROM badges") == [(1, "o-a0003")]
        assert Outcome.DONE is (await source.perform(await source.call("update", "a0003", locked=True))).outcome

    @pytest.mark.requirement("R28")
    @pytest.mark.parametrize("moment", ["BEFORE", "AFTER", ""])
    @pytest.mark.parametrize("operation", ["delete", "update"])
    async def test_a_trigger_that_nobody_vouched_for_refuses_the_write(self, file, source, moment, operation):
        """What it would do to other rows can't be told from outside, so its being there is enough."""
        file.write(
            f"CREATE TRIGGER sweep {moment} {operation} ON accounts BEGIN DELETE FROM accounts WHERE id != old.id; END"
        )
        before = file.rows(ALL)
        arguments = {"locked": True} if operation == "update" else {}
        result = await source.perform(await source.call(operation, "a0003", **arguments))
        assert (result.outcome, result.reason) == (Outcome.REFUSED, ActReason.COLLATERAL_CHANGE)
        assert "`sweep`" in result.detail
        assert file.rows(ALL) == before

    @pytest.mark.requirement("R28")
    async def test_a_trigger_that_appears_between_two_acts_refuses_the_second(self, file, source):
        """The schema is looked at in each write, not once."""
        assert Outcome.DONE is (await source.perform(await source.call("delete", "a0003"))).outcome
        file.write("CREATE TRIGGER sweep AFTER DELETE ON accounts BEGIN DELETE FROM accounts; END")
        result = await source.perform(await source.call("delete", "a0004"))
        assert (result.outcome, result.reason) == (Outcome.REFUSED, ActReason.COLLATERAL_CHANGE)
        assert len(file.rows(ALL)) == 24

    @pytest.mark.requirement("R28")
    async def test_a_trigger_of_another_name_than_the_known_one_refuses_the_write(self, file, make_source, unchanged):
        """The name must be the same to the last letter; knowing one trigger vouches for no other."""
        source = make_source(sqlite_settings(file.path, {**ACCOUNTS, "known_triggers": ["Noted", "other"]}))
        file.write("CREATE TRIGGER noted AFTER UPDATE ON accounts BEGIN SELECT 1; END")
        result = await source.perform(await source.call("update", "a0003", locked=True))
        assert result.reason is ActReason.COLLATERAL_CHANGE

    async def test_a_known_trigger_and_one_of_another_write_do_not_stand_in_the_way(self, file, make_source):
        """What the configuration names may run; a trigger of inserts or of another table has nothing to do with it."""
        source = make_source(sqlite_settings(file.path, {**ACCOUNTS, "known_triggers": ["noted"]}))
        file.write(
            "CREATE TABLE audit (id TEXT)",
            "CREATE TRIGGER noted AFTER UPDATE ON Accounts BEGIN INSERT INTO audit VALUES (new.id); END",
            "CREATE TRIGGER gone AFTER DELETE ON accounts BEGIN SELECT 1; END",
            "CREATE TRIGGER come AFTER INSERT ON accounts BEGIN SELECT 1; END",
            "CREATE TRIGGER elsewhere AFTER UPDATE ON audit BEGIN SELECT 1; END",
        )
        result = await source.perform(await source.call("update", "a0003", locked=True))
        assert result.outcome is Outcome.DONE
        assert file.rows("SELECT * FROM audit") == [("a0003",)]

    async def test_a_reference_without_an_action_refuses_the_delete_and_says_so(self, file, source, unchanged):
        """SQLite keeps references only where it is told to; the acting side tells it to."""
        file.write(
            "CREATE TABLE grants (n INTEGER PRIMARY KEY, account TEXT REFERENCES accounts (id))",
            "INSERT INTO grants VALUES (1, 'a0003')",
        )
        result = await source.perform(await source.call("delete", "a0003"))
        assert Outcome.REFUSED is result.outcome
        assert "FOREIGN KEY" in result.detail

    async def test_a_write_that_the_database_suppressed_is_not_called_done(self, file, make_source, unchanged):
        """A trigger that ignores the update leaves no row written, and that is looked at before the commit."""
        source = make_source(sqlite_settings(file.path, {**ACCOUNTS, "known_triggers": ["no_locks"]}))
        file.write(
            "CREATE TRIGGER no_locks BEFORE UPDATE ON accounts WHEN new.locked = 1 BEGIN SELECT raise(IGNORE); END"
        )
        result = await source.perform(await source.call("update", "a0003", locked=True))
        assert (result.outcome, "suppressed" in result.detail) == (Outcome.REFUSED, True)

    async def test_a_lock_held_by_another_writer_is_a_failure_with_nothing_written(self, file, make_source, unchanged):
        """Waiting ends, and nothing was sent."""
        source = make_source(sqlite_settings(file.path, busy_timeout=0.05))
        call = await source.call("delete", "a0003")
        actor = await source.actor()
        other = sqlite3.connect(file.path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        result = await actor.perform(call)
        other.execute("ROLLBACK")
        other.close()
        assert (result.outcome, "nothing was written" in result.detail) == (Outcome.FAILED, True)

    async def test_a_view_is_not_acted_on_whatever_the_configuration_says(self, file, make_source, unchanged):
        """Which rows a write through a view reaches is not known."""
        file.write("CREATE VIEW shown AS SELECT * FROM accounts")
        source = make_source(sqlite_settings(file.path, {**ACCOUNTS, "table": "shown"}))
        assert Outcome.REFUSED is (await source.perform(await source.call("delete", "a0003"))).outcome


class TestWhatIsWritten:
    async def test_an_update_writes_its_columns_adds_to_the_version_and_remembers_what_was_there(self, file, source):
        """`before` has what an undo needs."""
        result = await source.perform(await source.call("update", "a0001", locked=True, owner="nobody"))
        assert (result.outcome, result.before) == (Outcome.DONE, {"locked": False, "owner": "p1"})
        assert file.rows("SELECT owner, locked, row_version FROM accounts WHERE id = 'a0001'") == [("nobody", 1, 2)]

    async def test_an_update_leaves_the_version_to_its_owner_unless_told_otherwise(self, file, make_source):
        """Where a trigger or the application counts, Fullcount does not."""
        source = make_source(sqlite_settings(file.path, {**ACCOUNTS, "version_managed": False}))
        await source.perform(await source.call("update", "a0001", locked=True))
        assert file.rows("SELECT locked, row_version FROM accounts WHERE id = 'a0001'") == [(1, 1)]

    async def test_a_delete_takes_its_row_only_and_remembers_all_of_it(self, file, source):
        """The whole row as it was stands in `before`."""
        result = await source.perform(await source.call("delete", "a0001"))
        assert Outcome.DONE is result.outcome
        assert (result.before["id"], result.before["last_login"]) == ("a0001", "2026-11-01T08:00:00Z")
        assert len(file.rows(ALL)) == 24

    @pytest.mark.requirement("R29")
    async def test_doing_it_twice_is_doing_it_once(self, file, source):
        """The second call finds the row as it is after the first, and leaves it so."""
        call = await source.call("update", "a0001", locked=True)
        first, second = await source.perform(call), await source.perform(call)
        assert (first.outcome, second.outcome) == (Outcome.DONE, Outcome.CHANGED)
        assert file.rows("SELECT locked, row_version FROM accounts WHERE id = 'a0001'") == [(1, 2)]

    async def test_keys_and_values_that_look_like_sql_are_only_text(self, file, source):
        """Values are bound, never written into a statement."""
        hostile = "x'; DROP TABLE accounts; --"
        file.insert(account(99, id=hostile))
        result = await source.perform(await source.call("update", hostile, owner="'; DELETE FROM accounts; --"))
        assert Outcome.DONE is result.outcome
        assert len(file.rows(ALL)) == 26

    async def test_a_table_whose_names_need_quotes_is_still_one_table(self, sqlite_source):
        """Names from the configuration are quoted, whatever they hold."""
        made = 'CREATE TABLE "odd; name" (id TEXT PRIMARY KEY NOT NULL, "order" TEXT)'
        change = {"incarnation": None, **NO_VERSION, "table": "odd; name", "writable": ["order"]}
        file, source = sqlite_source(
            made, "INSERT INTO \"odd; name\" VALUES ('a', 'b')", fields={"id": "text", "order": "text?"}, **change
        )
        assert Outcome.DONE is (await source.perform(await source.call("update", "a", order="c"))).outcome
        assert file.rows('SELECT * FROM "odd; name"') == [("a", "c")]


@pytest.mark.requirement("R32")
class TestWhetherALostWriteTookEffect:
    async def ask(self, source, call):
        return await (await source.actor()).took_effect(call)

    async def test_a_delete_is_told_by_the_row(self, file, source):
        """There: it did not happen. Gone, or another object in its place: it did."""
        call = await source.call("delete", "a0001")
        assert await self.ask(source, call) is False
        file.write("DELETE FROM accounts WHERE id = 'a0001'")
        assert await self.ask(source, call) is True
        file.insert(account(1, entry_uuid="another"))
        assert await self.ask(source, call) is True

    async def test_a_delete_of_an_object_without_incarnation_that_is_there_and_changed_is_not_told(
        self, file, make_source
    ):
        """It may have been deleted and made again, or never deleted: nobody can tell."""
        source = make_source(sqlite_settings(file.path, {**ACCOUNTS, **NO_VERSION, "incarnation": None}))
        call = await source.call("delete", "a0001")
        assert await self.ask(source, call) is False
        file.write("UPDATE accounts SET owner = 'other' WHERE id = 'a0001'")
        assert await self.ask(source, call) is None

    async def test_an_update_is_told_by_its_values_and_the_version(self, file, source):
        """Same version: no. The values with a later version: yes. Other values with a later version: not told."""
        call = await source.call("update", "a0001", locked=True)
        assert await self.ask(source, call) is False
        await source.perform(call)
        assert await self.ask(source, call) is True
        file.write("UPDATE accounts SET locked = 0, row_version = 3 WHERE id = 'a0001'")
        assert await self.ask(source, call) is None
        file.write("DELETE FROM accounts WHERE id = 'a0001'")
        assert await self.ask(source, call) is None

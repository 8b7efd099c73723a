"""Writes on a real PostgreSQL: what a concurrent world, a policy or a trigger must prevent first."""

from __future__ import annotations

import asyncio

import psycopg
import pytest
from tests.integration.test_postgres_read import CREATE, FOUR
from tests.support.sql import ACCOUNTS

from fullcount.compiler.values import Cell, FieldState
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.connectors.sql.database import Lane
from fullcount.runtime.evidence.codes import ActReason

pytestmark = pytest.mark.service("postgres")

ALL = "SELECT * FROM accounts ORDER BY id"

KILL = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'writer'"


SWEEP = (
    "CREATE FUNCTION sweep() RETURNS trigger LANGUAGE plpgsql AS"
    " $$ BEGIN DELETE FROM accounts WHERE id = 'a'; RETURN NULL; END $$"
)
TRIGGERS = {
    "a row trigger": "CREATE TRIGGER sweep AFTER {event} ON accounts FOR EACH ROW EXECUTE FUNCTION sweep()",
    "a statement trigger": "CREATE TRIGGER sweep AFTER {event} ON accounts EXECUTE FUNCTION sweep()",
    "a rule": "CREATE RULE sweep AS ON {event} TO accounts DO ALSO DELETE FROM accounts WHERE id = 'a'",
}
PARTED = (
    "CREATE TABLE parted (id text PRIMARY KEY, locked boolean NOT NULL) PARTITION BY LIST (id);"
    "CREATE TABLE parted_a PARTITION OF parted FOR VALUES IN ('a');"
    "INSERT INTO parted VALUES ('a', false)"
)
PARTED_RESOURCE = {
    "table": "parted",
    "key": ["id"],
    "fields": {"id": "text", "locked": "bool"},
    "writable": ["locked"],
    "deletable": True,
}


async def until_blocked(database, waiting):
    """Return when the writer waits for a lock, or is done."""
    asked = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'writer' AND wait_event_type = 'Lock'"
    while not waiting.done() and database(asked) == [(0,)]:  # noqa: ASYNC110 - the server has no event to wait for
        await asyncio.sleep(0.01)


@pytest.fixture
def source(database, make_source):
    """Four accounts as a source."""
    database(CREATE, FOUR)
    return make_source(ACCOUNTS)


async def during(cluster, database, statement, perform):
    """Hold a transaction open that ran `statement`, start `perform`, commit while it waits, return its result."""
    other = await psycopg.AsyncConnection.connect(cluster.full_url(database=database.name))
    async with other:
        await other.execute(statement)
        waiting = asyncio.create_task(perform)
        await until_blocked(database, waiting)
        await other.commit()
    return await waiting


class TestTheConcurrentWorld:
    @pytest.mark.requirement("R22")
    async def test_a_change_that_commits_while_the_write_waits_fails_it(self, cluster, database, source):
        """The row is used by somebody in the very moment: it is left alone."""
        call = await source.call("delete", "b")
        used = "UPDATE accounts SET last_login = now(), row_version = row_version + 1 WHERE id = 'b'"
        result = await during(cluster, database, used, source.perform(call))
        assert (result.outcome, result.reason) == (Outcome.CHANGED, ActReason.PRECONDITION_FAILED)
        assert len(database(ALL)) == 4

    async def test_a_delete_that_commits_while_the_write_waits_makes_it_already_gone(self, cluster, database, source):
        """Somebody else deleted it: nothing is left to do."""
        call = await source.call("update", "b", locked=True)
        result = await during(cluster, database, "DELETE FROM accounts WHERE id = 'b'", source.perform(call))
        assert result.outcome is Outcome.ALREADY_GONE

    async def test_a_reference_that_appears_while_the_delete_waits_is_not_cascaded_over(
        self, cluster, database, source
    ):
        """A row of another table that nobody approved survives, whenever it came."""
        database("CREATE TABLE grants (id text REFERENCES accounts ON DELETE CASCADE)")
        call = await source.call("delete", "b")
        result = await during(cluster, database, "INSERT INTO grants VALUES ('b')", source.perform(call))
        assert result.outcome is not Outcome.DONE
        assert database("SELECT id FROM grants") == [("b",)]
        assert len(database(ALL)) == 4

    async def test_waiting_for_a_lock_ends_with_nothing_written(self, cluster, database, make_source):
        """A lock that is not given back is a failure, not an endless wait."""
        database(CREATE, FOUR)
        source = make_source(ACCOUNTS, busy_timeout=0.2)
        call = await source.call("delete", "b")
        async with await psycopg.AsyncConnection.connect(cluster.full_url(database=database.name)) as other:
            await other.execute("SELECT FROM accounts WHERE id = 'b' FOR UPDATE")
            result = await source.perform(call)
            await other.rollback()
        assert (result.outcome, "nothing was written" in result.detail) == (Outcome.FAILED, True)
        assert len(database(ALL)) == 4


class TestWhatTheDatabaseForbids:
    @pytest.mark.requirement("R28")
    async def test_a_credential_without_the_right_is_refused_and_told_so(self, database, make_source):
        """Acting uses the acting credential: here one that may only read."""
        database(CREATE, FOUR)
        source = make_source(ACCOUNTS, act_user="reader")
        result = await source.perform(await source.call("delete", "b"))
        assert (result.outcome, "permission denied" in result.detail) == (Outcome.REFUSED, True)

    async def test_row_level_security_on_the_acting_side_refuses_instead_of_finding_nothing(self, database, source):
        """A policy that hides the row would make it look already gone."""
        call = await source.call("delete", "b")
        database("ALTER TABLE accounts ENABLE ROW LEVEL SECURITY")
        assert (await source.perform(call)).outcome is Outcome.REFUSED

    async def test_rows_of_other_tables_that_would_go_with_it_keep_the_row(self, database, source):
        """A cascade is collateral."""
        database(
            "CREATE TABLE grants (id text REFERENCES accounts ON DELETE CASCADE)", "INSERT INTO grants VALUES ('b')"
        )
        result = await source.perform(await source.call("delete", "b"))
        assert (result.outcome, result.reason) == (Outcome.REFUSED, ActReason.COLLATERAL_CHANGE)

    async def test_rows_of_other_tables_that_would_change_with_an_update_keep_the_row(self, database, source):
        """A reference to the very column that is written is collateral."""
        database(
            "UPDATE accounts SET owner = id",
            "CREATE UNIQUE INDEX owners ON accounts (owner)",
            "CREATE TABLE badges (owner text REFERENCES accounts (owner) ON UPDATE CASCADE)",
            "INSERT INTO badges SELECT owner FROM accounts WHERE id = 'b'",
        )
        result = await source.perform(await source.call("update", "b", owner="else"))
        assert (result.outcome, result.reason) == (Outcome.REFUSED, ActReason.COLLATERAL_CHANGE)
        assert (await source.perform(await source.call("update", "b", locked=True))).outcome is Outcome.DONE

    @pytest.mark.requirement("R28")
    @pytest.mark.parametrize("how", TRIGGERS)
    @pytest.mark.parametrize("operation", ["delete", "update"])
    async def test_a_trigger_or_rule_that_nobody_vouched_for_refuses_the_write(self, database, source, how, operation):
        """What it would do to other rows can't be told from outside, so its being there is enough."""
        database(SWEEP, TRIGGERS[how].format(event=operation))
        before = database(ALL)
        arguments = {"locked": True} if operation == "update" else {}
        result = await source.perform(await source.call(operation, "b", **arguments))
        assert (result.outcome, result.reason) == (Outcome.REFUSED, ActReason.COLLATERAL_CHANGE)
        assert "`sweep`" in result.detail
        assert database(ALL) == before
        foreseen = await (await source.reader()).collateral(source.resource, operation)
        assert len(foreseen.unknown) == 1

    @pytest.mark.requirement("R28")
    async def test_a_trigger_of_a_partition_refuses_the_write_to_the_whole(self, database, make_source):
        """A row of the table is a row of its partition."""
        database(PARTED, SWEEP, "CREATE TRIGGER sweep AFTER DELETE ON parted_a FOR EACH ROW EXECUTE FUNCTION sweep()")
        source = make_source(PARTED_RESOURCE)
        for operation, arguments in (("delete", {}), ("update", {"locked": True})):  # a row that moves is deleted
            result = await source.perform(await source.call(operation, "a", **arguments))
            assert result.reason is ActReason.COLLATERAL_CHANGE

    @pytest.mark.requirement("R28")
    async def test_a_trigger_made_while_the_write_waits_is_not_set_off(self, cluster, database, source):
        """The table is locked before its triggers are looked at: there is no moment between the two."""
        database(SWEEP)
        call = await source.call("delete", "b")
        made = "CREATE TRIGGER sweep AFTER DELETE ON accounts FOR EACH ROW EXECUTE FUNCTION sweep()"
        result = await during(cluster, database, made, source.perform(call))
        assert (result.outcome, result.reason) == (Outcome.REFUSED, ActReason.COLLATERAL_CHANGE)
        assert len(database(ALL)) == 4

    async def test_known_disabled_and_other_triggers_do_not_stand_in_the_way(self, database, make_source):
        """What the configuration names may run; what is switched off, or runs at another write, does not matter."""
        database(
            CREATE,
            FOUR,
            "CREATE TABLE audit (id text)",
            "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER"
            " AS $$ BEGIN INSERT INTO audit VALUES (old.id); RETURN old; END $$",
            SWEEP,
            "CREATE TRIGGER noted AFTER DELETE ON accounts FOR EACH ROW EXECUTE FUNCTION note()",
            "CREATE TRIGGER off AFTER DELETE ON accounts FOR EACH ROW EXECUTE FUNCTION sweep()",
            "ALTER TABLE accounts DISABLE TRIGGER off",
            "CREATE TRIGGER other AFTER UPDATE ON accounts FOR EACH ROW EXECUTE FUNCTION sweep()",
        )
        source = make_source({**ACCOUNTS, "known_triggers": ["noted"]})
        assert (await source.perform(await source.call("delete", "b"))).outcome is Outcome.DONE
        assert database("SELECT id FROM audit") == [("b",)]
        foreseen = await (await source.reader()).collateral(source.resource, "delete")
        assert (len(foreseen.known), foreseen.unknown) == (1, ())

    async def test_a_constraint_that_is_checked_at_the_commit_refuses_the_write(self, database, source):
        """The server said no to the commit: nothing was written, and that is known."""
        database(
            "CREATE TABLE grants (id text REFERENCES accounts DEFERRABLE INITIALLY DEFERRED)",
            "INSERT INTO grants VALUES ('b')",
        )
        assert (await source.perform(await source.call("delete", "b"))).outcome is Outcome.REFUSED
        assert len(database(ALL)) == 4

    @pytest.mark.parametrize(
        ("body", "told"), [("new.locked := false; RETURN new", "something else"), ("RETURN NULL", "suppressed")]
    )
    async def test_a_trigger_that_makes_something_else_of_the_write_undoes_it(self, database, make_source, body, told):
        """What the database made of the write is looked at before the commit."""
        source = make_source({**ACCOUNTS, "known_triggers": ["meddle"]})
        database(
            CREATE,
            FOUR,
            f"CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body}; END $$",
            "CREATE TRIGGER meddle BEFORE UPDATE ON accounts FOR EACH ROW EXECUTE FUNCTION meddle()",
        )
        before = database(ALL)
        result = await source.perform(await source.call("update", "b", locked=True))
        assert (result.outcome, told in result.detail) == (Outcome.REFUSED, True)
        assert database(ALL) == before

    async def test_a_write_that_would_reach_a_second_row_reaches_none(self, database, source):
        """A parent and its heir may hold the same key."""
        call = await source.call("delete", "b")
        database("CREATE TABLE heirs () INHERITS (accounts)", "INSERT INTO heirs SELECT * FROM accounts WHERE id = 'b'")
        assert (await source.perform(call)).outcome is Outcome.REFUSED
        assert len(database(ALL)) == 5


@pytest.mark.requirement("R32")
class TestLostAnswers:
    async def test_a_connection_lost_before_the_commit_left_nothing_behind(self, cluster, database, source):
        """The transaction went with the connection, so this is known not to have happened."""
        call = await source.call("delete", "b")
        async with await psycopg.AsyncConnection.connect(cluster.full_url(database=database.name)) as other:
            await other.execute("SELECT FROM accounts WHERE id = 'b' FOR UPDATE")
            waiting = asyncio.create_task(source.perform(call))
            await until_blocked(database, waiting)
            database(KILL)
            result = await waiting
            await other.rollback()
        assert (result.outcome, len(database(ALL))) == (Outcome.FAILED, 4)
        assert await (await source.actor()).took_effect(call) is False

    @pytest.mark.parametrize("after", [False, True])
    async def test_a_commit_without_an_answer_is_unknown_and_is_resolved_by_reading(
        self, database, source, monkeypatch, after
    ):
        """Whether the server had committed or not, nobody knows before it was read."""
        call = await source.call("delete", "b")
        run = Lane.run

        async def losing(lane, work):
            def lose(connection):
                plain = connection.exec_driver_sql

                def exec_driver_sql(statement):
                    if statement == "COMMIT":
                        if after:
                            plain(statement)
                        database(KILL)
                    return plain(statement)

                monkeypatch.setattr(connection, "exec_driver_sql", exec_driver_sql, raising=False)
                return work(connection)

            return await run(lane, lose)

        actor = await source.actor()
        monkeypatch.setattr(Lane, "run", losing)
        result = await actor.perform(call)
        monkeypatch.setattr(Lane, "run", run)
        assert (result.outcome, result.reason) == (Outcome.UNKNOWN, ActReason.OUTCOME_UNKNOWN)
        assert await actor.took_effect(call) is after

    async def test_the_next_act_works_after_a_connection_was_lost(self, database, source):
        """A broken connection is replaced, not reused."""
        actor = await source.actor()
        first, second = await source.call("delete", "a"), await source.call("delete", "b")
        database(KILL)
        assert (await actor.perform(first)).outcome is Outcome.FAILED
        assert (await actor.perform(second)).outcome is Outcome.DONE


class TestWhatIsWritten:
    async def test_an_update_and_its_undo_bring_back_what_was_there(self, database, source):
        """`update` undoes `update`, and each adds to the version."""
        before = database(ALL)
        first = await source.perform(await source.call("update", "a", locked=True, owner="x"))
        assert (first.outcome, first.before) == (Outcome.DONE, {"locked": False, "owner": "ana"})
        second = await source.perform(await source.call("update", "a", **first.before))
        assert second.outcome is Outcome.DONE
        after = database("SELECT id, owner, locked, row_version FROM accounts ORDER BY id")
        assert after[0] == ("a", "ana", False, 3)
        assert before[1:] == database(ALL)[1:]

    async def test_many_acts_at_once_each_reach_their_own_row(self, database, make_source):
        """Four connections, a hundred deletes, a hundred rows gone."""
        database(CREATE, "INSERT INTO accounts (id) SELECT 'k' || n FROM generate_series(1, 200) n")
        source = make_source(ACCOUNTS)
        calls = [await source.call("delete", f"k{n}") for n in range(1, 101)]
        actor = await source.actor()
        results = await asyncio.gather(*(actor.perform(call) for call in calls))
        assert {result.outcome for result in results} == {Outcome.DONE}
        assert database("SELECT count(*) FROM accounts") == [(100,)]

    async def test_a_field_that_the_acting_side_may_not_read_needs_the_version(self, database, make_source):
        """With an equal version an unreadable field is no obstacle; without a version it can't be compared."""
        visible = ", ".join(name for name in ACCOUNTS["fields"] if name != "last_login")
        database(
            CREATE,
            FOUR,
            "CREATE ROLE hand LOGIN PASSWORD 'secret'",
            f"GRANT SELECT ({visible}), DELETE ON accounts TO hand",
        )
        try:
            versioned = make_source(ACCOUNTS, act_user="hand")
            plain = make_source({**ACCOUNTS, "version": None, "version_managed": False}, act_user="hand")
            refused = await plain.perform(await plain.call("delete", "a"))
            done = await versioned.perform(await versioned.call("delete", "a"))
        finally:
            for made in (versioned, plain):
                await made.close()
            database("DROP OWNED BY hand", "DROP ROLE hand")
        assert (refused.outcome, refused.reason) == (Outcome.REFUSED, ActReason.PRECONDITION_FAILED)
        assert done.outcome is Outcome.DONE

    async def test_a_field_that_was_not_known_when_it_was_seen_is_no_precondition_of_its_own(self, source):
        """Unknown is not a value that could have changed."""
        seen = {**await source.see("a"), "owner": Cell(FieldState.FORBIDDEN, None)}
        assert (await source.perform(await source.call("delete", "a", seen=seen))).outcome is Outcome.DONE

"""Backups of SQLite rows: the whole row as it is at the moment of the act, put back under its key or not at all."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.sql import account

from fullcount.runtime.connectors.base import ActCall, Outcome, StoredBackup
from fullcount.runtime.evidence.codes import ActReason

ODD = """
    CREATE TABLE "odd: things" (id TEXT PRIMARY KEY NOT NULL, "a b" BLOB, "n:1" INTEGER, r REAL, t TEXT, free,
                                twice INTEGER GENERATED ALWAYS AS ("n:1" * 2) STORED)
"""
ODD_TABLE = {"table": "odd: things", "fields": {"id": "text", "t": "text?"}, "writable": []}
ODD_ROW = ("INSERT INTO \"odd: things\" VALUES ('x', x'00ff', 9007199254740993, 0.1, 'tëxt' || char(10), '5')",)


@pytest.fixture
async def actor(source):
    """Return the writing side, which the source closes."""
    return await source.actor()


async def deleted(source, actor, key: str) -> ActCall:
    """Delete a row with a backup, and return the call that restores it."""
    call = await source.call("delete", key)
    kept = StoredBackup("sha256:0", 1, await actor.back_up(call))
    assert (await actor.perform(replace(call, backup=kept))).outcome is Outcome.DONE
    return replace(call, operation="restore", expected={}, backup=kept)


@pytest.mark.requirement("R36")
async def test_a_row_that_changed_where_nobody_looked_is_not_deleted(file, source, actor):
    """A column that the workflow does not even declare was changed since the backup: nothing is deleted."""
    file.write("ALTER TABLE accounts ADD COLUMN secret TEXT", "UPDATE accounts SET secret = 'before'")
    call = await source.call("delete", "a0003")
    kept = StoredBackup("sha256:0", 1, await actor.back_up(call))
    file.write("UPDATE accounts SET secret = 'after' WHERE id = 'a0003'")
    result = await actor.perform(replace(call, backup=kept))
    assert (result.outcome, result.reason) == (Outcome.CHANGED, ActReason.PRECONDITION_FAILED)
    assert len(file.rows("SELECT * FROM accounts")) == 25


async def test_without_what_the_backup_holds_nothing_is_written(file, source, actor):
    """A digest alone is no row: neither is anything deleted on it nor restored from it."""
    call = replace(await source.call("delete", "a0003"), backup=StoredBackup("sha256:0", 1, None))
    assert (await actor.perform(call)).outcome is Outcome.REFUSED
    restore = replace(call, operation="restore", key=("new",), arguments={"id": "new"}, expected={})
    assert (await actor.perform(restore)).outcome is Outcome.REFUSED
    assert (await actor.perform(replace(restore, backup=None))).outcome is Outcome.REFUSED


async def test_a_row_is_not_put_back_where_one_stands(file, source, actor):
    """Whoever took the key meanwhile keeps it."""
    restore = await deleted(source, actor, "a0003")
    file.insert(account(3, entry_uuid="another"))
    assert (await actor.perform(restore)).outcome is Outcome.CHANGED
    assert file.rows("SELECT entry_uuid FROM accounts WHERE id = 'a0003'") == [("another",)]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("CREATE TRIGGER noisy AFTER INSERT ON accounts BEGIN SELECT 1; END", "runs at each create"),
        ("ALTER TABLE accounts ADD COLUMN later TEXT", "other columns"),
    ],
)
async def test_a_row_is_not_put_back_into_another_table_than_it_came_from(file, source, actor, change, said):
    """A trigger that nobody vouched for would set off more; a column that was not there has no value."""
    restore = await deleted(source, actor, "a0003")
    file.write(change)
    result = await actor.perform(restore)
    assert result.outcome is Outcome.REFUSED
    assert said in result.detail
    assert file.rows("SELECT * FROM accounts WHERE id = 'a0003'") == []


async def test_a_deleted_row_comes_back_to_the_last_column(file, source, actor):
    """Declared or not, every column has its very value again; whether it came back can be told by reading."""
    file.write("ALTER TABLE accounts ADD COLUMN secret TEXT", "UPDATE accounts SET secret = 'kept'")
    before = file.rows("SELECT * FROM accounts WHERE id = 'a0003'")
    restore = await deleted(source, actor, "a0003")
    assert await actor.took_effect(restore) is False
    assert (await actor.perform(restore)).outcome is Outcome.DONE
    assert file.rows("SELECT * FROM accounts WHERE id = 'a0003'") == before
    assert await actor.took_effect(restore) is True
    file.write("UPDATE accounts SET secret = 'another' WHERE id = 'a0003'")
    assert await actor.took_effect(restore) is None


async def test_values_of_every_kind_come_back_exactly(sqlite_source):
    """Bytes, large integers, fractions, texts, no value, columns that the database works out, and odd names."""
    file, source = sqlite_source(ODD, **(ODD_TABLE | {"incarnation": None, "version": None, "version_managed": False}))
    file.write(*ODD_ROW)
    exact = 'SELECT *, typeof("a b"), typeof("n:1"), typeof(r), typeof(t), typeof(free) FROM "odd: things"'
    before = file.rows(exact)
    restore = await deleted(source, await source.actor(), "x")
    assert file.rows(exact) == []
    assert (await (await source.actor()).perform(restore)).outcome is Outcome.DONE
    assert file.rows(exact) == before

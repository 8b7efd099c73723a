"""Backups of rows on a real PostgreSQL: every type comes back as it was, under the rights of the acting credential."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fullcount.runtime.connectors.base import Outcome, SourceError, StoredBackup

pytestmark = pytest.mark.service("postgres")

CREATE = """
    CREATE TYPE mood AS ENUM ('calm', 'odd');
    CREATE TABLE accounts (id text PRIMARY KEY, n bigint GENERATED ALWAYS AS IDENTITY, price numeric(20, 10), f float8,
        at timestamptz, local timestamp, wait interval, bytes bytea, doc jsonb, raw json, tags text[], mood mood,
        span int4range, address inet, "odd: name" uuid, doubled numeric GENERATED ALWAYS AS (price * 2) STORED);
    INSERT INTO accounts (id, price, f, at, local, wait, bytes, doc, raw, tags, mood, span, address, "odd: name") VALUES
        ('a', 1.0000000001, 0.1::float8 + 0.2, '2026-03-29 02:30:00.123456+02', '2026-03-29 02:30:00', '1 mon 3 days',
         '\\x00ff', '{"b": 1, "a": null}', '{"b": 1,  "a": [] }', '{x,NULL,"y,z"}', 'odd', '[1,5)', '10.0.0.0/8',
         'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'),
        ('b', NULL, 'NaN', 'infinity', NULL, NULL, NULL, NULL, NULL, '{}', NULL, 'empty', NULL, NULL)
"""
RESOURCE = {"table": "accounts", "key": ["id"], "fields": {"id": "text"}, "deletable": True}
TEXTS = "SELECT a::text FROM accounts a ORDER BY id"


async def deleted(source, key):
    """Delete a row with a backup, and return the call that restores it."""
    actor = await source.actor()
    call = await source.call("delete", key)
    kept = StoredBackup("sha256:0", 1, await actor.back_up(call))
    assert (await actor.perform(replace(call, backup=kept))).outcome is Outcome.DONE
    return replace(call, operation="restore", expected={}, backup=kept)


async def test_no_backup_is_taken_of_a_row_that_can_not_be_read_whole(database, make_source):
    """A column that the acting credential may not read would be lost, so nothing is taken."""
    database(
        CREATE, "CREATE ROLE keeper LOGIN PASSWORD 'secret'", "GRANT SELECT (id, price), DELETE ON accounts TO keeper"
    )
    try:
        source = make_source(RESOURCE, act_user="keeper")
        call = await source.call("delete", "a")
        with pytest.raises(SourceError):
            await (await source.actor()).back_up(call)
        await source.close()
    finally:
        database("DROP OWNED BY keeper", "DROP ROLE keeper")


async def test_a_rule_at_inserts_that_nobody_vouched_for_keeps_the_row_away(database, make_source):
    """What it would do besides was approved by nobody."""
    database(CREATE)
    source = make_source(RESOURCE)
    restore = await deleted(source, "b")
    database("CREATE RULE also AS ON INSERT TO accounts DO ALSO DELETE FROM accounts WHERE id = 'a'")
    assert (await source.perform(restore)).outcome is Outcome.REFUSED
    assert len(database(TEXTS)) == 1


async def test_every_type_comes_back_as_it_was(database, make_source):
    """Identity columns keep their number, generated ones are worked out again, texts of types are exact."""
    database(CREATE)
    source = make_source(RESOURCE)
    before = database(TEXTS)
    for key in ("a", "b"):
        restore = await deleted(source, key)
        assert len(database(TEXTS)) == 1
        result = await source.perform(restore)
        assert (result.outcome, result.detail) == (Outcome.DONE, "")
        assert await (await source.actor()).took_effect(restore) is True
    assert database(TEXTS) == before

"""A real Redis server under the whole product: what every connector must keep, and a clean-up that rests on keys."""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from unittest.mock import patch

import pytest
from tests.support.reading_redis import Source
from tests.support.workspaces import Bench

from fullcount.runtime.connectors.redis import CONNECTOR
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.testing import Bed, ConnectorConformance, Fault

pytestmark = pytest.mark.service("redis")

SETTINGS = """\
[workspace]
name = "shop"

[sources.db]
connector = "sql"
url = "sqlite:///shop.db"
[sources.db.resources.carts]
table     = "carts"
key       = ["id"]
fields    = {{ id = "text", session = "text" }}
deletable = true

[sources.cache]
connector = "redis"
host = "127.0.0.1"
port = {port}
[sources.cache.resources.sessions]
match = "s:*"

[roles]
ops = ["uid:{uid}"]
"""

RULE = """\
workflow drop_carts {
  describe "Delete carts whose session is over."
  owner "shop"

  inventory carts from db.carts {
    key id
    fields { id: text, session: text }
  }
  inventory sessions from cache.sessions {
    key key
    fields { key: text }
  }
  verify carts { complete, fresh within 1h }
  verify sessions { complete, fresh within 1h }

  propose drop from carts as c {
    where no sessions as s where (s.key == c.session)
    limit 5
  }
  approve drop { 1 of role "ops", expires after 1d }
  act drop with db.carts.delete(id: c.id)
}
"""


@pytest.mark.requirement("R22", "R29", "R36")
def test_what_has_no_key_is_deleted_unless_the_key_came_back(server, tmp_path):
    """Planned over a whole scan, refused over a replica, and each absence looked up again at the act."""
    bench = Bench.of(tmp_path / "shop", SETTINGS, RULE, port=server.port)
    bench.sql("shop", "CREATE TABLE carts (id TEXT PRIMARY KEY NOT NULL, session TEXT NOT NULL)")
    bench.sql("shop", "INSERT INTO carts VALUES ('c1', 's:1'), ('c2', 's:2'), ('c3', 's:3')")
    server.run("SET", "s:1", "x")
    server.run("REPLICAOF", "127.0.0.1", "1")
    bench.plan(file="workflows/drop_carts.fcw", exits=3)
    server.run("REPLICAOF", "NO", "ONE")
    planned = bench.plan(file="workflows/drop_carts.fcw")
    assert [row["key"] for row in planned["plan"]["rows"]] == [["c2"], ["c3"]]
    bench.approve(planned)
    server.run("SET", "s:3", "x")
    applied = bench.run("apply", planned["plan_id"])
    assert applied.exit == 0, applied.said
    assert bench.sql("shop", "SELECT id FROM carts ORDER BY id") == [("c1",), ("c3",)]


@pytest.mark.requirement("R11", "R13", "R37")
class TestConformance(ConnectorConformance):
    """The `redis` connector passes what every connector must."""

    @pytest.fixture
    def bed(self, server, redis_front, monkeypatch):
        """Return seven keys, read by a user of its own."""
        monkeypatch.setenv("TEST_PASSWORD", "a-secret-word")
        return redis_bed(server, redis_front)


def redis_bed(server, front):
    """Return a bed for the conformance kit."""
    from fullcount.runtime.connectors.redis.session import Session

    numbers = itertools.count(1000)
    server.run("ACL", "SETUSER", "reader", "on", ">a-secret-word", "~*", "+@read", "+@connection", "+acl|whoami")

    def put(key=None):
        made = f"key:{next(numbers)}" if key is None else key
        server.run("SET", made, "x")
        return (made,)

    for number in range(7):
        put(f"key:{number}")

    def rows():
        found = {}
        for key in server.run("KEYS", "key:*"):
            expires = server.run("PEXPIRETIME", key)
            found[(key,)] = {
                "key": key,
                "type": server.run("TYPE", key),
                "expires_at": None if expires == -1 else expires * 1000,
            }
        return found

    @contextmanager
    def cut(number):
        real, calls = Session.ask, itertools.count(1)

        async def ask(own, *command):
            if command[0] == "SCAN" and next(calls) >= number:
                server.run("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            return await real(own, *command)

        with patch.object(Session, "ask", ask):
            yield

    @contextmanager
    def hide():
        server.run("ACL", "SETUSER", "reader", "resetkeys", "~key:1*")
        try:
            yield
        finally:
            server.run("ACL", "SETUSER", "reader", "~*")

    settings = {"user": "reader", "password": {"env": "TEST_PASSWORD"}, "match": "key:*"}
    return Bed(
        connector=CONNECTOR,
        config=Source(front.port, **settings).config,
        resource="keys",
        rows=rows,
        put=put,
        remove=lambda key: server.run("DEL", *key),
        change=lambda key: server.run("PEXPIREAT", *key, 4_102_444_800_000 + next(numbers)),
        faults=[Fault(name="the connection ends", begin=cut, reasons=frozenset({Reason.SOURCE_UNAVAILABLE}))],
        empty=lambda: server.run("FLUSHALL"),
        hang=front.hang,
        outage=front.cut,
        hide=hide,
        secrets=("a-secret-word",),
    )

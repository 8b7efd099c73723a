"""One PostgreSQL cluster and one Redis server for all tests of a run; each test gets a fresh or an empty one."""

from __future__ import annotations

import itertools

import pytest
from tests.support.postgres import running_cluster
from tests.support.redis_server import running_redis
from tests.support.sql import Source

from fullcount.runtime.testing.tcp_front import TcpFront

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def cluster():
    """A running server with two plain roles, `reader` and `writer`; the password of everybody is `secret`."""
    with running_cluster() as found:
        found.execute(
            "CREATE ROLE reader LOGIN PASSWORD 'secret'",
            "CREATE ROLE writer LOGIN PASSWORD 'secret'",
            "GRANT pg_read_all_data TO reader",
            "GRANT pg_read_all_data, pg_write_all_data TO writer",
        )
        yield found


@pytest.fixture
def database(cluster):
    """A fresh database, as a function that runs statements in it."""
    with cluster.database(f"t{next(_numbers)}") as name:

        def execute(*statements, user="fullcount_admin"):
            return cluster.execute(*statements, user=user, database=name)

        execute.name = name
        yield execute


@pytest.fixture
async def make_source(cluster, database, monkeypatch):
    """Make sources on the fresh database: the reader's credential for reading, the writer's for acting."""
    monkeypatch.setenv("TEST_PASSWORD", "secret")
    made = []

    def make(resource, *, user="reader", act_user="writer", name="accounts", **settings):
        password = {"env": "TEST_PASSWORD"}
        addresses = {
            "url": {"url": cluster.url(user, database.name), "password": password},
            "act_url": {"url": cluster.url(act_user, database.name), "password": password},
        }
        made.append(Source({**addresses, "resources": {name: resource}, **settings}, name))
        return made[-1]

    yield make
    for source in made:
        await source.close()


@pytest.fixture(scope="session")
def redis_process():
    """A running Redis server."""
    with running_redis() as found:
        yield found


@pytest.fixture
def server(redis_process):
    """The Redis server, empty and with its usual settings."""
    redis_process.clear()
    return redis_process


@pytest.fixture
def redis_front(server):
    """The front before the Redis server."""
    with TcpFront("127.0.0.1", server.port) as made:
        yield made

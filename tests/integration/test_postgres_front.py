"""PostgreSQL behind a front that cuts, hangs and swallows: what a read and a write say of it."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import urlsplit

import pytest
from tests.integration.test_postgres_read import CREATE
from tests.support.collecting import inventory_of
from tests.support.sql import ACCOUNTS

from fullcount.compiler.lower.world import Bindings
from fullcount.runtime.collect.loop import Budget, collect
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.connectors.sql import database as database_module
from fullcount.runtime.evidence.codes import ActReason, Reason
from fullcount.runtime.testing.tcp_front import TcpFront

pytestmark = pytest.mark.service("postgres")

MANY = """
    INSERT INTO accounts (id, environment) SELECT 'a' || n, repeat('x', 100) FROM generate_series(1, 12000) AS n
"""


@pytest.fixture
def front(cluster):
    """The front before the cluster."""
    with TcpFront("127.0.0.1", cluster.port) as made:
        yield made


@pytest.fixture
def source(cluster, database, front, make_source):
    """Twelve thousand accounts, some pages of them, read and written over the front."""
    database(CREATE, MANY)
    addresses = {
        side: {"url": cluster.url(user, database.name).replace(f":{cluster.port}/", f":{front.port}/")}
        | {"password": {"env": "TEST_PASSWORD"}}
        for side, user in (("url", "reader"), ("act_url", "writer"))
    }
    assert urlsplit(addresses["url"]["url"]).port == front.port
    return make_source(ACCOUNTS, **addresses)


async def read(source, folder, budget):
    """Read everything within a budget."""
    return await collect(
        await source.reader(),
        inventory_of(source.resource),
        source.resource,
        bindings=Bindings({}, 0),
        snapshots=SnapshotStore(folder),
        budget=budget,
        clock=lambda: datetime.now(UTC),
    )


@pytest.mark.requirement("R2", "R15", "R36")
async def test_a_connection_cut_in_the_middle_keeps_its_rows_and_never_licenses_cleanup(front, source, tmp_path):
    """What was read before the cut is partial, and is not gone on with over another connection's state."""
    await source.reader()
    with front.cut(after=1_400_000):
        envelope = await read(source, tmp_path, Budget(sleep=at_once))
    assert [reason.code for reason in envelope.completeness.reasons] == [Reason.SOURCE_UNAVAILABLE]
    assert 0 < envelope.work.rows < 12_000
    assert front.cuts >= 1
    whole = await read(source, tmp_path, Budget(sleep=at_once))
    assert (whole.complete, whole.work.rows) == (True, 12_000)


@pytest.mark.requirement("R16")
async def test_a_server_that_falls_silent_is_left_at_the_deadline(front, source, tmp_path, monkeypatch):
    """Nothing comes, not even to a cancellation, and the read ends when it has to."""
    monkeypatch.setattr(database_module, "CANCELLED_WITHIN", 0.2)
    await source.reader()
    with front.hang():
        envelope = await read(source, tmp_path, Budget(deadline=0.3))
    assert [reason.code for reason in envelope.completeness.reasons] == [Reason.TIME_BUDGET_EXCEEDED]


@pytest.mark.requirement("R32")
async def test_a_commit_whose_answer_is_lost_is_unknown_and_told_by_reading(front, source, database):
    """The server did it; the actor does not know, and finds out without writing."""
    call = await source.call("update", "a7", locked=True)
    actor = await source.actor()
    with front.swallow(b"COMMIT"):
        result = await actor.perform(call)
    assert (result.outcome, result.reason) == (Outcome.UNKNOWN, ActReason.OUTCOME_UNKNOWN)
    assert database("SELECT count(*) FROM accounts WHERE locked") == [(1,)]
    assert await actor.took_effect(call) is True


async def at_once(seconds):
    """Wait for nothing."""

"""Reading from a replica: complete, and stale."""

from __future__ import annotations

import pytest
from tests.integration.test_postgres_read import CREATE, FOUR
from tests.support.postgres import standby_of
from tests.support.sql import ACCOUNTS, Source

from fullcount.runtime.connectors.base import Outcome
from fullcount.runtime.evidence.codes import WarningCode

pytestmark = [pytest.mark.service("postgres"), pytest.mark.slow]


@pytest.mark.requirement("R5")
async def test_an_answer_of_a_replica_is_marked_stale_and_a_replica_can_not_be_acted_on(
    cluster, database, make_source, monkeypatch
):
    """The list is whole as of some moment before now, and the target is the cluster that the replica copies."""
    monkeypatch.setenv("TEST_PASSWORD", "secret")
    database(CREATE, FOUR)
    primary = make_source(ACCOUNTS)
    here = await (await primary.reader()).identity()
    with standby_of(cluster) as standby:
        address = {"url": standby.url("writer", database.name), "password": {"env": "TEST_PASSWORD"}}
        source = Source({"url": address, "resources": {"accounts": ACCOUNTS}})
        read = await source.read_all()
        there = await (await source.reader()).identity()
        result = await source.perform(await source.call("delete", "a"))
        await source.close()
    assert [notice.code for notice in read.info.warnings] == [WarningCode.STALE_READ]
    assert (read.keys, read.codes) == (["a", "b", "c", "d"], [])
    assert here["target_system"] == there["target_system"]
    assert here["target_port"] != there["target_port"]
    assert result.outcome in {Outcome.REFUSED, Outcome.FAILED}

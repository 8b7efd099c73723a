"""Stale data: nothing is taken out of an earlier read, or out of the read of another question."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest
from tests.support.fleet import FILE, Fleet
from tests.support.http_api import Answer, Api
from tests.support.reading_http import config, read_all, things
from tests.support.workspaces import ORPHANS

from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.exit_codes import Exit


def keys_of(planned):
    """Return what a plan selects."""
    return [key for (key,) in (row["key"] for row in planned["plan"]["rows"])]


async def ids(folder, settings):
    """Read, into one folder for all, and return what stands in the snapshot of this read."""
    envelope = await read_all(settings, folder)
    assert envelope.complete
    return pq.read_table(SnapshotStore(folder).path(envelope.snapshot_digest))["id"].to_pylist()


@pytest.mark.requirement("c7n-35")
def test_c7n_35_every_run_reads_anew(bench):
    """Tags were mended, and for a quarter of an hour the dry run went on reporting what was no more."""
    assert keys_of(bench.plan()) == list(ORPHANS)
    bench.sql("directory", "UPDATE accounts SET owner = 'p1', row_version = 2 WHERE id = 'a01'")
    assert keys_of(bench.plan()) == ["a02", "a03"]


@pytest.mark.requirement("c7n-36")
def test_c7n_36_what_was_done_is_not_found_again_and_what_is_new_is(bench):
    """A group that the first run had deleted was found by the second, and a new one was not."""
    planned = bench.approved()
    bench.sql("directory", "DELETE FROM accounts WHERE id = 'a01'")
    assert bench.run("apply", planned["plan_id"]).exit == Exit.DONE
    bench.sql("directory", "INSERT INTO accounts SELECT 'a13', 'new', NULL, last_login, 0, 1 FROM accounts LIMIT 1")
    assert keys_of(bench.plan()) == ["a13"]
    assert bench.locked() == {"a02", "a03"}


def kinds(asked):
    """Answer with objects of the kind that is asked for."""
    name = asked.path.strip("/")
    if name not in {"pods", "configmaps"}:
        return None
    return Answer(200, {"items": [{"id": name, "owner": None, "n": 1}], "next_cursor": None, "snapshot": "s"})


@pytest.mark.requirement("c7n-38")
async def test_c7n_38_a_read_of_one_kind_is_never_the_answer_for_another(tmp_path):
    """The cache's key was without the kind: the second rule acted on the first one's list."""
    with Api([]) as api:
        api.faults.append(kinds)
        for kind in ("pods", "configmaps", "pods"):
            assert await ids(tmp_path, config(api, "cursor", {"list": f"/{kind}"})) == [kind]
        assert len(api.requests) == 3


@pytest.mark.requirement("c7n-39")
async def test_c7n_39_kinds_of_one_group_are_told_apart(tmp_path):
    """A key was too coarse, and config maps were answered with pods; two lists that make one are both read."""
    with Api([]) as api:
        api.faults.append(kinds)
        both = config(api, "cursor", {"list": ["/pods", "/configmaps"]})
        assert sorted(await ids(tmp_path, both)) == ["configmaps", "pods"]
        assert await ids(tmp_path, config(api, "cursor", {"list": "/configmaps"})) == ["configmaps"]


@pytest.mark.requirement("c7n-40")
async def test_c7n_40_another_query_is_another_question(tmp_path):
    """The key was without the query, so that a narrower question got the wider one's answer."""
    with Api(things(6)) as api:
        whole = await ids(tmp_path, config(api, "cursor"))
        owned = await ids(tmp_path, config(api, "cursor", {"list": "/cursor?owner=p1"}))
    assert (len(whole), owned) == (6, ["t0001", "t0004"])


@pytest.mark.requirement("c7n-41")
def test_c7n_41_each_region_is_read_for_itself(tmp_path):
    """The key was without the region: what was in one was reported of all, and what was mended there, mended in all."""
    fleet = Fleet(tmp_path / "fleet")
    fleet.sql("us", "UPDATE volumes SET attached = TRUE WHERE id = 'v0'")
    fleet.tidy(across='["us"]')
    assert [row["key"] for row in fleet.plan(file=FILE)["plan"]["rows"]] == [["us", "v1"]]
    fleet.tidy(across='["eu"]')
    assert [row["key"] for row in fleet.plan(file=FILE)["plan"]["rows"]] == [["eu", "v0"], ["eu", "v1"]]


@pytest.mark.requirement("c7n-43")
def test_c7n_43_what_is_done_is_the_plan_that_was_seen_whatever_came_since(bench):
    """The dry run counted one number, the run another: a run takes an approved plan, and new objects are not in it."""
    planned = bench.approved()
    bench.sql("directory", "INSERT INTO accounts SELECT 'a13', 'new', NULL, last_login, 0, 1 FROM accounts LIMIT 1")
    assert bench.run("apply", planned["plan_id"]).exit == Exit.DONE
    assert bench.locked() == set(ORPHANS)
    later = bench.plan()
    assert (keys_of(later), later["digest"] == planned["digest"]) == (["a13"], False)
    refused = bench.run("approve", later["plan_id"], "--digest", planned["digest"])
    assert refused.exit != Exit.DONE

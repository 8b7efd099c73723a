"""A real container registry: its lists to their end, behind a front that breaks them, and a clean-up by digest."""

from __future__ import annotations

from urllib.parse import unquote

import pyarrow.parquet as pq
import pytest
from tests.support.reading_http import read_all
from tests.support.registry import DOCKER, OCI, running_registry
from tests.support.workspaces import Bench

from fullcount.compiler.values import STATE_ORDER, STATE_SUFFIX, FieldState
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.connectors.http.config import HttpConfig
from fullcount.runtime.evidence.codes import Reason, WarningCode
from fullcount.runtime.testing.faults import before, reset, truncate
from fullcount.runtime.testing.front import HttpFront, only, to

pytestmark = pytest.mark.service("docker-registry")

NAME = {"type": "text", "at": "$value"}
DIGEST = {"type": "text", "at": "$detail/headers/docker-content-digest"}


@pytest.fixture(scope="module")
def process():
    """One registry for all tests of this module."""
    with running_registry() as found:
        yield found


@pytest.fixture
def registry(process):
    """An empty registry."""
    process.clear()
    return process


@pytest.fixture
def front(registry):
    """The front before the registry."""
    with HttpFront(registry.url) as made:
        yield made


def source(url, listed, **fields):
    """Return the configuration of a source that lists names."""
    things = {"list": listed, "key": ["name"], "fields": {"name": NAME, **fields}}
    return HttpConfig.model_validate({"dialect": "docker_registry", "base_url": url, "resources": {"things": things}})


def digests(folder, envelope):
    """Return the digest that was kept for each name, or what is known of it."""
    stored = pq.read_table(SnapshotStore(folder).path(envelope.snapshot_digest)).to_pylist()
    states = {row["name"]: STATE_ORDER[row[f"digest{STATE_SUFFIX}"]] for row in stored}
    return {row["name"]: row["digest"] or states[row["name"]] for row in stored}


def codes(envelope):
    """Return why an answer is not complete."""
    return [reason.code for reason in envelope.completeness.reasons]


@pytest.mark.requirement("R4", "R36")
async def test_catalog_is_read_over_all_its_pages_and_still_proves_no_absence(registry, front, tmp_path):
    """Eight repositories come by threes, and a repository that is not among them may be there all the same."""
    for number in range(8):
        registry.push(f"lib/r{number}", "latest", content=str(number))
    envelope = await read_all(source(front.url, "/v2/_catalog?n=3"), tmp_path)
    assert [asked.query.get("last") for asked in front.seen] == [None, "lib/r2", "lib/r5"]
    assert (envelope.work.rows, codes(envelope)) == (8, [Reason.COMPLETENESS_UNPROVABLE])


@pytest.mark.requirement("R2", "R15", "R36")
@pytest.mark.parametrize("fault", [reset(), truncate()], ids=["reset", "truncated"])
async def test_page_of_the_catalog_that_never_comes_is_a_reason_of_its_own(registry, front, tmp_path, fault):
    """The rows before it stay a part, and the end was not seen."""
    for number in range(5):
        registry.push(f"lib/r{number}", "latest", content=str(number))
    with front.fault(fault, when=lambda asked: asked.query.get("last") == "lib/r1"):
        envelope = await read_all(source(front.url, "/v2/_catalog?n=2"), tmp_path)
    assert not envelope.complete
    assert set(codes(envelope)) <= {Reason.SOURCE_UNAVAILABLE, Reason.MALFORMED_RESPONSE}
    assert (envelope.work.rows, len(codes(envelope))) == (2, 1)


async def test_tags_are_complete_with_the_digest_that_each_stands_for(registry, front, tmp_path):
    """Whatever kind of manifest a tag stands for, its digest is the one under which it was pushed."""
    pushed = {
        "v1": registry.push("shop/web", "v1", content="one", kind=OCI),
        "v2": registry.push("shop/web", "v2", content="two", kind=DOCKER),
    }
    envelope = await read_all(source(front.url, "/v2/shop/web/tags/list", digest=DIGEST), tmp_path)
    assert (envelope.complete, envelope.work.rows) == (True, 2)
    assert digests(tmp_path, envelope) == pushed == registry.tags("shop/web")


@pytest.mark.requirement("R36")
async def test_repository_that_lost_its_last_tag_is_an_empty_list_and_a_deleted_one_is_none(registry, front, tmp_path):
    """`null` says that there are no tags; 404 says nothing of what is there."""
    digest = registry.push("shop/web", "v1", content="one")
    registry.delete("shop/web", digest)
    settings = source(front.url, "/v2/shop/web/tags/list")
    envelope = await read_all(settings, tmp_path)
    assert (envelope.complete, envelope.work.rows) == (True, 0)
    registry.forget("shop/web")
    envelope = await read_all(settings, tmp_path)
    assert (envelope.complete, codes(envelope)) == (False, [Reason.EXISTENCE_UNKNOWN])


@pytest.mark.requirement("R18", "R36")
async def test_repository_deleted_in_the_middle_of_a_scan_is_a_part_that_is_missing(registry, front, tmp_path):
    """The list of three repositories goes on without it, names it, and is not complete."""
    for name in ("api", "job", "web"):
        registry.push(f"shop/{name}", f"{name}-1", content=name)
    lists = [f"/v2/shop/{name}/tags/list" for name in ("api", "job", "web")]
    with front.fault(before(lambda: registry.forget("shop/job")), when=to(lists[1]), at=only(1)):
        envelope = await read_all(source(front.url, lists), tmp_path)
    assert [(reason.code, reason.part) for reason in envelope.completeness.reasons] == [
        (Reason.EXISTENCE_UNKNOWN, lists[1])
    ]
    assert not envelope.complete


@pytest.mark.requirement("R7")
async def test_tag_deleted_between_the_list_and_its_digest_has_a_digest_that_is_not_known(registry, front, tmp_path):
    """It is never one without a digest."""
    digest = registry.push("shop/web", "v1", content="one")
    registry.push("shop/web", "v2", content="two")
    gone = before(lambda: registry.delete("shop/web", digest))
    with front.fault(gone, when=to("/v2/shop/web/manifests/v1"), at=only(1)):
        envelope = await read_all(source(front.url, "/v2/shop/web/tags/list", digest=DIGEST), tmp_path)
    assert digests(tmp_path, envelope)["v1"] is FieldState.SOURCE_FAILED
    assert WarningCode.PARTIAL_FIELD_SET in [warning.code for warning in envelope.warnings]


SETTINGS = """\
[workspace]
name = "images"

[sources.hub]
connector = "http"
dialect   = "docker_registry"
base_url  = "{url}"

[sources.hub.resources.tags]
list        = "/v2/shop/web/tags/list"
read        = "/v2/shop/web/manifests/{{name}}"
key         = ["name"]
incarnation = "digest"
not_found_is_gone = true
lookup      = {{ digest = "/v2/shop/web/tags/list?digest={{digest}}" }}
[sources.hub.resources.tags.fields]
name   = {{ type = "text", at = "$value" }}
digest = {{ type = "text", at = "$detail/headers/docker-content-digest" }}
[sources.hub.resources.tags.operations.delete]
method       = "DELETE"
path         = "/v2/shop/web/manifests/{{$digest}}"
effect       = "delete"
closure = "none"
precondition = "in_request"

[roles]
ops = ["uid:{uid}"]
"""

RULE = """\
workflow drop_builds {
  describe "Delete the images of builds that were never released."
  owner "shop"

  inventory tags from hub.tags {
    key name
    incarnation digest
    fields { name: text, digest: text }
    expect name == "v1"
  }
  verify tags { complete, fresh within 1h }

  propose drop from tags as t {
    where starts_with(t.name, "build-")
      and no tags as o where (o.digest == t.digest and o.name != t.name)
    limit 5
  }
  approve drop { 1 of role "ops", expires after 1d }
  act drop with hub.tags.delete(name: t.name)
}
"""


@pytest.fixture
def hub(registry, front, tmp_path):
    """A workspace over a registry with one release and three builds."""
    for tag in ("v1", "build-1", "build-2", "build-3"):
        registry.push("shop/web", tag, content=tag)
    return Bench.of(tmp_path / "images", SETTINGS, RULE, url=front.url)


def deletions(front):
    """Return the digests that were to be deleted, in order."""
    return [unquote(asked.path.rpartition("/")[2]) for asked in front.seen if asked.method == "DELETE"]


@pytest.mark.requirement("R22", "R29", "R41")
def test_images_are_deleted_by_digest_and_the_tag_that_moved_is_left_alone(hub, registry, front):
    """Planned, approved, applied once: `build-2` stands for another image now; a second apply does nothing."""
    planned = hub.plan(file="workflows/drop_builds.fcw")
    assert [row["key"] for row in planned["plan"]["rows"]] == [["build-1"], ["build-2"], ["build-3"]]
    hub.approve(planned)
    first = registry.tags("shop/web")
    moved = registry.push("shop/web", "build-2", content="another build")
    applied = hub.run("apply", planned["plan_id"])
    assert applied.exit == 0, applied.said
    assert registry.tags("shop/web") == {"v1": first["v1"], "build-2": moved}
    done = deletions(front)
    assert sorted(done) == sorted([first["build-1"], first["build-3"]])
    assert hub.run("apply", planned["plan_id"]).exit == 0
    assert deletions(front) == done
    assert hub.run("verify").exit == 0


@pytest.mark.requirement("R29", "R36")
def test_image_that_was_released_since_it_was_approved_is_not_deleted(hub, registry, front):
    """A digest takes all its tags with it: at the act each is looked up again, and a new plan is refused."""
    planned = hub.plan(file="workflows/drop_builds.fcw")
    hub.approve(planned)
    registry.push("shop/web", "v2", content="build-3")
    before_it = registry.tags("shop/web")
    applied = hub.run("apply", planned["plan_id"])
    assert applied.exit == 3
    assert "build-3: changed" in applied.said
    assert (deletions(front), registry.tags("shop/web")) == ([], before_it)
    planned = hub.plan(file="workflows/drop_builds.fcw", exits=3)
    assert WarningCode.SHARED_IDENTITY in [each["code"] for each in planned["envelopes"]["tags"]["warnings"]]

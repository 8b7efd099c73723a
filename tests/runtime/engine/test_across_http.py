"""An API that is split into regions, which it lists itself: read whole or not at all, acted on in the right one."""

from __future__ import annotations

import os

import pytest
from tests.support.http_api import Answer
from tests.support.http_parts import Regions
from tests.support.reading_http import things
from tests.support.workspaces import Bench

pytestmark = pytest.mark.requirement("R18", "R19", "R29")

CONFIGURATION = """\
[workspace]
name = "cloud"

[sources.cloud]
connector = "http"
dialect = "generic_http"
base_url = "{url}"

[sources.cloud.resources.regions]
list = "/regions"
key = ["name"]
fields = {{ name = "text" }}

[sources.cloud.resources.volumes]
partitions = ["region"]
list = "/{{region}}/cursor"
read = "/{{region}}/cursor/{{id}}"
key = ["region", "id"]
fields = {{ region = "text", id = "text", n = "int", owner = {{ type = "text?", at = "$detail/body/owner" }} }}
detail = {{ path = "/{{region}}/cursor/{{id}}", calls = 100 }}
not_found_is_gone = true
operations.delete = {{ method = "DELETE", path = "/{{region}}/cursor/{{id}}", effect = "delete", closure = "none" }}

[roles]
ops = ["uid:{uid}"]
"""

RULE = """\
workflow tidy {
  inventory regions from cloud.regions { key name
    fields { name: text }
    expect name == "eu" }
  inventory volumes from cloud.volumes across region in regions.name {
    key (region, id)
    fields { region: text, id: text, n: int, owner: text? }
    expect id == "t0003"
  }
  verify regions { complete, fresh within 1h }
  verify volumes { complete, fresh within 1h }

  propose remove from volumes as v {
    where v.owner is absent
    limit 20, 60%
  }

  approve remove { 1 of role "ops", expires after 2d }

  act remove with cloud.delete(region: v.region, id: v.id)
}
"""


class Cloud(Bench):
    """A workspace over two regions with six volumes each, of which two have no owner."""

    def __init__(self, root, api):
        self.root, self.uid, self.api = root, os.getuid(), api
        (root / "workflows").mkdir(parents=True)
        (root / "fullcount.toml").write_text(CONFIGURATION.format(url=api.url, uid=self.uid), encoding="utf-8")
        (root / "workflows/tidy.fcw").write_text(RULE, encoding="utf-8")
        api.faults.append(self.regions)

    def regions(self, asked):
        """Answer the list of regions, which stands beside them."""
        names = [{"name": name} for name in self.api.regions]
        return Answer(200, {"items": names, "next_cursor": None}) if asked.path == "/regions" else None


@pytest.fixture
def cloud(tmp_path):
    """The workspace, while its server runs."""
    with Regions({"eu": things(6), "us": things(6)}) as api:
        yield Cloud(tmp_path / "cloud", api)


def test_a_region_that_does_not_answer_refuses_the_whole_by_name(cloud):
    """What lies there is not known, so nothing of the other one is proposed either."""
    cloud.api.faults.append(lambda asked: Answer(403) if asked.path.startswith("/us/") else None)
    ended = cloud.run("plan", "workflows/tidy.fcw")
    assert ended.exit == 3, ended.said
    assert "1 of 2 parts, not region=us" in ended.words


def test_a_detail_that_may_not_be_seen_is_no_missing_owner(cloud):
    """A rule that asks for those without an owner is refused while the owner of one is hidden."""
    hidden = "/eu/cursor/t0000"
    cloud.api.faults.append(lambda asked: Answer(403) if asked.path == hidden else None)
    ended = cloud.run("plan", "workflows/tidy.fcw")
    assert (ended.exit, "PARTIAL_FIELD_SET" in ended.words) == (3, True), ended.said


def test_each_object_is_acted_on_in_its_own_region(cloud):
    """The same id in two regions is two objects; one that changed in the meantime is left alone."""
    planned = cloud.plan(file="workflows/tidy.fcw")
    keys = [[region, key] for region in ("eu", "us") for key in ("t0000", "t0005")]
    assert [row["key"] for row in planned["plan"]["rows"]] == keys
    parts = [each["parts"] for each in planned["plan"]["certificates"]]
    assert ["region=eu", "region=us"] in parts
    cloud.approve(planned)
    cloud.api.regions["us"].change("t0005", owner="somebody")
    ended = cloud.run("apply", planned["plan_id"])
    assert ended.exit in {0, 1}, ended.said
    left = {name: sorted(region.objects) for name, region in cloud.api.regions.items()}
    assert left == {"eu": ["t0001", "t0002", "t0003", "t0004"], "us": ["t0001", "t0002", "t0003", "t0004", "t0005"]}

"""A whole clean-up over HTTP: planned, approved, applied with conditions, undone, verified."""

import pytest
from tests.support.http_api import Answer, Api
from tests.support.workspaces import Bench

SETTINGS = """\
[workspace]
name = "web"

[sources.shop]
connector = "http"
dialect   = "generic_http"
base_url  = "{url}"
auth      = {{ bearer = {{ env = "SHOP_TOKEN" }} }}

[sources.shop.resources.carts]
list = "/cursor"
read = "/cursor/{{id}}"
key  = ["id"]
not_found_is_gone = true
version = "etag"
count   = {{ path = "/cursor/count", at = "count" }}
[sources.shop.resources.carts.fields]
id    = "text"
owner = "text?"
n     = "int"
etag  = {{ type = "text", at = "$headers/etag" }}
[sources.shop.resources.carts.operations.assign]
method       = "PATCH"
path         = "/cursor/{{id}}"
body         = {{ owner = "{{owner}}" }}
parameters   = {{ owner = "text" }}
effect       = "update"
precondition = "if_match"
undoes       = ["release"]
[sources.shop.resources.carts.operations.release]
method       = "PATCH"
path         = "/cursor/{{id}}"
body         = {{ owner = "" }}
effect       = "update"
precondition = "if_match"
undoes       = ["assign"]

[roles]
ops = ["uid:{uid}"]
"""

RULE = """\
workflow adopt_orphans {
  describe "Give carts that nobody owns to the clerk."
  owner "shop"

  inventory carts from shop.carts {
    key    id
    fields { id: text, owner: text?, n: int }
    expect id == "t0001"
  }
  verify carts { complete, fresh within 1h, count agrees with shop.carts }

  propose adopt from carts as c {
    where c.owner is absent
    limit 5
  }
  approve adopt { 1 of role "ops", expires after 1d }
  act adopt with shop.carts.assign(id: c.id, owner: "clerk") {
    undo shop.carts.release(id: c.id)
  }
}
"""


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A workspace over a server with eleven carts, three of which nobody owns."""
    monkeypatch.setenv("SHOP_TOKEN", "t0")
    carts = [{"id": f"t{n:04}", "owner": None if n % 5 == 0 else "p", "n": n} for n in range(11)]
    with Api(carts, token="t0") as api:
        bench = Bench.of(tmp_path / "web", SETTINGS, RULE, url=api.url)
        yield bench, api


@pytest.mark.requirement("R21", "R36")
def test_list_cut_short_by_the_server_refuses_the_clean_up(shop):
    """A page that fails leaves nothing to approve, and nothing is written."""
    bench, api = shop
    api.faults.append(lambda asked: Answer(403) if asked.query.get("cursor") == "6" else None)
    planned = bench.plan(file="workflows/adopt_orphans.fcw", exits=3)
    assert planned["envelopes"]["carts"]["completeness"]["reasons"][0]["code"] == "VISIBILITY_RESTRICTED"
    assert api.effects == []


@pytest.mark.requirement("R22", "R29", "R41", "R43")
def test_clean_up_over_http_leaves_the_object_that_changed_and_can_be_undone(shop):
    """Planned, approved, applied once and with `If-Match`; the cart that got an owner meanwhile is left alone."""
    bench, api = shop
    plan = bench.plan(file="workflows/adopt_orphans.fcw")
    assert [row["key"] for row in plan["plan"]["rows"]] == [["t0000"], ["t0005"], ["t0010"]]
    assert api.effects == []
    bench.approve(plan)
    api.change("t0005", owner="somebody")
    applied = bench.run("apply", plan["plan_id"])
    assert applied.exit == 0, applied.said
    assert {key: api.objects[key]["owner"] for key in ("t0000", "t0005", "t0010")} == {
        "t0000": "clerk",
        "t0005": "somebody",
        "t0010": "clerk",
    }
    writes = [asked for asked in api.requests if asked.method == "PATCH"]
    assert [asked.headers["if-match"] for asked in writes] == ['"1"', '"1"']
    effects = list(api.effects)
    assert bench.run("apply", plan["plan_id"]).exit == 0
    assert api.effects == effects
    bench.undone(plan)
    assert api.objects["t0000"]["owner"] == ""
    verified = bench.run("verify")
    assert verified.exit == 0, verified.said
    assert "t0" not in verified.said.split()

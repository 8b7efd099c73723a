"""Hostile ids in the addresses of requests: each goes to the object that bears it, or is not sent at all."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from tests.adversarial.objects import hostile, twins
from tests.support.http_api import Api
from tests.support.workspaces import Bench

pytestmark = [pytest.mark.slow, pytest.mark.requirement("R40")]
SETTINGS = """\
[workspace]
name = "web"

[sources.shop]
connector = "http"
dialect   = "generic_http"
base_url  = "{url}"

[sources.shop.resources.carts]
list = "/cursor"
read = "/cursor/{{id}}"
key  = ["id"]
not_found_is_gone = true
version = "etag"
count   = {{ path = "/cursor/count", at = "count" }}
[sources.shop.resources.carts.fields]
id   = "text"
due  = "bool"
note = "text?"
etag = {{ type = "text", at = "$headers/etag" }}
[sources.shop.resources.carts.operations.delete]
method       = "DELETE"
path         = "/cursor/{{id}}"
effect       = "delete"
closure = "none"
precondition = "if_match"

[roles]
ops = ["uid:{uid}"]
"""
RULE = """\
workflow drop_carts {
  describe "Delete carts that are due."
  owner "shop"

  inventory carts from shop.carts {
    key    id
    fields { id: text, due: bool, note: text? }
    expect id == "t0001"
  }
  verify carts { complete, fresh within 1h, count agrees with shop.carts }

  propose drop from carts as c {
    where c.due
    limit 500, 100%
    show  c.note
  }
  approve drop { 1 of role "ops", expires after 1d }
  act drop with shop.carts.delete(id: c.id) { concurrency 8 }
}
"""
STEPS = (".", "..", "...", "%2e", "")
"""As the last step of an address these mean another place, or might to somebody on the way."""


def web(root, api) -> Bench:
    """Return a workspace over a server."""
    return Bench.of(root, SETTINGS, RULE, url=api.url)


def served(names):
    """Return the objects: those of the names due, their twins not."""
    others = twins(set(names)) - {"t0001"}
    due = [{"id": name, "due": True, "note": name} for name in sorted(names)]
    return others, [*due, *({"id": name, "due": False, "note": None} for name in sorted(others | {"t0001"}))]


def test_each_request_goes_to_the_object_that_bears_the_id(tmp_path):
    """The server has deleted what was due, with every twin left, and was asked for no other address."""
    names = {name for name in hostile().values() if len(name) < 5_000}
    others, things = served(names)
    with Api(things, page=100) as api:
        bench = web(tmp_path / "web", api)
        plan = bench.plan(file="workflows/drop_carts.fcw")
        assert api.effects == []
        bench.approve(plan)
        applied = bench.run("apply", plan["plan_id"])
        assert applied.exit == 0, applied.said
        assert "still due" not in applied.said, "the list gives no version, so none of them has changed"
        assert sorted(api.effects) == sorted(("DELETE", name) for name in names)
        assert set(api.objects) == others | {"t0001"}
        for asked in api.requests:
            steps = asked.path.split("/")[1:]
            assert steps[0] == "cursor"
            assert len(steps) == 1 or (len(steps) == 2 and unquote(steps[1]) in {*names, *others, "count", "t0001"})
            assert set(asked.query) <= {"cursor"}
            assert "x-admin" not in asked.headers
        assert bench.run("verify").exit == 0


@pytest.mark.parametrize("name", STEPS)
def test_an_id_that_would_name_another_place_is_never_sent(tmp_path, name):
    """`DELETE /carts/` and `DELETE /carts/..` are the whole collection and more: nothing but the one object is hit."""
    others, things = served({name, "t0000"})
    with Api(things, page=100) as api:
        bench = web(tmp_path / "web", api)
        planned = bench.plan(file="workflows/drop_carts.fcw")
        assert [row["key"] for row in planned["plan"]["rows"]] == sorted([[name], ["t0000"]])
        bench.approve(planned)
        bench.run("apply", planned["plan_id"])
        hit = {"t0000"} if name in {"", ".", ".."} else {"t0000", name}
        assert set(api.effects) == {("DELETE", key) for key in hit}
        assert others | {"t0001"} <= set(api.objects)
        writes = [asked.path for asked in api.requests if asked.method == "DELETE"]
        assert all(len(path.split("/")) == 3 and path.split("/")[2] not in {"", ".", ".."} for path in writes), writes
        assert all(asked.path.startswith("/cursor") for asked in api.requests), api.requests
        assert bench.run("verify").exit == 0

"""Acts over HTTP whose body is always the same: taken back, and found done by reading, as those with parameters are."""

from __future__ import annotations

from contextlib import closing

import pytest
from tests.crash import preparing
from tests.support.http_api import Answer, Api
from tests.support.reading_http import things
from tests.support.workspaces import AN_API

from fullcount.runtime.approve.identity import current_person
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.engine import Engine
from fullcount.runtime.journal.verify import verify
from fullcount.runtime.store.store import Store
from fullcount.runtime.workspace import Workspace

pytestmark = pytest.mark.requirement("R22", "R32")

_TOML = (
    AN_API
    + """
[sources.shop.resources.things]
list = "/cursor"
read = "/cursor/{{id}}"
key  = ["id"]
fields = {{ id = "text", n = "int", shut = "bool", level = {{ type = "text", at = "is/level" }} }}

[sources.shop.resources.things.operations.close]
method = "PATCH"
path   = "/cursor/{{id}}"
body   = {{ shut = true, is = {{ level = "low" }}{more} }}
effect = "update"
undoes = ["open"]

[sources.shop.resources.things.operations.open]
method = "PATCH"
path   = "/cursor/{{id}}"
body   = {{ shut = false, is = {{ level = "high" }} }}
effect = "update"
undoes = ["close"]
"""
)
_WORKFLOW = """
workflow tidy {
  inventory things from shop.things {
    key    id
    fields { id: text, n: int, shut: bool, level: text }
    expect id == "t0000"
  }
  verify things { complete, fresh within 1h }
  propose tidy from things as t {
    where t.n > 0 and t.shut == false
    limit 100000
  }
  approve tidy { 1 of role "ops", expires after 1d }
  act tidy with shop.close(id: t.id) { undo shop.open(id: t.id) }
}
"""


@pytest.fixture
def shop():
    """Two objects that are due and one that is not."""
    with Api([{**each, "shut": False, "is": {"level": "high"}} for each in things(3)]) as found:
        yield found


async def prepared(folder, shop, more=""):
    (folder / "fullcount.toml").write_text(_TOML.format(uid=current_person().uid, url=shop.url, more=more))
    (folder / "workflow.fcw").write_text(_WORKFLOW)
    return await preparing.approved_plan(folder, 2)


async def acting(folder, plan_id, *, undo=False):
    """Apply a plan, or plan to undo it and apply that; return the counts and what the undo left or could not tell."""
    workspace, me = Workspace.load(folder), current_person()
    with closing(Store.open(workspace.store_url)) as store:
        snapshots = SnapshotStore(workspace.snapshot_dir)
        engine = Engine(workspace, store, snapshots)
        left: list[str] = []
        if undo:
            made = await engine.plan_undo(plan_id, me)
            if made.plan is None:
                return {}, [each.message for refusal in made.refusals for each in refusal.findings]
            document = made.plan.document
            left = [group.reason for group in document.kept] + [why for u in document.undecided for why in u.missing]
            engine.give_approval(made.plan, me, document.digest)
            plan_id = document.plan_id
        end = await engine.apply(plan_id, me)
        assert verify(store, snapshots).problems == ()
        return {outcome.value: n for outcome, n in end.report.counts.items() if n > 0}, left


def standing(shop):
    return {key: (each["shut"], each["is"]["level"]) for key, each in shop.objects.items()}


async def test_what_somebody_changed_after_the_act_is_left(tmp_path, shop):
    """Also what the constants of the body are about; the other object is taken back."""
    plan_id = await prepared(tmp_path, shop)
    assert (await acting(tmp_path, plan_id))[0] == {"done": 2}
    shop.change("t0001", **{"is": {"level": "middle"}})
    assert await acting(tmp_path, plan_id, undo=True) == ({"done": 1}, ["`level` was changed after the act"])
    assert standing(shop) == {"t0000": (False, "high"), "t0001": (True, "middle"), "t0002": (False, "high")}


async def test_what_nobody_says_that_an_operation_sets_is_told_as_that(tmp_path, shop):
    """A member of the body is no field: it may set any. What differs is neither taken back nor said to be changed."""
    plan_id = await prepared(tmp_path, shop, ', why = "old"')
    assert (await acting(tmp_path, plan_id))[0] == {"done": 2}
    shop.change("t0001", n=7)
    shop.change("t0002", n=8)
    counts, told = await acting(tmp_path, plan_id, undo=True)
    assert counts == {}
    assert "or by it: nobody says which fields `close` sets" in told[0]
    assert standing(shop)["t0001"] == (True, "low")


async def test_an_act_of_constants_is_taken_back(tmp_path, shop):
    """It is as the act left it."""
    plan_id = await prepared(tmp_path, shop)
    before = standing(shop)
    assert (await acting(tmp_path, plan_id))[0] == {"done": 2}
    assert standing(shop) == {**before, "t0001": (True, "low"), "t0002": (True, "low")}
    assert await acting(tmp_path, plan_id, undo=True) == ({"done": 2}, [])
    assert standing(shop) == before


async def test_an_act_of_constants_whose_answer_was_lost_is_found_done_by_reading(tmp_path, shop):
    """The target shows its effect; nothing is sent twice."""
    plan_id = await prepared(tmp_path, shop)

    def lost(asked):
        if asked.method != "PATCH":
            return None
        shop.change(asked.path.rpartition("/")[2], **asked.body)
        return Answer(504, {"error": "timeout"})

    shop.faults.append(lost)
    counts, _ = await acting(tmp_path, plan_id)
    assert set(counts) == {"unknown"}
    assert (await acting(tmp_path, plan_id))[0] == {"done": 2}
    assert sum(1 for each in shop.requests if each.method == "PATCH") == 2

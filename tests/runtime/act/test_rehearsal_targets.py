"""A rehearsal of a restore over a real repository and over HTTP: the end state of the target is what counts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import pytest
from tests.crash import preparing
from tests.support.http_api import Answer, Api
from tests.support.reading_http import things
from tests.support.workspaces import AN_API

from fullcount.compiler.pipeline import compile_source
from fullcount.dsl.diagnostics import Severity
from fullcount.dsl.source import Source
from fullcount.runtime.approve.identity import current_person
from fullcount.runtime.backups.files import BackupFiles
from fullcount.runtime.collect.snapshots import SnapshotStore
from fullcount.runtime.engine import Engine
from fullcount.runtime.journal.verify import verify
from fullcount.runtime.store.store import Store
from fullcount.runtime.store.views import ActKind
from fullcount.runtime.workspace import Workspace

pytestmark = pytest.mark.requirement("R28", "R29", "R43")

CANARY = "canary 2 then wait 1ms"
_TOML = (
    AN_API
    + """
[sources.shop.resources.things]
list = "/cursor"
read = "/cursor/{{id}}"
key  = ["id"]
not_found_is_gone = true
{marks}
[sources.shop.resources.things.fields]
id   = "text"
n    = "int"
made = "int"
uid  = "text"
etag = {{ type = "text", at = "$headers/etag" }}

[sources.shop.resources.things.operations.delete]
method  = "DELETE"
path    = "/cursor/{{id}}"
effect  = "delete"
closure = "none"

[sources.shop.resources.things.operations.restore]
method        = "PUT"
path          = "/cursor/{{id}}"
effect        = "create"
restores      = true
undoes        = ["delete"]
set_by_source = {anew}
"""
)
_WORKFLOW = """
workflow tidy {{
  inventory things from shop.things {{
    key    id
    {told_by}
    fields {{ {fields} }}
    expect id == "t0000"
  }}
  verify things {{ complete, fresh within 1h }}
  propose tidy from things as t {{
    where {rule}
    limit 100000
  }}
  approve tidy {{ 1 of role "ops", expires after 1d }}
  act tidy with {act}
}}
"""
PLAIN = f"shop.delete(id: t.id) {{ backup kept for 2d {CANARY} rehearse restore }}"
STEPS = f"steps {{ delete: shop.delete(id: t.id) backup kept for 2d rehearse restore {CANARY} }}"

INCARNATION = 'incarnation = "uid"'


class Shop(Api):
    """Three objects that are due and one that is not; an object that is sent to a free place is made anew there."""

    def __init__(self) -> None:
        super().__init__([{**each, "note": "hers", "uid": f"u-{each['n']}", "made": 1} for each in things(4)])
        self.loses: str | None = None
        """A member that the API forgets of what it is sent."""
        self.faults.append(self._made)

    def _made(self, asked: Any) -> Answer | None:
        key = asked.path.rpartition("/")[2]
        if asked.method != "PUT" or key in self.objects:
            return None
        self.objects[key] = {**{n: v for n, v in asked.body.items() if n != self.loses}, "made": 2}
        self.versions[key] = 1
        self.effects.append(("PUT", key))
        return Answer(201, self.objects[key])

    @property
    def writes(self) -> list[str]:
        """What was done to which object, in order."""
        return [f"{method} {key}" for method, key in self.effects]


@pytest.fixture
def shop():
    with Shop() as found:
        yield found


def written(
    folder, shop, *, act: str = PLAIN, rule: str = "t.n > 0", marks: str = "", anew: Sequence[str] = ()
) -> None:
    """Write the workspace and its workflow."""
    fields = ", ".join(["id: text", "n: int", *(["made: int"] if "made" in rule else ["uid: text"] * ("uid" in marks))])
    toml = _TOML.format(uid=current_person().uid, url=shop.url, marks=marks, anew=json.dumps(["made", *anew]))
    (folder / "fullcount.toml").write_text(toml)
    (folder / "workflow.fcw").write_text(
        _WORKFLOW.format(act=act, rule=rule, fields=fields, told_by="incarnation uid" if "uid" in marks else "")
    )


def codes(folder) -> list[str]:
    """Return the mistakes that the compiler finds in the workflow."""
    catalog = Workspace.load(folder).catalog()
    compiled = compile_source(Source("w", (folder / "workflow.fcw").read_text()), catalog)
    return [found.code for found in compiled.diagnostics if found.severity is Severity.ERROR]


async def applied(folder, plan_id: str):
    """Apply a plan and return the report, the outcomes of its rehearsal, and what is wrong with the record."""
    workspace = Workspace.load(folder)
    with closing(Store.open(workspace.store_url)) as store:
        snapshots = SnapshotStore(workspace.snapshot_dir)
        end = await Engine(workspace, store, snapshots).apply(plan_id, current_person())
        kinds = (ActKind.REHEARSE_UNDO, ActKind.REHEARSE_AGAIN)
        entries = [(e.object_key[0], e.outcome) for kind in kinds for e in store.ledger(plan_id, kind=kind)]
        problems = verify(store, snapshots, backups=BackupFiles(workspace.backup_dir)).problems
        assert [str(each) for each in problems] == []
        return end.report, entries


def figures(report) -> dict[str, int]:
    return {outcome.value: number for outcome, number in report.counts.items() if number > 0}


@pytest.mark.parametrize(
    ("act", "rule", "marks", "anew", "code"),
    [
        (PLAIN, "t.n > 0 and t.made < 9", "", (), "FC583"),
        (PLAIN, "t.n > 0", INCARNATION, ("uid",), "FC583"),
        (STEPS, "t.n > 0", INCARNATION, ("uid",), "FC583"),
        (STEPS, "t.n > 0", "", (), "FC554"),
    ],
)
def test_what_would_come_back_as_something_else_does_not_compile(tmp_path, shop, act, rule, marks, anew, code):
    """The API makes it anew with a mark of its own: by the rule, or as an object, it is another one then."""
    written(tmp_path, shop, act=act, rule=rule, marks=marks, anew=anew)
    assert codes(tmp_path) == [code]


async def test_an_api_that_loses_a_part_of_what_it_is_sent_stops_the_plan(tmp_path, shop):
    """The member is no field of the resource: the backup tells."""
    written(tmp_path, shop)
    plan_id = await preparing.approved_plan(tmp_path, 3)
    shop.loses = "note"
    report, entries = await applied(tmp_path, plan_id)
    assert report.stopped_by.code == "FC794"
    assert shop.writes == ["DELETE t0001", "DELETE t0002", "PUT t0001"]
    assert entries[0][0] == "t0001"


@pytest.mark.parametrize(
    ("act", "marks"), [(PLAIN, 'version = "etag"'), (STEPS, INCARNATION)], ids=["one operation", "steps"]
)
async def test_an_object_of_an_api_comes_back_and_goes_again_before_the_rest(tmp_path, shop, act, marks):
    """Compared but for what the API sets of itself: the time at which it was made, and its version."""
    written(tmp_path, shop, act=act, marks=marks)
    assert codes(tmp_path) == []
    report, entries = await applied(tmp_path, await preparing.approved_plan(tmp_path, 3))
    assert (report.stopped_by, figures(report)) == (None, {"done": 3})
    assert shop.writes == ["DELETE t0001", "DELETE t0002", "PUT t0001", "DELETE t0001", "DELETE t0003"]
    assert [(key, outcome.value) for key, outcome in entries] == [("t0001", "done"), ("t0001", "done")]
    assert list(shop.objects) == ["t0000"]


def rehearsing(folder, act: str) -> None:
    """Make a repository of four merged branches, and let its workflow rehearse what it does."""
    preparing.prepare_git(folder, 4)
    workflow = folder / "workflow.fcw"
    text = workflow.read_text()
    workflow.write_text(text[: text.index("  act prune")] + f"  act prune with {act}\n}}\n")


DELETE = "code.delete(name: b.name)"
BACK = "undo code.restore(name: b.name, sha: b.sha)"


@pytest.mark.parametrize(
    "act",
    [
        f"{DELETE} {{ {BACK} {CANARY} rehearse restore }}",
        f"steps {{ prune: {DELETE} {BACK} rehearse restore {CANARY} }}",
    ],
    ids=["one operation", "steps"],
)
async def test_a_branch_comes_back_at_its_commit_and_goes_again_before_the_rest(tmp_path, act):
    """As the repository's own hook noted it; and the record verifies."""
    rehearsing(tmp_path, act)
    plan_id = await preparing.approved_plan(tmp_path, 4)
    made = preparing.git_creations(tmp_path) if (tmp_path / "changes.log").exists() else {}
    report, entries = await applied(tmp_path, plan_id)
    assert (report.stopped_by, figures(report)) == (None, {"done": 4})
    assert [(key, outcome.value) for key, outcome in entries] == [("topic-000", "done"), ("topic-000", "done")]
    assert preparing.git_deletions(tmp_path) == {"topic-000": 2, "topic-001": 1, "topic-002": 1, "topic-003": 1}
    assert preparing.git_creations(tmp_path) - preparing.Counter(made) == {"topic-000": 1}
    assert preparing.git_branches(tmp_path) == {"main"}


async def test_a_branch_that_came_back_at_another_commit_stops_the_plan(tmp_path, monkeypatch):
    """Its commit is its version, but the restore sets it: so it is compared."""
    from fullcount.runtime.act import rehearsing as room

    rehearsing(tmp_path, f"{DELETE} {{ {BACK} {CANARY} rehearse restore }}")
    plan_id = await preparing.approved_plan(tmp_path, 4)
    as_it_was = room.unlike_before

    async def moved(*given: Any) -> Any:
        preparing.git_move(tmp_path, "topic-000", preparing.git_sha(tmp_path, "main"))
        return await as_it_was(*given)

    monkeypatch.setattr(room, "unlike_before", moved)
    report, _ = await applied(tmp_path, plan_id)
    assert report.stopped_by.code == "FC794"
    assert "`sha` differs" in report.stopped_by.message
    assert preparing.git_branches(tmp_path) == {"main", "topic-000", "topic-002", "topic-003"}

"""Branches whose names look like options, commands, or other refs: each is deleted as the branch that it is."""

from __future__ import annotations

import pytest
from tests.support.repository import Repository
from tests.support.workspaces import Bench

pytestmark = [pytest.mark.slow, pytest.mark.requirement("R40")]
NAMES = (
    "-D", "--force", "--upload-pack=touch${IFS}pwned", "HEAD", "@", "refs/heads/main", "refs/tags/v1", "heads/main",
    "MAIN", "m\u0430in", "main\u200b", "\u202eniam", "$(touch${IFS}pwned)", "`id`", "a;touch${IFS}pwned", "a&b|c",
    "<script>", "'OR'1'='1", "=cmd", "%2e%2e", "{{7}}", "ignore-all-previous-instructions", "#main", "!main", '"main"',
    "caf\u00e9", "cafe\u0301", "7e3", "null", "n" * 200,
)  # fmt: skip
SETTINGS = """\
[workspace]
name = "code"

[roles]
ops = ["uid:{uid}"]

[sources.code]
connector = "git"
repository = "repository"
base = "main"
"""
RULE = """\
workflow prune_branches {
  describe "Delete branches that are merged."
  owner    "platform"

  inventory branches from code.branches {
    key    name
    fields { name: text, sha: text, merged: bool, is_base: bool }
  }
  verify branches { complete, fresh within 1h }

  propose prune from branches as b {
    where b.merged and not b.is_base
    limit 500, 100%
  }
  approve prune { 1 of role "ops", expires after 1d }
  act prune with code.delete(name: b.name) {
    undo code.restore(name: b.name, sha: b.sha)
  }
}
"""


def test_each_branch_is_deleted_as_the_branch_that_it_is(tmp_path):
    """The base, the unmerged, the tag, and every other ref and file are as they were; undo brings each back."""
    bench = Bench.of(tmp_path / "code", SETTINGS, RULE)
    there = Repository.make(bench.root / "repository")
    first = there.sha("HEAD")
    there.commit("second", more="more\n")
    there.git("tag", "v1")
    work = there.branch("work", {"a": "a\n"})
    before = there.refs("refs")
    files = {path for path in tmp_path.rglob("*") if ".git" not in path.parts}
    given = "".join(f"create refs/heads/{name}\0{first}\0" for name in NAMES)
    there.git("update-ref", "-z", "--stdin", given=given)
    filled = there.refs("refs")
    assert len(filled) == len(before) + len(NAMES)

    plan = bench.plan(file="workflows/prune_branches.fcw")
    assert {row["key"][0] for row in plan["plan"]["rows"]} == set(NAMES)
    assert there.refs("refs") == filled
    bench.approve(plan)
    applied = bench.run("apply", plan["plan_id"])
    assert applied.exit == 0, applied.said
    left = {name: sha for name, sha in there.refs("refs").items() if not name.startswith("refs/fullcount/")}
    assert left == before
    assert there.sha("refs/heads/work") == work
    assert {
        path for path in tmp_path.rglob("*") if ".git" not in path.parts and ".fullcount" not in path.parts
    } == files

    bench.undone(plan)
    assert {name: sha for name, sha in there.refs("refs").items() if not name.startswith("refs/fullcount/")} == filled
    assert bench.run("verify").exit == 0

"""A workflow whose rule stands in another file, from `check` to the plan's authors."""

import json

import pytest
from tests.support.workspaces import WORKFLOW

FILE = f"workflows/{WORKFLOW}.fcw"
RULE = "(a.owner is absent or no people as p where (p.id == a.owner and p.active))"
LIBRARY = """\
record person { id: text, active: bool }
define orphan(owner: text?) = owner is absent or no people as p where (p.id == owner and p.active)
"""


@pytest.fixture
def shared(bench):
    """The workspace's workflow, with its rule and a record moved to a library."""
    path = bench.root / FILE
    text = path.read_text()
    assert RULE in text
    text = text.replace(RULE, "orphan(a.owner)").replace("fields { id: text, active: bool }", "fields person")
    assert "fields person" in text
    path.write_text('edition "2026"\nimport "lib/people.fcw"\n' + text)
    (bench.root / "workflows" / "lib").mkdir()
    (bench.root / "workflows" / "lib" / "people.fcw").write_text(LIBRARY)
    return bench


def test_check_reports_the_mistake_of_an_imported_file_in_that_file(shared):
    """A library is checked by itself and with each workflow that imports it."""
    library = shared.root / "workflows" / "lib" / "people.fcw"
    library.write_text(LIBRARY.replace("owner is absent", "owner is missing"))
    ended = shared.run("check")
    assert ended.exit == 1
    assert "lib/people.fcw" in ended.said
    assert "found `missing`" in ended.words


def test_import_that_leaves_the_workspace_is_refused(shared):
    """Whatever is there."""
    (shared.root.parent / "people.fcw").write_text(LIBRARY)
    path = shared.root / FILE
    path.write_text(path.read_text().replace("lib/people.fcw", "../../people.fcw"))
    ended = shared.run("check", FILE)
    assert ended.exit == 1
    assert "FC141" in ended.said


def test_library_by_itself_has_nothing_to_plan_and_that_is_said(shared):
    """It checks, and a plan of it is a mistake of the call."""
    assert shared.run("check", "workflows/lib/people.fcw").exit == 0
    ended = shared.run("plan", "workflows/lib/people.fcw")
    assert ended.exit == 2
    assert "declares no workflow" in ended.words


def test_plan_over_shared_names_is_the_plan_that_the_written_out_rule_makes(shared):
    """The same objects for the same reasons, with the definition beside the rule for its reviewer."""
    assert shared.run("check").exit == 0
    ended = shared.run("plan", FILE, "--json")
    plan = json.loads(ended.out)["plan"]
    assert [row["key"] for row in plan["rows"]] == [["a01"], ["a02"], ["a03"]]
    assert "define orphan(owner: text?) = owner is absent" in plan["rule"]
    assert plan["authors"] == [f"uid:{shared.uid}"]

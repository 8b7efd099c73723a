"""Protections of a real workspace: no verb, no file and no caller goes around them."""

from __future__ import annotations

import asyncio

import pytest
from tests.support.workspaces import ORPHANS, WORKFLOW

from fullcount.compiler.params import bind_params
from fullcount.compiler.pipeline import compile_source
from fullcount.dsl.source import Source
from fullcount.runtime.approve.identity import current_person
from fullcount.runtime.planning import PlanRequest
from fullcount.runtime.service.scheduled import ScheduledWorkflows
from fullcount.runtime.workspace import Workspace

VAULT = 'protect vault from directory.accounts as a where (a.id == "{}") because "it opens the vault"\n'


def protect(bench, text, name="protect.fcw"):
    path = bench.root / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    "verb", [["plan", f"workflows/{WORKFLOW}.fcw"], ["graph", f"workflows/{WORKFLOW}.fcw"], ["check"]]
)
def test_nothing_runs_while_a_protection_has_a_mistake(bench, verb):
    """The mistake is shown at its place, and nothing was read or written."""
    bench.rule()
    protect(bench, VAULT.format("a01").replace("a.id", "a.ids"))
    before = bench.everything()
    ended = bench.run(*verb)
    assert ended.exit == 1
    assert "protect.fcw:1:53" in ended.said
    assert "FC110" in ended.said
    assert bench.everything() == before


def test_a_mistake_in_the_protections_is_said_once_however_many_files_are_checked(bench):
    """`check` compiles every file under them."""
    bench.rule()
    bench.rule("another")
    protect(bench, VAULT.format("a01").replace("a.id", "a.ids"))
    assert bench.run("check").said.count("FC110") == 2  # the finding, and where to read more


def test_a_protection_in_a_workflow_file_is_a_mistake(bench):
    """It is told to go where every workflow is held to it."""
    path = bench.root / bench.rule()
    path.write_text(VAULT.format("a01") + path.read_text("utf-8"), encoding="utf-8")
    ended = bench.run("check")
    assert ended.exit == 1
    assert "FC616" in ended.said
    assert "move it to `protect.fcw`" in ended.words


def test_check_counts_protections_and_checks_them_without_a_workflow_that_meets_them(bench):
    """A protection of a resource that no workflow acts on is checked as well."""
    bench.rule()
    protect(bench, VAULT.format("a01"))
    protect(bench, 'protect staff from hr.employees as e where (e.active) because "here"\n', "protect/hr.fcw")
    ended = bench.run("check")
    assert (ended.exit, "checked 3 files, 1 workflow, 2 protections: no mistakes" in ended.said) == (0, True)
    assert bench.run("check", "protect.fcw", at=bench.root).exit == 0


@pytest.mark.requirement("R21", "R25")
def test_a_protected_account_is_in_no_plan_and_the_reviewer_sees_why(bench):
    """Kept with its reason; a protection that is added voids what was approved without it."""
    bench.rule()
    first = bench.approved()
    protect(bench, VAULT.format("a02"))
    second = bench.plan()
    assert [row["key"] for row in second["plan"]["rows"]] == [["a01"], ["a03"]]
    assert second["digest"] != first["digest"]
    assert bench.run("apply", first["plan_id"]).exit == 6
    assert "protected by `vault`: it opens the vault" in bench.run("show", second["plan_id"]).words
    bench.approve(second)
    assert bench.run("apply", second["plan_id"]).exit == 0
    assert bench.locked() == {"a01", "a03"}


@pytest.mark.requirement("R21", "R22")
def test_a_protection_that_is_added_after_the_approval_protects(bench):
    """No new plan is needed for it to hold."""
    bench.rule()
    planned = bench.approved()
    protect(bench, VAULT.format("a03"), "protect/vault.fcw")
    ended = bench.run("apply", planned["plan_id"])
    assert ended.exit == 0
    assert bench.locked() == {"a01", "a02"}
    assert "a03: refused, protected by `vault`: it opens the vault" in ended.words
    assert bench.run("verify").exit == 0


def test_an_apply_does_nothing_while_the_protections_can_not_be_read(bench):
    """A broken file is no empty file."""
    bench.rule()
    planned = bench.approved()
    protect(bench, "protect vault {")
    ended = bench.run("apply", planned["plan_id"])
    assert ended.exit == 1
    assert "nobody can say what is protected" in ended.words
    assert bench.locked() == set()
    (bench.root / "protect.fcw").unlink()
    assert bench.run("apply", planned["plan_id"]).exit == 0
    assert bench.locked() == set(ORPHANS)


def test_a_caller_that_compiled_without_the_protections_plans_under_them_all_the_same(bench):
    """The engine joins them, whoever made the program."""
    path = bench.root / bench.rule()
    protect(bench, VAULT.format("a01"))
    compiled = compile_source(Source("x.fcw", path.read_text("utf-8")), Workspace.load(bench.root).catalog())
    workflow = compiled.program.workflows[0]
    assert workflow.proposals[0].protections == ()
    request = PlanRequest(workflow, workflow.proposals[0], bind_params(workflow, {}), current_person())
    with bench.engine() as engine:
        end = asyncio.run(engine.plan(request))
    assert [row.key for row in end.plan.document.rows] == [("a02",), ("a03",)]


def test_the_service_compiles_its_workflows_anew_when_a_protection_changes(bench):
    """What was compiled before the change is not run after it."""
    bench.rule(schedule="schedule every 6h")
    load = ScheduledWorkflows(Workspace.load(bench.root), bench.root / "workflows")
    assert load()[0].workflow.proposals[0].protections == ()
    protect(bench, VAULT.format("a01"))
    assert [each.name for each in load()[0].workflow.proposals[0].protections] == ["vault"]
    protect(bench, "protect vault {")
    assert load() == ()

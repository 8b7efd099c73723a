"""What users copy first is tested by its own tests, and these notice every mistake that could be made in it."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from tests.support.workspaces import Bench

from fullcount.runtime.trials.mutate import Fate
from fullcount.runtime.trials.session import Asked, run_tests
from fullcount.runtime.workflow_files import compile_file
from fullcount.runtime.workspace import Workspace

ROOT = Path(__file__).parents[2]
READY_MADE = sorted((ROOT / "workflows").rglob("*.fcw"))


def tried(path, **asked):
    """Try the tests of a file where it stands."""
    real = Workspace.load(path.parent)
    compiled = compile_file(path, real)
    assert list(compiled.diagnostics) == []
    return run_tests([(path, compiled)], real, Asked(**asked), lambda _: None)


@pytest.fixture
def template(tmp_path):
    """The workflow that `fullcount init` makes."""
    bench = Bench.at(tmp_path)
    assert bench.run("init", ".").exit == 0
    with contextlib.chdir(tmp_path):
        yield tmp_path / "workflows" / "lock_idle_accounts.fcw"


@pytest.mark.requirement("R44")
@pytest.mark.parametrize("path", READY_MADE, ids=lambda path: path.stem)
def test_ready_made_workflow_passes_its_tests_which_see_every_branch(path):
    """Each atom true, false and unknown; each exemption used; each claim refused."""
    outcome = tried(path, coverage=True)
    assert [each.case.trial.name for each in outcome.results if not each.passed] == []
    assert len(outcome.results) >= 5
    for parts in outcome.coverage.values():
        assert {part.text: part.missing for part in parts if part.missing} == {}


def test_first_workflow_of_a_new_workspace_passes_its_tests(template):
    """`fullcount init`, then `fullcount test`: green, and worth reading."""
    outcome = tried(template)
    assert [each.case.trial.name for each in outcome.results if not each.passed] == []
    assert len(outcome.results) >= 5


@pytest.mark.slow
@pytest.mark.requirement("R44")
@pytest.mark.parametrize("path", READY_MADE, ids=lambda path: path.stem)
def test_no_mistake_in_a_ready_made_workflow_goes_unnoticed(path):
    """Its tests notice every mutant that the compiler lets through."""
    _all_noticed(path)


@pytest.mark.slow
def test_no_mistake_in_the_first_workflow_goes_unnoticed(template):
    """Who begins with it begins with tests that hold it."""
    _all_noticed(template)


def _all_noticed(path):
    for tried_mutants in tried(path, mutate=True).mutants.values():
        survivors = [(each.mutant.what, each.mutant.span) for each in tried_mutants if each.fate is Fate.SURVIVED]
        assert survivors == []
        assert len(tried_mutants) > 10

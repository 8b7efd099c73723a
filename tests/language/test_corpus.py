"""Every policy of the corpus is one readable workflow: in its layout, without a finding, and held by its own tests.

The workflows stand in `corpus/policies/`, their sources in its `fullcount.toml`: `p…` say what users of
other tools automate, `j…` the twelve nightly jobs. The number is the policy's in the list that they were taken from.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from fullcount.dsl.fmt.formatter import format_source
from fullcount.dsl.render import render
from fullcount.dsl.source import Source
from fullcount.runtime.trials.mutate import Fate
from fullcount.runtime.trials.session import Asked, run_tests
from fullcount.runtime.workflow_files import compile_file
from fullcount.runtime.workspace import Workspace

CORPUS = Path(__file__).parent / "corpus" / "policies"
FILES = sorted(each for each in CORPUS.glob("*.fcw") if each.name != "protect.fcw")

pytestmark = pytest.mark.requirement("R44")


@cache
def workspace() -> Workspace:
    """The one workspace of all files: its sources are read once."""
    return Workspace.load(CORPUS)


@cache
def compiled(path):
    """Compile a file in it."""
    return compile_file(path, workspace())


@cache
def outcome():
    """Try the tests of all files that compile on the real engine, on one stage: it is set up once."""
    return run_tests([(each, compiled(each)) for each in FILES if holds(each)], workspace(), Asked(), lambda _: None)


def holds(path):
    """Whether a file has no error."""
    return compiled(path).program is not None


def tried(path, **asked):
    """Try the tests of one file with more questions."""
    return run_tests([(path, compiled(path))], workspace(), Asked(**asked), lambda _: None)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_policy_stands_in_its_layout(path):
    """What `fullcount fmt` would write is what stands there."""
    text = path.read_text("utf-8")
    assert format_source(Source(path.name, text))[0] == text


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_policy_has_no_finding_and_does_what_its_tests_say(path):
    """No error, no warning; each of its tests passes."""
    found = compiled(path)
    assert list(found.diagnostics) == [], render(found.diagnostics, found.sources, color=False)
    results = [each for each in outcome().results if each.case.path == path]
    assert [(each.case.trial.name, each.misses) for each in results if not each.passed] == []
    assert len(results) >= 2


def test_every_policy_is_of_the_list():
    """A file is named for the number of its policy or job."""
    assert {path.stem[0] for path in FILES} == {"j", "p"}
    assert {path.stem.split("_")[0] for path in FILES if path.stem[0] == "j"} == {f"j{n:02}" for n in range(1, 13)}


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_tests_of_a_policy_see_every_branch(path):
    """Each atom true, false and unknown; each exemption and floor used; each claim refused."""
    for parts in tried(path, coverage=True).coverage.values():
        assert {part.text: part.missing for part in parts if part.missing} == NOT_SEEN.get(path.stem, {})


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_few_mistakes_in_a_policy_go_unnoticed(path):
    """At least nineteen of twenty mutants that the compiler lets through make a test fail."""
    for mutants in tried(path, mutate=True).mutants.values():
        survivors = [(each.mutant.what, each.mutant.span) for each in mutants if each.fate is Fate.SURVIVED]
        assert len(survivors) <= 0.05 * len(mutants), survivors


NOT_SEEN: dict[str, dict[str, tuple[str, ...]]] = {}
"""Branches that no test can see: rows outside of the scope of an inventory that is looked into are not kept."""

"""Every policy of the corpus is one readable workflow: in its layout, without a finding, and held by its own tests.

The workflows stand in `corpus/policies/`, their sources in its `fullcount.toml`: `p…` say what users of
other tools automate, `j…` the twelve nightly jobs. The number is the policy's in the list that they were taken from.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from tests.support.profiles import some

from fullcount.dsl.fmt.formatter import format_source
from fullcount.dsl.render import render
from fullcount.dsl.source import Source
from fullcount.runtime.trials.mutate import Fate
from fullcount.runtime.trials.session import Asked, run_tests
from fullcount.runtime.workflow_files import compile_file
from fullcount.runtime.workspace import Workspace

CORPUS = Path(__file__).parent / "corpus" / "policies"
FILES = sorted(each for each in CORPUS.glob("*.fcw") if each.name != "protect.fcw")

TRIED_WITH_MISTAKES = {
    "p29_oldest_images", "p31_old_images_and_instances", "p34_access_keys", "p36_root_access_to_file_systems",
    "p37_open_ingress", "p41_unfinished_uploads", "p43_databases_in_public_subnets", "p45_unknown_peers",
    "p60_few_replicas", "p60_unlabelled_pods",
}  # fmt: skip
HEAVY = {"j01_leavers", "j05_container_images", "j08_old_partitions", "j10_dns_records", "p50_unencrypted_new"}
"""Of these the tests take some seconds."""
LIGHT_FIRST = [
    *(pytest.param(each, id=each.stem) for each in FILES if each.stem not in HEAVY),
    *(pytest.param(each, id=each.stem, marks=pytest.mark.slow) for each in FILES if each.stem in HEAVY),
]

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
def outcome(*, heavy):
    """Try the tests of all files that compile on the real engine, on one stage: it is set up once."""
    files = [each for each in FILES if (each.stem in HEAVY) is heavy and compiled(each).program is not None]
    return run_tests([(each, compiled(each)) for each in files], workspace(), Asked(), lambda _: None)


def tried(path, **asked):
    """Try the tests of one file with more questions."""
    return run_tests([(path, compiled(path))], workspace(), Asked(**asked), lambda _: None)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_policy_stands_in_its_layout(path):
    """What `fullcount fmt` would write is what stands there."""
    text = path.read_text("utf-8")
    assert format_source(Source(path.name, text))[0] == text


@pytest.mark.parametrize("path", LIGHT_FIRST)
def test_policy_has_no_finding_and_does_what_its_tests_say(path):
    """No error, no warning; each of its tests passes."""
    found = compiled(path)
    assert list(found.diagnostics) == [], render(found.diagnostics, found.sources, color=False)
    results = [each for each in outcome(heavy=path.stem in HEAVY).results if each.case.path == path]
    assert [(each.case.trial.name, each.misses) for each in results if not each.passed] == []
    assert len(results) >= 2


def test_every_policy_is_of_the_list():
    """A file is named for the number of its policy or job."""
    assert {path.stem[0] for path in FILES} == {"j", "p"}
    assert {path.stem.split("_")[0] for path in FILES if path.stem[0] == "j"} == {f"j{n:02}" for n in range(1, 13)}


@pytest.mark.slow
@pytest.mark.parametrize("path", some(FILES, 4), ids=lambda path: path.stem)
def test_tests_of_a_policy_see_every_branch(path):
    """Each atom true, false and unknown; each exemption and floor used; each claim refused."""
    for parts in tried(path, coverage=True).coverage.values():
        assert {part.text: part.missing for part in parts if part.missing} == NOT_SEEN.get(path.stem, {})


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", some([each for each in FILES if each.stem in TRIED_WITH_MISTAKES], 5), ids=lambda path: path.stem
)
def test_hardly_a_mistake_in_a_policy_goes_unnoticed(path):
    """All but two mutants that the compiler lets through make a test fail."""
    for mutants in tried(path, mutate=True).mutants.values():
        survivors = [(each.mutant.what, each.mutant.span) for each in mutants if each.fate is Fate.SURVIVED]
        assert len(survivors) <= 2, survivors


NOT_SEEN: dict[str, dict[str, tuple[str, ...]]] = {
    "j02_guests": {
        "d.reviewedDateTime is present": ("false", "unknown"),
        "d.reviewedDateTime >= now - 30d": ("false", "unknown"),
    },
    "p55_idle_machines": {"c.timeStamp >= now - 1d": ("false",)},
    "p60_oversized_instances": {"c.timestamp >= now - 1d": ("false",)},
}
"""Branches that no test can see: rows outside of the scope of an inventory that is looked into are not kept."""

"""Chains of marks and delays, each one workflow: checked, in form, tried, and followed night by night."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fullcount.dsl.fmt import format_source
from fullcount.dsl.source import Source
from fullcount.runtime.plan.graduated import SELECTED, Clock, place
from fullcount.runtime.trials.session import Asked, run_tests
from fullcount.runtime.workflow_files import compile_file
from fullcount.runtime.workspace import Workspace

CORPUS = Path(__file__).parent / "corpus" / "chains"
START = datetime(2026, 1, 1, tzinfo=UTC)

CHAINS = {
    "policy_01_stop_mark": {"mark": 0, "stop": 4 * 24},
    "policy_02_unattached_volumes": {"mark": 0, "delete": 30 * 24},
    "policy_09_elastic_addresses": {"mark": 0, "give_back": 7 * 24},
    "policy_12_idle_databases": {
        "warn": 0, "remind": 7 * 24, "stop": 13 * 24,
        **{"nag" if n == 1 else f"nag {n}": 13 * 24 + n for n in range(1, 24)}, "delete": 14 * 24,
    },
    "retire_volumes": {"warn": 0, "backup": 14 * 24, "delete": 21 * 24},
}  # fmt: skip
"""Each step with the hours from the first plan to the one that lists it."""


def path_of(name: str) -> Path:
    return CORPUS / f"{name}.fcw"


def compiled(name: str):
    workspace = Workspace.load(CORPUS)
    return compile_file(path_of(name), workspace), workspace


def test_every_chain_of_the_corpus_is_followed():
    """No workflow with steps is left out."""
    with_steps = {path.stem for path in CORPUS.glob("*.fcw") if " with steps {" in path.read_text()}
    assert with_steps == set(CHAINS)


@pytest.mark.parametrize("name", CHAINS)
def test_a_chain_is_one_workflow_that_is_checked_and_tried(name):
    """Without a finding, in the one layout, and its own tests pass."""
    found, workspace = compiled(name)
    assert [(each.code, each.message) for each in found.diagnostics] == []
    text = path_of(name).read_text()
    assert format_source(Source(path_of(name).name, text))[0] == text
    outcome = run_tests([(path_of(name), found)], workspace, Asked(), lambda _: None)
    assert len(outcome.results) >= 2
    assert [each.case.trial.name for each in outcome.results if not each.passed] == []


@pytest.mark.requirement("R36")
@pytest.mark.parametrize("name", CHAINS)
def test_each_step_of_a_chain_comes_in_its_hour(name):
    """Planned every hour and acted on at once; who stops to qualify after any of them is released."""
    found, _ = compiled(name)
    (workflow,) = found.program.workflows
    (act,) = workflow.acts
    came, clock = {}, None
    for hour in range(40 * 24):
        at = START + timedelta(hours=hour)
        tonight = place(act, SELECTED, "one", clock, at)
        if tonight.due is None:
            continue
        came[tonight.due.label] = hour
        clock = Clock(("x",), "one", tonight.due.label, at)
        let_go = place(act, "rule", "one", clock, at)
        ended = act.steps[-1].call.deletes and len(came) == len(act.steps)
        assert (let_go.due is None) == ended
    assert came == CHAINS[name]

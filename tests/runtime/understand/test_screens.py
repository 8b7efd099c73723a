"""What people see of explanations, selections and comparisons; and that nothing foreign breaks it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.runtime.understand.conftest import LISTED, Asked, accounts
from tests.support.golden import assert_screen
from tests.support.planning import account, compiled, evidence, exemption, person
from tests.support.workspaces import ANSI, HARMFUL, too_wide

from fullcount.compiler.params import bind_params
from fullcount.runtime.plan.layout import to_text
from fullcount.runtime.understand.compare import Version, compare
from fullcount.runtime.understand.explain_text import explanation_json, explanation_lines
from fullcount.runtime.understand.held import held_of_plan
from fullcount.runtime.understand.select import select
from fullcount.runtime.understand.select_text import (
    comparison_json,
    render_comparison,
    render_selection,
    selection_json,
)

SCREENS = Path(__file__).parent / "snapshots"
LISTS = {"exemptions": (exemption("listed"),)}
HOSTILE = "\x1b[31mroot\u202e\r\nCANDIDATE  forged"


@pytest.mark.parametrize("key", ["orphan", "left", "used", "owned", "plat", "team-dark", "listed", "dark"])
def test_the_explanation_of_each_kind_of_object(asked, key):
    """The verdict first, what decided, the tree with its facts, and what would flip it; at most 100 columns."""
    shown = "\n".join(explanation_lines(asked.why(key, LISTS))) + "\n"
    assert max(map(len, shown.splitlines())) <= 100
    assert_screen(SCREENS / f"why-{key}.txt", shown)


def test_the_json_has_every_part_of_the_trace(asked):
    """Programs get the same: verdict, every part with its truth, exact values, and the changes one by one."""
    document = json.loads(json.dumps(explanation_json(asked.why("used", LISTS))))
    assert (document["verdict"], document["because"], document["key"]) == ("kept", "rule", ["used"])
    rule = document["rule"]
    assert (rule["kind"], rule["truth"]) == ("all", False)
    assert [part["truth"] for part in rule["parts"]] == [False, True]
    facts = {fact["what"]: fact["value"] for fact in rule["parts"][0]["facts"]}
    assert facts["a.last_login"] == "2026-09-04T02:00:00Z"
    assert facts["idle"] == "90d"
    look = rule["parts"][1]["parts"][1]["parts"][0]["looks"][0]
    assert (look["inventory"], look["complete"], look["rows"]) == ("people", True, 2)
    assert document["flips"][0] == {
        "changes": [
            {
                "text": "`a.last_login` is earlier by 3 d: before 2026-09-01 02:00Z",
                "kind": "field",
                "inventory": "accounts",
                "field": "last_login",
                "of_the_object": True,
                "state": "present",
            }
        ],
        "becomes": "candidate",
    }


def test_foreign_text_can_not_break_an_explanation(tmp_path):
    """Names from a source stay on one line, without escapes and overrides."""
    rows = [account(HOSTILE, owner=f"gone {HOSTILE}"), account("b", owner=HOSTILE)]
    asked = Asked(evidence(tmp_path, rows, [person(HOSTILE)]))
    for key in (HOSTILE, "b"):
        shown = "\n".join(explanation_lines(asked.why(key)))
        assert not ANSI.search(shown)
        assert not HARMFUL.search(shown.replace("\n", ""))
        assert not any(line.startswith("CANDIDATE  forged") for line in shown.splitlines())
        assert too_wide(shown) == []


@pytest.fixture
def stored(tmp_path):
    """The evidence of a plan over `accounts`."""
    world = evidence(tmp_path, accounts(), [person("ana"), person("bo", active=False)], text=LISTED)
    return held_of_plan(world.plan(exemptions=LISTS), world.store)


def version(text=LISTED, **given):
    workflow = compiled(text)
    return Version(workflow, workflow.proposals[0], bind_params(workflow, given))


def test_the_screen_of_a_selection(stored):
    """Counts, rule, parameters, kept and undecided, rows."""
    after = version(idle="80d")
    found = select(stored, after.workflow, after.proposal, after.params, LISTS.__getitem__)
    assert_screen(SCREENS / "eval.txt", to_text(render_selection(found)))
    document = json.loads(json.dumps(selection_json(found)))
    assert (document["sums"]["candidates"], document["rows"][0]["key"]) == (4, ["left"])
    assert document["parameters"] == {"idle": "80d"}


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("diff-shrinks", (("duration = 90d", "duration = 95d"),)),
        ("diff-unknown", (("duration = 90d", "duration = 80d"), ('== "platform"', '== "payments"'))),
    ],
)
def test_the_screen_of_a_comparison(stored, name, changes):
    """The answer first, in words what it means, then what enters and leaves with what it was."""
    text = LISTED
    for old, new in changes:
        text = text.replace(old, new)
    found = compare(stored, version(), version(text), LISTS.__getitem__)
    assert_screen(SCREENS / f"{name}.txt", to_text(render_comparison(found)))
    document = json.loads(json.dumps(comparison_json(found)))
    assert document["answer"] == found.edit.answer
    assert len(document["leave"]) == len(found.leave)


def test_long_lists_are_cut_with_the_rest_counted_and_shown_on_demand(tmp_path):
    """Twenty rows stand on the first screen; `--all` shows every one."""
    world = evidence(tmp_path, [account(f"svc-{n:02}") for n in range(25)], text=LISTED)
    held = held_of_plan(world.plan(exemptions={"exemptions": ()}), world.store)
    whole = version()
    found = select(held, whole.workflow, whole.proposal, whole.params, {"exemptions": ()}.__getitem__)
    assert "5 more" in to_text(render_selection(found))
    shown = to_text(render_selection(found, rows=None))
    assert "more" not in shown
    assert all(f"svc-{n:02}" in shown for n in range(25))

"""`automatically when …`: only within the workspace's policy, and only for what can be taken back."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from tests.support.catalogs import EXAMPLE_RESOURCES, catalog_of
from tests.support.compiling import codes, compiled, only, underlined, with_rule, workflow

from fullcount.compiler.document import workflow_from_document, workflow_to_document
from fullcount.compiler.graph import build_graph, requirement_of
from fullcount.compiler.pipeline import compile_source
from fullcount.compiler.program import Automatic
from fullcount.dsl.source import Source

pytestmark = pytest.mark.requirement("R24", "R28")

PEOPLE = '2 of role "iam-admin" not by author'
UNDO = "{\n    undo directory.update(id: a.id, locked: false)\n  }"


def approving(conditions: str, rule: str = "a.locked") -> str:
    return with_rule(rule).replace(PEOPLE, f'automatically when {conditions}, otherwise 1 of role "ops"')


@pytest.mark.parametrize("allowed", [0, 4])
def test_a_rule_that_the_workspace_does_not_allow_is_refused(allowed):
    """The policy is the workspace's; without one nothing is approved automatically."""
    catalog = replace(catalog_of(*EXAMPLE_RESOURCES), automatic=allowed)
    found = compile_source(Source("tidy.fcw", approving("count <= 5 and reversible")), catalog)
    assert [finding.code for finding in found.diagnostics] == ["FC411"]
    assert found.program is None


@pytest.mark.parametrize(
    "conditions",
    ["reversible", "percent <= 1%", "count <= 0", "count <= 5 and percent <= 0%", "count <= 5 and percent <= 101%"],
)
def test_a_rule_without_a_number_or_with_one_that_means_nothing_is_refused(conditions):
    """Zero means none, and a percentage never stands in for the number."""
    text = approving(conditions)
    assert (only(text).code, underlined(text)) == ("FC414", f"automatically when {conditions}")


def test_an_act_that_can_not_be_taken_back_is_never_approved_by_a_rule():
    """Whether or not the rule says `reversible`."""
    for conditions in ("count <= 5", "count <= 5 and reversible"):
        text = approving(conditions).replace(UNDO, "")
        assert "FC412" in codes(text)


def test_an_act_whose_undo_leaves_a_part_is_never_approved_by_a_rule():
    """A part that stays was not taken back, at the check and for a plan that is already stored."""
    half = approving("count <= 5 and reversible").replace("locked: true", 'locked: true, note: "idle"', 1)
    assert codes(half) == ["FC412"]
    whole = half.replace("locked: false", 'locked: false, note: ""', 1)
    assert codes(whole) == []
    (act,) = workflow(whole).acts
    kept = {name: value for name, value in act.undo.arguments.items() if name != "note"}
    stored = replace(act, undo=replace(act.undo, arguments=kept))
    assert stored.left_by_undo == {None: ("note",)}
    assert stored.irrevocable == (act.call,)


def test_a_graduated_act_with_a_release_is_never_approved_by_a_rule():
    """Each step may have its undo; a release is never taken back."""
    lock = "lock: directory.update(id: a.id, locked: true) undo directory.update(id: a.id, locked: false)"
    release = 'release: directory.update(id: a.id, locked: false, note: "")'
    plain = f"act disable with directory.update(id: a.id, locked: true) {UNDO}"
    for steps, found in (((lock,), set()), ((lock, release), {"FC412"})):
        text = approving("count <= 5 and reversible")
        assert plain in text
        assert set(codes(text.replace(plain, f"act disable with steps {{ {' '.join(steps)} }}"))) == found


@pytest.mark.parametrize(
    "rule",
    [
        "no people as p where (p.id == a.team)",
        "a.locked and count people as p where (p.id == a.team) < 2",
        "not some accounts as b where (b.team == a.team and b.created > a.created)",
    ],
)
def test_a_conclusion_from_absence_is_never_approved_by_a_rule(rule):
    """Of the same inventory or another one, however well it is verified."""
    found = only(approving("count <= 5 and reversible", rule))
    assert found.code == "FC413"
    assert found.labels[0].text == "concludes from absence"


def test_what_is_bounded_is_never_approved_by_a_rule():
    """A person has to see why the reading is not complete."""
    text = approving("count <= 5 and reversible").replace("where a.locked", "bounded\n    where a.locked")
    text = text.replace("limit 50, 5%", "limit 5").replace("{ complete, fresh within 1h }", "{ fresh within 1h }")
    text = text.replace("mailbox: size }", 'mailbox: size }\n    scope environment == "test"')
    assert only(text).code == "FC413"


def test_what_is_found_and_can_be_taken_back_may_be_approved_by_a_rule():
    """The rule stands in the program, in its document and on the edge of the graph."""
    text = approving("count <= 5 and percent <= 0.5% and reversible", "some people as p where (p.id == a.team)")
    checked = workflow(text)
    (approval,) = checked.approvals
    assert approval.automatic == Automatic(5, Decimal("0.5"), True)
    assert approval.automatic.text == "count <= 5 and percent <= 0.5% and reversible"
    assert workflow_from_document(workflow_to_document(checked)) == checked
    edge = requirement_of(build_graph(checked), "approve:disable", "act:disable")
    assert edge.text() == (
        "approved automatically when count <= 5 and percent <= 0.5% and reversible, otherwise by 1 of ops, within 3d"
    )


@pytest.mark.parametrize(("candidates", "population", "holds"), [
    (0, 1000, False), (1, 1000, True), (5, 1000, True), (6, 2000, False), (5, 999, False),
])  # fmt: skip
def test_a_percentage_is_held_exactly(candidates, population, holds):
    """Half a percent of 999 is less than five, whatever rounding would say."""
    checked = workflow(approving("count <= 5 and percent <= 0.5%"))
    edge = requirement_of(build_graph(checked), "approve:disable", "act:disable")
    assert edge.automatic.holds(candidates, population) is holds


def test_people_are_always_named_beside_the_rule():
    """`otherwise` is part of the sentence."""
    assert compiled(approving("count <= 5")).program is not None
    assert "FC004" in codes(with_rule("a.locked").replace(PEOPLE, "automatically when count <= 5"))

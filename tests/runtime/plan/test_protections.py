"""Protected objects in a plan: kept whatever the rule says, with the reason, and part of the digest."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.planning import ORPHANS, account, compiled, evidence, person

from fullcount.compiler.values import FieldState
from fullcount.runtime.plan.document import KeptGroup, ProtectionDoc
from fullcount.runtime.plan.html import render_html
from fullcount.runtime.plan.layout import to_text
from fullcount.runtime.plan.review import ReviewStatus
from fullcount.runtime.plan.text import render_plan

PAYROLL = 'protect payroll from directory.accounts as x where (x.team == "payroll") because "it pays people"\n'
BREAK_GLASS = (
    'protect glass from directory.accounts as x where (starts_with(x.id, "bg-")) because "for <emergencies>"\n'
)


def world(tmp_path, accounts, text=PAYROLL + ORPHANS):
    return evidence(tmp_path, accounts, [person("ana")], text=text)


def planned(tmp_path, accounts, text=PAYROLL + ORPHANS):
    return world(tmp_path, accounts, text).plan()


@pytest.mark.requirement("R21")
def test_a_protected_object_is_kept_though_the_rule_selects_it(tmp_path):
    """The reason stands in the plan, and the sums account for it."""
    doc = planned(tmp_path, [account("a1"), account("a2", team="payroll")])
    assert [row.key for row in doc.rows] == [("a1",)]
    assert doc.kept == (KeptGroup(reason="protected by `payroll`: it pays people", count=1, examples=(("a2",),)),)
    assert doc.sums.hold


@pytest.mark.parametrize("state", [FieldState.FORBIDDEN, FieldState.SOURCE_FAILED, FieldState.NOT_REQUESTED])
def test_an_object_of_which_it_is_not_known_is_protected(tmp_path, state):
    """Only what is proven not to be protected may be taken."""
    doc = planned(
        tmp_path, [account("a1", team=state)], PAYROLL + ORPHANS.replace(' when a.team == "platform"', " in exemptions")
    )
    assert doc.rows == ()
    (group,) = doc.kept
    assert group.reason == "kept because protection `payroll` could not be ruled out: it pays people"
    assert doc.protections[0].not_ruled_out == 1


def test_a_protection_comes_before_an_exemption_and_after_the_rule(tmp_path):
    """An object has one reason: that the rule does not want it, or the strongest that keeps it."""
    text = PAYROLL + ORPHANS.replace('"platform"', '"payroll"')
    doc = planned(tmp_path, [account("a1", team="payroll"), account("a2", team="payroll", owner="ana")], text)
    assert [(group.reason.split(":")[0], group.count) for group in doc.kept] == [
        ("not matched by the rule", 1),
        ("protected by `payroll`", 1),
    ]


def test_of_several_protections_each_counts_what_it_is_the_first_to_keep(tmp_path):
    """In order of their names; one that keeps nothing is shown as well."""
    text = PAYROLL + BREAK_GLASS + BREAK_GLASS.replace("glass", "spare").replace("bg-", "sp-") + ORPHANS
    doc = planned(tmp_path, [account("a1"), account("bg-1"), account("bg-2", team="payroll")], text)
    assert [(p.name, p.kept, p.not_ruled_out) for p in doc.protections] == [
        ("glass", 2, 0),
        ("payroll", 0, 0),
        ("spare", 0, 0),
    ]
    assert doc.protections[1] == ProtectionDoc(
        name="payroll", because="it pays people", condition='a.team == "payroll"', kept=0, not_ruled_out=0
    )


@pytest.mark.requirement("R24")
def test_a_protection_that_is_added_makes_another_plan_even_if_it_keeps_nothing(tmp_path):
    """What a plan was made under is part of what is approved."""
    plain = planned(tmp_path / "a", [account("a1")], ORPHANS)
    under = planned(tmp_path / "b", [account("a1")])
    assert [row.key for row in plain.rows] == [row.key for row in under.rows]
    assert plain.digest != under.digest


def test_the_reason_of_a_protection_is_part_of_the_digest(tmp_path):
    """People approved a plan that says why these stay."""
    made = world(tmp_path, [account("a1")])
    workflow = made.workflow
    (proposal,) = workflow.proposals
    other = replace(proposal, protections=(replace(proposal.protections[0], because="no reason"),))
    changed = made.plan(workflow=replace(workflow, proposals=(other,)), proposal=other)
    assert changed.digest != made.plan().digest


def test_screens_name_each_protection_and_what_it_kept(tmp_path):
    """On the terminal and on the page, with the reason, harmlessly."""
    text = PAYROLL + BREAK_GLASS + ORPHANS
    doc = planned(tmp_path, [account("a1"), account("a2", team="payroll"), account("bg-1")], text)
    status = ReviewStatus("waiting")
    shown = to_text(render_plan(doc, status))
    assert "protected   1 by glass · 1 by payroll" in shown
    assert "1 protected by `payroll`: it pays people" in " ".join(shown.split())
    page = render_html(doc, status)
    assert "Protected by the workspace" in page
    assert "for &lt;emergencies&gt;" in page
    assert "<code>a.team == &#34;payroll&#34;</code>" in page


def test_a_plan_without_protections_says_nothing_of_them(tmp_path):
    """No empty line, no empty section."""
    doc = planned(tmp_path, [account("a1")], ORPHANS)
    assert "protected" not in to_text(render_plan(doc, ReviewStatus("waiting")))
    assert "Protected" not in render_html(doc, ReviewStatus("waiting"))
    assert compiled(ORPHANS).proposals[0].protections == ()

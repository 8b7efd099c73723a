"""What a pattern nearly matched, on every screen: the plan, its page, `eval`, and `why` of the object itself."""

from __future__ import annotations

import pytest
from tests.runtime.understand.conftest import Asked
from tests.support.planning import ORPHANS, account, evidence

from fullcount.runtime.plan.html import render_html
from fullcount.runtime.plan.layout import to_text
from fullcount.runtime.plan.review import ReviewStatus
from fullcount.runtime.plan.text import render_plan
from fullcount.runtime.understand.explain_text import explanation_json, explanation_lines
from fullcount.runtime.understand.held import held_of_plan
from fullcount.runtime.understand.select import select
from fullcount.runtime.understand.select_text import render_selection, selection_json

SERVICE = ORPHANS.replace('a.team == "platform"', 'matches(a.id, "svc-[a-z]+")')
NEARLY = '"SVC-Mail" (other capitals)'


@pytest.mark.requirement("R25")
def test_every_screen_tells_what_a_pattern_nearly_matched(tmp_path):
    """An account that an exemption misses by its capitals is named where the plan is read and where it is asked for."""
    world = evidence(tmp_path, [account(key) for key in ("svc-mail", "SVC-Mail", "jane")], text=SERVICE)
    doc = world.plan()
    page = render_html(doc, ReviewStatus("waiting")).replace("&#34;", '"')
    held = held_of_plan(doc, world.store)
    chosen = select(held, world.workflow, world.workflow.proposals[0], held.bindings.params, {}.__getitem__)
    for shown in (to_text(render_plan(doc, ReviewStatus("waiting"))), page, to_text(render_selection(chosen))):
        assert f"1 nearly matches: {NEARLY}" in shown
    assert selection_json(chosen)["patterns"] == [each.model_dump(mode="json") for each in doc.patterns]

    why = Asked(world).why("SVC-Mail")
    assert "nearly matches: other capitals" in "\n".join(explanation_lines(why))
    assert [node["near"] for node in explanation_json(why)["excepts"]] == [["nearly matches: other capitals"]]
    assert "nearly" not in "\n".join(explanation_lines(Asked(world).why("jane")))

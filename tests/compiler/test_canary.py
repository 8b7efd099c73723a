"""`canary N then wait D`: refused where it shows nothing or never lets the rest be done.

And `then at most N source.resource`: refused where nothing counts that.
"""

from __future__ import annotations

import pytest
from tests.support.compiling import codes, only, underlined, with_rule, workflow

from fullcount.compiler.document import decode, encode, program_digest, workflow_from_document, workflow_to_document
from fullcount.compiler.program import AtMost, Canary

PLAIN = with_rule("a.locked")
UNDO = "undo directory.update(id: a.id, locked: false)"
MINUTE = 60_000_000


def acting(clause: str, text: str = PLAIN) -> str:
    return text.replace(UNDO, f"{UNDO}\n    {clause}")


@pytest.mark.parametrize(
    ("clause", "code"),
    [
        ("canary 0 then wait 15m", "FC541"),
        ("canary 5 then wait 0m", "FC541"),
        ("canary 5 then wait 1h", "FC542"),
        ("canary 5 then wait 2d", "FC542"),
    ],
)
def test_a_canary_of_nothing_or_one_that_waits_too_long_is_refused(clause, code):
    """The base of this workflow may be an hour old."""
    text = acting(clause)
    assert (only(text).code, underlined(text)) == (code, clause)


def test_the_wait_is_held_against_every_inventory_that_the_rule_uses_and_against_the_approval():
    """Whatever runs out first."""
    text = acting("canary 5 then wait 45m", with_rule('no people as p where (p.id == a.owner else "")'))
    text = text.replace('(p.id == a.owner else "")', "(p.id == a.team)")
    assert codes(text) == []
    stale = text.replace("verify people { complete, fresh within 24h }", "verify people { complete, fresh within 30m }")
    assert "the evidence of `people` stays fresh" in only(stale).message
    short = text.replace("expires after 3d", "expires after 40m")
    assert "its approval lives" in only(short).message


def test_a_canary_is_kept_in_the_program():
    """Count and microseconds."""
    assert workflow(acting("canary 5 then wait 15m")).acts[0].canary == Canary(5, 15 * MINUTE)
    assert workflow(PLAIN).acts[0].canary is None


CHECKED = "canary 5 then wait 15m then at most 0 of hr.headcount"


@pytest.mark.parametrize(
    ("resource", "code", "said"),
    [
        ("monitoring.alerts", "FC102", "there is no source `monitoring`"),
        ("hr.headcounts", "FC103", "has no resource `headcounts`"),
        ("hr", "FC103", "names a source"),
        ("hr.employees", "FC121", "`hr.employees` gives no independent count"),
    ],
)
def test_what_nothing_counts_is_refused_after_a_canary(resource, code, said):
    """By the same codes as in `count agrees with`."""
    found = only(acting(CHECKED.replace("hr.headcount", resource)))
    assert found.code == code
    assert said in found.message


def test_fewer_than_none_may_not_be():
    """A number has no sign."""
    assert codes(acting(CHECKED.replace("most 0", "most -1"))) == ["FC001"]


def test_what_is_counted_after_a_canary_is_kept_in_the_program_and_its_document():
    """Exactly both ways; a part that says nothing is no part of the document."""
    checked = workflow(acting(CHECKED))
    assert checked.acts[0].canary == Canary(5, 15 * MINUTE, AtMost(0, "hr", "headcount"))
    assert workflow_from_document(workflow_to_document(checked)) == checked
    other = workflow(acting(CHECKED.replace("most 0", "most 1")))
    assert program_digest(other) != program_digest(checked)


def test_a_canary_without_a_check_is_written_as_before():
    """What was planned before there were checks keeps its digest."""
    written = {"$": "program.Canary", "count": 5, "wait": 15 * MINUTE}
    assert encode(Canary(5, 15 * MINUTE)) == written
    assert decode(written) == Canary(5, 15 * MINUTE)
    with pytest.raises(ValueError, match="other parts"):
        decode({**written, "then": None})

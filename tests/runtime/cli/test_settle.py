"""`fullcount settle`: what nobody knows stands in the way of the next plan until somebody says what came of it."""

from __future__ import annotations

import pytest
from tests.support.workspaces import ORPHANS

from fullcount.runtime.connectors.base import SourceError
from fullcount.runtime.connectors.sql.actor import SqlActor
from fullcount.runtime.evidence.codes import Reason
from fullcount.runtime.evidence.envelope import Incompleteness


async def _no_answer(*_):
    raise SourceError(Incompleteness(code=Reason.SOURCE_UNAVAILABLE))


@pytest.fixture
def unknown(bench, monkeypatch):
    """An apply whose every call got no answer: the plan, in a bench where the database answers again."""
    planned = bench.plan()
    bench.approve(planned)
    with monkeypatch.context() as patch:
        patch.setattr(SqlActor, "perform", _no_answer)
        assert bench.run("apply", planned["plan_id"]).exit == 1
    return planned


@pytest.mark.requirement("R29", "R32")
def test_the_next_plan_says_so_refuses_and_goes_on_with_what_was_settled(bench, unknown):
    """From the plan's screen over the refusal to the hand that settles; the record verifies."""
    planned = bench.plan()
    assert [each["key"] for each in planned["elsewhere"]] == [[key] for key in ORPHANS]
    shown = bench.run("show", planned["plan_id"])
    assert "UNSETTLED 3 objects" in shown.words
    assert f"fullcount apply {unknown['plan_id']}" in shown.words
    bench.approve(planned)
    ended = bench.run("apply", planned["plan_id"])
    assert (ended.exit, "is of unknown outcome" in ended.words, bench.locked()) == (4, True, set())
    settled = bench.run("settle", unknown["plan_id"], "a01", "--no-effect", "--because", "the log has no such call")
    assert settled.exit == 0, settled.said
    assert "the log has no such call" in settled.words
    again = bench.plan()
    assert [each["key"] for each in again["elsewhere"]] == [["a02"], ["a03"]]
    bench.approve(again)
    assert bench.run("apply", again["plan_id"]).exit == 4
    assert bench.locked() == {"a01"}
    assert bench.run("verify").exit == 0


def test_an_act_is_settled_in_one_way_with_a_reason_and_only_if_it_is_open(bench, unknown):
    """Neither both nor none, nothing without a reason, nothing of an object that was not acted on."""
    before = bench.everything()
    why = ("--because", "it was looked at")
    for more, code in (
        ((), "FC699"),
        (("--took-effect", "--no-effect", *why), "FC699"),
        (("--no-effect",), "FC699"),
        (("--no-effect", "--because", "  "), "FC699"),
    ):
        ended = bench.run("settle", unknown["plan_id"], "a01", *more, "--json")
        assert (ended.exit, ended.json["error"]["code"]) == (2, code), ended.said
    ended = bench.run("settle", unknown["plan_id"], "a01", "a04", "--no-effect", *why, "--json")
    assert (ended.exit, ended.json["error"]["code"]) == (2, "FC739")
    assert bench.everything() == before
    ended = bench.run("settle", unknown["plan_id"], "a01", "--took-effect", *why, "--json")
    assert [(each["key"], each["outcome"], each["reason"]) for each in ended.json["settled"]] == [
        (["a01"], "done", "FC763")
    ]

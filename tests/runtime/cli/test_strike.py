"""`fullcount strike`: from the reviewer's screen to the target, which the struck object never reaches."""

from __future__ import annotations

import pytest
from tests.support.workspaces import ORPHANS


def test_wrong_keys_strike_nothing(bench):
    """Unknown, kept, none; each with what to do, and everything as it was."""
    planned = bench.plan()
    before = bench.everything()
    for keys, code in ((("a99",), "FC718"), (("a01", "a04"), "FC718"), ((), "FC699")):
        ended = bench.run("strike", planned["plan_id"], *keys, "--json")
        assert (ended.exit, ended.json["error"]["code"]) == (2, code), ended.said
    assert bench.run("strike", planned["plan_id"], "a011").words.count("`a01`") == 1
    assert bench.everything() == before


@pytest.mark.requirement("R24", "R34")
def test_a_struck_object_is_left_alone_and_everything_says_so(bench):
    """Strike, look, approve, apply, verify; the old digest and the old plan carry nothing any more."""
    planned = bench.plan()
    bench.approve(planned)
    ended = bench.run("strike", planned["plan_id"], "a02", "--because", "on call until Friday")
    assert ended.exit == 0, ended.said
    assert "STRUCK" in ended.said
    new = bench.run("runs", "--json").json["plans"][0]
    assert new["plan_id"] in ended.words
    for arguments in (("apply", planned["plan_id"]), ("approve", planned["plan_id"], "--digest", planned["digest"])):
        assert bench.run(*arguments).exit == 6
    assert bench.run("apply", new["plan_id"]).exit == 5
    shown, why = bench.run("show", new["plan_id"]), bench.run("why", new["plan_id"], "a02")
    for text in (shown, why):
        assert "on call until Friday" in text.words, text.said
    assert "a02" in shown.words
    approved = bench.run("approve", new["plan_id"], "--digest", new["digest"])
    assert approved.exit == 0, approved.said
    assert bench.run("apply", new["plan_id"]).exit == 0
    assert bench.locked() == set(ORPHANS) - {"a02"}
    assert bench.run("verify").exit == 0
    again = bench.plan()
    noted = next(row for row in again["plan"]["rows"] if row["key"] == ["a02"])
    assert any("struck by" in note for note in noted["notes"])


def test_a_report_has_nothing_to_strike(bench):
    """Without an act nothing is approved, and nothing is struck."""
    bench.rule(act="", approve="")
    bench.sql("directory", "UPDATE accounts SET locked = 1 WHERE id = 'a12'")  # no act brings it about
    planned = bench.plan(exits=0)
    assert "FC772" in bench.run("strike", planned["plan_id"], "a01").said

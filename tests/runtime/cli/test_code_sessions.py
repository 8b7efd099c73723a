"""The examples of codes that a command brings about: each session is played, and says its code or does not."""

from __future__ import annotations

import pytest
from tests.support.sessions import Terminal, codes_said

from fullcount.dsl.codes import CODES
from fullcount.dsl.codes.model import Form

SESSIONS = [code for code in CODES.values() if code.form is Form.COMMAND]


@pytest.fixture(scope="module")
def terminal(tmp_path_factory):
    """One prepared workspace, put back to its beginning before each session."""
    return Terminal(tmp_path_factory.mktemp("sessions"))


@pytest.mark.requirement("R33")
@pytest.mark.parametrize("code", SESSIONS, ids=lambda code: code.id)
def test_wrong_session_says_exactly_its_code_and_the_right_one_says_none(terminal, code):
    """What was typed wrong is refused for that reason alone, and its counterpart goes through."""
    assert codes_said(terminal.play(code.wrong, code.wrong_files or code.files)) == {code.id}
    right = terminal.play(code.right, code.files)
    assert codes_said(right) == set(), [each.said for each in right]
    assert {each.exit for each in right} <= {0, 3, 4, 5}


def test_explain_shows_what_was_typed_and_what_to_type_instead(terminal):
    """With the files that differ, and what the words stand for that differ each time."""
    said = terminal.run("explain", "FC704").out
    assert "-$ fullcount approve PLAN --digest 0000-0000\n" in said
    assert "+$ fullcount approve PLAN --digest DIGEST\n" in said
    assert "`PLAN` is the id of the newest plan" in said
    said = terminal.run("explain", "FC608").out
    assert "# fullcount.toml\n" in said
    assert '-table = "acounts"\n    +table = "accounts"\n' in said
    assert terminal.run("explain", "FC608", "--json").json["form"] == "session"

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

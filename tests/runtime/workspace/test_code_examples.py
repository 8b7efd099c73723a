"""The examples of codes about `fullcount.toml`, and about files that it names."""

from __future__ import annotations

import pytest

from fullcount.dsl.codes import CODES
from fullcount.dsl.codes.model import Form
from fullcount.runtime.errors import FullcountError
from fullcount.runtime.workspace import Workspace

EXAMPLES = [code for code in CODES.values() if code.form is Form.SETTINGS]


def found(folder, settings, files):
    """The code of what is wrong with a workspace; None: nothing."""
    folder.mkdir()
    for name, text in (("fullcount.toml", settings), *files):
        (folder / name).write_text(text, "utf-8")
    try:
        workspace = Workspace.load(folder)
        workspace.exemptions("kept")
        workspace.protections.relied_on()
    except FullcountError as error:
        return error.code
    return None


@pytest.mark.requirement("R33")
@pytest.mark.parametrize("code", EXAMPLES, ids=lambda code: code.id)
def test_wrong_settings_are_refused_with_their_code_and_right_ones_are_taken(tmp_path, code):
    """The wrong example is refused for that reason, its counterpart for none."""
    assert found(tmp_path / "wrong", code.wrong, code.wrong_files or code.files) == code.id
    assert found(tmp_path / "right", code.right, code.files) is None

"""The examples of codes that only data brings about: workflows with a test, tried on the real engine."""

from __future__ import annotations

import pytest
from tests.support.trials import CONFIGURATION

from fullcount.dsl.codes import CODES
from fullcount.dsl.codes.model import Form
from fullcount.dsl.render import render
from fullcount.runtime.trials.rehearse import Theatre
from fullcount.runtime.trials.run import cases_of, run_cases
from fullcount.runtime.workflow_files import compile_file
from fullcount.runtime.workspace import Workspace

EXAMPLES = [
    (code, kind, text)
    for code in CODES.values()
    if code.form is Form.TEST
    for kind, text in (("wrong", code.wrong), ("right", code.right))
]


@pytest.fixture(scope="module")
def theatre():
    """One stage for all of them."""
    with Theatre() as made:
        yield made


@pytest.mark.requirement("R33")
@pytest.mark.parametrize(("code", "kind", "text"), EXAMPLES, ids=[f"{code.id}-{kind}" for code, kind, _ in EXAMPLES])
def test_example_is_refused_with_its_code_and_its_counterpart_is_planned(tmp_path, theatre, code, kind, text):
    """The wrong example's test expects the refusal and meets it; the right one's expects a plan and meets that."""
    settings = CONFIGURATION.replace('team = "text", last_login', 'team = "text", created = "timestamp", last_login')
    settings = settings.replace('last_login = "timestamp"', 'last_login = "timestamp?"').replace("iam =", "iam-admin =")
    (tmp_path / "fullcount.toml").write_text(settings, "utf-8")
    (tmp_path / "exemptions.toml").write_text("", "utf-8")
    path = tmp_path / "example.fcw"
    path.write_text(text, "utf-8")
    compiled = compile_file(path, real := Workspace.load(tmp_path))
    said = render(compiled.diagnostics, compiled.sources, color=False)
    assert said == ""
    (result,) = run_cases(cases_of(path, compiled), real, theatre)
    assert [(miss.expected, miss.came) for miss in result.misses] == []
    assert (f"expect refused {code.id}" in text) == (kind == "wrong")

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


def given(came):
    """The codes that a test came to: of what stopped it, and of objects that were not acted on."""
    rows = () if came.acted is None else came.acted.rows
    return {*came.codes, *(row.reason for row in rows)}


@pytest.fixture(scope="module")
def theatre():
    """One stage for all of them."""
    with Theatre() as made:
        yield made


@pytest.mark.requirement("R33")
@pytest.mark.parametrize(("code", "kind", "text"), EXAMPLES, ids=[f"{code.id}-{kind}" for code, kind, _ in EXAMPLES])
def test_example_meets_its_code_and_its_counterpart_goes_without_it(tmp_path, theatre, code, kind, text):
    """The wrong example's test meets the code that it expects; the right one's goes through without it."""
    settings = CONFIGURATION.replace('team = "text", last_login', 'team = "text", created = "timestamp", last_login')
    settings = settings.replace('last_login = "timestamp"', 'last_login = "timestamp?"').replace("iam =", "iam-admin =")
    (tmp_path / "fullcount.toml").write_text(settings, "utf-8")
    (tmp_path / "exemptions.toml").write_text("", "utf-8")
    for name, beside in code.files:
        (tmp_path / name).write_text(beside, "utf-8")
    path = tmp_path / "example.fcw"
    path.write_text(text, "utf-8")
    compiled = compile_file(path, real := Workspace.load(tmp_path))
    said = render(compiled.diagnostics, compiled.sources, color=False)
    assert said == ""
    seen = []
    (result,) = run_cases(cases_of(path, compiled), real, theatre, seen=lambda _, came: seen.append(given(came)))
    assert [(miss.expected, miss.came) for miss in result.misses] == []
    assert (code.id in seen[0]) == (kind == "wrong")

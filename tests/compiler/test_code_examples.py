"""Every example of a code does what its page says."""

import pytest
from tests.support.catalogs import EXAMPLE
from tests.support.compiling import loader_of

from fullcount.compiler.pipeline import compile_source
from fullcount.dsl.codes import CODES, suppressions
from fullcount.dsl.codes.model import Form
from fullcount.dsl.source import Source

WITH_EXAMPLES = [code for code in CODES.values() if code.id[:3] in {"FC1", "FC2", "FC3", "FC4", "FC5"}]
WITH_EXAMPLES += suppressions.CODES
WORKFLOWS = [code for code in WITH_EXAMPLES if code.form is not Form.COMMAND]
"""What a session shows is run by `tests/runtime/cli/test_code_sessions.py`."""


def found(text, files=()):
    compiled = compile_source(Source("example.fcw", text), EXAMPLE, loader_of(dict(files)))
    return [(d.code, str(d.severity)) for d in compiled.diagnostics]


@pytest.mark.parametrize("code", WORKFLOWS, ids=lambda code: code.id)
def test_wrong_example_produces_exactly_its_code(code):
    """The wrong example of a code is refused (or warned of) for that reason and no other."""
    assert set(found(code.wrong, code.wrong_files or code.files)) == {(code.id, str(code.severity))}


@pytest.mark.parametrize("code", WORKFLOWS, ids=lambda code: code.id)
def test_right_example_compiles_without_a_finding(code):
    """The right example of a code compiles with nothing to say."""
    assert found(code.right, code.files) == []


@pytest.mark.parametrize("code", WITH_EXAMPLES, ids=lambda code: code.id)
def test_every_code_says_what_it_means(code):
    """Each code has a title in the style of messages and an explanation."""
    assert code.title
    assert code.title[0] in "`" or code.title[0].islower()
    assert not code.title.endswith(".")
    assert len(code.explanation) > 40

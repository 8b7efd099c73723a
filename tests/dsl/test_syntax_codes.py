"""Each syntax code is explained, and its examples do what they say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fullcount.dsl import parser
from fullcount.dsl.codes import CODES, syntax
from fullcount.dsl.parser import parse
from fullcount.dsl.source import Source


@pytest.mark.requirement("R33")
@pytest.mark.parametrize("code", syntax.CODES, ids=lambda code: code.id)
def test_wrong_example_gives_exactly_its_code(code):
    """`wrong` shows one mistake, and it is the one explained."""
    _, diagnostics = parse(Source("wrong.fcw", code.wrong))
    assert [(finding.code, finding.severity) for finding in diagnostics] == [(code.id, code.severity)]


@pytest.mark.parametrize("code", syntax.CODES, ids=lambda code: code.id)
def test_right_example_has_no_finding(code):
    """`right` is how it is written instead."""
    file, diagnostics = parse(Source("right.fcw", code.right))
    assert list(diagnostics) == []
    assert file is not None


def test_every_code_that_is_emitted_is_explained_and_every_syntax_code_is_emitted():
    """The code list and the source of the language name the same codes."""
    text = "".join(path.read_text("utf-8") for path in Path(parser.__file__).parent.glob("*.py"))
    emitted = set(re.findall(r'"(FC\d{3})"', text))
    assert emitted == {code.id for code in syntax.CODES}
    assert emitted <= set(CODES)


@pytest.mark.parametrize("code", [*syntax.CODES, CODES["FC901"]], ids=lambda code: code.id)
def test_code_is_written_for_someone_who_meets_it_at_night(code):
    """A title without a full stop and an explanation of more than a line."""
    assert not code.title.endswith(".")
    assert len(code.explanation) > 100
    assert all(len(line) <= 120 for line in code.explanation.splitlines())

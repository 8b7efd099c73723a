"""The codes of sources: equal to the published list, each explained, each with ways on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.evidence import envelope_of

from fullcount.compiler.values import FieldState
from fullcount.runtime.evidence import codes
from fullcount.runtime.evidence.codes import ActReason, Decision, Reason, WarningCode, Way
from fullcount.runtime.evidence.envelope import Incompleteness
from fullcount.runtime.evidence.explain import explain_text
from fullcount.runtime.evidence.wording import ways_on

PUBLISHED = json.loads((Path(__file__).parents[2] / "data" / "codes.json").read_text())


@pytest.mark.requirement("R4", "R5", "R7", "R9")
@pytest.mark.parametrize(
    ("part", "enum"),
    [
        ("reasons", Reason),
        ("act_reasons", ActReason),
        ("continuation", Way),
        ("warnings", WarningCode),
        ("field_states", FieldState),
        ("decisions", Decision),
    ],
)
def test_the_codes_are_exactly_those_of_the_published_list(part, enum):
    """No code is missing, renamed or invented."""
    assert {str(member) for member in enum} == set(PUBLISHED[part])


@pytest.mark.requirement("R4")
@pytest.mark.parametrize(
    ("part", "texts"),
    [("reasons", codes.REASON_TEXT), ("act_reasons", codes.ACT_REASON_TEXT), ("warnings", codes.WARNING_TEXT)],
)
def test_the_words_for_a_code_are_those_of_the_published_list(part, texts):
    """What a code means is the same here and there."""
    assert {str(code): text for code, text in texts.items()} == PUBLISHED[part]


@pytest.mark.requirement("R23")
def test_the_blocking_warnings_are_those_of_the_published_list():
    """Which warnings block acts is declared in one place."""
    assert {str(code) for code in codes.BLOCKING_WARNINGS} == set(PUBLISHED["blocking_warnings"])


@pytest.mark.parametrize("code", [*Reason, *WarningCode, *ActReason])
def test_every_code_can_be_explained(code):
    """`explain` has what it means and what to do, beyond its title."""
    text = explain_text(code)
    assert text is not None
    title, _, rest = text.partition("\n")
    assert len(rest) > 60
    assert len(title) > 10


@pytest.mark.parametrize("text", ["", "complete", "FC301", "reasons", "more_pages_available", "__class__"])
def test_a_text_that_is_no_code_has_no_explanation(text):
    """Only exact codes are explained here."""
    assert explain_text(text) is None


@pytest.mark.requirement("R9")
@pytest.mark.parametrize("code", list(Reason))
def test_every_reason_has_a_way_on_that_says_what_and_where(code):
    """A refusal never leaves a person without a next step."""
    lines = ways_on(code, envelope_of(Incompleteness(code=code)))
    assert len(lines) >= 1
    for line in lines:
        what, _, where = line.partition("   ")
        assert what != ""
        assert where != ""
        assert "{source}" not in line
        assert "{inventory}" not in line


@pytest.mark.parametrize("code", sorted(codes.BLOCKING_WARNINGS))
def test_every_blocking_warning_has_a_way_on(code):
    """What blocks an act says how it would no longer."""
    assert len(ways_on(code, envelope_of())) >= 1

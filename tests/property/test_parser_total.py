"""No text makes the parser raise, hang or hand out half of a workflow."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.language import snapshot

from fullcount.dsl.output.data import to_json
from fullcount.dsl.parser import parse
from fullcount.dsl.render import render
from fullcount.dsl.source import Source

SAMPLE = snapshot("design_sample.fcw")
PIECES = re.findall(r'\s+|"[^"]*"|#[^\n]*|\w+|[=!<>]=|.', SAMPLE)
FOREIGN = [
    *["\x00", "\r", "\ufeff", "\u202e", "😀", "é", '"', "'", "{", "}", "(", ")", "[", "]", "#", "..", "=", "\\"],
    *[
        "5months",
        "1e9",
        "99999999999999999999",
        "2026-02-30",
        "and",
        "as",
        "where",
        "some",
        "count",
        "fields",
        "\n",
        "",
    ],
]


def _check(text: str) -> None:
    source = Source("x.fcw", text)
    file, diagnostics = parse(source)
    assert (file is None) == diagnostics.has_errors
    found = list(diagnostics)
    assert len(found) <= 100
    for finding in found:
        assert 0 <= finding.span.start <= finding.span.end <= len(text)
        assert finding.message == finding.message.strip() != ""
    sources = {source.name: source}
    render(found, sources, color=True).encode()
    to_json(found, sources)


@pytest.mark.requirement("R10", "R33", "R41")
@settings(deadline=None)
@given(st.text())
def test_arbitrary_text_never_raises_and_gives_a_tree_or_an_error(text: str):
    """Any characters at all."""
    _check(text)


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8", categories=["Cc", "Cf", "Zs", "Zl", "Po", "Ps", "Pe", "Sm", "Nd", "Lu"])))
def test_text_of_signs_never_raises(text: str):
    """Characters that lexers stumble over, more often than by chance."""
    _check(text)


@settings(deadline=None)
@given(st.lists(st.sampled_from([*PIECES, *FOREIGN]), max_size=60).map(" ".join))
def test_words_of_the_language_in_any_order_never_raise(text: str):
    """Right words in wrong places."""
    _check(text)


def test_a_mistake_in_a_block_that_a_repair_closed_lies_in_the_text():
    """The brace that was added for it is no place that anybody could be shown."""
    for text in (
        "workflow w { inventory a from b.c { fields { x: text{",
        "workflow w { inventory a from b.c { fields { x: text{ y: int,,",
    ):
        _check(text)
        assert "FC001" in [finding.code for finding in parse(Source("x.fcw", text))[1]]


@st.composite
def _mutated(draw: st.DrawFn) -> str:
    pieces = list(PIECES)
    for _ in range(draw(st.integers(1, 5))):
        index = draw(st.integers(0, len(pieces) - 1))
        replacement = draw(st.sampled_from([*FOREIGN, *PIECES]))
        kind = draw(st.sampled_from(["replace", "insert", "cut"]))
        if kind == "replace":
            pieces[index] = replacement
        elif kind == "insert":
            pieces.insert(index, replacement)
        else:
            del pieces[index : index + draw(st.integers(1, 10))]
    return "".join(pieces)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(_mutated())
def test_mutated_workflow_never_raises_and_gives_a_tree_or_an_error(text: str):
    """A right workflow with a few slips, as people make them."""
    _check(text)


@settings(deadline=None)
@given(st.integers(0, len(SAMPLE) - 2))
def test_workflow_that_was_cut_off_is_never_a_tree(length: int):
    """A file that lost its end never runs as a shorter one."""
    file, _ = parse(Source("x", SAMPLE[:length]))
    assert file is None or SAMPLE[:length].strip() == "" or "{" not in SAMPLE[:length]


@settings(deadline=None, max_examples=40)
@given(
    st.sampled_from(
        ["({})", "not {}", "[{}]", "-{}", "{} and a", "a else {}", "f({})", "some p as p where ({})", "{}[1]"]
    ),
    st.integers(1, 500),
)
def test_deep_nesting_is_a_finding_and_never_an_exhausted_stack(form: str, depth: int):
    """Depth alone never breaks the parser."""
    before, after = form.split("{}")
    condition = before * depth + "a" + after * depth
    _check(f"workflow w {{ propose p from i as a {{ where {condition} }} }}")
    _check(f"workflow w {{ param x: {'list<' * depth}int{'>' * depth} }}")


@pytest.mark.parametrize(
    "text",
    [
        "{" * 20_000,
        "(" * 20_000,
        "workflow w {" * 500,
        '"' * 20_000,
        "a " * 20_000,
        "workflow w {\n" + "x\n" * 5_000,
        "\x00" * 20_000,
    ],
)
def test_hostile_text_of_some_size_ends(text: str):
    """Sizes that would show a loop or a cost that grows with the square."""
    _check(text)

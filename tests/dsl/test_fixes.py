"""Fixes are applied whole, never over each other, and round after round until nothing is left to mend."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.language import NAME
from tests.support.profiles import examples

from fullcount.dsl.diagnostics import Diagnostic, Diagnostics, Edit, Fix
from fullcount.dsl.fixes import MAX_ROUNDS, apply_fixes, fix_all
from fullcount.dsl.parser import parse
from fullcount.dsl.source import Source, Span
from fullcount.dsl.suggest import is_slip

SOURCE = Source(NAME, "0123456789")


def _finding(*edits: tuple[int, int, str], safe: bool = True, name: str = NAME) -> Diagnostic:
    made = tuple(Edit(Span(name, start, end), text) for start, end, text in edits)
    return Diagnostic("FC001", "m", made[0].span, fix=Fix("t", made, safe))


def _applied(*found: Diagnostic, unsafe: bool = False) -> str:
    return apply_fixes(SOURCE, found, unsafe=unsafe)[0].text


def test_unsafe_fix_is_only_applied_when_asked_for():
    """A safe one always is; a finding without a fix changes nothing."""
    unsafe = _finding((0, 1, "x"), safe=False)
    assert _applied(unsafe, Diagnostic("FC001", "m", SOURCE.span(0, 1))) == SOURCE.text
    assert _applied(unsafe, unsafe=True) == "x123456789"


@pytest.mark.parametrize(
    "second", [(1, 3, "b"), (0, 9, "b"), (2, 2, "b"), (4, 6, "b"), (4, 4, "b"), (3, 3, "b")]
)  # the first is (2, 4)
def test_fixes_that_overlap_or_meet_are_not_applied_in_one_round(second):
    """The second one is found again in the new text, if it still holds."""
    assert _applied(_finding((2, 4, "a")), _finding(second)) == "01a456789"


def test_fix_is_applied_whole_or_not_at_all():
    """One edit that cannot be made keeps the others back; edits of one fix that overlap keep it back altogether."""
    assert _applied(_finding((2, 4, "a")), _finding((3, 3, "b"), (8, 9, "b"))) == "01a456789"
    assert _applied(_finding((3, 5, "b"), (4, 6, "b"))) == SOURCE.text


def test_fix_of_another_file_is_left_alone():
    """Only the text at hand is changed."""
    assert _applied(_finding((2, 4, "a"), name="other.fcw")) == SOURCE.text


def test_edits_are_made_at_the_places_of_the_text_they_were_found_in():
    """Longer and shorter replacements do not shift each other."""
    assert _applied(_finding((6, 7, "SIX")), _finding((0, 2, "")), _finding((4, 4, "-"))) == "23-45SIX789"


def test_fixes_that_chase_each_other_come_to_an_end():
    """A text that was there before is not gone back to; a text that grows at each round ends too."""

    def flip(source: Source) -> Diagnostics:
        sink = Diagnostics()
        sink.add(_finding((0, 1, "b" if source.text[0] == "a" else "a")))
        return sink

    assert len(fix_all(Source(NAME, "ax"), flip, unsafe=False).applied) == 1

    def grow(source: Source) -> Diagnostics:
        sink = Diagnostics()
        sink.add(_finding((0, 0, "a")))
        return sink

    assert len(fix_all(Source(NAME, "x"), grow, unsafe=False).applied) == MAX_ROUNDS


def test_what_was_mended_is_told_with_the_text_it_was_found_in():
    """So that its line can be named, also after earlier rounds have moved it."""
    text = 'workflow w {\n  ownr "x"\n  propose p from i as a { where a.x = 1 }\n}\n'
    fixed = fix_all(Source(NAME, text), lambda source: parse(source)[1], unsafe=False)
    assert [(each.code, source.slice(each.span)) for each, source in fixed.applied] == [
        ("FC002", "ownr"),
        ("FC009", "="),
    ]
    assert parse(fixed.source)[0] is not None


@examples(500)
@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10), st.text(max_size=3)), min_size=1, max_size=3),
        max_size=6,
    )
)
def test_applied_fixes_never_overlap(edits):
    """Whatever is proposed: what was taken can be read off the result piece by piece."""
    found = [_finding(*[(min(a, b), max(a, b), text) for a, b, text in each]) for each in edits]
    changed, mended = apply_fixes(SOURCE, found, unsafe=False)
    taken = sorted((edit for each in mended for edit in each.fix.edits), key=lambda edit: edit.span)
    at, rest = 0, changed.text
    for edit in taken:
        kept = SOURCE.text[at : edit.span.start]
        assert edit.span.start >= at
        assert rest.startswith(kept + edit.replacement)
        rest = rest[len(kept + edit.replacement) :]
        at = edit.span.end
    assert rest == SOURCE.text[at:]


@pytest.mark.parametrize(
    ("wrong", "right", "slip"),
    [
        ("ownr", "owner", True),
        ("ownerr", "owner", True),
        ("owmer", "owner", True),
        ("onwer", "owner", True),
        ("Owner", "owner", True),
        ("owner", "owner", False),
        ("owmmer", "owner", False),
        ("ow", "own", False),
        ("id", "ids", False),
        ("volume1", "volume2", False),
        ("volume", "volume2", False),
        ("team12", "team21", False),
        ("or", "for", False),
    ],
)
def test_slip_of_the_keys_is_one_letter_and_no_digit(wrong: str, right: str, slip: bool):
    """Names that differ in a digit, and words that are very short, are different names."""
    assert is_slip(wrong, right) is slip
    assert is_slip(right, wrong) is slip

"""Places on a screen and offsets in a text are the same places, whatever stands in the text and whatever is counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullcount.runtime.editors.positions import UNITS, Positions

TEXTS = st.text(st.sampled_from("aé中😀\n\r\u2028\x0b \t"), max_size=30)
ENCODINGS = st.sampled_from(sorted(UNITS))


@given(TEXTS, ENCODINGS, st.data())
def test_an_offset_comes_back_from_its_place(text, encoding, data):
    """Every offset outside of a line end is found again by its line and unit."""
    lines = Positions(text, encoding)
    offset = data.draw(st.integers(0, len(text)))
    if text[offset - 1 : offset + 1] != "\r\n":
        assert lines.offset(*lines.of(offset)) == offset


@given(TEXTS, ENCODINGS, st.integers(0, 40), st.integers(0, 90))
def test_any_place_is_somewhere_in_the_text(text, encoding, line, unit):
    """Past the end of a line, past the last line, inside a character: there is an answer, at or before the place."""
    lines = Positions(text, encoding)
    offset = lines.offset(line, unit)
    assert 0 <= offset <= len(text)
    assert lines.of(offset) <= (line, unit)


@pytest.mark.parametrize(("encoding", "unit"), [("utf-8", 9), ("utf-16", 4), ("utf-32", 3)])
def test_each_encoding_counts_in_its_own_units(encoding, unit):
    """é is two bytes and one unit, 中 three and one, 😀 four and two."""
    text = "x\né中😀!"
    assert Positions(text, encoding).of(text.index("!")) == (1, unit)
    assert Positions(text, encoding).offset(1, unit) == text.index("!")


def test_only_line_ends_of_the_protocol_end_a_line():
    """`\\r\\n` is one line end, `\\r` is one, and what other tools take for one is a character."""
    assert Positions("a\r\nb\rc\nd\u2028e", "utf-16").of(9) == (3, 2)

"""What the eye cannot see does not stand in a workflow."""

from __future__ import annotations

import pytest
from tests.support.language import codes, file_of, findings, shown

from fullcount.dsl.parser import parse
from fullcount.dsl.source import Source

TEXT = 'workflow w {{ describe "a{}b" }} # c{}d\n'
BIDI = ["\u202a", "\u202e", "\u2066", "\u2069", "\u200e", "\u200f", "\u061c"]
INVISIBLE = ["\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u180e", "\ufe0f", "\u3164", "\U000e0041"]
CONTROL = ["\x00", "\x01", "\x07", "\x08", "\x1b", "\x7f", "\x9b"]
BREAKS = ["\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"]


@pytest.mark.requirement("R40")
@pytest.mark.parametrize("char", [*BIDI, *INVISIBLE, *CONTROL, *BREAKS, "\ud800"], ids=ascii)
def test_misleading_character_is_refused_in_a_text_and_in_a_comment(char: str):
    """A review must not approve something else than what runs."""
    for text in (TEXT.format(char, ""), TEXT.format("", char)):
        (found,) = findings(text)
        assert found.code == "FC017"
        assert text[found.span.start : found.span.end] == char
        assert char not in shown(text)


@pytest.mark.parametrize("char", [*BIDI, *INVISIBLE, *CONTROL, *BREAKS], ids=ascii)
def test_misleading_character_between_words_is_one_report(char: str):
    """Between clauses and inside of names too, and what follows is still read."""
    assert codes(f"workflow w {{ {char} describe 5 }}") == ["FC017", "FC001"]
    assert codes(f'workflow w {{ owner{char} "x" }}') == ["FC017"]


def test_run_of_misleading_characters_is_one_report():
    """Many in a row are one finding, and the number of findings is bounded."""
    assert codes(TEXT.format("\u202e\u202d\u202e\u202d", "")) == ["FC017"]
    assert len(codes("\x00 " * 5_000)) == 20


def test_byte_order_mark_is_allowed_at_the_very_start_only():
    """Some editors write one; anywhere else it is invisible text."""
    assert codes("\ufeffworkflow w { }") == []
    assert codes(" \ufeffworkflow w { }") == ["FC017"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r\r\n"])
def test_line_ends_of_each_system_are_read_alike(end: str):
    """Only a carriage return that ends no line is refused."""
    text = f'workflow w {{{end}  owner "x" # c{end}}}{end}'
    assert file_of(text).workflows[0].owner == "x"
    assert file_of(text).comments[0].text == "# c"


def test_characters_outside_of_the_basic_plane_keep_their_places():
    """Offsets count characters, whatever their width in any encoding."""
    text = 'workflow w { describe "😀😀" oops }'
    (found,) = findings(text)
    assert text[found.span.start : found.span.end] == "oops"
    assert Source("x", text).position(found.span.start) == (1, text.index("oops") + 1)


def test_needed_character_can_be_written_as_an_escape():
    """The help of the error leads to a text that is accepted."""
    assert file_of('workflow w { owner "a\\u{200d}b" }').workflows[0].owner == "a\u200db"


@pytest.mark.parametrize("word", ["p\u0430yments", "\u0391dmin", "adm\u0131n\u0435"])
def test_word_of_mixed_alphabets_is_a_warning_and_the_tree_is_kept(word: str):
    """A Cyrillic or Greek letter among Latin ones is said, and may stand."""
    file, diagnostics = parse(Source("x", f'workflow w {{ owner "{word}" }} # {word}'))
    assert [(finding.code, str(finding.severity)) for finding in diagnostics] == [("FC020", "warning")]
    assert file is not None


@pytest.mark.parametrize("word", ["Москва", "Ελλάδα", "größe", "機械", "naïve Москва", "5µs"])
def test_word_of_one_alphabet_is_not_warned_of(word: str):
    """Texts may be in any language."""
    assert codes(f'workflow w {{ owner "{word}" }}') == []


def test_letter_of_another_alphabet_in_a_name_is_named():
    """Names are ASCII, and the message says which letter it was."""
    (found,) = findings("workflow w { inventory p\u0430 from s.r { key id fields { id: text } } }")
    assert found.code == "FC018"
    assert "cyrillic small letter a" in found.message

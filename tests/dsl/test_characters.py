"""What the eye cannot see does not stand in a workflow."""

from __future__ import annotations

import pytest
from tests.support.language import codes, file_of, findings, shown

from fullcount.dsl.characters import misleading
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
    for text in (f'workflow w {{ owner "{word}" }}', f"workflow w {{ }} # {word}"):
        file, diagnostics = parse(Source("x", text))
        assert [(finding.code, str(finding.severity)) for finding in diagnostics] == [("FC020", "warning")]
        assert file is not None


@pytest.mark.parametrize("word", ["\u0440\u0430\u0443\u0440\u0430", "\u0421\u041e\u0420\u0415", "\u0391\u039f"])
def test_text_of_look_alikes_throughout_is_a_warning(word: str):
    """A text without a single Latin letter may read like a Latin word, and select nothing of it."""
    (found,) = findings(f'workflow w {{ owner "{word}" }}')
    assert (found.code, str(found.severity)) == ("FC020", "warning")


def test_letter_of_another_alphabet_in_a_name_is_an_error():
    """Names are made of one alphabet, so that no two of them look alike."""
    for text in ("workflow w { p\u0430ram x: int }", "workflow w\u0435 { }", "workflow w { param x\u0430: int }"):
        assert {str(finding.severity) for finding in findings(text)} == {"error"}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("svc\u202e-a", "turns the direction"),
        ("svc\u200b-a", "cannot be seen (U+200B)"),
        ("svc-p\u0430y", "Cyrillic"),
        ("svc\x07", "a control character"),
        ("svc\n-a", "a line break (U+000A)"),
        ("svc\r\n", "a line break (U+000D, U+000A)"),
        ("svc\r", "a line break"),
        ("svc\ta", "a tab (U+0009)"),
    ],
)
def test_value_of_data_that_looks_like_another_is_told(value: str, said: str):
    """What comes from a source is never refused for its letters, but whoever reviews it is told."""
    assert said in (misleading(value) or "")


@pytest.mark.parametrize("value", ["svc-a", "Москва", "größe", ""])
def test_value_of_data_that_is_what_it_looks_like_is_not_told(value: str):
    """Ids may be in any language."""
    assert misleading(value) is None


@pytest.mark.parametrize("word", ["Москва", "Ελλάδα", "größe", "機械", "naïve Москва", "5µs"])
def test_word_of_one_alphabet_is_not_warned_of(word: str):
    """Texts may be in any language."""
    assert codes(f'workflow w {{ owner "{word}" }}') == []


def test_letter_of_another_alphabet_in_a_name_is_named():
    """Names are ASCII, and the message says which letter it was."""
    (found,) = findings("workflow w { inventory p\u0430 from s.r { key id fields { id: text } } }")
    assert found.code == "FC018"
    assert "cyrillic small letter a" in found.message

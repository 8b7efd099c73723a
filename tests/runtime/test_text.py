"""Foreign text made harmless: the one function that every screen uses."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullcount.runtime.text import ELLIPSIS, formula_safe, lines_of, one_line, plain, shorten

HOSTILE = {
    "\x1b[31mred\x1b[0m": "\\x1b[31mred\\x1b[0m",
    "\x1b]8;;http://x\x07click": "\\x1b]8;;http://x\\x07click",
    "\x9b2J": "\\x9b2J",
    "a\nb\r\tc": "a\\nb\\r\\tc",
    "user\u202egnp.exe": "user\\u202egnp.exe",
    "\u2066x\u2069": "\\u2066x\\u2069",
    "pay\u200bpal": "pay\\u200bpal",
    "admin\u00a0": "admin\\xa0",
    "\u3164": "\\u3164",
    "x\ufe0f": "x\\ufe0f",
    "tag\U000e0041": "tag\\U000e0041",
    "\ud800": "\\ud800",
    "\u2028": "\\u2028",
    "\u0301a": "\\u0301a",
    "e\u0301\u0302\u0303\u0304": "e\u0301\u0302\\u0303\\u0304",
    "a\x00b\x7f": "a\\x00b\\x7f",
}


@pytest.mark.requirement("R40")
@pytest.mark.parametrize(("text", "shown"), HOSTILE.items())
def test_what_could_act_or_hide_is_shown_as_what_it_is(text, shown):
    """Escapes, controls, direction overrides, invisible and piled-up characters become visible and inert."""
    assert plain(text) == shown


@pytest.mark.requirement("R40")
@given(st.text(max_size=60), st.integers(1, 80))
def test_no_text_at_all_can_act(text, limit):
    """Whatever the text is, the result is one line of visible characters, no longer than asked, and stable."""
    shown = plain(text)
    assert all(unicodedata.category(c) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} for c in shown)
    assert len(shown.splitlines()) <= 1
    assert plain(shown) == shown
    assert len(plain(text, limit)) <= limit


def test_letters_of_any_script_are_left_alone():
    """Names are names: only what is invisible or acts is touched."""
    for name in ("Zoë", "Łukasz", "山田太郎", "Ольга", "नमस्ते", "a_b-c.d/e", "naïve café"):
        assert plain(name) == name


def test_long_names_are_shortened_in_the_middle():
    """Both ends tell names apart; a megabyte costs no more than a line."""
    assert shorten("svc-mail-relay-emea-42", 11) == f"svc-m{ELLIPSIS}ea-42"
    assert shorten("abc", 1) == ELLIPSIS
    assert shorten("abc", 3) == "abc"
    assert plain("x" * 2_000_000, 9) == f"xxxx{ELLIPSIS}xxxx"


def test_text_that_would_begin_a_formula_is_marked_as_text():
    """A spreadsheet is given text, and numbers stay numbers."""
    for text in ("=1+1", "+cmd", "-x", "@SUM(A1)", "\uff1d1"):
        assert formula_safe(text) == f"'{text}"
    for text in ("-5", "+3.25", "a=b", "", "(none)"):
        assert formula_safe(text) == text


def test_a_rule_of_several_lines_becomes_one():
    """Layout of the source is not part of what it says."""
    assert one_line("a\n    and b\x1b") == "a and b\\x1b"


@pytest.mark.parametrize("width", range(20, 70, 7))
def test_a_command_that_may_be_copied_is_in_one_line(width):
    """A line ends before it or after it: what is pasted is the whole of it."""
    commands = ("fullcount apply 01M8Q", "fullcount settle 01M8Q t04 --no-effect --because WHY", "fullcount undo 01M8Q")
    text = f"it is unknown; settle it: {commands[0]}, or by hand: {commands[1]} (or wait), look again   {commands[2]}"
    lines = lines_of(text, width)
    assert all(any(command in line for line in lines) for command in commands)
    assert " ".join(" ".join(lines).split()) == " ".join(text.split())

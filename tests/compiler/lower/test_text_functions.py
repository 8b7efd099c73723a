"""Text functions and patterns: one answer from Python and from DuckDB, for every code point."""

from __future__ import annotations

import sys
import unicodedata
from random import Random

import duckdb
import pyarrow as pa
import pytest
from tests.support.lowered import UNREAD, const, field, truth_of, value_of

from fullcount.compiler import ir
from fullcount.compiler.functions import FUNCTIONS, TRIM_CHARACTERS
from fullcount.compiler.lower import casing, patterns, spelling
from fullcount.compiler.types import BOOL, INT, TEXT

SUBJECT = field("a", "subject", TEXT)
EVERY_CHARACTER = [chr(i) for i in range(sys.maxunicode + 1) if not 0xD800 <= i <= 0xDFFF]


def call(function: str, *arguments: str) -> ir.Call:
    signature = FUNCTIONS[function]
    return ir.Call(function, (SUBJECT, *(const(a, TEXT) for a in arguments)), signature.result)


@pytest.mark.parametrize("function", [casing.lower, casing.upper])
def test_case_is_the_same_for_every_code_point(function):
    """DuckDB's answer is the meaning; the tables of exceptions in `casing.py` are complete, none needless."""
    characters = pa.table({"c": EVERY_CHARACTER})
    with duckdb.connect() as connection:
        connection.register("characters", characters)
        name = function.__name__
        answered = connection.execute(f"SELECT c, {name}(c) FROM characters").fetchall()
    assert {c: d for c, d in answered if function(c) != d} == {}
    exceptions = casing.LOWER_EXCEPTIONS if name == "lower" else casing.UPPER_EXCEPTIONS
    assert [c for c in exceptions if getattr(str, name)(c) == exceptions[c]] == []


def test_case_knows_no_context():
    """Each code point by itself: a final sigma is like any other."""
    assert casing.lower("ΑΣ") == "ας".replace("ς", "σ")
    assert value_of(call("lower"), const("ασ", TEXT), {"subject": "ΑΣ"}) is True


def test_trim_takes_ascii_white_space_only():
    """A no-break space is a character like others."""
    assert (
        value_of(call("trim"), const("a\u00a0", TEXT), {"subject": f"{TRIM_CHARACTERS}a\u00a0{TRIM_CHARACTERS}"})
        is True
    )
    assert value_of(call("trim"), const("", TEXT), {"subject": TRIM_CHARACTERS}) is True


def test_normal_form_is_the_same_for_every_code_point_or_there_is_none():
    """By itself, taken apart, and among combining marks: DuckDB's Unicode and Python's never give two answers."""
    dice = Random(7)
    marks = [c for c in EVERY_CHARACTER if unicodedata.combining(c)]
    texts = EVERY_CHARACTER + [unicodedata.normalize("NFD", c) for c in EVERY_CHARACTER]
    texts += [f"a{c}\u0323" for c in EVERY_CHARACTER] + ["".join(dice.sample(marks, 3)) for _ in range(20_000)]
    with duckdb.connect() as connection:
        connection.register("texts", pa.table({"c": texts}))
        answered = connection.execute(f"SELECT c, {spelling.NFC_SQL.format('c')} FROM texts").fetchall()
    assert {c: d for c, d in answered if spelling.nfc(c) != d} == {}


@pytest.mark.parametrize(
    ("function", "subject", "expected"),
    [
        ("nfc", "e\u0301", "é"),
        ("nfc", "\u212b", "Å"),
        ("trim_dot", "host.example.", "host.example"),
        ("trim_dot", "..", ""),
    ],
)
def test_one_spelling_for_texts_that_mean_the_same(function, subject, expected):
    """Composed and taken apart are one text; a dot at the end of a host's name says nothing."""
    assert value_of(call(function), const(expected, TEXT), {"subject": subject}) is True


def test_length_counts_code_points():
    """Not bytes, and not what looks like one letter."""
    assert value_of(call("length"), const(3, INT), {"subject": "e\u0301\U0001f600"}) is True
    assert value_of(call("length"), const(3, INT), {"subject": "a\0b"}) is True


_OTHERS = {"cidr_contains", "json", "sample", "intersects", "subset", "keys", "text", "utc_date"}
_OF_ONE_TEXT = [name for name in FUNCTIONS if name not in _OTHERS]


@pytest.mark.parametrize("function", _OF_ONE_TEXT)
@pytest.mark.parametrize("subject", [None, UNREAD])
def test_a_function_of_no_value_is_unknown(function, subject):
    """Absent or unknown, the result is unknown; under `not` as well."""
    called = call(function, *["a"] * (len(FUNCTIONS[function].parameters) - 1))
    if called.type == BOOL:
        assert truth_of(called, {"subject": subject}) is None
        assert truth_of(ir.Not(called), {"subject": subject}) is None
    else:
        assert value_of(called, const("a" if called.type == TEXT else 1, called.type), {"subject": subject}) is None


@pytest.mark.parametrize(
    ("function", "subject", "argument", "expected"),
    [
        ("starts_with", "abc", "ab", True),
        ("starts_with", "abc", "", None),
        ("starts_with", "abc", "AB", False),
        ("ends_with", "a\0", "\0", True),
        ("ends_with", "abc", "abcd", False),
        ("contains", "it's", "'", True),
        ("contains", "a%b", "%", True),
        ("contains", "axb", "_", False),
        ("matches", "abc", "b", False),
        ("matches", "abc", ".b.", True),
        ("matches", "a\nc", "a.c", False),
        ("matches", "a\nc", "(?s)a.c", True),
        ("matches", "abc\n", "abc$", False),
        ("matches", "ABC", "(?i)abc", True),
        ("matches", "ab", "a|ab", True),
        ("matches", "", "", True),
        ("matches", "\U0001f600", ".", True),
        ("glob", "a.c", "a.c", True),
        ("glob", "abc", "a.c", False),
        ("glob", "a\nc", "a?c", True),
        ("glob", "a\n\nc", "a*", True),
        ("glob", "[a]", "[a]", True),
        ("glob", "a", "[a]", False),
        ("glob", "x\0y", "*\0*", True),
        ("glob", "a\\b", "a\\*", True),
        ("glob", "é😀", "é?", True),
    ],
)
def test_text_tests_mean_the_same_in_both(function, subject, argument, expected):
    """Full matches by RE2, globs with two special characters, and plain comparison of code points."""
    assert truth_of(call(function, argument), {"subject": subject}) is expected


def test_each_ascii_character_of_a_glob_matches_itself_only():
    """Nothing but `*` and `?` is special."""
    for code in range(128):
        character = chr(code)
        if character not in "*?":
            test = patterns.full_match(patterns.glob_pattern(character))
            assert test(character)
            assert not test(character + character)
            assert not test("\x01" if character != "\x01" else "\x02")


def test_a_pattern_that_re2_does_not_know_is_refused():
    """A back-reference has no linear time."""
    with pytest.raises(ValueError, match="not a valid pattern"):
        patterns.full_match(r"(a)\1")

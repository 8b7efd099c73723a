"""Literals have exactly one value or a finding; nothing is rounded, guessed or raised."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.language import expression, expression_codes, findings, underlined

from fullcount.dsl import literals


def _value(text: str) -> tuple[str, object]:
    literal = expression(f"a.x == {text}").right
    return literal.kind, literal.value


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("0", "int", 0),
        ("1_000_000", "int", 1_000_000),
        ("9223372036854775807", "int", 2**63 - 1),
        ("2.50", "decimal", Decimal("2.50")),
        ("1_0.0_1", "decimal", Decimal("10.01")),
        ("true", "bool", True),
        ("5us", "duration", 5),
        ("5ms", "duration", 5_000),
        ("5s", "duration", 5_000_000),
        ("5m", "duration", 300_000_000),
        ("5h", "duration", 18_000_000_000),
        ("90d", "duration", 90 * 86_400_000_000),
        ("2w", "duration", 14 * 86_400_000_000),
        ("1.5h", "duration", 5_400_000_000),
        ("0s", "duration", 0),
        ("7B", "size", 7),
        ("7 B", "size", 7),
        ("5 KB", "size", 5_000),
        ("5MB", "size", 5_000_000),
        ("5 GB", "size", 5 * 10**9),
        ("5 TB", "size", 5 * 10**12),
        ("5 KiB", "size", 5_120),
        ("5 MiB", "size", 5 * 2**20),
        ("10 GiB", "size", 10 * 2**30),
        ("0.5 TiB", "size", 2**39),
        ("5%", "percent", Decimal(5)),
        ("0.5 %", "percent", Decimal("0.5")),
        ("1970-01-01", "date", 0),
        ("2026-11-30", "date", 20_787),
        ("1969-12-31", "date", -1),
        ("1970-01-01T00:00:00Z", "timestamp", 0),
        ("1970-01-01T01:00:00+01:00", "timestamp", 0),
        ("1970-01-01T00:00-0130", "timestamp", 5_400_000_000),
        ("1970-01-01T00:00:01.5Z", "timestamp", 1_500_000),
        ("0001-01-01T00:00:00+14:00", "timestamp", -62_135_647_200_000_000),
        ('"a"', "text", "a"),
        ('""', "text", ""),
        (r'"\" \\ \n \t \u{1F600} \u{e9}"', "text", '" \\ \n \t 😀 é'),
        ('"# no comment"', "text", "# no comment"),
        ('"😀機械"', "text", "😀機械"),
    ],
)
def test_literal_has_its_canonical_value(text: str, kind: str, value: object):
    """Each form of literal, to the microsecond, byte or digit."""
    assert _value(text) == (kind, value)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("9223372036854775808", "FC013"),
        ("9" * 5000, "FC013"),
        ("1." + "1" * 40, "FC013"),
        ("9999999999999999d", "FC013"),
        ("9999999 TiB", "FC013"),
        ("0.5us", "FC013"),
        ("0.3 B", "FC013"),
        ("3months", "FC014"),
        ("1y", "FC014"),
        ("90days", "FC014"),
        ("1h30m", "FC014"),
        ("10 d", "FC014"),
        ("5µs", "FC014"),
        ("10gb", "FC014"),
        ("1_", "FC001"),
        ("1__0", "FC001"),
        ("5x", "FC014"),
        ("2026-11-30T02:00:00", "FC015"),
        ("2026-11-30T02:00", "FC015"),
        ("2026-02-30", "FC016"),
        ("2026-13-01", "FC016"),
        ("0000-01-01", "FC016"),
        ("2026-1-1", "FC016"),
        ("2026-11-30T24:00:00Z", "FC016"),
        ("2026-11-30T02:00:60Z", "FC016"),
        ("2026-11-30T02:00:00.1234567Z", "FC016"),
        ("2026-11-30T02:00:00+15:00", "FC016"),
        ("2026-11-30T2:00Z", "FC016"),
        (r'"\d"', "FC012"),
        (r'"\u{110000}"', "FC012"),
        (r'"\u{d800}"', "FC012"),
        (r'"\u00e9"', "FC012"),
    ],
)
def test_literal_without_a_value_is_one_finding(text: str, code: str):
    """Out of range, unknown unit, no offset, no such day, bad escape: each by its code."""
    assert expression_codes(f"a.x == {text}") == [code]


@pytest.mark.parametrize(
    ("text", "offered"), [("90days", "`90d`"), ("10gb", "`10 GB`"), ("5µs", "`5us`"), ("10 d", "`10d`")]
)
def test_unit_of_other_notations_is_answered_with_ours(text: str, offered: str):
    """The help can be copied."""
    (found,) = findings(f"workflow w {{ propose p from i as a {{ where a.x == {text} }} }}")
    assert offered in found.help


def test_each_bad_escape_is_underlined_by_itself():
    """A long pattern with two mistakes shows both."""
    text = r'workflow w { propose p from i as a { where a.x == "ok \d and \w" } }'
    assert underlined(text) == [r"\d", r"\w"]


@settings(deadline=None)
@given(st.integers(0, 2**63 - 1))
def test_every_whole_number_in_range_is_itself(value: int):
    """No number in range is changed or refused."""
    assert literals.number(str(value)) == literals.Value("int", value)


@settings(deadline=None)
@given(st.text(max_size=20))
def test_every_text_can_be_written_and_read_back(value: str):
    """Escaping is complete: any text survives as a literal."""
    escaped = "".join(f"\\u{{{ord(char):x}}}" for char in value if not 0xD800 <= ord(char) <= 0xDFFF)
    kept = "".join(char for char in value if not 0xD800 <= ord(char) <= 0xDFFF)
    assert literals.text(f'"{escaped}"') == (literals.Value("text", kept), [])


@settings(deadline=None)
@given(st.datetimes(), st.sampled_from(["Z", "+00:00", "-00:00"]))
def test_every_moment_of_the_calendar_is_exact(moment, zone: str):
    """Microseconds since the epoch, without loss, for each year that the calendar has."""
    import datetime

    raw = moment.isoformat() if moment.microsecond else moment.strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0")
    decoded = literals.moment(raw + zone)
    exact = (moment - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)  # noqa: DTZ001
    assert decoded == literals.Value("timestamp", exact)


@settings(deadline=None)
@given(st.from_regex(r"[0-9][0-9_.]{0,60}[A-Za-z%µ ]{0,6}", fullmatch=True))
def test_amounts_never_raise(raw: str):
    """Decoders are total, also beyond what the grammar lets through."""
    assert isinstance(literals.quantity(raw), literals.Value | literals.Problem)

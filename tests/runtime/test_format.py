"""Numbers, shares, times and values as people see them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullcount.compiler.types import BOOL, DATE, DECIMAL, DURATION, INT, SIZE, TEXT, TIMESTAMP, ListOf, MapOf
from fullcount.compiler.values import ABSENT, Cell, FieldState, present
from fullcount.runtime import format as fmt


@given(st.integers(0, 10**9), st.integers(1, 10**9))
def test_a_share_is_never_rounded_to_nothing_or_to_everything(part, whole):
    """0 % means none and 100 % means all."""
    part = min(part, whole)
    text = fmt.percent(part, whole)
    assert (text == "0 %") == (part == 0)
    assert (text == "100 %") == (part == whole)
    assert "100.0" not in text


def test_shares_read_as_expected():
    """One digit after the point, none where it is exact."""
    assert fmt.percent(37, 1204) == "3.1 %"
    assert fmt.percent(3, 4) == "75 %"
    assert fmt.percent(1, 10_000) == "<0.1 %"
    assert fmt.percent(9_999, 10_000) == ">99.9 %"
    assert fmt.percent(0, 0) == "0 %"
    assert fmt.written_percent("5%") == "5 %"


def test_lengths_are_rounded_down():
    """What is nearly an hour is not an hour."""
    lengths = [timedelta(seconds=41), timedelta(minutes=3, seconds=59), timedelta(hours=71), timedelta(days=89.9)]
    assert [fmt.length(each) for each in lengths] == ["41 s", "3 min", "71 h", "89 d"]
    assert [fmt.length(each) for each in (timedelta(0), timedelta(milliseconds=5), -timedelta(days=5))] == [
        "0 s",
        "5 ms",
        "-5 d",
    ]


def test_counts_and_moments():
    """Thousands are grouped, and an instant always says its zone."""
    at = datetime(2026, 12, 3, 4, 0, tzinfo=UTC)
    assert fmt.counted(1, "row") == "1 row"
    assert fmt.counted(1204, "entry", "entries") == "1,204 entries"
    assert fmt.moment(at) == "2026-12-03 04:00 UTC"
    assert fmt.weekday_moment(at) == "Thu 2026-12-03 04:00 UTC"
    assert fmt.key(("a\x1b", 7)) == "a\\x1b / 7"


@pytest.mark.parametrize(
    ("value", "of", "shown"),
    [
        ("ana", TEXT, "ana"),
        ("", TEXT, '""'),
        ("(none)", TEXT, '"(none)"'),
        ("ana ", TEXT, '"ana "'),
        (True, BOOL, "yes"),
        (1204, INT, "1204"),
        (Decimal("1.500000000"), DECIMAL, "1.5"),
        (10 * 2**30, SIZE, "10 GiB"),
        (1536, SIZE, "1.5 KiB"),
        (90 * 86_400_000_000, DURATION, "90 d"),
        (1_788_192_000_000_000, TIMESTAMP, "2026-08-31 16:00Z"),
        (-(2**63), TIMESTAMP, "@-9223372036854775808"),
        (20_000, DATE, "2024-10-04"),
        (10**9, DATE, "@1000000000"),
        ((), ListOf(TEXT), "(empty list)"),
        (("a", "b"), ListOf(TEXT), "a, b"),
        ({"env": "prod"}, MapOf(TEXT), "env=prod"),
        ({}, MapOf(TEXT), "(empty map)"),
    ],
)
def test_values_are_shown_by_their_type(value, of, shown):
    """Empty is not nothing, and a text that says `(none)` is not an absent one."""
    assert fmt.cell(present(value), of) == shown


@pytest.mark.requirement("R7")
def test_every_state_is_named_and_none_looks_like_absent():
    """What is not known is never left blank and never shown as `(none)`."""
    shown = {state: fmt.cell(Cell(state, None), TEXT) for state in FieldState if state is not FieldState.PRESENT}
    assert fmt.cell(ABSENT, TEXT) == "(none)"
    assert len(set(shown.values())) == len(shown)
    assert shown[FieldState.SOURCE_FAILED] == "(source failed)"

"""Days of instants: the same day in both lowerings, on both sides of each edge and of 1970."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from tests.support.compiling import rule_codes
from tests.support.lowered import value_of

from fullcount.compiler import ir
from fullcount.compiler.types import DATE, TIMESTAMP

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-11-30T23:59:59.999999+00:00", "2026-11-30"),
        ("2026-12-01T00:00:00+00:00", "2026-12-01"),
        ("2026-12-01T00:30:00+01:00", "2026-11-30"),
        ("1970-01-01T00:00:00+00:00", "1970-01-01"),
        ("1969-12-31T23:59:59.999999+00:00", "1969-12-31"),
        ("1969-12-31T00:00:00+00:00", "1969-12-31"),
        ("0001-01-01T00:00:00+00:00", "0001-01-01"),
    ],
)
def test_utc_date_is_the_day_of_the_instant(text, day):
    """A day begins at midnight UTC, whatever offset the instant was written with."""
    instant = (datetime.fromisoformat(text) - EPOCH) // timedelta(microseconds=1)
    called = ir.Call("utc_date", (ir.Const(instant, TIMESTAMP),), DATE)
    expected = ir.Const((date.fromisoformat(day) - EPOCH.date()).days, DATE)
    assert value_of(called, expected, {"subject": "x"}) is True


def test_a_date_is_compared_with_a_day_and_never_with_an_instant():
    """Nothing is converted on the way."""
    assert rule_codes("a.expires_on is present and a.expires_on < utc_date(now)") == []
    assert rule_codes("a.expires_on is present and a.expires_on < now") == ["FC201"]

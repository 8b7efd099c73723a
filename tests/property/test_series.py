"""The collapse alarm: what is refused stays refused for less, whatever the order, at any size."""

from __future__ import annotations

import os
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullcount.runtime.evidence.series import LEAST, collapsed, usual

EXAMPLES = int(os.environ.get("FULLCOUNT_SERIES_EXAMPLES", "80"))
ROWS = st.integers(0, 10**9) | st.integers(0, 30)
SERIES = st.lists(ROWS, min_size=LEAST, max_size=25)
STATED = st.none() | st.decimals(Decimal("0.1"), Decimal(200), places=1)


@settings(max_examples=EXAMPLES, deadline=None)
@given(SERIES, ROWS, ROWS, STATED)
def test_a_smaller_count_never_passes_where_a_larger_one_is_refused(series, one, other, stated):
    """And a count that is not below the median is never refused."""
    smaller, larger = sorted((one, other))
    assert collapsed(smaller, series, stated) or not collapsed(larger, series, stated)
    found = usual(series, stated)
    assert found is not None
    assert found.lowest <= max(found.median, 1)


@settings(max_examples=EXAMPLES, deadline=None)
@given(SERIES.flatmap(lambda series: st.tuples(st.just(series), st.permutations(series))), ROWS, STATED)
def test_the_order_of_the_series_does_not_matter(both, rows, stated):
    """It is a bag of counts."""
    series, other = both
    assert usual(series, stated) == usual(other, stated)
    assert collapsed(rows, series, stated) == collapsed(rows, other, stated)


@settings(max_examples=EXAMPLES, deadline=None)
@given(SERIES, ROWS, STATED, st.integers(1, 1000))
def test_what_is_refused_is_refused_at_any_size(series, rows, stated, times):
    """The same fall of a larger collection is never the milder one; where a single row is not a tenth, it is the same.

    An empty reading stays empty, and so does one of the series.
    """
    larger = [each * times for each in series]
    assert not collapsed(rows, series, stated) or collapsed(rows * times, larger, stated)
    found = usual(series, stated)
    assert found is not None
    if found.median >= 10:
        assert collapsed(rows, series, stated) == collapsed(rows * times, larger, stated)


@settings(max_examples=EXAMPLES, deadline=None)
@given(SERIES, ROWS, STATED)
def test_what_an_operator_states_only_ever_widens_the_bound(series, rows, stated):
    """`change at most` compares with the last reading by itself; here it allows, and refuses nothing more."""
    assert collapsed(rows, series) or not collapsed(rows, series, stated)


@pytest.mark.parametrize(
    ("rows", "series", "stated", "refused"),
    [
        (0, [9], None, False),  # too few readings to say what is usual
        (0, [9, 9, 9, 9], None, False),
        (0, [9, 9, 9, 9, 9], None, True),
        (0, [1, 1, 1, 1, 1], None, True),  # empty, where none ever was
        (0, [10, 900, 10, 900, 40, 700], None, True),  # however much they differ
        (0, [0, 900, 10, 900, 40, 700], None, False),
        (0, [9, 9, 9, 9, 9], Decimal("99.9"), True),
        (0, [9, 9, 9, 9, 9], Decimal(100), False),
        (5, [6, 6, 6, 6, 6], None, False),  # one of six left
        (4, [6, 6, 6, 6, 6], None, True),
        (900, [1000] * 20, None, False),
        (899, [1000] * 20, None, True),
        (400, [1000] * 20, Decimal(60), False),
        (399, [1000] * 20, Decimal(60), True),
        (845, [1000, 970, 1030, 950, 1050], None, False),  # 3.5 scaled MADs of 30 are 155.67
        (844, [1000, 970, 1030, 950, 1050], None, True),
        (600, [1000, 900, 810, 729, 656], None, False),  # it falls by a tenth every night
    ],
)
def test_the_bound_is_where_it_is_said_to_be(rows, series, stated, refused):
    """Exactly, on both sides of it."""
    assert collapsed(rows, series, stated) is refused

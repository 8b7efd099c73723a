"""Values in a plan's JSON are exact in both directions."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullcount.compiler.types import BOOL, DATE, DECIMAL, DURATION, INT, SIZE, TEXT, TIMESTAMP, ListOf, MapOf
from fullcount.compiler.values import ABSENT, Cell, FieldState, present
from fullcount.runtime.plan.cells import NotOfTypeError, cell_from_doc, cell_to_doc, exact_duration, from_json, to_json

numbers = st.integers(-(2**63), 2**63 - 1)
SCALARS = {
    TEXT: st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    INT: numbers,
    SIZE: st.integers(0, 2**63 - 1),
    BOOL: st.booleans(),
    DECIMAL: st.decimals(allow_nan=False, allow_infinity=False, places=9, min_value=-(10**20), max_value=10**20),
    TIMESTAMP: numbers,
    DATE: st.integers(-(10**9), 10**9),
    DURATION: numbers,
}


def typed():
    """A type with a value of it."""
    scalar = st.one_of(*(st.tuples(st.just(of), values) for of, values in SCALARS.items()))
    lists = st.sampled_from(list(SCALARS)).flatmap(
        lambda of: st.tuples(st.just(ListOf(of)), st.lists(SCALARS[of], max_size=3).map(tuple))
    )
    maps = st.sampled_from(list(SCALARS)).flatmap(
        lambda of: st.tuples(st.just(MapOf(of)), st.dictionaries(SCALARS[TEXT], SCALARS[of], max_size=3))
    )
    return scalar | lists | maps


@given(typed())
def test_a_value_comes_back_as_it_went_through_json(pair):
    """Nothing is rounded, also beyond the calendar and beyond 2^53."""
    of, value = pair
    again = from_json(json.loads(json.dumps(to_json(value, of))), of)
    assert again == value
    assert type(again) is type(value)


@pytest.mark.parametrize(
    ("raw", "of"),
    [("90x", DURATION), ("d", DURATION), ("2026-13-01", DATE), ("2026-08-31T04:00:00", TIMESTAMP), (1, TEXT),
     (True, INT), ("1", INT), (1, BOOL), ("x", DECIMAL), (None, TEXT), (1.5, INT), ([1], ListOf(TEXT))],
)  # fmt: skip
def test_json_of_another_type_is_refused(raw, of):
    """What was not written by a plan is not read as if it had been."""
    with pytest.raises(NotOfTypeError):
        from_json(raw, of)


def test_values_read_well():
    """Instants are ISO 8601 in UTC, durations as written, decimals without idle zeros."""
    assert to_json(1_788_192_000_000_000, TIMESTAMP) == "2026-08-31T16:00:00Z"
    assert exact_duration(36 * 3_600_000_000) == "36h"
    assert exact_duration(0) == "0s"
    assert to_json(Decimal("1.500000000"), DECIMAL) == "1.5"
    assert to_json(Decimal("-0.000000000"), DECIMAL) == "0"
    assert to_json(Decimal("100"), DECIMAL) == "100"
    with pytest.raises(NotOfTypeError):
        to_json("90d", DURATION)


def test_states_come_back_as_they_were():
    """A cell that is not known has no value, whatever stood beside it."""
    for cell in (ABSENT, Cell(FieldState.FORBIDDEN, None), present("x")):
        assert cell_from_doc(cell_to_doc(cell, TEXT), TEXT) == cell

"""What a declared type takes, and what it refuses: the reference and the column path alike."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.fake_source import parse_type

from fullcount.compiler.types import SCALARS, FieldType
from fullcount.compiler.values import INT_MAX, INT_MIN, STATE_ORDER, Cell, FieldState
from fullcount.runtime.collect.coerce import _by_cell, coerce_cell, coerce_column

FAILED = Cell(FieldState.SOURCE_FAILED, None)


class SilentZone(tzinfo):
    """A zone that does not know its offset: a time in it is no instant."""

    def utcoffset(self, when):
        return None

    def dst(self, when):
        return None

    def tzname(self, when):
        return "?"


def column_cells(type_text, values, states=None):
    """Return (state, stored value) for each entry of a coerced column."""
    column = coerce_column(FieldType(parse_type(type_text), optional=True), values, states)
    return list(zip([STATE_ORDER[c] for c in column.states.to_pylist()], column.values.to_pylist(), strict=True))


REFUSED = [
    ("int", True),
    ("int", 1.0),
    ("int", "1"),
    ("int", Decimal(1)),
    ("int", INT_MAX + 1),
    ("int", INT_MIN - 1),
    ("size", -1),
    ("size", "10 GiB"),
    ("decimal", 1),
    ("decimal", 1.5),
    ("decimal", True),
    ("decimal", "1.5"),
    ("decimal", Decimal("NaN")),
    ("decimal", Decimal("sNaN")),
    ("decimal", Decimal("Infinity")),
    ("decimal", Decimal("0.1234567891")),
    ("decimal", Decimal("1E+29")),
    ("text", 1),
    ("text", b"abc"),
    ("text", "\ud800"),
    ("text", True),
    ("bool", 1),
    ("bool", 0),
    ("bool", "true"),
    ("bool", ""),
    ("timestamp", datetime(2026, 1, 1)),  # noqa: DTZ001
    ("timestamp", datetime(2026, 1, 1, tzinfo=SilentZone())),
    ("timestamp", "2026-01-01T00:00:00"),
    ("timestamp", "2026-01-01"),
    ("timestamp", "2026-02-30T00:00:00Z"),
    ("timestamp", "2026-01-01T00:00:00.123456789Z"),
    ("timestamp", "0000-01-01T00:00:00Z"),
    ("timestamp", "9999-12-31T23:59:59-05:00"),
    ("timestamp", datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=5)))),
    ("timestamp", 1_767_225_600),
    ("timestamp", date(2026, 1, 1)),
    ("timestamp", ""),
    ("date", datetime(2026, 1, 1, tzinfo=UTC)),
    ("date", "2026-1-1"),
    ("date", "2026-01-01T00:00:00Z"),
    ("date", "0000-01-01"),
    ("date", 20_000),
    ("duration", 5),
    ("duration", "5m"),
    ("duration", timedelta.max),
    ("list<int>", [1, None]),
    ("list<int>", [1, True]),
    ("list<int>", "12"),
    ("list<int>", {1, 2}),
    ("list<text>", "abc"),
    ("map<text>", {"a": None}),
    ("map<text>", {1: "a"}),
    ("map<text>", {"a": "x", 1: "y"}),
    ("map<text>", [("a", "x")]),
    ("map<int>", {"a": "1"}),
    ("text", math.nan),
    ("int", math.nan),
]


@pytest.mark.requirement("R7")
@pytest.mark.parametrize(("type_text", "raw"), REFUSED)
def test_a_value_of_another_type_is_unknown_and_never_converted_nor_absent(type_text, raw):
    """What is not exactly of the declared type is `source_failed` in both paths, and the column counts it."""
    declared = FieldType(parse_type(type_text), optional=True)
    column = coerce_column(declared, [raw])
    assert coerce_cell(declared, raw) == FAILED
    assert column_cells(type_text, [raw]) == [(FieldState.SOURCE_FAILED, None)]
    assert column.refused == 1
    assert "expected" in column.example or "map has a key" in column.example


TAKEN = [
    ("int", 0, 0),
    ("int", INT_MAX, INT_MAX),
    ("int", INT_MIN, INT_MIN),
    ("size", 0, 0),
    ("decimal", Decimal("1.1234567890"), Decimal("1.123456789")),
    ("decimal", Decimal("1E+28"), Decimal("1E+28")),
    ("decimal", Decimal("-0"), Decimal(0)),
    ("text", "", ""),
    ("text", "a\0b", "a\0b"),
    ("bool", False, False),
    ("timestamp", datetime(1970, 1, 1, tzinfo=UTC), 0),
    ("timestamp", datetime(2026, 7, 1, 2, tzinfo=ZoneInfo("Europe/Berlin")), 1_782_864_000_000_000),
    ("timestamp", "1970-01-01T01:00:00.000001+01:00", 1),
    ("timestamp", "1969-12-31 23:59:59Z", -1_000_000),
    ("date", date(1970, 1, 2), 1),
    ("date", "1969-12-31", -1),
    ("duration", timedelta(0), 0),
    ("duration", timedelta(days=-1, microseconds=1), -86_399_999_999),
    ("list<text>", [], ()),
    ("list<text>", ("b", "a"), ("b", "a")),
    ("list<timestamp>", ["1970-01-01T00:00:00Z"], (0,)),
    ("list<list<int>>", [[1], []], ((1,), ())),
    ("map<text>", {}, {}),
    ("map<int>", {"b": 2, "a": 1}, {"a": 1, "b": 2}),
]


@pytest.mark.parametrize(("type_text", "raw", "expected"), TAKEN)
def test_zero_empty_and_the_outermost_values_are_values(type_text, raw, expected):
    """`0`, `""`, `[]` and the largest values are present, in canonical form."""
    declared = FieldType(parse_type(type_text), optional=False)
    assert coerce_cell(declared, raw) == Cell(FieldState.PRESENT, expected)
    assert column_cells(type_text, [raw])[0][0] is FieldState.PRESENT


@pytest.mark.requirement("R7")
def test_no_value_is_absent_even_where_the_field_is_not_optional():
    """A source that positively says "no value" is believed, whatever the declaration hoped for."""
    assert coerce_cell(FieldType(parse_type("text"), optional=False), None) == Cell(FieldState.ABSENT, None)
    assert column_cells("text", ["a", None]) == [(FieldState.PRESENT, "a"), (FieldState.ABSENT, None)]


@pytest.mark.requirement("R7")
@pytest.mark.parametrize("state", [s for s in FieldState if s not in (FieldState.PRESENT, FieldState.ABSENT)])
def test_a_state_that_is_no_knowledge_keeps_no_value(state):
    """A cut or hidden value is not stored, so that no rule can compute with it."""
    assert column_cells("list<text>", [["a"], ["b"]], [state, None]) == [(state, None), (FieldState.PRESENT, ["b"])]
    assert coerce_cell(FieldType(parse_type("text")), "x", state) == Cell(state, None)


@pytest.mark.parametrize(("raw", "state"), [(None, FieldState.PRESENT), ("x", FieldState.ABSENT)])
def test_a_state_that_contradicts_its_value_is_a_failure_of_the_source(raw, state):
    """Present without a value, or absent with one, is neither: it is unknown and counted."""
    column = coerce_column(FieldType(parse_type("text")), ["y", raw], [None, state])
    assert column.refused == 1
    assert column_cells("text", [raw], [state]) == [(FieldState.SOURCE_FAILED, None)]
    assert coerce_cell(FieldType(parse_type("text")), raw, state) == FAILED


def test_one_bad_value_does_not_take_the_others_with_it():
    """A column with a bad value keeps the good ones, each by the reference."""
    assert column_cells("int", [1, "2", None, 3]) == [
        (FieldState.PRESENT, 1),
        (FieldState.SOURCE_FAILED, None),
        (FieldState.ABSENT, None),
        (FieldState.PRESENT, 3),
    ]


raw_values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=INT_MIN, max_value=INT_MAX),
    st.floats(),
    st.decimals(),
    st.decimals(allow_nan=False, allow_infinity=False, places=9, min_value=-(10**20), max_value=10**20),
    st.text(max_size=5),
    st.text(alphabet=st.characters(), max_size=3),
    st.binary(max_size=3),
    st.datetimes(),
    st.datetimes(timezones=st.timezones()),
    st.datetimes(timezones=st.just(UTC)),
    st.dates(),
    st.timedeltas(),
    st.datetimes(timezones=st.just(UTC)).map(datetime.isoformat),
    st.dates().map(date.isoformat),
)
raw_values = st.one_of(
    raw_values,
    st.lists(raw_values, max_size=3),
    st.dictionaries(st.one_of(st.text(max_size=2), st.integers()), raw_values, max_size=3),
)
types = st.sampled_from(
    [*SCALARS, "list<int>", "list<text>", "list<timestamp>", "map<text>", "map<decimal>", "list<list<text>>"]
)


@given(types, st.lists(raw_values, max_size=4), st.booleans())
def test_the_column_path_and_the_reference_agree_on_every_value(type_text, values, alone):
    """A column gives exactly the states and values that its cells give one by one."""
    declared = FieldType(parse_type(type_text), optional=True)
    columns = [[value] for value in values] if alone else [values]
    for column_values in columns:
        cells = [coerce_cell(declared, raw) for raw in column_values]
        column = coerce_column(declared, column_values)
        expected = coerce_column(declared, [None] * len(cells))
        assert [STATE_ORDER[code] for code in column.states.to_pylist()] == [cell.state for cell in cells]
        assert column.values.null_count == sum(cell.value is None for cell in cells)
        assert column.values.type == expected.values.type
        # the same cells, built by the reference alone
        assert column.values.equals(_by_cell(declared.type, column_values).values)

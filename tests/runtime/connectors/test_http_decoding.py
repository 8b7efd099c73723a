"""The text of a reply: read fast, never less exactly than it is written, and as Python's own parser reads it."""

import json
import math
from decimal import Decimal, InvalidOperation

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.profiles import examples

from fullcount.runtime.connectors.http.decoding import Decoded, decode
from fullcount.runtime.connectors.http.exchange import Fault

BROKEN = [
    "[1,]", '{"a":1,}', "[1", '{"a"', '"\x01"', "[01]", "[1.]", "[.5]", "[-]", "[+1]", "[1e]", "[tru]", "[1] 2",
    '"\\x"', '"\\u12"', "{1:2}", "[/**/1]", "[0x1]", "[" * 100_000, f"[{'1' * 5_000}]", "[1e99999999999999999999]",
]  # fmt: skip
WHOLE = {
    f"[{2**63}]": [2**63],
    f"[{2**64}, {-(2**63) - 1}, {10**60}]": [2**64, -(2**63) - 1, 10**60],
    "[1.10, 1E400, -0.0, 0.1]": [Decimal("1.10"), Decimal("1E+400"), Decimal("-0.0"), Decimal("0.1")],
    '"\\ud800"': "\ud800",
    '"\\ud83d\\ude00 \\u0000"': "\U0001f600 \x00",
    " \n[true, false, null]\t": [True, False, None],
}


@pytest.mark.requirement("R1")
@pytest.mark.parametrize("text", BROKEN)
def test_what_is_no_json_is_broken_and_never_a_part_of_it(text):
    """No parser's leniency makes a value of a body that breaks off or is damaged, and none of its limits is a crash."""
    assert decode(text, "application/json") == Decoded(fault=Fault.BROKEN)


@pytest.mark.parametrize(("text", "value"), WHOLE.items())
def test_numbers_and_texts_are_exactly_what_is_written(text, value):
    """Integers of any size, decimals to the last digit, half a surrogate pair."""
    read, fault, _ = decode(text, "application/json")
    assert fault is None
    assert repr(read) == repr(value)


def test_numbers_that_json_does_not_have_are_left_to_the_type_of_the_field():
    """`NaN` hides no other value of the page: it is read, and no type takes it."""
    (read,), fault, _ = decode("[NaN]", "application/json")
    assert fault is None
    assert isinstance(read, float)
    assert math.isnan(read)


TEXTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
).map(json.dumps) | st.text(alphabet='[]{}",:0123456789.eE+-\\untrfalse /', max_size=12)


@given(TEXTS)
def test_every_text_is_read_as_pythons_own_parser_reads_it(text):
    """The fast parser takes nothing that the other refuses, and gives the same value of the same types."""
    if text.strip() == "":
        return
    try:
        expected = json.loads(text, parse_float=Decimal)
    except (ValueError, InvalidOperation):
        assert decode(text, "application/json") == Decoded(fault=Fault.BROKEN)
    else:
        read, fault, _ = decode(text, "application/json")
        assert (fault, repr(read)) == ((Fault.AMBIGUOUS, "None") if has_a_name_twice(text) else (None, repr(expected)))


def has_a_name_twice(text):
    """Whether an object of a JSON text has a name twice, by a parser that keeps every pair."""
    twice = []

    def pairs(found):
        twice.append(len({name for name, _ in found}) < len(found))
        return dict(found)

    json.loads(text, parse_float=Decimal, object_pairs_hook=pairs)
    return any(twice)


TWICE = [
    '{"users": [1, 2], "last": false, "users": [1], "last": true}', '{"a":1,"a":1}', '{"a" :1, "a":2}',
    '{"a"\n:1, "a":2}', '[{"x": {"a": [{"b":1,"c":2,"b":3}]}}]', '{"a":1,"\\u0061":2}',
    '{"t":"\\u0022:", "a":1, "a":2}',
    '{"":1,"":2}', '{"q\\"":1,"q\\"":2}', '{"a\\\\":1,"a\\\\":2}', '{"x":"\\":","a":1,"a":2}', '{"a":NaN,"a":1}',
    '{"a":1,"a":2,"x":"\\u003a"}', '{"a":1,"a":2,"x":"\\u003A"}', '{"a":": :","a":2,"\\u003a\\u003a\\u003a":": :"}',
]  # fmt: skip


@pytest.mark.requirement("R2")
@pytest.mark.parametrize("text", TWICE)
def test_an_object_with_a_name_twice_is_ambiguous_and_never_the_last_of_the_two(text):
    """A reader that kept the one saw thirty owners, one that kept the other saw five."""
    assert has_a_name_twice(text)
    assert decode(text, "application/json") == Decoded(fault=Fault.AMBIGUOUS)


NAMES = st.sampled_from(['"a"', '"b"', '"\\u0061"', '"a" ', '"\\""', '":"', '"\\u003A"', '"\\u0022:"', '""'])
VALUES = st.sampled_from(["1", '"x"', '"\\":"', '"\\u0022:"', '": "', '"\\u003a"', "1.50", "null", "[]", '{"a":1}'])
PAIRS = st.lists(st.tuples(NAMES, VALUES), max_size=5).map(
    lambda pairs: "{" + ",".join(f"{name}:{value}" for name, value in pairs) + "}"
)


@examples(400)
@given(st.lists(PAIRS, min_size=1, max_size=3).map(lambda objects: f"[{','.join(objects)}]"))
def test_a_name_that_stands_twice_is_found_however_it_is_written(text):
    """The quick look never passes what a close one would refuse, and refuses nothing that it would not."""
    assert (decode(text, "application/json")[1] is Fault.AMBIGUOUS) is has_a_name_twice(text)

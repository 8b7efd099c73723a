"""Objects by their keys, as people write them."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.expressions import POOLS, SCALAR_TYPES
from tests.support.planning import compiled

from fullcount.compiler.types import BOOL, DATE, DECIMAL, INT, SIZE, TEXT, TIMESTAMP, FieldType
from fullcount.runtime.plan.cells import to_json
from fullcount.runtime.understand.errors import NoAnswerError
from fullcount.runtime.understand.objects import parse_keys


def keyed(*types):
    """An inventory whose key has parts of these types."""
    inventory = compiled().inventories["accounts"]
    names = tuple(f"k{n}" for n in range(len(types)))
    return replace(inventory, key=names, fields={n: FieldType(t) for n, t in zip(names, types, strict=True)})


@pytest.mark.parametrize(
    ("types", "text", "says"),
    [
        ((INT,), "seven", "`seven` is not a key of `accounts`"),
        ((TIMESTAMP,), "yesterday", "is not a key"),
        ((BOOL,), "yes", "is not a key"),
        ((TEXT, INT), "a", "which has 2 parts: `k0: text`, `k1: int`"),
        ((TEXT, INT), "[1", "which has 2 parts"),
        ((TEXT, INT), '["a"]', "which has 2 parts"),
        ((TEXT, INT), '{"k0": "a", "k1": 1}', "which has 2 parts"),
        ((TEXT, INT), '["a", true]', "is not a key"),
        ((TEXT, TEXT), '["a", 1]', "is not a key"),
    ],
)
def test_a_key_that_can_not_be_read_is_refused_with_what_it_should_be(types, text, says):
    """A key of another form or type names no object; nothing is guessed."""
    with pytest.raises(NoAnswerError) as caught:
        parse_keys(text, keyed(*types))
    assert caught.value.code == "FC681"
    assert says in caught.value.message


@pytest.mark.parametrize(
    ("types", "text", "key"),
    [
        ((TEXT,), "svc a", ("svc a",)),
        ((TEXT,), '["svc"]', ('["svc"]',)),
        ((TEXT,), "42", ("42",)),
        ((INT,), "-42", (-42,)),
        ((SIZE,), "1024", (1024,)),
        ((BOOL,), "true", (True,)),
        ((DECIMAL,), "1.50", (Decimal("1.5"),)),
        ((DATE,), "1970-01-02", (1,)),
        ((TEXT, INT), '["eu-west-1", 7]', ("eu-west-1", 7)),
        ((TEXT, INT), '["eu-west-1", "7"]', ("eu-west-1", 7)),
    ],
)
def test_a_key_is_read_by_the_types_of_its_fields(types, text, key):
    """A key of one field may be its text, whatever that looks like; any may be a JSON list."""
    assert key in parse_keys(text, keyed(*types))


@given(st.data())
def test_every_key_that_a_plan_shows_can_be_asked_for(data):
    """What a plan's JSON has as a key, written as text, is that key again."""
    of = data.draw(st.sampled_from(SCALAR_TYPES))
    value = data.draw(st.sampled_from(POOLS[of]))
    shown = to_json(value, of)
    text = {True: "true", False: "false"}.get(shown, str(shown)) if isinstance(shown, bool) else str(shown)
    assert parse_keys(text, keyed(of))[0] == (value,)

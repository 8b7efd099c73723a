"""What parts of records mean, within lists and alone. Each assertion is asked of both lowerings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.expressions import FIELD_TYPES, RULE, SPEC, Scope, comparison, item_test, value
from tests.support.lowered import UNREAD, both, const, field, truth_of
from tests.support.profiles import examples
from tests.support.worlds import UNKNOWN_STATES, cell_of

from fullcount.compiler import ir
from fullcount.compiler.types import BOOL, INT, TEXT, TIMESTAMP, FieldType, ListOf, MapOf, record_of
from fullcount.compiler.values import Cell

PORT = record_of(
    {"from": FieldType(INT), "cidr": FieldType(TEXT, optional=True), "seen": FieldType(TIMESTAMP, optional=True)}
)
RULES = field("a", "rules", ListOf(PORT))
RULE_ITEM = ir.Item("r", PORT)
IS_SSH = ir.Compare("==", ir.MapGet(RULE_ITEM, const("from", TEXT), INT), const(22, INT))
CIDR = ir.MapGet(RULE_ITEM, const("cidr", TEXT), TEXT)
IS_OPEN = ir.Compare("==", CIDR, const("0.0.0.0/0", TEXT))


def any_of(where: ir.Expr, collection: ir.Expr = RULES, item: str = "r") -> ir.Expr:
    return ir.AnyItem(collection, item, where)


@pytest.mark.requirement("R7")
@pytest.mark.parametrize("rules", [None, *(Cell(state, None) for state in UNKNOWN_STATES)], ids=str)
def test_records_that_are_absent_cut_short_or_unread_decide_nothing(rules):
    """Neither that a rule is open nor that none is."""
    assert truth_of(any_of(IS_SSH), {"rules": rules}) is None
    assert truth_of(ir.Not(any_of(IS_SSH)), {"rules": rules}) is None


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        ((), False),
        (({"from": 22, "cidr": "0.0.0.0/0"},), True),
        (({"from": 22, "cidr": "10.0.0.0/8"}, {"from": 80, "cidr": "0.0.0.0/0"}), False),
        (({"from": 22},), None),
        (({"from": 22}, {"from": 22, "cidr": "0.0.0.0/0"}), True),
    ],
)
def test_two_parts_are_asked_of_the_same_record(rules, found):
    """One open rule and another one for SSH are no open rule for SSH; a part without a value is equal to nothing."""
    assert truth_of(any_of(both(IS_SSH, IS_OPEN)), {"rules": rules}) is found


def test_an_absent_part_is_known_to_be_absent():
    """It is there, or it is not: a record that was read leaves no third."""
    absent = any_of(ir.IsState(CIDR, "absent"))
    assert truth_of(absent, {"rules": ({"from": 22},)}) is True
    assert truth_of(absent, {"rules": ({"from": 22, "cidr": "x"},)}) is False


def test_instants_within_records_are_instants():
    """What is stored in another way is compared as what it is."""
    seen = ir.MapGet(RULE_ITEM, const("seen", TEXT), TIMESTAMP)
    old = any_of(ir.Compare("<", seen, const(1_000_000, TIMESTAMP)))
    assert truth_of(old, {"rules": ({"from": 1, "seen": 999_999},)}) is True
    assert truth_of(old, {"rules": ({"from": 1, "seen": 1_000_000},)}) is False


def test_part_of_an_absent_record_is_absent_and_of_an_unread_one_unknown():
    """A record without a value has no parts."""
    port = ir.IsState(ir.MapGet(field("a", "spec", PORT), const("from", TEXT), INT), "absent")
    assert truth_of(port, {"spec": None}) is True
    assert truth_of(port, {"spec": UNREAD}) is None
    assert truth_of(port, {"spec": {"from": 1}}) is False


def test_keys_of_a_map_are_a_list():
    """What is asked of a list can be asked of them; of a map that was not read nothing is known."""
    labels = ir.Call("keys", (field("a", "labels", MapOf(TEXT)),), ListOf(TEXT))
    wanted = ir.ListConst((const("app", TEXT), const("owner", TEXT)), ListOf(TEXT))
    labelled = ir.Call("subset", (wanted, labels), BOOL)
    assert truth_of(labelled, {"labels": {"owner": "x", "app": ""}}) is True
    assert truth_of(labelled, {"labels": {"app": "x"}}) is False
    assert truth_of(labelled, {"labels": {}}) is False
    assert truth_of(labelled, {"labels": UNREAD}) is None
    assert truth_of(labelled, {"labels": None}) is None


@given(st.data())
@examples(200)
def test_both_lowerings_agree_on_rules_over_records(data):
    """Nested lists, optional parts, instants and dates within records: one truth."""
    types = {"rules": ListOf(RULE), "spec": SPEC, "ref": FIELD_TYPES["ref"]}
    schema = {"base": {name: FieldType(of, optional=True) for name, of in types.items()}}
    scope = Scope(schema, (("a", "base"),), 1)
    if data.draw(st.booleans()):
        rule = item_test(data.draw, scope, ir.Field("a", "base", "rules", ListOf(RULE), optional=True))
    else:
        parts = [part for of in (INT, TEXT, TIMESTAMP) for part in scope.parts(of)]
        part = data.draw(st.sampled_from(parts))
        filled = ir.Else(part, value(data.draw, scope, part.type), part.type, optional=True)
        rule = comparison(data.draw, scope, data.draw(st.sampled_from((part, filled))))
    row = {name: cell_of(data.draw, declared) for name, declared in schema["base"].items()}
    if data.draw(st.integers(0, 5)) == 0:
        row["rules"] = UNREAD
    truth_of(rule, row)

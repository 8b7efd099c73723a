"""Quantifiers and aggregates over other inventories: what a row, a missing row and an unclear row each can decide."""

from __future__ import annotations

from decimal import Decimal

import pytest
from tests.support.expressions import DECIMAL_TOP
from tests.support.lowered import UNREAD, both, const, field, rows, truth_of, value_of

from fullcount.compiler import ir
from fullcount.compiler.types import BOOL, DECIMAL, INT, TEXT, TIMESTAMP
from fullcount.compiler.values import INT_MAX

pytestmark = pytest.mark.requirement("R19", "R20", "R21")

A_OWNER, A_TEAM = field("a", "owner", TEXT), field("a", "team", TEXT)
P_ID, P_TEAM, P_ACTIVE = (field("p", n, t, "people") for n, t in (("id", TEXT), ("team", TEXT), ("active", BOOL)))
P_AGE = field("p", "age", INT, "people")
SAME = ir.Compare("==", P_ID, A_OWNER)
OWNED = ir.Some("people", "p", both(SAME, P_ACTIVE))
ORPHANED = ir.Not(OWNED)
ANN = {"owner": "ann"}


def person(name="ann", active=True, **more):
    return {"id": name, "active": active, **more}


def test_no_row_found_in_a_partial_inventory_proves_nothing():
    """Partial, and partial and empty: `no X` is never true, whatever was not found."""
    assert truth_of(ORPHANED, ANN, people=rows(complete=False)) is None
    assert truth_of(ORPHANED, ANN, people=rows(person("bob"), complete=False)) is None


def test_no_row_found_in_a_complete_inventory_proves_absence():
    """Complete and empty is an answer."""
    assert truth_of(ORPHANED, ANN, people=rows()) is True
    assert truth_of(ORPHANED, ANN, people=rows(person("bob"), person(active=False))) is True


def test_a_witness_decides_even_in_a_partial_inventory():
    """One row that was found is proof of itself."""
    assert truth_of(OWNED, ANN, people=rows(person(), complete=False)) is True
    assert truth_of(ORPHANED, ANN, people=rows(person(), complete=False)) is False


@pytest.mark.parametrize(
    "unclear", [person(name=UNREAD), person(name=None), person(active=UNREAD), person(active=None)]
)
def test_a_row_that_may_match_makes_absence_unknown(unclear):
    """A key or a condition without a value cannot be ruled out."""
    assert truth_of(ORPHANED, ANN, people=rows(person("bob"), unclear)) is None
    assert truth_of(OWNED, ANN, people=rows(unclear, person())) is True


def test_a_row_that_is_excluded_by_what_is_known_of_it_does_not_matter():
    """An unread key does no harm on a row that the rest of the condition excludes."""
    assert truth_of(ORPHANED, ANN, people=rows(person(UNREAD, active=False))) is True
    assert truth_of(ORPHANED, ANN, people=rows(person("bob", active=UNREAD))) is True


@pytest.mark.parametrize("owner", [None, UNREAD])
def test_an_object_without_a_key_value_may_match_any_row(owner):
    """Only if no row at all could match is the answer known."""
    assert truth_of(ORPHANED, {"owner": owner}, people=rows(person("bob"))) is None
    assert truth_of(ORPHANED, {"owner": owner}, people=rows(person("bob", active=False))) is True
    assert truth_of(ORPHANED, {"owner": owner}, people=rows()) is True


TWO_KEYS = ir.Some("people", "p", both(SAME, ir.Compare("==", A_TEAM, P_TEAM), P_ACTIVE))


@pytest.mark.parametrize(
    ("base", "row", "expected"),
    [
        ({"team": "x"}, {"team": "x"}, True),
        ({"team": "x"}, {"team": "y"}, False),
        ({"team": "x"}, {"team": UNREAD}, None),
        ({"team": UNREAD}, {"team": "y"}, None),
        ({"team": UNREAD}, {"team": "y", "id": "bob"}, False),
        ({"team": UNREAD}, {"team": UNREAD}, None),
        ({"team": "x"}, {"team": "y", "id": UNREAD}, False),
        ({"team": UNREAD, "owner": UNREAD}, {"team": "y"}, None),
        ({"team": UNREAD}, {"team": "y", "active": False}, False),
        ({"team": "x"}, {"team": "x", "active": UNREAD}, None),
    ],
)
def test_two_keys_match_as_far_as_each_is_known(base, row, expected):
    """A pair that is known to differ excludes the row, whatever the other pair is."""
    assert truth_of(TWO_KEYS, {**ANN, **base}, people=rows(person(**row))) is expected
    three = ir.Some("people", "p", both(*TWO_KEYS.where.items, ir.Compare("==", P_AGE, field("a", "age", INT))))
    aged = {**ANN, **base, "age": 1}
    assert truth_of(three, aged, people=rows({**person(), "age": 1, **row})) is expected


@pytest.mark.parametrize(("outer", "expected"), [(True, True), (False, False), (UNREAD, None)])
def test_a_condition_on_the_object_itself_counts_within_a_quantifier(outer, expected):
    """It takes part like any other condition, for a row that surely matches as well."""
    flag = field("a", "flag", BOOL)
    assert truth_of(ir.Some("people", "p", both(SAME, flag)), {**ANN, "flag": outer}, people=rows(person())) is expected
    assert truth_of(ir.Some("people", "p", flag), {"flag": outer}, people=rows(person())) is expected
    assert truth_of(ir.Some("people", "p", flag), {"flag": outer}, people=rows()) is False
    partial = rows(person("bob"), complete=False)
    assert truth_of(ir.Some("people", "p", both(SAME, flag)), {**ANN, "flag": outer}, people=partial) is None


def test_a_quantifier_within_a_quantifier_keeps_what_is_unknown():
    """An owner whose manager may be missing from a partial list has no proven lack of a manager."""
    manager = field("p", "manager", TEXT, "people")
    boss = ir.Some("bosses", "b", ir.Compare("==", field("b", "id", TEXT, "bosses"), manager))
    unmanaged = ir.Some("people", "p", both(SAME, ir.Not(boss)))
    people = rows(person(manager="max"))
    assert truth_of(unmanaged, ANN, people=people, bosses=rows({"id": "max"})) is False
    assert truth_of(unmanaged, ANN, people=people, bosses=rows({"id": "eve"})) is True
    assert truth_of(unmanaged, ANN, people=people, bosses=rows({"id": "eve"}, complete=False)) is None


# ---- aggregates


def count(where: ir.Expr = SAME) -> ir.Aggregate:
    return ir.Aggregate("count", "people", "p", where, None, INT)


def of_age(function: str, where: ir.Expr = SAME) -> ir.Aggregate:
    return ir.Aggregate(function, "people", "p", where, P_AGE, INT)


def compare(left: ir.Expr, operator: str, right: int) -> ir.Compare:
    return ir.Compare(operator, left, const(right, INT))


def test_a_count_over_a_partial_inventory_has_no_upper_bound():
    """`< n` is never true of it; `>= n` is, once n rows were seen."""
    partial = rows(person(), person(), complete=False)
    assert truth_of(compare(count(), "<", 5), ANN, people=partial) is None
    assert truth_of(compare(count(), "<", 2), ANN, people=partial) is False
    assert truth_of(compare(count(), ">=", 2), ANN, people=partial) is True
    assert truth_of(compare(count(), "==", 2), ANN, people=partial) is None
    assert truth_of(compare(count(), "!=", 1), ANN, people=partial) is True


def test_a_count_is_a_range_if_rows_are_unclear():
    """Rows that may match stretch the range upwards, and only that."""
    unclear = rows(person(), person(UNREAD), person("bob"))
    assert truth_of(compare(count(), "<=", 2), ANN, people=unclear) is True
    assert truth_of(compare(count(), "<", 2), ANN, people=unclear) is None
    assert truth_of(compare(count(), ">=", 1), ANN, people=unclear) is True
    assert truth_of(compare(count(), "==", 3), ANN, people=unclear) is False
    assert truth_of(compare(count(), "==", 0), {"owner": UNREAD}, people=unclear) is None
    assert truth_of(compare(count(), "<=", 3), {"owner": UNREAD}, people=unclear) is True


def test_the_count_and_the_sum_of_nothing_are_zero_and_an_extreme_of_nothing_is_absent():
    """Over a complete inventory without a matching row."""
    nobody = rows(person("bob", age=7))
    assert value_of(count(), const(0, INT), ANN, people=nobody) is True
    assert value_of(of_age("sum"), const(0, INT), ANN, people=nobody) is True
    assert truth_of(ir.IsState(of_age("max"), "absent"), ANN, people=nobody) is True
    assert truth_of(compare(of_age("max"), "<", 100), ANN, people=nobody) is None
    filled = ir.Else(of_age("max"), const(-1, INT), INT, optional=False)
    assert value_of(filled, const(-1, INT), ANN, people=nobody) is True
    assert value_of(filled, const(-1, INT), ANN, people=rows(complete=False)) is None


def test_an_unread_row_could_move_an_extreme_only_one_way():
    """A greater maximum may be hidden, a lesser one not."""
    partial = rows(person(age=5), complete=False)
    assert truth_of(compare(of_age("max"), ">=", 5), ANN, people=partial) is True
    assert truth_of(compare(of_age("max"), "<", 100), ANN, people=partial) is None
    assert truth_of(compare(of_age("min"), "<=", 5), ANN, people=partial) is True
    assert truth_of(compare(of_age("min"), ">", 0), ANN, people=partial) is None
    assert truth_of(ir.IsState(of_age("min"), "present"), ANN, people=partial) is True


def test_a_row_that_may_match_bounds_an_extreme_by_its_value():
    """It can move the extreme as far as its own value, and an unknown value anywhere."""
    unclear = rows(person(age=5), person(UNREAD, age=9))
    assert truth_of(compare(of_age("max"), "<=", 9), ANN, people=unclear) is True
    assert truth_of(compare(of_age("max"), "<=", 8), ANN, people=unclear) is None
    assert truth_of(compare(of_age("max"), "<=", 9), ANN, people=rows(person(age=5), person(age=UNREAD))) is None
    assert truth_of(ir.IsState(of_age("max"), "present"), ANN, people=rows(person(age=UNREAD))) is None
    assert truth_of(ir.IsState(of_age("max"), "absent"), ANN, people=rows(person(age=None))) is True


def test_a_sum_is_known_as_far_as_its_rows_are():
    """An unread row or value leaves it unbounded on both sides; a row that may match moves it by its value."""
    assert value_of(of_age("sum"), const(5, INT), ANN, people=rows(person(age=2), person(age=3))) is True
    assert truth_of(compare(of_age("sum"), ">=", 0), ANN, people=rows(person(age=2), complete=False)) is None
    assert truth_of(compare(of_age("sum"), ">=", 0), ANN, people=rows(person(age=UNREAD))) is None
    unclear = rows(person(age=2), person(UNREAD, age=-3), person(UNREAD, age=4))
    assert truth_of(compare(of_age("sum"), ">=", -1), ANN, people=unclear) is True
    assert truth_of(compare(of_age("sum"), "<=", 6), ANN, people=unclear) is True
    assert truth_of(compare(of_age("sum"), "<=", 5), ANN, people=unclear) is None


def test_a_sum_beyond_64_bits_is_compared_exactly_and_has_no_value_otherwise():
    """It does not wrap; as an operand of arithmetic it is unknown."""
    huge = rows(person(age=INT_MAX), person(age=INT_MAX))
    assert truth_of(compare(of_age("sum"), ">", INT_MAX), ANN, people=huge) is True
    less = ir.Arith("-", of_age("sum"), const(INT_MAX, INT), INT)
    assert value_of(less, const(INT_MAX, INT), ANN, people=huge) is None


def test_a_decimal_sum_beyond_its_digits_is_bounded_and_never_an_error():
    """More than 29 whole digits: surely at least the greatest decimal, and otherwise unbounded."""
    amount = field("p", "amount", DECIMAL, "people")
    total = ir.Aggregate("sum", "people", "p", SAME, amount, DECIMAL)
    top = const(DECIMAL_TOP, DECIMAL)
    over = rows(*(person(amount=DECIMAL_TOP) for _ in range(3)))
    assert truth_of(ir.Compare(">=", total, top), ANN, people=over) is True
    assert truth_of(ir.Compare("==", total, top), ANN, people=over) is None
    under = rows(*(person(amount=DECIMAL_TOP.copy_negate()) for _ in range(3)))
    assert truth_of(ir.Compare("<", total, const(Decimal(0), DECIMAL)), ANN, people=under) is True
    mixed = rows(person(amount=DECIMAL_TOP), person(amount=Decimal("0.5")), person(amount=DECIMAL_TOP.copy_negate()))
    assert value_of(total, const(Decimal("0.5"), DECIMAL), ANN, people=mixed) is True
    negative = rows(person(amount=Decimal("-0.000000001")), person(amount=Decimal("-1.999999999")))
    assert value_of(total, const(Decimal("-2"), DECIMAL), ANN, people=negative) is True


def test_aggregates_compare_with_fields_and_with_each_other():
    """Two ranges compare only where all pairs agree."""
    mine = field("a", "age", INT)
    people = rows(person(age=3), person(UNREAD, age=9), person("bob", age=1))
    greater = ir.Compare(">", of_age("max"), mine)
    assert truth_of(greater, {**ANN, "age": 2}, people=people) is True
    assert truth_of(greater, {**ANN, "age": 5}, people=people) is None
    assert truth_of(greater, {**ANN, "age": 9}, people=people) is False
    assert truth_of(ir.Compare("<=", of_age("min"), of_age("max")), ANN, people=people) is True
    assert truth_of(ir.Compare("<", of_age("min"), of_age("max")), ANN, people=people) is None


def test_an_aggregate_may_compare_rows_with_the_object():
    """A condition about both rows is joined as well as an equality alone."""
    seen, created = field("p", "seen", TIMESTAMP, "people"), field("a", "created", TIMESTAMP)
    later = both(SAME, ir.Compare(">", seen, created))
    used = {**ANN, "created": 5}
    assert value_of(count(later), const(1, INT), used, people=rows(person(seen=6), person(seen=5))) is True
    assert value_of(count(later), const(1, INT), used, people=rows(person(seen=6), person(seen=UNREAD))) is None
    assert truth_of(ir.Not(ir.Some("people", "p", later)), used, people=rows(person(seen=5))) is True
    assert truth_of(ir.Not(ir.Some("people", "p", later)), used, people=rows(person(UNREAD, seen=6))) is None
    assert truth_of(ir.Not(ir.Some("people", "p", later)), used, people=rows(person(UNREAD, seen=5))) is True

"""What the runtime asks of closures beside truths: values with their states, fields read, targeted questions."""

from __future__ import annotations

import pytest
from tests.support.lowered import const, field
from tests.support.snapshots import HeldWorld
from tests.support.worlds import BINDINGS, UNKNOWN_STATES

from fullcount.compiler import ir
from fullcount.compiler.lower import facts
from fullcount.compiler.lower.closure import compile_truth, compile_value
from fullcount.compiler.lower.lookups import Lookup, lookups
from fullcount.compiler.lower.world import Related
from fullcount.compiler.types import BOOL, DURATION, INT, TEXT
from fullcount.compiler.values import ABSENT, Cell, FieldState, present

OWNER, TEAM = field("a", "owner", TEXT), field("a", "team", TEXT)
P_ID, P_TEAM, P_ACTIVE = (field("p", n, t, "people") for n, t in (("id", TEXT), ("team", TEXT), ("active", BOOL)))
SAME = ir.Compare("==", P_ID, OWNER)
EMPTY = HeldWorld({"people": Related([], True)})


def shown(expr: ir.Expr, **cells: Cell) -> Cell:
    return compile_value(expr, BINDINGS)({"a": cells}, EMPTY)


@pytest.mark.requirement("R7")
@pytest.mark.parametrize("state", UNKNOWN_STATES)
def test_a_shown_field_keeps_its_own_state(state):
    """A reviewer sees why a value is not known, also through a function or a fallback."""
    cell = Cell(state, None)
    assert shown(OWNER, owner=cell) == cell
    assert shown(ir.Else(OWNER, const("x", TEXT), TEXT, optional=False), owner=cell) == cell
    assert shown(ir.Call("lower", (OWNER,), TEXT), owner=cell) == cell


def test_a_shown_value_is_absent_only_if_it_is():
    """What rests on an absent value has no known value, and is not absent itself."""
    assert shown(OWNER, owner=ABSENT) == ABSENT
    assert shown(ir.Call("lower", (OWNER,), TEXT), owner=ABSENT).state is FieldState.INDETERMINATE
    assert shown(ir.Else(OWNER, const("x", TEXT), TEXT, optional=False), owner=ABSENT) == present("x")


def test_tests_and_aggregates_can_be_shown():
    """A test is a bool; an aggregate has a value once it is exact."""
    assert shown(ir.IsState(OWNER, "absent"), owner=ABSENT) == present(True)
    count = ir.Aggregate("count", "people", "p", SAME, None, INT)
    assert shown(count, owner=present("ann")) == present(0)
    partial = HeldWorld({"people": Related([], False)})
    cell = compile_value(count, BINDINGS)({"a": {"owner": present("ann")}}, partial)
    assert cell == Cell(FieldState.INDETERMINATE, None)


def test_a_present_cell_without_a_value_is_an_error_and_not_an_answer():
    """Broken rows fail loudly."""
    with pytest.raises(KeyError):
        shown(OWNER, owner=Cell(FieldState.PRESENT, None))
    with pytest.raises(KeyError):
        shown(OWNER)


def test_constants_are_computed_once():
    """Parameters and the plan's instant are bound when the rule is compiled."""
    old = ir.Arith("-", ir.Now(), ir.Param("p_idle", DURATION), ir.Now().type)
    value = compile_value(old, BINDINGS)
    assert value({}, EMPTY) == present(BINDINGS.now - BINDINGS.params["p_idle"])
    assert compile_truth(ir.Not(ir.TRUE), BINDINGS)({}, EMPTY) is False


def test_the_fields_that_a_rule_reads_are_listed_by_inventory():
    """An inventory that is only counted is listed with no field."""
    counted = ir.Aggregate("count", "teams", "t", ir.TRUE, None, INT)
    rule = ir.And((ir.Some("people", "p", ir.And((SAME, P_ACTIVE))), ir.Compare("==", counted, const(0, INT))))
    assert facts.fields_read(rule) == {
        "people": frozenset({"id", "active"}),
        "base": frozenset({"owner"}),
        "teams": frozenset(),
    }


def ask(where: ir.Expr, **cells: Cell) -> list[Lookup]:
    return lookups(ir.Not(ir.Some("people", "p", where)), {"a": cells}, BINDINGS)


def test_a_look_up_targets_what_is_known_of_the_object():
    """Equalities to the object's values and to constants, on either side, become the question."""
    flipped = ir.Compare("==", TEAM, P_TEAM)
    where = ir.And((SAME, ir.And((flipped, P_ACTIVE)), ir.Compare("==", P_ACTIVE, const(True, BOOL))))
    found = ask(where, owner=present("ann"), team=present("red"))
    assert found == [Lookup("people", (("id", "ann"), ("team", "red"), ("active", True)))]


@pytest.mark.parametrize("cell", [ABSENT, Cell(FieldState.FORBIDDEN, None)])
def test_a_look_up_is_wider_where_the_object_has_no_value(cell):
    """An unknown value targets nothing; all rows may matter."""
    assert ask(SAME, owner=cell) == [Lookup("people", ())]
    both = ir.And((SAME, ir.Compare("==", P_TEAM, TEAM)))
    assert ask(both, owner=cell, team=present("red")) == [Lookup("people", (("team", "red"),))]


def test_what_is_no_plain_equality_is_no_target():
    """An alternative, an order, a negation, or a comparison of two fields of the same row."""
    known = {"owner": present("ann"), "team": present("red")}
    for where in (
        ir.Or((SAME, P_ACTIVE)),
        ir.Compare("<", P_ID, OWNER),
        ir.Not(SAME),
        ir.Compare("==", P_ID, P_TEAM),
        ir.Compare("==", ir.Call("lower", (P_ID,), TEXT), OWNER),
    ):
        assert ask(where, **known) == [Lookup("people", ())]


def test_each_outermost_use_asks_once_and_inner_uses_do_not_ask():
    """The closure asks its world for exactly these rows, and for inner uses as it comes to them."""
    asked = []

    class Listening:
        def rows(self, inventory, equal):
            asked.append(Lookup(inventory, equal))
            return Related([], True)

    inner = ir.Some("teams", "t", ir.Compare("==", field("t", "id", TEXT, "teams"), P_TEAM))
    some = ir.Some("people", "p", ir.And((SAME, inner)))
    count = ir.Aggregate("count", "people", "p", SAME, None, INT)
    rule = ir.Or((some, ir.Compare(">", count, const(1, INT))))
    env = {"a": {"owner": present("ann")}}
    questions = lookups(rule, env, BINDINGS)
    assert questions == [Lookup("people", (("id", "ann"),))]
    compile_truth(rule, BINDINGS)(env, Listening())
    assert list(dict.fromkeys(asked)) == questions

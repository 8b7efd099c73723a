"""Hypothesis generators of edits: a rule and the rule after someone has changed it, over one schema and world.

Most edits are the ones that people make: a conjunct or an exemption more or less, a threshold or an operator moved, a
list item more or less. Some leave nothing as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from hypothesis import strategies as st
from tests.support.expressions import DAY, POOLS, Scope, schemas, simple, truth, typical
from tests.support.worlds import Case, Rule, View, _view, _world, rule_of

from fullcount.compiler import ir
from fullcount.compiler.lower import facts
from fullcount.compiler.types import BOOL, TEXT, TIMESTAMP, ListOf
from fullcount.runtime.plan.thresholds import rewritten


@dataclass(frozen=True)
class Edited:
    """Two rules over one schema, a world of both, and a faithful view of it."""

    before: Rule
    after: Rule
    world: View
    view: View

    def case(self, rule: Rule) -> Case:
        return Case(rule, self.world, self.view)


def _threshold(draw: st.DrawFn, scope: Scope) -> ir.Expr:
    """A test of a field against a constant, or an instant against `now`, as rules have them."""
    fields = [f for f in scope.all_fields() if f.type != BOOL]
    found = draw(st.sampled_from(fields))
    if found.type == TIMESTAMP:
        length = ir.Const(draw(st.sampled_from((0, 1, DAY, 30 * DAY, 90 * DAY))), POOLS_DURATION)
        bound = ir.Arith(draw(st.sampled_from("+-")), ir.Now(), length, TIMESTAMP)
    else:
        bound = ir.Const(draw(st.sampled_from(POOLS[found.type])), found.type)
    sides = (found, bound) if draw(st.booleans()) else (bound, found)
    return ir.Compare(draw(st.sampled_from(("<", "<=", ">", ">=", "==", "!="))), *sides)


POOLS_DURATION = next(t for t in POOLS if str(t) == "duration")


def _part(draw: st.DrawFn, scope: Scope) -> ir.Expr:
    match draw(st.integers(0, 7)):
        case 0 | 1 | 2:
            return _threshold(draw, scope)
        case 3:
            return simple(draw, scope)
        case 4:
            subject = draw(st.sampled_from(scope.fields(TEXT)))
            items = draw(st.lists(st.sampled_from(POOLS[TEXT][:4]), max_size=3))
            return ir.In(subject, ir.ListConst(tuple(ir.Const(i, TEXT) for i in items), ListOf(TEXT)))
        case 5 | 6:
            return typical(draw, scope)
        case _:
            return truth(draw, replace(scope, depth=2))


def _moved(draw: st.DrawFn, expr: ir.Expr) -> ir.Expr:
    """Change some constants, operators, list items and negations somewhere in an expression."""

    def change(node: ir.Expr) -> ir.Expr:
        if draw(st.integers(0, 2)):
            return node
        match node:
            case ir.Const(type=of) if of in POOLS and of != BOOL:
                return replace(node, value=draw(st.sampled_from(POOLS[of])))
            case ir.Compare(operator=operator) if operator in {"<", "<=", ">", ">="}:
                return replace(node, operator=draw(st.sampled_from(("<", "<=", ">", ">="))))
            case ir.ListConst(items=items) if len(items) > 0:
                return replace(node, items=items[1:])
            case ir.And(items=items) | ir.Or(items=items) if len(items) > 2:
                return replace(node, items=items[1:])
            case ir.Not(operand=operand) if draw(st.integers(0, 3)) == 0:
                return operand
            case _:
                return node

    # patterns stay: their constants must remain literals that compile
    return expr if any(isinstance(n, ir.Call) for n in facts.walk(expr)) else rewritten(expr, change)


def _parts_after(draw: st.DrawFn, parts: list[ir.Expr], more: Callable[[], ir.Expr]) -> list[ir.Expr]:
    """One to three edits of a list of conditions."""
    parts = list(parts)
    for _ in range(draw(st.integers(1, 2))):
        match draw(st.integers(0, 4)):
            case 0:
                parts.insert(draw(st.integers(0, len(parts))), more())
            case 1 if len(parts) > 0:
                parts.pop(draw(st.integers(0, len(parts) - 1)))
            case 2 if len(parts) > 1:
                parts.reverse()
            case _ if len(parts) > 0:
                at = draw(st.integers(0, len(parts) - 1))
                parts[at] = _moved(draw, parts[at])
    return parts


def _joined(draw: st.DrawFn, parts: list[ir.Expr], kind: type[ir.And | ir.Or]) -> ir.Expr:
    if len(parts) == 0:
        return ir.TRUE
    return parts[0] if len(parts) == 1 else kind(tuple(parts))


@st.composite
def edits(draw: st.DrawFn) -> Edited:
    """A rule before and after an edit, a world, and a faithful view."""
    schema = draw(schemas())
    scope = Scope(schema, (("a", "base"),), 1)
    self_scope = Scope(schema, ((ir.SELF, "base"),), 0)
    kind = draw(st.sampled_from((ir.And, ir.And, ir.And, ir.Or)))
    where = [_part(draw, scope) for _ in range(draw(st.integers(1, 3)))]
    excepts = [_part(draw, scope) for _ in range(draw(st.sampled_from((0, 0, 1, 2))))]
    asked = [_threshold(draw, self_scope) for _ in range(draw(st.sampled_from((0, 0, 0, 1))))]
    changed = draw(st.sampled_from(("where", "where", "excepts", "asked", "all")))
    after = (where, excepts, asked)
    if changed in {"where", "all"}:
        after = (_parts_after(draw, where, lambda: _part(draw, scope)), after[1], after[2])
    if changed in {"excepts", "all"}:
        after = (after[0], _parts_after(draw, excepts, lambda: _part(draw, scope)), after[2])
    if changed in {"asked", "all"}:
        after = (after[0], after[1], _parts_after(draw, asked, lambda: _threshold(draw, self_scope)))
    rules = [
        rule_of(schema, _joined(draw, w, kind), scope=_joined(draw, s, ir.And) if s else None, excepts=e)
        for w, e, s in ((where, excepts, asked), after)
    ]
    whole = rule_of(
        schema,
        ir.And((rules[0].proposal.where, rules[1].proposal.where, rules[0].scope, rules[1].scope)),
        excepts=[e.condition for rule in rules for e in rule.proposal.excepts],
    )
    world = _world(draw, whole)
    view = {
        name: _view(draw, rows, cut=draw(st.integers(0, 3)) < (1 if name == "base" else 2))
        for name, rows in world.items()
    }
    from fullcount.compiler.lower.world import Related

    return Edited(rules[0], rules[1], {name: Related(rows, True) for name, rows in world.items()}, view)

"""What a rule takes for granted of its data, so that a run can refuse where the data says nothing of the kind.

A rule may be right in every type and still mean nothing: its join finds nobody because the two sides spell their ids
differently, a field came back empty for everyone because a call for it failed, and `environment != "prouction"` rules
nobody out. Each of these selects too much without a word. So the compiler writes down what has to be true of at least
one row that was read:

- **a match**: where `some`, `no` or an aggregate joins an inventory by an equality, or by `in`, at least one row on
  the outside has a partner. The equalities that join by one outer row count together.
- **a value**: each field, or key of a map, that decides is there and not empty for at least one object.
- **a case**: what a negative condition rules out (`!=`, `not in`, `not …`, the conditions inside `no` and
  `except when`) exists: some object satisfies it. Of a list, each value. What the act itself brings about is left
  alone: `not a.locked` before an act that sets `locked: true` is how the second night finds nothing to do.

A workflow lifts one of them by saying its opposite: `expect no people as p where (p.id == a.owner) because "…"`.
An assumption never selects anything: where it does not hold, there is no plan. Nothing here looks at data.

Left alone: what protections say (no workflow could lift it), aggregates of other shapes, comparisons by order and with
`now`, and joins that name two outer rows at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import StrEnum

from fullcount.compiler import ir, program
from fullcount.compiler.lower import facts
from fullcount.compiler.normal import normal
from fullcount.compiler.polarity import MIRRORED, Polarity, sign_of_more_rows
from fullcount.compiler.types import BOOL, INT, TEXT, ListOf, MapOf
from fullcount.compiler.walk import conjunction, rename_row
from fullcount.dsl.dataclass import dataclass, field
from fullcount.dsl.source import Span

BASE = "base row"
"""What the object that is proposed is called in a sentence; no name of the language has a blank."""

_TEXTUAL = frozenset(
    {"starts_with", "ends_with", "contains", "matches", "glob", "cidr_contains", "intersects", "subset"}
)
"""Functions that answer whether a value is of a kind that is written out."""


class Taken(StrEnum):
    """What is taken for granted."""

    MATCH = "match"
    VALUE = "value"
    CASE = "case"


@dataclass(frozen=True, slots=True)
class Assumption:
    """`test` is true of a row of `inventory`, called `row`: of one for which `among` is true, where that is set.

    `sentence` is the opposite, as an `expect no` says it: `some X as x where (…)`, which the workflow expects of no
    row. `partner` is the inventory that a match is sought in.
    """

    taken: Taken
    inventory: str
    row: str
    test: ir.Expr
    sentence: ir.Some
    among: ir.Expr | None = None
    partner: str | None = None
    place: Span = field(default=ir.NOWHERE, compare=False)
    """What of the rule it comes from."""

    @property
    def said(self) -> object:
        """What tells one assumption from another, whatever rows are called and in whichever order it is written."""
        return sentence_key(self.sentence)


def assumptions(proposal: program.Proposal, act: program.Act | None) -> tuple[Assumption, ...]:
    """Return what a proposal takes for granted, each once, in the order of the rule; `act` is what is done with it."""
    found: dict[object, Assumption] = {}
    around = {proposal.row: proposal.inventory}
    for expr, polarity in _deciding(proposal):
        for each in (*_matches(expr, around, proposal), *_cases(expr, polarity, around, proposal)):
            found.setdefault(each.said, each)
    for each in _values(proposal):
        found.setdefault(each.said, each)
    for sentence in _brought_about(proposal, act):
        found.pop(sentence, None)
    return tuple(found.values())


def _brought_about(proposal: program.Proposal, act: program.Act | None) -> Iterator[object]:
    """Yield the sentences about what the act makes true of its object."""
    calls = () if act is None else act.calls.values()
    for name, value in (pair for call in calls if call.own for pair in call.arguments.items()):
        if not isinstance(value, ir.Const | ir.Param):
            continue
        for optional in (True, False):
            field = ir.Field(proposal.row, proposal.inventory, name, value.type, optional)
            yield sentence_key(ir.Some(proposal.inventory, proposal.row, ir.Compare("==", field, value)))
            if value.type == BOOL and isinstance(value, ir.Const) and value.value is True:
                yield sentence_key(ir.Some(proposal.inventory, proposal.row, field))


def lifted(proposal: program.Proposal) -> frozenset[object]:
    """Return the sentences that the workflow says it expects of no row."""
    return frozenset(key for each in proposal.expects for key in sentences(each.sentence))


def sentences(said: ir.Some) -> Iterator[object]:
    """Yield what one `expect no` lifts: with `in` and `or` each of the cases, as well as the whole."""
    yield sentence_key(said)
    for part in _alternatives(said.where):
        yield sentence_key(replace(said, where=part))


def sentence_key(said: ir.Some) -> object:
    """Return a sentence without the names of its rows, and without the order in which it is written."""
    return _unordered(normal(said))


def _deciding(proposal: program.Proposal) -> Iterator[tuple[ir.Expr, Polarity]]:
    yield proposal.where, Polarity.POSITIVE
    for condition in proposal.exemptions:
        yield condition, Polarity.NEGATIVE


# -- matches -----------------------------------------------------------------------------------------------------------


def _matches(expr: ir.Expr, around: Mapping[str, str], proposal: program.Proposal) -> Iterator[Assumption]:
    if isinstance(expr, ir.Some | ir.Aggregate):
        for outer in [name for name in around if name != expr.row]:
            joins = [part for part in facts.conjuncts(expr.where) if _joins(part, expr.row, outer)]
            if len(joins) > 0:
                yield _match(expr, conjunction(*joins), outer, around[outer], proposal)
        around = {**around, expr.row: expr.inventory}
    for part in ir.children(expr):
        yield from _matches(part, around, proposal)


def _joins(part: ir.Expr, row: str, outer: str) -> bool:
    """Whether a part of a condition holds for some pairs of these two rows, by values that are the same."""
    if facts.free_rows(part) != {row, outer} or facts.is_relational(part):
        return False
    match part:
        case ir.Compare(operator="==") | ir.In():
            return True
        case ir.AnyItem(where=where):
            return isinstance(where, ir.Compare) and where.operator == "=="
        case _:
            return False


def _match(
    use: ir.Some | ir.Aggregate, joined: ir.Expr, outer: str, outside: str, proposal: program.Proposal
) -> Assumption:
    test = ir.Some(use.inventory, use.row, joined, span=use.span, head=use.head)
    sentence = test
    if outer != proposal.row:
        sentence = replace(test, where=ir.Some(outside, outer, joined))
    else:
        sentence = replace(test, where=rename_row(joined, outer, BASE))
    known = [ir.IsState(side, "present") for part in facts.conjuncts(joined) for side in _outer_sides(part, outer)]
    place = facts.conjuncts(joined)[0].span
    return Assumption(Taken.MATCH, outside, outer, test, sentence, conjunction(*known), use.inventory, place)


def _outer_sides(part: ir.Expr, outer: str) -> list[ir.Expr]:
    return [side for side in ir.children(part) if facts.free_rows(side) == {outer} and not ir.open_items(side)]


# -- values ------------------------------------------------------------------------------------------------------------


def _values(proposal: program.Proposal) -> Iterator[Assumption]:
    parts = [part for keep in proposal.keeps for part in (keep.per, keep.by) if part is not None]
    for expr in (proposal.where, *proposal.exemptions, *parts):
        for read in _read(expr):
            yield from _value(read)


def _read(expr: ir.Expr) -> Iterator[ir.Field | ir.MapGet]:
    """Yield the fields that an expression reads, and for a map the keys that it asks for."""
    match expr:
        case ir.MapGet(target=ir.Field(), key=ir.Const()):
            yield expr
        case ir.Field():
            yield expr
        case _:
            for part in ir.children(expr):
                yield from _read(part)


def _value(read: ir.Field | ir.MapGet) -> Iterator[Assumption]:
    target = read if isinstance(read, ir.Field) else read.target
    if not isinstance(target, ir.Field):
        return
    row, inventory = target.row, target.inventory
    there = ir.IsState(read, "present")
    full = _full(read)
    if isinstance(read, ir.Field) and not read.optional:
        if full is None or isinstance(read.type, MapOf):
            return  # it is always there, and has no empty value
        yield Assumption(Taken.VALUE, inventory, row, full, ir.Some(inventory, row, full), place=read.span)
        return
    test = there if full is None else ir.And((there, full))
    yield Assumption(Taken.VALUE, inventory, row, test, ir.Some(inventory, row, there), place=read.span)


def _full(read: ir.Field | ir.MapGet) -> ir.Expr | None:
    """Return the test that a value is not empty; None for a type that has no empty value, or none that can be asked."""
    if read.type == TEXT:
        return ir.Compare("!=", read, ir.Const("", TEXT))
    if isinstance(read.type, ListOf):
        return ir.Compare(">", ir.Call("length", (read,), INT), ir.Const(0, INT))
    return None


# -- cases -------------------------------------------------------------------------------------------------------------


def _cases(
    expr: ir.Expr, polarity: Polarity, around: Mapping[str, str], proposal: program.Proposal
) -> Iterator[Assumption]:
    match expr:
        case ir.Not(operand=operand):
            yield from _cases(operand, polarity.flipped(), around, proposal)
        case ir.Or(items=items) if any(isinstance(item, ir.Unknown) for item in items):
            return  # that nothing is in doubt is what one hopes for
        case ir.And(items=items) | ir.Or(items=items):
            for item in items:
                yield from _cases(item, polarity, around, proposal)
        case ir.Some(inventory=inventory, row=row, where=where):
            yield from _cases(where, polarity, {**around, row: inventory}, proposal)
        case ir.Compare(operator=operator, left=left, right=right) if facts.is_relational(expr):
            for side, seen in ((left, operator), (right, MIRRORED[operator])):
                yield from _aggregated(side, seen, polarity, around, proposal)
        case ir.IsState(operand=ir.Aggregate() as of, state=state):
            sign = {"present": Polarity.POSITIVE, "absent": Polarity.NEGATIVE}.get(state, Polarity.MIXED)
            yield from _cases(of.where, polarity.under(sign), {**around, of.row: of.inventory}, proposal)
        case _:
            yield from _case(expr, polarity, around)


def _aggregated(
    side: ir.Expr, operator: str, polarity: Polarity, around: Mapping[str, str], proposal: program.Proposal
) -> Iterator[Assumption]:
    for node in facts.walk(side):
        if isinstance(node, ir.Aggregate):
            sign = sign_of_more_rows(node.function, operator) if node is side else Polarity.MIXED
            yield from _cases(node.where, polarity.under(sign), {**around, node.row: node.inventory}, proposal)


def _case(expr: ir.Expr, polarity: Polarity, around: Mapping[str, str]) -> Iterator[Assumption]:
    if isinstance(expr, ir.Compare) and expr.operator == "!=":
        expr, polarity = replace(expr, operator="=="), polarity.flipped()
    if polarity is Polarity.POSITIVE:
        return
    rows = facts.free_rows(expr)
    if len(rows) != 1:
        return
    (row,) = rows
    inventory = around.get(row)
    if inventory is None or any(isinstance(node, ir.Now) for node in facts.walk(expr)):
        return
    for test in _written_out(expr):
        yield Assumption(Taken.CASE, inventory, row, test, ir.Some(inventory, row, test), place=test.span)


def _written_out(expr: ir.Expr) -> Iterator[ir.Expr]:
    """Yield the cases that a test compares a value with; nothing for a test that names none."""
    match expr:
        case ir.Compare(operator="==", left=left, right=right) if facts.is_constant(left) != facts.is_constant(right):
            yield expr
        case ir.In(collection=ir.ListConst()):
            yield from _alternatives(expr)
        case ir.In(item=item) if facts.is_constant(item):
            yield expr
        case ir.Field(type=of) if of == BOOL:
            yield expr
        case ir.Call(function=name, arguments=arguments) if name in _TEXTUAL and any(map(facts.is_constant, arguments)):
            yield expr
        case ir.AnyItem(where=where) if _names_a_case(where):
            yield expr


def _names_a_case(where: ir.Expr) -> bool:
    """Whether a test of an item holds for what is written out, and not for everything else."""
    match where:
        case ir.Not(operand=ir.Not(operand=inner)):
            return _names_a_case(inner)
        case ir.Not(operand=ir.Compare(operator="!=") as inner):
            return _names_a_case(replace(inner, operator="=="))
        case ir.Compare(operator="==", left=left, right=right):
            return ir.open_items(left) != ir.open_items(right) and not facts.free_rows(where)
        case ir.In(collection=ir.ListConst()):
            return True
        case ir.Call(function=name):
            return name in _TEXTUAL
        case _:
            return False


def _alternatives(where: ir.Expr) -> Iterator[ir.Expr]:
    match where:
        case ir.In(item=item, collection=ir.ListConst(items=items)):
            for constant in items:
                yield ir.Compare("==", item, constant, span=where.span)
        case ir.Or(items=parts):
            for part in parts:
                yield part
                yield from _alternatives(part)
        case _:
            return


def _unordered(expr: ir.Expr) -> object:
    """Return what an expression says, without the order of the parts of `and`, `or` and equalities."""
    match expr:
        case ir.And(items=items) | ir.Or(items=items):
            return type(expr).__name__, frozenset(map(_unordered, items))
        case ir.Compare(operator="==" | "!=" as operator, left=left, right=right):
            return operator, frozenset((_unordered(left), _unordered(right)))
        case ir.Some(inventory=inventory, row=row, where=where):
            return "some", inventory, row, _unordered(where)
        case _:
            return expr

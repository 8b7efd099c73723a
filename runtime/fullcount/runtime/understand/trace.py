"""A rule as a tree, each node with its truth for one object and the facts behind it.

Guarantees: the truth of every test is the closure's own answer, and a junction's truth is Kleene's of its parts, so the
root says what the plan's evaluation says; facts are cells as they were read, never guessed. It reads only the world it
is handed, and never leaves out a part of a rule, however many parts were decided before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fullcount.compiler import ir, program
from fullcount.compiler.lower import facts
from fullcount.compiler.lower.closure import compile_hints, compile_truth, compile_value
from fullcount.compiler.lower.world import Bindings, Equal, World
from fullcount.compiler.types import Type
from fullcount.compiler.values import Cell, Row, Truth, Value
from fullcount.runtime.plan.patterns import PATTERNS, how_near
from fullcount.runtime.plan.phrase import phrase

KEPT_ROWS = 4
"""How many matching, possible and near rows of another inventory a trace holds; all of them are counted."""
_COMPARED = 2_000
"""How many rows that do not match are compared to find the nearest."""

Key = tuple[Value | None, ...]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a trace may look at. `sizes` says how many rows of each inventory are stored."""

    world: World
    bindings: Bindings
    inventories: Mapping[str, program.Inventory]
    sizes: Mapping[str, int]

    def key_of(self, inventory: str, row: Row) -> Key:
        """Return the key of a row; None stands for a part that has no value, as in a row that is only imagined."""
        return tuple(row[name].value for name in self.inventories[inventory].key)


@dataclass(frozen=True, slots=True)
class Fact:
    """A value that a test rests on, in the words of the rule."""

    what: str
    cell: Cell
    type: Type


@dataclass(frozen=True, slots=True)
class Seen:
    """A row of another inventory and what the `where` of the use says of it."""

    key: Key
    row: Row
    node: Node


@dataclass(frozen=True, slots=True)
class Look:
    """One use of another inventory, for one object.

    `asked` are the values that a matching row must have; `returned` how many rows have them or may have them, `size`
    how many were read in all. `rows` are the first that match, then those that may, then the nearest that do not.
    """

    use: ir.Some | ir.Aggregate
    complete: bool
    size: int | None
    asked: Equal
    returned: int
    matching: int
    possible: int
    rows: tuple[Seen, ...]

    @property
    def relevant(self) -> tuple[Seen, ...]:
        """The listed rows that match or may match."""
        return tuple(seen for seen in self.rows if seen.node.truth is not False)

    @property
    def near(self) -> tuple[Seen, ...]:
        """The listed rows that do not match."""
        return tuple(seen for seen in self.rows if seen.node.truth is False)


@dataclass(frozen=True, slots=True)
class Node:
    """One part of a rule for one object. A junction has `parts`, a test `facts` and `looks`; `env` is what it saw.

    `near`: why a pattern of the test does not match a value that it nearly matches.
    """

    expr: ir.Expr
    truth: Truth
    env: Mapping[str, Row]
    parts: tuple[Node, ...] = ()
    facts: tuple[Fact, ...] = ()
    looks: tuple[Look, ...] = ()
    near: tuple[str, ...] = ()


def trace(expr: ir.Expr, env: Mapping[str, Row], around: Surroundings) -> Node:
    """Return the tree of a rule for the rows in `env`. Raises KeyError for a parameter that is not bound."""
    match expr:
        case ir.And(items=items):
            parts = tuple(trace(item, env, around) for item in items)
            return Node(expr, junction([part.truth for part in parts], decisive=False), env, parts)
        case ir.Or(items=items):
            parts = tuple(trace(item, env, around) for item in items)
            return Node(expr, junction([part.truth for part in parts], decisive=True), env, parts)
        case ir.Not(operand=operand):
            part = trace(operand, env, around)
            return Node(expr, negated(part.truth), env, (part,))
        case _:
            truth = compile_truth(expr, around.bindings)(env, around.world)
            looks = tuple(_look(use, env, around) for use in outermost_uses(expr))
            near = tuple(_near(expr, env, around))
            return Node(expr, truth, env, (), tuple(_facts(expr, env, around)), looks, near)


def junction(answers: Sequence[Truth], *, decisive: bool) -> Truth:
    """Return Kleene's conjunction (`decisive` False) or disjunction (True)."""
    if decisive in answers:
        return decisive
    return None if None in answers else not decisive


def negated(truth: Truth) -> Truth:
    """Return Kleene's negation."""
    return None if truth is None else not truth


def outermost_uses(expr: ir.Expr) -> Iterator[ir.Some | ir.Aggregate]:
    """Yield the uses of other inventories that are not inside another use."""
    if isinstance(expr, ir.Some | ir.Aggregate):
        yield expr
        return
    for child in ir.children(expr):
        yield from outermost_uses(child)


# -- the facts of a test ----------------------------------------------------------------------------------------------


def _facts(test: ir.Expr, env: Mapping[str, Row], around: Surroundings) -> Iterator[Fact]:
    """Yield what a test compares, then the fields behind it, each once and without constants."""
    said: set[str] = set()
    for expr in (*_sides(test), *_fields(test)):
        what = phrase(expr)
        if what not in said:
            said.add(what)
            yield Fact(what, compile_value(expr, around.bindings)(env, around.world), expr.type)


def _near(test: ir.Expr, env: Mapping[str, Row], around: Surroundings) -> Iterator[str]:
    """Yield how the object's values nearly match the patterns of a test; items of lists are left alone."""
    for call in _patterns(test):
        text = compile_value(call.arguments[0], around.bindings)(env, around.world).value
        why = how_near(call, text) if isinstance(text, str) else None
        if why is not None:
            yield f"nearly matches: {why}"


def _patterns(expr: ir.Expr) -> Iterator[ir.Call]:
    if isinstance(expr, ir.Some | ir.Aggregate | ir.AnyItem):
        return
    if isinstance(expr, ir.Call) and expr.function in PATTERNS:
        yield expr
    for part in ir.children(expr):
        yield from _patterns(part)


def _sides(test: ir.Expr) -> Iterator[ir.Expr]:
    match test:
        case ir.Compare(left=left, right=right) | ir.In(item=left, collection=right):
            sides: tuple[ir.Expr, ...] = (left, right)
        case ir.IsState(operand=operand):
            sides = (operand,)
        case ir.Call(arguments=arguments):
            sides = arguments
        case ir.AnyItem(collection=collection):
            sides = (collection,)
        case ir.Some():
            return
        case _:
            sides = (test,)
    for side in sides:
        if not isinstance(side, ir.Const | ir.ListConst | ir.Now):
            yield side


def _fields(expr: ir.Expr) -> Iterator[ir.Expr]:
    match expr:
        case ir.Some() | ir.Aggregate():
            return
        case ir.Field() | ir.Param():
            yield expr
        case ir.MapGet(target=target, key=key):
            if not isinstance(target, ir.Field) or ir.open_items(key):
                yield from _fields(target)
            if not ir.open_items(expr):  # under the key of each item there is another value
                yield expr
            yield from _fields(key)
        case _:
            for child in ir.children(expr):
                yield from _fields(child)


# -- other inventories ------------------------------------------------------------------------------------------------


def _look(use: ir.Some | ir.Aggregate, env: Mapping[str, Row], around: Surroundings) -> Look:
    asked = compile_hints(facts.equalities(use.where, use.row), around.bindings)(env)
    rows, complete = around.world.rows(use.inventory, asked)
    belongs = compile_truth(use.where, around.bindings)
    sorted_rows: dict[Truth, list[Row]] = {True: [], None: [], False: []}
    for row in rows:
        sorted_rows[belongs({**env, use.row: row}, around.world)].append(row)
    near = _nearest(use, sorted_rows[False][:_COMPARED], env, around)
    shown = [*sorted_rows[True][:KEPT_ROWS], *sorted_rows[None][:KEPT_ROWS], *near]
    seen = tuple(
        Seen(around.key_of(use.inventory, row), row, trace(use.where, {**env, use.row: row}, around)) for row in shown
    )
    return Look(
        use=use,
        complete=complete,
        size=around.sizes.get(use.inventory),
        asked=asked,
        returned=len(rows),
        matching=len(sorted_rows[True]),
        possible=len(sorted_rows[None]),
        rows=seen,
    )


def _nearest(
    use: ir.Some | ir.Aggregate, rows: Sequence[Row], env: Mapping[str, Row], around: Surroundings
) -> list[Row]:
    """Return the rows that fail the fewest parts of the `where`, if they meet one, or it is no matter of a key."""
    parts = facts.conjuncts(use.where)
    tests = [compile_truth(part, around.bindings) for part in parts]
    allowed = len(tests) - 1 if len(tests) > 1 or len(facts.equalities(use.where, use.row)) > 0 else len(tests)
    scored: list[tuple[int, int]] = []
    for number, row in enumerate(rows):
        failed = sum(test({**env, use.row: row}, around.world) is False for test in tests)
        if failed <= allowed:
            scored.append((failed, number))
    return [rows[number] for _, number in sorted(scored)[:KEPT_ROWS]]

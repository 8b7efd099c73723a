"""The typed expression as a Python closure over one object: what the recheck asks right before an act.

Compiling walks the tree once; a call only runs the prepared functions. Semantics are those of `ir.py`, to the letter of
`sql.py`, with which a property test keeps this module equal. A closure never guesses: what it cannot know is None in a
truth, and a `Missing` with the field's state in a value. It never reads a clock or a source by itself.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from fullcount.compiler import functions, ir
from fullcount.compiler.functions import MICROSECONDS_OF_A_DAY, TRIM_CHARACTERS
from fullcount.compiler.lower import (
    casing,
    facts,
    intervals,
    json_text,
    networks,
    numbers,
    patterns,
    sampling,
    spelling,
    versions,
)
from fullcount.compiler.lower.intervals import Gathered, Interval
from fullcount.compiler.lower.world import Bindings, Env, Related, World
from fullcount.compiler.types import BOOL
from fullcount.compiler.values import ABSENT, Cell, FieldState, Row, Truth, Value, present
from fullcount.dsl.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Missing:
    """No known value: absent, or the reason why it is not known."""

    state: FieldState


MISSING: dict[FieldState, Missing] = {state: Missing(state) for state in FieldState if state is not FieldState.PRESENT}
NONE = MISSING[FieldState.ABSENT]
UNKNOWN = MISSING[FieldState.INDETERMINATE]

ITEM = ""
"""An item of a list is bound like a row with this one field."""

TruthOf = Callable[[Env, World], Truth]
ValueOf = Callable[[Env, World], Value | Missing]
IntervalOf = Callable[[Env, World], Interval]
HintsOf = Callable[[Env], tuple[tuple[str, Value], ...]]


def compile_truth(expr: ir.Expr, bindings: Bindings) -> TruthOf:
    """Compile a test.

    Raises KeyError for a parameter that is not bound, ValueError for a pattern that is none.
    """
    return _Compiler(bindings).truth(expr)


def compile_value(expr: ir.Expr, bindings: Bindings) -> Callable[[Env, World], Cell]:
    """Compile a value to show, or to pass to an operation. A plain field keeps its own state, a test gives a `bool`."""
    value = _Compiler(bindings).value(expr)

    def cell(env: Env, world: World) -> Cell:
        found = value(env, world)
        if not isinstance(found, Missing):
            return present(found)
        return ABSENT if found is NONE else Cell(found.state, None)

    return cell


def compile_hints(equalities: tuple[facts.Equality, ...], bindings: Bindings) -> HintsOf:
    """Compile the equalities of a `where` to the fields and values that its rows must have, where they are known."""
    compiler = _Compiler(bindings)
    compiled = tuple((found.field.name, compiler.value(found.other)) for found in equalities)

    def hints(env: Env) -> tuple[tuple[str, Value], ...]:
        known = ((name, value(env, NOWHERE)) for name, value in compiled)
        return tuple((name, value) for name, value in known if not isinstance(value, Missing))

    return hints


class Nowhere:
    """The world of expressions that look into no inventory."""

    def rows(self, inventory: str, equal: tuple[tuple[str, Value], ...]) -> Related:
        """Refuse: there is nothing to look into."""
        raise ValueError(f"there is no world here to ask for rows of `{inventory}`")


NOWHERE = Nowhere()

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

FunctionOf = Callable[..., Value | Missing | None]
"""A function of known values; None: unknown."""

_FUNCTIONS: dict[str, FunctionOf] = {
    "lower": casing.lower,
    "upper": casing.upper,
    "trim": lambda text: text.strip(TRIM_CHARACTERS),
    "trim_dot": spelling.trim_dot,
    "nfc": spelling.nfc,
    # every text begins with an empty one: a part that came out empty says nothing
    "starts_with": lambda text, part: None if part == "" else text.startswith(part),
    "ends_with": lambda text, part: None if part == "" else text.endswith(part),
    "contains": lambda text, part: None if part == "" else part in text,
    "length": len,
    "semver_compare": versions.compare,
    "intersects": lambda some, others: not set(some).isdisjoint(others),
    "subset": lambda part, whole: set(part) <= set(whole),
    "keys": lambda entries: tuple(sorted(entries)),
    "text": str,
    "utc_date": lambda instant: instant // MICROSECONDS_OF_A_DAY,
}


class _Compiler:
    def __init__(self, bindings: Bindings) -> None:
        self._bindings = bindings

    # ---- tests

    def truth(self, expr: ir.Expr) -> TruthOf:
        compiled = self._truth(expr)
        if facts.is_constant(expr):
            answer = compiled({}, NOWHERE)
            return lambda env, world: answer
        return compiled

    def _truth(self, expr: ir.Expr) -> TruthOf:
        match expr:
            case ir.Not(operand=operand):
                inner = self.truth(operand)

                def negated(env: Env, world: World) -> Truth:
                    answer = inner(env, world)
                    return None if answer is None else not answer

                return negated
            case ir.And(items=items):
                return _junction(tuple(map(self.truth, items)), decisive=False)
            case ir.Or(items=items):
                return _junction(tuple(map(self.truth, items)), decisive=True)
            case ir.Compare():
                return self._compare(expr)
            case ir.IsState():
                return self._is_state(expr)
            case ir.In():
                return self._in(expr)
            case ir.AnyItem():
                return self._any_item(expr)
            case ir.Some():
                return self._some(expr)
            case _:
                return self._truth_of_value(expr)

    def _truth_of_value(self, expr: ir.Expr) -> TruthOf:
        if expr.type != BOOL:
            raise ValueError(f"an expression of type {expr.type} is not a test")
        value = self.value(expr)

        def test(env: Env, world: World) -> Truth:
            found = value(env, world)
            return found if isinstance(found, bool) else None

        return test

    def _compare(self, expr: ir.Compare) -> TruthOf:
        name = expr.operator
        if facts.is_interval(expr.left) or facts.is_interval(expr.right):
            low, high = self.interval(expr.left), self.interval(expr.right)
            return lambda env, world: intervals.compare(name, low(env, world), high(env, world))
        holds, left, right = _COMPARE[name], self.value(expr.left), self.value(expr.right)

        def test(env: Env, world: World) -> Truth:
            a = left(env, world)
            if type(a) is Missing:
                return None
            b = right(env, world)
            return None if type(b) is Missing else holds(a, b)

        return test

    def _is_state(self, expr: ir.IsState) -> TruthOf:
        has_value = self._presence(expr.operand)
        match expr.state:
            case "present":
                return has_value
            case "absent":

                def absent(env: Env, world: World) -> Truth:
                    answer = has_value(env, world)
                    return None if answer is None else not answer

                return absent
            case "known":
                return lambda env, world: None if has_value(env, world) is None else True
            case _:
                raise ValueError(f"`{expr.state}` is not a state to ask for")

    def _presence(self, expr: ir.Expr) -> TruthOf:
        if facts.is_interval(expr):
            interval = self.interval(expr)
            return lambda env, world: interval(env, world).present
        value = self.value(expr)

        def has_value(env: Env, world: World) -> Truth:
            found = value(env, world)
            if type(found) is not Missing:
                return True
            return False if found is NONE else None

        return has_value

    def _in(self, expr: ir.In) -> TruthOf:
        item, collection = self.value(expr.item), self.value(expr.collection)

        def test(env: Env, world: World) -> Truth:
            sought, held = item(env, world), collection(env, world)
            if type(sought) is Missing or not isinstance(held, tuple):
                return None
            return sought in held

        return test

    def _any_item(self, expr: ir.AnyItem) -> TruthOf:
        name, collection, where = expr.item, self.value(expr.collection), self.truth(expr.where)

        def test(env: Env, world: World) -> Truth:
            held = collection(env, world)
            if not isinstance(held, tuple):
                return None
            answer: Truth = False
            bound: dict[str, Row] = dict(env)
            for each in held:
                bound[name] = {ITEM: present(each)}
                holds = where(bound, world)
                if holds:
                    return True
                if holds is None:
                    answer = None
            return answer

        return test

    # ---- values

    def value(self, expr: ir.Expr) -> ValueOf:
        if isinstance(expr, ir.Unknown):
            return lambda env, world: UNKNOWN
        compiled = self._value(expr)
        if facts.is_constant(expr):
            found = compiled({}, NOWHERE)
            return lambda env, world: found
        return compiled

    def _value(self, expr: ir.Expr) -> ValueOf:
        match expr:
            case ir.Const(value=constant):
                return lambda env, world: constant
            case ir.ListConst(items=items):
                listed = tuple(item.value for item in items)
                return lambda env, world: listed
            case ir.Param(name=name):
                bound = self._bindings.params[name]
                return lambda env, world: bound
            case ir.Now():
                now = self._bindings.now
                return lambda env, world: now
            case ir.Field(row=row, name=name):
                return _field(row, name)
            case ir.Item(name=name):
                return _field(name, ITEM)
            case ir.MapGet():
                return self._map_get(expr)
            case ir.Else() | ir.Aggregate() if facts.is_interval(expr):
                return self._collapsed(expr)
            case ir.Else(operand=operand, fallback=fallback):
                first, second = self.value(operand), self.value(fallback)

                def chosen(env: Env, world: World) -> Value | Missing:
                    found = first(env, world)
                    return second(env, world) if found is NONE else found

                return chosen
            case ir.Arith():
                return self._arithmetic(expr)
            case ir.Call():
                return self._call(expr)
            case _:
                truth = self._truth(expr)

                def tested(env: Env, world: World) -> Value | Missing:
                    answer = truth(env, world)
                    return UNKNOWN if answer is None else answer

                return tested

    def _map_get(self, expr: ir.MapGet) -> ValueOf:
        target, key = self.value(expr.target), self.value(expr.key)

        def get(env: Env, world: World) -> Value | Missing:
            name = key(env, world)
            if isinstance(name, Missing):
                return _not_a_value(name)
            held = target(env, world)
            if isinstance(held, dict):
                found: Value | Missing = held.get(str(name), NONE)
                return found
            return held if isinstance(held, Missing) else UNKNOWN

        return get

    def _arithmetic(self, expr: ir.Arith) -> ValueOf:
        name, left, right = expr.operator, self.value(expr.left), self.value(expr.right)

        def calculated(env: Env, world: World) -> Value | Missing:
            a: Any
            b: Any
            a, b = left(env, world), right(env, world)
            if isinstance(a, Missing):
                return _not_a_value(a)
            if isinstance(b, Missing):
                return _not_a_value(b)
            result = numbers.calculate(name, a, b)
            return UNKNOWN if result is None else result

        return calculated

    def _call(self, expr: ir.Call) -> ValueOf:
        function, arguments = self._function(expr)

        def called(env: Env, world: World) -> Value | Missing:
            given = []
            for argument in arguments:
                found = argument(env, world)
                if isinstance(found, Missing):
                    return _not_a_value(found)
                given.append(found)
            result = function(*given)
            return UNKNOWN if result is None else result

        return called

    def _function(self, expr: ir.Call) -> tuple[FunctionOf, tuple[ValueOf, ...]]:
        """Return the function and its arguments; what is written out is read here, once."""
        first, *others = expr.arguments
        match expr.function:
            case "matches":
                return patterns.full_match(literal_text(others[0])), (self.value(first),)
            case "glob":
                return patterns.full_match(patterns.glob_pattern(literal_text(others[0]))), (self.value(first),)
            case "cidr_contains":
                return networks.contains(literal_network(first)), (self.value(others[0]),)
            case "sample":
                return sampling.sampled(literal_border(others[0])), (self.value(first),)
            case "json":
                return _json(literal_text(others[0])), (self.value(first),)
            case functions.SEVERAL:
                return lambda *parts: parts, tuple(map(self.value, expr.arguments))
            case name:
                return _FUNCTIONS[name], tuple(map(self.value, expr.arguments))

    # ---- other inventories

    def interval(self, expr: ir.Expr) -> IntervalOf:
        match expr:
            case ir.Aggregate():
                return self._aggregate(expr)
            case ir.Else(operand=operand, fallback=fallback) if facts.is_interval(expr):
                first, second = self.interval(operand), self.interval(fallback)

                def chosen(env: Env, world: World) -> Interval:
                    found = first(env, world)
                    if found.present is False:
                        return second(env, world)
                    return found if found.present else intervals.UNKNOWN_INTERVAL

                return chosen
            case _:
                value = self.value(expr)

                def point(env: Env, world: World) -> Interval:
                    found = value(env, world)
                    if type(found) is not Missing:
                        return Interval(found, found, True)
                    return intervals.ABSENT_INTERVAL if found is NONE else intervals.UNKNOWN_INTERVAL

                return point

    def _collapsed(self, expr: ir.Expr) -> ValueOf:
        interval = self.interval(expr)

        def value(env: Env, world: World) -> Value | Missing:
            found = interval(env, world)
            if found.present is False:
                return NONE
            known = intervals.exact(found)
            return UNKNOWN if known is None else known

        return value

    def _some(self, expr: ir.Some) -> TruthOf:
        inventory, row, where = expr.inventory, expr.row, self.truth(expr.where)
        hints = compile_hints(facts.equalities(expr.where, row), self._bindings)

        def some(env: Env, world: World) -> Truth:
            rows, complete = world.rows(inventory, hints(env))
            answer: Truth = False if complete else None
            bound: dict[str, Row] = dict(env)
            for candidate in rows:
                bound[row] = candidate
                holds = where(bound, world)
                if holds:
                    return True
                if holds is None:
                    answer = None
            return answer

        return some

    def _aggregate(self, expr: ir.Aggregate) -> IntervalOf:
        inventory, row, where = expr.inventory, expr.row, self.truth(expr.where)
        value = None if expr.of is None else self.value(expr.of)
        hints = compile_hints(facts.equalities(expr.where, row), self._bindings)

        def interval(env: Env, world: World) -> Interval:
            rows, complete = world.rows(inventory, hints(env))
            gatherer = intervals.evidence(expr)
            bound: dict[str, Row] = dict(env)
            for candidate in rows:
                bound[row] = candidate
                belongs = where(bound, world)
                if belongs is False:
                    continue
                found = UNKNOWN if value is None else value(bound, world)
                if isinstance(found, Missing):
                    gatherer.add(Gathered(belongs, None, False if found is NONE else None))
                else:
                    gatherer.add(Gathered(belongs, found, True))
            return gatherer.interval(complete)

        return interval


def literal_text(argument: ir.Expr) -> str:
    """Return the text of an argument that the checker has made sure is written out."""
    if not (isinstance(argument, ir.Const) and isinstance(argument.value, str)):
        raise ValueError("patterns, networks and paths must be literal texts")
    return argument.value


def literal_network(argument: ir.Expr) -> networks.Network:
    """Return the network that an argument names."""
    named = networks.network(literal_text(argument))
    if named is None:
        raise ValueError(f"`{literal_text(argument)}` is not a network")
    return named


def literal_border(argument: ir.Expr) -> str:
    """Return the digest that a sample of a literal percentage ends before."""
    if not (isinstance(argument, ir.Const) and isinstance(argument.value, Decimal)):
        raise ValueError("the size of a sample must be a literal percentage")
    return sampling.border(argument.value)


def _json(path: str) -> FunctionOf:
    ask = json_text.found(path)

    def read(text: str) -> Value | Missing | None:
        state, value = ask(text)
        return value if value is not None else MISSING[state]

    return read


def _field(row: str, name: str) -> ValueOf:
    def read(env: Env, world: World) -> Value | Missing:
        state, value = env[row][name]
        if state is FieldState.PRESENT and value is not None:
            return value
        return MISSING[state]

    return read


def _not_a_value(operand: Missing) -> Missing:
    """What rests on a missing operand is unknown, also where the operand itself is known to be absent."""
    return UNKNOWN if operand is NONE else operand


def _junction(tests: tuple[TruthOf, ...], *, decisive: bool) -> TruthOf:
    def junction(env: Env, world: World) -> Truth:
        answer: Truth = not decisive
        for test in tests:
            found = test(env, world)
            if found is decisive:
                return decisive
            if found is None:
                answer = None
        return answer

    return junction

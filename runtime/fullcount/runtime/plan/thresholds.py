"""The moving borders of a rule: where it compares an instant of the object with `now` and a stated length of time.

Found in the checked expression alone, whatever the fields are called. A border is what lets a plan say how near an
object is to being kept, and how many objects another length would select.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, Final, get_args

from fullcount.compiler import ir
from fullcount.compiler.lower import facts
from fullcount.compiler.lower.world import Bindings
from fullcount.compiler.types import DURATION, TIMESTAMP
from fullcount.runtime.plan.cells import DURATION_UNITS, exact_duration

_ORDERING: Final = frozenset({"<", "<=", ">", ">="})
FACTORS: Final = (Fraction(2, 3), Fraction(9, 10), Fraction(11, 10))
"""The other lengths that a plan tries, as parts of the one in force."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """`test` compares `instant` (of the object) with `now`, moved by `length` back (-1) or forth (+1)."""

    test: ir.Compare
    instant: ir.Expr
    length: ir.Const | ir.Param
    direction: int

    def length_of(self, bindings: Bindings) -> int:
        """Return the length in force, in microseconds."""
        held = bindings.params[self.length.name] if isinstance(self.length, ir.Param) else self.length.value
        if not isinstance(held, int):
            msg = "a length of time is not a number"
            raise TypeError(msg)
        return held

    def border(self, bindings: Bindings) -> int:
        """Return the instant that objects are compared with."""
        return bindings.now + self.direction * self.length_of(bindings)

    @property
    def name(self) -> str:
        """What people call it: the parameter's name, or the test that holds the literal."""
        return self.length.name if isinstance(self.length, ir.Param) else exact_duration(int(str(self.length.value)))


def thresholds(where: ir.Expr, row: str) -> tuple[Threshold, ...]:
    """Return the borders in a rule over `row`: those with a parameter first, each length once."""
    found: dict[ir.Const | ir.Param, Threshold] = {}
    for test in facts.walk(where):
        for border in _read(test, row):
            found.setdefault(border.length, border)
    return tuple(sorted(found.values(), key=lambda border: isinstance(border.length, ir.Const)))


def _read(test: ir.Expr, row: str) -> Iterator[Threshold]:
    if not (isinstance(test, ir.Compare) and test.operator in _ORDERING):
        return
    for mine, other in ((test.left, test.right), (test.right, test.left)):
        match mine, other:
            case _, ir.Arith(operator="+" | "-" as sign, left=ir.Now(), right=ir.Const() | ir.Param() as length) if (
                length.type == DURATION and _of_object(mine, row)
            ):
                yield Threshold(test, mine, length, -1 if sign == "-" else 1)
            case ir.Arith(operator="-", left=ir.Now(), right=instant), ir.Const() | ir.Param() if _of_object(
                instant, row
            ):
                yield Threshold(test, instant, other, -1)
            case ir.Arith(operator="-", left=instant, right=ir.Now()), ir.Const() | ir.Param() if _of_object(
                instant, row
            ):
                yield Threshold(test, instant, other, 1)
            case _:
                pass


def _of_object(expr: ir.Expr, row: str) -> bool:
    return expr.type == TIMESTAMP and not facts.is_relational(expr) and facts.free_rows(expr) == {row}


def other_lengths(length: int) -> tuple[int, ...]:
    """Return the lengths to try instead, in whole units that people think in, each once, never the one in force."""
    tried = (_whole(Fraction(length) * factor) for factor in FACTORS)
    return tuple(dict.fromkeys(other for other in tried if other not in {length, 0}))


def _whole(length: Fraction) -> int:
    """Round to the largest unit of which there are ten or more, so that the step stays a small part."""
    for unit in DURATION_UNITS.values():
        if abs(length) >= 10 * unit:
            return round(length / unit) * unit
    return round(length)


def with_length(border: Threshold, where: ir.Expr, bindings: Bindings, length: int) -> tuple[ir.Expr, Bindings]:
    """Return the rule and the bindings with another length."""
    if isinstance(border.length, ir.Param):
        return where, Bindings({**bindings.params, border.length.name: length}, bindings.now)
    old, new, (row,) = border.length, replace(border.length, value=length), facts.free_rows(border.instant)

    def change(node: ir.Expr) -> ir.Expr:
        """Change the length in tests that are this border; the same length elsewhere means something else."""
        if isinstance(node, ir.Compare) and any(found.length == old for found in _read(node, row)):
            return rewritten(node, lambda inner: new if inner == old else inner)
        return node

    return rewritten(where, change), bindings


def rewritten(expr: ir.Expr, change: Callable[[ir.Expr], ir.Expr]) -> ir.Expr:
    """Return the expression with `change` applied to each node, innermost first."""
    parts: dict[str, Any] = {}
    for part in fields(expr):
        held = getattr(expr, part.name)
        if isinstance(held, _NODES):
            parts[part.name] = rewritten(held, change)
        elif isinstance(held, tuple) and all(isinstance(item, _NODES) for item in held):
            parts[part.name] = tuple(rewritten(item, change) for item in held)
    return change(replace(expr, **parts))


_NODES: Final = get_args(ir.Expr)

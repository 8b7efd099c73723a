"""What a side of a test can be moved by: the fields and parameters that its value comes from, and how it follows them.

A knob is a fact that could be otherwise. `handles` finds those that a value follows in a way that can be turned around:
the field itself, the field that an `else` took, a sum or difference with something known. Others are left alone: what
can't be turned around is not guessed at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from fullcount.compiler import ir
from fullcount.compiler.lower.closure import compile_value
from fullcount.compiler.types import TEXT, RecordOf, Type
from fullcount.compiler.values import ABSENT, Cell, FieldState, Row, Value, present
from fullcount.runtime import format as fmt
from fullcount.runtime.understand.edits import Edit, SetField, SetParam
from fullcount.runtime.understand.trace import Surroundings


@dataclass(frozen=True, slots=True)
class Knob:
    """A field or parameter. `name` is for people; `turn` returns the edit, None where the value can't be held."""

    name: str
    type: Type
    cell: Cell
    optional: bool
    turn: Callable[[Cell], Edit | None]


@dataclass(frozen=True, slots=True)
class Handle:
    """A knob, and a side's value as `sign * knob + offset`; for what is not a number the knob itself (1, 0)."""

    knob: Knob
    sign: int = 1
    offset: int = 0

    def knob_value(self, side: Value) -> Value:
        """Return the knob's value for a value of the side."""
        if self.sign == 1 and self.offset == 0:
            return side
        if not isinstance(side, int):
            msg = "only whole numbers are added up"
            raise TypeError(msg)
        return self.sign * (side - self.offset)


@dataclass(frozen=True, slots=True)
class Bench:
    """Where knobs are looked for: the object under question, and what is around it."""

    inventory: str
    """The inventory of the object."""
    row: str
    """The rule's name for the object."""
    around: Surroundings

    def value(self, expr: ir.Expr, env: Mapping[str, Row]) -> Cell:
        """Return the value of an expression as it is."""
        return compile_value(expr, self.around.bindings)(env, self.around.world)


def handles(expr: ir.Expr, env: Mapping[str, Row], bench: Bench) -> Iterator[Handle]:
    """Yield what the value of an expression can be moved by, the nearest first."""
    match expr:
        case ir.Field():
            if expr.row in env and not _fixed(expr, env, bench):
                yield Handle(_field(expr, env, bench))
        case ir.Param(name=name):
            yield Handle(_param(name, expr.type, bench))
        case ir.MapGet():
            yield from _entry(expr, env, bench)
        case ir.Else(operand=operand, fallback=fallback):
            if bench.value(operand, env).state is FieldState.ABSENT:
                yield from handles(fallback, env, bench)
            yield from handles(operand, env, bench)
        case ir.Arith(operator="+" | "-"):
            yield from _sum(expr, env, bench)
        case ir.Call(function="lower" | "upper" | "trim" | "trim_dot" | "nfc", arguments=(argument,)):
            yield from handles(argument, env, bench)
        case _:
            return


def _fixed(expr: ir.Field, env: Mapping[str, Row], bench: Bench) -> bool:
    """Whether the field is the key of a row that is there: with another key it would be another row."""
    key = bench.around.inventories[expr.inventory].key
    return expr.name in key and None not in bench.around.key_of(expr.inventory, env[expr.row])


def _field(expr: ir.Field, env: Mapping[str, Row], bench: Bench) -> Knob:
    row = env[expr.row]
    key = bench.around.key_of(expr.inventory, row)
    name = expr.name if expr.row == ir.SELF else f"{expr.row}.{expr.name}"
    if expr.inventory == bench.inventory and expr.row in {ir.SELF, bench.row}:
        said = f"`{name}`"
    else:
        said = f"`{expr.name}` of {expr.inventory} {fmt.key(key, 40)}"
    return Knob(
        said,
        expr.type,
        row[expr.name],
        expr.optional,
        lambda cell: SetField(expr.inventory, key, expr.name, cell, row),
    )


def _param(name: str, of: Type, bench: Bench) -> Knob:
    held = present(bench.around.bindings.params[name])
    return Knob(
        f"the parameter `{name}`",
        of,
        held,
        False,
        lambda cell: None if cell.value is None else SetParam(name, cell.value),
    )


def _entry(expr: ir.MapGet, env: Mapping[str, Row], bench: Bench) -> Iterator[Handle]:
    """Yield the entry of a map that is known."""
    if not (isinstance(expr.target, ir.Field) and expr.target.row in env):
        return
    held, key = bench.value(expr.target, env), bench.value(expr.key, env)
    if not isinstance(held.value, dict) or not isinstance(key.value, str) or expr.key.type != TEXT:
        return
    entries, name = held.value, key.value
    whole = _field(expr.target, env, bench)

    def turn(cell: Cell) -> Edit | None:
        others = {k: v for k, v in entries.items() if k != name}
        return whole.turn(present(others if cell.value is None else {**others, name: cell.value}))

    now = present(entries[name]) if name in entries else ABSENT
    said = f'{whole.name}["{name}"]'
    if isinstance(expr.target.type, RecordOf):
        head, _, rest = whole.name[1:].partition("`")
        said = f"`{head}.{name}`{rest}"
    yield Handle(replace(whole, name=said, type=expr.type, cell=now, optional=True, turn=turn))


def _sum(expr: ir.Arith, env: Mapping[str, Row], bench: Bench) -> Iterator[Handle]:
    left, right = bench.value(expr.left, env).value, bench.value(expr.right, env).value
    sign = 1 if expr.operator == "+" else -1
    if isinstance(right, int):
        for handle in handles(expr.left, env, bench):
            yield replace(handle, offset=handle.offset + sign * right)
    if isinstance(left, int):
        for handle in handles(expr.right, env, bench):
            yield replace(handle, sign=sign * handle.sign, offset=left + sign * handle.offset)

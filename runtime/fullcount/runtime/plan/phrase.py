"""A checked expression as text that a person can read: what a plan says of acts, exemptions and thresholds.

It is written from the expression itself, so it says what will be evaluated, in the language's own notation. It is never
read back.
"""

from __future__ import annotations

from typing import Final

from fullcount.compiler import functions, ir
from fullcount.compiler.program import OperationCall
from fullcount.compiler.types import Kind, RecordOf, Scalar, Type
from fullcount.compiler.values import Value
from fullcount.runtime.plan.cells import to_json

_UNITS: Final = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))
"""What a size is written in: the largest of these that it is a whole number of, else bytes."""

_ATOM, _FACTOR, _SUM, _TEST, _NOT, _AND, _OR = range(7)


def call_phrase(call: OperationCall) -> str:
    """Return `directory.accounts.update(id: a.id, locked: true)`."""
    arguments = ", ".join(f"{name}: {phrase(value)}" for name, value in call.arguments.items())
    return f"{call.source}.{call.resource}.{call.operation}({arguments})"


def phrase(expr: ir.Expr) -> str:
    """Return an expression as one line of text."""
    return _write(expr)[0]


def constant(value: Value, of: Type) -> str:
    """Return a constant in the language's notation."""
    match of, value:
        case Scalar(kind=Kind.TEXT), str():
            escaped = value.replace("\\", "\\\\").replace('"', '\\"')
            return f'"{escaped}"'
        case Scalar(kind=Kind.BOOL), bool():
            return "true" if value else "false"
        case Scalar(kind=Kind.PERCENT), _:
            return f"{value}%"
        case Scalar(kind=Kind.SIZE), int():
            unit, size = next((each for each in _UNITS if value != 0 and value % each[1] == 0), ("B", 1))
            return f"{value // size} {unit}"
        case _:
            return str(to_json(value, of))


def _write(expr: ir.Expr) -> tuple[str, int]:
    """Return the text and how loosely it binds."""
    match expr:
        case ir.Const(value=value, type=of):
            return constant(value, of), _ATOM
        case ir.ListConst(file=ir.ListFile() as listed):
            return listed.text, _ATOM
        case ir.ListConst(items=items):
            return f"[{', '.join(constant(item.value, item.type) for item in items)}]", _ATOM
        case ir.Param(name=name) | ir.Item(name=name):
            return name, _ATOM
        case ir.Now() | ir.Unknown():
            return ("now" if isinstance(expr, ir.Now) else "unknown"), _ATOM
        case ir.Field(row=row, name=name):
            return (name if row == ir.SELF else f"{row}.{name}"), _ATOM
        case ir.MapGet():
            return _part(expr), _ATOM
        case ir.Call(function=function, arguments=arguments):
            return functions.call_text(function, ", ".join(map(phrase, arguments))), _ATOM
        case ir.Else(operand=operand, fallback=fallback):
            return f"({phrase(operand)} else {phrase(fallback)})", _ATOM
        case ir.Arith(operator=operator, left=left, right=right):
            level = _FACTOR if operator in "*/" else _SUM
            return f"{_inside(left, level)} {operator} {_inside(right, level - 1)}", level
        case ir.Compare(operator=operator, left=left, right=right):
            return f"{_inside(left, _SUM)} {operator} {_inside(right, _SUM)}", _TEST
        case ir.In(item=item, collection=collection):
            return f"{_inside(item, _SUM)} in {_inside(collection, _SUM)}", _TEST
        case ir.IsState(operand=operand, state=state):
            return f"{_inside(operand, _SUM)} is {state}", _TEST
        case _:
            return _write_logic(expr)


def _part(expr: ir.MapGet) -> str:
    whole = _inside(expr.target, _ATOM)
    if isinstance(expr.target.type, RecordOf) and isinstance(expr.key, ir.Const):
        return f"{whole}.{expr.key.value}"
    return f"{whole}[{phrase(expr.key)}]"


def _write_logic(expr: ir.Expr) -> tuple[str, int]:
    match expr:
        case ir.Not(operand=ir.Some(inventory=inventory, row=row, where=where)):
            return f"no {inventory} as {row} where ({phrase(where)})", _NOT
        case ir.Not(operand=ir.AnyItem(collection=collection, item=item, where=ir.Not(operand=where))):
            return f"all {phrase(collection)} as {item} where ({phrase(where)})", _NOT
        case ir.AnyItem(collection=collection, item=item, where=where):
            return f"any {phrase(collection)} as {item} where ({phrase(where)})", _NOT
        case ir.Not(operand=operand):
            return f"not {_inside(operand, _TEST)}", _NOT
        case ir.And(items=items):
            return " and ".join(_inside(item, _NOT) for item in items), _AND
        case ir.Or(items=items):
            return " or ".join(_inside(item, _AND) for item in items), _OR
        case ir.Some(inventory=inventory, row=row, where=where):
            return f"some {inventory} as {row} where ({phrase(where)})", _NOT
        case ir.Aggregate(function=function, inventory=inventory, row=row, where=where, of=of, needs=needs):
            what = "" if of is None else f" of {phrase(of)}"
            what += "" if needs is None else f" needs {needs}"
            return f"({function} {inventory} as {row} where ({phrase(where)}){what})", _ATOM
        case _:
            raise ValueError(f"{type(expr).__name__} is not an expression")


def _inside(expr: ir.Expr, loosest: int) -> str:
    text, level = _write(expr)
    return text if level <= loosest else f"({text})"

"""A checked expression in words again, for messages: the scope that was asked, the canary that was not seen.

For people only. Nothing reads it back, and nothing is decided by it.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import assert_never

from fullcount.compiler import functions, ir
from fullcount.compiler.edges import duration_text
from fullcount.compiler.types import Kind, RecordOf, Scalar, Type
from fullcount.compiler.values import Value

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_OR, _AND, _NOT, _TEST, _SUM, _ATOM = range(6)


def expression_text(expr: ir.Expr) -> str:
    """Return the expression in the language's own notation; fields of an inventory's own row stand bare."""
    return _text(expr)[0]


def _text(expr: ir.Expr) -> tuple[str, int]:
    """Return the text and how tightly it binds."""
    match expr:
        case ir.Not(operand=ir.AnyItem(where=ir.Not(operand=where)) as failing):
            return f"all {expression_text(failing.collection)} as {failing.item} where ({expression_text(where)})", _NOT
        case ir.AnyItem(collection=collection, item=item, where=where):
            return f"any {expression_text(collection)} as {item} where ({expression_text(where)})", _NOT
        case ir.Not(operand=operand):
            return f"not {_within(operand, _NOT)}", _NOT
        case ir.And(items=items):
            return " and ".join(_within(item, _NOT) for item in items), _AND
        case ir.Or(items=items):
            return " or ".join(_within(item, _AND) for item in items), _OR
        case ir.Compare(operator=operator, left=left, right=right):
            return f"{_within(left, _SUM)} {operator} {_within(right, _SUM)}", _TEST
        case ir.IsState(operand=operand, state=state):
            return f"{_within(operand, _SUM)} is {state}", _TEST
        case ir.In(item=item, collection=collection):
            return f"{_within(item, _SUM)} in {_within(collection, _SUM)}", _TEST
        case ir.Arith(operator=operator, left=left, right=right):
            return f"{_within(left, _SUM)} {operator} {_within(right, _ATOM)}", _SUM
        case ir.Some(inventory=inventory, row=row, where=where):
            return f"some {inventory} as {row} where ({expression_text(where)})", _NOT
        case _:
            return _atom(expr), _ATOM


_Atom = (
    ir.Const
    | ir.ListConst
    | ir.Param
    | ir.Now
    | ir.Unknown
    | ir.Field
    | ir.Item
    | ir.MapGet
    | ir.Else
    | ir.Call
    | ir.Aggregate
)


def _atom(expr: _Atom) -> str:
    """Return the text of what needs no brackets around it."""
    match expr:
        case ir.Const(value=value, type=type_):
            return _value(value, type_)
        case ir.ListConst(file=ir.ListFile(sha256=digest) as listed):
            return f"({listed.text} as of {digest})"
        case ir.ListConst(items=items):
            return f"[{', '.join(expression_text(item) for item in items)}]"
        case ir.Param(name=name):
            return name
        case ir.Now():
            return "now"
        case ir.Unknown():
            return "unknown"
        case ir.Field(row=row, name=name):
            return name if row == ir.SELF else f"{row}.{name}"
        case ir.Item(name=name):
            return name
        case ir.MapGet(target=target, key=key):
            if isinstance(target.type, RecordOf) and isinstance(key, ir.Const):
                return f"{_within(target, _ATOM)}.{key.value}"
            return f"{_within(target, _ATOM)}[{expression_text(key)}]"
        case ir.Else(operand=operand, fallback=fallback):
            return f"({_within(operand, _SUM)} else {_within(fallback, _SUM)})"
        case ir.Call(function=function, arguments=arguments):
            return functions.call_text(function, ", ".join(expression_text(argument) for argument in arguments))
        case ir.Aggregate(function=function, inventory=inventory, row=row, where=where, of=of, needs=needs):
            rest = "" if of is None else f" of {expression_text(of)}"
            rest += "" if needs is None else f" needs {needs}"
            return f"({function} {inventory} as {row} where ({expression_text(where)}){rest})"
        case _:
            assert_never(expr)


def _within(expr: ir.Expr, at_least: int) -> str:
    text, binds = _text(expr)
    return text if binds >= at_least else f"({text})"


def _value(value: Value, type_: Type) -> str:
    match type_, value:
        case Scalar(kind=Kind.BOOL), _:
            return "true" if value else "false"
        case Scalar(kind=Kind.TEXT), _:
            return json.dumps(value, ensure_ascii=False)
        case Scalar(kind=Kind.TIMESTAMP), int():
            return (_EPOCH + timedelta(microseconds=value)).isoformat().replace("+00:00", "Z")
        case Scalar(kind=Kind.DATE), int():
            return (_EPOCH + timedelta(days=value)).date().isoformat()
        case Scalar(kind=Kind.PERCENT), _:
            return f"{value}%"
        case Scalar(kind=Kind.DURATION), int():
            return duration_text(value)
    return str(value)

"""Calls of the language's functions: arguments by type; what must be written out is, and can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullcount.compiler import ir
from fullcount.compiler.conditions import list_constant
from fullcount.compiler.environment import Env, Typed
from fullcount.compiler.functions import FUNCTIONS, Function, Wanted
from fullcount.compiler.ids import may_meet
from fullcount.compiler.list_files import list_from_file
from fullcount.compiler.report import error, near
from fullcount.compiler.spellings import RULES, never_spelled_so
from fullcount.compiler.types import PERCENT, TEXT
from fullcount.compiler.written_out import can_be_read
from fullcount.dsl import tree

if TYPE_CHECKING:
    from fullcount.compiler.expressions import Checker


_SPELLINGS = frozenset({"lower", "upper", "trim", "trim_dot", "nfc"})
"""Functions that give another spelling of the same name."""


def call(checker: Checker, node: tree.Call, env: Env) -> Typed | None:
    """Check a call of a function."""
    sink = checker.context.sink
    function = FUNCTIONS.get(node.function.text)
    if function is None:
        library = checker.context.names.library
        if library.surely_lacks(node.function.text):
            error(
                sink,
                "FC118",
                f"there is no function `{node.function.text}`",
                node.function.span,
                **near(node.function.text, node.function.span, (*FUNCTIONS, *library.definitions), "functions"),
            )
        return None
    if len(node.arguments) != len(function.parameters):
        takes = ", ".join(str(parameter) for parameter in function.parameters)
        error(
            sink,
            "FC213",
            f"`{function.name}` takes {len(function.parameters)} argument(s), and {len(node.arguments)} were given",
            node.span,
            help=f"write `{function.name}({takes})`",
        )
        return None
    typed: list[Typed] = []
    for position, argument in enumerate(node.arguments):
        checked = _argument(checker, function, position, argument, env)
        if checked is None:
            return None
        typed.append(checked)
    arguments = [each.expr for each in typed]
    if function.alike and any(argument.type != arguments[0].type for argument in arguments):
        error(
            sink,
            "FC201",
            f"`{function.name}` compares a `{arguments[0].type}` with a `{arguments[1].type}`",
            node.span,
            why="nothing is converted on the way, so no item of the one could be in the other",
            help="give it two lists of one type",
        )
        return None
    if function.alike and not may_meet(checker.context, typed[0], typed[1], node.span, f"`{function.name}` compares"):
        return None
    made = ir.Call(function.name, tuple(arguments), function.result, span=node.span)
    if len(typed) > 1 and never_spelled_so(checker.context, function.name, typed[0], arguments[1], node.span):
        return None
    names = typed[0].names if function.name in _SPELLINGS else None
    normal = typed[0].normal if function.name in RULES else ()
    return Typed(made, function.optional and made not in env.facts, function.optional, names, normal)


def _argument(checker: Checker, function: Function, position: int, node: tree.Expr, env: Env) -> Typed | None:
    wanted = function.parameters[position]
    typed = _value(checker, node, env, f"`{function.name}`", wanted)
    if typed is None:
        return None
    if not wanted.takes(typed.type):
        error(
            checker.context.sink,
            "FC201",
            f"`{function.name}` wants a `{wanted}` here, and this is `{typed.type}`",
            node.span,
            help="nothing is converted on the way: give it a value of that type",
        )
        return None
    if isinstance(node, tree.Literal):
        return typed if can_be_read(checker, function.name, position, node) else None
    if position not in function.literal:
        return typed
    error(
        checker.context.sink,
        "FC212",
        f"this argument of `{function.name}` must be written out",
        node.span,
        why="what is taken from data could mean anything, and can't be checked beforehand",
        help="write it in quotes here",
    )
    return None


def _value(checker: Checker, node: tree.Expr, env: Env, user: str, wanted: Wanted) -> Typed | None:
    """Check an argument; a list may be written out, and so may a percentage where one is wanted."""
    if isinstance(node, tree.Literal) and node.kind == "percent" and wanted.takes(PERCENT):
        return Typed(ir.Const(node.value, PERCENT, span=node.span), False, False)
    if isinstance(node, tree.ListFile):
        listed = list_from_file(checker, node, TEXT, env)
    elif isinstance(node, tree.ListLiteral):
        listed = list_constant(checker, node, env)
    else:
        return checker.required(node, env, user)
    return None if listed is None else Typed(listed, False, False)

"""Calls of the language's functions: arguments by type, and patterns that must be literals that work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullcount.compiler import ir
from fullcount.compiler.conditions import list_constant
from fullcount.compiler.environment import Env, Typed
from fullcount.compiler.functions import FUNCTIONS, Function
from fullcount.compiler.report import did_you_mean, error
from fullcount.dsl import tree
from fullcount.dsl.source import Span

if TYPE_CHECKING:
    from fullcount.compiler.expressions import Checker


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
                help=did_you_mean(node.function.text, (*FUNCTIONS, *library.definitions), "functions"),
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
    arguments: list[ir.Expr] = []
    for position, argument in enumerate(node.arguments):
        checked = _argument(checker, function, position, argument, env)
        if checked is None:
            return None
        arguments.append(checked)
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
    return Typed(ir.Call(function.name, tuple(arguments), function.result, span=node.span), False, False)


def _argument(checker: Checker, function: Function, position: int, node: tree.Expr, env: Env) -> ir.Expr | None:
    typed = _value(checker, node, env, f"`{function.name}`")
    if typed is None:
        return None
    wanted = function.parameters[position]
    if not wanted.takes(typed.type):
        error(
            checker.context.sink,
            "FC201",
            f"`{function.name}` wants a `{wanted}` here, and this is `{typed.type}`",
            node.span,
            help="nothing is converted on the way: give it a value of that type",
        )
        return None
    if position not in function.literal:
        return typed.expr
    if not isinstance(node, tree.Literal) or not isinstance(node.value, str):
        error(
            checker.context.sink,
            "FC212",
            f"the pattern of `{function.name}` must be written out",
            node.span,
            why="a pattern taken from data could match anything, and can't be checked beforehand",
            help="write it in quotes here",
        )
        return None
    if function.name == "matches" and not _pattern_compiles(checker, node.value, node.span):
        return None
    return typed.expr


def _value(checker: Checker, node: tree.Expr, env: Env, user: str) -> Typed | None:
    """Check an argument; a list may be written out."""
    if not isinstance(node, tree.ListLiteral):
        return checker.required(node, env, user)
    listed = list_constant(checker, node, env)
    return None if listed is None else Typed(listed, False, False)


def _pattern_compiles(checker: Checker, pattern: str, span: Span) -> bool:
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error as problem:
        said = problem.args[0].decode() if isinstance(problem.args[0], bytes) else str(problem.args[0])
        reason, _, fragment = said.partition(": ")
        found = pattern.find(fragment) if fragment else -1
        written = checker.context.sources[span.source].slice(span)
        if found >= 0 and written == f'"{pattern}"':
            span = Span(span.source, span.start + 1 + found, span.start + 1 + found + len(fragment))
        place = f", at character {found + 1}" if found >= 0 else ""
        error(
            checker.context.sink,
            "FC212",
            f"this pattern does not work: {reason}{place}",
            span,
            help="the pattern must match the whole text; look-around and back-references do not exist here",
        )
        return False
    return True

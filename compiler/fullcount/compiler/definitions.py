"""Uses of definitions: the arguments are checked, and the body is written out in the place of the call.

A body sees its parameters and the inventories of the workflow by name, and nothing else of the place where it is used:
no row, no parameter of the workflow, no fact that holds there. Rows that it binds never capture those of an argument.
What comes out is what would have been written by hand, so that types, absence, direction and evidence need no rule of
their own. Whatever is wrong with it is told at the use, with the place in the definition beside it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fullcount.compiler import ir
from fullcount.compiler.conditions import list_constant
from fullcount.compiler.environment import Context, Env, Typed
from fullcount.compiler.ids import may_meet
from fullcount.compiler.library import MAX_SIZE, Definition, too_large
from fullcount.compiler.list_files import list_from_file
from fullcount.compiler.polarity import Polarity
from fullcount.compiler.report import AtUse, error
from fullcount.compiler.types import FieldType, ListOf
from fullcount.compiler.walk import depth_and_size, is_condition, moved
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Label
from fullcount.dsl.expressions import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fullcount.compiler.expressions import Checker


def inlined_condition(checker: Checker, node: tree.Call, definition: Definition, env: Env) -> ir.Expr | None:
    """Check a use that must be a test."""
    arguments = _arguments(checker, node, definition, env)
    if arguments is None:
        return None
    made = _inside(checker, node, definition).condition(definition.decl.body, env.body(arguments))
    return None if made is None else _placed(checker.context, node, definition, made)


def inlined_value(
    checker: Checker, node: tree.Call, definition: Definition, env: Env, aggregates: Polarity | None
) -> Typed | None:
    """Check a use that stands for a value."""
    arguments = _arguments(checker, node, definition, env)
    if arguments is None:
        return None
    inside = _inside(checker, node, definition)
    made = inside.value(definition.decl.body, env.body(arguments), aggregates=aggregates)
    placed = None if made is None else _placed(checker.context, node, definition, made.expr)
    if made is None or placed is None:
        return None
    return replace(made, expr=placed, optional=made.optional and placed not in env.facts)


def _inside(checker: Checker, node: tree.Call, definition: Definition) -> Checker:
    note, where = f"uses `{definition.name}`", f"in the definition of `{definition.name}`"
    # what there is to warn of in a definition that is checked by itself was said there
    sink = AtUse(checker.context.sink, node.span, note, where, warnings=definition.looks)
    return replace(checker, context=replace(checker.context, sink=sink))


def _placed(context: Context, node: tree.Call, definition: Definition, made: ir.Expr) -> ir.Expr | None:
    """Return the written-out body with every place in it moved to the use."""
    depth, size = depth_and_size(made, MAX_SIZE)
    if depth > MAX_DEPTH or size > MAX_SIZE:
        too_large(node.span, definition.name, context.sink)
        return None
    if definition.looks:
        context.inlined[node.span] = Label(definition.decl.name.span, f"`{definition.name}` is defined here")
    return moved(made, definition.decl.span, node.span)


def _arguments(checker: Checker, node: tree.Call, definition: Definition, env: Env) -> Mapping[str, Typed] | None:
    if definition.failed:
        return None
    wanted = definition.parameters
    if len(node.arguments) != len(wanted):
        error(
            checker.context.sink,
            "FC213",
            f"`{definition.name}` takes {len(wanted)} argument(s), and {len(node.arguments)} were given",
            node.span,
            labels=(_defined_here(definition),),
            help=f"write `{signature(definition)}`",
        )
        return None
    checked: dict[str, Typed] = {}
    for (name, declared), argument in zip(wanted.items(), node.arguments, strict=True):
        made = None if declared is None else _argument(checker, definition, declared, argument, env)
        if made is None:
            return None
        checked[name] = made
    return checked


def _argument(checker: Checker, definition: Definition, declared: FieldType, node: tree.Expr, env: Env) -> Typed | None:
    if isinstance(node, tree.ListLiteral | tree.ListFile) and isinstance(declared.type, ListOf):
        listed = (
            list_constant(checker, node, env)
            if isinstance(node, tree.ListLiteral)
            else list_from_file(checker, node, declared.type.item, env)
        )
        typed = None if listed is None else Typed(listed, False, False)
    else:
        typed = checker.value(node, env)
    if typed is None:
        return None
    if is_condition(typed.expr):
        error(
            checker.context.sink,
            "FC220",
            "a test can't be handed to a definition",
            node.span,
            help="hand over the values that it looks at, and make the test part of the definition",
        )
        return None
    if typed.type != declared.type:
        error(
            checker.context.sink,
            "FC201",
            f"`{definition.name}` wants a `{declared}` here, and this is `{typed.type}`",
            node.span,
            labels=(_defined_here(definition),),
            help="nothing is converted on the way: give it a value of that type",
        )
        return None
    wanted = Typed(typed.expr, False, False, declared.names)
    if not may_meet(checker.context, typed, wanted, node.span, f"`{definition.name}` compares"):
        return None
    names = declared.names or typed.names
    if declared.optional:
        # the body says what absent means, whether or not this argument ever is
        return Typed(typed.expr, True, True, names, typed.normal)
    if not checker.said_absent(typed, node, env, f"`{definition.name}`"):
        return None
    return Typed(typed.expr, False, False, names, typed.normal)


def signature(definition: Definition) -> str:
    """Return `idle(last: timestamp?, made: timestamp)`."""
    parameters = ", ".join(f"{name}: {declared}" for name, declared in definition.parameters.items())
    return f"{definition.name}({parameters})"


def _defined_here(definition: Definition) -> Label:
    return Label(definition.decl.name.span, "defined here")

"""Calls of operations: one narrow, named write, on the very object that was proposed.

The object is never chosen by an expression: each key parameter must be given the base row's own key field, so that what
is acted on is what was approved.
"""

from __future__ import annotations

from fullcount.compiler import ir, program
from fullcount.compiler.catalog import Operation, Parameter, Resource
from fullcount.compiler.environment import Env
from fullcount.compiler.expressions import Checker
from fullcount.compiler.names import BoundInventory, said_twice
from fullcount.compiler.report import did_you_mean, error, near
from fullcount.dsl import tree
from fullcount.dsl.dataclass import dataclass
from fullcount.dsl.diagnostics import Diagnostics, Label


@dataclass(frozen=True, slots=True)
class Target:
    """The object an operation acts on: a row of `inventory`, called `row` in the proposal."""

    inventory: BoundInventory
    row: str


def check_calls(
    checker: Checker, call_decl: tree.OperationCall, undo_decl: tree.OperationCall | None, target: Target, env: Env
) -> tuple[program.OperationCall, program.OperationCall | None] | None:
    """Check an operation and its undo; it is reversible only with an undo that takes it back."""
    call = _checked(checker, call_decl, target, env)
    undo = None if undo_decl is None else _checked(checker, undo_decl, target, env)
    if call is None or (undo_decl is not None and undo is None):
        return None
    (operation, arguments), resource = call, target.inventory.resource
    reversible = False
    undo_call = None
    if undo_decl is not None and undo is not None:
        if not _takes_back(call_decl, undo_decl, operation, undo[0], resource, checker.context.sink):
            return None
        reversible = True
        undo_call = program.OperationCall(resource.source, resource.name, undo[0].name, undo[1], undo[0].reversible)
    made = program.OperationCall(resource.source, resource.name, operation.name, arguments, reversible)
    return made, undo_call


def _takes_back(
    call_decl: tree.OperationCall,
    undo_decl: tree.OperationCall,
    operation: Operation,
    undo: Operation,
    resource: Resource,
    sink: Diagnostics,
) -> bool:
    """Whether `undo` really brings back what `operation` did; if not, that is reported."""
    if operation.reversible and operation.name in undo.undoes:
        return True
    able = [name for name, other in resource.operations.items() if operation.name in other.undoes]
    if not operation.reversible:
        message = f"nothing can take back `{operation.name}`"
        help_text = "remove the `undo`, and let more than one person approve"
    else:
        message = f"`{undo.name}` does not take back `{operation.name}`"
        help_text = did_you_mean(undo.name, able, "operations that take it back")
    error(
        sink,
        "FC117",
        message,
        undo_decl.operation.span,
        labels=(Label(call_decl.operation.span, "to be undone"),),
        why="an undo that does something else is found out when it is needed most",
        help=help_text,
    )
    return False


def _checked(
    checker: Checker, call: tree.OperationCall, target: Target, env: Env
) -> tuple[Operation, dict[str, ir.Expr]] | None:
    operation = _find(checker, call.operation, target)
    if operation is None:
        return None
    arguments = _arguments(checker, call, operation, target, env)
    return None if arguments is None else (operation, arguments)


def _find(checker: Checker, path: tree.Dotted, target: Target) -> Operation | None:
    """Return the operation at `source.operation` or `source.resource.operation`."""
    sink, catalog, resource = checker.context.sink, checker.context.names.catalog, target.inventory.resource
    source, middle, last = path.parts[0], path.parts[1:-1], path.parts[-1]
    if source.text not in catalog.sources():
        error(
            sink,
            "FC102",
            f"there is no source `{source.text}` in this workspace",
            source.span,
            **near(source.text, source.span, catalog.sources(), "sources"),
        )
        return None
    named = ".".join(part.text for part in middle)
    if source.text != resource.source or named not in {"", resource.name}:
        error(
            sink,
            "FC114",
            f"the objects come from `{resource.source}.{resource.name}`, and this operation is of `{path.text}`",
            path.span,
            labels=(Label(target.inventory.decl.resource.span, "the objects are read here"),),
            why="an act changes the objects that were proposed, and nothing else",
            help=f"use an operation of `{resource.source}`: {_operations(resource)}",
        )
        return None
    if len(path.parts) == 1 or last.text not in resource.operations:
        written = path.text if len(path.parts) == 1 else last.text
        error(
            sink,
            "FC113",
            f"`{resource.source}.{resource.name}` has no operation `{written}`",
            last.span,
            **near(written, last.span, resource.operations, "operations"),
        )
        return None
    return resource.operations[last.text]


def _operations(resource: Resource) -> str:
    return ", ".join(f"`{name}`" for name in sorted(resource.operations)) or "it has none"


def _arguments(
    checker: Checker, call: tree.OperationCall, operation: Operation, target: Target, env: Env
) -> dict[str, ir.Expr] | None:
    sink = checker.context.sink
    seen: dict[str, tree.Name] = {}
    given: dict[str, ir.Expr] = {}
    failed = False
    for argument in call.arguments:
        name = argument.name
        if name.text in seen:
            said_twice("argument", name, seen[name.text], sink)
            failed = True
            continue
        seen[name.text] = name
        value = _argument(checker, argument, operation, target, env)
        if value is None:
            failed = True
        else:
            given[name.text] = value
    for name_text, parameter in operation.parameters.items():
        if parameter.required and name_text not in seen:
            failed = True
            example = f"{target.row}.{parameter.key}" if parameter.key is not None else "…"
            error(
                sink,
                "FC115",
                f"`{operation.name}` needs `{name_text}: {parameter.type}`",
                call.span,
                note="not given here",
                help=f"add `{name_text}: {example}`",
            )
    return None if failed else given


def _argument(
    checker: Checker, argument: tree.Argument, operation: Operation, target: Target, env: Env
) -> ir.Expr | None:
    sink = checker.context.sink
    name = argument.name
    parameter = operation.parameters.get(name.text)
    if parameter is None:
        error(
            sink,
            "FC115",
            f"`{operation.name}` has no parameter `{name.text}`",
            name.span,
            **near(name.text, name.span, operation.parameters, "parameters"),
        )
        return None
    if parameter.key is not None:
        return _own_key(checker, argument, operation, parameter.key, target, env)
    typed = checker.value(argument.value, env)
    if typed is None:
        return None
    if typed.type != parameter.type.type:
        error(
            sink,
            "FC201",
            f"`{name.text}` of `{operation.name}` is `{parameter.type}`, and this is `{typed.type}`",
            argument.value.span,
            help="nothing is converted on the way: give it a value of that type",
        )
        return None
    if not _may_be_absent(parameter) and not checker.said_absent(typed, argument.value, env, f"`{operation.name}`"):
        return None
    return typed.expr


def _may_be_absent(parameter: Parameter) -> bool:
    return parameter.type.optional


def _own_key(
    checker: Checker, argument: tree.Argument, operation: Operation, key: str, target: Target, env: Env
) -> ir.Expr | None:
    value = argument.value
    written = tuple(part.text for part in value.parts) if isinstance(value, tree.Reference) else ()
    if written == (target.row, key):
        typed = checker.value(value, env)
        return None if typed is None else typed.expr
    error(
        checker.context.sink,
        "FC116",
        f"`{argument.name.text}` of `{operation.name}` must be the key of the proposed object",
        value.span,
        note=f"must be `{target.row}.{key}`",
        why="with any other value another object than the approved one could be changed",
        help=f"write `{argument.name.text}: {target.row}.{key}`",
    )
    return None

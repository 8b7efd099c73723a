"""Calls of operations: one narrow, named write, on the very object that was proposed.

The object is never chosen by an expression: each key parameter must be given the base row's own key field, so that what
is acted on is what was approved. An operation of another resource may only make something new (a message, a snapshot):
what is already there was proposed by nobody. It counts as touching nothing of the object, and is never taken back.
"""

from __future__ import annotations

from collections.abc import Mapping

from fullcount.compiler import ir, program
from fullcount.compiler.catalog import LEAST_KEY_LIFE, Effect, Idempotency, Operation, Parameter, Resource
from fullcount.compiler.environment import Env
from fullcount.compiler.expressions import Checker
from fullcount.compiler.keeping import refuse_restoring
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


_HOUR = 3_600 * 10**6
"""In microseconds."""


@dataclass(frozen=True, slots=True)
class _Found:
    """An operation, whose it is, and whether that is the resource of the proposed object."""

    operation: Operation
    resource: Resource
    own: bool

    def call(self, arguments: dict[str, ir.Expr], *, reversible: bool) -> program.OperationCall:
        return program.OperationCall(
            self.resource.source,
            self.resource.name,
            self.operation.name,
            arguments,
            reversible,
            own=self.own,
            deletes=self.own and self.operation.effect is Effect.DELETE,
        )


def check_calls(
    checker: Checker, call_decl: tree.OperationCall, undo_decl: tree.OperationCall | None, target: Target, env: Env
) -> tuple[program.OperationCall, program.OperationCall | None] | None:
    """Check an operation and its undo; it is reversible only with an undo that takes it back."""
    call = _checked(checker, call_decl, target, env)
    undo = None if undo_decl is None else _checked(checker, undo_decl, target, env)
    if call is None or (undo_decl is not None and undo is None):
        return None
    found, arguments = call
    if _forgets(found.operation, call_decl, checker.context.sink):
        return None
    if undo_decl is not None and undo is not None and _forgets(undo[0].operation, undo_decl, checker.context.sink):
        return None
    undo_call = None
    if undo_decl is not None and undo is not None:
        if not _takes_back(call_decl, undo_decl, found, undo[0].operation, checker.context.sink):
            return None
        if undo[0].operation.name == found.operation.name and not _brings_back(
            undo_decl, found.operation, arguments, undo[1], checker.context.sink
        ):
            return None
        undo_call = undo[0].call(undo[1], reversible=undo[0].operation.reversible)
    return found.call(arguments, reversible=undo_call is not None), undo_call


def _forgets(operation: Operation, decl: tree.OperationCall, sink: Diagnostics) -> bool:
    """Whether the target forgets the keys of an operation before a run may be over; if so, that is reported."""
    life = operation.key_life
    if operation.idempotency is not Idempotency.KEY or life is None or life >= LEAST_KEY_LIFE:
        return False
    error(
        sink,
        "FC543",
        f"the target of `{operation.name}` knows a key again for {life / _HOUR:g}h only",
        decl.operation.span,
        why="a run that is gone on with the next day would repeat a call that the target takes for a new one",
        help="a key must be known for 24h at least: use an operation that is conditional on the object's version, or "
        "correct `key_life` in the source's configuration",
    )
    return True


def _takes_back(
    call_decl: tree.OperationCall,
    undo_decl: tree.OperationCall,
    found: _Found,
    undo: Operation,
    sink: Diagnostics,
) -> bool:
    """Whether `undo` really brings back what `operation` did; if not, that is reported."""
    operation = found.operation
    if found.own and operation.reversible and operation.name in undo.undoes:
        return True
    able = [name for name, other in found.resource.operations.items() if operation.name in other.undoes]
    if not found.own or not operation.reversible:
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


def _brings_back(
    undo_decl: tree.OperationCall,
    operation: Operation,
    done: Mapping[str, ir.Expr],
    undone: Mapping[str, ir.Expr],
    sink: Diagnostics,
) -> bool:
    """Whether an operation that takes back itself sets anything but what it set before; if not, that is reported."""
    changed = [name for name in done if operation.parameters[name].key is None]
    back = [name for name in undone if operation.parameters[name].key is None]
    if len(changed) == 0 or any(name not in done or undone[name] != done[name] for name in back):
        return True
    error(
        sink,
        "FC117",
        "this `undo` leaves everything as the act set it, so it takes nothing back",
        undo_decl.span,
        why="the plan would say that it can be taken back, and on that word fewer people are asked",
        help=f"give `{changed[0]}` the value that it had before",
    )
    return False


def _checked(
    checker: Checker, call: tree.OperationCall, target: Target, env: Env
) -> tuple[_Found, dict[str, ir.Expr]] | None:
    found = _find(checker, call.operation, target)
    sink = checker.context.sink
    if found is None or refuse_restoring(found.operation, found.operation.name, call.operation.span, sink):
        return None
    arguments = _arguments(checker, call, found.operation, target, env)
    return None if arguments is None else (found, arguments)


def _find(checker: Checker, path: tree.Dotted, target: Target) -> _Found | None:
    """Return the operation at `source.operation` or `source.resource.operation`, the object's own first."""
    sink, catalog, base = checker.context.sink, checker.context.names.catalog, target.inventory.resource
    source, last = path.parts[0], path.parts[-1]
    if source.text not in catalog.sources():
        error(
            sink,
            "FC102",
            f"there is no source `{source.text}` in this workspace",
            source.span,
            **near(source.text, source.span, catalog.sources(), "sources"),
        )
        return None
    named = ".".join(part.text for part in path.parts[1:-1])
    meant = [each for each in catalog.resources(source.text).values() if _is_meant(each, named)]
    able = [each for each in meant if len(path.parts) > 1 and last.text in each.operations]
    if source.text == base.source and any(each.name == base.name for each in able):
        operation = base.operations[last.text]
        return _Found(operation, base, own=not _makes(operation))
    if len(able) == 1:
        return _made_elsewhere(able[0], path, target, sink)
    if len(able) == 0:
        _none_such(path, named, meant, base, sink)
    else:
        error(
            sink,
            "FC113",
            f"several resources of `{source.text}` have an operation `{last.text}`: "
            + ", ".join(f"`{each.name}`" for each in able),
            path.span,
            help=f"name the one that is meant: `{source.text}.{able[0].name}.{last.text}`",
        )
    return None


def _is_meant(resource: Resource, named: str) -> bool:
    """Whether a resource is named, by its name or by the beginning of it (`ec2` for `ec2.volumes`)."""
    return named == "" or resource.name == named or resource.name.startswith(f"{named}.")


def _none_such(path: tree.Dotted, named: str, meant: list[Resource], base: Resource, sink: Diagnostics) -> None:
    source, last = path.parts[0], path.parts[-1]
    written = path.text if len(path.parts) == 1 else last.text
    if source.text == base.source and (named == "" or any(each.name == base.name for each in meant)):
        where, known = f"{base.source}.{base.name}", dict.fromkeys(base.operations)
    else:
        where = f"{source.text}.{named}" if named != "" else source.text
        known = dict.fromkeys(name for each in meant for name in each.operations)
    message = f"`{where}` has no operation `{written}`"
    error(sink, "FC113", message, last.span, **near(written, last.span, known, "operations"))


def _made_elsewhere(resource: Resource, path: tree.Dotted, target: Target, sink: Diagnostics) -> _Found | None:
    """Return an operation of another resource, if all it does is to make something new."""
    base, operation = target.inventory.resource, resource.operations[path.parts[-1].text]
    if _makes(operation):
        return _Found(operation, resource, own=False)
    error(
        sink,
        "FC114",
        f"the objects come from `{base.source}.{base.name}`, and this operation changes one of "
        f"`{resource.source}.{resource.name}`",
        path.span,
        labels=(Label(target.inventory.decl.resource.span, "the objects are read here"),),
        why="an act changes the objects that were proposed, and nothing else that is already there",
        help=f"use an operation of `{base.source}`: {_operations(base)}; or one that makes something new, such as a "
        "message",
    )
    return None


def _makes(operation: Operation) -> bool:
    """Whether all that an operation does is to make something new, to which the source itself gives a key."""
    return operation.effect is Effect.CREATE and all(each.key is None for each in operation.parameters.values())


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
    return typed.expr if _among(argument, operation, parameter, typed.expr, sink) else None


def _may_be_absent(parameter: Parameter) -> bool:
    return parameter.type.optional


def _among(
    argument: tree.Argument, operation: Operation, parameter: Parameter, value: ir.Expr, sink: Diagnostics
) -> bool:
    """Whether a parameter that takes a few texts alone is given one of them, written out; if not, that is reported."""
    written = value.value if isinstance(value, ir.Const) else None
    if len(parameter.among) == 0 or written in parameter.among:
        return True
    what = f"`{argument.name.text}` of `{operation.name}`"
    known = "write one of " + ", ".join(f'`"{each}"`' for each in parameter.among)
    error(
        sink,
        "FC125",
        f"{what} is none of what the source has" if isinstance(written, str) else f"{what} must be written out",
        argument.value.span,
        why="that it is not there would be found out when it is needed",
        help=did_you_mean(written, parameter.among, "values") if isinstance(written, str) else known,
    )
    return False


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

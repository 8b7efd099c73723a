"""Names used as values: fields of rows, bare fields of an inventory's own clauses, parameters, keys of maps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from fullcount.compiler import ir
from fullcount.compiler.environment import Env, Typed
from fullcount.compiler.inventories import missing_field
from fullcount.compiler.names import BoundInventory
from fullcount.compiler.report import Advice, error, near
from fullcount.compiler.spellings import as_seen
from fullcount.compiler.types import TEXT, IdOf, MapOf, RecordOf, Type
from fullcount.dsl import tree
from fullcount.dsl.diagnostics import Edit, Fix
from fullcount.dsl.source import Span

if TYPE_CHECKING:
    from fullcount.compiler.expressions import Checker


def reference(checker: Checker, node: tree.Reference, env: Env) -> Typed | None:
    """Resolve a name or a dotted path to a field or a parameter."""
    head, rest = node.parts[0], node.parts[1:]
    if len(rest) == 0:
        return _bare(checker, head, env)
    if head.text in env.items or (env.locals is not None and head.text in env.locals):
        return _parts(checker, _bare(checker, head, env), head, rest, env)
    if env.bare is not None:
        if head.text in env.bare.fields and head.text not in checker.context.names.params:
            return _parts(checker, _bare(checker, head, env), head, rest, env)
        _dotted_where_bare(checker, node, env, env.bare)
        return None
    inventory = env.rows.get(head.text)
    if inventory is None:
        _unknown_row(checker, head, env)
        return None
    whole = head.span.to(rest[0].span)
    found = _field(checker, env.variable(head.text), inventory, rest[0], whole, env)
    return (
        found
        if len(rest) == 1
        else _parts(checker, found, tree.Name(f"{head.text}.{rest[0].text}", whole), rest[1:], env)
    )


def _parts(
    checker: Checker, whole: Typed | None, said: tree.Name, rest: tuple[tree.Name, ...], env: Env
) -> Typed | None:
    """Return a part of a record, and of that a part, and so on; `said` is the record as written.

    A part of a record that may be absent may be absent.
    """
    for name in rest:
        if whole is None:
            return None
        declared = whole.type.part(name.text) if isinstance(whole.type, RecordOf) else None
        if declared is None:
            _no_parts(checker, said.text, name, whole.type)
            return None
        said = tree.Name(f"{said.text}.{name.text}", said.span.to(name.span))
        made = ir.MapGet(whole.expr, ir.Const(name.text, TEXT, span=name.span), declared.type, span=said.span)
        whole = _flow_typed(made, whole.optional or declared.optional, env, declared.names)
    return whole


def _bare(checker: Checker, name: tree.Name, env: Env) -> Typed | None:
    names, sink = checker.context.names, checker.context.sink
    if name.text in env.items:
        item = env.items[name.text]
        return replace(item, expr=replace(item.expr, span=name.span))
    if env.locals is not None:
        return _local(checker, name, env, env.locals)
    is_field = env.bare is not None and (name.text in env.bare.fields or name.text in env.bare.failed)
    if name.text in names.params:
        names.used_params.add(name.text)
        if is_field:
            error(
                sink,
                "FC111",
                f"`{name.text}` is both a parameter and a field here",
                name.span,
                why="a rule must not depend on which of the two wins",
                help="give the parameter another name",
            )
            return None
        param = names.params[name.text]
        if param is None:
            return None
        return Typed(ir.Param(name.text, param.type, span=name.span), False, False, param.names)
    if env.bare is not None:
        return _field(checker, ir.SELF, env.bare, name, name.span, env)
    rows_with = [row for row, inventory in env.rows.items() if name.text in inventory.resource.fields]
    if name.text in env.rows:
        field = f"{name.text}.{_some_field(env, name.text)}"
        advice = Advice(help=f"`{name.text}` is a row; write which field of it, as `{field}`", fix=None)
    elif len(rows_with) > 0:
        advice = _with_row(name, rows_with)
    else:
        advice = near(name.text, name.span, (*names.params, *env.rows, *env.items), "names")
    error(sink, "FC109", f"there is no parameter or row `{name.text}` here", name.span, **advice)
    return None


def _local(checker: Checker, name: tree.Name, env: Env, arguments: Mapping[str, Typed]) -> Typed | None:
    """Resolve a bare name in the body of a definition: one of its parameters, and nothing else."""
    argument = arguments.get(name.text)
    if argument is not None:
        return replace(argument, optional=argument.optional and argument.expr not in env.facts)
    error(
        checker.context.sink,
        "FC109",
        f"there is no parameter `{name.text}` in this definition",
        name.span,
        why="a definition sees nothing of the place where it is used but what is handed to it",
        **near(name.text, name.span, (*arguments, *env.rows, *env.items), "names"),
    )
    return None


def _with_row(name: tree.Name, rows: list[str]) -> Advice:
    written = [f"{row}.{name.text}" for row in rows]
    fix = Fix(f"write `{written[0]}`", (Edit(name.span, written[0]),), safe=len(rows) == 1)
    return Advice(help="a field is written with its row: " + " or ".join(f"`{each}`" for each in written), fix=fix)


def _some_field(env: Env, row: str) -> str:
    return next(iter(env.rows[row].fields), "id")


def _unknown_row(checker: Checker, head: tree.Name, env: Env) -> None:
    names = checker.context.names
    bound = [row for row, inventory in env.rows.items() if inventory.name == head.text]
    fix = None
    if head.text in (names.params if env.locals is None else env.locals):
        help_text = "a parameter is a single value and has no fields"
    elif len(bound) > 0:
        help_text = f"a row of `{head.text}` is called `{bound[0]}` here"
        fix = Fix(f"write `{bound[0]}`", (Edit(head.span, bound[0]),), safe=len(bound) == 1)
    elif head.text in names.inventories:
        help_text = (
            f"to look into another inventory write `some {head.text} as x where (…)` or `no {head.text} as x where (…)`"
        )
    else:
        advice = near(head.text, head.span, env.rows, "rows")
        help_text, fix = advice["help"], advice["fix"]
    error(checker.context.sink, "FC109", f"there is no row `{head.text}` here", head.span, help=help_text, fix=fix)


def _dotted_where_bare(checker: Checker, node: tree.Reference, env: Env, bare: BoundInventory) -> None:
    head, second = node.parts[0], node.parts[1]
    if head.text in bare.fields:
        _no_parts(checker, head.text, second, bare.fields[head.text].type)
        return
    error(
        checker.context.sink,
        "FC109",
        f"there is no row `{head.text}` in {env.place.value}",
        head.span,
        help=f"fields of `{bare.name}` are written bare here, as `{second.text}`",
    )


def _no_parts(checker: Checker, path: str, part: tree.Name, of: Type) -> None:
    is_map = isinstance(of, MapOf)
    if isinstance(of, RecordOf):
        error(
            checker.context.sink,
            "FC110",
            f"`{part.text}` is not among the declared parts of `{path}`",
            part.span,
            **near(part.text, part.span, [each.name for each in of.parts], "parts"),
        )
        return
    error(
        checker.context.sink,
        "FC109",
        f"`{path}` has no part `{part.text}`",
        part.span,
        help=f'a key of a map is written `{path}["{part.text}"]`' if is_map else f"write `{path}`",
    )


def _field(
    checker: Checker, row: str, inventory: BoundInventory, name: tree.Name, span: Span, env: Env
) -> Typed | None:
    if name.text in inventory.failed:
        return None
    if name.text not in inventory.fields:
        error(
            checker.context.sink,
            "FC110",
            f"`{name.text}` is not among the declared fields of `{inventory.name}`",
            name.span,
            **missing_field(name, inventory.decl, inventory.resource, inventory.fields),
        )
        return None
    declared = inventory.fields[name.text]
    expr = ir.Field(row, inventory.name, name.text, declared.type, declared.optional, span=span)
    typed = _flow_typed(expr, declared.optional, env, declared.names)
    return as_seen(typed, inventory.normal.get(name.text, ()), env)


def index(checker: Checker, node: tree.Index, env: Env) -> Typed | None:
    """Check `map["key"]`: the value under a key, which may always be absent."""
    target = checker.value(node.target, env)
    key = checker.required(node.key, env, "this key")
    if target is None or key is None:
        return None
    if not isinstance(target.type, MapOf) or not isinstance(target.expr, ir.Field):
        error(
            checker.context.sink,
            "FC205",
            f"`{checker.context.quote(node.target.span)}` is `{target.type}`, which has no keys",
            node.target.span,
            help="`[…]` reads a key of a map field",
        )
        return None
    if key.type != TEXT:
        error(
            checker.context.sink,
            "FC201",
            f"the keys of a map are `text`, not `{key.type}`",
            node.key.span,
            help='write the key in quotes, as `["env"]`',
        )
        return None
    made = ir.MapGet(target.expr, key.expr, target.type.value, span=node.span)
    return _flow_typed(made, True, env, target.names)


def _flow_typed(expr: ir.Expr, optional: bool, env: Env, names: IdOf | None) -> Typed:
    return Typed(expr, optional and expr not in env.facts, optional, names)
